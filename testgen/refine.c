/* SPDX-License-Identifier: MIT */
/*
 * From error messages, failed asserts and names in failing statements to
 * changes of the state.
 */
#include "base.h"

#include <regex.h>

#include "log.h"
#include "testgen/objects.h"
#include "testgen/refine.h"

#define GROUPS 6

struct rule_match {
    const char *text;
    regmatch_t at[GROUPS];
    int a, b; /* groups */
};

typedef void action_fn(struct moves *m, const struct rule_match *r);

static struct span group(const struct rule_match *r, int g)
{
    if (g <= 0 || g >= GROUPS || r->at[g].rm_so < 0)
        return (struct span){NULL, 0};
    return (struct span){r->text + r->at[g].rm_so,
                         (size_t)(r->at[g].rm_eo - r->at[g].rm_so)};
}

/* Integers in a text such as "2, -1, 64"; number of them. */
static size_t numbers(struct span s, int64_t *out, size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n && n < cap; i++) {
        bool minus = s.p[i] == '-';
        size_t k = i + minus;
        int64_t v = 0;
        if (k >= s.n || s.p[k] < '0' || s.p[k] > '9')
            continue;
        for (; k < s.n && s.p[k] >= '0' && s.p[k] <= '9' && v < 1 << 28; k++)
            v = v * 10 + (s.p[k] - '0');
        out[n++] = minus ? -v : v;
        i = k;
    }
    return n;
}

static int64_t number(const struct rule_match *r, int g)
{
    int64_t v = 0;
    return numbers(group(r, g), &v, 1) ? v : 0;
}

static const struct span no_pattern = {NULL, 0};

static void act_got_want(struct moves *m, const struct rule_match *r)
{
    moves_size(m, number(r, r->a), number(r, r->b), 40);
}

static void act_pair(struct moves *m, const struct rule_match *r)
{
    moves_size(m, number(r, r->a), number(r, r->b), 36);
    moves_size(m, number(r, r->b), number(r, r->a), 35);
    const struct val *in = val_get(m->state, "in");
    for (size_t i = 0; i < val_len(in); i++)
        if (val_len(val_get(in->map.v[i], "shape")) == 4) {
            moves_rank(m, 3, 4, no_pattern, 10); /* sequences, not images */
            break;
        }
}

static void act_last_dims(struct moves *m, const struct rule_match *r)
{
    int64_t got[8], want[8];
    size_t n = numbers(group(r, r->a), got, 8);
    size_t k = numbers(group(r, r->b), want, 8);
    for (size_t i = 1; i <= n && i <= k; i++)
        moves_size(m, got[n - i], want[k - i], 40);
}

static void act_pair_dims(struct moves *m, const struct rule_match *r)
{
    int64_t x[8], y[8];
    size_t n = numbers(group(r, r->a), x, 8);
    size_t k = numbers(group(r, r->b), y, 8);
    for (size_t i = 0; i < n && n == k; i++) {
        moves_size(m, x[i], y[i], 34);
        moves_size(m, y[i], x[i], 34);
    }
}

static void act_shape3(struct moves *m, const struct rule_match *r)
{
    int64_t want[3];
    if (numbers(group(r, r->a), &want[0], 1))
        moves_rank(m, 3, 2, no_pattern, 30);
}

/* view: the sizes asked for multiply to something else than there is. */
static void act_view(struct moves *m, const struct rule_match *r)
{
    int64_t dims[8], product = 1;
    size_t n = numbers(group(r, r->a), dims, 8);
    int64_t total = number(r, r->b);
    bool open = false;
    for (size_t i = 0; i < n; i++) {
        if (dims[i] < 0)
            open = true;
        else if (dims[i] && __builtin_mul_overflow(product, dims[i], &product))
            return;
    }
    if (product < 1 || total < 1)
        return;
    if (!open) {
        moves_size(m, total, product, 34);
        int64_t g = total, h = product;
        while (h) {
            int64_t t = g % h;
            g = h;
            h = t;
        }
        moves_size(m, total / g, product / g, 30);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (dims[i] > 1)
            moves_divide(m, total, dims[i], 28);
}

static void act_split(struct moves *m, const struct rule_match *r)
{
    int64_t parts[8], sum = 0;
    size_t n = numbers(group(r, r->b), parts, 8);
    for (size_t i = 0; i < n; i++)
        sum += parts[i];
    moves_size(m, number(r, r->a), sum, 36);
}

static void act_divide(struct moves *m, const struct rule_match *r)
{
    moves_divide(m, number(r, r->a), number(r, r->b), 36);
}

static void act_einops_rank(struct moves *m, const struct rule_match *r)
{
    struct span pattern = group(r, 1);
    if (group(r, 2).n)
        pattern = no_pattern;
    moves_rank(m, (int)number(r, r->a), (int)number(r, r->b), pattern, 40);
}

static void act_rank(struct moves *m, const struct rule_match *r)
{
    if (m->construct) {
        moves_length(m, number(r, r->a), 36);
        return;
    }
    moves_rank(m, (int)number(r, r->a), (int)number(r, r->b), no_pattern, 34);
}

/* The operator's first tensor has the wrong rank. */
static void act_rank_of_op(struct moves *m, const struct rule_match *r)
{
    const struct val *tensors = val_path(m->reply, "op.tensors");
    int got = (int)val_len(val_get(val_at(tensors, 0), "shape"));
    moves_rank(m, (int)number(r, r->a), got, no_pattern, 38);
}

static void act_rank_four(struct moves *m, const struct rule_match *r)
{
    moves_rank(m, 4, (int)number(r, r->b), no_pattern, 34);
    moves_rank(m, 3, (int)number(r, r->b), no_pattern, 32);
}

static void act_rank_up(struct moves *m, const struct rule_match *r)
{
    int got = (int)number(r, r->b);
    moves_rank(m, got + 1, got, no_pattern, 34);
    moves_rank(m, got + 2, got, no_pattern, 32);
}

/* An index from the front: "range of [-2, 1], but got 2". */
static void act_rank_past(struct moves *m, const struct rule_match *r)
{
    moves_rank(m, (int)number(r, r->a) + 1, (int)number(r, r->b), no_pattern,
               34);
}

static void act_grow(struct moves *m, const struct rule_match *r)
{
    static const int64_t sides[] = {32, 64, 128, 224};
    (void)r;
    for (size_t i = 0; i < ARRAY_LEN(sides); i++)
        moves_side(m, sides[i], 32 - (int)i);
}

#define FORM(name, text, weight)                                               \
    static void act_form_##name(struct moves *m, const struct rule_match *r)   \
    {                                                                          \
        (void)r;                                                               \
        moves_form(m, text, weight);                                           \
    }
FORM(int64, "int64", 36)
FORM(number, "number", 34)
FORM(bool, "bool", 36)
FORM(float, "float32", 36)
FORM(uniform, "uniform", 30)
FORM(list, "list", 24)

static void act_range(struct moves *m, const struct rule_match *r)
{
    (void)r;
    moves_range(m, 38);
}

/* "[N, 4]", "last dimension of size 2" */
static void act_last(struct moves *m, const struct rule_match *r)
{
    bool matrix = group(r, r->b).n > 0;
    moves_last(m, number(r, matrix ? r->b : r->a), matrix, 38);
}

static void act_matrix(struct moves *m, const struct rule_match *r)
{
    (void)r;
    moves_rank(m, 2, 0, no_pattern, 34);
}

static void act_scalar(struct moves *m, const struct rule_match *r)
{
    (void)r;
    moves_rank(m, 0, 0, no_pattern, 36);
}

static void act_unwrap(struct moves *m, const struct rule_match *r)
{
    (void)r;
    moves_unwrap(m, 40);
}

/* "'a', 'b' and 'c'" */
static void act_missing(struct moves *m, const struct rule_match *r)
{
    struct span s = group(r, r->a);
    while (s.n) {
        const char *open = memchr(s.p, '\'', s.n);
        const char *end = s.p + s.n;
        const char *close =
            open ? memchr(open + 1, '\'', (size_t)(end - open - 1)) : NULL;
        if (!close)
            break;
        struct span name = {open + 1, (size_t)(close - open - 1)};
        moves_supply(m, name, 40);
        s = (struct span){close + 1, (size_t)(end - close - 1)};
    }
}

static void act_drop(struct moves *m, const struct rule_match *r)
{
    moves_drop(m, group(r, r->a), 36);
}

static void act_drop_last(struct moves *m, const struct rule_match *r)
{
    const struct val *in = val_get(m->state, "in");
    (void)r;
    if (!m->construct && val_len(in) > 1)
        moves_drop(m, in->map.keys[val_len(in) - 1], 24);
}

/* An argument left at None is wanted: the one that the statement names, or a
 * name that is close to it. */
static void act_supply(struct moves *m, const struct rule_match *r)
{
    const struct params *both[] = {&m->f->forward, &m->f->init};
    struct span message = val_gets(m->reply, "message");
    (void)r;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < both[k]->n; i++) {
            const struct param *p = &both[k]->v[i];
            bool told = memmem(message.p, message.n, p->name.p, p->name.n);
            int named = moves_named(m, p->name);
            if (p->has_default && (named || told) && p->name.n > 1)
                moves_supply(m, p->name, 28 + 2 * named + 2 * told);
        }
}

/* "'a', 'b'" behind words such as "one of": each of them for the arguments
 * that are texts. */
static void act_options(struct moves *m, const struct rule_match *r)
{
    const char *p = r->text + r->at[0].rm_so, *end = r->text + r->at[0].rm_eo;
    for (int n = 0; n < 8; n++) {
        const char *open = p;
        while (open < end && *open != '\'' && *open != '"')
            open++;
        const char *close =
            open < end ? memchr(open + 1, *open, (size_t)(end - open - 1))
                       : NULL;
        if (!close)
            break;
        struct span word = {open + 1, (size_t)(close - open - 1)};
        p = close + 1;
        for (size_t i = 0; i < m->f->init.n && word.n < 64; i++) {
            struct span name = m->f->init.v[i].name;
            const struct val *v = state_init(m->state, name);
            if (v && v->type == VAL_STR)
                moves_init(m, name, val_str(m->a, word), "options in an error",
                           32 - n + moves_named(m, name));
        }
    }
}

/* Channels and groups do not fit and no number is told: integers become equal,
 * the larger one for both. */
static void act_equal(struct moves *m, const struct rule_match *r)
{
    const struct params *ps = &m->f->init;
    (void)r;
    for (size_t i = 0; i < ps->n; i++)
        for (size_t k = 0; k < ps->n; k++) {
            char name[80];
            snprintf(name, sizeof(name), "%.*s", (int)MIN(ps->v[k].name.n, 79),
                     ps->v[k].name.p);
            const struct val *v = state_init(m->state, ps->v[i].name);
            int64_t other = propose_int(m->f, m->state, name, 0);
            if (i != k && v && v->type == VAL_INT && v->i > 1 && other > v->i)
                moves_init(m, ps->v[i].name, val_int(m->a, other),
                           "divisor in an error", 24);
        }
}

/* "'Tensor' object has no attribute 'x'": it is meant to be an object. */
static void act_field(struct moves *m, const struct rule_match *r)
{
    struct span kind = group(r, r->a), attr = group(r, r->b);
    for (size_t i = kind.n; i > 0; i--)
        if (kind.p[i - 1] == '.') {
            kind = (struct span){kind.p + i, kind.n - i};
            break;
        }
    moves_attribute(m, kind, attr, m->construct ? 36 : 30);
    if (!m->construct &&
        (span_is(kind, "Tensor") || span_is(kind, "SimpleNamespace") ||
         span_is(kind, "int") || span_is(kind, "list") ||
         state_has_form(m->state, kind)))
        moves_field(m, attr, false, 32);
}

static void act_layers(struct moves *m, const struct rule_match *r)
{
    (void)r;
    moves_layers(m, 34);
}

/* "'nearest' is not a valid Mode": the first member of that enumeration. */
static void act_member(struct moves *m, const struct rule_match *r)
{
    struct span word = group(r, r->a), cls = group(r, r->b);
    const char *text = arena_printf(m->a, "list(%.*s)[0]", (int)cls.n, cls.p);
    for (size_t i = 0; i < m->f->init.n && facts_has_class(m->f, cls); i++) {
        struct span name = m->f->init.v[i].name;
        const struct val *v = state_init(m->state, name);
        if (v && (moves_named(m, name) ||
                  (v->type == VAL_STR && span_eq(v->s, word))))
            moves_init(m, name, expr_val(m->a, text), "enumeration in an error",
                       36);
    }
}

/* A module is meant: every number of the constructor may be one. */
static void act_module(struct moves *m, const struct rule_match *r)
{
    int d = (int)propose_int(m->f, m->state, "dim", PLAN_DIM);
    (void)r;
    for (size_t i = 0; i < m->f->init.n; i++) {
        const struct param *p = &m->f->init.v[i];
        const struct val *v = state_init(m->state, p->name);
        struct span like = object_like(m->f, p, (struct span){NULL, 0}, 0);
        if (!v || is_expr(v) || v->type == VAL_STR)
            continue;
        int w = 30 + 2 * moves_named(m, p->name) -
                (p->uses & (USE_ARITH | USE_LAYER | USE_RANGE) ? 8 : 0);
        if (like.n)
            moves_init(m, p->name,
                       expr_val(m->a, object_instance(m->a, m->f, like)),
                       "class in source with a name like it", w + 1);
        moves_init(
            m, p->name,
            expr_val(m->a, arena_printf(m->a, "torch.nn.Linear(%d, %d)", d, d)),
            "a module is asked for", w);
    }
}

/* f(**p): a mapping is meant. */
static void act_mapping(struct moves *m, const struct rule_match *r)
{
    struct span cls = group(r, r->a);
    (void)r;
    for (size_t i = 0; i < m->f->init.n; i++) {
        struct span name = m->f->init.v[i].name;
        if (!moves_named(m, name))
            continue;
        moves_init(m, name, expr_val(m->a, "{}"), "a mapping is asked for", 34);
        if (facts_has_class(m->f, cls)) {
            const char *made = object_instance(m->a, m->f, cls);
            const char *open = strchr(made, '(');
            if (open)
                moves_init(m, name,
                           expr_val(m->a, arena_printf(m->a, "dict%s", open)),
                           "a mapping is asked for", 35);
        }
    }
}

struct rule {
    const char *text;
    action_fn *act;
    int a, b;
};

static const struct rule rules[] = {
#define RULE(regex, action, a, b) {regex, act_##action, a, b},
#include "testgen/refine.def"
#undef RULE
};

static regex_t compiled[ARRAY_LEN(rules)];

static void compile_rules(void)
{
    static bool done;
    for (size_t i = 0; i < ARRAY_LEN(rules) && !done; i++)
        if (regcomp(&compiled[i], rules[i].text, REG_EXTENDED))
            bug("refine.def: rule %zu is no regular expression", i);
    done = true;
}

/* ---- asserts ---- */

static bool names_rank(const struct val *names)
{
    for (size_t i = 0; i < val_len(names); i++) {
        struct span s = val_as_str(val_at(names, i));
        if (span_is(s, "ndim") || span_is(s, "dim") || span_is(s, "len") ||
            span_is(s, "ndimension"))
            return true;
    }
    return false;
}

static void set_named(struct moves *m, const struct val *names,
                      const struct val *value, int weight)
{
    /* one side of a comparison may be no value */
    for (size_t i = 0; value && i < val_len(names); i++) {
        struct span name = val_as_str(val_at(names, i));
        if (params_find(&m->f->init, name) &&
            (value->type == VAL_STR || value->type == VAL_INT ||
             value->type == VAL_BOOL || value->type == VAL_FLOAT))
            moves_init(m, name, val_copy(m->a, value), "check in source",
                       weight);
    }
}

static void from_compare(struct moves *m, const struct val *cmp)
{
    const struct val *l = val_get(cmp, "l"), *r = val_get(cmp, "r");
    const struct val *mod = val_get(cmp, "mod");
    const struct val *names = val_get(cmp, "names");
    struct span op = val_gets(cmp, "op");

    if (val_len(mod) == 2) {
        moves_divide(m, val_as_int(val_at(mod, 0), 0),
                     val_as_int(val_at(mod, 1), 0), 38);
        return;
    }
    if ((span_is(op, "In") || span_is(op, "NotIn")) && r)
        for (size_t i = 0; i < val_len(r); i++)
            set_named(m, names, val_at(r, i), 36 - (int)i);
    if (!l || !r)
        return;
    if (l->type == VAL_INT && r->type == VAL_INT) {
        if (names_rank(names) && m->construct) {
            moves_length(m, r->i, 38);
            moves_length(m, l->i, 36);
        } else if (names_rank(names)) {
            moves_rank(m, (int)r->i, (int)l->i, no_pattern, 38);
            moves_rank(m, (int)l->i, (int)r->i, no_pattern, 36);
        }
        moves_size(m, l->i, r->i, 38);
        moves_size(m, r->i, l->i, 37);
    } else if (l->type == VAL_LIST && r->type == VAL_LIST &&
               val_len(l) == val_len(r)) {
        for (size_t i = 0; i < val_len(l); i++)
            moves_size(m, val_as_int(val_at(l, i), 0),
                       val_as_int(val_at(r, i), 0), 36);
    } else if (l->type == VAL_STR || r->type == VAL_STR) {
        set_named(m, names, r->type == VAL_STR ? r : l, 30);
    }
}

/* What a parameter that occurs in the failing statement may be instead. */
static void from_names(struct moves *m)
{
    for (size_t i = 0; i < m->f->init.n; i++) {
        struct span name = m->f->init.v[i].name;
        int named = moves_named(m, name);
        if (named)
            moves_kinds(m, name, (m->construct ? 18 : 6) + 3 * named);
    }
}

/* "Must provide one of input_shape or in_channels": arguments that a message
 * names and that were not given. */
static void from_message(struct moves *m)
{
    struct span message = val_gets(m->reply, "message");
    for (size_t i = 0; i < m->f->init.n; i++) {
        const struct param *p = &m->f->init.v[i];
        bool sized = p->name.n > 2 && propose_by_name(m->a, m->f, p->name);
        if (p->has_default && p->name.n > 2 && span_has_word(message, p->name))
            moves_supply(m, p->name, 29 + sized);
    }
}

/* Keys of a dictionary that was asked for something else. */
static void from_keys(struct moves *m)
{
    const struct val *vars =
        val_get(val_at(val_get(m->reply, "frames"), 0), "vars");
    for (size_t i = 0; i < val_len(vars); i++) {
        const struct val *keys = val_get(val_at(val_at(vars, i), 1), "keys");
        for (size_t k = 0; k < val_len(keys); k++)
            for (size_t p = 0; p < m->f->init.n; p++)
                if (moves_named(m, m->f->init.v[p].name))
                    moves_init(m, m->f->init.v[p].name,
                               val_copy(m->a, val_at(keys, k)),
                               "keys of a table in source", 30 - (int)k);
    }
}

/* 'name': a dict among the inputs lacks it. */
static void from_key(struct moves *m, struct span message)
{
    if (message.n > 2 && message.p[0] == '\'' && !m->construct)
        moves_field(m, (struct span){message.p + 1, message.n - 2}, true, 30);
}

/* An assert that compares nothing may be about divisibility of the integers
 * that it names. */
static void from_integers(struct moves *m, const struct val *vars)
{
    for (size_t i = 0; i < val_len(vars); i++)
        for (size_t k = 0; k < val_len(vars); k++) {
            int64_t a = val_as_int(val_at(val_at(vars, i), 1), 0);
            int64_t b = val_as_int(val_at(val_at(vars, k), 1), 0);
            if (a > b && b > 1 && a % b)
                moves_divide(m, a, b, 30);
        }
}

/* Other ranks and kinds for every input, as a last resort. */
static void fallback(struct moves *m)
{
    static const int ranks[] = {4, 3, 2, 5, 1};
    for (size_t i = 0; i < ARRAY_LEN(ranks); i++)
        moves_rank(m, ranks[i], 0, no_pattern, 6 - (int)i);
    moves_side(m, 224, 3);
    moves_side(m, 128, 2);
    moves_form(m, "int64", 0);
    moves_form(m, "list", -1);
    for (size_t i = 0; i < m->f->forward.n; i++)
        if (m->f->forward.v[i].has_default &&
            moves_named(m, m->f->forward.v[i].name))
            moves_supply(m, m->f->forward.v[i].name, 4);
}

void refine(struct moves *m)
{
    struct span message = val_gets(m->reply, "message");
    char *text = xmemdup0(message);
    compile_rules();
    for (char *p = text; *p; p++)
        if (*p == '\n')
            *p = ' ';
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        struct rule_match r = {.text = text, .a = rules[i].a, .b = rules[i].b};
        if (regexec(&compiled[i], text, GROUPS, r.at, 0) == 0)
            rules[i].act(m, &r);
    }
    const struct val *frame = val_at(val_get(m->reply, "frames"), 0);
    const struct val *cmps = val_get(frame, "cmp");
    for (size_t i = 0; i < val_len(cmps); i++)
        from_compare(m, val_at(cmps, i));
    if (!val_len(cmps) &&
        (span_is(val_gets(m->reply, "class"), "AssertionError") ||
         span_is(val_gets(m->reply, "class"), "ValueError")))
        from_integers(m, val_get(frame, "vars"));
    if (span_is(val_gets(m->reply, "class"), "KeyError")) {
        from_keys(m);
        from_key(m, message);
    }
    if (span_is(val_gets(m->reply, "class"), "ValueError") ||
        span_is(val_gets(m->reply, "class"), "AssertionError"))
        from_message(m);
    from_names(m);
    if (!m->construct)
        fallback(m);
    moves_sort(m);
    free(text);
}
