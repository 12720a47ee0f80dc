/* SPDX-License-Identifier: MIT */
/*
 * Signatures and uses of parameters, read off the syntax tree. Calls of other
 * classes of the same source are followed, to a small depth: what a child
 * does with an argument, the parent does too.
 */
#include "base.h"

#include "testgen/facts_walk.h"

#define FOLLOW_MAX 400 /* methods read for one signature */

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

/* ---- signatures ---- */

const struct pydef *walk_method(const struct facts *f, const struct pydef *d,
                                const char *name, int depth)
{
    const struct pydef *m = pymod_method(f->mod, d, name);
    if (m || depth > 8)
        return m;
    for (size_t i = 0; i < d->bases.n && !m; i++) {
        const struct pydef *b = pymod_def(f->mod, d->bases.v[i].dotted);
        if (d->bases.v[i].keyword.n == 0 && b && b->is_class && b != d)
            m = walk_method(f, b, name, depth + 1);
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

void walk_signature(const struct facts *f, const struct pydef *m, bool method,
                    struct params *out)
{
    TSNode list = pynode_field(m->node, "parameters");
    uint32_t n = ts_node_is_null(list) ? 0 : ts_node_named_child_count(list);
    bool keyword = false;
    for (uint32_t i = 0, seen = 0; i < n && out->n < 64; i++) {
        TSNode c = ts_node_named_child(list, i);
        if (pynode_is(c, "comment"))
            continue;
        if (seen++ > 0 || !method)
            param_from_node(f, c, &keyword, out);
    }
}

/* ---- uses ---- */

/* "p.a" for p["a"]; other keys and texts that are too long give nothing. */
static struct span keyed_text(const struct usage *u, TSNode n, char *out,
                              size_t cap)
{
    struct span object = text_of(u->f, pynode_field(n, "value"));
    struct span key = walk_string(u->f, pynode_field(n, "subscript"));
    if (!key.n || object.n + key.n + 2 > cap)
        return (struct span){NULL, 0};
    int len = snprintf(out, cap, "%.*s.%.*s", (int)object.n, object.p,
                       (int)key.n, key.p);
    return (struct span){out, (size_t)len};
}

struct param *walk_param(const struct usage *u, TSNode n)
{
    char text[160];
    if (pynode_is(n, "identifier") || pynode_is(n, "attribute"))
        return params_find(u->ps, text_of(u->f, n));
    if (pynode_is(n, "subscript"))
        return params_find(u->ps, keyed_text(u, n, text, sizeof(text)));
    return NULL;
}

void spans_add(struct spans *a, struct span s)
{
    for (size_t i = 0; i < a->n; i++)
        if (span_eq(a->v[i], s))
            return;
    if (a->n < 64 && s.n > 0 && s.n < 128)
        array_push(a, s);
}

struct span walk_string(const struct facts *f, TSNode n)
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
        spans_add(&to->choices, from->choices.v[i]);
    for (size_t i = 0; i < from->attrs.n; i++)
        spans_add(&to->attrs, from->attrs.v[i]);
    for (size_t i = 0; i < from->keys.n; i++)
        spans_add(&to->keys, from->keys.v[i]);
    for (size_t i = 0; i < from->called.n; i++)
        spans_add(&to->called, from->called.v[i]);
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
        array_release(&ps->v[i].keys);
        array_release(&ps->v[i].called);
    }
    array_release(ps);
}

/* Its lists belong to a copy from here on. */
static void disown(struct param *p)
{
    memset(&p->choices, 0, sizeof(p->choices));
    memset(&p->attrs, 0, sizeof(p->attrs));
    memset(&p->keys, 0, sizeof(p->keys));
    memset(&p->called, 0, sizeof(p->called));
}

/* What a call runs. */
struct target {
    const struct pydef *cls; /* NULL: a function */
    const struct pydef *method;
    const struct pydef *top;
    bool self;    /* its first parameter is not among the arguments */
    bool forward; /* read as forward is */
};

static bool is_static(const struct pydef *m)
{
    for (size_t i = 0; i < m->decorators.n; i++)
        if (span_is(m->decorators.v[i].dotted, "staticmethod"))
            return true;
    return false;
}

/* super().NAME */
static bool super_target(const struct usage *u, TSNode callee, const char *name,
                         struct target *t)
{
    TSNode object = pynode_field(callee, "object");
    if (!u->cls || !pynode_is(object, "call") ||
        !span_is(text_of(u->f, pynode_field(object, "function")), "super"))
        return false;
    for (size_t i = 0; i < u->cls->bases.n && !t->method; i++) {
        const struct pydef *b = pymod_def(u->f->mod, u->cls->bases.v[i].dotted);
        if (!b || !b->is_class || b == u->cls)
            continue;
        t->cls = b;
        t->method = walk_method(u->f, b, name, 0);
    }
    return t->method != NULL;
}

/* self.NAME(...): a method, or the forward of a module of that name. */
static bool member_target(const struct usage *u, struct span member,
                          const char *name, struct target *t)
{
    t->cls = u->top;
    t->method = walk_method(u->f, u->top, name, 0);
    if (t->method || !u->forward)
        return t->method != NULL;
    TSNode value = flow_built(u->f, u->top, member);
    if (ts_node_is_null(value) || !pynode_is(value, "call"))
        return false;
    struct span dotted =
        pynode_dotted(u->f->mod->text, pynode_field(value, "function"));
    const struct pydef *d = dotted.n ? pymod_def(u->f->mod, dotted) : NULL;
    if (!d || !d->is_class)
        return false;
    t->cls = t->top = d;
    t->method = walk_method(u->f, d, "forward", 0);
    return t->method != NULL;
}

static bool find_target(const struct usage *u, TSNode callee, struct target *t)
{
    struct span dotted = pynode_dotted(u->f->mod->text, callee);
    const struct pydef *d = dotted.n ? pymod_def(u->f->mod, dotted) : NULL;
    struct span last = dotted.n
                           ? span_last_part(dotted)
                           : text_of(u->f, pynode_field(callee, "attribute"));
    char name[80];
    *t = (struct target){.top = u->top, .self = true, .forward = u->forward};
    snprintf(name, sizeof(name), "%.*s", (int)MIN(last.n, 79),
             last.p ? last.p : "");
    if (d && d->is_class) {
        t->cls = t->top = d;
        t->method = walk_method(u->f, d, "__init__", 0);
        t->forward = false;
        return t->method && !u->forward;
    }
    if (d) {
        t->method = d;
        t->self = d->outer >= 0 && u->f->mod->defs.v[d->outer].is_class &&
                  !is_static(d);
        return true;
    }
    if (!u->top)
        return false;
    if (span_starts(dotted, "self.") && last.n + 5 == dotted.n) {
        if (!member_target(u, last, name, t))
            return false;
    } else if (span_starts(dotted, "cls.") && last.n + 4 == dotted.n) {
        t->cls = u->top;
        t->method = walk_method(u->f, u->top, name, 0);
    } else if (!super_target(u, callee, name, t)) {
        return false;
    }
    if (t->method)
        t->self = !is_static(t->method);
    return t->method != NULL;
}

/* What a call of the source's own functions does with its argument ARG. */
static void follow(const struct usage *u, struct param *p, TSNode callee,
                   TSNode arg, uint32_t index)
{
    struct target t;
    if (u->depth >= FOLLOW_DEPTH || !*u->left || !find_target(u, callee, &t))
        return;
    --*u->left;
    struct params child = {0};
    walk_signature(u->f, t.method, t.self, &child);
    struct usage inner = {u->f,      t.cls,        t.top,  &child,
                          t.forward, u->depth + 1, u->left};
    struct param *c = NULL;
    if (pynode_is(arg, "keyword_argument"))
        c = params_find(&child, text_of(u->f, pynode_field(arg, "name")));
    else if (index < child.n)
        c = &child.v[index];
    if (c) {
        walk_uses(&inner, t.method);
        inherit_uses(p, c);
    }
    params_release(&child);
}

/* P is handed to class, function or layer CALLEE as argument ARG. */
static void passed_on(const struct usage *u, struct param *p, TSNode callee,
                      TSNode arg, uint32_t index)
{
    struct span dotted = pynode_dotted(u->f->mod->text, callee);
    struct span last = span_last_part(dotted);

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
    follow(u, p, callee, arg, index);
}

/* The parameter that "p.a.b" begins with, and "a.b". */
static struct param *rooted(struct params *ps, struct span dotted,
                            struct span *rest)
{
    size_t n = 0;
    while (n < dotted.n && dotted.p[n] != '.')
        n++;
    if (n + 1 >= dotted.n)
        return NULL;
    *rest = (struct span){dotted.p + n + 1, dotted.n - n - 1};
    return params_find(ps, (struct span){dotted.p, n});
}

/* p.name(...), p.get("name"), getattr(p, "name") */
static void see_method(const struct usage *u, TSNode callee, TSNode args)
{
    struct span name = text_of(u->f, pynode_field(callee, "attribute"));
    struct param *p = walk_param(u, pynode_field(callee, "object"));
    bool some = !ts_node_is_null(args) && ts_node_named_child_count(args) > 0;
    if (p && span_is(name, "get") && some) {
        struct span key = walk_string(u->f, ts_node_named_child(args, 0));
        p->uses |= USE_KEYED;
        spans_add(&p->attrs, key);
        spans_add(&p->keys, key);
    } else if (p) {
        spans_add(&p->called, name);
    } else {
        struct span rest, dotted = pynode_dotted(u->f->mod->text, callee);
        p = rooted(u->ps, dotted, &rest);
        if (p)
            spans_add(&p->called, rest);
    }
}

static void see_call(const struct usage *u, TSNode n)
{
    TSNode callee = pynode_field(n, "function");
    TSNode args = pynode_field(n, "arguments");
    struct param *p = walk_param(u, callee);
    if (p)
        p->uses |= USE_CALLED | (u->forward ? 0 : USE_BUILT);
    if (pynode_is(callee, "attribute"))
        see_method(u, callee, args);
    if (span_is(text_of(u->f, callee), "getattr") &&
        ts_node_named_child_count(args) == 2) {
        p = walk_param(u, ts_node_named_child(args, 0));
        if (p) {
            p->uses |= USE_ATTRS;
            spans_add(&p->attrs,
                      walk_string(u->f, ts_node_named_child(args, 1)));
        }
    }
    uint32_t count =
        ts_node_is_null(args) ? 0 : ts_node_named_child_count(args);
    for (uint32_t i = 0; i < count && i < 32; i++) {
        TSNode a = ts_node_named_child(args, i), v = a;
        if (pynode_is(a, "keyword_argument"))
            v = pynode_field(a, "value");
        if (pynode_is(a, "list_splat")) {
            p = walk_param(u, ts_node_named_child(a, 0));
            if (p) {
                p->uses |= USE_ITERATED;
                passed_on(u, p, callee, a, i);
            }
            continue;
        }
        p = walk_param(u, v);
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
        p = walk_param(u, ts_node_named_child(n, i));
    for (uint32_t i = 0; p && i < count; i++) {
        TSNode c = ts_node_named_child(n, i);
        if (pynode_is(c, "string"))
            spans_add(&p->choices, walk_string(u->f, c));
        if (!pynode_is(c, "tuple") && !pynode_is(c, "list") &&
            !pynode_is(c, "set"))
            continue;
        for (uint32_t k = 0; k < ts_node_named_child_count(c) && k < 16; k++)
            spans_add(&p->choices,
                      walk_string(u->f, ts_node_named_child(c, k)));
    }
}

/* self.NAME(...) or self.NAME.x in any method, after self.NAME = p. */
struct member {
    struct usage u;
    struct span name;
    struct param *p;
};

bool walk_is_member(const struct facts *f, TSNode n, struct span name)
{
    return pynode_is(n, "attribute") &&
           span_is(text_of(f, pynode_field(n, "object")), "self") &&
           span_eq(text_of(f, pynode_field(n, "attribute")), name);
}

/* "a.b" of self.NAME.a.b */
static struct span member_rest(const struct member *m, TSNode n)
{
    struct span dotted = pynode_dotted(m->u.f->mod->text, n);
    size_t head = 5 + m->name.n + 1;
    if (dotted.n <= head || !span_starts(dotted, "self.") ||
        memcmp(dotted.p + 5, m->name.p, m->name.n) != 0 ||
        dotted.p[head - 1] != '.')
        return (struct span){NULL, 0};
    return (struct span){dotted.p + head, dotted.n - head};
}

static void member_called(const struct member *m, TSNode callee)
{
    spans_add(&m->p->called, member_rest(m, callee));
}

static bool enter_member(void *payload, TSNode n, const char *field,
                         uint32_t depth)
{
    struct member *m = payload;
    (void)field;
    (void)depth;
    if (pynode_is(n, "call") &&
        walk_is_member(m->u.f, pynode_field(n, "function"), m->name))
        m->p->uses |= USE_CALLED;
    if (pynode_is(n, "call"))
        member_called(m, pynode_field(n, "function"));
    if (pynode_is(n, "attribute")) {
        struct span rest = member_rest(m, n);
        if (rest.n)
            m->p->uses |= USE_ATTRS;
        spans_add(&m->p->attrs, rest);
    }
    if (pynode_is(n, "for_statement") &&
        walk_is_member(m->u.f, pynode_field(n, "right"), m->name))
        m->p->uses |= USE_ITERATED;
    return true;
}

static void see_assignment(const struct usage *u, TSNode n)
{
    TSNode left = pynode_field(n, "left"), right = pynode_field(n, "right");
    struct param *p = walk_param(u, right);
    if (p &&
        (pynode_is(left, "pattern_list") || pynode_is(left, "tuple_pattern")))
        p->unpacked = MAX(p->unpacked, (int)ts_node_named_child_count(left));
    if (p && !u->forward && pynode_is(left, "attribute") &&
        span_is(text_of(u->f, pynode_field(left, "object")), "self")) {
        struct member m = {*u, text_of(u->f, pynode_field(left, "attribute")),
                           p};
        struct pyvisit v = {enter_member, NULL, &m};
        if (u->cls)
            pytree_walk(u->cls->node, &v);
        if (u->top && u->top != u->cls)
            pytree_walk(u->top->node, &v);
    }
}

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

static void see_attribute(const struct usage *u, TSNode n)
{
    struct span rest;
    struct param *p = rooted(u->ps, pynode_dotted(u->f->mod->text, n), &rest);
    if (p) {
        p->uses |= USE_ATTRS;
        spans_add(&p->attrs, rest);
    }
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
            flow_call(u, n);
    } else if (strcmp(t, "comparison_operator") == 0) {
        see_compare(u, n);
    } else if (strcmp(t, "assignment") == 0) {
        see_assignment(u, n);
        if (u->forward)
            flow_shape(u, n);
    } else if (strcmp(t, "attribute") == 0) {
        see_attribute(u, n);
    } else if (strcmp(t, "subscript") == 0) {
        p = walk_param(u, pynode_field(n, "value"));
        struct span key = walk_string(u->f, pynode_field(n, "subscript"));
        if (p) {
            p->uses |= key.n ? USE_KEYED : USE_INDEXED;
            spans_add(&p->attrs, key);
            spans_add(&p->keys, key);
            int index = small_int(text_of(u->f, pynode_field(n, "subscript")));
            p->unpacked = MAX(p->unpacked, index + 1);
        }
    } else if (strcmp(t, "for_statement") == 0 ||
               strcmp(t, "for_in_clause") == 0) {
        p = walk_param(u, pynode_field(n, "right"));
        if (p)
            p->uses |= USE_ITERATED;
    } else if (strcmp(t, "binary_operator") == 0) {
        p = walk_param(u, pynode_field(n, "left"));
        if (p)
            p->uses |= USE_ARITH;
        p = walk_param(u, pynode_field(n, "right"));
        if (p)
            p->uses |= USE_ARITH;
    }
    return true;
}

void walk_uses(const struct usage *u, const struct pydef *method)
{
    struct usage copy = *u;
    struct pyvisit v = {enter_use, NULL, &copy};
    if (u->depth <= FOLLOW_DEPTH)
        pytree_walk(pynode_field(method->node, "body"), &v);
}

/* Signature and uses of method M of class CLS. */
static void read_method(const struct facts *f, const struct pydef *cls,
                        const struct pydef *m, struct params *out, bool forward)
{
    unsigned left = FOLLOW_MAX;
    struct usage u = {f, cls, cls, out, forward, 0, &left};
    walk_signature(f, m, true, out);
    walk_uses(&u, m);
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
            data = data || span_is(span_last_part(d->decorators.v[k].dotted),
                                   "dataclass");
        if (d->is_class && data && d->outer < 0)
            spans_add(&f->classes, d->name);
    }
}

/* What `**kwargs` hands to the constructors of the bases, by keyword. */
static void read_base_signatures(const struct facts *f, const struct pydef *d,
                                 struct params *out, int depth)
{
    for (size_t i = 0; i < d->bases.n && depth < 8; i++) {
        const struct pydef *b = pymod_def(f->mod, d->bases.v[i].dotted);
        const struct pydef *m = b && b->is_class && b != d
                                    ? walk_method(f, b, "__init__", 0)
                                    : NULL;
        struct params base = {0};
        if (!m)
            continue;
        read_method(f, b, m, &base, false);
        for (size_t k = 0; k < base.n; k++) {
            struct param p = base.v[k];
            if (p.kind == PARAM_VAR || p.kind == PARAM_VAR_KW ||
                params_find(out, p.name) || out->n >= 64)
                continue;
            disown(&base.v[k]);
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
    const struct pydef *m = walk_method(f, f->entry, "__init__", 0);
    if (m) {
        read_method(f, f->entry, m, &f->init, false);
        f->has_var_kw = has_var_kw(&f->init);
        if (f->has_var_kw)
            read_base_signatures(f, f->entry, &f->init, 0);
    }
    m = walk_method(f, f->entry, "forward", 0);
    if (m) {
        read_method(f, f->entry, m, &f->forward, true);
        objects_read(f, m);
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
    if (!f->entry || (!f->entry->is_class && f->entry->outer >= 0))
        return err_set(e, ERR_NO_PROPOSAL, "the source has no class '%.*s'",
                       (int)entry.n, entry.p);
    f->is_function = !f->entry->is_class;
    if (f->is_function)
        function_signature(f);
    else
        facts_signature(f);
    find_configs(f);
    return 0;
}

void facts_release(struct facts *f)
{
    params_release(&f->init);
    params_release(&f->forward);
    params_release(&f->fields);
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
            disown(old);
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
            disown(&ps->v[i]);
        }
    params_release(ps);
    *ps = out;
}
