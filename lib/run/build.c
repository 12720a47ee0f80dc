/* SPDX-License-Identifier: MIT */
/* Compilers, as hostile as what they compile: in a builder jail. */
#include "base.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "io.h"
#include "proc.h"
#include "run/run_priv.h"
#include "run/runner.h"

#define BUILD_TMP    ((int64_t)512 << 20)
#define BUILD_MEMORY ((int64_t)4 << 30) /* of each process */
#define BUILD_TASKS  128

/* In the jail: lay out the files, then become the compiler. */
static void become(const char *const *argv, const struct build_file *files,
                   size_t n) NORETURN;
static void become(const char *const *argv, const struct build_file *files,
                   size_t n)
{
    const char *envp[8];
    char store[2][96];

    for (size_t i = 0; i < n; i++) {
        int fd =
            open(files[i].name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 ||
            io_write_full(fd, files[i].text.p, files[i].text.n, NULL) < 0)
            _exit(126);
        close(fd);
    }
    runner_env(envp, store);
    execvpe(argv[0], (char *const *)argv, (char *const *)envp);
    _exit(127);
}

/* Read messages until the jail says how it ended: 0, or -1 ERR_TIMEOUT. */
static int follow(struct runner *r, int log_fd, struct buf *log,
                  double deadline, struct err *e)
{
    struct pollfd p[2] = {{r->ctl, POLLIN, 0}, {log_fd, POLLIN, 0}};
    char block[4096];

    /* The compiler is reported first, its pipe is drained afterwards. */
    while (!r->ended || p[1].fd >= 0) {
        double left = deadline - now_s();
        if (left <= 0)
            return err_set(e, ERR_TIMEOUT, "over the deadline");
        (void)poll(p, 2, (int)(left * 1e3) + 1);
        if (p[1].fd >= 0 && p[1].revents) {
            ssize_t n = read(log_fd, block, sizeof(block));
            if (n > 0)
                (void)buf_add(log, block, MIN((size_t)n, log->max - log->n));
            else if (n == 0 || (errno != EINTR && errno != EAGAIN))
                p[1].fd = -1;
        }
        if (p[0].fd >= 0 && p[0].revents) {
            ssize_t n = recv(r->ctl, &r->end, sizeof(r->end), MSG_DONTWAIT);
            r->ended = n == (ssize_t)sizeof(r->end);
            if (r->ended)
                p[0].fd = -1;
            else if (n >= 0 || (errno != EINTR && errno != EAGAIN))
                return err_set(e, ERR_CRASH, "the sandbox ended");
        }
    }
    return 0;
}

static int judge_end(struct runner *r, const char *output, struct err *e)
{
    char text[96];
    enum err_code code;

    if (WIFEXITED(r->end.status)) {
        int status = WEXITSTATUS(r->end.status);
        if (status == 127)
            return err_set(e, ERR_UNAVAILABLE, "cannot execute it");
        if (status == 126)
            return err_set(e, ERR_SANDBOX, "cannot write its files");
        if (status != 0)
            return err_set(e, ERR_PARSE, "it refused the source");
        if (!r->end.artefact)
            return err_set(e, ERR_CRASH, "it left no file '%s'", output);
        return 0;
    }
    code = runner_end(r, text, sizeof(text));
    return err_set(e, code, "%s", text);
}

int build_run(const char *const *argv, const struct build_file *files,
              size_t n_files, const char *output, double wall_s, int require,
              struct buf *out, struct buf *log, struct err *e)
{
    struct runner r = RUNNER_NONE;
    int ctl[2] = {-1, -1}, said[2] = {-1, -1}, rc = -1;
    struct jail_conf jc = {.profile = JAIL_BUILDER,
                           .cpu = -1,
                           .memory = BUILD_MEMORY,
                           .file_size = BUILD_TMP,
                           .cpu_s = (int64_t)wall_s + 1,
                           .n_keep = 1,
                           .max_tasks = BUILD_TASKS,
                           .tmp_size = BUILD_TMP,
                           .require = require,
                           .out_fd = -1,
                           .out_name = output,
                           .out_max = (int64_t)(out->max - out->n)};
    char why[160];
    int32_t level;

    jc.out_fd = io_memfd("artefact", (struct span){"", 0}, false, e);
    if (jc.out_fd < 0)
        return -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ctl) < 0 ||
        pipe2(said, O_CLOEXEC) < 0) {
        err_sys(e, "cannot make pipes for a compiler");
        goto done;
    }
    jc.keep[0] = said[1];
    r.init = jail_fork(&jc, ctl[1], &level, why, sizeof(why));
    if (r.init == 0) {
        if (dup2(said[1], 1) < 0 || dup2(said[1], 2) < 0)
            _exit(126);
        close(said[1]);
        become(argv, files, n_files);
    }
    if (r.init < 0) {
        r.init = 0;
        err_set(e, ERR_SANDBOX, "cannot start a compiler: %s", why);
        goto done;
    }
    r.ctl = ctl[0];
    r.cpu_s = jc.cpu_s;
    ctl[0] = -1;
    close(ctl[1]);
    close(said[1]);
    ctl[1] = said[1] = -1;
    rc = follow(&r, said[0], log, now_s() + wall_s, e);
    if (rc == 0)
        rc = judge_end(&r, output, e);
    if (rc < 0)
        err_wrap(e, "compiler '%s'", argv[0]);
    else if (lseek(jc.out_fd, 0, SEEK_SET) < 0)
        rc = err_sys(e, "cannot read the artefact");
    else
        rc = io_read_fd(out, jc.out_fd, e);
done:
    runner_kill(&r);
    for (int i = 0; i < 2; i++) {
        if (ctl[i] >= 0)
            close(ctl[i]);
        if (said[i] >= 0)
            close(said[i]);
    }
    close(jc.out_fd);
    return rc;
}
