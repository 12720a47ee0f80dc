/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "testgen/gate.h"
#include "testgen/propose.h"

enum gate_rule gate_rule(const struct val *g)
{
    bool flat = val_getf(g, "spread", 0) < GATE_SPREAD ||
                (val_getf(g, "deviation", 0) < GATE_SPREAD &&
                 val_getf(g, "relative", 0) < GATE_RELATIVE);

    if (val_len(val_get(g, "uninitialised")))
        return GATE_UNINITIALISED;
    if (!val_getb(g, "deterministic", false) || val_gets(g, "hidden").n)
        return GATE_NONDETERMINISTIC;
    if (!val_getb(g, "finite", false))
        return GATE_NOT_FINITE;
    if (val_getb(g, "sized", false))
        return GATE_SIZED;
    if (val_getb(g, "identity", false))
        return GATE_IDENTITY;
    if (val_len(val_get(g, "unused_inputs")))
        return GATE_UNUSED_INPUT;
    /* the unscaled distribution is the task's own */
    if (val_as_int(val_at(val_get(g, "constant"), 0), 0) == 1)
        return GATE_CONSTANT;
    if (val_get(g, "spread") && !val_getb(g, "scalar", false) && flat)
        return GATE_FLAT;
    if (val_len(val_get(g, "unused_parameters")))
        return GATE_UNUSED_PARAMETER;
    if (val_gets(g, "train").n)
        return GATE_TRAIN_MODE;
    return GATE_PASSED;
}

static int name_in(struct err *e, const char *what, struct span s)
{
    return err_set(e, ERR_QUALITY, "%s '%.*s'", what, (int)MIN(s.n, 80),
                   s.p ? s.p : "");
}

int gate_check(const struct val *g, const struct val *inputs, struct err *e)
{
    struct span train = val_gets(g, "train");
    const struct val *list;

    switch (gate_rule(g)) {
    case GATE_PASSED:
        return 0;
    case GATE_UNINITIALISED:
        list = val_get(g, "uninitialised");
        return name_in(e, "uninitialised or unseeded parameter",
                       val_as_str(val_at(list, 0)));
    case GATE_NONDETERMINISTIC:
        if (val_gets(g, "hidden").n)
            return err_set(e, ERR_QUALITY, "the output depends on %.*s",
                           (int)MIN(val_gets(g, "hidden").n, 80),
                           val_gets(g, "hidden").p);
        return err_set(e, ERR_QUALITY,
                       "two runs under one seed give different outputs");
    case GATE_NOT_FINITE:
        return err_set(e, ERR_QUALITY, "the output is not finite");
    case GATE_SIZED:
        return err_set(e, ERR_QUALITY,
                       "the output's size depends on values of inputs");
    case GATE_IDENTITY:
        return err_set(e, ERR_QUALITY, "the output is an input");
    case GATE_UNUSED_INPUT:
        list = val_get(g, "unused_inputs");
        return name_in(
            e, "the output does not depend on input",
            val_gets(val_at(inputs, (size_t)val_as_int(val_at(list, 0), 0)),
                     "name"));
    case GATE_CONSTANT:
        return err_set(e, ERR_QUALITY, "the output is constant");
    case GATE_FLAT:
        return err_set(e, ERR_QUALITY,
                       "the output hardly varies: range %.3g, deviation %.3g",
                       val_getf(g, "spread", 0), val_getf(g, "deviation", 0));
    case GATE_UNUSED_PARAMETER:
        list = val_get(g, "unused_parameters");
        return name_in(e, "the output does not depend on parameter",
                       val_as_str(val_at(list, 0)));
    case GATE_TRAIN_MODE:
        return err_set(e, ERR_QUALITY, "fails in train mode: %.*s",
                       (int)train.n, train.p);
    }
    return err_set(e, ERR_INTERNAL, "unknown rule");
}

static bool make_positive(struct arena *a, struct val *v)
{
    struct val *items = val_get(v, "items");
    bool changed = false;
    for (size_t i = 0; i < val_len(items); i++)
        changed |= make_positive(a, val_at(items, i));
    if (!span_is(val_gets(v, "dist"), "normal"))
        return changed;
    val_set(a, v, "dist", val_strz(a, "uniform"));
    val_set(a, v, "lo", val_float(a, 0.0));
    val_set(a, v, "hi", val_float(a, 1.0));
    return true;
}

/* Every normal input becomes uniform in [0, 1). */
static struct val *positive(struct arena *a, const struct facts *f,
                            const struct val *state)
{
    struct val *s = state_copy(a, state);
    struct val *in = val_get(s, "in");
    bool changed = false;
    (void)f;
    for (size_t i = 0; i < val_len(in); i++)
        changed |= make_positive(a, in->map.v[i]);
    return changed ? s : NULL;
}

/* INPUT, a list, without the items that ITEMS (its number, then theirs) names;
 * NULL when none is left. */
static struct val *without_items(struct arena *a, const struct val *input,
                                 const struct val *items)
{
    const struct val *had = val_get(input, "items");
    struct val *left = val_list(a), *v;
    size_t next = 1;
    for (size_t i = 0; i < val_len(had); i++)
        if (val_as_int(val_at(items, next), -1) == (int64_t)i)
            next++;
        else
            val_push(a, left, val_at(had, i));
    if (!val_len(left))
        return NULL;
    v = val_copy(a, input);
    val_set(a, v, "items", left);
    return v;
}

/* What the output does not depend on: items of lists, and inputs, are left out
 * where they can be, else these are None. */
static struct val *without_unused(struct arena *a, const struct facts *f,
                                  const struct val *state,
                                  const struct val *figures)
{
    const struct val *unused = val_get(figures, "unused_inputs");
    const struct val *items = val_get(figures, "unused_items");
    struct val *s = state_copy(a, state);
    bool changed = false;
    struct span keys[64];
    size_t n = state_order(f, state, keys, 64);
    for (size_t i = 0; i < n; i++) {
        const struct param *p = params_find(&f->forward, keys[i]);
        bool optional = key_argument(keys[i]).n || (p && p->has_default);
        for (size_t k = 0; k < val_len(unused); k++)
            if (val_as_int(val_at(unused, k), -1) == (int64_t)i) {
                struct val *now = NULL;
                for (size_t j = 0; j < val_len(items); j++)
                    if (val_as_int(val_at(val_at(items, j), 0), -1) ==
                        (int64_t)i)
                        now = without_items(a, state_input(s, keys[i]),
                                            val_at(items, j));
                if (!now && !optional)
                    now = input_value(a, keys[i], val_nil(a));
                state_set_input(a, s, keys[i], now);
                changed = true;
            }
    }
    return changed ? s : NULL;
}

/* The name of a parameter such as "block.temb_proj.weight" speaks of
 * ARGUMENT. */
static bool speaks_of(struct span parameter, struct span argument)
{
    return argument.n > 2 &&
           memmem(parameter.p, parameter.n, argument.p, argument.n) != NULL;
}

/* An optional argument is passed too, the NTH of those that are not: first
 * those that the name of the unused PARAMETER speaks of. */
static struct val *with_optional(struct arena *a, const struct facts *f,
                                 const struct val *state, struct span parameter,
                                 int nth)
{
    for (int near = 1; near >= 0; near--)
        for (size_t i = 0; i < f->forward.n; i++) {
            const struct param *p = &f->forward.v[i];
            if (!p->has_default || p->kind == PARAM_VAR_KW ||
                state_passes(state, p->name) ||
                speaks_of(parameter, p->name) != near || nth-- > 0)
                continue;
            struct val *s = state_copy(a, state);
            propose_argument(a, f, s, p);
            return s;
        }
    return NULL;
}

/* A string that the source compares with is another one of its choices. */
static struct val *other_choice(struct arena *a, const struct facts *f,
                                const struct val *state, size_t nth)
{
    for (size_t i = 0; i < f->init.n; i++) {
        const struct param *p = &f->init.v[i];
        for (size_t k = 0; k < p->choices.n; k++) {
            if (nth-- > 0)
                continue;
            struct val *s = state_copy(a, state);
            state_set_init(a, s, p->name, val_str(a, p->choices.v[k]),
                           "compared with in source");
            return s;
        }
    }
    return NULL;
}

/* The NTH change of what inputs of a function are that its output does not
 * depend on: bools, or integers. */
static struct val *other_numbers(struct arena *a, const struct facts *f,
                                 const struct val *state,
                                 const struct val *unused, int nth)
{
    struct val *s = state_copy(a, state);
    struct span keys[64];
    size_t n = state_order(f, state, keys, 64);
    bool changed = false;
    for (size_t k = 0; k < val_len(unused); k++) {
        size_t at = (size_t)val_as_int(val_at(unused, k), 64);
        struct val *v = at < n ? state_input(state, keys[at]) : NULL;
        int64_t shape[8];
        if (!v || !input_is_tensor(v) ||
            !span_is(val_gets(v, "dtype"), "float32"))
            continue;
        size_t rank = input_shape(v, shape, 8);
        state_set_input(a, s, keys[at],
                        nth == 0 ? input_mask(a, keys[at], shape, rank)
                                 : input_ids(a, keys[at], shape, rank, 1));
        changed = true;
    }
    return changed ? s : NULL;
}

/* The NTH change of what a function takes beside its inputs: a switch the other
 * way, or an optional tensor given. */
static struct val *other_argument(struct arena *a, const struct facts *f,
                                  const struct val *state, int nth)
{
    for (size_t i = 0; i < f->forward.n && f->is_function; i++) {
        const struct param *p = &f->forward.v[i];
        bool on = span_is(p->dflt, "True"), off = span_is(p->dflt, "False");
        bool tensor = !p->plain && p->has_default && p->kind != PARAM_VAR &&
                      !state_passes(state, p->name);
        struct val *s;
        if ((!tensor && !(p->plain && (on || off))) || nth-- > 0)
            continue;
        s = state_copy(a, state);
        if (tensor)
            propose_argument(a, f, s, p);
        else
            state_set_init(a, s, p->name, val_bool(a, off), "other switch");
        return s;
    }
    return NULL;
}

/* Every input of four or more dimensions gets sides of SIDE. */
static struct val *with_side(struct arena *a, const struct facts *f,
                             const struct val *state, int64_t side)
{
    struct val *s = state_copy(a, state);
    struct val *in = val_get(s, "in");
    bool changed = false;
    if (params_find(&f->init, SPAN_LIT("image_size")))
        return NULL;
    for (size_t i = 0; i < val_len(in); i++) {
        int64_t shape[8];
        size_t rank = input_shape(in->map.v[i], shape, 8);
        if (!input_is_tensor(in->map.v[i]) || rank < 4 || rank > 8)
            continue;
        shape[rank - 1] = shape[rank - 2] = side;
        state_set_input(a, s, in->map.keys[i],
                        input_reshaped(a, in->map.v[i], shape, rank));
        changed = true;
    }
    return changed ? s : NULL;
}

/* Statistics of a batch want more than one value: first dimensions of one
 * become two. */
static struct val *with_batch(struct arena *a, const struct val *state)
{
    struct val *s = state_copy(a, state), *in = val_get(s, "in");
    for (size_t i = 0; i < val_len(in); i++) {
        int64_t shape[8];
        size_t rank = input_shape(in->map.v[i], shape, 8);
        if (!input_is_tensor(in->map.v[i]) || rank < 2 || rank > 8 ||
            shape[0] != 1)
            continue;
        shape[0] = 2;
        state_set_input(a, s, in->map.keys[i],
                        input_reshaped(a, in->map.v[i], shape, rank));
    }
    return s;
}

struct val *gate_mend(struct arena *a, const struct facts *f,
                      const struct val *state, const struct val *figures, int i,
                      bool *more)
{
    enum gate_rule rule = gate_rule(figures);
    struct span unused =
        val_as_str(val_at(val_get(figures, "unused_parameters"), 0));
    struct val *s = NULL;
    *more = true;
    if (rule == GATE_NOT_FINITE) {
        *more = i < 0;
        return positive(a, f, state);
    }
    if (rule == GATE_TRAIN_MODE) {
        *more = i == 0;
        return i == 0 ? with_batch(a, state) : with_side(a, f, state, 64);
    }
    if (rule < GATE_NOT_FINITE || rule == GATE_SIZED) {
        *more = false;
        return NULL;
    }
    if (f->is_function && rule == GATE_UNUSED_INPUT && (i == 1 || i == 2))
        return other_numbers(a, f, state, val_get(figures, "unused_inputs"),
                             i - 1);
    if (f->is_function && i > 0) {
        s = other_argument(a, f, state,
                           i - (rule == GATE_UNUSED_INPUT ? 3 : 1));
        *more = s != NULL;
        return s;
    }
    switch (i) {
    case 0:
        if (f->is_function && rule != GATE_UNUSED_INPUT)
            s = other_argument(a, f, state, 0);
        if (rule == GATE_UNUSED_INPUT)
            s = without_unused(a, f, state, figures);
        if (rule == GATE_UNUSED_PARAMETER)
            s = with_optional(a, f, state, unused, 0);
        break;
    case 1: /* gates that start shut; the rule on parameters has opened them */
        if (rule == GATE_UNUSED_PARAMETER) {
            s = with_optional(a, f, state, unused, 1);
            break;
        }
        s = state_copy(a, state);
        val_set(a, s, "redraw", val_bool(a, true));
        break;
    case 2: /* feature maps of one pixel */
    case 3:
        if (rule != GATE_IDENTITY)
            s = with_side(a, f, state, i == 2 ? 64 : 128);
        break;
    default:
        s = other_choice(a, f, state, (size_t)i - 4);
        *more = s != NULL;
    }
    return s;
}
