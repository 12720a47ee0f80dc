/* SPDX-License-Identifier: MIT */
/* Functions and methods that rearrange, cut, join and make dimensions. */
#include "base.h"

#include "testgen/infer/views.h"

#define MAX_PARTS 64

/* Number AT of a call (or NAME), as an index into RANK dimensions; -1. */
static int axis(struct interp *in, const struct actuals *c, size_t at,
                const char *name, int rank, int dflt)
{
    int64_t k = dflt;
    struct aval *v = actual(c, at, name);
    if (v && (!whole(v) || !dim_known(&in->dims, v->d, &k)))
        return -1;
    k += k < 0 ? rank : 0;
    return k >= 0 && k < rank ? (int)k : -1;
}

/* Numbers from argument AT on: a list, or the arguments themselves. */
static struct aseq numbers(struct interp *in, const struct actuals *c,
                           size_t at)
{
    struct aseq none = {0};
    if (at >= c->n)
        return none;
    if (c->v[at]->kind != AV_INT) {
        struct aseq *q = interp_items(in, c->v[at]);
        return q ? *q : none;
    }
    return (struct aseq){.v = c->v + at, .n = c->n - at};
}

static const struct dim *product(struct interp *in, struct shape *s, int from,
                                 int to)
{
    const struct dim *d = dim_int(&in->dims, 1);
    for (int i = from; i < to; i++)
        d = dim_mul(&in->dims, d, s->d[i]);
    return d;
}

/* ---- sizes given ---- */

static struct aval *view(struct interp *in, struct tensor *x, struct actuals *c)
{
    struct aseq q = numbers(in, c, 1);
    struct shape *s = shape_fixed(in->a, (int)q.n);
    const struct dim *given = dim_int(&in->dims, 1);
    int open = -1, rank;
    int64_t k;
    if (q.n == 0 || q.n > SHAPE_MAX)
        return NULL;
    rank = tensor_rank(in, x);
    for (size_t i = 0; i < q.n; i++) {
        s->d[i] = whole(q.v[i]);
        if (s->d[i] && dim_known(&in->dims, s->d[i], &k) && k == -1) {
            open = (int)i;
            s->d[i] = NULL;
        } else {
            given = dim_mul(&in->dims, given, s->d[i]);
        }
    }
    if (rank < 0)
        return tensor_new(in, s, x);
    /* Sizes that stay where they are need not be found again. */
    const struct dim *all = product(in, x->s, 0, rank);
    if (open < 0) {
        int front = 0, p = rank, n = (int)q.n;
        while (front < MIN(p, n) &&
               dim_same(&in->dims, s->d[front], x->s->d[front]))
            front++;
        while (p > front && n > front &&
               dim_same(&in->dims, s->d[n - 1], x->s->d[p - 1])) {
            p--;
            n--;
        }
        dim_equal(&in->dims, product(in, x->s, front, p),
                  product(in, s, front, n));
    } else if (open == 0 && q.n == 2 && rank > 2 && x->s->d[0] &&
               !dim_same(&in->dims, given, x->s->d[rank - 1])) {
        /* view(-1, features): what is open is meant to be the batch */
        s->d[0] = x->s->d[0];
        dim_equal(&in->dims, product(in, x->s, 1, rank), given);
    } else {
        s->d[open] = dim_floor(&in->dims, all, given);
        dim_divides(&in->dims, all, given);
    }
    return av_tensor(in->a, s, x->dtype, x->input);
}

static struct aval *expand(struct interp *in, struct tensor *x,
                           struct actuals *c)
{
    struct aseq q = numbers(in, c, 1);
    int rank = shape_rank(&in->dims, x->s), n = (int)q.n;
    struct shape *s = shape_fixed(in->a, n);
    int64_t k;
    if (n == 0 || n > SHAPE_MAX)
        return NULL;
    for (int i = 0; i < n; i++) {
        const struct dim *d = whole(q.v[i]);
        int at = i - (n - rank);
        bool keep = d && dim_known(&in->dims, d, &k) && k == -1;
        s->d[i] = keep && rank >= 0 && at >= 0 ? x->s->d[at] : keep ? NULL : d;
    }
    return tensor_new(in, s, x);
}

static struct aval *repeat(struct interp *in, struct tensor *x,
                           struct actuals *c)
{
    struct aseq q = numbers(in, c, 1);
    int rank = tensor_rank(in, x), n = (int)q.n;
    struct shape *s = shape_fixed(in->a, n);
    if (rank < 0 || n < rank || n > SHAPE_MAX)
        return NULL;
    for (int i = 0; i < n; i++) {
        const struct dim *d = whole(q.v[i]);
        int at = i - (n - rank);
        s->d[i] = at >= 0 ? dim_mul(&in->dims, d, x->s->d[at]) : d;
    }
    return tensor_new(in, s, x);
}

/* ---- order ---- */

static struct aval *permute(struct interp *in, struct tensor *x,
                            struct actuals *c)
{
    struct aseq q = numbers(in, c, 1);
    struct shape *s = shape_fixed(in->a, (int)q.n);
    int64_t k;
    if (q.n > SHAPE_MAX || !shape_fix(&in->dims, x->s, (int)q.n))
        return NULL;
    for (size_t i = 0; i < q.n; i++) {
        if (!whole(q.v[i]) || !dim_known(&in->dims, q.v[i]->d, &k))
            return NULL;
        k += k < 0 ? (int64_t)q.n : 0;
        if (k < 0 || k >= (int64_t)q.n)
            return NULL;
        s->d[i] = x->s->d[k];
    }
    return av_tensor(in->a, s, x->dtype, x->input);
}

static struct aval *transpose(struct interp *in, struct tensor *x,
                              struct actuals *c, bool last)
{
    int rank = tensor_rank(in, x);
    int p = last ? rank - 2 : axis(in, c, 1, "dim0", rank, 0);
    int q = last ? rank - 1 : axis(in, c, 2, "dim1", rank, 0);
    if (p < 0 || q < 0)
        return NULL;
    struct shape *s = shape_fixed(in->a, rank);
    memcpy(s->d, x->s->d, sizeof(s->d));
    s->d[p] = x->s->d[q];
    s->d[q] = x->s->d[p];
    return av_tensor(in->a, s, x->dtype, x->input);
}

/* ---- joining and cutting neighbours ---- */

static struct aval *flatten(struct interp *in, struct tensor *x,
                            struct actuals *c, int from)
{
    int rank = tensor_rank(in, x);
    int p = axis(in, c, 1, "start_dim", rank, from);
    int q = axis(in, c, 2, "end_dim", rank, -1);
    if (p < 0 || q < p)
        return NULL;
    struct shape *s = shape_fixed(in->a, rank - (q - p));
    for (int i = 0; i < s->rank; i++)
        s->d[i] = i == p ? product(in, x->s, p, q + 1)
                         : x->s->d[i < p ? i : i + (q - p)];
    return av_tensor(in->a, s, x->dtype, x->input);
}

static struct aval *unflatten(struct interp *in, struct tensor *x,
                              struct actuals *c)
{
    int rank = tensor_rank(in, x), p = axis(in, c, 1, "dim", rank, 0);
    struct aval *sizes = actual(c, 2, "sizes");
    int n = sizes && sizes->kind == AV_SEQ ? (int)sizes->seq->n : 0;
    int open = -1;
    int64_t k;
    const struct dim *given = dim_int(&in->dims, 1);
    if (p < 0 || n == 0 || rank - 1 + n > SHAPE_MAX)
        return NULL;
    struct shape *s = shape_fixed(in->a, rank - 1 + n);
    for (int i = 0; i < s->rank; i++) {
        if (i < p || i >= p + n) {
            s->d[i] = x->s->d[i < p ? i : i - n + 1];
            continue;
        }
        s->d[i] = whole(sizes->seq->v[i - p]);
        if (dim_known(&in->dims, s->d[i], &k) && k == -1)
            open = i;
        else
            given = dim_mul(&in->dims, given, s->d[i]);
    }
    if (open >= 0) {
        s->d[open] = dim_floor(&in->dims, x->s->d[p], given);
        dim_divides(&in->dims, x->s->d[p], given);
    } else {
        dim_equal(&in->dims, x->s->d[p], given);
    }
    return tensor_new(in, s, x);
}

static struct aval *unsqueeze(struct interp *in, struct tensor *x,
                              struct actuals *c)
{
    int rank = tensor_rank(in, x);
    int p = rank < 0 ? -1 : axis(in, c, 1, "dim", rank + 1, 0);
    if (p < 0 || rank + 1 > SHAPE_MAX)
        return NULL;
    struct shape *s = shape_fixed(in->a, rank + 1);
    for (int i = 0; i <= rank; i++)
        s->d[i] = i == p ? dim_int(&in->dims, 1) : x->s->d[i < p ? i : i - 1];
    return av_tensor(in->a, s, x->dtype, x->input);
}

static struct aval *squeeze(struct interp *in, struct tensor *x,
                            struct actuals *c)
{
    int rank = tensor_rank(in, x);
    int only = c->n > 1 || c->kw.n ? axis(in, c, 1, "dim", rank, 0) : -1;
    struct shape *s = shape_fixed(in->a, 0);
    int64_t k;
    if (rank < 0)
        return NULL;
    for (int i = 0; i < rank; i++) {
        bool one = dim_known(&in->dims, x->s->d[i], &k) && k == 1;
        if (!one || (only >= 0 && i != only))
            s->d[s->rank++] = x->s->d[i];
    }
    return av_tensor(in->a, s, x->dtype, x->input);
}

/* X with SIZE at P. */
static struct shape *resized(struct interp *in, struct shape *x, int p,
                             const struct dim *size)
{
    struct shape *s = shape_fixed(in->a, x->rank);
    memcpy(s->d, x->d, sizeof(s->d));
    s->d[p] = size;
    return s;
}

static struct aval *chunk(struct interp *in, struct tensor *x,
                          struct actuals *c)
{
    const struct dim *n = actual_dim(in, c, 1, "chunks", 2);
    struct aval *at = actual(c, 2, "dim"), *out = av_seq(in->a, true);
    int64_t k, d = 0;
    if (!n || !dim_known(&in->dims, n, &k) || k < 1 || k > MAX_PARTS)
        return NULL;
    if (at && (!whole(at) || !dim_known(&in->dims, at->d, &d)))
        return NULL;
    const struct dim *size = shape_at(&in->dims, x->s, (int)d);
    const struct dim *part = dim_floor(&in->dims, size, n);
    dim_divides(&in->dims, size, n);
    int rank = d == -1 ? shape_rank(&in->dims, x->s) : tensor_rank(in, x);
    int p = (int)d + (d < 0 && rank >= 0 ? rank : 0);
    if (rank >= 0 && (p < 0 || p >= rank))
        return NULL;
    for (int64_t i = 0; i < k; i++)
        aseq_push(in->a, out->seq,
                  tensor_new(in,
                             rank < 0 ? shape_last(&in->dims, x->s, part)
                                      : resized(in, x->s, p, part),
                             x));
    return out;
}

static struct aval *split(struct interp *in, struct tensor *x,
                          struct actuals *c)
{
    struct aval *sizes = actual(c, 1, NULL), *out = av_seq(in->a, true);
    struct aval *at = actual(c, 2, "dim");
    const struct dim *sum = dim_int(&in->dims, 0);
    int64_t d = 0;
    if (!sizes)
        sizes = actual(c, 1, "split_size_or_sections");
    if (at && (!whole(at) || !dim_known(&in->dims, at->d, &d)))
        return NULL;
    int rank = d == -1 ? shape_rank(&in->dims, x->s) : tensor_rank(in, x);
    int p = (int)d + (d < 0 && rank >= 0 ? rank : 0);
    if (!sizes || (rank >= 0 && (p < 0 || p >= rank)))
        return NULL;
    const struct dim *size = shape_at(&in->dims, x->s, (int)d);
    if (sizes->kind == AV_INT) { /* as many as planned */
        int64_t each = dim_value(&in->dims, sizes->d);
        int64_t all = dim_value(&in->dims, size);
        int64_t n = each > 0 ? (all + each - 1) / each : 0;
        if (n < 1 || n > MAX_PARTS)
            return NULL;
        for (int64_t i = 0; i < n; i++)
            aseq_push(in->a, out->seq,
                      tensor_new(in,
                                 rank < 0
                                     ? shape_last(&in->dims, x->s, sizes->d)
                                     : resized(in, x->s, p, sizes->d),
                                 x));
        return out;
    }
    struct aseq *q = interp_items(in, sizes);
    for (size_t i = 0; q && i < q->n && i < MAX_PARTS; i++) {
        const struct dim *one = whole(q->v[i]);
        sum = dim_add(&in->dims, sum, one);
        aseq_push(in->a, out->seq,
                  tensor_new(in,
                             rank < 0 ? shape_last(&in->dims, x->s, one)
                                      : resized(in, x->s, p, one),
                             x));
    }
    dim_equal(&in->dims, size, sum);
    return q ? out : NULL;
}

static struct aval *unbind(struct interp *in, struct tensor *x,
                           struct actuals *c)
{
    int rank = tensor_rank(in, x), p = axis(in, c, 1, "dim", rank, 0);
    struct aval *out = av_seq(in->a, true);
    int64_t n;
    if (p < 0 || !x->s->d[p])
        return NULL;
    n = dim_value(&in->dims, x->s->d[p]);
    if (n < 1 || n > MAX_PARTS)
        return NULL;
    struct shape *s = shape_fixed(in->a, rank - 1);
    for (int i = 0; i < rank - 1; i++)
        s->d[i] = x->s->d[i < p ? i : i + 1];
    for (int64_t i = 0; i < n; i++)
        aseq_push(in->a, out->seq, tensor_new(in, s, x));
    return out;
}

/* ---- several ---- */

static struct aval *cat(struct interp *in, struct actuals *c, bool stack)
{
    struct aval *list = actual(c, 0, "tensors");
    struct aseq *q = list ? interp_items(in, list) : NULL;
    struct tensor *x = NULL;
    int rank = -1;
    if (!q || q->n == 0)
        return NULL;
    for (size_t i = 0; i < q->n; i++) {
        struct tensor *t = tensor_of(q->v[i]);
        if (!t)
            return NULL;
        if (!x || rank < 0) {
            x = t;
            rank = shape_rank(&in->dims, t->s);
        }
    }
    if (rank < 0)
        rank = tensor_rank(in, x);
    int p = rank < 0
                ? -1
                : axis(in, c, 1,
                       anames_get(&c->kw, SPAN_LIT("axis")) ? "axis" : "dim",
                       rank + stack, 0);
    if (p < 0 || rank + stack > SHAPE_MAX)
        return NULL;
    struct shape *s = shape_fixed(in->a, rank + stack);
    const struct dim *sum = dim_int(&in->dims, 0);
    for (int i = 0; i < s->rank; i++)
        s->d[i] = stack && i == p ? dim_int(&in->dims, (int64_t)q->n)
                                  : x->s->d[stack && i > p ? i - 1 : i];
    for (size_t i = 0; i < q->n; i++) {
        struct tensor *t = tensor_of(q->v[i]);
        if (!shape_fix(&in->dims, t->s, rank))
            return NULL;
        for (int k = 0; k < rank; k++)
            if (stack || k != p)
                dim_equal(&in->dims, x->s->d[k], t->s->d[k]);
        if (!stack)
            sum = dim_add(&in->dims, sum, t->s->d[p]);
    }
    if (!stack)
        s->d[p] = sum;
    return tensor_new(in, s, x);
}

/* ---- sizes of space ---- */

static struct aval *pad(struct interp *in, struct tensor *x, struct actuals *c)
{
    struct aval *p = actual(c, 1, "pad");
    struct aseq *q = p ? interp_items(in, p) : NULL;
    int rank = tensor_rank(in, x);
    if (!q || rank < 0 || (int)q->n / 2 > rank)
        return NULL;
    struct shape *s = shape_fixed(in->a, rank);
    memcpy(s->d, x->s->d, sizeof(s->d));
    for (size_t i = 0; i + 1 < q->n; i += 2) {
        int at = rank - 1 - (int)i / 2;
        s->d[at] =
            dim_add(&in->dims, s->d[at],
                    dim_add(&in->dims, whole(q->v[i]), whole(q->v[i + 1])));
    }
    return tensor_new(in, s, x);
}

static struct aval *interpolate(struct interp *in, struct tensor *x,
                                struct actuals *c)
{
    struct aval *size = actual(c, 1, "size");
    struct aval *by = actual(c, 2, "scale_factor");
    int rank = tensor_rank(in, x);
    if (rank < 3)
        return NULL;
    struct shape *s = shape_fixed(in->a, rank);
    memcpy(s->d, x->s->d, sizeof(s->d));
    if (size && size->kind == AV_METHOD)
        size = av_seq(in->a, true);
    for (int i = 2; i < rank; i++) {
        struct aval *one = size && size->kind != AV_NONE ? size : by;
        if (one && one->kind == AV_SEQ)
            one = (size_t)(i - 2) < one->seq->n ? one->seq->v[i - 2] : NULL;
        if (!one)
            s->d[i] = NULL;
        else if (size && size->kind != AV_NONE)
            s->d[i] = whole(one);
        else {
            struct aval *v =
                interp_binary(in, SPAN_LIT("*"), av_dim(in->a, s->d[i]), one);
            s->d[i] = v->kind == AV_INT || v->kind == AV_FLOAT ? v->d : NULL;
        }
    }
    return tensor_new(in, s, x);
}

/* (B, C r^2, H, W) to (B, C, H r, W r), and back */
static struct aval *shuffle(struct interp *in, struct tensor *x,
                            struct actuals *c, bool back)
{
    struct dims *d = &in->dims;
    const struct dim *r =
        actual_dim(in, c, 1, back ? "downscale_factor" : "upscale_factor", 2);
    const struct dim *rr = dim_mul(d, r, r);
    if (!tensor_channels(in, x, 2, NULL))
        return NULL;
    int rank = shape_rank(d, x->s);
    struct shape *s = shape_fixed(in->a, rank);
    memcpy(s->d, x->s->d, sizeof(s->d));
    const struct dim **ch = &s->d[rank - 3];
    if (!back)
        dim_divides(d, *ch, rr);
    *ch = back ? dim_mul(d, *ch, rr) : dim_floor(d, *ch, rr);
    for (int i = rank - 2; i < rank; i++) {
        if (back)
            dim_divides(d, s->d[i], r);
        s->d[i] = back ? dim_floor(d, s->d[i], r) : dim_mul(d, s->d[i], r);
    }
    return tensor_new(in, s, x);
}

/* ---- items ---- */

/* What a slice leaves of SIZE. */
static const struct dim *sliced(struct interp *in, const struct dim *size,
                                const struct aval *cut)
{
    struct dims *s = &in->dims;
    const struct dim *from = dim_int(s, 0), *to = size;
    int64_t k;
    for (int i = 0; i < 2; i++) {
        const struct aval *v = cut->slice[i];
        if (!v || v->kind == AV_NONE)
            continue;
        const struct dim *d = whole(v);
        if (!d)
            return NULL;
        if (dim_value(s, d) < 0)
            d = dim_add(s, size, d);
        else if (i == 1 && dim_known(s, d, &k) && dim_known(s, size, &k) &&
                 dim_value(s, d) > dim_value(s, size))
            d = size;
        *(i ? &to : &from) = d;
    }
    const struct dim *n = dim_sub(s, to, from);
    if (cut->slice[2] && cut->slice[2]->kind != AV_NONE) {
        const struct dim *step = whole(cut->slice[2]);
        n = dim_floor(s, dim_sub(s, dim_add(s, n, step), dim_int(s, 1)), step);
    }
    return n;
}

/* Dimensions that one index takes. */
static int taken(const struct aval *v)
{
    return v->kind != AV_NONE && v->kind != AV_ELLIPSIS;
}

struct aval *tensor_item(struct interp *in, struct tensor *x, struct aval **at,
                         size_t n)
{
    int need = 0, rank, d = 0, dots;
    struct shape *s = shape_fixed(in->a, 0);
    for (size_t i = 0; i < n; i++)
        need += taken(at[i]);
    rank = shape_rank(&in->dims, x->s);
    if (rank < 0 && n == 1 && at[0]->kind == AV_INT)
        return av_tensor(in->a, shape_open(in->a), x->dtype, -1);
    rank = tensor_rank(in, x);
    dots = rank - need;
    if (rank < 0 || dots < 0)
        return interp_unknown(in);
    for (size_t i = 0; i < n && s->rank < SHAPE_MAX; i++) {
        if (at[i]->kind == AV_NONE) {
            s->d[s->rank++] = dim_int(&in->dims, 1);
        } else if (at[i]->kind == AV_ELLIPSIS) {
            for (; dots > 0 && s->rank < SHAPE_MAX; dots--)
                s->d[s->rank++] = x->s->d[d++];
        } else if (at[i]->kind == AV_SLICE) {
            s->d[s->rank++] = sliced(in, x->s->d[d], at[i]);
            d++;
        } else if (at[i]->kind == AV_INT) {
            d++;
        } else {
            return av_tensor(in->a, shape_open(in->a), x->dtype, -1);
        }
    }
    while (d < rank && s->rank < SHAPE_MAX)
        s->d[s->rank++] = x->s->d[d++];
    return av_tensor(in->a, s, x->dtype, x->input);
}

/* ---- which ---- */

static struct aval *made(struct interp *in, struct span name, struct actuals *c)
{
    struct aval *named = anames_get(&c->kw, SPAN_LIT("size"));
    size_t from = span_starts(name, "new_") ? 1 : 0;
    struct aseq q = numbers(in, c, from);
    if (named && interp_items(in, named))
        q = *interp_items(in, named);
    if (q.n > SHAPE_MAX || (q.n == 0 && c->n > from))
        return NULL;
    struct shape *s = shape_fixed(in->a, (int)q.n);
    for (size_t i = 0; i < q.n; i++)
        s->d[i] = whole(q.v[i]);
    return av_tensor(in->a, s, AD_FLOAT, -1);
}

static struct aval *arange(struct interp *in, struct actuals *c)
{
    struct shape *s = shape_fixed(in->a, 1);
    if (c->n == 1)
        s->d[0] = whole(c->v[0]);
    else if (c->n == 2)
        s->d[0] = dim_sub(&in->dims, whole(c->v[1]), whole(c->v[0]));
    return av_tensor(in->a, s, AD_INT, -1);
}

struct aval *view_make(struct interp *in, enum tensor_rule rule,
                       struct span name, struct actuals *c)
{
    struct aval *v = NULL;
    switch (rule) {
    case TR_CAT:
    case TR_STACK:
        v = cat(in, c, rule == TR_STACK);
        break;
    case TR_MAKE:
        v = made(in, name, c);
        break;
    case TR_ARANGE:
        v = arange(in, c);
        break;
    default:
        return NULL;
    }
    return v ? v : av_tensor(in->a, shape_open(in->a), AD_FLOAT, -1);
}

static struct aval *pair_of(struct interp *in, struct tensor *x,
                            struct shape *s)
{
    struct aval *pair = av_seq(in->a, true);
    aseq_push(in->a, pair->seq, tensor_new(in, s, x));
    aseq_push(in->a, pair->seq, av_tensor(in->a, s, AD_INT, -1));
    return pair;
}

static struct aval *sizes_of(struct interp *in, struct tensor *x,
                             struct aval *self, const struct actuals *c)
{
    int64_t k;
    struct aval *at = actual(c, 1, "dim");
    if (!at) {
        struct aval *v = av_new(in->a, AV_METHOD);
        v->s = SPAN_LIT("shape");
        v->self = self;
        return v;
    }
    if (!whole(at) || !dim_known(&in->dims, at->d, &k) || k < -8 || k > 8)
        return interp_unknown(in);
    return av_dim(in->a, shape_at(&in->dims, x->s, (int)k));
}

/* Those that say how large something is. */
static struct aval *measure(struct interp *in, enum tensor_rule rule,
                            struct tensor *x, struct actuals *c)
{
    int rank;
    switch (rule) {
    case TR_SIZE:
        return sizes_of(in, x, c->v[0], c);
    case TR_RANK:
        rank = tensor_rank(in, x);
        return av_dim(in->a, rank < 0 ? NULL : dim_int(&in->dims, rank));
    case TR_COUNT:
        rank = tensor_rank(in, x);
        return av_dim(in->a, rank < 0 ? NULL : product(in, x->s, 0, rank));
    default:
        return NULL;
    }
}

/* Those that pick along one dimension. */
static struct aval *pick(struct interp *in, enum tensor_rule rule,
                         struct tensor *x, struct actuals *c)
{
    struct tensor *ids;
    int rank, p;
    switch (rule) {
    case TR_SORT:
        return pair_of(in, x, x->s);
    case TR_TOPK:
        rank = tensor_rank(in, x);
        p = axis(in, c, 2, "dim", rank, -1);
        return p < 0 ? NULL
                     : pair_of(
                           in, x,
                           resized(in, x->s, p, actual_dim(in, c, 1, "k", 1)));
    case TR_GATHER:
    case TR_PICK:
        ids = tensor_of(actual(c, 2, "index"));
        rank = tensor_rank(in, x);
        p = axis(in, c, 1, "dim", rank, 0);
        if (!ids || p < 0)
            return NULL;
        if (ids->input >= 0) {
            in->inputs[ids->input].ids = true;
            in->inputs[ids->input].below = x->s->d[p];
        }
        if (rule == TR_GATHER)
            return shape_fix(&in->dims, ids->s, rank)
                       ? tensor_new(in, ids->s, x)
                       : NULL;
        return shape_fix(&in->dims, ids->s, 1)
                   ? tensor_new(in, resized(in, x->s, p, ids->s->d[0]), x)
                   : NULL;
    default:
        return NULL;
    }
}

struct aval *view_call(struct interp *in, enum tensor_rule rule,
                       struct tensor *x, struct actuals *c)
{
    struct tensor *other;
    struct aval *v;
    switch (rule) {
    case TR_VIEW:
        return view(in, x, c);
    case TR_EXPAND:
        return expand(in, x, c);
    case TR_REPEAT:
        return repeat(in, x, c);
    case TR_AS_OTHER:
        other = tensor_of(actual(c, 1, "other"));
        return other ? tensor_new(in, other->s, x) : NULL;
    case TR_PERMUTE:
        return permute(in, x, c);
    case TR_TRANSPOSE:
        return transpose(in, x, c, false);
    case TR_TURN:
        return transpose(in, x, c, true);
    case TR_FLATTEN:
        return flatten(in, x, c, 0);
    case TR_FLATTEN_BATCH:
        return flatten(in, x, c, 1);
    case TR_UNFLATTEN:
        return unflatten(in, x, c);
    case TR_UNSQUEEZE:
        return unsqueeze(in, x, c);
    case TR_SQUEEZE:
        return squeeze(in, x, c);
    case TR_CHUNK:
        return chunk(in, x, c);
    case TR_SPLIT:
        return split(in, x, c);
    case TR_UNBIND:
        return unbind(in, x, c);
    case TR_PAD:
        return pad(in, x, c);
    case TR_INTERPOLATE:
        return interpolate(in, x, c);
    case TR_SHUFFLE:
    case TR_UNSHUFFLE:
        return shuffle(in, x, c, rule == TR_UNSHUFFLE);
    case TR_HALVE:
        return tensor_new(
            in,
            shape_last(&in->dims, x->s,
                       dim_floor(&in->dims, shape_at(&in->dims, x->s, -1),
                                 dim_int(&in->dims, 2))),
            x);
    default:
        v = measure(in, rule, x, c);
        return v ? v : pick(in, rule, x, c);
    }
}
