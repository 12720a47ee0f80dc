/* SPDX-License-Identifier: MIT */
/* Patterns of einops and einsum: every name is one size. */
#include "base.h"

#include "testgen/infer/interp.h"

#define MAX_AXES 16

/* One axis of a side: names whose product its size is; none: 1. */
struct axis {
    struct span names[6];
    size_t n;
    bool dots;
};

struct side {
    struct axis v[MAX_AXES];
    size_t n;
    bool bad;
};

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

static struct side side_of(struct span s)
{
    struct side out = {.n = 0};
    struct axis *open = NULL;
    for (size_t i = 0; i < s.n && !out.bad;) {
        char c = s.p[i];
        size_t k = i;
        if (c == ' ' || c == '\t' || c == '\n') {
            i++;
            continue;
        }
        if (c == ')') {
            out.bad = !open;
            open = NULL;
            i++;
            continue;
        }
        if (!open && out.n == MAX_AXES) {
            out.bad = true;
            break;
        }
        struct axis *x = open ? open : &out.v[out.n++];
        if (c == '(') {
            out.bad = open != NULL;
            open = x;
            i++;
        } else if (c == '.' && s.n - i >= 3) {
            x->dots = true;
            out.bad = open != NULL;
            i += 3;
        } else if (is_word(c) && x->n < ARRAY_LEN(x->names)) {
            while (k < s.n && is_word(s.p[k]))
                k++;
            x->names[x->n++] = (struct span){s.p + i, k - i};
            i = k;
        } else {
            out.bad = true;
        }
    }
    out.bad |= open != NULL;
    return out;
}

static bool is_number(struct span s, int64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || i > 8)
            return false;
        *out = *out * 10 + (s.p[i] - '0');
    }
    return s.n > 0;
}

/* The size of NAME: given, met before, or new. */
static const struct dim *named(struct interp *in, struct anames *sizes,
                               struct span name)
{
    int64_t k;
    struct aval *v = anames_get(sizes, name);
    if (is_number(name, &k))
        return dim_int(&in->dims, k);
    if (!v) {
        v = av_dim(in->a, dim_var(&in->dims, 4, DIM_FREE));
        anames_set(in->a, sizes, name, v);
    }
    return whole(v);
}

static bool is_new(const struct anames *sizes, struct span name)
{
    int64_t k;
    return !is_number(name, &k) && !anames_get(sizes, name);
}

/* SIZE is the product of the axis's names. */
static void take(struct interp *in, struct anames *sizes, const struct axis *x,
                 const struct dim *size)
{
    const struct dim *all = dim_int(&in->dims, 1);
    size_t fresh = 0, last = 0;
    for (size_t i = 0; i < x->n; i++)
        if (is_new(sizes, x->names[i])) {
            fresh++;
            last = i;
        }
    if (fresh == 1) { /* what the others leave of it */
        for (size_t i = 0; i < x->n; i++)
            if (i != last)
                all = dim_mul(&in->dims, all, named(in, sizes, x->names[i]));
        if (x->n > 1)
            dim_divides(&in->dims, size, all);
        anames_set(in->a, sizes, x->names[last],
                   av_dim(in->a, dim_floor(&in->dims, size, all)));
        return;
    }
    for (size_t i = 0; i < x->n; i++)
        all = dim_mul(&in->dims, all, named(in, sizes, x->names[i]));
    dim_equal(&in->dims, size, all);
}

/* Sizes of X by the left side; the shape of the right one. */
static struct shape *rearranged(struct interp *in, struct tensor *x,
                                const struct side *left,
                                const struct side *right, struct anames *sizes)
{
    const struct dim *middle[SHAPE_MAX];
    int dots = -1, rank, extra;
    for (size_t i = 0; i < left->n; i++)
        if (left->v[i].dots)
            dots = (int)i;
    if (dots < 0)
        shape_fix(&in->dims, x->s, (int)left->n);
    rank = dots < 0 ? shape_rank(&in->dims, x->s) : tensor_rank(in, x);
    extra = rank - (int)left->n + 1;
    if (rank < 0 || (dots < 0 && rank != (int)left->n) || extra < 0)
        return NULL;
    if (dots < 0)
        extra = 0;
    for (int i = 0, at = 0; i < (int)left->n; i++) {
        if (i == dots) {
            for (int k = 0; k < extra; k++)
                middle[k] = x->s->d[at++];
            continue;
        }
        take(in, sizes, &left->v[i], x->s->d[at++]);
    }
    struct shape *out = shape_fixed(in->a, 0);
    for (size_t i = 0; i < right->n; i++) {
        const struct axis *r = &right->v[i];
        if (r->dots && out->rank + extra <= SHAPE_MAX) {
            memcpy(out->d + out->rank, middle,
                   (size_t)extra * sizeof(middle[0]));
            out->rank += extra;
            continue;
        }
        if (out->rank == SHAPE_MAX)
            return NULL;
        const struct dim *d = dim_int(&in->dims, 1);
        for (size_t k = 0; k < r->n; k++)
            d = dim_mul(&in->dims, d, named(in, sizes, r->names[k]));
        out->d[out->rank++] = d;
    }
    return out;
}

struct aval *einops_call(struct interp *in, struct span name, struct actuals *c)
{
    struct aval *v = actual(c, 0, "tensor"), *p = actual(c, 1, "pattern");
    struct tensor *x = tensor_of(v);
    struct anames sizes = {0};
    const char *arrow;
    if (!x || !p || p->kind != AV_STR ||
        (!span_is(name, "rearrange") && !span_is(name, "reduce") &&
         !span_is(name, "repeat")))
        return interp_unknown(in);
    arrow = memmem(p->s.p, p->s.n, "->", 2);
    if (!arrow)
        return interp_unknown(in);
    struct side l = side_of((struct span){p->s.p, (size_t)(arrow - p->s.p)});
    struct side r = side_of(
        (struct span){arrow + 2, (size_t)(p->s.p + p->s.n - arrow) - 2});
    for (size_t i = 0; i < c->kw.n; i++)
        if (whole(c->kw.v[i]))
            anames_set(in->a, &sizes, c->kw.names[i], c->kw.v[i]);
    if (l.bad || r.bad)
        return interp_unknown(in);
    struct shape *s = rearranged(in, x, &l, &r, &sizes);
    return s ? tensor_new(in, s, x) : interp_unknown(in);
}

struct aval *einsum_call(struct interp *in, struct actuals *c)
{
    struct aval *p = actual(c, 0, NULL);
    struct anames sizes = {0};
    char letter[2] = "";
    if (!p || p->kind != AV_STR)
        return interp_unknown(in);
    size_t i = 0, operand = 1;
    struct shape *out = NULL;
    while (i < p->s.n && !out) {
        size_t end = i;
        struct axis axes[SHAPE_MAX] = {0};
        size_t n = 0;
        while (end < p->s.n && p->s.p[end] != ',' && p->s.p[end] != '-') {
            if (p->s.p[end] == '.')
                return interp_unknown(in);
            if (p->s.p[end] != ' ') {
                if (n == SHAPE_MAX)
                    return interp_unknown(in);
                axes[n].names[0] = (struct span){p->s.p + end, 1};
                axes[n++].n = 1;
            }
            end++;
        }
        struct tensor *x = operand < c->n ? tensor_of(c->v[operand]) : NULL;
        if (x && shape_fix(&in->dims, x->s, (int)n))
            for (size_t k = 0; k < n; k++)
                take(in, &sizes, &axes[k], x->s->d[k]);
        operand++;
        if (end + 1 < p->s.n && p->s.p[end] == '-')
            out = shape_fixed(in->a, 0);
        i = end + (out ? 2 : 1);
    }
    for (; out && i < p->s.n; i++) {
        letter[0] = p->s.p[i];
        if (*letter == ' ')
            continue;
        if (out->rank == SHAPE_MAX)
            return interp_unknown(in);
        out->d[out->rank++] = named(in, &sizes, (struct span){p->s.p + i, 1});
    }
    return out ? av_tensor(in->a, out, AD_FLOAT, -1) : interp_unknown(in);
}
