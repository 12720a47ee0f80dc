/* SPDX-License-Identifier: MIT */
/* The Python that has imported torch, and its forks. */
#include "base.h"

#include <fcntl.h>
#include <sys/socket.h>

#include "embed.h"
#include "io.h"
#include "mem.h"
#include "proc.h"
#include "run/frames.h"
#include "run/run_priv.h"
#include "run/runner.h"

EMBED_DECLARE(runner_py);
EMBED_DECLARE(km_jail_so);

#define START_S 60.0
#define STOP_S  2.0

/* Descriptors of the zygote. */
enum { FD_FRAMES = 3, FD_SOURCE, FD_JAIL, FD_PROBE };

struct zygote {
    struct proc proc;
    int sock;
    int require;
    struct arena a; /* of about */
    struct val *about;
};

static const char boot[] = "import sys,types\n"
                           "sys.path[:]=[p for p in sys.path if p]\n"
                           "m=types.ModuleType('km_runner')\n"
                           "sys.modules['km_runner']=m\n"
                           "with open(4,'rb') as f: s=f.read()\n"
                           "exec(compile(s,'km_runner.py','exec'),m.__dict__)\n"
                           "m.zygote_main(5,int(sys.argv[1]))\n";

/* Nothing of the user's environment but what finds the GPU. A missing HOME
 * keeps the imports away from anybody's files. */
static const char *const fixed_env[] = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                        "HOME=/nonexistent",
                                        "USER=runner",
                                        "LANG=C.UTF-8",
                                        "TZ=UTC",
                                        "PYTHONHASHSEED=0",
                                        "PYTHONDONTWRITEBYTECODE=1",
                                        "PYTHONNOUSERSITE=1",
                                        "OMP_NUM_THREADS=1",
                                        "MKL_NUM_THREADS=1",
                                        "OPENBLAS_NUM_THREADS=1",
                                        "PYTORCH_NVML_BASED_CUDA_CHECK=1"};

char *zygote_python(const char *given, struct err *e)
{
    const char *env = getenv("KM_PYTHON");
    char *cache, *path;

    if (given && *given)
        return xstrdup(given);
    if (env && *env)
        return xstrdup(env);
    cache = io_cache_dir(NULL, e);
    if (!cache)
        return NULL;
    path = xasprintf("%s/python", cache);
    free(cache);
    if (access(path, X_OK) == 0)
        return path;
    free(path);
    err_set(e, ERR_UNAVAILABLE, "no python with torch is set up");
    err_hint(e, "run pipelines/setup.sh, or set KM_PYTHON");
    return NULL;
}

/* Last line of what Python said, for the error message. */
static void last_words(int fd, struct buf *b)
{
    char *line;

    buf_clear(b);
    if (lseek(fd, 0, SEEK_SET) < 0 || io_read_fd(b, fd, NULL) < 0)
        return;
    while (b->n > 0 && (b->p[b->n - 1] == '\n' || b->p[b->n - 1] == ' '))
        buf_setlen(b, b->n - 1);
    line = strrchr(b->p, '\n');
    if (line) {
        size_t n = b->n - (size_t)(line + 1 - b->p);
        memmove(b->p, line + 1, n);
        buf_setlen(b, n);
    }
}

static int spawn(struct zygote *z, const char *python, int theirs,
                 const int *files, int stderr_fd, struct err *e)
{
    const char *argv[] = {
        python, "-s", "-B", "-c", boot, files[2] >= 0 ? "6" : "-1", NULL};
    const char *envp[ARRAY_LEN(fixed_env) + RUNNER_GPU_ENV + 1];
    char *owned[RUNNER_GPU_ENV] = {0};
    struct proc_fd fds[] = {{stderr_fd, 2},
                            {theirs, FD_FRAMES},
                            {files[0], FD_SOURCE},
                            {files[1], FD_JAIL},
                            {files[2], FD_PROBE}};
    struct proc_limits no_limits = {0};
    size_t n = 0;
    int rc;

    for (; n < ARRAY_LEN(fixed_env); n++)
        envp[n] = fixed_env[n];
    for (size_t i = 0; i < RUNNER_GPU_ENV; i++) {
        const char *v = getenv(runner_gpu_env[i]);
        if (v)
            envp[n++] = owned[i] = xasprintf("%s=%s", runner_gpu_env[i], v);
    }
    envp[n] = NULL;
    rc = proc_spawn(&z->proc, argv, envp, fds, ARRAY_LEN(fds) - (files[2] < 0),
                    &no_limits, e);
    for (size_t i = 0; i < RUNNER_GPU_ENV; i++)
        free(owned[i]);
    return rc;
}

int zygote_start(struct zygote **out, const struct zygote_conf *c,
                 struct err *e)
{
    struct zygote *z = xcalloc(1, sizeof(*z));
    struct buf words = BUF_INIT(1u << 20);
    int pair[2] = {-1, -1}, files[3] = {-1, -1, -1}, said = -1, rc = -1;
    char *python = zygote_python(c->python, e);

    *out = NULL;
    z->sock = -1;
    z->require = c->require;
    if (!python)
        goto done;
    files[0] = io_memfd("runner.py", EMBED_SPAN(runner_py), true, e);
    files[1] = io_memfd("km-jail.so", EMBED_SPAN(km_jail_so), true, e);
    if (c->probe.p)
        files[2] = io_memfd("probe.py", c->probe, true, e);
    said = io_memfd("stderr", (struct span){"", 0}, false, e);
    if (files[0] < 0 || files[1] < 0 || (c->probe.p && files[2] < 0) ||
        said < 0)
        goto done;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
        err_sys(e, "cannot make a socket for the zygote");
        goto done;
    }
    z->sock = pair[0];
    if (spawn(z, python, pair[1], files, said, e) < 0)
        goto done;
    close(pair[1]);
    pair[1] = -1;
    if (frame_recv(z->sock, &z->a, &z->about, NULL, NULL, NULL, NULL,
                   now_s() + START_S, e) < 0) {
        if (e && e->code == ERR_CRASH) {
            last_words(said, &words);
            err_set(e, ERR_UNAVAILABLE, "python '%s' cannot run torch: %s",
                    python, words.n ? words.p : "it ended");
            err_hint(e, "run pipelines/setup.sh, or set KM_PYTHON");
        }
        goto done;
    }
    if (val_geti(z->about, "level", JAIL_NONE) < c->require) {
        struct span lacks = val_gets(z->about, "lacks");
        err_set(e, ERR_SANDBOX, "sandbox is only %s (%.*s)",
                jail_level_name((int)val_geti(z->about, "level", 0)),
                (int)lacks.n, lacks.p ? lacks.p : "");
        err_hint(e, "--allow-weak-sandbox accepts it");
        goto done;
    }
    rc = 0;
done:
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        if (files[i] >= 0)
            close(files[i]);
    if (said >= 0)
        close(said);
    if (pair[1] >= 0)
        close(pair[1]);
    free(python);
    buf_release(&words);
    if (rc < 0)
        zygote_stop(z);
    else
        *out = z;
    return rc;
}

const struct val *zygote_about(const struct zygote *z)
{
    return z->about;
}

void zygote_stop(struct zygote *z)
{
    struct proc_result r;

    if (!z)
        return;
    if (z->sock >= 0)
        close(z->sock); /* it leaves at the end of the stream */
    if (z->proc.pid > 0 && proc_wait(&z->proc, STOP_S, &r, NULL) < 0)
        proc_kill(&z->proc);
    arena_release(&z->a);
    free(z);
}

int zygote_fork(struct zygote *z, const struct runner_conf *c,
                struct runner *out, struct err *e)
{
    struct arena a = ARENA_INIT;
    struct val *req = val_map(&a), *reply = NULL;
    double deadline = now_s() + c->start_s;
    int ours[2], theirs[2], rc;
    bool alive;

    *out = (struct runner)RUNNER_NONE;
    if (runner_sockets(ours, theirs, e) < 0)
        return -1;
    val_set(&a, req, "role", val_strz(&a, c->role));
    val_set(&a, req, "profile",
            val_int(&a, c->tools ? JAIL_BUILDER : JAIL_RUNNER));
    val_set(&a, req, "gpu", val_int(&a, c->gpu));
    val_set(&a, req, "cpu", val_int(&a, c->cpu));
    val_set(&a, req, "memory", val_int(&a, c->memory));
    val_set(&a, req, "file_size",
            val_int(&a, c->tools ? RUNNER_TOOLS_SIZE : RUNNER_FILE_SIZE));
    val_set(&a, req, "cpu_s", val_int(&a, c->cpu_s));
    val_set(&a, req, "tasks", val_int(&a, RUNNER_TASKS));
    val_set(&a, req, "tmp_size",
            val_int(&a, c->tools ? RUNNER_TOOLS_SIZE : RUNNER_TMP_SIZE));
    val_set(&a, req, "require", val_int(&a, z->require));
    rc = frame_call(z->sock, &a, req, theirs, 2, deadline, &reply, e);
    close(theirs[0]);
    close(theirs[1]);
    alive = rc == 0 && val_getb(reply, "ok", false);
    if (alive) {
        *out = (struct runner){.sock = ours[0],
                               .ctl = ours[1],
                               .init = (pid_t)val_geti(reply, "pid", 0),
                               .level = (int)val_geti(reply, "level", 0),
                               .cpu_s = c->cpu_s};
        rc = runner_hello(out, deadline, e);
        if (rc < 0)
            runner_kill(out);
    } else if (rc == 0) {
        struct span m = val_gets(reply, "message");
        rc = err_set(e, ERR_SANDBOX, "cannot fork a runner: %.*s", (int)m.n,
                     m.p ? m.p : "");
    } else {
        err_wrap(e, "zygote");
    }
    if (!alive) {
        close(ours[0]);
        close(ours[1]);
    }
    if (rc < 0)
        *out = (struct runner)RUNNER_NONE;
    arena_release(&a);
    return rc;
}
