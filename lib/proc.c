/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "array.h"
#include "io.h"
#include "proc.h"

#define MAX_FDS 16 /* of a child */

extern char **environ;

double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void set_limit(int what, int64_t value)
{
    struct rlimit r = {(rlim_t)value, (rlim_t)value};

    if (value > 0)
        setrlimit(what, &r);
}

/* Give the child exactly the wanted descriptors. Ours may have the numbers
 * that others are to get: so first out of the way, then into place. */
static int place_fds(const struct proc_fd *fds, size_t n_fds)
{
    int high = 100, null, tmp[MAX_FDS];

    for (size_t i = 0; i < n_fds; i++) {
        tmp[i] = fcntl(fds[i].ours, F_DUPFD, high);
        if (tmp[i] < 0)
            return -1;
    }
    null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++) {
        if (null >= 0 && null != fd)
            dup2(null, fd);
    }
    if (null > 2)
        close(null);
    for (size_t i = 0; i < n_fds; i++) {
        if (dup2(tmp[i], fds[i].theirs) < 0)
            return -1;
        close(tmp[i]);
    }
    for (int fd = 3; fd < high; fd++) {
        bool keep = false;
        for (size_t i = 0; i < n_fds; i++)
            keep = keep || fds[i].theirs == fd;
        if (!keep)
            close(fd);
    }
    return (int)syscall(SYS_close_range, (unsigned)high, ~0u, 0u);
}

/*
 * The kernel kills the group once nobody holds the other end of the pipe FD:
 * a signal at the parent's death reaches the child alone, and a process that
 * would watch could be killed with the parent.
 */
static int hold_leash(int fd)
{
    if (fcntl(fd, F_SETOWN, -getpid()) < 0 || fcntl(fd, F_SETSIG, SIGKILL) < 0)
        return -1;
    return fcntl(fd, F_SETFL, O_RDONLY | O_ASYNC);
}

static void NORETURN child(const char *const *argv, char *const *envp,
                           const struct proc_fd *fds, size_t n_fds,
                           const struct proc_limits *lim, pid_t parent)
{
    sigset_t none;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (lim && lim->leash && hold_leash(fds[n_fds - 1].ours) != 0)
        _exit(127);
    if (getppid() != parent)
        _exit(127);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int s = 1; s < 32; s++)
        signal(s, SIG_DFL);
    if (place_fds(fds, n_fds) < 0)
        _exit(127);
    if (lim) {
        set_limit(RLIMIT_CPU, lim->cpu_s > 0 ? (int64_t)lim->cpu_s + 1 : 0);
        set_limit(RLIMIT_AS, lim->memory);
        set_limit(RLIMIT_FSIZE, lim->file_size);
        if (lim->confine && lim->confine(lim->payload) != 0)
            _exit(125);
    }
    execvpe(argv[0], (char *const *)argv, envp);
    _exit(errno == ENOENT ? 127 : 126);
}

/* The small environment of children: nothing of the user's that could change
 * what they do. */
static char **child_env(void)
{
    static const char *const keep[] = {
        "PATH=",       "HOME=",         "TMPDIR=",        "KM_",
        "LD_PRELOAD=", "ASAN_OPTIONS=", "XDG_CACHE_HOME="};
    ARRAY(char *) env = {0};

    for (char **p = environ; *p; p++) {
        for (size_t i = 0; i < ARRAY_LEN(keep); i++) {
            if (span_starts(span_str(*p), keep[i]))
                array_push(&env, *p);
        }
    }
    array_push(&env, (char *)"LANG=C.UTF-8");
    array_push(&env, (char *)"LC_ALL=C.UTF-8");
    array_push(&env, (char *)"TZ=UTC");
    array_push(&env, (char *)"PYTHONHASHSEED=0");
    array_push(&env, NULL);
    return env.v;
}

static void forget(struct proc *p)
{
    if (p->pidfd >= 0)
        close(p->pidfd);
    if (p->leash >= 0)
        close(p->leash);
    *p = PROC_NONE;
}

int proc_spawn(struct proc *p, const char *const *argv, const char *const *envp,
               const struct proc_fd *fds, size_t n_fds,
               const struct proc_limits *lim, struct err *e)
{
    struct proc_fd all[MAX_FDS];
    char **env;
    pid_t parent = getpid();
    int leash[2];

    *p = PROC_NONE;
    if (n_fds >= MAX_FDS)
        return err_set(e, ERR_INTERNAL, "too many descriptors for a child");
    if (n_fds > 0)
        memcpy(all, fds, n_fds * sizeof(*fds));
    if (lim && lim->leash) {
        if (pipe2(leash, O_CLOEXEC) < 0)
            return err_sys(e, "cannot create a pipe");
        all[n_fds++] = (struct proc_fd){leash[0], PROC_LEASH};
        p->leash = leash[1];
    }
    env = envp ? (char **)(uintptr_t)envp : child_env();
    fflush(NULL);
    p->pid = fork();
    if (p->pid == 0)
        child(argv, env, all, n_fds, lim, parent);
    if (!envp)
        free(env);
    if (p->leash >= 0)
        close(leash[0]);
    if (p->pid < 0) {
        err_sys(e, "cannot start '%s'", argv[0]);
        forget(p);
        return -1;
    }
    setpgid(p->pid, p->pid);
    p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
    if (p->pidfd < 0) {
        err_sys(e, "cannot watch '%s'", argv[0]);
        proc_kill(p);
        return -1;
    }
    return 0;
}

int proc_wait(struct proc *p, double wall_s, struct proc_result *r,
              struct err *e)
{
    struct pollfd pf = {p->pidfd, POLLIN, 0};
    double end = now_s() + wall_s;
    struct rusage ru;
    int status, n;

    memset(r, 0, sizeof(*r));
    do {
        double left = wall_s > 0 ? MAX(end - now_s(), 0.0) : -1;
        n = poll(&pf, 1, left < 0 ? -1 : (int)(left * 1000) + 1);
    } while (n < 0 && errno == EINTR);
    if (n == 0) {
        kill(-p->pid, SIGKILL);
        r->end = PROC_TIMEOUT;
    }
    while (wait4(p->pid, &status, 0, &ru) < 0) {
        if (errno != EINTR)
            return err_sys(e, "cannot wait for a child");
    }
    /* what it left behind in its group goes too */
    kill(-p->pid, SIGKILL);
    forget(p);
    r->cpu_s = (double)ru.ru_utime.tv_sec + (double)ru.ru_stime.tv_sec +
               (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1e-6;
    r->max_rss = (int64_t)ru.ru_maxrss * 1024;
    if (r->end == PROC_TIMEOUT)
        return 0;
    r->end = WIFSIGNALED(status) ? PROC_SIGNAL : PROC_EXIT;
    r->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return 0;
}

void proc_kill(struct proc *p)
{
    if (p->pid <= 0)
        return;
    kill(-p->pid, SIGKILL);
    kill(p->pid, SIGKILL);
    while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    forget(p);
}

struct pump {
    int fd;
    struct buf *to;
};

/* Read what is there; false at the end. What does not fit is dropped. */
static bool pump_read(struct pump *p)
{
    char tmp[16384];
    ssize_t k = read(p->fd, tmp, sizeof(tmp));

    if (k < 0)
        return errno == EINTR || errno == EAGAIN;
    if (k > 0 && p->to)
        buf_add(p->to, tmp, MIN((size_t)k, p->to->max - p->to->n));
    return k > 0;
}

static void communicate(int in, struct span text, struct pump *pumps,
                        double deadline)
{
    size_t sent = 0;

    while (in >= 0 || pumps[0].fd >= 0 || pumps[1].fd >= 0) {
        struct pollfd pf[3] = {{in, POLLOUT, 0},
                               {pumps[0].fd, POLLIN, 0},
                               {pumps[1].fd, POLLIN, 0}};
        int wait = -1;

        if (deadline > 0) {
            double left = deadline - now_s();
            if (left <= 0)
                break;
            wait = (int)(left * 1000) + 1;
        }
        if (poll(pf, 3, wait) < 0 && errno != EINTR)
            break;
        if (pf[0].revents) {
            ssize_t k =
                write(in, text.p + sent, MIN(text.n - sent, (size_t)PIPE_BUF));
            if (k > 0)
                sent += (size_t)k;
            if ((k < 0 && errno != EINTR) || sent == text.n) {
                close(in);
                in = -1;
            }
        }
        for (int i = 0; i < 2; i++) {
            if (pf[1 + i].revents && !pump_read(pumps + i)) {
                close(pumps[i].fd);
                pumps[i].fd = -1;
            }
        }
    }
    if (in >= 0)
        close(in);
    for (int i = 0; i < 2; i++) {
        if (pumps[i].fd >= 0)
            close(pumps[i].fd);
    }
}

int proc_run(const char *const *argv, struct span in, struct buf *out,
             struct buf *log, const struct proc_limits *lim,
             struct proc_result *r, struct err *e)
{
    int pipes[3][2];
    struct proc p;
    struct sigaction ign = {.sa_handler = SIG_IGN}, old;
    double deadline = lim && lim->wall_s > 0 ? now_s() + lim->wall_s : 0;
    int rc;

    for (int i = 0; i < 3; i++) {
        if (pipe2(pipes[i], O_CLOEXEC) < 0) {
            err_sys(e, "cannot create a pipe");
            while (i-- > 0) {
                close(pipes[i][0]);
                close(pipes[i][1]);
            }
            return -1;
        }
    }
    struct proc_fd fds[3] = {
        {pipes[0][0], 0}, {pipes[1][1], 1}, {pipes[2][1], 2}};
    rc = proc_spawn(&p, argv, NULL, fds, 3, lim, e);
    close(pipes[0][0]);
    close(pipes[1][1]);
    close(pipes[2][1]);
    if (rc < 0) {
        close(pipes[0][1]);
        close(pipes[1][0]);
        close(pipes[2][0]);
        return -1;
    }
    sigaction(SIGPIPE, &ign, &old);
    struct pump pumps[2] = {{pipes[1][0], out}, {pipes[2][0], log}};
    communicate(pipes[0][1], in, pumps, deadline);
    sigaction(SIGPIPE, &old, NULL);
    /* past the deadline: a moment, for the kill to be told as a timeout */
    return proc_wait(&p, deadline > 0 ? MAX(deadline - now_s(), 0.001) : 0, r,
                     e);
}
