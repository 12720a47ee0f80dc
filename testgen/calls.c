/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "testgen/calls.h"
#include "testgen/infer/infer.h"
#include "testgen/propose.h"

#define MAX_DEPTH  8
#define MAX_NODES  200
#define MAX_TEXT   1000 /* of one expression */
#define MAX_STRING 200
#define MAX_NAME   120
#define MAX_RANK   6
#define MAX_SIDE   100000
#define MAX_INT    (1 << 20)

/* What is cheap: integers of the constructor, numbers in the inputs. */
#define CHEAP_INT      1024
#define CHEAP_ELEMENTS 200000
/* More are not drawn: the first size is then one of a small batch. */
#define MOST_ELEMENTS 2000000

struct reader {
    struct arena *a;
    const struct facts *f;
    int left; /* values that may still be read */
    bool large;
};

static struct val *read_value(struct reader *r, const struct val *v, int depth);

/* ---- names ---- */

static bool is_identifier(struct span s)
{
    return s.n <= MAX_NAME && py_is_identifier(s);
}

/* DOTTED as the text of an expression, in A: of torch, or something that the
 * source defines at its top; else NULL. */
static const char *safe_name(struct reader *r, struct span dotted)
{
    struct span rest = dotted, head = {NULL, 0};

    if (dotted.n > MAX_NAME)
        return NULL;
    if (span_is(dotted, "functools.partial"))
        return "__import__('functools').partial";
    while (rest.n > 0) {
        const char *dot = memchr(rest.p, '.', rest.n);
        struct span part = {rest.p, dot ? (size_t)(dot - rest.p) : rest.n};

        if (!is_identifier(part) || part.p[0] == '_')
            return NULL;
        if (!head.p)
            head = part;
        if (dot && part.n + 1 == rest.n)
            return NULL;
        rest.p += part.n + (dot != NULL);
        rest.n -= part.n + (dot != NULL);
    }
    if (span_starts(dotted, "torch.nn.") ||
        (span_starts(dotted, "torch.") &&
         !memchr(dotted.p + 6, '.', dotted.n - 6)))
        return arena_strdup(r->a, dotted);
    if (head.n != dotted.n)
        return NULL;
    /* the source's own Model has another name beside the task's */
    if (span_is(head, "Model"))
        head = SPAN_LIT("Model_");
    return pymod_lookup(r->f->mod, 0, head) ? arena_strdup(r->a, head) : NULL;
}

/* ---- values of the constructor ---- */

static struct val *read_list(struct reader *r, const struct val *l, int depth)
{
    struct val *out = val_list(r->a);

    if (!l || l->type != VAL_LIST)
        return NULL;
    for (size_t i = 0; i < l->list.n; i++) {
        struct val *v = read_value(r, l->list.v[i], depth + 1);

        if (!v)
            return NULL;
        val_push(r->a, out, v);
    }
    return out;
}

static struct val *read_dict(struct reader *r, const struct val *d, int depth)
{
    struct val *out = val_map(r->a);

    if (!d || d->type != VAL_MAP)
        return NULL;
    for (size_t i = 0; i < d->map.n; i++) {
        struct span key = d->map.keys[i];
        struct val *v = read_value(r, d->map.v[i], depth + 1);

        /* "$" and "()" mean something in a state */
        if (!v || key.n > MAX_NAME || key.n == 0 || !is_word_char(key.p[0]))
            return NULL;
        val_set(r->a, out, arena_strdup(r->a, key), v);
    }
    return out;
}

/* {call: NAME, args, kw} as an expression. */
static struct val *read_call(struct reader *r, const struct val *v, int depth)
{
    const struct val *kw = val_get(v, "kw");
    const char *name = safe_name(r, val_gets(v, "call"));
    struct val *args = val_get(v, "args")
                           ? read_list(r, val_get(v, "args"), depth)
                           : val_list(r->a);
    struct val *out = NULL;
    struct buf b = BUF_INIT(MAX_TEXT);
    const char *sep = "";
    int rc;

    if (!name || !args || (kw && kw->type != VAL_MAP))
        return NULL;
    rc = buf_printf(&b, "%s(", name);
    for (size_t i = 0; i < args->list.n && rc == 0; i++, sep = ", ")
        rc = buf_adds(&b, sep) || py_literal(&b, args->list.v[i]);
    for (size_t i = 0; i < val_len(kw) && rc == 0; i++, sep = ", ") {
        struct val *x = read_value(r, kw->map.v[i], depth + 1);

        if (!x || !is_identifier(kw->map.keys[i]))
            rc = -1;
        else
            rc = buf_adds(&b, sep) || buf_addspan(&b, kw->map.keys[i]) ||
                 buf_addc(&b, '=') || py_literal(&b, x);
    }
    if (rc == 0 && buf_addc(&b, ')') == 0)
        out = expr_val(r->a, arena_strdup(r->a, buf_span(&b)));
    buf_release(&b);
    return out;
}

static struct val *read_value(struct reader *r, const struct val *v, int depth)
{
    struct val *x;
    const char *name;

    if (r->left-- <= 0 || depth > MAX_DEPTH)
        return NULL;
    switch (v->type) {
    case VAL_INT:
        r->large |= v->i > CHEAP_INT;
        return v->i > MAX_INT || v->i < -MAX_INT ? NULL : val_int(r->a, v->i);
    case VAL_STR:
        return v->s.n > MAX_STRING ? NULL : val_str(r->a, v->s);
    case VAL_LIST:
        return read_list(r, v, depth);
    case VAL_MAP:
        break;
    default:
        return val_copy(r->a, v);
    }
    if (val_get(v, "call"))
        return read_call(r, v, depth);
    if (val_get(v, "tuple")) {
        x = read_list(r, val_get(v, "tuple"), depth);
        return x ? tuple_val(r->a, x) : NULL;
    }
    if (val_get(v, "dict"))
        return read_dict(r, val_get(v, "dict"), depth);
    name = safe_name(r, val_gets(v, "name"));
    return name ? expr_val(r->a, name) : NULL;
}

static bool is_unknown(const struct val *v)
{
    return v->type == VAL_MAP && val_get(v, "unknown") != NULL;
}

/* ---- inputs ---- */

static const char *one_of(struct span s, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (span_is(s, list[i]))
            return list[i];
    return NULL;
}

/* A size that is not known is 0 until fill. */
static struct val *read_tensor(struct reader *r, struct span name,
                               const struct val *v)
{
    static const char *const dtypes[] = {
        "float32", "float16", "bfloat16", "float64", "int64", "int32", "bool"};
    const char *dtype = one_of(val_gets(v, "dtype"), dtypes, ARRAY_LEN(dtypes));
    const struct val *sizes = val_get(v, "shape");
    int64_t shape[MAX_RANK], lo = val_geti(v, "lo", 0),
                             hi = val_geti(v, "hi", 1);
    size_t rank = val_len(sizes);
    struct val *t;

    if (!dtype || !sizes || sizes->type != VAL_LIST || rank > MAX_RANK)
        return NULL;
    for (size_t i = 0; i < rank; i++) {
        const struct val *x = val_at(sizes, i);

        shape[i] = x->type == VAL_NIL ? 0 : val_as_int(x, -1);
        if (shape[i] < 0 || shape[i] > MAX_SIDE ||
            (shape[i] == 0 && x->type != VAL_NIL))
            return NULL;
    }
    if (strcmp(dtype, "bool") == 0)
        return input_mask(r->a, name, shape, rank);
    if (dtype[0] != 'i') {
        t = input_tensor(r->a, name, shape, rank);
        /* half precision is for other devices */
        if (strcmp(dtype, "float64") == 0)
            val_set(r->a, t, "dtype", val_strz(r->a, dtype));
        return t;
    }
    if (lo < 0 || hi < lo || hi > MAX_INT)
        return NULL;
    t = input_ids(r->a, name, shape, rank, hi);
    val_set(r->a, t, "lo", val_int(r->a, lo));
    val_set(r->a, t, "dtype", val_strz(r->a, dtype));
    return t;
}

static struct val *read_input(struct reader *r, struct span name,
                              const struct val *v, int depth)
{
    struct span kind = val_gets(v, "kind");
    const struct val *x = val_get(v, "value"), *items = val_get(v, "items");
    struct val *l;

    if (r->left-- <= 0 || depth > 2)
        return NULL;
    if (span_is(kind, "tensor"))
        return read_tensor(r, name, v);
    if (span_is(kind, "value") && x && x->type != VAL_MAP &&
        x->type != VAL_LIST) {
        struct val *plain = read_value(r, x, 0);

        return plain ? input_value(r->a, name, plain) : NULL;
    }
    if (!span_is(kind, "list") || !items || items->type != VAL_LIST)
        return NULL;
    l = val_list(r->a);
    for (size_t i = 0; i < items->list.n; i++) {
        struct val *one = read_input(r, name, items->list.v[i], depth + 1);

        if (!one)
            return NULL;
        val_push(r->a, l, one);
    }
    return input_value(r->a, name, l);
}

/* ---- states ---- */

/* The parameter that positional argument I of PS goes to. */
static const struct param *positional(const struct params *ps, size_t i)
{
    for (size_t k = 0; k < ps->n; k++)
        if (ps->v[k].kind == PARAM_POS || ps->v[k].kind == PARAM_POS_ONLY) {
            if (i-- == 0)
                return &ps->v[k];
        }
    return NULL;
}

static const struct param *by_keyword(const struct params *ps, struct span name)
{
    const struct param *p = params_find(ps, name);

    return p && (p->kind == PARAM_POS || p->kind == PARAM_KW) ? p : NULL;
}

/* One argument of the constructor; -1: nothing comes of this call. */
static int give_init(struct reader *r, struct val *state, const struct param *p,
                     const struct val *v, const char *evidence)
{
    struct val *x;

    if (is_unknown(v))
        return 0;
    if (!p || !(x = read_value(r, v, 0)))
        return -1;
    state_set_init(r->a, state, p->name, x, evidence);
    return 0;
}

static void give_input(struct reader *r, struct val *state,
                       const struct param *p, const struct val *v,
                       const char *evidence)
{
    struct val *x = p ? read_input(r, p->name, v, 0) : NULL;

    if (!x)
        return;
    val_set(r->a, x, "ev", val_strz(r->a, evidence));
    state_set_input(r->a, state, p->name, x);
}

static const char *evidence_of(struct arena *a, const struct val *call)
{
    char path[MAX_NAME];

    mask_text(path, sizeof(path), val_gets(call, "path"));
    return arena_printf(a, "call at %s:%" PRId64, path,
                        val_geti(call, "line", 0));
}

/* NULL where CALL says nothing that can be used. */
static struct val *state_of(struct reader *r, const struct val *call)
{
    const struct params *init = &r->f->init, *forward = &r->f->forward;
    const struct val *args = val_get(call, "args"), *kw = val_get(call, "kw");
    const struct val *in = val_get(call, "inputs");
    const struct val *in_args = val_get(in, "args"), *in_kw = val_get(in, "kw");
    const char *evidence = evidence_of(r->a, call);
    struct val *state = state_new(r->a);

    if (val_gets(call, "path").n == 0 || (args && args->type != VAL_LIST) ||
        (kw && kw->type != VAL_MAP) || (in_args && in_args->type != VAL_LIST) ||
        (in_kw && in_kw->type != VAL_MAP))
        return NULL;
    for (size_t i = 0; i < val_len(args); i++)
        if (give_init(r, state, positional(init, i), args->list.v[i], evidence))
            return NULL;
    for (size_t i = 0; i < val_len(kw); i++)
        if (give_init(r, state, by_keyword(init, kw->map.keys[i]), kw->map.v[i],
                      evidence))
            return NULL;
    for (size_t i = 0; i < val_len(in_args); i++)
        give_input(r, state, positional(forward, i), in_args->list.v[i],
                   evidence);
    for (size_t i = 0; i < val_len(in_kw); i++)
        give_input(r, state, by_keyword(forward, in_kw->map.keys[i]),
                   in_kw->map.v[i], evidence);
    return val_len(val_get(state, "init")) + val_len(val_get(state, "in")) > 0
               ? state
               : NULL;
}

/* The sizes of V that are 0, as the constructor's arguments suggest. */
static struct val *filled(struct arena *a, const struct facts *f,
                          const struct val *state, const struct val *v)
{
    int64_t shape[MAX_RANK], like[MAX_RANK + 2] = {0}, n = 1;
    size_t rank = input_shape(v, shape, MAX_RANK);
    bool open = false;

    if (!input_is_tensor(v) || rank == 0)
        return NULL;
    propose_shape(f, state, (int)rank, rank > 3, like);
    for (size_t i = 0; i < rank; i++) {
        open |= shape[i] == 0;
        shape[i] = shape[i] ? shape[i] : MAX(like[i], 1);
        if (__builtin_mul_overflow(n, shape[i], &n))
            n = INT64_MAX / MAX_SIDE / 2;
    }
    if (n > MOST_ELEMENTS && shape[0] > PLAN_BATCH) {
        shape[0] = PLAN_BATCH;
        open = true;
    }
    return open ? input_reshaped(a, v, shape, rank) : NULL;
}

/* Give the inputs of STATE the sizes that nobody knows. */
static void fill(struct arena *a, const struct facts *f, struct val *state)
{
    struct val *in = val_get(state, "in");

    for (size_t i = 0; i < val_len(in); i++) {
        struct val *v = in->map.v[i], *items = val_get(v, "items");
        struct val *x = filled(a, f, state, v);

        if (x)
            in->map.v[i] = x;
        for (size_t k = 0; k < val_len(items); k++)
            if ((x = filled(a, f, state, val_at(items, k))) != NULL)
                items->list.v[k] = x;
    }
}

void calls_states(struct arena *a, const struct facts *f,
                  const struct val *calls, bool cheap, struct val *list)
{
    size_t n = 0;

    if (!calls || calls->type != VAL_LIST)
        return;
    for (size_t i = 0; i < calls->list.n && i < 64 && n < CALLS_MAX; i++) {
        struct reader r = {a, f, MAX_NODES, false};
        struct val *state = state_of(&r, calls->list.v[i]), *sized;

        n += state != NULL;
        if (!state ||
            cheap == (r.large || state_elements(state) > CHEAP_ELEMENTS))
            continue;
        propose_rest(a, f, state);
        fill(a, f, state);
        sized = infer_state(a, f, state);
        if (sized)
            val_push(a, list, sized);
        val_push(a, list, state);
    }
}
