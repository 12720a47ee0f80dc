/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/reference_priv.h"

#include "evaluate/memory.h"
#include "evaluate/timing.h"
#include "io.h"
#include "mem.h"

#include <math.h>

#define FIRST_C_S                                                              \
    10.0 /* of a first forward with nothing to compile or tune                 \
          */
#define REFINE_TIMES 3

struct own_error *reference_error_of(const struct reference *ref,
                                     enum config_id c)
{
    return ref->error + (size_t)c * (ref->task.n_res + 1);
}

double reference_limit(const struct reference *ref, size_t n)
{
    return fmax(2, 200 * ref->forward_s * (double)n);
}

/* ---- helpers ---- */

int reference_refused(struct err *e, enum err_code code, const char *what,
                      const struct val *reply)
{
    char cls[60], text[200];
    return err_set(e, code, "%s: %s: %s", what,
                   mask_text(cls, sizeof(cls), val_gets(reply, "class")),
                   mask_text(text, sizeof(text), val_gets(reply, "message")));
}

/* Turn 1 (the reply said no) into an error. A reference that dies while it is
 * looked at is a bad task too. */
int reference_bad(int rc, const char *what, const struct side *d, struct err *e)
{
    if (rc == 0)
        return 0;
    if (rc == 1)
        return reference_refused(e, ERR_BAD_TASK, what, d->reply);
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
        return reference_refused(e, ERR_INFRASTRUCTURE,
                                 "the reference failed later", d->reply);
    e->code = ERR_INFRASTRUCTURE;
    return err_wrap(e, "the reference failed later");
}

int reference_first(struct side *d, struct gen *g, struct ring *r, size_t first,
                    size_t n, double limit, struct turn *t, struct err *e)
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
    rc = reference_first(d, g, &r, 0, 1, d->s.native ? FIRST_C_S : FIRST_S,
                         NULL, e);
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
    int rc = side_load(d, "reference", "Model", ref->seed, &fd, 1, e);
    return reference_bad(rc, "the reference cannot be constructed", d, e);
}

static int read_values(struct reference *ref, struct err *e)
{
    struct side *d = &ref->f32;
    ref->state = ref->f32.state;
    ref->state.data = xcalloc(1, ref->state.bytes + 1);
    return reference_bad(side_state_get(d, ref->state.data, e),
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
        rc = reference_bad(side_state_set(d, &ref->state, e),
                           "the reference's state cannot be set", d, e);
        if (!rc)
            rc = reference_bad(side_run(d, i, 1, NULL, FIRST_S, NULL, e),
                               "the reference's forward fails", d, e);
    }
    ring_take(r, d);
    if (!rc && !r->usable[0])
        rc = err_set(e, ERR_BAD_TASK, "the reference's output is not finite");
    if (!rc && !ring_same(r, 0, 1))
        rc = err_set(e, ERR_BAD_TASK,
                     "the reference gives two results for one input");
    if (!rc)
        rc = reference_bad(side_state_get(d, after, e),
                           "the reference's state cannot be read", d, e);
    if (!rc)
        ref->stateful = memcmp(after, ref->state.data, ref->state.bytes) != 0;
    free(after);
    return rc;
}

/* On a GPU both sides may use TF32 where there are products. */
static int find_products(struct reference *ref, struct err *e)
{
    struct side *d = &ref->f32;
    int rc;

    if (!d->ops->captures)
        return 0;
    rc = side_products(d, FIRST_S, e);
    if (rc < 0)
        return reference_bad(rc, "the reference's operators", d, e);
    ref->task.tf32 = rc == 0 && val_getb(d->reply, "products", false);
    return 0;
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
    rc = reference_bad(side_place(d, g, 2, e),
                       "the reference's inputs cannot be bound", d, e);
    if (!rc)
        rc = reference_bad(
            memory_measure(d, &ref->task, g, 4, FIRST_S, &ref->memory, e),
            "the reference's forward fails", d, e);
    if (!rc)
        rc = check_outputs(ref, d->reply, e);
    for (int k = 0; !rc && k < 5; k++) {
        rc = reference_bad(reference_first(d, g, &r, 0, 2, FIRST_S, &t, e),
                           "the reference's forward fails", d, e);
        best = fmin(best, forward_s(side_turn_s(d, &t), side_overhead_s(d), 2));
        if (t.elapsed_s > 0.5)
            break;
    }
    ref->forward_s = fmax(best, 1e-6);
    ref->threads = t.threads;
    if (!rc)
        rc = find_products(ref, e);
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
    size_t room = ops->ring_bytes(ref->bench->dev) / side_need(&ref->f32, 1);
    ref->slots = MAX(MIN(MAX(k, (size_t)2), room), (size_t)1);
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
        return reference_bad(rc, "the reference's ring cannot be captured", d,
                             e);
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
    rc = reference_bad(side_place(d, g, ref->slots, e),
                       "the reference's inputs cannot be bound", d, e);
    if (!rc)
        rc = reference_capture(ref, NULL, e);
    ring_generate(&r, g, c, ref->slots, false);
    for (size_t i = 0; !rc && i < ARRAY_LEN(v); i++) {
        struct turn t = {0};
        rc = reference_bad(reference_first(d, g, &r, 0, r.n, FIRST_S, &t, e),
                           "the reference's forward fails", d, e);
        v[i] = side_turn_s(d, &t);
    }
    if (!rc)
        ref->forward_s = fmax(1e-6, forward_s(timing_median(v, ARRAY_LEN(v)),
                                              side_overhead_s(d), r.n));
    ring_release(&r);
    return rc;
}

/* Train mode counts where it is deterministic and differs from eval. */
static int try_train(struct reference *ref, struct gen *g, struct err *e)
{
    struct side *d = &ref->f32;
    enum config_id c[3] = {CONFIG_D1, CONFIG_D1, CONFIG_D1};
    struct ring r;
    int rc;

    if (side_need(d, 3) > 2 * d->ops->ring_bytes(d->dev)) {
        snprintf(ref->no_train, sizeof(ref->no_train), "it is too large");
        return 0;
    }
    rc = ring_init(&r, d, 3, e);
    if (rc)
        goto out;
    ring_generate(&r, g, c, 3, false);
    for (size_t i = 1; i < 3; i++)
        ring_copy(&r, 0, i);
    rc = reference_bad(side_place(d, g, 3, e),
                       "the reference's inputs cannot be bound", d, e);
    if (rc)
        goto out;
    rc = reference_bad(side_state_set(d, &ref->state, e),
                       "the reference's state cannot be set", d, e);
    if (rc)
        goto out;
    rc = reference_bad(reference_first(d, g, &r, 0, 1, FIRST_S, NULL, e),
                       "the reference's forward fails", d, e);
    if (rc)
        goto out;
    rc = reference_bad(side_mode(d, true, e), "train mode", d, e);
    for (size_t i = 1; !rc && i < 3; i++) {
        rc = reference_bad(side_state_set(d, &ref->state, e),
                           "the reference's state cannot be set", d, e);
        if (rc)
            goto out;
        rc = side_run(d, i, 1, NULL, FIRST_S, NULL, e);
        if (rc == 1) {
            snprintf(ref->no_train, sizeof(ref->no_train),
                     "the reference raises in train mode");
        } else if (rc < 0) {
            rc = reference_bad(rc, "train mode", d, e);
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
    rc = reference_bad(side_mode(d, false, e), "eval mode", d, e);
    if (!rc)
        rc = reference_bad(side_state_set(d, &ref->state, e),
                           "the reference's state cannot be set", d, e);
out:
    ring_release(&r);
    return rc;
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

int reference_expect(struct reference *ref, struct ring *r, struct gen *g,
                     int exact, struct err *e)
{
    struct side *d = &ref->f32;
    int rc =
        reference_first(d, g, r, 0, r->n, reference_limit(ref, r->n), NULL, e);
    if (reference_failed(rc, d, e))
        return -1;
    ring_take(r, d);
    return reference_exact(ref, r, g, exact, e);
}

/* A reference that is mostly products, takes a while, and far longer than the
 * machine needs for so many operations and bytes: a library in the wrong mode,
 * or one that is not there. */
#define SLOW_S     200e-6
#define SLOW_TIMES 10

static bool is_slow(const struct reference *ref)
{
    const struct device_ops *ops = ref->bench->ops;
    const struct task *t = &ref->task;
    double peak, floor_s;

    if (!t->tf32 || !t->n_out || !ops->peak_products || !ops->bandwidth ||
        ref->forward_s < SLOW_S)
        return false;
    peak = ops->peak_products(ref->bench->dev, t->out[0].t.dtype);
    if (peak <= 0 || t->flops <= 0)
        return false;
    floor_s = fmax(t->flops / peak, (double)t->necessary_bytes /
                                        ops->bandwidth(ref->bench->dev));
    return ref->forward_s > SLOW_TIMES * floor_s;
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
    int fd = -1, rc = -1;

    ref->bench = b;
    ref->mem = (struct arena)ARENA_INIT;
    side_init(&ref->f32, NULL, NULL, NULL, -1);
    side_init(&ref->f64, NULL, NULL, NULL, -1);
    if (task_parse(&ref->task, &ref->mem, val_copy(&ref->mem, rec), e))
        goto out;
    if (ref->task.in_bytes + ref->task.out_bytes > b->ops->slot_max(b->dev)) {
        err_set(e, ERR_BAD_TASK, "task: inputs and outputs above %zu MiB",
                b->ops->slot_max(b->dev) >> 20);
        goto out;
    }
    gen_bytes(g, &ref->seed, sizeof(ref->seed));
    fd = io_memfd("reference.py", ref->task.source, true, e);
    if (fd < 0)
        goto out;
    side_init(&ref->f32, b->ops, b->dev, &ref->task, -1);
    if (bench_runner(b, false, &ref->f32, (int64_t)ref->task.in_stride, e))
        goto out;
    ref->memory.base = memory_base(&ref->f32);
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
    ref->slow = is_slow(ref);
    if (reference_configs(ref, g, fd, e) || try_train(ref, g, e))
        goto out;
    rc = 0;
out:
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
