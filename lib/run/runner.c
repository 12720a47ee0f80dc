/* SPDX-License-Identifier: MIT */
/* A runner's life, whatever started it; native runners. */
#include "base.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "io.h"
#include "proc.h"
#include "run/frames.h"
#include "run/run_priv.h"
#include "run/runner.h"

/* Longest wait for the init; it answers within microseconds unless the
 * machine is in trouble. */
#define INIT_S 10.0

int runner_sockets(int ours[2], int theirs[2], struct err *e)
{
    int frames[2], ctl[2], on = 1;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, frames) < 0)
        return err_sys(e, "cannot make a socket for a runner");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ctl) < 0) {
        err_sys(e, "cannot make a socket for a runner");
        close(frames[0]);
        close(frames[1]);
        return -1;
    }
    (void)setsockopt(frames[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
    ours[0] = frames[0];
    ours[1] = ctl[0];
    theirs[0] = frames[1];
    theirs[1] = ctl[1];
    return 0;
}

int runner_hello(struct runner *r, double deadline, struct err *e)
{
    struct arena a = ARENA_INIT;
    struct val *msg = NULL;
    char text[96];
    int rc =
        frame_recv(r->sock, &a, &msg, NULL, NULL, &r->pid, NULL, deadline, e);

    if (rc < 0 && e && e->code == ERR_CRASH) {
        e->code = runner_end(r, text, sizeof(text));
        err_wrap(e, "runner did not start: %s", text);
    } else if (rc < 0) {
        err_wrap(e, "runner did not start");
    } else if (!span_is(val_gets(msg, "op"), "hello")) {
        rc = err_set(e, ERR_PROTOCOL, "runner did not say hello");
    }
    arena_release(&a);
    return rc;
}

/* One message of the init: 'F', 'T' or 'K', 'X' (noted), 0 at its end, -1
 * when there is none until DEADLINE. */
static int from_init(struct runner *r, double deadline)
{
    char bytes[sizeof(struct jail_end)];
    struct pollfd p = {r->ctl, POLLIN, 0};

    for (;;) {
        double left = deadline - now_s();
        ssize_t n = recv(r->ctl, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (n == (ssize_t)sizeof(bytes)) {
            memcpy(&r->end, bytes, sizeof(r->end));
            r->ended = true;
            return 'X';
        }
        if (n == 1)
            return bytes[0];
        if (n >= 0 || (errno != EAGAIN && errno != EINTR))
            return 0;
        if (left <= 0)
            return -1;
        (void)poll(&p, 1, (int)(left * 1e3) + 1);
    }
}

static int command(struct runner *r, char what, struct err *e)
{
    double deadline = now_s() + INIT_S;

    if (r->ctl < 0 || r->ended ||
        send(r->ctl, &what, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
        return err_set(e, ERR_CRASH, "the runner is gone");
    for (;;) {
        int answer = from_init(r, deadline);
        if (answer == what)
            return 0;
        if (answer == 'X' || answer == 0)
            return err_set(e, ERR_CRASH, "the runner is gone");
        if (answer < 0) {
            /* It waits for something that does not come: with it the whole
             * namespace ends, and runner_kill need not wait again. */
            if (r->init > 0)
                kill(r->init, SIGKILL);
            return err_set(e, ERR_TIMEOUT, "the sandbox does not answer");
        }
    }
}

int runner_freeze(struct runner *r, struct err *e)
{
    return command(r, 'F', e);
}

int runner_thaw(struct runner *r, struct err *e)
{
    return command(r, 'T', e);
}

void runner_kill(struct runner *r)
{
    char what = 'K';

    if (r->ctl >= 0) {
        int answer = 'X';
        double deadline = now_s() + INIT_S;
        if (send(r->ctl, &what, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
            answer = 0;
        while (answer > 0 && answer != 'K')
            answer = from_init(r, deadline);
        /* No answer: the init is stuck but alive, so its id is its own. Its
         * death ends the whole namespace. */
        if (answer < 0 && r->init > 0)
            kill(r->init, SIGKILL);
        close(r->ctl);
    }
    if (r->sock >= 0)
        close(r->sock);
    /* The zygote's children are reaped there: ECHILD. */
    if (r->init > 0)
        (void)waitpid(r->init, NULL, 0);
    r->sock = r->ctl = -1;
    r->init = 0;
}

enum err_code runner_end(struct runner *r, char *text, size_t cap)
{
    double deadline = now_s() + 1;
    int sig;

    while (r->ctl >= 0 && !r->ended && from_init(r, deadline) > 0)
        ;
    if (!r->ended) {
        snprintf(text, cap, "it does not answer");
        return ERR_CRASH;
    }
    if (WIFEXITED(r->end.status)) {
        snprintf(text, cap, "it left with status %d",
                 WEXITSTATUS(r->end.status));
        return ERR_CRASH;
    }
    sig = WTERMSIG(r->end.status);
    if (sig == SIGXCPU || (r->cpu_s > 0 && r->end.cpu_ms >= r->cpu_s * 1000)) {
        snprintf(text, cap, "over its limit of CPU seconds");
        return ERR_TIMEOUT;
    }
    snprintf(text, cap, "killed by signal %d (%s)", sig, strsignal(sig));
    return sig == SIGKILL ? ERR_MEMORY : ERR_CRASH;
}

/* ---- native runners ---- */

void runner_env(const char *envp[8], char store[2][96])
{
    char dir[64];

    if (!getcwd(dir, sizeof(dir)))
        snprintf(dir, sizeof(dir), "/tmp");
    snprintf(store[0], 96, "HOME=%s", dir);
    snprintf(store[1], 96, "TMPDIR=%s", dir);
    envp[0] = "PATH=/usr/local/bin:/usr/bin:/bin";
    envp[1] = store[0];
    envp[2] = store[1];
    envp[3] = "LANG=C.UTF-8";
    envp[4] = "TZ=UTC";
    envp[5] = "PYTHONHASHSEED=0";
    envp[6] = "OMP_NUM_THREADS=1";
    envp[7] = NULL;
}

const char *const runner_gpu_env[RUNNER_GPU_ENV] = {
    "CUDA_VISIBLE_DEVICES", "CUDA_HOME", "LD_LIBRARY_PATH"};

/* In the jail: frames at 3, then become the program. */
static void become(int sock, int exe, const char *const *argv,
                   bool gpu) NORETURN;
static void become(int sock, int exe, const char *const *argv, bool gpu)
{
    const char *envp[8 + RUNNER_GPU_ENV];
    char store[2][96], passed[RUNNER_GPU_ENV][PATH_MAX];
    size_t n = 7;

    runner_env(envp, store);
    for (size_t i = 0; gpu && i < RUNNER_GPU_ENV; i++) {
        const char *v = getenv(runner_gpu_env[i]);
        if (!v)
            continue;
        snprintf(passed[i], sizeof(passed[i]), "%s=%s", runner_gpu_env[i], v);
        envp[n++] = passed[i];
    }
    envp[n] = NULL;
    if (exe == 3) /* about to be overwritten */
        exe = fcntl(exe, F_DUPFD_CLOEXEC, 10);
    if (exe < 0 || (sock == 3 ? fcntl(3, F_SETFD, 0) : dup2(sock, 3)) < 0)
        _exit(127);
    if (sock != 3)
        close(sock);
    fcntl(exe, F_SETFD, FD_CLOEXEC);
    syscall(SYS_execveat, exe, "", argv, envp, AT_EMPTY_PATH);
    _exit(127);
}

int runner_exec(int exe_fd, const char *const *argv,
                const struct runner_conf *c, int require, struct runner *out,
                struct err *e)
{
    struct buf exe = BUF_INIT(256u << 20);
    int ours[2] = {-1, -1}, theirs[2] = {-1, -1}, mem = -1, rc = -1;
    struct jail_conf jc = {.profile = JAIL_EXEC,
                           .cpu = c->cpu,
                           .memory = c->memory,
                           .file_size = RUNNER_FILE_SIZE,
                           .cpu_s = c->cpu_s,
                           .n_keep = 2,
                           .max_tasks = RUNNER_TASKS,
                           .tmp_size = RUNNER_TMP_SIZE,
                           .require = require,
                           .gpu = c->gpu > 0,
                           .out_fd = -1};
    char why[160];
    int32_t level;
    pid_t pid;

    for (size_t i = 0; c->read_paths && i < JAIL_PATHS && c->read_paths[i]; i++)
        jc.read_paths[i] = c->read_paths[i];
    *out = (struct runner)RUNNER_NONE;
    if (lseek(exe_fd, 0, SEEK_SET) < 0) {
        err_sys(e, "cannot read the runner's program");
        goto done;
    }
    if (io_read_fd(&exe, exe_fd, e) < 0)
        goto done;
    mem = io_memfd("km-runner", buf_span(&exe), true, e);
    if (mem < 0 || runner_sockets(ours, theirs, e) < 0)
        goto done;
    jc.keep[0] = theirs[0];
    jc.keep[1] = mem;
    pid = jail_fork(&jc, theirs[1], &level, why, sizeof(why));
    if (pid == 0)
        become(theirs[0], mem, argv, c->gpu > 0);
    if (pid < 0) {
        err_set(e, ERR_SANDBOX, "cannot start a runner: %s", why);
        goto done;
    }
    *out = (struct runner){.sock = ours[0],
                           .ctl = ours[1],
                           .init = pid,
                           .level = level,
                           .cpu_s = c->cpu_s};
    ours[0] = ours[1] = -1;
    close(theirs[0]); /* so that its death is seen as the end of the stream */
    close(theirs[1]);
    theirs[0] = theirs[1] = -1;
    rc = runner_hello(out, now_s() + c->start_s, e);
    if (rc < 0) {
        runner_kill(out);
        *out = (struct runner)RUNNER_NONE;
    }
done:
    for (int i = 0; i < 2; i++) {
        if (ours[i] >= 0)
            close(ours[i]);
        if (theirs[i] >= 0)
            close(theirs[i]);
    }
    if (mem >= 0)
        close(mem);
    buf_release(&exe);
    return rc;
}
