/* SPDX-License-Identifier: MIT */
/* Calls: functions and classes of the source, builtins, libraries. */
#include "base.h"

#include "testgen/infer/interp.h"

#include "testgen/facts_walk.h"

#define MAX_CALLS 96
#define MAX_ITEMS 64

struct aval *actual(const struct actuals *c, size_t at, const char *name)
{
    struct aval *v = name ? anames_get(&c->kw, span_str(name)) : NULL;
    return v ? v : at < c->n ? c->v[at] : NULL;
}

const struct dim *actual_dim(struct interp *in, const struct actuals *c,
                             size_t at, const char *name, int64_t dflt)
{
    struct aval *v = actual(c, at, name);
    if (!v || v->kind == AV_NONE)
        return dim_int(&in->dims, dflt);
    return whole(v);
}

/* ---- functions of the source ---- */

static struct span name_of(const struct interp *in, TSNode p)
{
    TSNode n = pynode_field(p, "name");
    if (pynode_is(p, "identifier"))
        n = p;
    else if (ts_node_is_null(n))
        n = pynode_child(p, 0);
    return pynode_text(in->f->mod->text, n);
}

/* Parameters PS of a call get their values in FR; the first is SELF. */
static void bind_all(struct interp *in, struct frame *fr, TSNode ps,
                     struct aval *self, const struct actuals *c)
{
    size_t at = 0;
    bool keywords = false;
    for (uint32_t i = 0; i < pynode_count(ps); i++) {
        TSNode p = pynode_child(ps, i);
        TSNode inner = pynode_is(p, "typed_parameter") ? pynode_child(p, 0) : p;
        struct span name = name_of(in, inner);
        struct aval *v = NULL;
        if (pynode_is(inner, "keyword_separator") ||
            pynode_is(inner, "positional_separator") ||
            pynode_is(inner, "comment")) {
            keywords |= pynode_is(inner, "keyword_separator");
            continue;
        }
        if (pynode_is(inner, "list_splat_pattern")) {
            v = av_seq(in->a, true);
            for (; at < c->n; at++)
                aseq_push(in->a, v->seq, c->v[at]);
            keywords = true;
        } else if (pynode_is(inner, "dictionary_splat_pattern")) {
            v = av_new(in->a, AV_DICT);
            v->dict = arena_zalloc(in->a, sizeof(*v->dict));
            for (size_t k = 0; k < c->kw.n; k++)
                if (!anames_get(&fr->vars, c->kw.names[k]))
                    anames_set(in->a, v->dict, c->kw.names[k], c->kw.v[k]);
        } else if (self) {
            v = self;
            fr->self = self;
            self = NULL;
        } else if ((v = anames_get(&c->kw, name)) == NULL && !keywords &&
                   at < c->n) {
            v = c->v[at++];
        } else if (!v) {
            TSNode dflt = pynode_field(p, "value");
            v = ts_node_is_null(dflt) ? interp_unknown(in)
                                      : interp_eval(in, fr, dflt);
        }
        anames_set(in->a, &fr->vars, name, v);
    }
}

static const struct pydef *class_of(const struct interp *in,
                                    const struct pydef *def)
{
    const struct pydef *d =
        def->outer >= 0 ? &in->f->mod->defs.v[def->outer] : NULL;
    return d && d->is_class ? d : NULL;
}

static struct aval *run(struct interp *in, TSNode def, struct frame *fr,
                        struct aval *self, const struct actuals *c)
{
    TSNode body = pynode_field(def, "body");
    if (in->depth >= MAX_CALLS)
        return interp_unknown(in);
    in->depth += 2;
    bind_all(in, fr, pynode_field(def, "parameters"), self, c);
    if (pynode_is(def, "lambda"))
        fr->ret = interp_eval(in, fr, body);
    else
        interp_block(in, fr, body);
    in->depth -= 2;
    if (fr->ret)
        return fr->ret;
    return fr->flow == FLOW_RAISE ? interp_unknown(in) : av_new(in->a, AV_NONE);
}

struct aval *interp_function(struct interp *in, const struct pydef *def,
                             struct aval *self, struct frame *home,
                             struct actuals *c)
{
    struct frame *fr = interp_frame(in, home);
    fr->cls = class_of(in, def);
    return run(in, def->node, fr, self, c);
}

/* ---- classes of the source ---- */

struct span torch_base(struct interp *in, const struct pydef *def)
{
    static const struct span none = {NULL, 0};
    for (size_t i = 0; i < def->bases.n; i++) {
        struct span dotted = def->bases.v[i].dotted;
        if (!dotted.n || pymod_def(in->f->mod, dotted))
            continue;
        struct span last = span_last_part(dotted);
        if (!span_is(last, "Module") && !span_is(last, "object") &&
            !span_is(last, "ABC"))
            return last;
    }
    return none;
}

/* Annotated names of a class without constructor, in order: dataclass. */
static void set_fields(struct interp *in, struct module *m,
                       const struct pydef *def, const struct actuals *c)
{
    TSNode body = pynode_field(def->node, "body");
    size_t at = 0;
    for (uint32_t i = 0; i < pynode_count(body); i++) {
        TSNode n = pynode_child(pynode_child(body, i), 0);
        if (!pynode_is(n, "assignment") ||
            ts_node_is_null(pynode_field(n, "type")))
            continue;
        struct span name =
            pynode_text(in->f->mod->text, pynode_field(n, "left"));
        struct aval *v = anames_get(&c->kw, name);
        if (!v && at < c->n)
            v = c->v[at];
        at++;
        if (v)
            anames_set(in->a, &m->attrs, name, v);
    }
}

struct aval *interp_instance(struct interp *in, const struct pydef *def,
                             struct actuals *c)
{
    struct aval *v = av_new(in->a, AV_MODULE);
    const struct pydef *init = walk_method(in->f, def, "__init__", 0);
    v->m = arena_zalloc(in->a, sizeof(*v->m));
    v->m->def = def;
    if (init) {
        interp_function(in, init, v, NULL, c);
        return v;
    }
    struct span base = torch_base(in, def);
    if (base.n)
        v->m = layer_new(in, base, c)->m;
    else
        set_fields(in, v->m, def, c);
    v->m->def = def;
    return v;
}

static struct aval *call_module(struct interp *in, struct frame *fr,
                                struct aval *v, struct actuals *c)
{
    const struct pydef *d = NULL;
    struct aval *own = anames_get(&v->m->attrs, SPAN_LIT("forward"));
    if (own) /* self.forward = self.forward_fast */
        return interp_call(in, fr, own, c);
    if (v->m->def) {
        d = walk_method(in->f, v->m->def, "forward", 0);
        if (!d)
            d = walk_method(in->f, v->m->def, "__call__", 0);
    }
    if (d)
        return interp_function(in, d, v, NULL, c);
    return v->m->layer.n ? layer_call(in, fr, v->m, c) : interp_unknown(in);
}

/* super().__init__(...) and super().forward(...) of a layer of torch; what
 * every module has. */
static struct aval *call_base(struct interp *in, struct frame *fr,
                              struct aval *f, struct actuals *c)
{
    struct module *m = f->self->m;
    struct span base = torch_base(in, f->def);
    if (span_is(f->s, "__init__") && base.n) {
        struct module *made = layer_new(in, base, c)->m;
        m->layer = made->layer;
        m->args = made->args;
        m->n_args = made->n_args;
        anames_copy(in->a, &m->kw, &made->kw);
        if (made->children)
            m->children = made->children;
        return av_new(in->a, AV_NONE);
    }
    if (span_is(f->s, "__init__"))
        return av_new(in->a, AV_NONE);
    if (span_is(f->s, "forward") && m->layer.n)
        return layer_call(in, fr, m, c);
    return interp_unknown(in);
}

/* ---- methods of modules, lists and dicts ---- */

static struct aval *call_method(struct interp *in, struct frame *fr,
                                struct aval *f, struct actuals *c)
{
    struct aval *self = f->self, *v = actual(c, 0, NULL);
    if (!self)
        return interp_unknown(in);
    if (self->kind == AV_MODULE) {
        struct aval *x = actual(c, 1, NULL);
        if (f->def)
            return call_base(in, fr, f, c);
        if (span_is(f->s, "append") && v) {
            if (!self->m->children)
                self->m->children =
                    arena_zalloc(in->a, sizeof(*self->m->children));
            aseq_push(in->a, self->m->children, v);
            return self;
        }
        if ((span_is(f->s, "add_module") || span_is(f->s, "register_buffer") ||
             span_is(f->s, "register_parameter")) &&
            v && v->kind == AV_STR && x) {
            anames_set(in->a, &self->m->attrs, v->s, x);
            if (self->m->children && span_is(f->s, "add_module"))
                aseq_push(in->a, self->m->children, x);
            return av_new(in->a, AV_NONE);
        }
        if (span_is(f->s, "to") || span_is(f->s, "eval") ||
            span_is(f->s, "apply") || span_is(f->s, "requires_grad_"))
            return self;
        return interp_unknown(in);
    }
    if (self->kind == AV_SEQ && span_is(f->s, "append") && v) {
        if (self->seq->n < 4096)
            aseq_push(in->a, self->seq, v);
        return av_new(in->a, AV_NONE);
    }
    if (self->kind == AV_SEQ && span_is(f->s, "extend") && v) {
        struct aseq *q = interp_items(in, v);
        for (size_t i = 0; q && i < q->n && self->seq->n < 4096; i++)
            aseq_push(in->a, self->seq, q->v[i]);
        return av_new(in->a, AV_NONE);
    }
    if (self->kind == AV_DICT && v && v->kind == AV_STR &&
        (span_is(f->s, "get") || span_is(f->s, "pop"))) {
        struct aval *x = anames_get(self->dict, v->s);
        return x ? x : c->n > 1 ? c->v[1] : av_new(in->a, AV_NONE);
    }
    if (self->kind == AV_DICT &&
        (span_is(f->s, "items") || span_is(f->s, "values"))) {
        struct aval *out = av_seq(in->a, false);
        for (size_t i = 0; i < self->dict->n; i++) {
            struct aval *pair = av_seq(in->a, true);
            aseq_push(in->a, pair->seq, av_str(in->a, self->dict->names[i]));
            aseq_push(in->a, pair->seq, self->dict->v[i]);
            aseq_push(in->a, out->seq,
                      *f->s.p == 'i' ? pair : self->dict->v[i]);
        }
        return out;
    }
    if (self->kind == AV_TENSOR) {
        struct actuals with = *c;
        with.n = c->n + 1;
        with.v = arena_array(in->a, with.n, sizeof(*with.v));
        with.v[0] = self;
        if (c->n)
            memcpy(with.v + 1, c->v, c->n * sizeof(*with.v));
        v = tensor_call(in, f->s, &with);
        return v ? v : interp_unknown(in);
    }
    return interp_unknown(in);
}

/* ---- builtins ---- */

static struct aval *range(struct interp *in, const struct actuals *c)
{
    int64_t from = 0, to, step = 1;
    struct aval *v = av_seq(in->a, false);
    if (c->n == 0 || !whole(c->v[c->n > 1]))
        return interp_unknown(in);
    to = dim_settle(&in->dims, whole(c->v[c->n > 1]));
    if (c->n > 1 && whole(c->v[0]))
        from = dim_settle(&in->dims, whole(c->v[0]));
    if (c->n > 2 && whole(c->v[2]))
        step = dim_settle(&in->dims, whole(c->v[2]));
    for (int64_t i = from, n = 0;
         step && (step > 0 ? i < to : i > to) && n < MAX_ITEMS; i += step, n++)
        aseq_push(in->a, v->seq, av_dim(in->a, dim_int(&in->dims, i)));
    return v;
}

static struct aval *zipped(struct interp *in, const struct actuals *c,
                           bool count)
{
    struct aval *v = av_seq(in->a, false);
    size_t n = MAX_ITEMS;
    struct aseq *q[8];
    if (c->n == 0 || c->n > 8)
        return interp_unknown(in);
    for (size_t i = 0; i < c->n; i++) {
        q[i] = interp_items(in, c->v[i]);
        if (!q[i])
            return interp_unknown(in);
        n = MIN(n, q[i]->n);
    }
    for (size_t k = 0; k < n; k++) {
        struct aval *t = av_seq(in->a, true);
        if (count)
            aseq_push(in->a, t->seq,
                      av_dim(in->a, dim_int(&in->dims, (int64_t)k)));
        for (size_t i = 0; i < c->n; i++)
            aseq_push(in->a, t->seq, q[i]->v[k]);
        aseq_push(in->a, v->seq, t);
    }
    return v;
}

/* max and min of numbers, as they are planned. */
static struct aval *extreme(struct interp *in, const struct actuals *c,
                            bool max)
{
    struct aseq one = {.v = c->v, .n = c->n};
    struct aseq *q = c->n == 1 ? interp_items(in, c->v[0]) : &one;
    struct aval *best = NULL;
    for (size_t i = 0; q && i < q->n; i++) {
        if (!whole(q->v[i]))
            return interp_unknown(in);
        if (!best || (dim_value(&in->dims, q->v[i]->d) >
                      dim_value(&in->dims, best->d)) == max)
            best = q->v[i];
    }
    return best ? best : interp_unknown(in);
}

static struct aval *is_instance(struct interp *in, struct aval *v,
                                const struct aval *cls)
{
    if (cls->kind != AV_NAME || v->kind == AV_UNKNOWN)
        return interp_unknown(in);
    struct span n = span_last_part(cls->s);
    bool is = (span_is(n, "int") && v->kind == AV_INT) ||
              (span_is(n, "float") && v->kind == AV_FLOAT) ||
              (span_is(n, "str") && v->kind == AV_STR) ||
              (span_is(n, "bool") && v->kind == AV_BOOL) ||
              (span_is(n, "Tensor") && v->kind == AV_TENSOR) ||
              (span_is(n, "dict") && v->kind == AV_DICT) ||
              (span_is(n, "Module") && v->kind == AV_MODULE) ||
              (v->kind == AV_SEQ &&
               (span_is(n, v->seq->tuple ? "tuple" : "list") ||
                span_is(n, "Sequence") || span_is(n, "Iterable")));
    return av_bool(in->a, is);
}

static struct aval *get_attribute(struct interp *in, const struct actuals *c)
{
    if (c->n < 2 || c->v[1]->kind != AV_STR)
        return interp_unknown(in);
    if (c->v[0]->kind == AV_MODULE && c->n > 2 &&
        !anames_get(&c->v[0]->m->attrs, c->v[1]->s))
        return c->v[2];
    return interp_attribute(in, c->v[0], c->v[1]->s);
}

static struct aval *length(struct interp *in, struct aval *v)
{
    struct aseq *q = interp_items(in, v);
    if (q)
        return av_dim(in->a, dim_int(&in->dims, (int64_t)q->n));
    return v->kind == AV_TENSOR ? av_dim(in->a, shape_at(&in->dims, v->t->s, 0))
                                : interp_unknown(in);
}

static struct aval *to_list(struct interp *in, struct aval *v, bool tuple,
                            bool reversed)
{
    struct aseq *q = interp_items(in, v);
    struct aval *out = av_seq(in->a, tuple);
    if (!q)
        return interp_unknown(in);
    for (size_t i = 0; i < q->n; i++)
        aseq_push(in->a, out->seq, q->v[reversed ? q->n - 1 - i : i]);
    return out;
}

static struct aval *builtin(struct interp *in, struct span name,
                            const struct actuals *c)
{
    struct aval *v = actual(c, 0, NULL);
    if (span_is(name, "range"))
        return range(in, c);
    if (span_is(name, "zip"))
        return zipped(in, c, false);
    if (!v)
        return span_is(name, "list") || span_is(name, "tuple")
                   ? av_seq(in->a, *name.p == 't')
                   : NULL;
    if (span_is(name, "enumerate")) {
        struct actuals one = {.v = &v, .n = 1};
        return zipped(in, &one, true);
    }
    if (span_is(name, "int") || span_is(name, "math.floor") ||
        span_is(name, "round") || span_is(name, "math.ceil"))
        return v->kind == AV_INT             ? v
               : v->kind == AV_FLOAT && v->d ? av_dim(in->a, v->d)
               : v->kind == AV_FLOAT && v->x < 1e12 && v->x > -1e12
                   ? av_dim(in->a, dim_int(&in->dims, (int64_t)v->x))
                   : interp_unknown(in);
    if (span_is(name, "math.sqrt") && whole(v)) {
        struct aval *r = av_float(in->a, 0);
        r->d = dim_root(&in->dims, v->d);
        return r;
    }
    if (span_is(name, "len"))
        return length(in, v);
    if (span_is(name, "max") || span_is(name, "min"))
        return extreme(in, c, name.p[1] == 'a');
    if (span_is(name, "list") || span_is(name, "tuple") ||
        span_is(name, "sorted") || span_is(name, "reversed"))
        return to_list(in, v, *name.p == 't', *name.p == 'r');
    if (span_is(name, "isinstance") && c->n == 2)
        return is_instance(in, v, c->v[1]);
    if (span_is(name, "hasattr") && c->n == 2 && v->kind == AV_MODULE &&
        c->v[1]->kind == AV_STR)
        return av_bool(in->a, anames_get(&v->m->attrs, c->v[1]->s) != NULL);
    if (span_is(name, "getattr"))
        return get_attribute(in, c);
    if (span_is(name, "sum")) {
        struct aseq *q = interp_items(in, v);
        struct aval *s = av_dim(in->a, dim_int(&in->dims, 0));
        for (size_t i = 0; q && i < q->n; i++)
            s = i == 0 ? q->v[0] : interp_binary(in, SPAN_LIT("+"), s, q->v[i]);
        return q ? s : interp_unknown(in);
    }
    if (span_is(name, "functools.partial") || span_is(name, "partial")) {
        struct aval *p = av_new(in->a, AV_METHOD);
        p->s = SPAN_LIT("partial");
        p->seq = arena_zalloc(in->a, sizeof(*p->seq));
        for (size_t i = 0; i < c->n; i++)
            aseq_push(in->a, p->seq, c->v[i]);
        p->dict = arena_zalloc(in->a, sizeof(*p->dict));
        anames_copy(in->a, p->dict, &c->kw);
        return p;
    }
    return NULL;
}

/* ---- libraries ---- */

static struct span behind(struct span s, const char *prefix)
{
    size_t n = strlen(prefix);
    return span_starts(s, prefix) ? (struct span){s.p + n, s.n - n}
                                  : (struct span){NULL, 0};
}

static bool is_class_name(struct span s)
{
    return s.n && s.p[0] >= 'A' && s.p[0] <= 'Z';
}

static struct aval *call_name(struct interp *in, struct span name,
                              struct actuals *c)
{
    struct aval *v = builtin(in, name, c);
    struct span last = span_last_part(name);
    if (v)
        return v;
    if (span_is(name, "dict") || span_is(last, "OrderedDict") ||
        span_is(last, "Namespace")) {
        v = av_new(in->a, AV_DICT);
        v->dict = arena_zalloc(in->a, sizeof(*v->dict));
        if (c->n && c->v[0]->kind == AV_DICT)
            anames_copy(in->a, v->dict, c->v[0]->dict);
        anames_copy(in->a, v->dict, &c->kw);
        return v;
    }
    if (span_is(last, "Parameter") || span_is(last, "Buffer"))
        return c->n ? c->v[0] : interp_unknown(in);
    if (span_starts(name, "einops.layers.") ||
        (is_class_name(last) && behind(name, "torch.nn.").n))
        return layer_new(in, last, c);
    if (span_starts(name, "einops.") || span_is(last, "rearrange"))
        return einops_call(in, last, c);
    if (span_is(last, "einsum"))
        return einsum_call(in, c);
    if (span_starts(name, "torch.") || span_starts(name, "numpy.")) {
        v = tensor_call(in, last, c);
        return v ? v : interp_unknown(in);
    }
    return interp_unknown(in);
}

static struct aval *call_partial(struct interp *in, struct frame *fr,
                                 struct aval *f, struct actuals *c)
{
    struct aseq q = {0};
    struct actuals all = {0};
    if (f->seq->n == 0)
        return interp_unknown(in);
    for (size_t i = 1; i < f->seq->n; i++)
        aseq_push(in->a, &q, f->seq->v[i]);
    for (size_t i = 0; i < c->n; i++)
        aseq_push(in->a, &q, c->v[i]);
    anames_copy(in->a, &all.kw, f->dict);
    anames_copy(in->a, &all.kw, &c->kw);
    all.v = q.v;
    all.n = q.n;
    return interp_call(in, fr, f->seq->v[0], &all);
}

struct aval *interp_call(struct interp *in, struct frame *fr, struct aval *f,
                         struct actuals *c)
{
    struct frame *inner;
    if (!interp_step(in) || in->depth >= MAX_CALLS)
        return interp_unknown(in);
    switch (f->kind) {
    case AV_FUNC:
        return interp_function(in, f->def, f->self, NULL, c);
    case AV_CLASS:
        return interp_instance(in, f->def, c);
    case AV_MODULE:
        return call_module(in, fr, f, c);
    case AV_LAMBDA:
        inner = interp_frame(in, f->home);
        return run(in, f->node, inner, NULL, c);
    case AV_NAME:
        return call_name(in, f->s, c);
    case AV_METHOD:
        return span_is(f->s, "partial") && f->seq ? call_partial(in, fr, f, c)
                                                  : call_method(in, fr, f, c);
    default:
        return interp_unknown(in);
    }
}
