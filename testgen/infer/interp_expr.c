/* SPDX-License-Identifier: MIT */
/* Operators, attributes and items. */
#include "base.h"

#include "testgen/infer/interp.h"

#include "testgen/facts_walk.h"

#include <math.h>

#define MAX_ITEMS 64

const struct dim *whole(const struct aval *v)
{
    return v && v->kind == AV_INT ? v->d : NULL;
}

/* ---- operators ---- */

static struct aval *of_numbers(struct interp *in, struct span op,
                               const struct dim *x, const struct dim *y)
{
    struct dims *s = &in->dims;
    int64_t p, q;
    if (span_is(op, "+"))
        return av_dim(in->a, dim_add(s, x, y));
    if (span_is(op, "-"))
        return av_dim(in->a, dim_sub(s, x, y));
    if (span_is(op, "*"))
        return av_dim(in->a, dim_mul(s, x, y));
    if (span_is(op, "//"))
        return av_dim(in->a, dim_floor(s, x, y));
    if (span_is(op, "/")) { /* int(x / y) is a size again */
        struct aval *v = av_float(in->a, 0);
        v->d = dim_floor(s, x, y);
        return v;
    }
    if (span_is(op, "%"))
        return av_dim(in->a, dim_sub(s, x, dim_mul(s, y, dim_floor(s, x, y))));
    if (span_is(op, "**") && dim_known(s, y, &q) && q >= 0 && q <= 4) {
        const struct dim *v = dim_int(s, 1);
        for (int i = 0; i < q; i++)
            v = dim_mul(s, v, x);
        return av_dim(in->a, v);
    }
    if (span_is(op, "**") && dim_known(s, x, &p) && dim_known(s, y, &q) &&
        q >= 0 && pow((double)p, (double)q) < 1e12)
        return av_dim(in->a, dim_int(s, (int64_t)pow((double)p, (double)q)));
    return interp_unknown(in);
}

/* A whole number and a ratio: int(dim * mlp_ratio) is a size. */
static struct aval *scaled(struct interp *in, struct span op, struct aval *x,
                           struct aval *y)
{
    struct aval *n = x->kind == AV_INT ? x : y, *r = n == x ? y : x;
    if (!n->d || r->d)
        return interp_unknown(in);
    if (span_is(op, "**") && n == x && r->x == 0.5) {
        struct aval *v = av_float(in->a, 0);
        v->d = dim_root(&in->dims, n->d);
        return v;
    }
    double ratio = span_is(op, "*")                           ? r->x
                   : (span_is(op, "/") && n == x && r->x > 0) ? 1 / r->x
                                                              : 0;
    if (!(ratio > 0) || ratio > 1e6 || ratio < 1e-6)
        return interp_unknown(in);
    struct aval *v = av_float(in->a, 0);
    if (ratio >= 1 && ratio == floor(ratio))
        v->d = dim_mul(&in->dims, n->d, dim_int(&in->dims, (int64_t)ratio));
    else if (1 / ratio == floor(1 / ratio))
        v->d = dim_floor(&in->dims, n->d,
                         dim_int(&in->dims, (int64_t)(1 / ratio)));
    else
        v->d = dim_floor(
            &in->dims,
            dim_mul(&in->dims, n->d,
                    dim_int(&in->dims, (int64_t)llround(ratio * 1000))),
            dim_int(&in->dims, 1000));
    return v;
}

static struct aval *joined(struct interp *in, const struct aseq *x,
                           const struct aseq *y)
{
    struct aval *v = av_seq(in->a, x->tuple);
    for (size_t i = 0; i < x->n; i++)
        aseq_push(in->a, v->seq, x->v[i]);
    for (size_t i = 0; i < y->n && v->seq->n < 4096; i++)
        aseq_push(in->a, v->seq, y->v[i]);
    return v;
}

struct aval *interp_binary(struct interp *in, struct span op, struct aval *x,
                           struct aval *y)
{
    struct tensor *p = tensor_of(x), *q = tensor_of(y);
    int64_t k;
    if (p && q && span_is(op, "@"))
        return tensor_matmul(in, p, q);
    if (p && q)
        return av_tensor(
            in->a, tensor_broadcast(in, p->s, q->s),
            p->dtype == AD_FLOAT || q->dtype == AD_FLOAT ? AD_FLOAT : p->dtype,
            -1);
    if (p || q)
        return av_tensor(in->a, (p ? p : q)->s, (p ? p : q)->dtype, -1);
    if (x->kind == AV_INT && y->kind == AV_INT)
        return of_numbers(in, op, x->d, y->d);
    if (x->kind == AV_FLOAT && y->kind == AV_FLOAT) {
        double a = x->x, b = y->x;
        if (x->d || y->d)
            return interp_unknown(in);
        return span_is(op, "+")                 ? av_float(in->a, a + b)
               : span_is(op, "-")               ? av_float(in->a, a - b)
               : span_is(op, "*")               ? av_float(in->a, a * b)
               : span_is(op, "/") && b > 1e-300 ? av_float(in->a, a / b)
                                                : interp_unknown(in);
    }
    if ((x->kind == AV_INT && y->kind == AV_FLOAT) ||
        (x->kind == AV_FLOAT && y->kind == AV_INT))
        return scaled(in, op, x, y);
    /* x.shape + (1,): as a tuple */
    struct aseq *a =
        x->kind == AV_SEQ || x->kind == AV_METHOD ? interp_items(in, x) : NULL;
    struct aseq *b =
        y->kind == AV_SEQ || y->kind == AV_METHOD ? interp_items(in, y) : NULL;
    if (a && b && span_is(op, "+"))
        return joined(in, a, b);
    if (a && span_is(op, "*") && whole(y) && dim_known(&in->dims, y->d, &k)) {
        struct aval *v = av_seq(in->a, a->tuple);
        for (int64_t i = 0; i < MIN(k, (int64_t)MAX_ITEMS); i++)
            for (size_t n = 0; n < a->n && v->seq->n < 4096; n++)
                aseq_push(in->a, v->seq, a->v[n]);
        return v;
    }
    return interp_unknown(in);
}

/* ---- attributes ---- */

/* NAME = VALUE in the body of the class or of a base in the source. */
static struct aval *class_value(struct interp *in, const struct pydef *def,
                                struct span name, int depth)
{
    TSNode body = pynode_field(def->node, "body");
    for (uint32_t i = 0; i < pynode_count(body); i++) {
        TSNode n = pynode_child(pynode_child(body, i), 0);
        if (pynode_is(n, "assignment") &&
            span_eq(pynode_text(in->f->mod->text, pynode_field(n, "left")),
                    name)) {
            return interp_eval(in, interp_frame(in, NULL),
                               pynode_field(n, "right"));
        }
    }
    for (size_t i = 0; i < def->bases.n && depth < 8; i++) {
        const struct pydef *b = pymod_def(in->f->mod, def->bases.v[i].dotted);
        struct aval *v =
            b && b->is_class ? class_value(in, b, name, depth + 1) : NULL;
        if (v)
            return v;
    }
    return NULL;
}

static bool is_property(const struct pydef *m)
{
    for (size_t i = 0; i < m->decorators.n; i++)
        if (span_ends(m->decorators.v[i].dotted, "property"))
            return true;
    return false;
}

static bool is_static(const struct pydef *m)
{
    for (size_t i = 0; i < m->decorators.n; i++)
        if (span_is(m->decorators.v[i].dotted, "staticmethod"))
            return true;
    return false;
}

static struct aval *bound(struct interp *in, const struct pydef *m,
                          struct aval *self)
{
    struct actuals none = {0};
    if (is_property(m) && self)
        return interp_function(in, m, self, NULL, &none);
    struct aval *v = av_new(in->a, AV_FUNC);
    v->def = m;
    v->self = is_static(m) ? NULL : self;
    return v;
}

static struct aval *method(struct interp *in, struct aval *self,
                           struct span name)
{
    struct aval *v = av_new(in->a, AV_METHOD);
    v->self = self;
    v->s = name;
    return v;
}

static struct aval *of_module(struct interp *in, struct aval *self,
                              struct span name)
{
    struct module *m = self->m;
    struct aval *v = anames_get(&m->attrs, name);
    char text[80];
    if (v)
        return v;
    if (m->def) {
        snprintf(text, sizeof(text), "%.*s", (int)MIN(name.n, 79), name.p);
        const struct pydef *d = walk_method(in->f, m->def, text, 0);
        if (d)
            return bound(in, d, self);
        v = class_value(in, m->def, name, 0);
        if (v)
            return v;
    }
    if (span_is(name, "training"))
        return av_bool(in->a, false);
    v = m->layer.n ? layer_attribute(in, m, name) : NULL;
    return v ? v : method(in, self, name);
}

/* super().NAME of a method of class DEF. */
static struct aval *of_super(struct interp *in, const struct aval *v,
                             struct span name)
{
    char text[80];
    snprintf(text, sizeof(text), "%.*s", (int)MIN(name.n, 79), name.p);
    for (size_t i = 0; i < v->def->bases.n; i++) {
        const struct pydef *b =
            pymod_def(in->f->mod, v->def->bases.v[i].dotted);
        const struct pydef *m =
            b && b->is_class ? walk_method(in->f, b, text, 0) : NULL;
        if (m)
            return bound(in, m, v->self);
    }
    struct aval *f = method(in, v->self, name);
    f->def = v->def; /* marks it as that of a base of torch */
    return f;
}

struct aval *interp_attribute(struct interp *in, struct aval *v,
                              struct span name)
{
    struct aval *x;
    char text[80];
    switch (v->kind) {
    case AV_NAME:
        if (v->s.n + name.n > 200)
            break;
        return av_name(in->a,
                       span_str(arena_printf(in->a, "%.*s.%.*s", (int)v->s.n,
                                             v->s.p, (int)name.n, name.p)));
    case AV_MODULE:
        return of_module(in, v, name);
    case AV_CLASS:
        snprintf(text, sizeof(text), "%.*s", (int)MIN(name.n, 79), name.p);
        const struct pydef *m = walk_method(in->f, v->def, text, 0);
        if (m)
            return bound(in, m, NULL);
        x = class_value(in, v->def, name, 0);
        return x ? x : interp_unknown(in);
    case AV_METHOD:
        if (span_is(v->s, "super") && v->def)
            return of_super(in, v, name);
        if (span_is(name, "numel") || span_is(name, "shape"))
            return method(in, v->self, name);
        break;
    case AV_TENSOR:
        if (span_is(name, "T") || span_is(name, "mT")) {
            struct actuals c = {.v = &v, .n = 1};
            return tensor_call(in, SPAN_LIT("t"), &c);
        }
        if (span_is(name, "data") || span_is(name, "real"))
            return v;
        if (span_is(name, "ndim")) {
            int rank = tensor_rank(in, v->t);
            return av_dim(in->a, rank < 0 ? NULL : dim_int(&in->dims, rank));
        }
        if (span_is(name, "dtype") || span_is(name, "device") ||
            span_is(name, "is_cuda") || span_is(name, "grad"))
            return interp_unknown(in);
        return method(in, v, name);
    case AV_DICT:
    case AV_SEQ:
    case AV_STR:
        return method(in, v, name);
    default:
        break;
    }
    return interp_unknown(in);
}

/* ---- items ---- */

struct aseq *interp_items(struct interp *in, struct aval *v)
{
    struct aval *out;
    switch (v->kind) {
    case AV_SEQ:
        return v->seq;
    case AV_MODULE:
        return v->m->children;
    case AV_METHOD: {
        if (!span_is(v->s, "shape") || !v->self || !tensor_of(v->self))
            return NULL;
        int rank = tensor_rank(in, v->self->t);
        out = av_seq(in->a, true);
        for (int i = 0; i < rank; i++)
            aseq_push(in->a, out->seq,
                      av_dim(in->a, shape_at(&in->dims, v->self->t->s, i)));
        return rank < 0 ? NULL : out->seq;
    }
    case AV_DICT:
        out = av_seq(in->a, false);
        for (size_t i = 0; i < v->dict->n; i++)
            aseq_push(in->a, out->seq, av_str(in->a, v->dict->names[i]));
        return out->seq;
    default:
        return NULL;
    }
}

/* Index of ITEM in N items, or -1. */
static int64_t index_of(struct interp *in, const struct aval *item, size_t n)
{
    int64_t k;
    if (item->kind != AV_INT || !dim_known(&in->dims, item->d, &k))
        return -1;
    k += k < 0 ? (int64_t)n : 0;
    return k >= 0 && k < (int64_t)n ? k : -1;
}

static struct aval *part_of(struct interp *in, const struct aseq *q,
                            const struct aval *cut)
{
    int64_t n = (int64_t)q->n, from = 0, to = n, step = 1, k;
    struct aval *v = av_seq(in->a, q->tuple);
    for (int i = 0; i < 3; i++) {
        const struct aval *x = cut->slice[i];
        if (!x || x->kind == AV_NONE)
            continue;
        if (x->kind != AV_INT || !dim_known(&in->dims, x->d, &k))
            return interp_unknown(in);
        if (i < 2)
            k += k < 0 ? n : 0;
        *(i == 0 ? &from : i == 1 ? &to : &step) = k;
    }
    if (step == -1 && !cut->slice[0] && !cut->slice[1]) {
        for (int64_t i = n; i > 0; i--)
            aseq_push(in->a, v->seq, q->v[i - 1]);
        return v;
    }
    if (step < 1)
        return interp_unknown(in);
    for (int64_t i = MAX(from, (int64_t)0); i < MIN(to, n); i += step)
        aseq_push(in->a, v->seq, q->v[i]);
    return v;
}

struct aval *interp_item(struct interp *in, struct aval *v, struct aval **at,
                         size_t n)
{
    struct aseq *q;
    int64_t k;
    if (n == 0)
        return interp_unknown(in);
    if (v->kind == AV_TENSOR)
        return tensor_item(in, v->t, at, n);
    if (v->kind == AV_METHOD && span_is(v->s, "shape") && v->self &&
        tensor_of(v->self) && n == 1 && at[0]->kind == AV_INT &&
        dim_known(&in->dims, at[0]->d, &k))
        return av_dim(in->a, shape_at(&in->dims, v->self->t->s, (int)k));
    if (v->kind == AV_DICT && at[0]->kind == AV_STR) {
        struct aval *x = anames_get(v->dict, at[0]->s);
        return x ? x : interp_unknown(in);
    }
    if (v->kind == AV_MODULE && at[0]->kind == AV_STR) {
        struct aval *x = anames_get(&v->m->attrs, at[0]->s);
        return x ? x : interp_unknown(in);
    }
    q = interp_items(in, v);
    if (!q || n != 1)
        return interp_unknown(in);
    if (at[0]->kind == AV_SLICE && v->kind == AV_MODULE) {
        struct aval *part = part_of(in, q, at[0]), *m;
        if (part->kind != AV_SEQ)
            return part;
        m = av_new(in->a, AV_MODULE);
        m->m = arena_zalloc(in->a, sizeof(*m->m));
        m->m->layer = v->m->layer;
        m->m->children = part->seq;
        return m;
    }
    if (at[0]->kind == AV_SLICE)
        return part_of(in, q, at[0]);
    k = index_of(in, at[0], q->n);
    return k < 0 ? interp_unknown(in) : q->v[k];
}
