/* SPDX-License-Identifier: MIT */
/*
 * km-runner-cuda: the runner of candidates in language `cuda`: CUDA C++ with a
 * launch plan (cuda/plan.h), compiled here, in the jail, for the GPU at hand.
 *
 *   km-runner-cuda ORDINAL PYTHON
 */
#include "base.h"

#include "evaluate/cuda/gpu.h"
#include "evaluate/cuda/plan.h"
#include "evaluate/native.h"

#include "io.h"
#include "mem.h"
#include "run/jail.h"

#include <dlfcn.h>

#define SOURCE_MAX      (4u << 20)
#define CAPTURE_RELAXED 2
/* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, and what needs no asking. */
#define SHARED_SIZE  8
#define SHARED_PLAIN (48u << 10)

#define TRY(c, call, what) cuda_check((c)->gpu.cu->call, ERR_FORWARD, what, e)

struct candidate {
    struct gpu gpu;
    struct nvrtc const *nvrtc;
    struct arena mem;
    struct plan plan;
    struct plan_bound bound;
    bool loaded, ready; /* ready: BOUND is of the slots that there are */
    bool stale;         /* init has to be run */
    void *module;
    void *functions[PLAN_STATEMENTS]; /* of statements */
    uint64_t scratch[PLAN_STATEMENTS];
    int64_t scratch_size[PLAN_STATEMENTS];
    void *graph, *tick; /* the ring; an empty call */
    uint64_t ticks;
};

/* ---- loading ---- */

/* Folder of the headers that belong to the compiler, and the toolkit's. */
static size_t header_folders(const struct nvrtc *n, char folders[3][PATH_MAX])
{
    const char *home = getenv("CUDA_HOME");
    Dl_info info;
    size_t k = 0;

    if (dladdr(*(void *const *)&n->version, &info) && info.dli_fname) {
        int len = (int)strlen(info.dli_fname);
        for (int up = 0; up < 2 && len > 0; up++)
            while (len > 0 && info.dli_fname[--len] != '/')
                ;
        snprintf(folders[k], PATH_MAX, "%.*s/include", len, info.dli_fname);
        k += access(folders[k], R_OK) == 0;
    }
    snprintf(folders[k], PATH_MAX, "%s/include", home ? home : "");
    k += access(folders[k], R_OK) == 0;
    snprintf(folders[k], PATH_MAX, "/usr/local/cuda/include");
    k += access(folders[k], R_OK) == 0;
    return k;
}

/* Compile SOURCE and find the kernels that the plan launches. */
static int build(struct candidate *c, struct span source, struct err *e)
{
    char folders[3][PATH_MAX], *symbols[PLAN_STATEMENTS] = {0};
    const char *paths[3], *kernels[PLAN_STATEMENTS];
    size_t of[PLAN_STATEMENTS], n = 0;
    struct nvrtc_conf conf = {.name = "candidate.cu",
                              .cc = c->gpu.cc,
                              .candidate = true,
                              .folders = paths,
                              .kernels = kernels,
                              .symbols = symbols};
    struct buf code = BUF_INIT(256u << 20);
    int rc = -1;

    conf.n_folders = header_folders(c->nvrtc, folders);
    for (size_t i = 0; i < conf.n_folders; i++)
        paths[i] = folders[i];
    for (size_t i = 0; i < c->plan.n; i++) {
        const char *name = c->plan.v[i].kernel;
        size_t k = 0;
        while (name && k < n && strcmp(kernels[k], name))
            k++;
        of[i] = k;
        if (name && k == n)
            kernels[n++] = name;
    }
    conf.n_kernels = n;
    if (nvrtc_build(c->nvrtc, source, &conf, &code, e) ||
        TRY(c, module_load(&c->module, code.p), "candidate.cu"))
        goto out;
    for (size_t i = 0; i < c->plan.n; i++)
        if (c->plan.v[i].kernel &&
            TRY(c, function_get(&c->functions[i], c->module, symbols[of[i]]),
                c->plan.v[i].kernel))
            goto out;
    rc = 0;
out:
    for (size_t i = 0; i < n; i++)
        free(symbols[i]);
    buf_release(&code);
    return rc;
}

static int load(struct native *s, int fd, const char **where, struct err *e)
{
    struct candidate *c = s->own;
    struct buf source = BUF_INIT(SOURCE_MAX);
    int rc = -1;

    if (c->loaded) {
        err_set(e, ERR_PROTOCOL, "load: a second candidate");
        goto out;
    }
    c->loaded = true;
    if (lseek(fd, 0, SEEK_SET) || io_read_fd(&source, fd, e))
        goto out;
    if (jail_seal()) {
        err_sys(e, "cannot seal the sandbox");
        goto out;
    }
    *where = "build";
    if (plan_read(&c->plan, &c->mem, buf_span(&source), e) ||
        build(c, buf_span(&source), e))
        goto out;
    c->stale = true;
    rc = 0;
out:
    buf_release(&source);
    return rc;
}

/* ---- memory ---- */

static int map(struct native *s, size_t arena, int fd, size_t size,
               struct err *e)
{
    struct candidate *c = s->own;
    struct gpu_arena *a = xcalloc(1, sizeof(*a));

    if (gpu_arena_import(&c->gpu, fd, size, a, e)) {
        free(a);
        return -1;
    }
    s->arenas[arena].at = (char *)(uintptr_t)a->at;
    s->arenas[arena].size = size;
    s->arenas[arena].own = a;
    return 0;
}

static int unmap(struct native *s, size_t arena, struct err *e)
{
    struct candidate *c = s->own;

    if (gpu_wait(&c->gpu, e))
        return -1;
    gpu_arena_free(&c->gpu, s->arenas[arena].own);
    free(s->arenas[arena].own);
    s->arenas[arena].own = NULL;
    return 0;
}

static int take(struct native *s, size_t bytes, void **out, struct err *e)
{
    struct candidate *c = s->own;
    uint64_t at = 0;

    if (TRY(c, memory_take(&at, MAX(bytes, (size_t)256)), "memory"))
        return -1;
    *out = (void *)(uintptr_t)at;
    return 0;
}

static void give(struct native *s, void *p)
{
    struct candidate *c = s->own;

    if (p)
        c->gpu.cu->memory_give((uintptr_t)p);
}

static int copy(struct native *s, void *to, const void *from, size_t n,
                struct err *e)
{
    struct candidate *c = s->own;

    return n ? gpu_move(&c->gpu, (uintptr_t)to, (uintptr_t)from, n, e) : 0;
}

/* ---- names of the plan ---- */

/* "in12" is number 12 of N; -1 none. */
static int64_t numbered(struct span name, const char *prefix, size_t n)
{
    size_t skip = strlen(prefix);
    int64_t k = 0;

    if (!span_starts(name, prefix) || name.n == skip || name.n > skip + 4)
        return -1;
    for (size_t i = skip; i < name.n; i++) {
        if (name.p[i] < '0' || name.p[i] > '9')
            return -1;
        k = 10 * k + (name.p[i] - '0');
    }
    return k < (int64_t)n ? k : -1;
}

static void as_named(const struct km_tensor *t, enum plan_place place,
                     size_t index, struct plan_named *out)
{
    *out = (struct plan_named){.place = place,
                               .index = index,
                               .ndim = t->ndim,
                               .shape = t->shape,
                               .numel = km_numel(t)};
}

static void as_number(const struct km_tensor *t, struct plan_named *out)
{
    *out = (struct plan_named){.number = true};
    if (t->dtype == KM_FLOAT64) {
        out->real = true;
        memcpy(&out->f, t->data, sizeof(out->f));
    } else if (t->dtype == KM_BOOL) {
        out->i = *(const uint8_t *)t->data;
    } else {
        memcpy(&out->i, t->data, sizeof(out->i));
    }
}

static bool find(void *payload, struct span name, struct plan_named *out)
{
    const struct native *s = payload;
    int64_t i = numbered(name, "in", s->n_in);

    if (i >= 0) {
        if (s->index[i] < 0)
            as_number(&s->in[i], out);
        else
            as_named(&s->in[i], PLAN_IN, (size_t)i, out);
        return true;
    }
    i = numbered(name, "out", s->n_out);
    if (i >= 0) {
        as_named(&s->out[i], PLAN_OUT, (size_t)i, out);
        return true;
    }
    for (size_t k = 0; k < s->params.n; k++)
        if (span_is(name, s->params.v[k].name)) {
            as_named(&s->params.v[k], PLAN_PARAM, k, out);
            return true;
        }
    return false;
}

/* ---- launches ---- */

static uint64_t address(const struct native *s, const struct plan_arg *a,
                        size_t slot)
{
    const struct candidate *c = s->own;
    const void *p;

    switch (a->place) {
    case PLAN_IN:
        p = s->in[slot * s->n_in + a->index].data;
        break;
    case PLAN_OUT:
        p = s->out[slot * s->n_out + a->index].data;
        break;
    case PLAN_PARAM:
        p = s->params.v[a->index].data;
        break;
    default:
        return c->scratch[a->index];
    }
    return (uintptr_t)p;
}

static size_t bytes_of(const struct native *s, const struct plan_arg *a)
{
    const struct candidate *c = s->own;

    return a->place == PLAN_OUT ? native_bytes(&s->out[a->index])
                                : (size_t)c->scratch_size[a->index];
}

static int launch(struct native *s, const struct plan_step *step, size_t slot,
                  struct err *e)
{
    struct candidate *c = s->own;
    const struct plan_statement *st = &c->plan.v[step->statement];
    void *arguments[PLAN_ARGS];
    union {
        uint64_t address;
        int64_t l;
        int32_t i;
        float f;
        double d;
    } values[PLAN_ARGS];

    for (size_t i = 0; i < step->n_args; i++) {
        const struct plan_arg *a = &step->args[i];
        arguments[i] = &values[i];
        if (a->kind == ARG_ADDRESS)
            values[i].address = address(s, a, slot);
        else if (a->kind == ARG_INT)
            values[i].i = (int32_t)a->i;
        else if (a->kind == ARG_LONG)
            values[i].l = a->i;
        else if (a->kind == ARG_FLOAT)
            values[i].f = (float)a->f;
        else
            values[i].d = a->f;
    }
    if (!step->grid[0] || !step->grid[1] || !step->grid[2])
        return 0; /* of nothing */
    return TRY(c,
               launch(c->functions[step->statement], step->grid[0],
                      step->grid[1], step->grid[2], step->block[0],
                      step->block[1], step->block[2], step->shared,
                      c->gpu.stream, arguments, NULL),
               st->kernel);
}

static int run_steps(struct native *s, bool init, size_t slot, struct err *e)
{
    struct candidate *c = s->own;

    for (size_t i = 0; i < c->bound.n_steps; i++) {
        const struct plan_step *step = &c->bound.steps[i];
        if ((step->verb == PLAN_INIT) != init)
            continue;
        if (step->verb != PLAN_ZERO) {
            if (launch(s, step, slot, e))
                return -1;
        } else if (bytes_of(s, &step->args[0]) &&
                   TRY(c,
                       set(address(s, &step->args[0], slot), 0,
                           bytes_of(s, &step->args[0]), c->gpu.stream),
                       "zero")) {
            return -1;
        }
    }
    return 0;
}

static int run_init(struct native *s, struct err *e)
{
    struct candidate *c = s->own;

    c->stale = true;
    if (!c->ready)
        return 0;
    c->stale = false;
    return run_steps(s, true, 0, e);
}

/* ---- binding ---- */

/* Sizes of a kernel's arguments, where the driver tells them, against what the
 * plan passes: a wrong number of them would be read from anywhere. */
static int check_arguments(struct candidate *c, const struct plan_step *step,
                           struct err *e)
{
    int (*info)(void *, size_t, size_t *, size_t *) = NULL;
    const struct plan_statement *st = &c->plan.v[step->statement];
    size_t n = 0, at, size;

    *(void **)&info = dlsym(c->gpu.cu->lib, "cuFuncGetParamInfo");
    if (!info)
        return 0;
    for (; info(c->functions[step->statement], n, &at, &size) == 0; n++) {
        size_t given = 0;
        if (n < step->n_args)
            given =
                step->args[n].kind == ARG_INT || step->args[n].kind == ARG_FLOAT
                    ? 4
                    : 8;
        if (n < step->n_args && given != size)
            return err_set(e, ERR_PARSE,
                           "line %d: argument %zu of %s has %zu bytes, the "
                           "plan passes %zu",
                           st->line, n, st->kernel, size, given);
    }
    if (n != step->n_args)
        return err_set(e, ERR_PARSE,
                       "line %d: %s takes %zu arguments, the plan passes %zu",
                       st->line, st->kernel, n, step->n_args);
    return 0;
}

static int prepare_launch(struct candidate *c, const struct plan_step *step,
                          struct err *e)
{
    const struct plan_statement *st = &c->plan.v[step->statement];

    if (check_arguments(c, step, e))
        return -1;
    if (step->shared <= SHARED_PLAIN)
        return 0;
    return TRY(c,
               function_set(c->functions[step->statement], SHARED_SIZE,
                            (int)step->shared),
               st->kernel);
}

static int take_scratch(struct native *s, struct err *e)
{
    struct candidate *c = s->own;

    for (size_t i = 0; i < c->bound.n_scratch; i++) {
        size_t size = MAX((size_t)c->bound.scratch[i], (size_t)256);
        void *p;
        if (c->scratch[i] && c->scratch_size[i] == c->bound.scratch[i])
            continue;
        give(s, (void *)(uintptr_t)c->scratch[i]);
        c->scratch[i] = 0;
        if (take(s, size, &p, e))
            return -1;
        c->scratch[i] = (uintptr_t)p;
        c->scratch_size[i] = c->bound.scratch[i];
        /* No number that anything could start from. */
        if (TRY(c, set(c->scratch[i], 0xff, size, c->gpu.stream), "scratch"))
            return -1;
        c->stale = true;
    }
    return 0;
}

static void forget_graph(struct candidate *c)
{
    if (c->graph)
        c->gpu.cu->graph_end(c->graph);
    c->graph = NULL;
}

static int bound(struct native *s, struct err *e)
{
    struct candidate *c = s->own;
    struct plan_names names = {find, s, c->gpu.units};

    forget_graph(c);
    c->ready = false;
    if (!c->loaded || !s->slots)
        return 0;
    if (plan_bind(&c->plan, &names, &c->bound, e))
        return -1;
    for (size_t i = 0; i < c->bound.n_steps; i++)
        if (c->bound.steps[i].verb != PLAN_ZERO &&
            prepare_launch(c, &c->bound.steps[i], e))
            return -1;
    if (take_scratch(s, e))
        return -1;
    c->ready = true;
    return c->stale && (run_init(s, e) || gpu_wait(&c->gpu, e)) ? -1 : 0;
}

static int forward(struct native *s, size_t slot, struct err *e)
{
    return run_steps(s, false, slot, e);
}

static int wait_all(struct native *s, struct err *e)
{
    struct candidate *c = s->own;

    return TRY(c, stream_wait(c->gpu.stream), "a kernel");
}

/* ---- graphs ---- */

static int capture_begin(struct native *s, struct err *e)
{
    struct candidate *c = s->own;

    forget_graph(c);
    return TRY(c, capture_begin(c->gpu.stream, CAPTURE_RELAXED), "capture");
}

static int end_into(struct candidate *c, void **made, bool failed,
                    struct err *e)
{
    void *graph = NULL;
    struct err ignored;
    int rc;

    if (failed) {
        if (c->gpu.cu->capture_end(c->gpu.stream, &graph) == 0 && graph)
            c->gpu.cu->graph_free(graph);
        return 0;
    }
    if (TRY(c, capture_end(c->gpu.stream, &graph), "capture"))
        return -1;
    rc = TRY(c, graph_make(made, graph, 0), "graph");
    (void)cuda_check(c->gpu.cu->graph_free(graph), ERR_FORWARD, "graph",
                     &ignored);
    return rc;
}

static int capture_end(struct native *s, bool failed, struct err *e)
{
    struct candidate *c = s->own;

    return end_into(c, &c->graph, failed, e);
}

static int replay(struct native *s, struct err *e)
{
    struct candidate *c = s->own;

    if (!c->graph)
        return err_set(e, ERR_PROTOCOL, "nothing is captured");
    return TRY(c, graph_launch(c->graph, c->gpu.stream), "graph");
}

/* One node, as the PyTorch runner's empty call. */
static int empty(struct native *s, struct err *e)
{
    struct candidate *c = s->own;

    if (!c->tick) {
        bool failed;
        if (TRY(c, memory_take(&c->ticks, 256), "memory") ||
            TRY(c, capture_begin(c->gpu.stream, CAPTURE_RELAXED), "capture"))
            return -1;
        failed = TRY(c, set(c->ticks, 0, 4, c->gpu.stream), "set") != 0;
        if (end_into(c, &c->tick, failed, e) || failed)
            return -1;
    }
    return TRY(c, graph_launch(c->tick, c->gpu.stream), "graph") ||
                   wait_all(s, e)
               ? -1
               : 0;
}

int main(int argc, char **argv)
{
    static const struct native_ops ops = {.kind = "cuda",
                                          .load = load,
                                          .map = map,
                                          .unmap = unmap,
                                          .take = take,
                                          .give = give,
                                          .copy = copy,
                                          .init = run_init,
                                          .bound = bound,
                                          .forward = forward,
                                          .wait = wait_all,
                                          .empty = empty,
                                          .capture_begin = capture_begin,
                                          .capture_end = capture_end,
                                          .replay = replay};
    static struct candidate c;
    struct native s = {.ops = &ops, .own = &c};
    struct err e = {0};
    char *end = NULL;
    long ordinal = argc == 3 ? strtol(argv[1], &end, 10) : -1;

    c.mem = (struct arena)ARENA_INIT;
    /* Both before anything foreign is here, and while files can be opened. */
    if (ordinal < 0 || ordinal > INT_MAX || *end ||
        gpu_start(&c.gpu, (int)ordinal, &e))
        return 1;
    c.nvrtc = nvrtc_open(argv[2], &e);
    if (!c.nvrtc)
        return 1;
    return native_serve(&s);
}
