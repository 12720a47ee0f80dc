/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "testgen/propose.h"
#include "testgen/scale.h"

/* One core of an ordinary machine. */
#define FLOP_PER_MS  20e6
#define BYTES_PER_MS 4e6
#define MS_PER_OP    0.004

#define MAX_RANK  8
#define MAX_BATCH 64

double scale_estimate_ms(const struct val *g)
{
    return val_getf(g, "flops", 0) / FLOP_PER_MS +
           val_getf(g, "moved", 0) / BYTES_PER_MS +
           val_getf(g, "kernels", 0) * MS_PER_OP;
}

static int64_t memory_of(const struct val *g)
{
    return val_geti(g, "bytes", 0) + 2 * val_geti(g, "largest", 0);
}

static bool affordable(const struct val *g)
{
    return scale_estimate_ms(g) <= SCALE_MS && memory_of(g) <= SCALE_MEMORY;
}

void scale_init(struct scale *s, struct arena *a, const struct facts *f,
                struct val *state, struct val *figures)
{
    *s = (struct scale){a, f, state, figures, 0};
}

void scale_tell(struct scale *s, struct val *state, struct val *figures)
{
    if (val_getb(figures, "ok", false) && affordable(figures)) {
        s->best = state;
        s->figures = figures;
    }
}

static void grow_entry(struct arena *a, struct val *input, size_t from,
                       int64_t old, int64_t size)
{
    struct val *items = val_get(input, "items");
    struct val *shape = val_get(input, "shape");
    for (size_t i = 0; i < val_len(items); i++)
        grow_entry(a, val_at(items, i), from, old, size);
    for (size_t d = from; d < val_len(shape); d++) {
        if (from == 0 && d > 0)
            break;
        if (val_as_int(val_at(shape, d), 0) == old)
            shape->list.v[d] = val_int(a, size);
    }
}

/* Dimensions of size OLD become SIZE in every input: the first ones (batch),
 * or all but the first. */
static struct val *grown(struct scale *s, size_t from, int64_t old,
                         int64_t size)
{
    struct val *state = state_copy(s->a, s->best);
    struct val *in = val_get(state, "in");
    for (size_t i = 0; i < val_len(in); i++)
        grow_entry(s->a, in->map.v[i], from, old, size);
    return val_equal(state, s->best) ? NULL : state;
}

/* The first tensor decides what is scaled. */
static size_t leading_shape(const struct scale *s, int64_t *shape)
{
    const struct val *in = val_get(s->best, "in");
    for (size_t i = 0; i < val_len(in); i++)
        if (input_is_tensor(in->map.v[i]))
            return input_shape(in->map.v[i], shape, MAX_RANK);
    return 0;
}

static struct val *larger_batch(struct scale *s, const int64_t *shape,
                                size_t rank)
{
    double ms = scale_estimate_ms(s->figures);
    int64_t memory = MAX(memory_of(s->figures), 1);
    int64_t batch = rank ? shape[0] : 0;
    if (batch != PLAN_BATCH)
        return NULL;
    while (batch * 2 <= MAX_BATCH &&
           ms * (double)(batch * 2) / PLAN_BATCH <= SCALE_MS &&
           memory * (batch * 2) / PLAN_BATCH <= SCALE_MEMORY)
        batch *= 2;
    return batch > PLAN_BATCH ? grown(s, 0, PLAN_BATCH, batch) : NULL;
}

struct val *scale_next(struct scale *s)
{
    int64_t shape[MAX_RANK] = {0};
    while (s->step < 5) {
        size_t rank = leading_shape(s, shape);
        struct val *next = NULL;
        double room = SCALE_MS / (scale_estimate_ms(s->figures) + 1e-6);
        switch (s->step++) {
        case 0: /* tokens or pixels in the last but one dimension */
            if (rank >= 3 && room > 16)
                next = grown(s, 1, shape[rank - 2], shape[rank - 2] * 4);
            break;
        case 1: /* or in the last */
            if (rank >= 3 && shape[rank - 2] == PLAN_TOKENS && room > 16)
                next = NULL;
            else if (rank == 3 && room > 16)
                next = grown(s, 1, shape[2], shape[2] * 4);
            break;
        case 2:
            if (rank >= 4 && room > 8 && shape[rank - 1] <= 32)
                next = grown(s, 1, shape[rank - 1], shape[rank - 1] * 2);
            break;
        case 3: /* vectors: wide ones */
            if (rank == 1)
                next = grown(s, 0, shape[0], 4096);
            else if (rank == 2 && room > 64)
                next = grown(s, 1, shape[1], shape[1] * 16);
            break;
        default:
            next = larger_batch(s, shape, rank);
        }
        if (next)
            return next;
    }
    return NULL;
}
