/* SPDX-License-Identifier: MIT */
/*
 * Signatures and uses of parameters, read off the syntax tree. Calls of other
 * classes of the same source are followed, to a small depth: what a child
 * does with an argument, the parent does too.
 */
#include "base.h"

#include "testgen/facts.h"

#define FOLLOW_DEPTH 4

struct param *params_find(const struct params *ps, struct span name)
{
    for (size_t i = 0; i < ps->n; i++)
        if (span_eq(ps->v[i].name, name))
            return &ps->v[i];
    return NULL;
}

bool facts_has_class(const struct facts *f, struct span name)
{
    const struct pydef *d = pymod_def(f->mod, name);
    return d && d->is_class;
}

static struct span text_of(const struct facts *f, TSNode n)
{
    return pynode_text(f->mod->text, n);
}

static struct span last_part(struct span dotted)
{
    for (size_t i = dotted.n; i > 0; i--)
        if (dotted.p[i - 1] == '.')
            return (struct span){dotted.p + i, dotted.n - i};
    return dotted;
}

/* ---- signatures ---- */

/* Method NAME of class D or of the first base in this source that has it. */
static const struct pydef *method_of(const struct facts *f,
                                     const struct pydef *d, const char *name,
                                     int depth)
{
    const struct pydef *m = pymod_method(f->mod, d, name);
    if (m || depth > 8)
        return m;
    for (size_t i = 0; i < d->bases.n && !m; i++) {
        const struct pydef *b = pymod_def(f->mod, d->bases.v[i].dotted);
        if (d->bases.v[i].keyword.n == 0 && b && b->is_class && b != d)
            m = method_of(f, b, name, depth + 1);
    }
    return m;
}

static void param_from_node(const struct facts *f, TSNode n, bool *keyword,
                            struct params *out)
{
    struct param p = {.kind = *keyword ? PARAM_KW : PARAM_POS};
    TSNode name = n;
    const char *type = ts_node_type(n);

    if (strcmp(type, "keyword_separator") == 0 || span_is(text_of(f, n), "*")) {
        *keyword = true;
        return;
    }
    if (strcmp(type, "positional_separator") == 0 ||
        span_is(text_of(f, n), "/")) {
        for (size_t i = 0; i < out->n; i++)
            out->v[i].kind = PARAM_POS_ONLY;
        return;
    }
    if (strcmp(type, "default_parameter") == 0 ||
        strcmp(type, "typed_default_parameter") == 0) {
        name = pynode_field(n, "name");
        p.has_default = true;
        p.dflt = text_of(f, pynode_field(n, "value"));
    } else if (strcmp(type, "typed_parameter") == 0) {
        name = ts_node_named_child(n, 0);
    }
    p.annotation = text_of(f, pynode_field(n, "type"));
    if (pynode_is(name, "list_splat_pattern")) {
        p.kind = PARAM_VAR;
        *keyword = true;
        name = ts_node_named_child(name, 0);
    } else if (pynode_is(name, "dictionary_splat_pattern")) {
        p.kind = PARAM_VAR_KW;
        name = ts_node_named_child(name, 0);
    }
    if (!pynode_is(name, "identifier"))
        return;
    p.name = text_of(f, name);
    array_push(out, p);
}

/* Parameters of a method without self. */
static void read_signature(const struct facts *f, const struct pydef *m,
                           struct params *out)
{
    TSNode list = pynode_field(m->node, "parameters");
    uint32_t n = ts_node_is_null(list) ? 0 : ts_node_named_child_count(list);
    bool keyword = false;
    for (uint32_t i = 0, seen = 0; i < n && out->n < 64; i++) {
        TSNode c = ts_node_named_child(list, i);
        if (pynode_is(c, "comment"))
            continue;
        if (seen++ > 0)
            param_from_node(f, c, &keyword, out);
    }
}

/* ---- uses ---- */

struct usage {
    const struct facts *f;
    const struct pydef *cls; /* class whose method is read */
    struct params *ps;       /* parameters of the method read */
    bool forward;
    int depth;
};

static void read_uses(const struct facts *f, const struct pydef *cls,
                      const struct pydef *method, struct params *ps,
                      bool forward, int depth);

static struct param *as_param(const struct usage *u, TSNode n)
{
    if (!pynode_is(n, "identifier"))
        return NULL;
    return params_find(u->ps, text_of(u->f, n));
}

static void add_span(struct spans *a, struct span s)
{
    for (size_t i = 0; i < a->n; i++)
        if (span_eq(a->v[i], s))
            return;
    if (a->n < 64 && s.n > 0 && s.n < 128)
        array_push(a, s);
}

static struct span string_value(const struct facts *f, TSNode n)
{
    struct span s = text_of(f, n);
    if (!pynode_is(n, "string") || s.n < 2)
        return (struct span){NULL, 0};
    if (s.p[0] != '\'' && s.p[0] != '"')
        return (struct span){NULL, 0};
    return (struct span){s.p + 1, s.n - 2};
}

/* Take over what another signature's parameter is known to be used for. */
static void inherit_uses(struct param *to, const struct param *from)
{
    to->uses |= from->uses;
    if (!to->unpacked)
        to->unpacked = from->unpacked;
    for (size_t i = 0; i < from->choices.n; i++)
        add_span(&to->choices, from->choices.v[i]);
    for (size_t i = 0; i < from->attrs.n; i++)
        add_span(&to->attrs, from->attrs.v[i]);
    if (!to->first.rank && !to->first.layer.n && !to->first.pattern.n) {
        to->first = from->first;
        /* its size is an expression of the other class's names */
        to->first.size = (struct span){NULL, 0};
    }
}

void params_release(struct params *ps)
{
    for (size_t i = 0; i < ps->n; i++) {
        array_release(&ps->v[i].choices);
        array_release(&ps->v[i].attrs);
    }
    array_release(ps);
}

/* P is handed to class or layer CALLEE as argument ARG. */
static void passed_on(const struct usage *u, struct param *p, TSNode callee,
                      TSNode arg, uint32_t index)
{
    struct span dotted = pynode_dotted(u->f->mod->text, callee);
    struct span last = last_part(dotted);
    const struct pydef *d = dotted.n ? pymod_def(u->f->mod, dotted) : NULL;

    if (span_is(dotted, "range")) {
        p->uses |= USE_RANGE;
    } else if (span_is(dotted, "len") || span_is(dotted, "zip") ||
               span_is(dotted, "enumerate") || span_is(dotted, "sum") ||
               span_is(dotted, "reversed")) {
        p->uses |= USE_ITERATED;
    } else if (span_is(last, "ModuleList") || span_is(last, "Sequential")) {
        p->uses |= USE_MODULES;
    } else if (span_is(last, "Linear") || span_ends(last, "1d") ||
               span_ends(last, "2d") || span_ends(last, "3d") ||
               span_is(last, "Embedding") || span_is(last, "LayerNorm")) {
        p->uses |= USE_LAYER;
    }
    if (!d || !d->is_class || u->depth >= FOLLOW_DEPTH || u->forward)
        return;
    const struct pydef *m = method_of(u->f, d, "__init__", 0);
    if (!m)
        return;
    struct params child = {0};
    read_signature(u->f, m, &child);
    read_uses(u->f, d, m, &child, false, u->depth + 1);
    struct param *c = NULL;
    if (pynode_is(arg, "keyword_argument"))
        c = params_find(&child, text_of(u->f, pynode_field(arg, "name")));
    else if (index < child.n)
        c = &child.v[index];
    if (c)
        inherit_uses(p, c);
    params_release(&child);
}

static void see_call(const struct usage *u, TSNode n)
{
    TSNode callee = pynode_field(n, "function");
    TSNode args = pynode_field(n, "arguments");
    struct param *p = as_param(u, callee);
    if (p)
        p->uses |= USE_CALLED | (u->forward ? 0 : USE_BUILT);
    if (pynode_is(callee, "attribute")) {
        p = as_param(u, pynode_field(callee, "object"));
        if (p &&
            span_is(text_of(u->f, pynode_field(callee, "attribute")), "get") &&
            ts_node_named_child_count(args) > 0) {
            p->uses |= USE_KEYED;
            add_span(&p->attrs,
                     string_value(u->f, ts_node_named_child(args, 0)));
        }
    }
    uint32_t count =
        ts_node_is_null(args) ? 0 : ts_node_named_child_count(args);
    for (uint32_t i = 0; i < count && i < 32; i++) {
        TSNode a = ts_node_named_child(args, i), v = a;
        if (pynode_is(a, "keyword_argument"))
            v = pynode_field(a, "value");
        if (pynode_is(a, "list_splat")) {
            p = as_param(u, ts_node_named_child(a, 0));
            if (p) {
                p->uses |= USE_ITERATED;
                passed_on(u, p, callee, a, i);
            }
            continue;
        }
        p = as_param(u, v);
        if (p)
            passed_on(u, p, callee, a, i);
    }
}

/* Strings that a parameter is compared with, in either order. */
static void see_compare(const struct usage *u, TSNode n)
{
    uint32_t count = ts_node_named_child_count(n);
    struct param *p = NULL;
    for (uint32_t i = 0; i < count && !p; i++)
        p = as_param(u, ts_node_named_child(n, i));
    for (uint32_t i = 0; p && i < count; i++) {
        TSNode c = ts_node_named_child(n, i);
        if (pynode_is(c, "string"))
            add_span(&p->choices, string_value(u->f, c));
        if (!pynode_is(c, "tuple") && !pynode_is(c, "list") &&
            !pynode_is(c, "set"))
            continue;
        for (uint32_t k = 0; k < ts_node_named_child_count(c) && k < 16; k++)
            add_span(&p->choices,
                     string_value(u->f, ts_node_named_child(c, k)));
    }
}

/* self.NAME(...) or self.NAME.x in any method, after self.NAME = p. */
struct member {
    struct usage u;
    struct span name;
    struct param *p;
};

static bool is_self_attr(const struct facts *f, TSNode n, struct span name)
{
    return pynode_is(n, "attribute") &&
           span_is(text_of(f, pynode_field(n, "object")), "self") &&
           span_eq(text_of(f, pynode_field(n, "attribute")), name);
}

static bool enter_member(void *payload, TSNode n, const char *field,
                         uint32_t depth)
{
    struct member *m = payload;
    (void)field;
    (void)depth;
    if (pynode_is(n, "call") &&
        is_self_attr(m->u.f, pynode_field(n, "function"), m->name))
        m->p->uses |= USE_CALLED;
    if (pynode_is(n, "attribute") &&
        is_self_attr(m->u.f, pynode_field(n, "object"), m->name)) {
        m->p->uses |= USE_ATTRS;
        add_span(&m->p->attrs, text_of(m->u.f, pynode_field(n, "attribute")));
    }
    if (pynode_is(n, "for_statement") &&
        is_self_attr(m->u.f, pynode_field(n, "right"), m->name))
        m->p->uses |= USE_ITERATED;
    return true;
}

static void see_assignment(const struct usage *u, TSNode n)
{
    TSNode left = pynode_field(n, "left"), right = pynode_field(n, "right");
    struct param *p = as_param(u, right);
    if (p &&
        (pynode_is(left, "pattern_list") || pynode_is(left, "tuple_pattern")))
        p->unpacked = MAX(p->unpacked, (int)ts_node_named_child_count(left));
    if (p && !u->forward && pynode_is(left, "attribute") &&
        span_is(text_of(u->f, pynode_field(left, "object")), "self")) {
        struct member m = {*u, text_of(u->f, pynode_field(left, "attribute")),
                           p};
        struct pyvisit v = {enter_member, NULL, &m};
        pytree_walk(u->cls->node, &v);
    }
}

static void see_shape(const struct usage *u, TSNode n);
static void see_flow(const struct usage *u, TSNode n);

/* A literal below 32, else -1. */
static int small_int(struct span s)
{
    int v = -1;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || v > 3)
            return -1;
        v = MAX(v, 0) * 10 + (s.p[i] - '0');
    }
    return v < 32 ? v : -1;
}

static bool enter_use(void *payload, TSNode n, const char *field,
                      uint32_t depth)
{
    struct usage *u = payload;
    const char *t = ts_node_type(n);
    struct param *p;
    (void)field;
    (void)depth;

    if (strcmp(t, "call") == 0) {
        see_call(u, n);
        if (u->forward)
            see_flow(u, n);
    } else if (strcmp(t, "comparison_operator") == 0) {
        see_compare(u, n);
    } else if (strcmp(t, "assignment") == 0) {
        see_assignment(u, n);
        if (u->forward)
            see_shape(u, n);
    } else if (strcmp(t, "attribute") == 0) {
        p = as_param(u, pynode_field(n, "object"));
        if (p) {
            p->uses |= USE_ATTRS;
            add_span(&p->attrs, text_of(u->f, pynode_field(n, "attribute")));
        }
    } else if (strcmp(t, "subscript") == 0) {
        p = as_param(u, pynode_field(n, "value"));
        struct span key = string_value(u->f, pynode_field(n, "subscript"));
        if (p) {
            p->uses |= key.n ? USE_KEYED : USE_INDEXED;
            add_span(&p->attrs, key);
            int index = small_int(text_of(u->f, pynode_field(n, "subscript")));
            p->unpacked = MAX(p->unpacked, index + 1);
        }
    } else if (strcmp(t, "for_statement") == 0 ||
               strcmp(t, "for_in_clause") == 0) {
        p = as_param(u, pynode_field(n, "right"));
        if (p)
            p->uses |= USE_ITERATED;
    } else if (strcmp(t, "binary_operator") == 0) {
        p = as_param(u, pynode_field(n, "left"));
        if (p)
            p->uses |= USE_ARITH;
        p = as_param(u, pynode_field(n, "right"));
        if (p)
            p->uses |= USE_ARITH;
    }
    return true;
}

/* ---- shapes of forward's arguments ---- */

static bool first_known(const struct first_use *u)
{
    return u->rank || u->layer.n || u->pattern.n;
}

/* b, c, h, w = x.shape, or x.size() */
static void see_shape(const struct usage *u, TSNode n)
{
    TSNode left = pynode_field(n, "left"), right = pynode_field(n, "right");
    if (!pynode_is(left, "pattern_list") && !pynode_is(left, "tuple_pattern"))
        return;
    if (pynode_is(right, "call"))
        right = pynode_field(right, "function");
    if (!pynode_is(right, "attribute"))
        return;
    struct param *p = as_param(u, pynode_field(right, "object"));
    struct span attr = text_of(u->f, pynode_field(right, "attribute"));
    if (!p || first_known(&p->first) ||
        (!span_is(attr, "shape") && !span_is(attr, "size")))
        return;
    int count = (int)ts_node_named_child_count(left);
    for (uint32_t i = 0; i < ts_node_named_child_count(left); i++)
        if (pynode_is(ts_node_named_child(left, i), "list_splat_pattern"))
            count = -(int)(ts_node_named_child_count(left) - 1);
    p->first.rank = count;
}

/* Rank and left side of an einops pattern. */
static void from_pattern(struct first_use *out, struct span pattern)
{
    int rank = 0, nested = 0;
    bool dots = false, word = false;
    size_t i;
    for (i = 0; i < pattern.n; i++) {
        char c = pattern.p[i];
        if (c == '-' && i + 1 < pattern.n && pattern.p[i + 1] == '>')
            break;
        if (c == ',')
            return;
        if (c == '(') {
            rank += nested++ == 0;
            word = false;
        } else if (c == ')') {
            nested--;
        } else if (c == '.') {
            dots = true;
        } else if (c == ' ') {
            word = false;
        } else if (!word) {
            word = true;
            rank += nested == 0;
        }
    }
    if (i == pattern.n || rank == 0)
        return;
    out->pattern = (struct span){pattern.p, i};
    out->rank = dots ? -rank : rank;
}

static int rank_of_layer(struct span name)
{
    if (span_ends(name, "1d"))
        return 3;
    if (span_ends(name, "2d"))
        return 4;
    if (span_ends(name, "3d"))
        return 5;
    if (span_is(name, "LSTM") || span_is(name, "GRU") || span_is(name, "RNN") ||
        span_is(name, "MultiheadAttention") || span_starts(name, "Transformer"))
        return 3;
    if (span_is(name, "PixelShuffle") || span_is(name, "Upsample") ||
        span_is(name, "PixelUnshuffle"))
        return 4;
    if (span_ends(name, "Cell"))
        return 2;
    return 0;
}

static void from_expression(const struct facts *f, TSNode value,
                            struct first_use *out, int depth);

/* return nn.Sequential(...) of a function of the source */
struct returned {
    const struct facts *f;
    TSNode call;
    bool found;
};

static bool enter_return(void *payload, TSNode n, const char *field,
                         uint32_t depth)
{
    struct returned *r = payload;
    (void)field;
    if (pynode_is(n, "return_statement") && !r->found &&
        ts_node_named_child_count(n) > 0) {
        r->call = ts_node_named_child(n, 0);
        r->found = true;
    }
    return !(depth > 0 && (pynode_is(n, "function_definition") ||
                           pynode_is(n, "class_definition")));
}

static void from_definition(const struct facts *f, const struct pydef *d,
                            struct first_use *out, int depth)
{
    if (!d->is_class) {
        struct returned r = {.f = f};
        struct pyvisit v = {enter_return, NULL, &r};
        pytree_walk(d->node, &v);
        if (r.found)
            from_expression(f, r.call, out, depth + 1);
        return;
    }
    const struct pydef *m = method_of(f, d, "forward", 0);
    struct params ps = {0};
    if (!m)
        return;
    read_signature(f, m, &ps);
    read_uses(f, d, m, &ps, true, depth + 1);
    if (ps.n > 0) {
        *out = ps.v[0].first;
        out->size = (struct span){NULL, 0};
    }
    params_release(&ps);
}

/* What the call VALUE builds says about the argument that goes into it. */
static void from_expression(const struct facts *f, TSNode value,
                            struct first_use *out, int depth)
{
    if (depth > FOLLOW_DEPTH || !pynode_is(value, "call"))
        return;
    TSNode args = pynode_field(value, "arguments");
    struct span dotted =
        pynode_dotted(f->mod->text, pynode_field(value, "function"));
    struct span name = last_part(dotted);
    TSNode first = ts_node_named_child(args, 0);
    const struct pydef *d = dotted.n ? pymod_def(f->mod, dotted) : NULL;

    if (d) {
        from_definition(f, d, out, depth);
    } else if (span_is(name, "Sequential")) {
        for (uint32_t i = 0; i < ts_node_named_child_count(args) && i < 4; i++)
            if (!first_known(out))
                from_expression(f, ts_node_named_child(args, i), out,
                                depth + 1);
    } else if (span_is(name, "Rearrange") || span_is(name, "Reduce")) {
        from_pattern(out, string_value(f, first));
    } else if (span_is(name, "Embedding")) {
        out->layer = name;
        out->size = text_of(f, first);
        out->ids = true;
    } else if (rank_of_layer(name) || span_is(name, "Linear") ||
               span_is(name, "LayerNorm") || span_is(name, "RMSNorm")) {
        out->layer = name;
        out->rank = rank_of_layer(name);
        if (pynode_is(first, "keyword_argument"))
            first = pynode_field(first, "value");
        out->size = text_of(f, first);
    }
}

/* self.NAME = VALUE in the class. */
struct built {
    const struct facts *f;
    struct span name;
    TSNode value;
    bool found;
};

static bool enter_built(void *payload, TSNode n, const char *field,
                        uint32_t depth)
{
    struct built *b = payload;
    (void)field;
    (void)depth;
    if (pynode_is(n, "assignment") && !b->found &&
        is_self_attr(b->f, pynode_field(n, "left"), b->name)) {
        b->value = pynode_field(n, "right");
        b->found = !ts_node_is_null(b->value);
    }
    return true;
}

static void see_flow(const struct usage *u, TSNode n)
{
    TSNode callee = pynode_field(n, "function");
    TSNode args = pynode_field(n, "arguments");
    struct span dotted = pynode_dotted(u->f->mod->text, callee);
    struct span last = last_part(dotted);

    if (pynode_is(callee, "attribute")) {
        struct param *p = as_param(u, pynode_field(callee, "object"));
        if (p && !first_known(&p->first) && span_is(last, "permute") &&
            ts_node_named_child_count(args) >= 3)
            p->first.rank = (int)ts_node_named_child_count(args);
    }
    if (ts_node_is_null(args) || ts_node_named_child_count(args) == 0)
        return;
    struct param *p = as_param(u, ts_node_named_child(args, 0));
    if (!p || first_known(&p->first))
        return;
    if (span_is(last, "rearrange") || span_is(last, "reduce") ||
        span_is(last, "repeat")) {
        if (ts_node_named_child_count(args) > 1)
            from_pattern(&p->first,
                         string_value(u->f, ts_node_named_child(args, 1)));
    } else if (span_starts(dotted, "self.") && last.n + 5 == dotted.n) {
        struct built b = {.f = u->f, .name = last};
        struct pyvisit v = {enter_built, NULL, &b};
        pytree_walk(u->cls->node, &v);
        if (b.found)
            from_expression(u->f, b.value, &p->first, u->depth);
    } else if (span_starts(last, "conv") || span_ends(last, "pool2d") ||
               span_ends(last, "pool1d")) {
        p->first.rank = rank_of_layer(last);
    }
}

static void read_uses(const struct facts *f, const struct pydef *cls,
                      const struct pydef *method, struct params *ps,
                      bool forward, int depth)
{
    struct usage u = {f, cls, ps, forward, depth};
    struct pyvisit v = {enter_use, NULL, &u};
    if (depth <= FOLLOW_DEPTH)
        pytree_walk(pynode_field(method->node, "body"), &v);
}

/* ---- the whole ---- */

/* Classes that can be built without arguments and look like options. */
static void find_configs(struct facts *f)
{
    for (size_t i = 0; i < f->mod->defs.n; i++) {
        const struct pydef *d = &f->mod->defs.v[i];
        bool data =
            span_ends(d->name, "Config") || span_ends(d->name, "Args") ||
            span_ends(d->name, "Options") || span_ends(d->name, "Params");
        for (size_t k = 0; k < d->decorators.n; k++)
            data = data ||
                   span_is(last_part(d->decorators.v[k].dotted), "dataclass");
        if (d->is_class && data && d->outer < 0)
            add_span(&f->classes, d->name);
    }
}

/* What `**kwargs` hands to the constructors of the bases, by keyword. */
static void read_base_signatures(const struct facts *f, const struct pydef *d,
                                 struct params *out, int depth)
{
    for (size_t i = 0; i < d->bases.n && depth < 8; i++) {
        const struct pydef *b = pymod_def(f->mod, d->bases.v[i].dotted);
        const struct pydef *m =
            b && b->is_class && b != d ? method_of(f, b, "__init__", 0) : NULL;
        struct params base = {0};
        if (!m)
            continue;
        read_signature(f, m, &base);
        read_uses(f, b, m, &base, false, 1);
        for (size_t k = 0; k < base.n; k++) {
            struct param p = base.v[k];
            if (p.kind == PARAM_VAR || p.kind == PARAM_VAR_KW ||
                params_find(out, p.name) || out->n >= 64)
                continue;
            memset(&base.v[k].choices, 0, sizeof(p.choices));
            memset(&base.v[k].attrs, 0, sizeof(p.attrs));
            p.kind = PARAM_KW;
            p.inherited = true;
            array_push(out, p);
        }
        params_release(&base);
        read_base_signatures(f, b, out, depth + 1);
    }
}

static bool has_var_kw(const struct params *ps)
{
    for (size_t i = 0; i < ps->n; i++)
        if (ps->v[i].kind == PARAM_VAR_KW)
            return true;
    return false;
}

void facts_signature(struct facts *f)
{
    const struct pydef *m = method_of(f, f->entry, "__init__", 0);
    if (m) {
        read_signature(f, m, &f->init);
        read_uses(f, f->entry, m, &f->init, false, 0);
        f->has_var_kw = has_var_kw(&f->init);
        if (f->has_var_kw)
            read_base_signatures(f, f->entry, &f->init, 0);
    }
    m = method_of(f, f->entry, "forward", 0);
    if (m) {
        read_signature(f, m, &f->forward);
        read_uses(f, f->entry, m, &f->forward, true, 0);
    }
}

int facts_read(struct facts *f, struct pyparser *p, struct span source,
               struct span entry, struct err *e)
{
    memset(f, 0, sizeof(*f));
    f->mod = pymod_new(p, "module.py", source, e);
    if (!f->mod)
        return -1;
    f->entry = pymod_def(f->mod, entry);
    if (!f->entry || !f->entry->is_class)
        return err_set(e, ERR_NO_PROPOSAL, "the source has no class '%.*s'",
                       (int)entry.n, entry.p);
    facts_signature(f);
    find_configs(f);
    return 0;
}

void facts_release(struct facts *f)
{
    params_release(&f->init);
    params_release(&f->forward);
    array_release(&f->classes);
    if (f->mod)
        pymod_free(f->mod);
    arena_release(&f->arena);
    memset(f, 0, sizeof(*f));
}

static enum param_kind kind_from(struct span s)
{
    if (span_is(s, "positional_only"))
        return PARAM_POS_ONLY;
    if (span_is(s, "keyword_only"))
        return PARAM_KW;
    if (span_is(s, "var_positional"))
        return PARAM_VAR;
    if (span_is(s, "var_keyword"))
        return PARAM_VAR_KW;
    return PARAM_POS;
}

void facts_merge(struct facts *f, struct params *ps, const struct val *list)
{
    struct params out = {0};
    if (!list || list->type != VAL_LIST)
        return;
    for (size_t i = 0; i < val_len(list) && i < 64; i++) {
        const struct val *v = val_at(list, i);
        struct span name = val_gets(v, "name");
        struct param *old = params_find(ps, name);
        struct param p = {0};
        if (old) {
            p = *old;
            memset(&old->choices, 0, sizeof(old->choices));
            memset(&old->attrs, 0, sizeof(old->attrs));
        }
        p.name = arena_span(&f->arena, name);
        p.kind = kind_from(val_gets(v, "kind"));
        p.has_default = val_getb(v, "has_default", false);
        if (!p.annotation.n)
            p.annotation = arena_span(&f->arena, val_gets(v, "annotation"));
        array_push(&out, p);
    }
    for (size_t i = 0; i < ps->n && has_var_kw(&out); i++)
        if (ps->v[i].inherited && !params_find(&out, ps->v[i].name)) {
            array_push(&out, ps->v[i]);
            memset(&ps->v[i].choices, 0, sizeof(ps->v[i].choices));
            memset(&ps->v[i].attrs, 0, sizeof(ps->v[i].attrs));
        }
    params_release(ps);
    *ps = out;
}
