/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/reference.h"

#include "evaluate/memory.h"
#include "evaluate/timing.h"
#include "io.h"
#include "mem.h"

#include <math.h>

#define FIRST_S      60.0 /* deadline of a first forward, */
#define FIRST_C_S    10.0 /* which in C has nothing to compile or tune */
#define REFINE_TIMES 3
#define MEMORY_MAX   (INT64_C(32) << 30) /* where the jail cannot limit it */

struct own_error *reference_error_of(const struct reference *ref,
                                     enum config_id c)
{
    return ref->error + (size_t)c * (ref->task.n_res + 1);
}

double reference_limit(const struct reference *ref, size_t n)
{
    return fmax(2, 200 * ref->forward_s * (double)n);
}

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

/* ---- helpers ---- */

static int refused(struct err *e, enum err_code code, const char *what,
                   const struct val *reply)
{
    char cls[60], text[200];
    return err_set(e, code, "%s: %s: %s", what,
                   mask_text(cls, sizeof(cls), val_gets(reply, "class")),
                   mask_text(text, sizeof(text), val_gets(reply, "message")));
}

/* Turn 1 (the reply said no) into an error. A reference that dies while it is
 * looked at is a bad task too. */
static int as_bad_task(int rc, const char *what, const struct side *d,
                       struct err *e)
{
    if (rc == 0)
        return 0;
    if (rc == 1)
        return refused(e, ERR_BAD_TASK, what, d->reply);
    if (e->code == ERR_CRASH || e->code == ERR_TIMEOUT ||
        e->code == ERR_MEMORY || e->code == ERR_PROTOCOL) {
        e->code = ERR_BAD_TASK;
        return err_wrap(e, "%s", what);
    }
    return -1;
}

int reference_failed(int rc, const struct side *d, struct err *e)
{
    if (rc == 0)
        return 0;
    if (rc == 1)
        return refused(e, ERR_INFRASTRUCTURE, "the reference failed later",
                       d->reply);
    e->code = ERR_INFRASTRUCTURE;
    return err_wrap(e, "the reference failed later");
}

/* Floating parameters and running statistics. Other buffers may be masks or
 * tables whose values mean something. */
static bool d7_changes(const struct state_item *it)
{
    return dtype_is_float(it->t.dtype) && it->t.numel &&
           (it->param || span_ends(it->name, "running_mean") ||
            span_ends(it->name, "running_var"));
}

static bool applies(const struct reference *ref, enum config_id c,
                    const char **why)
{
    switch (configs[c].target) {
    case TARGET_FLOATS:
        *why = "no floating input";
        /* D1 is the ordinary run of any task. */
        return ref->task.any_float || c == CONFIG_D1;
    case TARGET_INTS:
        *why = "no integer input";
        return ref->task.any_int;
    default:
        *why = "no floating parameter";
        for (size_t i = 0; i < ref->state.n; i++)
            if (d7_changes(&ref->state.v[i]))
                return true;
        return false;
    }
}

static int run_first(struct side *d, struct gen *g, struct ring *r,
                     size_t first, size_t n, double limit, struct turn *t,
                     struct err *e)
{
    ring_load(r, d);
    side_fill(d, g);
    side_salt(d);
    return side_run(d, first, n, NULL, limit, t, e);
}

/* ---- memory ---- */

int64_t memory_base(const struct side *d)
{
    int64_t taken = d->ops->taken(d->dev);
    struct proc_memory m;
    if (taken >= 0)
        return taken;
    memory_read(d->s.r.pid, &m);
    return m.anon;
}

static int64_t own_bytes(const struct side *d)
{
    int64_t regions = (int64_t)(d->data_region.size + d->state_region.size);
    int64_t taken = d->ops->taken(d->dev);
    struct proc_memory m;
    if (taken >= 0)
        return taken;
    memory_read(d->s.r.pid, &m);
    return m.anon + MAX((int64_t)0, m.shared - regions);
}

/* The device does not tell a peak; torch keeps what it took, so that what is
 * taken after a forward is what that needed. */
static int64_t own_peak(const struct side *d)
{
    int64_t regions = (int64_t)(d->data_region.size + d->state_region.size);
    int64_t taken = d->ops->taken(d->dev);
    struct proc_memory m;
    if (taken >= 0)
        return taken;
    memory_read(d->s.r.pid, &m);
    return m.peak - m.file - MIN(m.shared, regions);
}

int memory_measure(struct side *d, const struct task *t, struct gen *g,
                   size_t warm, double limit_s, struct memory_figures *m,
                   struct err *e)
{
    struct ring r;
    enum config_id c[SLOTS_MAX] = {CONFIG_D1};
    /* One forward's inputs, and its outputs where the runner does not allocate
     * them itself. */
    int64_t slot = (int64_t)(t->in_bytes + (d->s.native ? t->out_bytes : 0));
    int64_t params = 0, first, steady;
    int rc;

    if (ring_init(&r, d, d->slots, e)) {
        ring_release(&r);
        return -1;
    }
    ring_generate(&r, g, c, d->slots, false);
    memory_reset_peak(d->s.r.pid);
    rc = run_first(d, g, &r, 0, 1, d->s.native ? FIRST_C_S : FIRST_S, NULL, e);
    if (rc)
        goto out;
    first = own_peak(d) - m->base;
    for (size_t k = 0; !rc && k < warm; k++)
        rc = side_run(d, k % d->slots, 1, NULL, limit_s, NULL, e);
    if (rc)
        goto out;
    m->resident = MAX((int64_t)0, own_bytes(d) - m->base);
    memory_reset_peak(d->s.r.pid);
    rc = side_run(d, 0, 1, NULL, limit_s, NULL, e);
    if (rc)
        goto out;
    steady = own_peak(d) - m->base;
    for (size_t i = 0; i < d->state.n; i++)
        params += (int64_t)d->state.v[i].t.bytes;
    m->peak = MAX((int64_t)0, MAX(first, steady) + slot);
    m->first_peak = MAX((int64_t)0, first - params);
    m->steady = MAX((int64_t)0, steady - params);
out:
    ring_release(&r);
    return rc;
}

/* ---- preparation, step by step ---- */

static int load(struct reference *ref, struct side *d, int fd, struct err *e)
{
    int rc = side_load(d, "reference", "Model", ref->seed, fd, e);
    return as_bad_task(rc, "the reference cannot be constructed", d, e);
}

static int read_values(struct reference *ref, struct err *e)
{
    struct side *d = &ref->f32;
    ref->state = ref->f32.state;
    ref->state.data = xcalloc(1, ref->state.bytes + 1);
    return as_bad_task(side_state_get(d, ref->state.data, e),
                       "the reference's state cannot be read", d, e);
}

static int check_outputs(const struct reference *ref, const struct val *reply,
                         struct err *e)
{
    const struct val *outs = val_get(reply, "outs");
    const struct task *t = &ref->task;
    if (val_len(outs) != t->n_out)
        return err_set(e, ERR_BAD_TASK,
                       "the reference returns %zu tensors, the task says %zu",
                       val_len(outs), t->n_out);
    for (size_t i = 0; i < t->n_out; i++) {
        struct tensor x;
        if (tensor_parse(&x, val_at(outs, i), e)) {
            e->code = ERR_BAD_TASK;
            return err_wrap(e, "output %zu", i);
        }
        if (!tensor_equal(&x, &t->out[i].t)) {
            struct arena a = ARENA_INIT;
            err_set(e, ERR_BAD_TASK, "output %zu is %s, the task says %s", i,
                    tensor_text(&a, &x), tensor_text(&a, &t->out[i].t));
            arena_release(&a);
            return -1;
        }
    }
    return 0;
}

/* Each from the same state: is it deterministic, does it change its state? */
static int check_repeats(struct reference *ref, struct gen *g, struct ring *r,
                         struct err *e)
{
    struct side *d = &ref->f32;
    uint8_t *after = xcalloc(1, ref->state.bytes + 1);
    int rc = 0;

    ring_load(r, d);
    side_fill(d, g);
    side_salt(d);
    for (size_t i = 0; !rc && i < 2; i++) {
        rc = as_bad_task(side_state_set(d, &ref->state, e),
                         "the reference's state cannot be set", d, e);
        if (!rc)
            rc = as_bad_task(side_run(d, i, 1, NULL, FIRST_S, NULL, e),
                             "the reference's forward fails", d, e);
    }
    ring_take(r, d);
    if (!rc && !r->usable[0])
        rc = err_set(e, ERR_BAD_TASK, "the reference's output is not finite");
    if (!rc && !ring_same(r, 0, 1))
        rc = err_set(e, ERR_BAD_TASK,
                     "the reference gives two results for one input");
    if (!rc)
        rc = as_bad_task(side_state_get(d, after, e),
                         "the reference's state cannot be read", d, e);
    if (!rc)
        ref->stateful = memcmp(after, ref->state.data, ref->state.bytes) != 0;
    free(after);
    return rc;
}

/* Twice the same data: shapes, time, memory, determinism. */
static int try_forward(struct reference *ref, struct gen *g, struct err *e)
{
    struct side *d = &ref->f32;
    enum config_id c[2] = {CONFIG_D1, CONFIG_D1};
    struct ring r;
    struct turn t = {0};
    double best = INFINITY;
    int rc;

    if (ring_init(&r, d, 2, e)) {
        ring_release(&r);
        return -1;
    }
    ring_generate(&r, g, c, 2, false);
    ring_copy(&r, 0, 1);
    rc = as_bad_task(side_place(d, g, 2, e),
                     "the reference's inputs cannot be bound", d, e);
    if (!rc)
        rc = as_bad_task(
            memory_measure(d, &ref->task, g, 4, FIRST_S, &ref->memory, e),
            "the reference's forward fails", d, e);
    if (!rc)
        rc = check_outputs(ref, d->reply, e);
    for (int k = 0; !rc && k < 5; k++) {
        rc = as_bad_task(run_first(d, g, &r, 0, 2, FIRST_S, &t, e),
                         "the reference's forward fails", d, e);
        best = fmin(best, forward_s(side_turn_s(d, &t), side_overhead_s(d), 2));
        if (t.elapsed_s > 0.5)
            break;
    }
    ref->forward_s = fmax(best, 1e-6);
    ref->threads = t.threads;
    if (!rc)
        rc = check_repeats(ref, g, &r, e);
    ring_release(&r);
    return rc;
}

static void choose_slots(struct reference *ref)
{
    const struct device_ops *ops = ref->bench->ops;
    size_t k = (size_t)fmin((double)MIN(ops->slots, SLOTS_MAX),
                            ceil(ops->ring_s / ref->forward_s));
    k = MIN(k, ops->ring_bytes(ref->bench->dev) / side_need(&ref->f32, 1));
    ref->slots = MAX(k, (size_t)2);
}

int reference_capture(struct reference *ref, const struct chain *chain,
                      struct err *e)
{
    struct side *d = &ref->f32;
    int rc;
    if (!d->ops->captures || ref->eager)
        return 0;
    rc = side_capture(d, ref->slots, chain, true, FIRST_S, e);
    if (rc < 0) /* it died of it, and would again */
        return as_bad_task(rc, "the reference's ring cannot be captured", d, e);
    if (rc == 1)
        ref->eager = "the reference cannot be captured";
    return 0;
}

/* Two forwards are mostly start-up where they are short: time a whole ring. */
static int refine_time(struct reference *ref, struct gen *g, struct err *e)
{
    struct side *d = &ref->f32;
    enum config_id c[SLOTS_MAX] = {CONFIG_D1};
    struct ring r;
    double v[5];
    int rc;

    if (ring_init(&r, d, ref->slots, e)) {
        ring_release(&r);
        return -1;
    }
    rc = as_bad_task(side_place(d, g, ref->slots, e),
                     "the reference's inputs cannot be bound", d, e);
    if (!rc)
        rc = reference_capture(ref, NULL, e);
    ring_generate(&r, g, c, ref->slots, false);
    for (size_t i = 0; !rc && i < ARRAY_LEN(v); i++) {
        struct turn t = {0};
        rc = as_bad_task(run_first(d, g, &r, 0, r.n, FIRST_S, &t, e),
                         "the reference's forward fails", d, e);
        v[i] = side_turn_s(d, &t);
    }
    if (!rc)
        ref->forward_s = fmax(1e-6, forward_s(timing_median(v, ARRAY_LEN(v)),
                                              side_overhead_s(d), r.n));
    ring_release(&r);
    return rc;
}

/* One run a configuration, each by itself, so that one that raises does not
 * take the others with it. */
static int try_configs(struct reference *ref, struct gen *g, struct ring *r,
                       struct err *e)
{
    struct side *d = &ref->f32;
    enum config_id c[CONFIG_COUNT];
    int rc;

    for (int i = 0; i < CONFIG_COUNT; i++)
        c[i] = (enum config_id)i;
    ring_generate(r, g, c, CONFIG_COUNT, false);
    rc = as_bad_task(side_place(d, g, CONFIG_COUNT, e),
                     "the reference's inputs cannot be bound", d, e);
    if (rc)
        return rc;
    ring_load(r, d);
    side_fill(d, g);
    side_salt(d);
    for (int i = 0; i < CONFIG_COUNT; i++) {
        const char *why;
        struct state st = {0};
        ref->tested[i] = applies(ref, (enum config_id)i, &why);
        if (!ref->tested[i]) {
            snprintf(ref->why_not[i], sizeof(ref->why_not[i]), "%s", why);
            continue;
        }
        if (configs[i].target == TARGET_PARAMS)
            st = reference_affine(ref, g);
        if (ref->stateful || st.data) {
            rc = as_bad_task(side_state_set(d, st.data ? &st : &ref->state, e),
                             "the reference's state cannot be set", d, e);
            free(st.data);
            if (rc)
                return rc;
        }
        rc = side_run(d, (size_t)i, 1, NULL, reference_limit(ref, 50), NULL, e);
        if (rc < 0)
            return as_bad_task(rc, configs[i].name, d, e);
        if (rc == 1) {
            char cls[60];
            snprintf(ref->why_not[i], sizeof(ref->why_not[i]),
                     "the reference raises %s",
                     mask_text(cls, sizeof(cls), val_gets(d->reply, "class")));
            ref->tested[i] = false;
        }
        if (configs[i].target == TARGET_PARAMS) {
            rc = as_bad_task(side_state_set(d, &ref->state, e),
                             "the reference's state cannot be set", d, e);
            if (rc)
                return rc;
        }
    }
    ring_take(r, d);
    for (int i = 0; i < CONFIG_COUNT; i++)
        if (ref->tested[i] && !r->usable[i]) {
            snprintf(ref->why_not[i], sizeof(ref->why_not[i]),
                     "the reference is not finite");
            ref->tested[i] = false;
        }
    if (!ref->tested[CONFIG_D1])
        return err_set(e, ERR_BAD_TASK, "the reference fails on D1: %s",
                       ref->why_not[CONFIG_D1]);
    return 0;
}

/* The float64 reference over the slots of R that are WANTED, as many at once
 * as it has places. 0, 1, -1 as session_call. */
static int run_exact(struct side *d, struct ring *r, struct gen *g,
                     const bool *wanted, struct err *e)
{
    size_t s = 0;
    while (s < r->n) {
        size_t slot[CONFIG_COUNT], n = 0;
        for (; s < r->n && n < d->slots; s++)
            if (wanted[s]) {
                ring_load_slot(r, s, d, n);
                slot[n++] = s;
            }
        side_fill(d, g);
        side_salt(d);
        for (size_t i = 0; i < n; i++) {
            int rc = side_run(d, i, 1, NULL, FIRST_S, NULL, e);
            if (rc)
                return rc;
        }
        (void)side_keep(d, n, NULL);
        for (size_t i = 0; i < n; i++)
            ring_take_exact(r, d, slot[i], i);
    }
    return 0;
}

/* The float64 reference, on the same data. Whatever fails here only means
 * that there is none. */
static void try_float64(struct reference *ref, struct gen *g, struct ring *r,
                        int fd)
{
    struct side *d = &ref->f64;
    struct err e = {0};
    bool wanted[CONFIG_COUNT];
    int rc;

    side_init(d, ref->bench->ops, ref->bench->dev, &ref->task, KM_FLOAT64);
    rc = bench_runner(ref->bench, false, d, (int64_t)ref->task.in_stride, &e);
    if (!rc)
        rc = side_load(d, "reference", "Model", ref->seed, fd, &e);
    if (!rc)
        rc = side_cast(d, KM_FLOAT64, &e);
    if (!rc)
        rc = side_state_set(d, &ref->state, &e);
    if (!rc)
        rc = side_place(d, g,
                        MAX(1, MIN(CONFIG_COUNT, d->ops->ring_bytes(d->dev) /
                                                     side_need(d, 1))),
                        &e);
    for (int i = 0; i < CONFIG_COUNT; i++)
        wanted[i] = ref->tested[i] && configs[i].target != TARGET_PARAMS;
    if (!rc)
        rc = run_exact(d, r, g, wanted, &e);
    if (!rc && !r->exact_at[CONFIG_D1])
        rc = err_set(&e, ERR_BAD_TASK, "not finite in float64");
    if (rc) {
        if (rc == 1)
            refused(&e, ERR_BAD_TASK, "float64", d->reply);
        mask_text(ref->no_f64, sizeof(ref->no_f64), span_str(e.msg));
        side_close(d);
        return;
    }
    ref->has_f64 = true;
    for (int i = 0; i < CONFIG_COUNT; i++)
        if (wanted[i] && r->exact_at[i])
            for (size_t k = 0; k < ref->task.n_res; k++)
                reference_error_of(ref, (enum config_id)i)[k] =
                    ring_own_error(r, (size_t)i, k);
    /* D7 was not run here: the worst of the others stands for it. */
    for (int i = 0; i < CONFIG_COUNT; i++)
        for (size_t k = 0; k < ref->task.n_res; k++) {
            struct own_error *to = &reference_error_of(ref, CONFIG_D7)[k];
            struct own_error o = reference_error_of(ref, (enum config_id)i)[k];
            to->part = fmax(to->part, o.part);
            to->relative = fmax(to->relative, o.relative);
        }
}

static void find_degenerate(struct reference *ref, const struct ring *r)
{
    ref->degenerate = true;
    for (int i = 0; i < CONFIG_COUNT; i++)
        if (ref->tested[i] &&
            !ring_zero_passes(r, (size_t)i,
                              reference_error_of(ref, (enum config_id)i),
                              ref->terms))
            ref->degenerate = false;
}

/* Train mode counts where it is deterministic and differs from eval. */
static int try_train(struct reference *ref, struct gen *g, struct err *e)
{
    struct side *d = &ref->f32;
    enum config_id c[3] = {CONFIG_D1, CONFIG_D1, CONFIG_D1};
    struct ring r;
    int rc;

    rc = ring_init(&r, d, 3, e);
    if (rc)
        goto out;
    ring_generate(&r, g, c, 3, false);
    for (size_t i = 1; i < 3; i++)
        ring_copy(&r, 0, i);
    rc = as_bad_task(side_place(d, g, 3, e),
                     "the reference's inputs cannot be bound", d, e);
    if (rc)
        goto out;
    rc = as_bad_task(side_state_set(d, &ref->state, e),
                     "the reference's state cannot be set", d, e);
    if (rc)
        goto out;
    rc = as_bad_task(run_first(d, g, &r, 0, 1, FIRST_S, NULL, e),
                     "the reference's forward fails", d, e);
    if (rc)
        goto out;
    rc = as_bad_task(side_mode(d, true, e), "train mode", d, e);
    for (size_t i = 1; !rc && i < 3; i++) {
        rc = as_bad_task(side_state_set(d, &ref->state, e),
                         "the reference's state cannot be set", d, e);
        if (rc)
            goto out;
        rc = side_run(d, i, 1, NULL, FIRST_S, NULL, e);
        if (rc == 1) {
            snprintf(ref->no_train, sizeof(ref->no_train),
                     "the reference raises in train mode");
        } else if (rc < 0) {
            rc = as_bad_task(rc, "train mode", d, e);
            goto out;
        }
    }
    if (rc < 0)
        goto out;
    ring_take(&r, d);
    if (rc == 1)
        ;
    else if (!r.usable[1] || !r.usable[2])
        snprintf(ref->no_train, sizeof(ref->no_train),
                 "the reference is not finite in train mode");
    else if (!ring_same(&r, 1, 2))
        snprintf(ref->no_train, sizeof(ref->no_train),
                 "the reference is random in train mode");
    else if (ring_same(&r, 0, 1))
        snprintf(ref->no_train, sizeof(ref->no_train), "same as eval mode");
    else
        ref->train = true;
    rc = as_bad_task(side_mode(d, false, e), "eval mode", d, e);
    if (!rc)
        rc = as_bad_task(side_state_set(d, &ref->state, e),
                         "the reference's state cannot be set", d, e);
out:
    ring_release(&r);
    return rc;
}

struct state reference_affine(const struct reference *ref, struct gen *g)
{
    struct state st = ref->state;
    st.data = xmalloc(st.bytes + 1);
    memcpy(st.data, ref->state.data, st.bytes);
    for (size_t i = 0; i < st.n; i++) {
        const struct state_item *it = &st.v[i];
        if (d7_changes(it))
            gen_affine(g, it->t.dtype, st.data + it->at, it->t.numel);
    }
    return st;
}

int reference_set_state(struct reference *ref, const struct state *st,
                        struct err *e)
{
    struct side *d = &ref->f32;
    int rc = reference_failed(side_state_set(d, st, e), d, e);
    d = &ref->f64;
    if (!rc && ref->has_f64)
        rc = reference_failed(side_state_set(d, st, e), d, e);
    return rc;
}

int reference_exact(struct reference *ref, struct ring *r, struct gen *g,
                    int exact, struct err *e)
{
    bool wanted[SLOTS_MAX];
    if (exact == -1 || !ref->has_f64)
        return 0;
    for (size_t s = 0; s < r->n; s++)
        wanted[s] = r->usable[s] && (exact < 0 || (size_t)exact == s);
    return reference_failed(run_exact(&ref->f64, r, g, wanted, e), &ref->f64,
                            e);
}

int reference_expect(struct reference *ref, struct ring *r, struct gen *g,
                     int exact, struct err *e)
{
    struct side *d = &ref->f32;
    int rc = run_first(d, g, r, 0, r->n, reference_limit(ref, r->n), NULL, e);
    if (reference_failed(rc, d, e))
        return -1;
    ring_take(r, d);
    return reference_exact(ref, r, g, exact, e);
}

static double count_terms(const struct reference *ref)
{
    double n = 0;
    for (size_t i = 0; i < ref->task.n_in; i++)
        n += (double)ref->task.in[i].t.numel;
    for (size_t i = 0; i < ref->state.n; i++)
        n += (double)ref->state.v[i].t.numel;
    return n;
}

int reference_open(struct reference **out, struct bench *b,
                   const struct val *rec, struct gen *g, struct err *e)
{
    struct reference *ref = xcalloc(1, sizeof(*ref));
    struct ring r = {0};
    int fd = -1, rc = -1;

    ref->bench = b;
    ref->mem = (struct arena)ARENA_INIT;
    side_init(&ref->f32, NULL, NULL, NULL, -1);
    side_init(&ref->f64, NULL, NULL, NULL, -1);
    if (task_parse(&ref->task, &ref->mem, val_copy(&ref->mem, rec), e))
        goto out;
    gen_bytes(g, &ref->seed, sizeof(ref->seed));
    fd = io_memfd("reference.py", ref->task.source, true, e);
    if (fd < 0)
        goto out;
    side_init(&ref->f32, b->ops, b->dev, &ref->task, -1);
    if (bench_runner(b, false, &ref->f32, (int64_t)ref->task.in_stride, e))
        goto out;
    ref->memory.base = memory_base(&ref->f32);
    if (ring_init(&r, &ref->f32, CONFIG_COUNT, e))
        goto out;
    ref->error =
        xcalloc(CONFIG_COUNT * (ref->task.n_res + 1), sizeof(*ref->error));
    if (load(ref, &ref->f32, fd, e) || read_values(ref, e) ||
        try_forward(ref, g, e))
        goto out;
    ref->terms = count_terms(ref);
    choose_slots(ref);
    /* Each time of a longer ring: what came before its forwards counts less. */
    for (int i = 0; i < REFINE_TIMES && ref->slots > 2; i++) {
        size_t before = ref->slots;
        if (refine_time(ref, g, e))
            goto out;
        choose_slots(ref);
        if (ref->slots < before + before / 2)
            break;
    }
    if (try_configs(ref, g, &r, e))
        goto out;
    if (ref->stateful)
        snprintf(ref->no_f64, sizeof(ref->no_f64),
                 "a forward changes the state");
    else
        try_float64(ref, g, &r, fd);
    find_degenerate(ref, &r);
    if (try_train(ref, g, e))
        goto out;
    rc = 0;
out:
    ring_release(&r);
    if (fd >= 0)
        close(fd);
    if (rc) {
        reference_close(ref);
        ref = NULL;
    }
    *out = ref;
    return rc;
}

void reference_close(struct reference *ref)
{
    if (!ref)
        return;
    side_close(&ref->f32);
    side_close(&ref->f64);
    free(ref->state.data);
    free(ref->error);
    arena_release(&ref->mem);
    free(ref);
}
