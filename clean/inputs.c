/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/inputs.h"

#define MAX_DEPTH 12
#define MAX_RANK  6
#define MAX_SIZE  100000
#define MAX_ITEMS 16

struct maker {
    const char *name;
    const char *dtype, *dist; /* of what it gives by default */
    int skip;                 /* arguments before the sizes */
};

/* Functions of torch that take sizes. */
static const struct maker makers[] = {
    {"randn", "float32", "normal", 0},
    {"rand", "float32", "uniform", 0},
    {"ones", "float32", "uniform", 0},
    {"zeros", "float32", "uniform", 0},
    {"empty", "float32", "normal", 0},
    {"full", "float32", "uniform", 0},
    {"Tensor", "float32", "normal", 0},
    {"FloatTensor", "float32", "normal", 0},
    {"LongTensor", "int64", "int", 0},
    {"randint", "int64", "int", 1},
    {"normal", "float32", "normal", 2},
    {"arange", "int64", "int", 0},
    {"linspace", "float32", "uniform", 0},
};

static const char *const alikes[] = {"randn_like", "rand_like", "ones_like",
                                     "zeros_like", "empty_like"};

struct ask {
    struct statics *s;
    struct sfile *f;
    int depth;
};

static struct val *input(struct ask q, TSNode n);

static void set(struct ask q, struct val *m, const char *key, struct val *v)
{
    val_set(q.s->arena, m, key, v);
}

static struct val *tensor(struct ask q, struct val *shape, const char *dtype,
                          const char *dist)
{
    struct val *t = val_map(q.s->arena);

    set(q, t, "kind", val_strz(q.s->arena, "tensor"));
    set(q, t, "shape", shape);
    set(q, t, "dtype", val_strz(q.s->arena, dtype));
    set(q, t, "dist", val_strz(q.s->arena, dist));
    return t;
}

/* One size into SHAPE; what is not known is nil. */
static bool add_size(struct ask q, struct val *shape, const struct val *v)
{
    bool is_size = v && v->type == VAL_INT && v->i > 0 && v->i <= MAX_SIZE;

    if (val_len(shape) == MAX_RANK || (v && v->type == VAL_INT && !is_size))
        return false;
    val_push(q.s->arena, shape,
             is_size ? val_int(q.s->arena, v->i) : val_nil(q.s->arena));
    return true;
}

/* Sizes from argument AT on, or a sequence there; NULL when the rank is not
 * known. */
static struct val *sizes(struct ask q, const struct val *args, size_t at)
{
    struct val *shape = val_list(q.s->arena);
    const struct val *l = statics_items(val_at(args, at));

    if (!l && at + 1 == val_len(args) && val_get(val_at(args, at), "unknown"))
        return NULL; /* a size or a shape */
    if (l) {
        args = l;
        at = 0;
    }
    if (at >= val_len(args))
        return NULL;
    for (; at < val_len(args); at++) {
        const struct val *v = val_at(args, at);

        if (!add_size(q, shape, val_get(v, "unknown") ? NULL : v))
            return NULL;
    }
    return shape;
}

/* The same of a tuple or list N that is written out, some of it not known. */
static struct val *open_sizes(struct ask q, TSNode n)
{
    struct val *shape = val_list(q.s->arena);

    if (!pynode_is(n, "tuple") && !pynode_is(n, "list"))
        return NULL;
    for (uint32_t i = 0; i < pynode_count(n); i++) {
        TSNode c = pynode_child(n, i);

        if (pynode_is(c, "list_splat") ||
            !add_size(q, shape, statics_value(q.s, q.f, c)))
            return NULL;
    }
    return shape;
}

static const struct val *keyword(const struct val *kw, const char *name)
{
    const struct val *v = val_get(kw, name);

    return v && v->type == VAL_MAP && val_get(v, "unknown") ? NULL : v;
}

/* "torch.int64" and the like as in records, or NULL. */
static const char *dtype_of(struct span name)
{
    static const char *const pairs[][2] = {
        {"float", "float32"},     {"float32", "float32"},
        {"double", "float64"},    {"float64", "float64"},
        {"half", "float16"},      {"float16", "float16"},
        {"bfloat16", "bfloat16"}, {"long", "int64"},
        {"int64", "int64"},       {"int", "int32"},
        {"int32", "int32"},       {"bool", "bool"},
        {"uint8", "int64"},
    };

    if (span_starts(name, "torch."))
        name = (struct span){name.p + 6, name.n - 6};
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (span_is(name, pairs[i][0]))
            return pairs[i][1];
    return NULL;
}

static void set_dtype(struct ask q, struct val *t, struct span name)
{
    const char *dtype = dtype_of(name);
    bool whole =
        dtype && (strcmp(dtype, "int64") == 0 || strcmp(dtype, "int32") == 0);

    if (!dtype)
        return;
    set(q, t, "dtype", val_strz(q.s->arena, dtype));
    if (strcmp(dtype, "bool") == 0)
        set(q, t, "dist", val_strz(q.s->arena, "bool"));
    else if (whole && !val_get(t, "hi")) {
        set(q, t, "dist", val_strz(q.s->arena, "int"));
        set(q, t, "lo", val_int(q.s->arena, 0));
        set(q, t, "hi", val_int(q.s->arena, 1));
    } else if (!whole && span_is(val_gets(t, "dist"), "int")) {
        set(q, t, "dist", val_strz(q.s->arena, "uniform"));
    }
}

static void set_range(struct ask q, struct val *t, int64_t lo, int64_t hi)
{
    set(q, t, "lo", val_int(q.s->arena, lo));
    set(q, t, "hi", val_int(q.s->arena, MAX(hi, lo)));
}

/* randint([low,] high, size) */
static struct val *random_ints(struct ask q, const struct val *args,
                               const struct val *kw)
{
    const struct val *size = keyword(kw, "size"), *high = keyword(kw, "high");
    const struct val *low = keyword(kw, "low");
    size_t n = val_len(args);
    struct val *one = val_list(q.s->arena), *shape, *t;

    if (!size && n > 0 && statics_items(val_at(args, n - 1)))
        size = val_at(args, --n);
    if (!size)
        return NULL;
    if (n == 1 && !high)
        high = val_at(args, 0);
    else if (n >= 1)
        low = val_at(args, 0);
    if (n == 2)
        high = val_at(args, 1);
    val_push(q.s->arena, one, val_copy(q.s->arena, size));
    shape = sizes(q, one, 0);
    if (!shape)
        return NULL;
    t = tensor(q, shape, "int64", "int");
    set_range(q, t, val_as_int(low, 0), val_as_int(high, 2) - 1);
    return t;
}

static struct val *arange(struct ask q, const struct val *args)
{
    int64_t lo = 0, hi = val_as_int(val_at(args, 0), 0);
    struct val *shape = val_list(q.s->arena), *t;

    if (val_len(args) > 1) {
        lo = hi;
        hi = val_as_int(val_at(args, 1), 0);
    }
    if (val_len(args) == 0 || val_len(args) > 2 || hi <= lo ||
        hi - lo > MAX_SIZE || lo < 0)
        return NULL;
    val_push(q.s->arena, shape, val_int(q.s->arena, hi - lo));
    t = tensor(q, shape, "int64", "int");
    set_range(q, t, lo, hi - 1);
    return t;
}

/* Shape of a nested list of numbers, and their range. */
static bool measure(struct ask q, const struct val *v, struct val *shape,
                    double *lo, double *hi, bool *whole)
{
    const struct val *l = statics_items(v);

    if (!l) {
        double x = val_as_float(v, 0);

        if (!v || (v->type != VAL_INT && v->type != VAL_FLOAT))
            return false;
        *whole &= v->type == VAL_INT;
        *lo = MIN(*lo, x);
        *hi = MAX(*hi, x);
        return true;
    }
    if (val_len(l) == 0 ||
        !add_size(q, shape, val_int(q.s->arena, (int64_t)val_len(l))))
        return false;
    for (size_t i = 0; i < val_len(l); i++) {
        struct val *in = i ? val_list(q.s->arena) : shape;

        if (q.s->steps-- <= 0 || !measure(q, val_at(l, i), in, lo, hi, whole))
            return false;
    }
    return true;
}

/* torch.tensor([[1, 2]]) */
static struct val *from_data(struct ask q, const struct val *data)
{
    double lo = 1e15, hi = -1e15;
    bool whole = true;
    struct val *shape = val_list(q.s->arena), *t;

    if (!measure(q, data, shape, &lo, &hi, &whole))
        return NULL;
    t = tensor(q, shape, whole ? "int64" : "float32", whole ? "int" : "normal");
    if (whole && lo >= 0)
        set_range(q, t, (int64_t)lo, (int64_t)hi);
    return t;
}

static struct val *alike(struct ask q, TSNode args, struct span name)
{
    struct val *t = input(q, pynode_child(args, 0));

    if (!t || !span_is(val_gets(t, "kind"), "tensor"))
        return NULL;
    t = val_copy(q.s->arena, t);
    if (span_is(name, "rand_like"))
        set(q, t, "dist", val_strz(q.s->arena, "uniform"));
    return t;
}

/* torch.NAME(...) */
static struct val *made(struct ask q, struct span name, TSNode n)
{
    TSNode list = pynode_field(n, "arguments");
    struct val *args = val_list(q.s->arena), *kw = val_map(q.s->arena);
    struct val *t = NULL, *shape;
    const struct val *dtype;

    if (span_in(name, alikes, ARRAY_LEN(alikes)))
        return alike(q, list, name);
    if (statics_arguments(q.s, q.f, list, args, kw))
        return NULL;
    if (span_is(name, "tensor") ||
        (span_is(name, "LongTensor") && statics_items(val_at(args, 0))) ||
        (span_is(name, "FloatTensor") && statics_items(val_at(args, 0)))) {
        t = from_data(q, val_at(args, 0));
    } else if (span_is(name, "randint")) {
        t = random_ints(q, args, kw);
    } else if (span_is(name, "arange")) {
        t = arange(q, args);
    } else {
        for (size_t i = 0; i < ARRAY_LEN(makers); i++) {
            if (!span_is(name, makers[i].name))
                continue;
            if (span_is(name, "full") || span_is(name, "linspace"))
                args->list.n = MIN(args->list.n, 1);
            if (span_is(name, "linspace"))
                return NULL;
            shape = sizes(q, args, (size_t)makers[i].skip);
            if (!shape && keyword(kw, "size")) {
                struct val *one = val_list(q.s->arena);

                val_push(q.s->arena, one,
                         val_copy(q.s->arena, keyword(kw, "size")));
                shape = sizes(q, one, 0);
            }
            if (!shape)
                shape =
                    open_sizes(q, pynode_child(list, (uint32_t)makers[i].skip));
            if (shape)
                t = tensor(q, shape, makers[i].dtype, makers[i].dist);
        }
    }
    dtype = keyword(kw, "dtype");
    if (t && dtype)
        set_dtype(q, t, val_gets(dtype, "name"));
    return t;
}

/* X.NAME(...), X being a tensor: methods that keep or say the shape. */
static struct val *method(struct ask q, TSNode object, struct span name,
                          TSNode n)
{
    static const char *const keep[] = {
        "cuda",   "to",    "cpu",   "requires_grad_", "contiguous", "clone",
        "detach", "type",  "fill_", "normal_",        "uniform_",   "random_",
        "zero_",  "clamp", "abs",   "softmax",        "sigmoid"};
    static const char *const shaped[] = {"reshape", "view", "expand"};
    struct val *t = input(q, object), *shape;
    struct val *args = val_list(q.s->arena), *kw = val_map(q.s->arena);

    if (!t || !span_is(val_gets(t, "kind"), "tensor"))
        return NULL;
    t = val_copy(q.s->arena, t);
    if (statics_arguments(q.s, q.f, pynode_field(n, "arguments"), args, kw))
        return NULL;
    if (dtype_of(name)) {
        set_dtype(q, t, name);
        return t;
    }
    if (span_in(name, keep, ARRAY_LEN(keep))) {
        const struct val *to = val_at(args, 0);

        if (!val_gets(to, "name").p)
            to = keyword(kw, "dtype");
        set_dtype(q, t, val_gets(to, "name"));
        return t;
    }
    if (span_in(name, shaped, ARRAY_LEN(shaped))) {
        shape = sizes(q, args, 0);
        if (!shape)
            return NULL;
        set(q, t, "shape", shape);
        return t;
    }
    if (span_is(name, "unsqueeze") && val_len(args) == 1) {
        const struct val *old = val_get(t, "shape");
        int64_t at = val_as_int(val_at(args, 0), -100);
        int64_t rank = (int64_t)val_len(old);

        if (at < 0)
            at += rank + 1;
        if (at < 0 || at > rank || rank == MAX_RANK)
            return NULL;
        shape = val_list(q.s->arena);
        for (int64_t i = 0; i <= rank; i++)
            val_push(q.s->arena, shape,
                     i == at ? val_int(q.s->arena, 1)
                             : val_at(old, (size_t)(i < at ? i : i - 1)));
        set(q, t, "shape", shape);
        return t;
    }
    return NULL;
}

static struct val *call(struct ask q, TSNode n)
{
    TSNode function = pynode_field(n, "function");
    struct span text = q.f->m->text, dotted = pynode_dotted(text, function);
    TSNode list = pynode_field(n, "arguments");

    if (dotted.n > 0) {
        struct pyref ref = pyrepo_resolve(q.s->names, q.f->m,
                                          ts_node_start_byte(function), dotted);
        const char *dot;

        if (ref.kind == PYREF_EXTERNAL && span_starts(ref.dotted, "torch.")) {
            dot = memrchr(ref.dotted.p, '.', ref.dotted.n);
            if (span_ends(ref.dotted, ".Variable"))
                return input(q, pynode_child(list, 0));
            if (dot == ref.dotted.p + 5)
                return made(q, (struct span){dot + 1, ref.dotted.n - 6}, n);
            return NULL;
        }
    }
    if (pynode_is(function, "attribute"))
        return method(q, pynode_field(function, "object"),
                      pynode_text(text, pynode_field(function, "attribute")),
                      n);
    return NULL;
}

static struct val *sequence(struct ask q, TSNode n)
{
    struct val *l = val_list(q.s->arena), *m = val_map(q.s->arena);
    bool tensors = false;

    for (uint32_t i = 0; i < pynode_count(n); i++) {
        struct val *v = input(q, pynode_child(n, i));

        if (!v || i == MAX_ITEMS)
            return NULL;
        tensors |= !span_is(val_gets(v, "kind"), "value");
        val_push(q.s->arena, l, v);
    }
    if (!tensors)
        return NULL;
    set(q, m, "kind", val_strz(q.s->arena, "list"));
    set(q, m, "items", l);
    return m;
}

/* The larger side of an operation; of a comparison bools. */
static struct val *operation(struct ask q, TSNode n)
{
    struct val *x = input(q, pynode_child(n, 0));
    struct val *y = input(q, pynode_child(n, 1));

    if (!x ||
        (y && val_len(val_get(y, "shape")) > val_len(val_get(x, "shape"))))
        x = y;
    if (!x || !span_is(val_gets(x, "kind"), "tensor"))
        return NULL;
    x = val_copy(q.s->arena, x);
    if (pynode_is(n, "comparison_operator"))
        set_dtype(q, x, SPAN_LIT("bool"));
    return x;
}

static struct val *input(struct ask q, TSNode n)
{
    struct val *v = NULL;
    struct val *m;

    if (ts_node_is_null(n) || q.s->steps-- <= 0 || ++q.depth > MAX_DEPTH)
        return NULL;
    if (pynode_is(n, "parenthesized_expression"))
        return input(q, pynode_child(n, 0));
    if (pynode_is(n, "call"))
        v = call(q, n);
    else if (pynode_is(n, "list") || pynode_is(n, "tuple"))
        v = sequence(q, n);
    else if (pynode_is(n, "comparison_operator") ||
             pynode_is(n, "binary_operator"))
        v = operation(q, n);
    else if (pynode_is(n, "identifier")) {
        TSNode bound = statics_bound(q.s, q.f, ts_node_start_byte(n),
                                     pynode_text(q.f->m->text, n));
        if (!ts_node_is_null(bound)) {
            v = input(q, bound);
            statics_leave(q.s);
        }
    }
    if (v)
        return v;
    v = statics_value(q.s, q.f, n);
    if (!v)
        return NULL;
    m = val_map(q.s->arena);
    set(q, m, "kind", val_strz(q.s->arena, "value"));
    set(q, m, "value", v);
    return m;
}

struct val *inputs_value(struct statics *s, struct sfile *f, TSNode n)
{
    struct ask q = {s, f, 0};

    return input(q, n);
}
