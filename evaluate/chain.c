/* SPDX-License-Identifier: MIT */
/*
 * Which element of an output can go into which element of the next forward's
 * input. Short forwards are chained so that they can be neither merged nor
 * overlapped: forward i + 1 lacks a value of its input until forward i is done.
 *
 * The link must carry: the input element must change the output element, which
 * is found by trying. It must also stay sane: some functions send a value fed
 * back sixty times to infinity, or out of the domain of a logarithm. That is
 * found by running the reference chained over all configurations; where every
 * link fails the task is not chained and the verdict says so. Links are drawn
 * anew for each verdict's reference, so that a candidate cannot know the
 * element in advance.
 */
#include "base.h"

#include "evaluate/chain.h"

#include "mem.h"

#include <math.h>

#define TRIES 8 /* input elements tried */

/* First pair of a floating input and a close output of the same dtype; the
 * other inputs are left alone. */
static bool pair_up(const struct task *t, int *in, int *out)
{
    for (size_t i = 0; i < t->n_in; i++)
        for (size_t o = 0; o < t->n_out; o++)
            if (t->in[i].dist <= DIST_UNIFORM && !t->in[i].mutates &&
                t->in[i].t.numel && t->out[o].t.numel &&
                t->in[i].t.dtype == t->out[o].t.dtype &&
                t->out[o].compare == COMPARE_CLOSE) {
                *in = (int)i;
                *out = (int)o;
                return true;
            }
    return false;
}

/* An element of OUT that differs visibly between slots A and B, drawn among
 * all that do; -1 when none does. */
static int64_t moved(const struct ring *r, int out, size_t a, size_t b,
                     struct gen *g)
{
    const struct tensor *t = &r->task->out[out].t;
    double *x = xmalloc(t->numel * sizeof(*x));
    double *y = xmalloc(t->numel * sizeof(*y)), s = 0;
    uint64_t seen = 0;
    int64_t found = -1;
    uint8_t *raw = xmalloc(t->bytes + 1);
    r->ops->read(r->dev, raw, ring_expect(r, a, (size_t)out), t->bytes);
    dtype_to_double(t->dtype, raw, x, t->numel);
    r->ops->read(r->dev, raw, ring_expect(r, b, (size_t)out), t->bytes);
    dtype_to_double(t->dtype, raw, y, t->numel);
    free(raw);
    for (size_t i = 0; i < t->numel; i++)
        s = fmax(s, fabs(x[i] - y[i]));
    for (size_t i = 0; s > 0 && i < t->numel; i++)
        if (fabs(x[i] - y[i]) >= s / 2 && gen_below(g, ++seen) == 0)
            found = (int64_t)i;
    free(x);
    free(y);
    return found;
}

static void configurations(const struct reference *ref, enum config_id *c,
                           size_t n)
{
    size_t k = 0;
    while (k < n)
        for (int i = 0; i < CONFIG_COUNT && k < n; i++)
            if (ref->tested[i] && configs[i].target != TARGET_PARAMS)
                c[k++] = (enum config_id)i;
}

/* Does the reference stay finite when chained by C? */
static int holds(struct reference *ref, struct gen *g, struct ring *r,
                 const struct chain *c, bool *ok, struct err *e)
{
    struct side *d = &ref->f32;
    enum config_id cfg[SLOTS_MAX];
    int rc;
    configurations(ref, cfg, ref->slots);
    ring_generate(r, g, cfg, ref->slots, true);
    ring_load(r, d);
    side_fill(d, g);
    side_salt(d);
    rc = side_run(d, 0, r->n, c, reference_limit(ref, r->n), NULL, e);
    if (rc < 0)
        return rc;
    *ok = rc == 0;
    ring_take(r, d);
    for (size_t s = 0; s < r->n; s++)
        *ok &= r->usable[s];
    return 0;
}

int reference_find_chains(struct reference *ref, struct gen *g, struct err *e)
{
    const struct task *t = &ref->task;
    struct ring r;
    struct input *x;
    enum config_id cfg[SLOTS_MAX];
    int64_t at[TRIES];
    int in, out, rc = 0;
    size_t size, tries;

    if (ref->forward_s >= CHAIN_BELOW_S) {
        ref->no_chain = "long forwards need none";
        return 0;
    }
    if (!pair_up(t, &in, &out)) {
        ref->no_chain = "no input takes an output's value";
        return 0;
    }
    x = &ref->task.in[in];
    size = dtype_size(x->t.dtype);
    tries = MIN((size_t)TRIES, ref->slots - 1);
    rc = ring_init(&r, &ref->f32, ref->slots, e);
    if (rc)
        goto out;
    for (size_t s = 0; s <= tries; s++)
        cfg[s] = CONFIG_D1;
    ring_generate(&r, g, cfg, tries + 1, false);
    for (size_t s = 1; s <= tries; s++) {
        struct spot one = {.at = ring_in(&r, s, (size_t)in) - r.in.at,
                           .size = size};
        at[s - 1] = (int64_t)gen_below(g, x->t.numel);
        one.at += (size_t)at[s - 1] * size;
        r.ops->gather(r.dev, r.in.at, &one, 1);
        ring_copy(&r, 0, s);
        r.ops->scatter(r.dev, r.in.at, &one, 1);
    }
    if (side_place(&ref->f32, g, ref->slots, e)) {
        rc = err_set(e, ERR_INFRASTRUCTURE, "the reference cannot be bound");
        goto out;
    }
    rc = reference_expect(ref, &r, g, -1, e);
    if (rc)
        goto out;
    for (size_t s = 1; s <= tries; s++) {
        struct chain c = {.in = in, .out = out, .in_element = at[s - 1]};
        c.out_element = moved(&r, out, 0, s, g);
        if (c.out_element >= 0)
            ref->chains[ref->n_chains++] = c;
    }
    for (size_t i = 0; i < ref->n_chains;) {
        bool ok = false;
        rc = holds(ref, g, &r, &ref->chains[i], &ok, e);
        if (rc)
            goto out;
        if (ok)
            i++;
        else
            ref->chains[i] = ref->chains[--ref->n_chains];
    }
    if (!ref->n_chains)
        ref->no_chain = "no element can be fed back";
out:
    ring_release(&r);
    return rc;
}
