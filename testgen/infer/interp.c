/* SPDX-License-Identifier: MIT */
/* Statements, and the expressions that need a frame. */
#include "base.h"

#include "testgen/infer/interp.h"

#define MAX_LOOP   32
#define MAX_NEST   160
#define MAX_KEYS   512 /* of a dict that is written out */
#define MAX_MEMORY ((size_t)64 << 20)

struct aval *interp_unknown(struct interp *in)
{
    return av_new(in->a, AV_UNKNOWN);
}

bool interp_step(struct interp *in)
{
    return in->steps > 0 && in->a->total < MAX_MEMORY && in->steps-- > 0;
}

struct frame *interp_frame(struct interp *in, struct frame *outer)
{
    struct frame *fr = arena_zalloc(in->a, sizeof(*fr));
    fr->outer = outer;
    return fr;
}

static struct span text_of(const struct interp *in, TSNode n)
{
    return pynode_text(in->f->mod->text, n);
}

int interp_truth(struct interp *in, const struct aval *v)
{
    int64_t k;
    switch (v->kind) {
    case AV_NONE:
        return 0;
    case AV_BOOL:
        return v->b;
    case AV_INT:
        return v->d && dim_known(&in->dims, v->d, &k) ? k != 0 : -1;
    case AV_FLOAT:
        return v->d ? -1 : v->x != 0;
    case AV_STR:
        return v->s.n > 0;
    case AV_SEQ:
        return v->seq->n > 0;
    case AV_DICT:
        return v->dict->n > 0;
    case AV_MODULE:
        return v->m->children && v->m->layer.n ? v->m->children->n > 0 : 1;
    case AV_CLASS:
    case AV_FUNC:
    case AV_NAME:
    case AV_LAMBDA:
        return 1;
    case AV_METHOD: /* or an attribute that nothing has set */
    case AV_UNKNOWN:
    case AV_TENSOR:
    case AV_SLICE:
    case AV_ELLIPSIS:
        break;
    }
    return -1;
}

/* ---- names ---- */

/* What a name of the module is: a definition, an import, an assignment. */
static struct aval *global(struct interp *in, struct span name)
{
    const struct pymod *m = in->f->mod;
    struct aval *v = anames_get(&in->globals, name);
    if (v)
        return v;
    const struct pysym *s = pymod_lookup(m, 0, name);
    v = interp_unknown(in);
    anames_set(in->a, &in->globals, name, v); /* against circles */
    if (!s) {
        v = av_name(in->a, name);
    } else if (s->kind == PYSYM_CLASS || s->kind == PYSYM_FUNCTION) {
        v = av_new(in->a, s->kind == PYSYM_CLASS ? AV_CLASS : AV_FUNC);
        v->def = &m->defs.v[s->def];
    } else if (s->kind == PYSYM_IMPORT) {
        v = av_name(in->a, s->aliased ? s->module : s->name);
    } else if (s->kind == PYSYM_FROM) {
        v = av_name(in->a, span_str(arena_printf(
                               in->a, "%.*s.%.*s", (int)s->module.n,
                               s->module.p, (int)s->member.n, s->member.p)));
    } else if (s->kind == PYSYM_ASSIGN && !s->unpacked &&
               s->value_end > s->value_start) {
        TSNode n = ts_node_descendant_for_byte_range(
            ts_tree_root_node(m->tree.tree), s->value_start, s->value_end);
        if (!ts_node_is_null(n))
            v = interp_eval(in, interp_frame(in, NULL), n);
    }
    anames_set(in->a, &in->globals, name, v);
    return v;
}

static struct aval *lookup(struct interp *in, struct frame *fr,
                           struct span name)
{
    for (int i = 0; fr && i < 16; fr = fr->outer, i++) {
        struct aval *v = anames_get(&fr->vars, name);
        if (v)
            return v;
    }
    return global(in, name);
}

/* a, (b, *c) = V */
static void unpack(struct interp *in, struct frame *fr, TSNode target,
                   struct aval *v)
{
    uint32_t n = pynode_count(target);
    struct aseq *q = NULL;
    bool splat = false;
    for (uint32_t i = 0; i < n; i++)
        splat |= pynode_is(pynode_child(target, i), "list_splat_pattern");
    if (v->kind == AV_METHOD && span_is(v->s, "shape") && !splat &&
        tensor_of(v->self))
        shape_fix(&in->dims, v->self->t->s, (int)n);
    q = interp_items(in, v);
    for (uint32_t i = 0; i < n; i++) {
        TSNode t = pynode_child(target, i);
        if (q && q->n == n && !splat)
            interp_bind(in, fr, t, q->v[i]);
        else if (!pynode_is(t, "list_splat_pattern"))
            interp_bind(in, fr, t,
                        q && splat && i < q->n &&
                                !pynode_is(pynode_child(target, 0),
                                           "list_splat_pattern")
                            ? q->v[i]
                            : interp_unknown(in));
        else if (pynode_count(t))
            interp_bind(in, fr, pynode_child(t, 0), interp_unknown(in));
    }
}

void interp_bind(struct interp *in, struct frame *fr, TSNode target,
                 struct aval *v)
{
    if (pynode_is(target, "identifier")) {
        anames_set(in->a, &fr->vars, text_of(in, target), v);
    } else if (pynode_is(target, "attribute")) {
        struct aval *o = interp_eval(in, fr, pynode_field(target, "object"));
        if (o->kind == AV_MODULE)
            anames_set(in->a, &o->m->attrs,
                       text_of(in, pynode_field(target, "attribute")), v);
    } else if ((pynode_is(target, "pattern_list") ||
                pynode_is(target, "tuple_pattern") ||
                pynode_is(target, "list_pattern")) &&
               in->depth < MAX_NEST) {
        in->depth++;
        unpack(in, fr, target, v);
        in->depth--;
    }
}

/* ---- expressions ---- */

static struct aval *number(struct interp *in, TSNode n)
{
    char s[40];
    struct span t = text_of(in, n);
    snprintf(s, sizeof(s), "%.*s", (int)MIN(t.n, 39), t.p);
    if (pynode_is(n, "integer"))
        return av_dim(in->a, dim_int(&in->dims, strtoll(s, NULL, 0)));
    return av_float(in->a, strtod(s, NULL));
}

static struct aval *string(struct interp *in, TSNode n)
{
    struct span t = text_of(in, n);
    size_t skip = 0;
    while (skip < t.n && t.p[skip] != '\'' && t.p[skip] != '"')
        if (t.p[skip++] == 'f')
            return interp_unknown(in);
    if (t.n - skip < 2 || (t.n - skip >= 6 && t.p[skip + 1] == t.p[skip] &&
                           t.p[skip + 2] == t.p[skip]))
        return interp_unknown(in);
    return av_str(in->a, (struct span){t.p + skip + 1, t.n - skip - 2});
}

static struct aval *display(struct interp *in, struct frame *fr, TSNode n,
                            bool tuple)
{
    struct aval *v = av_seq(in->a, tuple);
    for (uint32_t i = 0; i < pynode_count(n); i++) {
        TSNode c = pynode_child(n, i);
        if (!pynode_is(c, "list_splat")) {
            if (!pynode_is(c, "comment"))
                aseq_push(in->a, v->seq, interp_eval(in, fr, c));
            continue;
        }
        struct aseq *q =
            interp_items(in, interp_eval(in, fr, pynode_child(c, 0)));
        if (!q)
            return interp_unknown(in);
        for (size_t k = 0; k < q->n; k++)
            aseq_push(in->a, v->seq, q->v[k]);
    }
    return v;
}

static struct aval *dictionary(struct interp *in, struct frame *fr, TSNode n)
{
    struct aval *v = av_new(in->a, AV_DICT);
    v->dict = arena_zalloc(in->a, sizeof(*v->dict));
    for (uint32_t i = 0; i < MIN(pynode_count(n), MAX_KEYS); i++) {
        TSNode c = pynode_child(n, i);
        if (!pynode_is(c, "pair"))
            continue;
        struct aval *k = interp_eval(in, fr, pynode_field(c, "key"));
        struct aval *x = interp_eval(in, fr, pynode_field(c, "value"));
        if (k->kind == AV_STR)
            anames_set(in->a, v->dict, k->s, x);
    }
    return v;
}

/* The clauses of a comprehension from child AT on; its body for each. */
static void comprehend(struct interp *in, struct frame *fr, TSNode n,
                       uint32_t at, TSNode body, struct aseq *out)
{
    uint32_t count = pynode_count(n);
    if (at > 8)
        return;
    if (at >= count) {
        if (out->n < 512)
            aseq_push(in->a, out, interp_eval(in, fr, body));
        return;
    }
    TSNode c = pynode_child(n, at);
    if (pynode_is(c, "if_clause")) {
        if (interp_truth(in, interp_eval(in, fr, pynode_child(c, 0))))
            comprehend(in, fr, n, at + 1, body, out);
        return;
    }
    if (!pynode_is(c, "for_in_clause")) {
        comprehend(in, fr, n, at + 1, body, out);
        return;
    }
    struct aseq *q =
        interp_items(in, interp_eval(in, fr, pynode_field(c, "right")));
    for (size_t i = 0; q && i < q->n && i < MAX_LOOP; i++) {
        interp_bind(in, fr, pynode_field(c, "left"), q->v[i]);
        comprehend(in, fr, n, at + 1, body, out);
    }
}

static struct aval *comprehension(struct interp *in, struct frame *fr, TSNode n)
{
    struct frame *inner = interp_frame(in, fr);
    struct aval *v = av_seq(in->a, false);
    inner->cls = fr->cls;
    inner->self = fr->self;
    comprehend(in, inner, n, 1, pynode_field(n, "body"), v->seq);
    return v;
}

/* `x is None`, `a in b`, `a < b` */
static int compared(struct interp *in, struct span op, struct aval *x,
                    struct aval *y)
{
    if (span_is(op, "is") || span_is(op, "is not")) {
        if (y->kind != AV_NONE || x->kind == AV_UNKNOWN)
            return -1;
        return (x->kind == AV_NONE) == span_is(op, "is");
    }
    if (x->kind == AV_STR && y->kind == AV_STR) {
        bool same = span_eq(x->s, y->s);
        return span_is(op, "==") ? same : span_is(op, "!=") ? !same : -1;
    }
    if ((span_is(op, "in") || span_is(op, "not in")) && y->kind == AV_SEQ) {
        bool found = false;
        for (size_t i = 0; i < y->seq->n; i++) {
            int same = compared(in, SPAN_LIT("=="), x, y->seq->v[i]);
            if (same < 0)
                return -1;
            found = found || same;
        }
        return found == span_is(op, "in");
    }
    if (x->kind == AV_NONE && y->kind != AV_UNKNOWN)
        return span_is(op, "!=") ? 1 : span_is(op, "==") ? 0 : -1;
    if (x->kind == AV_BOOL && y->kind == AV_BOOL)
        return span_is(op, "==")   ? x->b == y->b
               : span_is(op, "!=") ? x->b != y->b
                                   : -1;
    if (x->kind != AV_INT || y->kind != AV_INT || !x->d || !y->d)
        return -1;
    /* Sizes that are still free: as they are planned. */
    int64_t p = dim_value(&in->dims, x->d), q = dim_value(&in->dims, y->d);
    return span_is(op, "==")   ? p == q
           : span_is(op, "!=") ? p != q
           : span_is(op, "<")  ? p < q
           : span_is(op, "<=") ? p <= q
           : span_is(op, ">")  ? p > q
           : span_is(op, ">=") ? p >= q
                               : -1;
}

static struct aval *comparison(struct interp *in, struct frame *fr, TSNode n)
{
    uint32_t count = ts_node_child_count(n);
    struct aval *x = interp_eval(in, fr, ts_node_child(n, 0)), *y;
    int all = 1;
    for (uint32_t i = 1; i + 1 < count; i += 2) {
        struct span op = text_of(in, ts_node_child(n, i));
        y = interp_eval(in, fr, ts_node_child(n, i + 1));
        if (tensor_of(x) || tensor_of(y)) {
            struct tensor *t = tensor_of(x) ? tensor_of(x) : tensor_of(y);
            if (!span_starts(op, "is"))
                return av_tensor(
                    in->a,
                    tensor_of(x) && tensor_of(y)
                        ? tensor_broadcast(in, tensor_of(x)->s, tensor_of(y)->s)
                        : t->s,
                    AD_BOOL, -1);
        }
        int one = compared(in, op, x, y);
        all = one == 0 || all == 0 ? 0 : one < 0 || all < 0 ? -1 : 1;
        x = y;
    }
    return all < 0 ? interp_unknown(in) : av_bool(in->a, all);
}

static struct aval *boolean(struct interp *in, struct frame *fr, TSNode n)
{
    bool and = span_is(text_of(in, pynode_field(n, "operator")), "and");
    struct aval *x = interp_eval(in, fr, pynode_field(n, "left"));
    int t = interp_truth(in, x);
    if (t >= 0 && t != and)
        return x;
    struct aval *y = interp_eval(in, fr, pynode_field(n, "right"));
    if (t < 0 && interp_truth(in, y) == !and&&y->kind == AV_BOOL)
        return y;
    return t < 0 ? interp_unknown(in) : y;
}

static struct aval *conditional(struct interp *in, struct frame *fr, TSNode n)
{
    TSNode yes = pynode_child(n, 0), no = pynode_child(n, 2);
    int t = interp_truth(in, interp_eval(in, fr, pynode_child(n, 1)));
    if (t >= 0)
        return interp_eval(in, fr, t ? yes : no);
    struct aval *x = interp_eval(in, fr, yes);
    return x->kind == AV_UNKNOWN || x->kind == AV_NONE ? interp_eval(in, fr, no)
                                                       : x;
}

/* What the actual arguments of a call are. */
static bool actuals_of(struct interp *in, struct frame *fr, TSNode args,
                       struct actuals *out)
{
    struct aseq q = {0};
    bool whole_list = true;
    if (pynode_is(args, "generator_expression")) {
        aseq_push(in->a, &q, interp_eval(in, fr, args));
    } else {
        for (uint32_t i = 0; i < pynode_count(args); i++) {
            TSNode c = pynode_child(args, i);
            if (pynode_is(c, "keyword_argument")) {
                anames_set(in->a, &out->kw,
                           text_of(in, pynode_field(c, "name")),
                           interp_eval(in, fr, pynode_field(c, "value")));
            } else if (pynode_is(c, "list_splat")) {
                struct aseq *more =
                    interp_items(in, interp_eval(in, fr, pynode_child(c, 0)));
                whole_list = whole_list && more;
                for (size_t k = 0; more && k < more->n; k++)
                    aseq_push(in->a, &q, more->v[k]);
            } else if (pynode_is(c, "dictionary_splat")) {
                struct aval *d = interp_eval(in, fr, pynode_child(c, 0));
                if (d->kind == AV_DICT)
                    anames_copy(in->a, &out->kw, d->dict);
            } else if (!pynode_is(c, "comment")) {
                aseq_push(in->a, &q, interp_eval(in, fr, c));
            }
        }
    }
    out->v = q.v;
    out->n = q.n;
    return whole_list;
}

static struct aval *super_of(struct interp *in, struct frame *fr)
{
    struct aval *v = av_new(in->a, AV_METHOD);
    while (fr && !fr->self)
        fr = fr->outer;
    if (!fr || !fr->cls)
        return interp_unknown(in);
    v->s = SPAN_LIT("super");
    v->self = fr->self;
    v->def = fr->cls;
    return v;
}

static struct aval *call(struct interp *in, struct frame *fr, TSNode n)
{
    TSNode fn = pynode_field(n, "function");
    TSNode args = pynode_field(n, "arguments");
    struct actuals c = {0};
    if (pynode_is(fn, "identifier") && span_is(text_of(in, fn), "super"))
        return super_of(in, fr);
    struct aval *f = interp_eval(in, fr, fn);
    if (!actuals_of(in, fr, args, &c))
        return interp_unknown(in);
    return interp_call(in, fr, f, &c);
}

static struct aval *subscript(struct interp *in, struct frame *fr, TSNode n)
{
    struct aval *at[16];
    size_t count = 0;
    struct aval *v = interp_eval(in, fr, pynode_field(n, "value"));
    for (uint32_t i = 0; i < ts_node_child_count(n) && count < 16; i++) {
        const char *field = ts_node_field_name_for_child(n, i);
        if (field && strcmp(field, "subscript") == 0)
            at[count++] = interp_eval(in, fr, ts_node_child(n, i));
    }
    if (count == 1 && at[0]->kind == AV_SEQ && v->kind == AV_TENSOR) {
        struct aseq *q = at[0]->seq;
        if (q->tuple && q->n <= 16)
            return interp_item(in, v, q->v, q->n);
    }
    return interp_item(in, v, at, count);
}

static struct aval *slice(struct interp *in, struct frame *fr, TSNode n)
{
    struct aval *v = av_new(in->a, AV_SLICE);
    int at = 0;
    for (uint32_t i = 0; i < ts_node_child_count(n); i++) {
        TSNode c = ts_node_child(n, i);
        if (!ts_node_is_named(c))
            at = MIN(at + 1, 2);
        else
            v->slice[at] = interp_eval(in, fr, c);
    }
    return v;
}

static struct aval *unary(struct interp *in, struct frame *fr, TSNode n)
{
    struct aval *v = interp_eval(in, fr, pynode_field(n, "argument"));
    struct span op = text_of(in, pynode_field(n, "operator"));
    if (v->kind == AV_INT && span_is(op, "-"))
        return av_dim(in->a, dim_sub(&in->dims, dim_int(&in->dims, 0), v->d));
    if (v->kind == AV_FLOAT && span_is(op, "-"))
        return av_float(in->a, -v->x);
    return v->kind == AV_TENSOR ? v : interp_unknown(in);
}

static struct aval *eval_kind(struct interp *in, struct frame *fr, TSNode n)
{
    const char *k = ts_node_type(n);
    if (!strcmp(k, "identifier"))
        return lookup(in, fr, text_of(in, n));
    if (!strcmp(k, "call"))
        return call(in, fr, n);
    if (!strcmp(k, "attribute"))
        return interp_attribute(in,
                                interp_eval(in, fr, pynode_field(n, "object")),
                                text_of(in, pynode_field(n, "attribute")));
    if (!strcmp(k, "integer") || !strcmp(k, "float"))
        return number(in, n);
    if (!strcmp(k, "string"))
        return string(in, n);
    if (!strcmp(k, "none"))
        return av_new(in->a, AV_NONE);
    if (!strcmp(k, "true") || !strcmp(k, "false"))
        return av_bool(in->a, *k == 't');
    if (!strcmp(k, "binary_operator"))
        return interp_binary(in, text_of(in, pynode_field(n, "operator")),
                             interp_eval(in, fr, pynode_field(n, "left")),
                             interp_eval(in, fr, pynode_field(n, "right")));
    if (!strcmp(k, "parenthesized_expression") || !strcmp(k, "await"))
        return interp_eval(in, fr, pynode_child(n, 0));
    if (!strcmp(k, "subscript"))
        return subscript(in, fr, n);
    if (!strcmp(k, "slice"))
        return slice(in, fr, n);
    if (!strcmp(k, "tuple") || !strcmp(k, "expression_list"))
        return display(in, fr, n, true);
    if (!strcmp(k, "list"))
        return display(in, fr, n, false);
    if (!strcmp(k, "dictionary"))
        return dictionary(in, fr, n);
    if (!strcmp(k, "comparison_operator"))
        return comparison(in, fr, n);
    if (!strcmp(k, "boolean_operator"))
        return boolean(in, fr, n);
    if (!strcmp(k, "not_operator")) {
        int t =
            interp_truth(in, interp_eval(in, fr, pynode_field(n, "argument")));
        return t < 0 ? interp_unknown(in) : av_bool(in->a, !t);
    }
    if (!strcmp(k, "unary_operator"))
        return unary(in, fr, n);
    if (!strcmp(k, "conditional_expression"))
        return conditional(in, fr, n);
    if (!strcmp(k, "list_comprehension") || !strcmp(k, "generator_expression"))
        return comprehension(in, fr, n);
    if (!strcmp(k, "named_expression")) {
        struct aval *v = interp_eval(in, fr, pynode_field(n, "value"));
        interp_bind(in, fr, pynode_field(n, "name"), v);
        return v;
    }
    if (!strcmp(k, "ellipsis"))
        return av_new(in->a, AV_ELLIPSIS);
    if (!strcmp(k, "lambda")) {
        struct aval *v = av_new(in->a, AV_LAMBDA);
        v->node = n;
        v->home = fr;
        return v;
    }
    return interp_unknown(in);
}

struct aval *interp_eval(struct interp *in, struct frame *fr, TSNode n)
{
    struct aval *v;
    if (ts_node_is_null(n) || !interp_step(in) || in->depth >= MAX_NEST)
        return interp_unknown(in);
    in->depth++;
    v = eval_kind(in, fr, n);
    in->depth--;
    return v;
}

/* ---- statements ---- */

/* V as a size: a whole number, or a quotient that is meant to be one. */
static const struct dim *size_of(const struct aval *v)
{
    return v->kind == AV_INT || v->kind == AV_FLOAT ? v->d : NULL;
}

/* COND is made true where it is a need: a % b == 0, a == b, and. */
static void require(struct interp *in, struct frame *fr, TSNode n)
{
    while (pynode_is(n, "parenthesized_expression"))
        n = pynode_child(n, 0);
    for (int i = 0; i < 16 && pynode_is(n, "boolean_operator") &&
                    span_is(text_of(in, pynode_field(n, "operator")), "and");
         i++) {
        TSNode right = pynode_field(n, "right");
        if (!pynode_is(right, "boolean_operator"))
            require(in, fr, right);
        n = pynode_field(n, "left");
    }
    if (!pynode_is(n, "comparison_operator") || ts_node_child_count(n) != 3 ||
        !span_is(text_of(in, ts_node_child(n, 1)), "=="))
        return;
    TSNode left = ts_node_child(n, 0);
    while (pynode_is(left, "parenthesized_expression"))
        left = pynode_child(left, 0);
    struct aval *y = interp_eval(in, fr, ts_node_child(n, 2));
    if (!size_of(y))
        return;
    if (pynode_is(left, "binary_operator") &&
        span_is(text_of(in, pynode_field(left, "operator")), "%")) {
        struct aval *a = interp_eval(in, fr, pynode_field(left, "left"));
        struct aval *b = interp_eval(in, fr, pynode_field(left, "right"));
        int64_t zero;
        if (dim_known(&in->dims, y->d, &zero) && zero == 0 &&
            a->kind == AV_INT && b->kind == AV_INT)
            dim_divides(&in->dims, a->d, b->d);
        return;
    }
    dim_equal(&in->dims, size_of(interp_eval(in, fr, left)), y->d);
}

/* The opposite of a condition under which the source raises. */
static void require_not(struct interp *in, struct frame *fr, TSNode n)
{
    while (pynode_is(n, "parenthesized_expression"))
        n = pynode_child(n, 0);
    if (pynode_is(n, "not_operator")) {
        require(in, fr, pynode_field(n, "argument"));
        return;
    }
    if (!pynode_is(n, "comparison_operator") || ts_node_child_count(n) != 3 ||
        !span_is(text_of(in, ts_node_child(n, 1)), "!="))
        return;
    struct aval *x = interp_eval(in, fr, ts_node_child(n, 0));
    struct aval *y = interp_eval(in, fr, ts_node_child(n, 2));
    TSNode left = ts_node_child(n, 0);
    if (pynode_is(left, "binary_operator") &&
        span_is(text_of(in, pynode_field(left, "operator")), "%")) {
        struct aval *a = interp_eval(in, fr, pynode_field(left, "left"));
        struct aval *b = interp_eval(in, fr, pynode_field(left, "right"));
        if (a->kind == AV_INT && b->kind == AV_INT)
            dim_divides(&in->dims, a->d, b->d);
    } else {
        dim_equal(&in->dims, size_of(x), size_of(y));
    }
}

/* The block does nothing but raise. */
static bool raises(TSNode block)
{
    uint32_t n = pynode_count(block);
    return n > 0 && pynode_is(pynode_child(block, n - 1), "raise_statement");
}

static void if_statement(struct interp *in, struct frame *fr, TSNode n)
{
    TSNode cond = pynode_field(n, "condition");
    TSNode yes = pynode_field(n, "consequence");
    int t;
    if (raises(yes)) {
        require_not(in, fr, cond);
        t = 0;
    } else {
        t = interp_truth(in, interp_eval(in, fr, cond));
    }
    if (t != 0) {
        interp_block(in, fr, yes);
        return;
    }
    for (uint32_t i = 0; i < ts_node_child_count(n); i++) {
        const char *field = ts_node_field_name_for_child(n, i);
        TSNode c = ts_node_child(n, i);
        if (!field || strcmp(field, "alternative"))
            continue;
        if (pynode_is(c, "else_clause")) {
            interp_block(in, fr, pynode_field(c, "body"));
            return;
        }
        yes = pynode_field(c, "consequence");
        t = raises(yes)
                ? 0
                : interp_truth(
                      in, interp_eval(in, fr, pynode_field(c, "condition")));
        if (t != 0) {
            interp_block(in, fr, yes);
            return;
        }
    }
}

static void for_statement(struct interp *in, struct frame *fr, TSNode n)
{
    struct aval *over = interp_eval(in, fr, pynode_field(n, "right"));
    struct aseq *q = interp_items(in, over);
    size_t count = q ? MIN(q->n, (size_t)MAX_LOOP) : 1;
    for (size_t i = 0; i < count && fr->flow == FLOW_ON; i++) {
        interp_bind(in, fr, pynode_field(n, "left"),
                    q ? q->v[i] : interp_unknown(in));
        interp_block(in, fr, pynode_field(n, "body"));
        if (fr->flow == FLOW_BREAK) {
            fr->flow = FLOW_ON;
            return;
        }
        if (fr->flow == FLOW_CONTINUE)
            fr->flow = FLOW_ON;
    }
}

static void assignment(struct interp *in, struct frame *fr, TSNode n)
{
    TSNode right = pynode_field(n, "right");
    TSNode left = pynode_field(n, "left");
    struct aval *v;
    if (ts_node_is_null(right))
        return;
    if (pynode_is(n, "augmented_assignment")) {
        struct span op = text_of(in, pynode_field(n, "operator"));
        op.n -= op.n > 0;
        v = interp_binary(in, op, interp_eval(in, fr, left),
                          interp_eval(in, fr, right));
    } else {
        TSNode last = right;
        while (pynode_is(last, "assignment"))
            last = pynode_field(last, "right");
        v = interp_eval(in, fr, last);
        for (; pynode_is(right, "assignment");
             right = pynode_field(right, "right"))
            interp_bind(in, fr, pynode_field(right, "left"), v);
    }
    interp_bind(in, fr, left, v);
}

static void statement(struct interp *in, struct frame *fr, TSNode n)
{
    const char *k = ts_node_type(n);
    if (!strcmp(k, "expression_statement")) {
        TSNode c = pynode_child(n, 0);
        if (pynode_is(c, "assignment") || pynode_is(c, "augmented_assignment"))
            assignment(in, fr, c);
        else
            interp_eval(in, fr, c);
    } else if (!strcmp(k, "if_statement")) {
        if_statement(in, fr, n);
    } else if (!strcmp(k, "for_statement")) {
        for_statement(in, fr, n);
    } else if (!strcmp(k, "return_statement")) {
        fr->ret = pynode_count(n) ? interp_eval(in, fr, pynode_child(n, 0))
                                  : av_new(in->a, AV_NONE);
        fr->flow = FLOW_RETURN;
    } else if (!strcmp(k, "assert_statement")) {
        require(in, fr, pynode_child(n, 0));
    } else if (!strcmp(k, "raise_statement")) {
        fr->flow = FLOW_RAISE;
    } else if (!strcmp(k, "break_statement")) {
        fr->flow = FLOW_BREAK;
    } else if (!strcmp(k, "continue_statement")) {
        fr->flow = FLOW_CONTINUE;
    } else if (!strcmp(k, "with_statement") || !strcmp(k, "try_statement") ||
               !strcmp(k, "while_statement")) {
        interp_block(in, fr, pynode_field(n, "body"));
        if (fr->flow == FLOW_BREAK || fr->flow == FLOW_CONTINUE)
            fr->flow = FLOW_ON;
    } else if (!strcmp(k, "function_definition")) {
        struct aval *v = av_new(in->a, AV_LAMBDA);
        v->node = n;
        v->home = fr;
        anames_set(in->a, &fr->vars, text_of(in, pynode_field(n, "name")), v);
    }
}

void interp_block(struct interp *in, struct frame *fr, TSNode n)
{
    if (ts_node_is_null(n) || in->depth >= MAX_NEST)
        return;
    in->depth++;
    for (uint32_t i = 0;
         i < pynode_count(n) && fr->flow == FLOW_ON && interp_step(in); i++)
        statement(in, fr, pynode_child(n, i));
    in->depth--;
}
