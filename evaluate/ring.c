/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/ring.h"

#include "mem.h"

#include <math.h>

int ring_init(struct ring *r, const struct side *d, size_t cap, struct err *e)
{
    const struct task *task = d->task;

    *r = (struct ring){
        .ops = d->ops, .dev = d->dev, .task = task, .cap = MIN(cap, SLOTS_MAX)};
    r->in.fd = r->expect.fd = r->exact.fd = -1;
    for (size_t i = 0; i < task->n_res; i++)
        r->exact_stride += task->res[i].t->numel * sizeof(double);
    if (r->ops->region_new(r->dev, r->cap * task->in_stride + 1, false, &r->in,
                           e) ||
        r->ops->region_new(r->dev, r->cap * task->res_stride + 1, false,
                           &r->expect, e)) {
        e->code = ERR_INFRASTRUCTURE;
        return -1;
    }
    return 0;
}

void ring_release(struct ring *r)
{
    if (!r->ops)
        return;
    r->ops->region_free(r->dev, &r->in);
    r->ops->region_free(r->dev, &r->expect);
    r->ops->region_free(r->dev, &r->exact);
    *r = (struct ring){0};
}

place_t ring_in(const struct ring *r, size_t slot, size_t in)
{
    return r->in.at + slot * r->task->in_stride + r->task->in_at[in];
}

place_t ring_expect(const struct ring *r, size_t slot, size_t res)
{
    return r->expect.at + slot * r->task->res_stride + r->task->res[res].at;
}

place_t ring_exact(const struct ring *r, size_t slot, size_t res)
{
    place_t at;

    if (!r->exact_at[slot])
        return 0;
    at = r->exact.at + (r->exact_at[slot] - 1) * r->exact_stride;
    for (size_t i = 0; i < res; i++)
        at += r->task->res[i].t->numel * sizeof(double);
    return at;
}

void ring_generate(struct ring *r, struct gen *g, const enum config_id *config,
                   size_t n, bool later)
{
    struct filling *v;
    size_t k = 0;

    r->n = MIN(n, r->cap);
    r->n_exact = 0;
    v = xmalloc((r->n * r->task->n_in + 1) * sizeof(*v));
    for (size_t s = 0; s < r->n; s++) {
        r->config[s] = config[s];
        r->usable[s] = true;
        r->exact_at[s] = 0;
        for (size_t i = 0; i < r->task->n_in; i++) {
            const struct input *in = &r->task->in[i];
            struct filling *x = &v[k++];
            x->t = &in->t;
            x->to = ring_in(r, s, i);
            gen_plan(g, in, config[s], later, &x->f);
        }
    }
    r->ops->fill(r->dev, g, v, k);
    free(v);
}

void ring_copy(struct ring *r, size_t from, size_t to)
{
    size_t stride = r->task->in_stride;
    r->ops->copy(r->dev, rows_at(r->in.at + to * stride, 0),
                 rows_at(r->in.at + from * stride, 0), stride, 1);
}

void ring_load_slot(const struct ring *r, size_t from, struct side *d,
                    size_t to)
{
    for (size_t i = 0; i < r->task->n_in; i++)
        side_input(d, to, 1, i, rows_at(ring_in(r, from, i), 0));
}

void ring_load(const struct ring *r, struct side *d)
{
    for (size_t i = 0; i < r->task->n_in; i++)
        side_input(d, 0, r->n, i,
                   rows_at(ring_in(r, 0, i), r->task->in_stride));
}

bool ring_same(const struct ring *r, size_t a, size_t b)
{
    size_t stride = r->task->res_stride;
    return r->ops->differ(r->dev, r->expect.at + a * stride,
                          r->expect.at + b * stride, stride) == stride;
}

void ring_take(struct ring *r, struct side *d)
{
    size_t stride = r->task->res_stride;
    bool *finite = xcalloc(r->n + 1, sizeof(*finite));

    (void)side_keep(d, r->n, NULL);
    for (size_t s = 0; s < r->n; s++)
        r->usable[s] = true;
    for (size_t i = 0; i < r->task->n_res; i++) {
        const struct result *x = &r->task->res[i];
        struct rows to = rows_at(ring_expect(r, 0, i), stride);
        r->ops->copy(r->dev, to, side_result(d, x), x->t->bytes, r->n);
        r->ops->finite(r->dev, x->t, to, r->n, finite);
        for (size_t s = 0; s < r->n; s++)
            r->usable[s] &= finite[s];
    }
    free(finite);
}

bool ring_take_exact(struct ring *r, const struct side *d, size_t slot,
                     size_t from)
{
    static const struct tensor one = {.dtype = KM_FLOAT64};
    struct err e = {0};
    size_t most = MIN(r->cap, (size_t)EXACTS);
    bool finite = true, ok;

    if (!r->exact.at && r->ops->region_new(r->dev, most * r->exact_stride + 1,
                                           false, &r->exact, &e))
        return false;
    if ((size_t)r->n_exact >= most)
        return false;
    r->exact_at[slot] = (uint8_t)++r->n_exact;
    for (size_t i = 0; i < r->task->n_res; i++) {
        const struct result *x = &r->task->res[i];
        struct rows to = rows_at(ring_exact(r, slot, i), 0);
        struct rows now = side_result(d, x);
        struct tensor wide = one;
        if (!dtype_is_float(x->t->dtype)) {
            /* Integer results are compared with the reference itself. */
            r->ops->widen(r->dev, to.at, ring_expect(r, slot, i), x->t->dtype,
                          x->t->numel);
            continue;
        }
        wide.numel = x->t->numel;
        wide.bytes = x->t->numel * sizeof(double);
        now.at += from * now.pitch;
        r->ops->copy(r->dev, to, now, wide.bytes, 1);
        r->ops->finite(r->dev, &wide, to, 1, &ok);
        finite &= ok;
    }
    if (!finite) {
        r->exact_at[slot] = 0;
        r->n_exact--;
    }
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
        double x;
        dtype_to_double(t->dtype, v[s].value, &x, 1);
        finite &= isfinite(x) != 0;
        v[s].at = ring_in(r, s + 1, (size_t)c->in) - r->in.at +
                  (size_t)c->in_element * v[s].size;
    }
    r->ops->scatter(r->dev, r->in.at, v, r->n ? r->n - 1 : 0);
    free(v);
    return finite;
}

static const void *pointer(place_t at)
{
    return (const void *)(uintptr_t)at;
}

static void compare_result(const struct ring *r, place_t candidate, size_t slot,
                           size_t i, const struct own_error *error,
                           double terms, struct compared *out)
{
    struct comparison c = {
        .t = r->task->res[i].t,
        .tf32 = r->task->tf32,
        .how = r->task->res[i].compare,
        .candidate = pointer(candidate),
        .reference = pointer(ring_expect(r, slot, i)),
        .exact = pointer(ring_exact(r, slot, i)),
        .error = error[i],
        .terms = terms,
    };
    r->ops->compare(r->dev, &c, out);
}

void ring_compare(const struct ring *r, const struct side *candidate,
                  size_t slot, const struct own_error *error, double terms,
                  struct compared *out)
{
    for (size_t i = 0; i < r->task->n_res; i++) {
        struct rows kept = side_result(candidate, &r->task->res[i]);
        compare_result(r, kept.at + slot * kept.pitch, slot, i, error, terms,
                       out);
    }
    out->slots++;
}

void ring_alike(const struct ring *r, const struct side *candidate, bool *out)
{
    bool *ok = xcalloc(r->n + 1, sizeof(*ok));

    for (size_t s = 0; s < r->n; s++)
        out[s] = true;
    for (size_t i = 0; i < r->task->n_res; i++) {
        const struct result *x = &r->task->res[i];
        if (x->compare != COMPARE_CLOSE)
            continue;
        r->ops->alike(r->dev, x->t, side_result(candidate, x),
                      rows_at(ring_expect(r, 0, i), r->task->res_stride), r->n,
                      ok);
        for (size_t s = 0; s < r->n; s++)
            out[s] &= ok[s];
    }
    free(ok);
}

struct own_error ring_own_error(const struct ring *r, size_t slot, size_t res)
{
    const struct result *x = &r->task->res[res];

    return r->ops->own_error(r->dev, x->t, x->compare,
                             ring_expect(r, slot, res),
                             ring_exact(r, slot, res));
}

bool ring_zero_passes(const struct ring *r, size_t slot,
                      const struct own_error *error, double terms)
{
    struct region zero;
    struct compared c = {0};
    struct err e = {0};
    size_t size = r->task->res_stride + 1;

    if (r->ops->region_new(r->dev, size, false, &zero, &e))
        return false;
    r->ops->set(r->dev, rows_at(zero.at, 0), size, 1, 0, 1);
    for (size_t i = 0; i < r->task->n_res; i++)
        compare_result(r, zero.at + r->task->res[i].at, slot, i, error, terms,
                       &c);
    r->ops->region_free(r->dev, &zero);
    return compared_pass(&c, J_STRICT);
}
