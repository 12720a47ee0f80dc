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

int64_t scale_memory(const struct val *g)
{
    return val_geti(g, "bytes", 0) + 2 * val_geti(g, "largest", 0);
}

static bool affordable(const struct val *g)
{
    return scale_estimate_ms(g) <= SCALE_MS && scale_memory(g) <= SCALE_MEMORY;
}

void scale_init(struct scale *s, struct arena *a, const struct facts *f,
                struct val *state, struct val *figures)
{
    *s = (struct scale){a, f, state, figures, 0, false};
}

void scale_tell(struct scale *s, struct val *state, struct val *figures)
{
    if (val_getb(figures, "ok", false) &&
        (s->growing
             ? affordable(figures)
             : scale_estimate_ms(figures) < scale_estimate_ms(s->figures))) {
        s->best = state;
        s->figures = figures;
    }
}

static void resize_entry(struct arena *a, struct val *input, size_t from,
                         int64_t old, int64_t size)
{
    struct val *items = val_get(input, "items");
    struct val *shape = val_get(input, "shape");
    for (size_t i = 0; i < val_len(items); i++)
        resize_entry(a, val_at(items, i), from, old, size);
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
        resize_entry(s->a, in->map.v[i], from, old, size);
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

/* LESS: halve the batch that the costs per sample would allow so many times
 * (they may grow faster). */
static struct val *larger_batch(struct scale *s, const int64_t *shape,
                                size_t rank, int less)
{
    double ms = scale_estimate_ms(s->figures);
    int64_t memory = MAX(scale_memory(s->figures), 1);
    int64_t batch = rank ? shape[0] : 0;
    if (batch != PLAN_BATCH)
        return NULL;
    while (batch * 2 <= MAX_BATCH &&
           ms * (double)(batch * 2) / PLAN_BATCH <= SCALE_MS &&
           memory * (batch * 2) / PLAN_BATCH <= SCALE_MEMORY)
        batch *= 2;
    batch >>= less;
    return batch > PLAN_BATCH ? grown(s, 0, PLAN_BATCH, batch) : NULL;
}

/* ---- smaller ---- */

/* Integers of a default such as "(2, 2, 8, 2)"; 0 when it is anything else. */
static size_t default_ints(struct span s, int64_t *out, size_t cap)
{
    size_t n = 0;
    bool digit = false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c >= '0' && c <= '9') {
            if (!digit && n == cap)
                return 0;
            if (!digit)
                out[n++] = 0;
            out[n - 1] = MIN(out[n - 1] * 10 + (c - '0'), 1 << 20);
            digit = true;
        } else if (strchr(" ,()[]", c)) {
            digit = false;
        } else {
            return 0;
        }
    }
    return n;
}

#define MAX_SIZES 8

/* All dimensions but the first, each from OLD[k] to SIZE[k] at most once. */
static void resize_once(struct arena *a, struct val *input, const int64_t *old,
                        const int64_t *size, size_t n)
{
    struct val *items = val_get(input, "items");
    struct val *shape = val_get(input, "shape");
    for (size_t i = 0; i < val_len(items); i++)
        resize_once(a, val_at(items, i), old, size, n);
    for (size_t d = 1; d < val_len(shape); d++)
        for (size_t k = 0; k < n; k++)
            if (val_as_int(val_at(shape, d), 0) == old[k]) {
                shape->list.v[d] = val_int(a, size[k]);
                break;
            }
}

/* Generous defaults become those of the table of names; widths and depths of
 * stages are divided alike. */
struct val *scale_smaller_defaults(struct arena *a, const struct facts *f,
                                   const struct val *from)
{
    struct val *state = state_copy(a, from), *in = val_get(state, "in");
    int64_t v[8], old[MAX_SIZES], size[MAX_SIZES];
    size_t n_sizes = 0;
    bool changed = false;
    for (size_t i = 0; i < f->init.n; i++) {
        const struct param *p = &f->init.v[i];
        size_t n = default_ints(p->dflt, v, 8);
        if (!p->has_default || !n || state_init(state, p->name))
            continue;
        struct val *named = propose_by_name(a, f, p->name);
        int64_t top = 0;
        for (size_t k = 0; k < n; k++)
            top = MAX(top, v[k]);
        struct val *next = NULL;
        if (n == 1 && p->dflt.p[0] != '(' && p->dflt.p[0] != '[') {
            if (named && named->type == VAL_INT && v[0] > 2 * named->i)
                next = named;
        } else if (top > 96 || (top > 2 && span_starts(p->name, "dep"))) {
            struct val *l = val_list(a);
            for (size_t k = 0; k < n; k++)
                val_push(
                    a, l,
                    val_int(a, top > 96 ? MAX(v[k] / 4, 8) : MIN(v[k], 2)));
            next = p->dflt.p[0] == '(' ? tuple_val(a, l) : l;
        }
        if (!next)
            continue;
        state_set_init(a, state, p->name, next, "default, reduced");
        changed = true;
        if (next->type == VAL_INT && n_sizes < MAX_SIZES) {
            old[n_sizes] = v[0];
            size[n_sizes++] = next->i;
        }
    }
    for (size_t k = 0; k < val_len(in); k++)
        resize_once(a, in->map.v[k], old, size, n_sizes);
    return changed ? state : NULL;
}

/* Sides of images halved, or the constructor's image_size. */
static struct val *smaller_images(struct scale *s)
{
    struct val *state = state_copy(s->a, s->best);
    struct val *in = val_get(state, "in");
    bool changed = false;
    if (state_init(state, SPAN_LIT("image_size")))
        return NULL;
    for (size_t i = 0; i < val_len(in); i++) {
        int64_t shape[MAX_RANK];
        size_t rank = input_shape(in->map.v[i], shape, MAX_RANK);
        if (!input_is_tensor(in->map.v[i]) || rank < 4)
            continue;
        for (size_t d = rank - 2; d < rank; d++) {
            changed = changed || shape[d] >= 32;
            shape[d] = shape[d] >= 32 ? shape[d] / 2 : shape[d];
        }
        state_set_input(s->a, state, in->map.keys[i],
                        input_reshaped(s->a, in->map.v[i], shape, rank));
    }
    return changed ? state : NULL;
}

/* The largest dimension of IN's tensors that is below LIMIT; 0: none. */
static int64_t largest_below(const struct val *in, int64_t limit)
{
    int64_t top = 0;
    for (size_t i = 0; i < val_len(in); i++) {
        int64_t shape[MAX_RANK];
        size_t rank = input_shape(in->map.v[i], shape, MAX_RANK);
        for (size_t d = 0; input_is_tensor(in->map.v[i]) && d < rank; d++)
            if (shape[d] > top && shape[d] < limit)
                top = shape[d];
    }
    return top;
}

/* The N-th largest size, wherever it occurs, an eighth of it: a length, where
 * no parameter has it. */
static struct val *shorter(struct scale *s, int n)
{
    struct val *state = state_copy(s->a, s->best), *in = val_get(state, "in");
    int64_t size = INT64_MAX;
    for (int i = 0; i <= n; i++)
        size = largest_below(in, size);
    if (size < 64)
        return NULL;
    for (size_t i = 0; i < val_len(in); i++) {
        struct val *list = val_get(in->map.v[i], "items");
        for (size_t k = 0; k < (list ? val_len(list) : 1); k++) {
            struct val *shape =
                val_get(list ? val_at(list, k) : in->map.v[i], "shape");
            for (size_t d = 0; d < val_len(shape); d++)
                if (val_as_int(val_at(shape, d), 0) == size)
                    shape->list.v[d] = val_int(s->a, size / 8);
        }
    }
    return val_equal(state, s->best) ? NULL : state;
}

/* One value for a channel has no variance: training fails. */
static bool wants_batch(const struct facts *f)
{
    return memmem(f->mod->text.p, f->mod->text.n, "BatchNorm", 9) != NULL;
}

struct val *scale_reduce(struct scale *s)
{
    while (s->step < 7 && !affordable(s->figures)) {
        int64_t shape[MAX_RANK] = {0};
        size_t rank = leading_shape(s, shape);
        struct val *next = NULL;
        switch (s->step++) {
        case 0:
            next = scale_smaller_defaults(s->a, s->f, s->best);
            break;
        case 1:
        case 2:
            next = smaller_images(s);
            break;
        case 6:
            if (rank && shape[0] == PLAN_BATCH && !wants_batch(s->f))
                next = grown(s, 0, PLAN_BATCH, 1);
            break;
        default:
            next = shorter(s, s->step - 4);
        }
        if (next)
            return next;
    }
    return NULL;
}

/* ---- larger ---- */

struct val *scale_next(struct scale *s)
{
    int64_t shape[MAX_RANK] = {0};
    if (!s->growing) {
        s->growing = true;
        s->step = 0;
    }
    while (s->step < 7) {
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
            next = larger_batch(s, shape, rank, 2 * (s->step - 5));
        }
        if (next)
            return next;
    }
    return NULL;
}
