/* SPDX-License-Identifier: MIT */
/*
 * Primitive changes of a state. Sizes are followed backwards by arithmetic: the
 * size met may be a dimension itself, a multiple of one (flattened, split in
 * heads), a part of one (patches), or one plus a few (class tokens). Which of
 * them it was is found by trying.
 */
#include "base.h"

#include "testgen/moves.h"
#include "testgen/ranges.h"

#define MAX_RANK  8
#define MAX_SIDE  1024
#define MAX_MOVES 96

void moves_release(struct moves *m)
{
    array_release(&m->list);
}

/* Insertion sort: stable, and the list is short. */
void moves_sort(struct moves *m)
{
    for (size_t i = 1; i < m->list.n; i++) {
        struct move x = m->list.v[i];
        size_t k = i;
        for (; k > 0 && m->list.v[k - 1].weight < x.weight; k--)
            m->list.v[k] = m->list.v[k - 1];
        m->list.v[k] = x;
    }
}

static void add(struct moves *m, struct val *state, int weight)
{
    if (m->list.n < MAX_MOVES && state_elements(state) < (1 << 24))
        array_push(&m->list, ((struct move){state, weight}));
}

static struct val *inputs_of(const struct moves *m)
{
    return val_get(m->state, "in");
}

int moves_named(const struct moves *m, struct span name)
{
    const struct val *frames = val_get(m->reply, "frames");
    for (size_t i = 0; i < val_len(frames); i++) {
        const struct val *names = val_get(val_at(frames, i), "names");
        for (size_t k = 0; k < val_len(names); k++)
            if (span_eq(val_as_str(val_at(names, k)), name))
                return i == 0 ? 2 : 1;
    }
    return 0;
}

bool moves_direct(const struct moves *m, struct span input)
{
    const struct val *tensors = val_path(m->reply, "op.tensors");
    struct span keys[64];
    size_t n = state_order(m->f, m->state, keys, 64);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < val_len(tensors) && span_eq(keys[i], input); k++)
            if (val_geti(val_at(tensors, k), "input", -1) == (int64_t)i)
                return true;
    return false;
}

static int relevance(const struct moves *m, struct span name)
{
    return (moves_direct(m, name) ? 6 : 0) + moves_named(m, key_field(name));
}

static void set_input(struct moves *m, struct span name, struct val *input,
                      int weight)
{
    struct val *s = state_copy(m->a, m->state);
    state_set_input(m->a, s, name, input);
    add(m, s, weight);
}

static void set_dim(struct moves *m, struct span name, const struct val *input,
                    size_t dim, int64_t size, int weight)
{
    int64_t shape[MAX_RANK];
    size_t rank = input_shape(input, shape, MAX_RANK);
    if (size < 1 || size > 1 << 16 || dim >= rank || shape[dim] == size)
        return;
    shape[dim] = size;
    set_input(m, name, input_reshaped(m->a, input, shape, rank), weight);
}

void moves_init(struct moves *m, struct span name, struct val *value,
                const char *evidence, int weight)
{
    const struct val *old = state_init(m->state, name);
    if (old && val_equal(old, value))
        return;
    struct val *s = state_copy(m->a, m->state);
    state_set_init(m->a, s, name, value, evidence);
    add(m, s, weight);
}

void moves_unwrap(struct moves *m, int weight)
{
    struct val *s = state_copy(m->a, m->state);
    val_set(m->a, s, "unwrap", val_bool(m->a, true));
    add(m, s, weight);
}

/* ---- sizes ---- */

static void dims_for_size(struct moves *m, struct span name,
                          const struct val *input, int64_t got, int64_t want,
                          int weight)
{
    int64_t shape[MAX_RANK];
    size_t rank = input_shape(input, shape, MAX_RANK);
    for (size_t d = 0; d < rank; d++) {
        int64_t s = shape[d];
        int late = d + 1 == rank ? 1 : d == 0 ? -4 : 0;
        if (s == got)
            set_dim(m, name, input, d, want, weight + 8 + late);
        else if (d == 0)
            continue;
        else if (s > 1 && got > 0 && got % s == 0 && want % (got / s) == 0)
            set_dim(m, name, input, d, want / (got / s), weight + 4 + late);
        else if (s > 1 && got > 1 && s % got == 0)
            set_dim(m, name, input, d, s / got * want, weight + 3 + late);
        else if (llabs(got - s) <= 8 && s + want - got > 0)
            set_dim(m, name, input, d, s + want - got, weight + 2 + late);
    }
    /* a square of spatial dimensions, flattened or halved on the way */
    if (rank >= 4 && got > 0)
        for (int64_t side = 1; side <= MAX_SIDE; side++)
            if (side != shape[rank - 1] &&
                side * side * got == want * shape[rank - 1] * shape[rank - 2]) {
                int64_t next[MAX_RANK];
                memcpy(next, shape, sizeof(next));
                next[rank - 1] = next[rank - 2] = side;
                set_input(m, name, input_reshaped(m->a, input, next, rank),
                          weight + 3);
            }
}

/* Constructor arguments that could turn one size into the other. */
static void inits_for_size(struct moves *m, int64_t got, int64_t want,
                           int weight)
{
    for (size_t i = 0; i < m->f->init.n; i++) {
        const struct param *p = &m->f->init.v[i];
        int64_t v = 0;
        char name[80];
        snprintf(name, sizeof(name), "%.*s", (int)MIN(p->name.n, 79),
                 p->name.p);
        v = propose_int(m->f, m->state, name, 0);
        const struct val *now = state_init(m->state, p->name);
        if (v <= 0 || (now && now->type != VAL_INT))
            continue;
        int w = weight + moves_named(m, p->name) - (p->has_default ? 2 : 0);
        if (v == want)
            moves_init(m, p->name, val_int(m->a, got), "sizes in an error", w);
        else if (v == got)
            moves_init(m, p->name, val_int(m->a, want), "sizes in an error",
                       w + 1);
        else if (got > 0 && v * want % got == 0 && v * want / got > 0 &&
                 v * want / got < 4096)
            moves_init(m, p->name, val_int(m->a, v * want / got),
                       "sizes in an error", w - 3);
        else if (want > 0 && v * got % want == 0 && v * got / want > 0 &&
                 v * got / want < 4096)
            moves_init(m, p->name, val_int(m->a, v * got / want),
                       "sizes in an error", w - 4);
    }
}

void moves_size(struct moves *m, int64_t got, int64_t want, int weight)
{
    const struct val *in = inputs_of(m);
    if (got < 0 || want < 1 || got == want || got > 1 << 26 || want > 1 << 26)
        return;
    for (size_t i = 0; i < val_len(in) && !m->construct; i++) {
        struct span name = in->map.keys[i];
        if (input_is_tensor(in->map.v[i]))
            dims_for_size(m, name, in->map.v[i], got, want,
                          weight + relevance(m, name));
    }
    inits_for_size(m, got, want, weight + (m->construct ? 6 : 0));
    moves_number(m, got, want, weight - 1);
    moves_number(m, want, got, weight - 2);
}

static int64_t lcm(int64_t x, int64_t y)
{
    int64_t a = x, b = y;
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return x / a * y;
}

/* Dimensions of one input, or what is a part of them, become a multiple. Two
 * equal last ones stay a square. */
static void dims_divide(struct moves *m, struct span name,
                        const struct val *input, int64_t got, int64_t divisor,
                        int weight)
{
    int64_t shape[MAX_RANK];
    size_t rank = input_shape(input, shape, MAX_RANK);
    bool square = rank >= 4 && shape[rank - 1] == shape[rank - 2];
    int64_t up = (got / divisor + 1) * divisor;
    for (size_t d = 0; d < rank; d++) {
        int64_t s = shape[d];
        if (s != got && (d == 0 || s % got))
            continue;
        if (!square || d + 2 < rank) {
            set_dim(m, name, input, d, s / got * up, weight + 5);
            continue;
        }
        int64_t sides[] = {s / got * up, s / got * lcm(got, divisor)};
        for (int k = 0; k < 2 && sides[k] <= MAX_SIDE; k++) {
            shape[rank - 1] = shape[rank - 2] = sides[k];
            set_input(m, name, input_reshaped(m->a, input, shape, rank),
                      weight + 10 - k);
        }
        break;
    }
}

static void inits_divide(struct moves *m, int64_t got, int64_t divisor,
                         int weight)
{
    const char *ev = "divisor in an error";
    for (size_t i = 0; i < m->f->init.n; i++) {
        const struct param *p = &m->f->init.v[i];
        const struct val *v = state_init(m->state, p->name);
        if (!v && moves_named(m, p->name) && p->has_default &&
            propose_by_name(m->a, m->f, p->name))
            v = val_int(m->a, divisor);
        if (!v || v->type != VAL_INT)
            continue;
        if (v->i == got && lcm(got, divisor) <= MAX_SIDE)
            moves_init(m, p->name, val_int(m->a, lcm(got, divisor)), ev,
                       weight + 4);
        for (int64_t d = divisor - 1; d > 0 && v->i == divisor; d--)
            if (got % d == 0 && (d > 1 || got < 4)) {
                moves_init(m, p->name, val_int(m->a, d), ev, weight + 3);
                break;
            }
    }
}

void moves_divide(struct moves *m, int64_t got, int64_t divisor, int weight)
{
    const struct val *in = inputs_of(m);
    if (got < 1 || got > 1 << 26 || divisor < 2 || divisor > 1 << 16)
        return;
    for (size_t i = 0; i < val_len(in) && !m->construct; i++)
        if (input_is_tensor(in->map.v[i]))
            dims_divide(m, in->map.keys[i], in->map.v[i], got, divisor,
                        weight + relevance(m, in->map.keys[i]));
    moves_size(m, got, (got / divisor + 1) * divisor, weight - 2);
    inits_divide(m, got, divisor, weight);
}

void moves_last(struct moves *m, int64_t size, bool matrix, int weight)
{
    const struct val *in = inputs_of(m);
    struct val *all = state_copy(m->a, m->state);
    for (size_t i = 0; i < val_len(in); i++) {
        int64_t shape[MAX_RANK] = {0};
        struct span name = in->map.keys[i];
        size_t rank = input_shape(in->map.v[i], shape, MAX_RANK);
        if (!input_is_tensor(in->map.v[i]) || rank < 1 || size < 1)
            continue;
        int64_t two[] = {rank > 1 ? shape[rank - 2] : PLAN_TOKENS, size};
        shape[rank - 1] = size;
        struct val *next =
            matrix ? input_reshaped(m->a, in->map.v[i], two, 2)
                   : input_reshaped(m->a, in->map.v[i], shape, rank);
        set_input(m, name, next, weight + relevance(m, name));
        state_set_input(m->a, all, name, next);
    }
    add(m, all, weight + 4);
}

void moves_side(struct moves *m, int64_t side, int weight)
{
    const struct val *in = inputs_of(m);
    struct val *s = state_copy(m->a, m->state);
    bool changed = false;
    for (size_t i = 0; i < val_len(in); i++) {
        int64_t shape[MAX_RANK];
        size_t rank = input_shape(in->map.v[i], shape, MAX_RANK);
        if (!input_is_tensor(in->map.v[i]) || rank < 4)
            continue;
        shape[rank - 2] = shape[rank - 1] = side;
        state_set_input(m->a, s, in->map.keys[i],
                        input_reshaped(m->a, in->map.v[i], shape, rank));
        changed = true;
    }
    if (changed)
        add(m, s, weight);
}

/* ---- ranks and kinds of inputs ---- */

static void set_rank(struct moves *m, struct span name, const struct val *input,
                     int rank, int weight)
{
    int64_t old[MAX_RANK], shape[MAX_RANK] = {0};
    size_t had = input_shape(input, old, MAX_RANK);
    if (rank < 0 || rank > 6 || (size_t)rank == had)
        return;
    if (!span_is(val_gets(input, "dtype"), "float32")) {
        for (int i = 0; i < rank; i++)
            shape[i] = i == 0 ? PLAN_BATCH : PLAN_TOKENS;
        set_input(m, name, input_reshaped(m->a, input, shape, (size_t)rank),
                  weight);
        return;
    }
    for (int first = 1; first >= 0; first--) {
        if (rank < 3 && first)
            continue;
        propose_shape(m->f, m->state, rank, first, shape);
        set_input(m, name, input_reshaped(m->a, input, shape, (size_t)rank),
                  weight + (rank >= 4 ? first : !first));
    }
}

/* Every tensor of a list gets another rank; one below RANK as well, for lists
 * of images without a batch. */
static void set_rank_of_items(struct moves *m, struct span name,
                              const struct val *input, int rank, int weight)
{
    const struct val *items = val_get(input, "items");
    if (!val_len(items) || rank < 0 || rank > 6)
        return;
    struct val *next = val_copy(m->a, input), *list = val_list(m->a);
    for (size_t i = 0; i < val_len(items); i++) {
        int64_t shape[MAX_RANK + 1] = {0};
        bool bare = rank == 3;
        propose_shape(m->f, m->state, bare ? 4 : rank, true, shape);
        val_push(
            m->a, list,
            input_reshaped(m->a, val_at(items, i), shape + bare, (size_t)rank));
    }
    val_set(m->a, next, "items", list);
    if (!val_equal(next, input))
        set_input(m, name, next, weight);
}

void moves_rank(struct moves *m, int want, int got, struct span pattern,
                int weight)
{
    const struct val *in = inputs_of(m);
    if (want < 0 || want > 16)
        return;
    for (size_t i = 0; i < val_len(in); i++) {
        const struct val *input = in->map.v[i];
        struct span name = in->map.keys[i];
        int rank = (int)val_len(val_get(input, "shape"));
        int w = weight + relevance(m, name);
        if (!input_is_tensor(input)) {
            set_rank_of_items(m, name, input, want, w);
            continue;
        }
        if ((rank == got || got == 0) && want <= 6)
            set_rank(m, name, input, want, w + 4);
        else if (rank + want - got > 0 && rank + want - got <= 6)
            set_rank(m, name, input, rank + want - got, w);
        if (pattern.n && (rank == got || got == 0) && want <= 6) {
            struct param p = {.name = name};
            const char *ev;
            p.first.pattern = pattern;
            p.first.rank = want;
            set_input(m, name, propose_input(m->a, m->f, m->state, &p, &ev),
                      w + 6);
        }
    }
}

void moves_form(struct moves *m, const char *form, int weight)
{
    const struct val *in = inputs_of(m);
    for (size_t i = 0; i < val_len(in); i++) {
        const struct val *input = in->map.v[i];
        struct span name = in->map.keys[i];
        int64_t shape[MAX_RANK];
        size_t rank = input_shape(input, shape, MAX_RANK);
        struct val *next = NULL;
        int w = weight + relevance(m, name);
        if (strcmp(form, "list") == 0) {
            struct val *items = val_list(m->a);
            for (int k = 0; k < 2 && input_is_tensor(input); k++)
                val_push(m->a, items, val_copy(m->a, input));
            if (val_len(items))
                next = input_value(m->a, name, items);
        } else if (strcmp(form, "number") == 0) {
            next = input_value(m->a, name, val_int(m->a, 4));
        } else if (!input_is_tensor(input)) {
            continue;
        } else if (strcmp(form, "int64") == 0) {
            if (rank > 2)
                rank--;
            next = input_ids(m->a, name, shape, rank, 15);
        } else if (strcmp(form, "bool") == 0) {
            next = input_mask(m->a, name, shape, rank);
        } else if (strcmp(form, "uniform") == 0) {
            if (!span_is(val_gets(input, "dist"), "normal"))
                continue;
            next = val_copy(m->a, input);
            val_set(m->a, next, "dist", val_strz(m->a, "uniform"));
            val_set(m->a, next, "lo", val_float(m->a, 0.0));
            val_set(m->a, next, "hi", val_float(m->a, 1.0));
        } else {
            next = input_tensor(m->a, name, shape, rank);
        }
        if (next && !val_equal(next, input))
            set_input(m, name, next, w);
    }
}

void moves_range(struct moves *m, int weight)
{
    const struct val *in = inputs_of(m);
    const struct val *tensors = val_path(m->reply, "op.tensors");
    int64_t top = 0; /* rows of the table that is looked up */
    struct val *found = ranges_found(m->a, m->f, m->state, m->reply);
    if (found)
        add(m, found, weight + 8);
    for (size_t k = 0; k < val_len(tensors); k++) {
        const struct val *t = val_at(tensors, k);
        if (span_starts(val_gets(t, "dtype"), "float") && !top)
            top = val_as_int(val_at(val_get(t, "shape"), 0), 0);
    }
    for (size_t i = 0; i < val_len(in); i++) {
        const struct val *input = in->map.v[i];
        int64_t hi = val_geti(input, "hi", 0);
        if (!span_is(val_gets(input, "dist"), "int"))
            continue;
        int64_t tries[] = {top - 1, hi / 2, 1};
        for (size_t k = 0; k < ARRAY_LEN(tries); k++) {
            if (tries[k] < 0 || tries[k] >= hi)
                continue;
            struct val *next = val_copy(m->a, input);
            val_set(m->a, next, "hi", val_int(m->a, tries[k]));
            set_input(m, in->map.keys[i], next, weight - (int)k);
        }
    }
}

/* ---- arguments ---- */

void moves_supply(struct moves *m, struct span name, int weight)
{
    struct val *s = state_copy(m->a, m->state);
    const char *ev = "";
    const struct param *p = params_find(&m->f->forward, name);
    if (p && !p->plain && !m->construct && p->kind != PARAM_VAR_KW &&
        !state_passes(m->state, name)) {
        propose_argument(m->a, m->f, s, p);
        add(m, s, weight);
        return;
    }
    p = params_find(&m->f->init, name);
    if (!p || p->kind == PARAM_VAR_KW || state_init(m->state, name))
        return;
    struct val *v = propose_init(m->a, m->f, s, p, &ev);
    state_set_init(m->a, s, name, v, ev);
    add(m, s, weight);
}

void moves_drop(struct moves *m, struct span name, int weight)
{
    struct val *s = state_copy(m->a, m->state);
    if (state_passes(m->state, name) && !m->construct)
        state_drop_input(m->a, s, name);
    else if (state_init(m->state, name))
        state_set_init(m->a, s, name, NULL, NULL);
    else
        return;
    add(m, s, weight);
}

/* Attribute FIELD of argument P, where that lacks it. */
static void add_field(struct moves *m, const struct param *p, struct span field,
                      int weight)
{
    struct val *s = state_copy(m->a, m->state);
    const char *ev = "";
    const char *key = arena_printf(m->a, "%.*s.%.*s", (int)p->name.n, p->name.p,
                                   (int)field.n, field.p);
    if (state_input(s, span_str(key)))
        return;
    struct val *v = propose_field(m->a, m->f, s, p->name, field, &ev);
    val_set(m->a, v, "ev", val_strz(m->a, "asked for in a run"));
    state_set_input(m->a, s, span_str(key), v);
    add(m, s, weight);
}

void moves_field(struct moves *m, struct span field, bool keyed, int weight)
{
    if (field.n == 0 || field.n > 60 || (!keyed && is_tensor_attribute(field)))
        return;
    for (size_t i = 0; i < m->f->forward.n; i++) {
        const struct param *p = &m->f->forward.v[i];
        struct span how = state_form(m->state, p->name);
        int w = weight + 2 * moves_named(m, p->name);
        if (!state_passes(m->state, p->name) || span_is(how, "tuple"))
            continue;
        if (how.n) {
            add_field(m, p, field, w);
            continue;
        }
        struct param as = *p;
        if (keyed)
            as.keys = (struct spans){&field, 1, 1};
        struct val *s = state_copy(m->a, m->state);
        state_drop_input(m->a, s, p->name);
        propose_object(m->a, m->f, s, &as, field);
        add(m, s, w);
    }
}

/* A sequence of N items after the model of SEQ: its items, the last again. */
static struct val *resized(struct arena *a, const struct val *seq, size_t n)
{
    const struct val *items = seq_items(seq);
    struct val *l = val_list(a);
    for (size_t i = 0; i < n && val_len(items); i++)
        val_push(a, l, val_copy(a, val_at(items, MIN(i, val_len(items) - 1))));
    return seq->type == VAL_MAP ? tuple_val(a, l) : l;
}

void moves_length(struct moves *m, int64_t want, int weight)
{
    for (size_t i = 0; i < m->f->init.n; i++) {
        struct span name = m->f->init.v[i].name;
        const struct val *v = state_init(m->state, name);
        if (moves_named(m, name) && seq_items(v) && want > 0 && want <= 16)
            moves_init(m, name, resized(m->a, v, (size_t)want),
                       "length in an error", weight + moves_named(m, name));
    }
}

/* Sequences of other lengths, tuples for lists, one item for all. */
static void sequence_kinds(struct moves *m, struct span name,
                           const struct val *now, int weight)
{
    const char *ev = "error while constructing";
    const struct val *items = seq_items(now);
    size_t n = val_len(items);
    if (now->type == VAL_LIST)
        moves_init(m, name, tuple_val(m->a, val_copy(m->a, now)), ev,
                   weight + 3);
    else
        moves_init(m, name, val_copy(m->a, items), ev, weight - 3);
    if (n)
        moves_init(m, name, val_copy(m->a, val_at(items, 0)), ev, weight);
    for (size_t k = 1; k <= 5; k++)
        if (k != n)
            moves_init(m, name, resized(m->a, now, k), ev,
                       weight - 1 - (int)(k > n ? k - n : n - k));
}

static struct val *ints(struct arena *a, int64_t x, int n)
{
    struct val *l = val_list(a);
    for (int i = 0; i < n; i++)
        val_push(a, l, val_int(a, x));
    return l;
}

void moves_kinds(struct moves *m, struct span name, int weight)
{
    const struct param *p = params_find(&m->f->init, name);
    const struct val *now = state_init(m->state, name);
    struct arena *a = m->a;
    int64_t x = now && now->type == VAL_INT ? now->i : 16;
    const char *ev = "error while constructing";
    struct span class = val_gets(m->reply, "class");
    bool type_error =
        span_is(class, "TypeError") || span_is(class, "AttributeError");
    int w = weight;
    char text[160];

    if (!p || (!now && p->has_default && !type_error))
        return;
    for (size_t i = 0; i < p->choices.n && i < 6; i++)
        moves_init(m, name, val_str(a, p->choices.v[i]), ev, w--);
    if (seq_items(now))
        sequence_kinds(m, name, now, w);
    if (type_error) {
        for (int n = 2; n <= 4; n++) {
            moves_init(m, name, ints(a, x, n), ev, w - n);
            moves_init(m, name, tuple_val(a, ints(a, x, n)), ev, w - n);
        }
        snprintf(text, sizeof(text), "torch.nn.Linear(%d, %d)",
                 (int)propose_int(m->f, m->state, "dim", PLAN_DIM),
                 (int)propose_int(m->f, m->state, "dim", PLAN_DIM));
        moves_init(m, name, expr_val(a, text), ev, w - 3);
        moves_init(m, name, expr_val(a, "torch.nn.ReLU"), ev, w - 4);
        moves_init(m, name, expr_val(a, "torch.nn.ReLU()"), ev, w - 5);
        moves_init(m, name, val_int(a, 16), ev, w - 5);
        moves_init(m, name, val_strz(a, "relu"), ev, w - 6);
        moves_init(m, name, expr_val(a, "None"), ev, w - 7);
        return;
    }
    if (now && now->type == VAL_INT) {
        static const int64_t more[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
        for (size_t i = 0; i < ARRAY_LEN(more); i++)
            if (more[i] == 2 * x || 2 * more[i] == x || more[i] == 4 * x ||
                more[i] == 1)
                moves_init(m, name, val_int(a, more[i]), ev, w - 2);
    }
}
