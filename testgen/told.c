/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "testgen/told.h"

#include "testgen/propose.h"

#define MAX_RANK  6
#define MAX_NAMES 32

/* Sizes by the names that they have in the docstrings. */
struct sizes {
    struct span names[MAX_NAMES];
    int64_t v[MAX_NAMES];
    size_t n;
};

static bool is_guess(const struct val *input)
{
    struct span ev = val_gets(input, "ev");
    return span_is(ev, "layers of the source") ||
           span_is(ev, "argument name") || span_is(ev, "annotation");
}

/* The channels stand first: (B, C, H, W). */
static bool channels_first(const struct val *names, size_t rank)
{
    struct span s = rank > 1 ? val_as_str(val_at(names, 1)) : SPAN_LIT("");
    return rank > 1 && s.n && ((s.p[0] | 32) == 'c' || rank > 3);
}

/* The size NAME: a number, an argument of the constructor, as met before, or
 * PLANNED from now on. */
static int64_t size_of(const struct facts *f, const struct val *state,
                       struct sizes *s, struct span name, int64_t planned)
{
    char text[32];
    int64_t k = 0;
    for (size_t i = 0;
         i < name.n && name.p[i] >= '0' && name.p[i] <= '9' && k < 100000; i++)
        k = k * 10 + (name.p[i] - '0');
    if (k > 0 && name.p[0] <= '9')
        return MIN(k, 4096);
    snprintf(text, sizeof(text), "%.*s", (int)MIN(name.n, 31), name.p);
    k = propose_int(f, state, text, 0);
    if (k > 0)
        return MIN(k, 4096);
    for (size_t i = 0; i < s->n; i++)
        if (span_eq(s->names[i], name))
            return s->v[i];
    if (s->n < MAX_NAMES) {
        s->names[s->n] = name;
        s->v[s->n++] = planned;
    }
    return planned;
}

/* How many sizes NAMES, from a record, has; 0 when it is no list of names. */
static size_t rank_of(const struct val *names)
{
    size_t n = names && names->type == VAL_LIST ? val_len(names) : 0;
    for (size_t i = 0; i < n && n <= MAX_RANK; i++) {
        struct span s = val_as_str(val_at(names, i));
        if (s.n == 0 || s.n > 31)
            return 0;
    }
    return n <= MAX_RANK ? n : 0;
}

struct val *told_state(struct arena *a, const struct facts *f,
                       const struct val *state, const struct val *shapes)
{
    struct val *out = state_copy(a, state);
    struct sizes sizes = {.n = 0};
    bool changed = false;
    for (size_t i = 0; i < f->forward.n && i < 64; i++) {
        struct span key = f->forward.v[i].name;
        char name[64];
        int64_t shape[8] = {0}, was[8];
        const struct val *input = state_input(state, key), *names;
        snprintf(name, sizeof(name), "%.*s", (int)MIN(key.n, 63), key.p);
        names =
            shapes && shapes->type == VAL_MAP ? val_get(shapes, name) : NULL;
        size_t rank = rank_of(names);
        if (!input || !input_is_tensor(input) || rank == 0)
            continue;
        size_t now = input_shape(input, was, 8);
        if (now != rank && !is_guess(input))
            continue;
        propose_shape(f, state, (int)rank, channels_first(names, rank), shape);
        for (size_t k = 0; k < rank; k++)
            shape[k] = size_of(f, state, &sizes, val_as_str(val_at(names, k)),
                               now == rank ? was[k] : shape[k]);
        if (now == rank && memcmp(was, shape, rank * sizeof(*was)) == 0)
            continue;
        struct val *v = input_reshaped(a, input, shape, rank);
        val_set(a, v, "ev", val_strz(a, "docstring"));
        state_set_input(a, out, key, v);
        changed = true;
    }
    return changed ? out : NULL;
}
