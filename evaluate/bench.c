/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/bench.h"

#include "mem.h"

#define MEMORY_MAX (INT64_C(32) << 30) /* where the jail cannot limit it */

int bench_zygote(struct bench *b, struct err *e)
{
    struct zygote_conf z = {.python = b->python, .require = b->require};
    if (b->ops->runner_source)
        z.probe = b->ops->runner_source();
    return b->zygote ? 0 : zygote_start(&b->zygote, &z, e);
}

/* Folders that hold PATH's, PATH being PREFIX/bin/python. */
static const char *prefix_of(struct arena *a, const char *path)
{
    struct span s = span_str(path);
    for (int up = 0; up < 2; up++) {
        while (s.n && s.p[s.n - 1] != '/')
            s.n--;
        s.n -= s.n > 1;
    }
    return s.n > 1 && !span_starts(s, "/usr/") && !span_is(s, "/usr")
               ? arena_strdup(a, s)
               : NULL;
}

/* A native runner: on a GPU its compiler is the one of CUDA_HOME, of the
 * system, or of Python's packages. */
static int exec_native(struct bench *b, struct runner_conf *c,
                       struct runner *out, struct err *e)
{
    struct arena a = ARENA_INIT;
    char *python = c->gpu ? zygote_python(b->python, NULL) : NULL;
    char *real = python ? realpath(python, NULL) : NULL;
    const char *home = getenv("CUDA_HOME");
    const char *paths[4] = {NULL}, *argv[] = {"runner", NULL, NULL, NULL};
    size_t n = 0;
    int rc;

    if (c->gpu) {
        argv[1] = arena_printf(&a, "%d", c->gpu - 1);
        argv[2] = python ? python : "";
        paths[n] = python ? prefix_of(&a, python) : NULL;
        n += paths[n] != NULL;
        paths[n] = real ? prefix_of(&a, real) : NULL;
        n += paths[n] != NULL;
        if (home && home[0] == '/' && strncmp(home, "/usr/", 5) != 0)
            paths[n++] = home;
        c->read_paths = paths;
    }
    rc = runner_exec(b->native, argv, c, b->require, out, e);
    c->read_paths = NULL;
    free(python);
    free(real);
    arena_release(&a);
    return rc;
}

int bench_runner(struct bench *b, bool native, struct side *d,
                 int64_t data_bytes, struct err *e)
{
    struct runner_conf c = {
        .role = "evaluate",
        .cpu = -1,
        .memory = (INT64_C(4) << 30) + 16 * data_bytes,
        .cpu_s = 3600,
        .start_s = 30,
    };
    struct runner r;
    b->ops->runner(b->dev, &c);
    if (!native && bench_zygote(b, e))
        return -1;
    if (native ? exec_native(b, &c, &r, e)
               : zygote_fork(b->zygote, &c, &r, e)) {
        if (e->code != ERR_SANDBOX && e->code != ERR_UNAVAILABLE)
            e->code = ERR_INFRASTRUCTURE;
        return -1;
    }
    b->level = r.level;
    if (session_open(&d->s, &r, native, c.memory ? 0 : MEMORY_MAX, e)) {
        e->code = ERR_INFRASTRUCTURE;
        return -1;
    }
    return 0;
}

int bench_shadow(struct bench *b, struct err *e)
{
    struct turn t = {0};
    if (!b->shadow.s.open) {
        side_init(&b->shadow, b->ops, b->dev, NULL, -1);
        if (bench_runner(b, false, &b->shadow, 0, e))
            return -1;
    }
    if (session_empty(&b->shadow.s, &t, e)) {
        e->code = ERR_INFRASTRUCTURE;
        return -1;
    }
    return 0;
}

void bench_close(struct bench *b)
{
    if (b->shadow.ops)
        side_close(&b->shadow);
    if (b->zygote)
        zygote_stop(b->zygote);
    if (b->dev)
        b->ops->close(b->dev);
}
