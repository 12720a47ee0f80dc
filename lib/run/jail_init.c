/* SPDX-License-Identifier: MIT */
/* PID 1 of a jail: obeys its control socket, stops, wakes, ends and reaps the
 * runner. Only system calls; it never looks at what the runner made but for the
 * artefact. */
#include "base.h"

#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "jail_priv.h"

struct init {
    const struct jail_birth *b;
    pid_t runner;
    bool frozen, ended;
};

static void signal_all(const struct init *in, int sig)
{
    if (in->b->have & LAYER_PID) {
        kill(-1, sig);
    } else if (!in->ended) {
        kill(in->runner, sig);
        kill(-in->runner, sig); /* its session's first group */
    }
}

/* Without a PID namespace: what escaped its group was handed to us, as the
 * nearest subreaper. */
static void kill_orphans(void)
{
    char text[256];
    int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return;
    text[n] = '\0';
    for (char *p = text; *p;) {
        long pid = strtol(p, &p, 10);
        if (pid > 1)
            kill((pid_t)pid, SIGKILL);
        while (*p == ' ')
            p++;
    }
}

static void kill_all(struct init *in)
{
    for (;;) {
        signal_all(in, SIGKILL);
        if (!(in->b->have & LAYER_PID))
            kill_orphans();
        if (waitpid(-1, NULL, 0) < 0 && errno == ECHILD)
            break;
    }
    in->ended = true;
}

/* Copy the artefact; 1 when all of it is there. */
static char copy_artefact(const struct jail_conf *c)
{
    char block[65536];
    struct stat st;
    int64_t left;
    char done = 0;
    int fd = open(c->out_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return 0;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > c->out_max)
        goto out;
    for (left = st.st_size; left > 0;) {
        ssize_t n = read(fd, block, (size_t)MIN(left, 65536));
        if (n <= 0 || write(c->out_fd, block, (size_t)n) != n)
            goto out;
        left -= n;
    }
    done = 1;
out:
    close(fd);
    return done;
}

/* The runner is gone: end the rest, tell what happened. */
static void runner_ended(struct init *in, int status, const struct rusage *u)
{
    const struct jail_conf *c = in->b->c;
    struct jail_end end = {'X', 0, status, 0, 0};

    end.cpu_ms = ((int64_t)u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000 +
                 (u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1000;
    end.max_rss = (int64_t)u->ru_maxrss * 1024;
    in->ended = true;
    kill_all(in);
    if (c->out_fd >= 0 && status == 0)
        end.artefact = copy_artefact(c);
    (void)send(in->b->ctl, &end, sizeof(end), MSG_NOSIGNAL);
}

/* Look at children without waiting. */
static void reap(struct init *in)
{
    struct rusage u;
    pid_t pid;
    int status;

    while ((pid = wait4(-1, &status, WNOHANG | WCONTINUED, &u)) > 0) {
        if (pid != in->runner)
            continue;
        if (!WIFCONTINUED(status))
            runner_ended(in, status, &u);
        else if (in->frozen)
            signal_all(in, SIGKILL); /* it woke itself: that is cheating */
    }
}

static int remove_entry(const char *path, const struct stat *st UNUSED,
                        int kind UNUSED, struct FTW *ftw UNUSED)
{
    remove(path);
    return 0;
}

static void leave(struct init *in) NORETURN;
static void leave(struct init *in)
{
    kill_all(in);
    if (!(in->b->have & LAYER_MOUNT))
        nftw(in->b->dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    _exit(0);
}

/* Stop the runner and wait until the kernel says so, which it does once every
 * thread has stopped; false when it ended. */
static bool freeze(struct init *in)
{
    struct rusage u = {0};
    int status = 0;

    if (in->ended)
        return false;
    signal_all(in, SIGSTOP);
    while (wait4(in->runner, &status, WUNTRACED, &u) < 0)
        if (errno != EINTR)
            return false;
    in->frozen = WIFSTOPPED(status);
    if (!in->frozen)
        runner_ended(in, status, &u);
    return in->frozen;
}

/* Never waits: a runner may stop itself again at once. The event of this
 * SIGCONT is taken here, so that reap sees only those of others. */
static void thaw(struct init *in)
{
    struct rusage u;
    int status;

    in->frozen = false;
    signal_all(in, SIGCONT);
    if (wait4(in->runner, &status, WNOHANG | WCONTINUED, &u) > 0 &&
        !WIFCONTINUED(status))
        runner_ended(in, status, &u);
}

static void obey(struct init *in, char command)
{
    switch (command) {
    case 'F':
        if (!in->frozen && !freeze(in))
            return;
        break;
    case 'T':
        if (in->frozen)
            thaw(in);
        break;
    case 'K':
        kill_all(in);
        (void)send(in->b->ctl, &command, 1, MSG_NOSIGNAL);
        leave(in);
    default:
        return;
    }
    (void)send(in->b->ctl, &command, 1, MSG_NOSIGNAL);
}

void jail_init(const struct jail_birth *b, pid_t runner, int sigs)
{
    struct init in = {b, runner, false, false};
    struct pollfd p[2] = {{b->ctl, POLLIN, 0}, {sigs, POLLIN, 0}};
    int keep[3] = {b->ctl, sigs, b->c->out_fd};

    jail_close_others(keep, b->c->out_fd >= 0 ? 3 : 2);
    for (;;) {
        struct signalfd_siginfo info;
        char command;
        ssize_t n;

        if (poll(p, 2, -1) < 0 && errno != EINTR)
            leave(&in);
        if ((p[1].revents & POLLIN) && read(sigs, &info, sizeof(info)) > 0)
            reap(&in);
        if (!p[0].revents)
            continue;
        n = recv(b->ctl, &command, 1, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            leave(&in);
        if (n == 1)
            obey(&in, command);
    }
}
