/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "hash.h"
#include "testgen/grow.h"
#include "testgen/propose.h"
#include "testgen/scale.h"

#define MAX_RANK   8
#define MAX_BATCH  256
#define MAX_VALUES 8
#define MAX_WIDTH  2048

enum role {
    ROLE_OTHER,
    ROLE_WIDTH,
    ROLE_SIDE,
    ROLE_LENGTH,
    ROLE_HEADS,
    ROLE_HEAD_SIZE
};

struct role_row {
    const char *patterns;
    enum role role;
};

static const struct role_row roles[] = {
#define ROLE(patterns, role) {patterns, ROLE_##role},
#include "testgen/sizes.def"
#undef ROLE
};

/* How a try went. */
enum verdict { STOP = -1, FAILED, TOO_LARGE, TAKEN };

double grow_gpu_ms(const struct val *g)
{
    double flops = val_getf(g, "flops", 0) / GPU_FLOP_PER_MS;
    double bytes = val_getf(g, "moved", 0) / GPU_BYTES_PER_MS;
    return MAX(flops, bytes) + val_getf(g, "kernels", 0) * GPU_MS_PER_OP;
}

const struct budget budget_gpu = {grow_gpu_ms, GPU_MS_GOAL, GPU_MS_MAX,
                                  GPU_MEMORY, GPU_SLOT};
const struct budget budget_cpu = {scale_estimate_ms, SCALE_MS, SCALE_MS,
                                  SCALE_MEMORY, SCALE_MEMORY};

/* Milliseconds without what does not depend on sizes. */
static double work_ms(const struct grow *g)
{
    return g->budget->ms(g->figures) -
           (g->budget == &budget_gpu
                ? val_getf(g->figures, "kernels", 0) * GPU_MS_PER_OP
                : 0);
}

static bool wants_more(const struct grow *g)
{
    return work_ms(g) < g->budget->goal &&
           scale_memory(g->figures) < g->budget->memory &&
           val_geti(g->figures, "slot", 0) < g->budget->slot;
}

static enum verdict try_state(struct grow *g, struct val *state, struct err *e)
{
    struct val *figures = NULL;
    if (!state || val_equal(state, g->best))
        return FAILED;
    for (size_t i = 0; i < val_len(g->tried); i++)
        if (val_equal(val_at(g->tried, i), state))
            return FAILED;
    val_push(g->a, g->tried, state);
    if (g->run(g->payload, state, &figures, e) < 0)
        return STOP;
    if (!val_getb(figures, "ok", false))
        return FAILED;
    if (g->budget->ms(figures) > g->budget->max ||
        scale_memory(figures) > g->budget->memory ||
        val_geti(figures, "slot", 0) > g->budget->slot)
        return TOO_LARGE;
    g->best = state;
    g->figures = figures;
    return TAKEN;
}

/* ---- parts of a state ---- */

/* First tensor of the inputs, in the order of the arguments. */
static size_t leading_shape(const struct grow *g, int64_t *shape)
{
    for (size_t i = 0; i < g->f->forward.n; i++) {
        const struct val *v = state_input(g->best, g->f->forward.v[i].name);
        if (v && input_is_tensor(v))
            return input_shape(v, shape, MAX_RANK);
    }
    return 0;
}

/* The value was no evidence: a name, or a use that any size allows. */
static bool guessed(const struct val *entry)
{
    static const char *const evidence[] = {
        "name",       "name, used as a sequence", "use in source",   "guess",
        "annotation", "sizes in an error",        "default, reduced"};
    for (size_t i = 0; i < ARRAY_LEN(evidence); i++)
        if (span_is(val_gets(entry, "ev"), evidence[i]))
            return true;
    return false;
}

static enum role role_of(struct span name, int64_t value)
{
    while (name.n > 1 && name.p[0] == '_') {
        name.p++;
        name.n--;
    }
    for (size_t i = 0; i < ARRAY_LEN(roles); i++)
        if (propose_name_fits(roles[i].patterns, name))
            return roles[i].role;
    return value >= 16 ? ROLE_WIDTH : ROLE_OTHER;
}

static bool has_role(const struct val *init, enum role role)
{
    for (size_t i = 0; i < val_len(init); i++) {
        const struct val *v = val_get(init->map.v[i], "v");
        if (v->type == VAL_INT && guessed(init->map.v[i]) &&
            role_of(init->map.keys[i], v->i) == role)
            return true;
    }
    return false;
}

/* ---- dimensions of inputs ---- */

struct resize {
    int64_t from[MAX_VALUES], to[MAX_VALUES];
    size_t n;
};

static int64_t resized(const struct resize *r, int64_t size)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->from[i] == size)
            return r->to[i];
    return size;
}

static void resize_add(struct resize *r, int64_t from, int64_t to)
{
    if (r->n < MAX_VALUES && resized(r, from) == from) {
        r->from[r->n] = from;
        r->to[r->n++] = to;
    }
}

/* The two sides of images among RANK dimensions: the last ones, or those
 * before the last. 0 = there are none. */
static size_t sides_at(const int64_t *shape, size_t rank)
{
    if (rank < 4)
        return 0;
    bool last = shape[rank - 1] == shape[rank - 2];
    bool before = shape[rank - 2] == shape[rank - 3];
    return !last && before ? rank - 3 : rank - 2;
}

enum which { DIMS_FEATURES, DIMS_ALL, DIMS_BATCH };

static void resize_input(struct arena *a, struct val *input,
                         const struct resize *r, enum which which)
{
    int64_t shape[MAX_RANK];
    struct val *items = val_get(input, "items"), *l = val_get(input, "shape");
    for (size_t i = 0; i < val_len(items); i++)
        resize_input(a, val_at(items, i), r, which);
    if (!input_is_tensor(input) || val_len(l) > MAX_RANK)
        return;
    size_t rank = input_shape(input, shape, MAX_RANK);
    size_t sides = sides_at(shape, rank);
    for (size_t d = which == DIMS_BATCH ? 0 : 1; d < rank; d++) {
        if (which == DIMS_BATCH && d > 0)
            break;
        if (which == DIMS_FEATURES && sides && d >= sides && d <= sides + 1)
            continue;
        l->list.v[d] = val_int(a, resized(r, shape[d]));
    }
}

static void resize_inputs(struct arena *a, struct val *state,
                          const struct resize *r, enum which which)
{
    struct val *in = val_get(state, "in");
    for (size_t i = 0; i < val_len(in); i++)
        resize_input(a, in->map.v[i], r, which);
}

/* Guessed arguments of ROLE that have the size FROM get TO. */
static void resize_init(struct arena *a, struct val *state, enum role role,
                        int64_t from, int64_t to)
{
    struct val *init = val_get(state, "init");
    for (size_t i = 0; i < val_len(init); i++) {
        struct val *entry = init->map.v[i], *v = val_get(entry, "v");
        if (v->type == VAL_INT && v->i == from && guessed(entry) &&
            role_of(init->map.keys[i], v->i) == role)
            val_set(a, entry, "v", val_int(a, to));
    }
}

/* ---- widths ---- */

static struct val *wider(struct arena *a, const struct val *v, int64_t factor,
                         struct resize *r)
{
    if (v->type == VAL_INT) {
        if (v->i < 8 || v->i * factor > MAX_WIDTH)
            return val_copy(a, v);
        resize_add(r, v->i, v->i * factor);
        return val_int(a, v->i * factor);
    }
    const struct val *items = seq_items(v);
    struct val *l = val_list(a);
    for (size_t i = 0; i < val_len(items); i++)
        val_push(a, l, wider(a, val_at(items, i), factor, r));
    return v->type == VAL_MAP ? tuple_val(a, l) : l;
}

/* All guessed widths times FACTOR; of heads, the size alone (SPLIT false), or
 * twice as many of half that. */
static struct val *widened(struct grow *g, int64_t factor, bool split,
                           const enum which *which)
{
    struct val *state = state_copy(g->a, g->best);
    struct val *init = val_get(state, "init");
    struct resize r = {.n = 0};
    bool both = has_role(init, ROLE_HEADS) && has_role(init, ROLE_HEAD_SIZE);
    for (size_t i = 0; i < val_len(init); i++) {
        struct val *entry = init->map.v[i], *v = val_get(entry, "v");
        const struct val *items = seq_items(v);
        const struct val *one = items ? val_at(items, 0) : v;
        if (!guessed(entry) || !one || one->type != VAL_INT)
            continue;
        switch (role_of(init->map.keys[i], items ? 64 : v->i)) {
        case ROLE_WIDTH:
            val_set(g->a, entry, "v", wider(g->a, v, factor, &r));
            break;
        case ROLE_HEADS:
            if (!items && split && factor > 2)
                val_set(g->a, entry, "v", val_int(g->a, v->i * 2));
            break;
        case ROLE_HEAD_SIZE:
            if (!items)
                val_set(g->a, entry, "v",
                        val_int(g->a,
                                v->i * (split && both && factor > 2 ? factor / 2
                                                                    : factor)));
            break;
        default:
            break;
        }
    }
    if (r.n && which)
        resize_inputs(g->a, state, &r, *which);
    return r.n ? state : NULL;
}

static int grow_widths(struct grow *g, struct err *e)
{
    static const enum which features = DIMS_FEATURES, all = DIMS_ALL;
    for (int64_t factor = 8; factor > 1; factor /= 2) {
        enum verdict v = TAKEN;
        for (int i = 0; i < 4; i++) {
            v = try_state(g,
                          widened(g, factor, i != 1,
                                  i < 2    ? &features
                                  : i == 2 ? &all
                                           : NULL),
                          e);
            if (v != FAILED)
                break;
        }
        if (v == STOP)
            return -1;
        if (v == TAKEN)
            return 0;
        if (v == FAILED && factor == 8)
            factor = 4; /* not for its size: one more */
    }
    return 0;
}

/* ---- sides, lengths ---- */

/* Both sides of every image become TARGET where the first has SIDE. */
static struct val *with_sides(struct grow *g, int64_t side, int64_t target)
{
    struct val *state = state_copy(g->a, g->best);
    struct val *in = val_get(state, "in");
    for (size_t i = 0; i < val_len(in); i++) {
        struct val *input = in->map.v[i];
        struct val *items = val_get(input, "items");
        for (size_t k = 0; k < (items ? val_len(items) : 1); k++) {
            struct val *t = items ? val_at(items, k) : input;
            struct val *l = val_get(t, "shape");
            int64_t shape[MAX_RANK];
            size_t rank = input_shape(t, shape, MAX_RANK);
            size_t at = input_is_tensor(t) ? sides_at(shape, rank) : 0;
            for (size_t d = at; at && d < at + 2; d++)
                l->list.v[d] = val_int(g->a, MAX(1, shape[d] * target / side));
        }
    }
    resize_init(g->a, state, ROLE_SIDE, side, target);
    return state;
}

/* Every other dimension of size FROM becomes TO; squares of such tokens whose
 * side is an input of its own grow with it. */
static struct val *with_length(struct grow *g, int64_t from, int64_t to)
{
    struct val *state = state_copy(g->a, g->best);
    struct val *in = val_get(state, "in");
    struct resize r = {.n = 0};
    resize_add(&r, from, to);
    resize_inputs(g->a, state, &r, DIMS_FEATURES);
    for (size_t i = 0; i < val_len(in); i++) {
        const struct val *v = val_get(in->map.v[i], "value");
        if (!v || v->type != VAL_INT)
            continue;
        if (v->i * v->i == from)
            for (int64_t side = v->i; side * side <= to; side++)
                if (side * side == to)
                    val_set(g->a, in->map.v[i], "value", val_int(g->a, side));
    }
    resize_init(g->a, state, ROLE_LENGTH, from, to);
    return state;
}

/* Sizes from the START-th of LIST on, the first that fits; after one at which
 * the module does not run, only the last. */
static int grow_to(struct grow *g, bool sides, int64_t from,
                   const int64_t *list, size_t n, size_t start, struct err *e)
{
    for (size_t i = start; i < n && list[i] > from; i++) {
        enum verdict v = try_state(g,
                                   sides ? with_sides(g, from, list[i])
                                         : with_length(g, from, list[i]),
                                   e);
        if (v == STOP)
            return -1;
        if (v == TAKEN)
            break;
        if (v == FAILED) {
            while (i + 2 < n && list[i + 2] > from)
                i++;
        }
    }
    return 0;
}

static size_t spread_of(const struct grow *g, size_t n)
{
    return hash_fast(g->f->mod->text, 0) % n;
}

static int grow_sides(struct grow *g, struct err *e)
{
    static const int64_t list[] = {224, 128, 64};
    int64_t shape[MAX_RANK];
    size_t rank = leading_shape(g, shape), at = sides_at(shape, rank);
    if (!at)
        return 0;
    return grow_to(g, true, MAX(shape[at], shape[at + 1]), list,
                   ARRAY_LEN(list), spread_of(g, 2), e);
}

/* First dimensions of size FROM become TO. */
static enum verdict try_batch(struct grow *g, int64_t from, int64_t to,
                              struct err *e)
{
    struct val *state = state_copy(g->a, g->best);
    struct resize r = {.n = 0};
    resize_add(&r, from, to);
    resize_inputs(g->a, state, &r, DIMS_BATCH);
    return try_state(g, state, e);
}

static int grow_vectors(struct grow *g, int64_t from, struct err *e)
{
    for (int64_t to = 1 << 20; to >= 1 << 12; to >>= 4) {
        enum verdict v = try_batch(g, from, to, e);
        if (v == STOP)
            return -1;
        if (v == TAKEN)
            break;
    }
    return 0;
}

static int grow_lengths(struct grow *g, const struct val *before, struct err *e)
{
    static const int64_t tokens[] = {2048, 1024, 512, 256, 128};
    static const int64_t features[] = {4096, 1024, 512, 256};
    int64_t shape[MAX_RANK], old[MAX_RANK];
    size_t rank = leading_shape(g, shape);
    struct val *now = g->best;
    g->best = (struct val *)before;
    leading_shape(g, old);
    g->best = now;
    if (rank <= 1)
        return rank ? grow_vectors(g, shape[0], e) : 0;
    size_t sides = sides_at(shape, rank);
    for (size_t i = 1; i < rank && wants_more(g); i++) {
        /* tokens come before features: the last but one, then the last */
        size_t d = rank == 3 ? (i == 1 ? 1 : 2) : i;
        if (shape[d] != old[d] || (sides && d >= sides && d <= sides + 1) ||
            shape[d] < 4)
            continue;
        int rc = rank == 2
                     ? grow_to(g, false, shape[d], features,
                               ARRAY_LEN(features), spread_of(g, 3), e)
                     : grow_to(g, false, shape[d], tokens, ARRAY_LEN(tokens),
                               spread_of(g, 3) + (d != 1 || rank > 3), e);
        if (rc < 0)
            return -1;
        leading_shape(g, shape);
    }
    return 0;
}

static int grow_batch(struct grow *g, struct err *e)
{
    int64_t shape[MAX_RANK];
    size_t rank = leading_shape(g, shape);
    int64_t batch = MAX_BATCH;
    if (rank < 2 || shape[0] != PLAN_BATCH)
        return 0;
    double each = work_ms(g) / PLAN_BATCH;
    int64_t memory = scale_memory(g->figures) / PLAN_BATCH + 1;
    int64_t slot = val_geti(g->figures, "slot", 0) / PLAN_BATCH + 1;
    while (batch > PLAN_BATCH && (each * (double)batch > g->budget->goal ||
                                  memory * batch > g->budget->memory ||
                                  slot * batch > g->budget->slot))
        batch /= 2;
    for (int i = 0; i < 2 && batch > PLAN_BATCH; i++, batch /= 4) {
        enum verdict v = try_batch(g, PLAN_BATCH, batch, e);
        if (v == STOP)
            return -1;
        if (v == TAKEN)
            break;
    }
    return 0;
}

int grow_run(struct grow *g, struct val *other, struct err *e)
{
    struct val *before;
    g->tried = val_list(g->a);
    if (!g->figures) {
        if (g->run(g->payload, g->best, &g->figures, e) < 0)
            return -1;
        if (!val_getb(g->figures, "ok", false))
            return 0;
    }
    if (other && try_state(g, other, e) == STOP)
        return -1;
    before = g->best;
    if (wants_more(g) && grow_widths(g, e) < 0)
        return -1;
    if (wants_more(g) && grow_sides(g, e) < 0)
        return -1;
    if (wants_more(g) && grow_lengths(g, before, e) < 0)
        return -1;
    return wants_more(g) ? grow_batch(g, e) : 0;
}

/* ---- odd shapes ---- */

static int64_t next_prime(int64_t n)
{
    for (n++;; n++) {
        bool prime = n > 1;
        for (int64_t d = 2; d * d <= n && prime; d++)
            prime = n % d != 0;
        if (prime)
            return n;
    }
}

struct val *grow_odd(struct arena *a, const struct val *from, int i)
{
    struct val *state = state_copy(a, from), *in = val_get(state, "in");
    struct resize r = {.n = 0};
    int64_t shape[MAX_RANK], other[2] = {0, 0};
    size_t rank = 0;
    for (size_t k = 0; k < val_len(in) && !rank; k++)
        if (input_is_tensor(in->map.v[k]))
            rank = input_shape(in->map.v[k], shape, MAX_RANK);
    if (rank == 0 || rank > MAX_RANK)
        return NULL;
    if (i == 0) {
        resize_add(&r, shape[0], 1);
        resize_inputs(a, state, &r, DIMS_BATCH);
        return rank < 2 || val_equal(state, from) ? NULL : state;
    }
    size_t sides = sides_at(shape, rank);
    other[0] = sides ? shape[sides] : rank > 1 ? shape[1] : shape[0];
    other[1] = sides ? shape[sides + 1] : 0;
    for (size_t k = 0; k < 2; k++)
        if (other[k] > 2)
            resize_add(&r, other[k],
                       i == 1 ? other[k] - 1 : next_prime(other[k]));
    resize_inputs(a, state, &r, rank == 1 ? DIMS_BATCH : DIMS_ALL);
    return val_equal(state, from) ? NULL : state;
}
