/* SPDX-License-Identifier: MIT */
/* Functions and methods of tensors that keep, join or reduce dimensions;
 * views.c has those that rearrange them. */
#include "base.h"

#include "testgen/infer/views.h"

#include "testgen/ops.h"

struct rule_row {
    const char *names;
    enum tensor_rule rule;
};

static const struct rule_row rules[] = {
#define RULE(names, rule) {names, TR_##rule},
#include "testgen/infer/rules.def"
#undef RULE
};

static bool listed(const char *names, struct span name)
{
    while (*names) {
        size_t n = strcspn(names, "|");
        if (span_eq((struct span){names, n}, name))
            return true;
        names += n + (names[n] == '|');
    }
    return false;
}

/* By Python's name; else what the table of operators says. */
static enum tensor_rule rule_of(struct span name)
{
    static const enum tensor_rule by_shape[] = {
        [OP_SHAPE_SAME] = TR_SAME,     [OP_SHAPE_BROADCAST] = TR_BROADCAST,
        [OP_SHAPE_MATMUL] = TR_MATMUL, [OP_SHAPE_CONV] = TR_UNKNOWN,
        [OP_SHAPE_POOL] = TR_UNKNOWN,  [OP_SHAPE_REDUCE] = TR_REDUCE,
        [OP_SHAPE_INDEX] = TR_UNKNOWN, [OP_SHAPE_JOIN] = TR_UNKNOWN,
        [OP_SHAPE_VIEW] = TR_UNKNOWN,  [OP_SHAPE_SIZES] = TR_UNKNOWN,
        [OP_SHAPE_OWN] = TR_UNKNOWN};
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (listed(rules[i].names, name))
            return rules[i].rule;
    const struct op_row *row = op_find(name);
    return row ? by_shape[row->shape] : TR_NONE;
}

struct tensor *tensor_of(const struct aval *v)
{
    return v && v->kind == AV_TENSOR ? v->t : NULL;
}

int tensor_rank(struct interp *in, struct tensor *x)
{
    int rank = shape_rank(&in->dims, x->s), planned;
    if (rank >= 0)
        return rank;
    /* Nothing said it until here, and now it is needed. */
    planned = shape_planned(x->s);
    return planned && shape_fix(&in->dims, x->s, planned) ? planned : -1;
}

struct aval *tensor_new(struct interp *in, struct shape *s,
                        const struct tensor *like)
{
    return av_tensor(in->a, s, like->dtype, -1);
}

/* The size of two that meet in x + y. */
static const struct dim *meet(struct interp *in, const struct dim *x,
                              const struct dim *y)
{
    int64_t k;
    if (!x || !y)
        return x ? x : y;
    if (dim_known(&in->dims, x, &k) && k == 1)
        return y;
    if (dim_known(&in->dims, y, &k) && k == 1)
        return x;
    dim_equal(&in->dims, x, y);
    return x;
}

struct shape *tensor_broadcast(struct interp *in, struct shape *x,
                               struct shape *y)
{
    int p, q;
    if (x == y)
        return x;
    p = shape_rank(&in->dims, x);
    q = shape_rank(&in->dims, y);
    if (p < 0 && q < 0) {
        /* Of one kind, as far as one can tell. */
        int planned = shape_planned(x);
        if (planned && planned == shape_planned(y) &&
            shape_fix(&in->dims, x, planned) &&
            shape_fix(&in->dims, y, planned))
            return tensor_broadcast(in, x, y);
        return planned ? x : y;
    }
    if (p < 0)
        return q >= 2 && shape_fix(&in->dims, x, q) ? tensor_broadcast(in, x, y)
                                                    : x;
    if (q < 0)
        return p >= 2 && shape_fix(&in->dims, y, p) ? tensor_broadcast(in, x, y)
                                                    : y;
    struct shape *s = shape_fixed(in->a, MAX(p, q));
    for (int i = 1; i <= s->rank; i++)
        s->d[s->rank - i] = i > p   ? y->d[q - i]
                            : i > q ? x->d[p - i]
                                    : meet(in, x->d[p - i], y->d[q - i]);
    return s;
}

bool tensor_channels(struct interp *in, struct tensor *x, int n,
                     const struct dim *c)
{
    int rank = shape_rank(&in->dims, x->s);
    if (rank < 0 && !shape_fix(&in->dims, x->s, n + 2))
        return false;
    rank = shape_rank(&in->dims, x->s);
    if (rank != n + 2 && rank != n + 1)
        return false;
    if (c)
        dim_equal(&in->dims, x->s->d[rank - n - 1], c);
    return true;
}

static const struct dim *each(struct interp *in, const struct aval *v, int at,
                              int64_t dflt)
{
    if (!v || v->kind == AV_NONE)
        return dim_int(&in->dims, dflt);
    if (v->kind == AV_SEQ)
        return v->seq->n == 1           ? whole(v->seq->v[0])
               : (size_t)at < v->seq->n ? whole(v->seq->v[at])
                                        : NULL;
    return whole(v);
}

/* floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1 */
const struct dim *tensor_window(struct interp *in, const struct dim *size,
                                const struct aval *kernel,
                                const struct aval *stride,
                                const struct aval *padding,
                                const struct aval *dilation, int at)
{
    struct dims *s = &in->dims;
    const struct dim *one = dim_int(s, 1), *two = dim_int(s, 2);
    const struct dim *k = each(in, kernel, at, 1);
    const struct dim *d = each(in, dilation, at, 1);
    if (padding && padding->kind == AV_STR)
        return span_is(padding->s, "same")
                   ? size
                   : tensor_window(in, size, kernel, stride, NULL, dilation,
                                   at);
    const struct dim *room =
        dim_sub(s, dim_add(s, size, dim_mul(s, two, each(in, padding, at, 0))),
                dim_add(s, dim_mul(s, d, dim_sub(s, k, one)), one));
    dim_positive(s, dim_add(s, room, one));
    return dim_add(s, dim_floor(s, room, each(in, stride, at, 1)), one);
}

struct aval *tensor_matmul(struct interp *in, struct tensor *x,
                           struct tensor *y)
{
    struct dims *s = &in->dims;
    int p = shape_rank(s, x->s), q = shape_rank(s, y->s);
    if (q < 0 && p >= 2)
        shape_fix(s, y->s, p);
    if (p < 0 && q > 2)
        shape_fix(s, x->s, q);
    p = shape_rank(s, x->s);
    q = shape_rank(s, y->s);
    dim_equal(s, shape_at(s, x->s, -1), shape_at(s, y->s, q == 1 ? -1 : -2));
    if (q < 2)
        return interp_unknown(in);
    if (p < 0 || q == 2)
        return tensor_new(in, shape_last(s, x->s, shape_at(s, y->s, -1)), x);
    struct shape *out = shape_fixed(in->a, MAX(p, q));
    if (p < 2)
        return interp_unknown(in);
    for (int i = 3; i <= out->rank; i++)
        out->d[out->rank - i] = i > p ? y->s->d[q - i]
                                : i > q
                                    ? x->s->d[p - i]
                                    : meet(in, x->s->d[p - i], y->s->d[q - i]);
    out->d[out->rank - 2] = x->s->d[p - 2];
    out->d[out->rank - 1] = y->s->d[q - 1];
    return tensor_new(in, out, x);
}

/* ---- reductions ---- */

/* dims of an argument as a set of bits; -1: all, 0: not known. */
static int64_t axes(struct interp *in, const struct aval *v, int rank)
{
    int64_t bits = 0, k;
    if (!v || v->kind == AV_NONE)
        return -1;
    struct aseq one = {.v = (struct aval *[]){(struct aval *)v}, .n = 1};
    const struct aseq *q = v->kind == AV_SEQ ? v->seq : &one;
    for (size_t i = 0; i < q->n; i++) {
        if (!whole(q->v[i]) || !dim_known(&in->dims, q->v[i]->d, &k))
            return 0;
        k += k < 0 ? rank : 0;
        if (k < 0 || k >= rank)
            return 0;
        bits |= (int64_t)1 << k;
    }
    return bits;
}

static struct shape *reduced(struct interp *in, struct tensor *x,
                             const struct aval *dim, bool keep)
{
    int rank = tensor_rank(in, x);
    int64_t gone = rank < 0 ? 0 : axes(in, dim, rank);
    struct shape *s = shape_fixed(in->a, 0);
    if (gone == 0)
        return NULL;
    for (int i = 0; i < rank; i++)
        if (!(gone >> i & 1))
            s->d[s->rank++] = x->s->d[i];
        else if (keep)
            s->d[s->rank++] = dim_int(&in->dims, 1);
    return s;
}

static struct aval *reduce(struct interp *in, enum tensor_rule rule,
                           struct tensor *x, struct actuals *c)
{
    struct aval *dim = actual(c, 1, "dim");
    struct aval *keep = anames_get(&c->kw, SPAN_LIT("keepdim"));
    struct tensor *other = tensor_of(dim);
    if (!dim)
        dim = anames_get(&c->kw, SPAN_LIT("axis"));
    if (!keep && c->n > 2)
        keep = c->v[2];
    if (rule == TR_EXTREME && other)
        return av_tensor(in->a, tensor_broadcast(in, x->s, other->s), x->dtype,
                         -1);
    struct shape *s = reduced(in, x, dim, keep && interp_truth(in, keep) == 1);
    if (!s)
        return interp_unknown(in);
    if (rule == TR_ARG)
        return av_tensor(in->a, s, AD_INT, -1);
    if (rule == TR_REDUCE || !dim)
        return av_tensor(in->a, s, AD_FLOAT, -1);
    struct aval *pair = av_seq(in->a, true);
    aseq_push(in->a, pair->seq, tensor_new(in, s, x));
    aseq_push(in->a, pair->seq, av_tensor(in->a, s, AD_INT, -1));
    return pair;
}

/* ---- several tensors ---- */

static struct aval *broadcast(struct interp *in, struct actuals *c, bool logic)
{
    enum adtype dtype = logic ? AD_BOOL : AD_INT;
    struct shape *s = NULL;
    for (size_t i = 0; i < c->n; i++) {
        struct tensor *t = tensor_of(c->v[i]);
        if (!t)
            continue;
        s = s ? tensor_broadcast(in, s, t->s) : t->s;
        if (!logic && t->dtype == AD_FLOAT)
            dtype = AD_FLOAT;
    }
    return s ? av_tensor(in->a, s, dtype, -1) : interp_unknown(in);
}

static struct aval *masked(struct interp *in, struct tensor *x,
                           struct actuals *c)
{
    struct tensor *mask = tensor_of(actual(c, 1, "mask"));
    if (mask && mask->input >= 0)
        in->inputs[mask->input].mask = true;
    if (mask && shape_rank(&in->dims, mask->s) >= 0)
        tensor_broadcast(in, x->s, mask->s);
    return tensor_new(in, x->s, x);
}

static struct aval *attention(struct interp *in, struct actuals *c)
{
    struct tensor *q = tensor_of(actual(c, 0, "query"));
    struct tensor *k = tensor_of(actual(c, 1, "key"));
    struct tensor *v = tensor_of(actual(c, 2, "value"));
    if (!q || !k || !v)
        return interp_unknown(in);
    dim_equal(&in->dims, shape_at(&in->dims, q->s, -1),
              shape_at(&in->dims, k->s, -1));
    dim_equal(&in->dims, shape_at(&in->dims, k->s, -2),
              shape_at(&in->dims, v->s, -2));
    return tensor_new(
        in, shape_last(&in->dims, q->s, shape_at(&in->dims, v->s, -1)), q);
}

/* ---- functions that are layers ---- */

static struct aval *linear(struct interp *in, struct tensor *x,
                           struct actuals *c)
{
    struct tensor *w = tensor_of(actual(c, 1, "weight"));
    if (!w || shape_rank(&in->dims, w->s) != 2)
        return interp_unknown(in);
    dim_equal(&in->dims, shape_at(&in->dims, x->s, -1), w->s->d[1]);
    return tensor_new(in, shape_last(&in->dims, x->s, w->s->d[0]), x);
}

static struct aval *convolution(struct interp *in, struct tensor *x,
                                struct actuals *c, int n)
{
    struct tensor *w = tensor_of(actual(c, 1, "weight"));
    const struct dim *groups = actual_dim(in, c, 6, "groups", 1);
    if (!w || shape_rank(&in->dims, w->s) != n + 2 ||
        !tensor_channels(in, x, n, dim_mul(&in->dims, w->s->d[1], groups)))
        return interp_unknown(in);
    int rank = shape_rank(&in->dims, x->s);
    struct shape *s = shape_fixed(in->a, rank);
    memcpy(s->d, x->s->d, sizeof(s->d));
    s->d[rank - n - 1] = w->s->d[0];
    for (int i = 0; i < n; i++)
        s->d[rank - n + i] =
            tensor_window(in, x->s->d[rank - n + i],
                          av_dim(in->a, w->s->d[2 + i]), actual(c, 3, "stride"),
                          actual(c, 4, "padding"), actual(c, 5, "dilation"), i);
    return tensor_new(in, s, x);
}

static struct aval *pooled(struct interp *in, struct tensor *x,
                           struct actuals *c, int n, bool adaptive)
{
    struct aval *size = actual(c, 1, adaptive ? "output_size" : "kernel_size");
    struct aval *stride = actual(c, 2, "stride");
    if (!size || !tensor_channels(in, x, n, NULL))
        return interp_unknown(in);
    int rank = shape_rank(&in->dims, x->s);
    struct shape *s = shape_fixed(in->a, rank);
    memcpy(s->d, x->s->d, sizeof(s->d));
    for (int i = 0; i < n; i++)
        s->d[rank - n + i] =
            adaptive ? each(in, size, i, 1)
                     : tensor_window(in, x->s->d[rank - n + i], size,
                                     stride && stride->kind != AV_NONE ? stride
                                                                       : size,
                                     actual(c, 3, "padding"), NULL, i);
    return tensor_new(in, s, x);
}

static struct aval *embedded(struct interp *in, struct tensor *x,
                             struct actuals *c)
{
    struct tensor *w = tensor_of(actual(c, 1, "weight"));
    if (x->input >= 0) {
        in->inputs[x->input].ids = true;
        if (w)
            in->inputs[x->input].below = shape_at(&in->dims, w->s, 0);
    }
    int rank = tensor_rank(in, x);
    if (rank < 0 || rank >= SHAPE_MAX || !w)
        return interp_unknown(in);
    struct shape *s = shape_fixed(in->a, rank + 1);
    memcpy(s->d, x->s->d, sizeof(s->d));
    s->d[rank] = shape_at(&in->dims, w->s, 1);
    return av_tensor(in->a, s, AD_FLOAT, -1);
}

static struct aval *one_hot(struct interp *in, struct tensor *x,
                            struct actuals *c)
{
    const struct dim *n = actual_dim(in, c, 1, "num_classes", 16);
    if (x->input >= 0) {
        in->inputs[x->input].ids = true;
        in->inputs[x->input].below = n;
    }
    int rank = tensor_rank(in, x);
    if (rank < 0 || rank >= SHAPE_MAX)
        return interp_unknown(in);
    struct shape *s = shape_fixed(in->a, rank + 1);
    memcpy(s->d, x->s->d, sizeof(s->d));
    s->d[rank] = n;
    return av_tensor(in->a, s, AD_INT, -1);
}

/* ---- which ---- */

/* The digit of "conv2d". */
static int digit(struct span name)
{
    return name.n > 1 ? name.p[name.n - 2] - '0' : 0;
}

static struct aval *unknown_tensor(struct interp *in)
{
    return av_tensor(in->a, shape_open(in->a), AD_FLOAT, -1);
}

static struct aval *simple(struct interp *in, enum tensor_rule rule,
                           struct tensor *x, struct actuals *c)
{
    switch (rule) {
    case TR_SAME:
        return av_tensor(in->a, x->s, x->dtype, x->input);
    case TR_FLOAT:
        return av_tensor(in->a, x->s, AD_FLOAT, -1);
    case TR_INT:
        return av_tensor(in->a, x->s, AD_INT, x->input);
    case TR_BOOL:
        return av_tensor(in->a, x->s, AD_BOOL, x->input);
    case TR_BROADCAST:
        return broadcast(in, c, false);
    case TR_LOGIC:
        return broadcast(in, c, true);
    case TR_MASKED:
        return masked(in, x, c);
    case TR_REDUCE:
    case TR_ARG:
    case TR_EXTREME:
        return reduce(in, rule, x, c);
    case TR_FLINEAR:
        return linear(in, x, c);
    case TR_FEMBED:
        return embedded(in, x, c);
    case TR_ONE_HOT:
        return one_hot(in, x, c);
    default:
        return NULL;
    }
}

struct aval *tensor_call(struct interp *in, struct span name, struct actuals *c)
{
    enum tensor_rule rule = rule_of(name);
    struct aval *first = actual(c, 0, "input"), *v;
    struct tensor *x;
    if (rule == TR_NONE)
        return NULL;
    if (!first && c->kw.n)
        first = actual(c, 0, "tensors");
    v = view_make(in, rule, name, c);
    if (v)
        return v;
    x = tensor_of(first);
    if (!x) /* weight_norm(layer) */
        return rule == TR_SAME && first && first->kind == AV_MODULE
                   ? first
                   : unknown_tensor(in);
    if (rule == TR_ATTENTION)
        return attention(in, c);
    if (rule == TR_MATMUL) {
        struct tensor *y = tensor_of(actual(c, 1, "other"));
        if (y && span_is(name, "bmm")) {
            shape_fix(&in->dims, x->s, 3);
            shape_fix(&in->dims, y->s, 3);
        }
        return y ? tensor_matmul(in, x, y) : unknown_tensor(in);
    }
    if (rule == TR_FCONV)
        return convolution(in, x, c, digit(name));
    if (rule == TR_FPOOL || rule == TR_FADAPTIVE)
        return pooled(in, x, c, digit(name), rule == TR_FADAPTIVE);
    v = simple(in, rule, x, c);
    if (!v)
        v = view_call(in, rule, x, c);
    return v ? v : unknown_tensor(in);
}
