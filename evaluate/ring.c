/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/ring.h"

#include "mem.h"

#include <math.h>

void ring_init(struct ring *r, const struct side *d, size_t cap)
{
    const struct task *task = d->task;

    *r = (struct ring){.ops = d->ops, .dev = d->dev, .task = task, .cap = cap};
    for (size_t i = 0; i < task->n_res; i++)
        r->exact_stride += task->res[i].t->numel;
    r->in = xcalloc(cap, task->in_stride + 1);
    r->expect = xcalloc(cap, task->res_stride + 1);
}

void ring_release(struct ring *r)
{
    free(r->in);
    free(r->expect);
    free(r->exact);
    *r = (struct ring){0};
}

uint8_t *ring_in(const struct ring *r, size_t slot, size_t in)
{
    return r->in + slot * r->task->in_stride + r->task->in_at[in];
}

uint8_t *ring_expect(const struct ring *r, size_t slot, size_t res)
{
    return r->expect + slot * r->task->res_stride + r->task->res[res].at;
}

double *ring_exact(const struct ring *r, size_t slot, size_t res)
{
    double *d = r->exact + slot * r->exact_stride;
    for (size_t i = 0; i < res; i++)
        d += r->task->res[i].t->numel;
    return d;
}

void ring_generate(struct ring *r, struct gen *g, const enum config_id *config,
                   size_t n, bool later)
{
    r->n = MIN(n, r->cap);
    for (size_t s = 0; s < r->n; s++) {
        r->config[s] = config[s];
        r->usable[s] = true;
        r->has_exact[s] = false;
        for (size_t i = 0; i < r->task->n_in; i++) {
            const struct input *in = &r->task->in[i];
            struct fill f;
            gen_plan(g, in, config[s], later, &f);
            r->ops->fill(r->dev, g, &in->t, &f, ring_in(r, s, i));
        }
    }
}

void ring_load_slot(const struct ring *r, size_t from, struct side *d,
                    size_t to)
{
    const uint8_t *in[TASK_TENSORS];
    for (size_t i = 0; i < r->task->n_in; i++)
        in[i] = ring_in(r, from, i);
    side_input(d, to, in);
}

void ring_load(const struct ring *r, struct side *d)
{
    for (size_t s = 0; s < r->n; s++)
        ring_load_slot(r, s, d, s);
}

static const void *result_now(const struct side *d, size_t slot,
                              const struct result *x, void *scratch)
{
    return x->is_input ? side_in_now(d, slot, x->index, scratch)
                       : side_output(d, slot, x->index, scratch);
}

void ring_take(struct ring *r, const struct side *d)
{
    for (size_t s = 0; s < r->n; s++) {
        r->usable[s] = true;
        for (size_t i = 0; i < r->task->n_res; i++) {
            const struct result *x = &r->task->res[i];
            uint8_t *to = ring_expect(r, s, i);
            const void *now = result_now(d, s, x, to);
            if (now != to)
                memcpy(to, now, x->t->bytes);
            r->usable[s] &= all_finite(x->t, to);
        }
    }
}

bool ring_take_exact(struct ring *r, const struct side *d, size_t slot,
                     size_t from)
{
    bool finite = true;
    if (!r->exact)
        r->exact = xcalloc(r->cap * r->exact_stride + 1, sizeof(double));
    for (size_t i = 0; i < r->task->n_res; i++) {
        const struct result *x = &r->task->res[i];
        double *to = ring_exact(r, slot, i);
        if (!dtype_is_float(x->t->dtype)) {
            /* Integer results are compared with the reference itself. */
            dtype_to_double(x->t->dtype, ring_expect(r, slot, i), to,
                            x->t->numel);
            continue;
        }
        memmove(to, result_now(d, from, x, to), x->t->numel * sizeof(*to));
        for (size_t k = 0; k < x->t->numel; k++)
            finite &= isfinite(to[k]) != 0;
    }
    r->has_exact[slot] = finite;
    return finite;
}

bool ring_take_chain(struct ring *r, const struct side *d,
                     const struct chain *c)
{
    const struct tensor *t = &r->task->in[c->in].t;
    struct spot *v = xcalloc(r->n + 1, sizeof(*v));
    bool finite = true;

    side_chained(d, r->n, c, v);
    for (size_t s = 0; s + 1 < r->n; s++) {
        uint8_t *to =
            ring_in(r, s + 1, (size_t)c->in) + (size_t)c->in_element * v->size;
        double x;
        memcpy(to, v[s].value, v->size);
        dtype_to_double(t->dtype, to, &x, 1);
        finite &= isfinite(x) != 0;
    }
    free(v);
    return finite;
}

static void compare_result(const struct ring *r, const void *candidate,
                           size_t slot, size_t i, const struct own_error *error,
                           double terms, struct compared *out)
{
    struct comparison c = {
        .t = r->task->res[i].t,
        .how = r->task->res[i].compare,
        .candidate = candidate,
        .reference = ring_expect(r, slot, i),
        .exact = r->has_exact[slot] ? ring_exact(r, slot, i) : NULL,
        .error = error[i],
        .terms = terms,
    };
    r->ops->compare(r->dev, &c, out);
}

void ring_compare(const struct ring *r, const struct side *candidate,
                  size_t slot, const struct own_error *error, double terms,
                  struct compared *out)
{
    uint8_t *scratch = xmalloc(r->task->res_stride + 1);
    for (size_t i = 0; i < r->task->n_res; i++)
        compare_result(r,
                       result_now(candidate, slot, &r->task->res[i],
                                  scratch + r->task->res[i].at),
                       slot, i, error, terms, out);
    out->slots++;
    free(scratch);
}

bool ring_zero_passes(const struct ring *r, size_t slot,
                      const struct own_error *error, double terms)
{
    uint8_t *zero = xcalloc(1, r->task->res_stride + 1);
    struct compared c = {0};
    for (size_t i = 0; i < r->task->n_res; i++)
        compare_result(r, zero, slot, i, error, terms, &c);
    free(zero);
    return compared_pass(&c, J_STRICT);
}
