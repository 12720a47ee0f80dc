/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/link.h"

#include "mem.h"
#include "run/frames.h"

#include <fcntl.h>
#include <sys/socket.h>

#define OPEN_S  30.0
#define CLOSE_S 5.0

/* Path of an internal program: in $KM_LIBEXEC, else beside this one as in a
 * build folder or an installed one that was moved, else where it was
 * installed. Caller frees. */
static char *internal_program(const char *name)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    const char *dir = getenv("KM_LIBEXEC");
    char *path, *slash;
    if (dir && dir[0])
        return xasprintf("%s/%s", dir, name);
    if (n > 0) {
        self[n] = 0;
        slash = strrchr(self, '/');
        if (slash)
            *slash = 0;
        static const char *const places[] = {"", "kernelmill/"};
        for (size_t i = 0; i < ARRAY_LEN(places); i++) {
            path = xasprintf("%s/../libexec/%s%s", self, places[i], name);
            if (access(path, X_OK) == 0)
                return path;
            free(path);
        }
    }
    return xasprintf("%s/%s", KM_LIBEXECDIR, name);
}

void link_init(struct link *l, const struct link_conf *c)
{
    *l = (struct link){.conf = *c, .sock = -1};
    l->mem = (struct arena)ARENA_INIT;
}

static void stop(struct link *l)
{
    if (l->sock >= 0) {
        close(l->sock);
        proc_kill(&l->p);
    }
    l->sock = -1;
    l->opened = NULL;
}

void link_close(struct link *l)
{
    struct proc_result r;
    if (l->sock >= 0) {
        /* It is idle: the end of the stream lets it clear up. */
        shutdown(l->sock, SHUT_RDWR);
        (void)!proc_wait(&l->p, CLOSE_S, &r, NULL);
    }
    stop(l);
    arena_release(&l->mem);
}

static int call(struct link *l, struct arena *a, const struct val *msg,
                const int *fds, size_t n, double wall_s, struct val **reply,
                struct err *e)
{
    int code;
    char text[300];
    if (frame_call(l->sock, a, msg, fds, n, now_s() + wall_s, reply, e)) {
        enum err_code kind = e->code == ERR_TIMEOUT ? ERR_TIMEOUT : ERR_CRASH;
        stop(l);
        return err_set(e, kind, "the judge %s",
                       kind == ERR_TIMEOUT ? "did not answer in time" : "died");
    }
    if (val_getb(*reply, "ok", false))
        return 0;
    mask_text(text, sizeof(text), val_gets(*reply, "code"));
    code = err_code_find(text);
    err_set(e, code > 0 ? (enum err_code)code : ERR_INTERNAL, "%s",
            mask_text(text, sizeof(text), val_gets(*reply, "message")));
    if (val_gets(*reply, "hint").n)
        err_hint(e, "%s",
                 mask_text(text, sizeof(text), val_gets(*reply, "hint")));
    return -1;
}

int link_open(struct link *l, struct err *e)
{
    static const char *const runners[] = {"km-runner-c", "km-runner-cuda"};
    char *judge, *runner = NULL;
    const char *argv[2] = {NULL, NULL};
    struct proc_fd fds[2] = {{-1, 3}, {2, 2}};
    struct val *msg, *reply;
    int pair[2], exes[2] = {-1, -1}, rc = -1;

    if (l->sock >= 0)
        return 0;
    judge = internal_program("km-judge");
    argv[0] = judge;
    for (size_t i = 0; i < ARRAY_LEN(runners); i++) {
        free(runner);
        runner = internal_program(runners[i]);
        exes[i] = open(runner, O_RDONLY | O_CLOEXEC);
        if (exes[i] < 0) {
            err_sys(e, "cannot open '%s'", runner);
            goto out;
        }
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
        err_sys(e, "cannot make a socket for the judge");
        goto out;
    }
    fds[0].ours = pair[1];
    rc = proc_spawn(&l->p, argv, NULL, fds, 2, NULL, e);
    close(pair[1]);
    if (rc) {
        close(pair[0]);
        goto out;
    }
    l->sock = pair[0];
    arena_reset(&l->mem);
    msg = val_map(&l->mem);
    val_set(&l->mem, msg, "op", val_strz(&l->mem, "open"));
    val_set(&l->mem, msg, "device", val_strz(&l->mem, l->conf.device));
    val_set(&l->mem, msg, "python", val_strz(&l->mem, l->conf.python));
    val_set(&l->mem, msg, "require", val_int(&l->mem, l->conf.require));
    rc = call(l, &l->mem, msg, exes, 2, OPEN_S, &reply, e);
    if (rc)
        stop(l);
    else
        l->opened = reply;
out:
    for (size_t i = 0; i < ARRAY_LEN(exes); i++)
        if (exes[i] >= 0)
            close(exes[i]);
    free(judge);
    free(runner);
    return rc;
}

int link_call(struct link *l, struct arena *a, const struct val *msg,
              const int *fds, size_t n, double wall_s, struct val **reply,
              struct err *e)
{
    if (link_open(l, e))
        return -1;
    return call(l, a, msg, fds, n, wall_s, reply, e);
}
