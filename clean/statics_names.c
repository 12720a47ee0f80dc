/* SPDX-License-Identifier: MIT */
/* What names are worth: bindings, parameters, attributes, options. */
#include "base.h"

#include "clean/statics_priv.h"

#define MAX_TRIES 4 /* bindings of one attribute that are looked at */

static uint32_t offset_of(const struct pymod *m, struct span name)
{
    return (uint32_t)(name.p - m->text.p);
}

/* Item of a sequence that the target NAME of pattern LEFT gets of V. */
static struct val *unpack(struct question q, TSNode left, struct span name,
                          const struct val *v)
{
    const struct val *l = statics_items(v);

    for (uint32_t i = 0; l && i < pynode_count(left); i++)
        if (span_eq(pynode_text(q.f->m->text, pynode_child(left, i)), name))
            return val_at(l, i);
    return NULL;
}

/* Node of the value that S is bound to. */
static TSNode bound_node(struct question q, const struct pysym *s)
{
    TSNode n = {0};

    if ((s->kind == PYSYM_ASSIGN || s->kind == PYSYM_ANNOTATED) &&
        s->value_end > s->value_start)
        n = statics_node(q.s, q.f, s->value_start, s->value_end);
    while (pynode_is(n, "assignment"))
        n = pynode_field(n, "right");
    return n;
}

/* Go into the value of S; false when that is where we come from. */
static bool enter(struct statics *s, const struct pysym *sym)
{
    for (int i = 0; i < s->n_busy; i++)
        if (s->busy[i] == sym)
            return false;
    if (s->n_busy == STATICS_BUSY)
        return false;
    s->busy[s->n_busy++] = sym;
    return true;
}

void statics_leave(struct statics *s)
{
    s->n_busy--;
}

static struct val *assigned(struct question q, const struct pysym *s)
{
    TSNode n = bound_node(q, s), up;
    struct val *v = NULL;

    if (ts_node_is_null(n) || !enter(q.s, s))
        return NULL;
    v = statics_eval(q, n);
    statics_leave(q.s);
    if (!v || !s->unpacked)
        return v;
    up = statics_around(n, "assignment", 3);
    return unpack(q, pynode_field(up, "left"), s->name, v);
}

static TSNode parameter_node(struct question q, const struct pysym *s)
{
    uint32_t at = offset_of(q.f->m, s->name);

    return pynode_parent(statics_node(q.s, q.f, at, at + (uint32_t)s->name.n));
}

static struct val *default_of(struct question q, const struct pysym *s)
{
    TSNode up = parameter_node(q, s), v = pynode_field(up, "value");

    if (!pynode_is(up, "default_parameter") &&
        !pynode_is(up, "typed_default_parameter"))
        return NULL;
    return ts_node_is_null(v) ? NULL : statics_eval(q, v);
}

/* The first of what a loop goes through. */
static struct val *first_of_loop(struct question q, const struct pysym *s)
{
    uint32_t at = offset_of(q.f->m, s->name);
    TSNode n = statics_node(q.s, q.f, at, at + (uint32_t)s->name.n), loop = n;
    const struct val *l;

    for (int i = 0; i < 4 && !ts_node_is_null(loop); i++) {
        if (pynode_is(loop, "for_statement") ||
            pynode_is(loop, "for_in_clause"))
            break;
        loop = pynode_parent(loop);
    }
    if (!pynode_is(loop, "for_statement") && !pynode_is(loop, "for_in_clause"))
        return NULL;
    l = statics_items(statics_eval(q, pynode_field(loop, "right")));
    if (val_len(l) == 0)
        return NULL;
    if (ts_node_eq(pynode_field(loop, "left"), n))
        return val_at(l, 0);
    return unpack(q, pynode_field(loop, "left"), s->name, val_at(l, 0));
}

/* Does S stand for the object a method is called on? */
static bool is_self(const struct question q, const struct pysym *s)
{
    int def = q.f->m->scopes.v[s->scope].def;

    if (s->kind != PYSYM_PARAM || def < 0 || !span_is(s->name, "self"))
        return false;
    def = q.f->m->defs.v[def].outer;
    return def >= 0 && q.f->m->defs.v[def].is_class;
}

/* self.NAME as the class around says it. */
static struct val *own_attribute(struct question q, const struct pysym *self,
                                 struct span name)
{
    const struct pymod *m = q.f->m;
    const struct pydef *method = &m->defs.v[m->scopes.v[self->scope].def];
    const struct pydef *cls = &m->defs.v[method->outer];
    const struct pysym *s = pymod_lookup(m, cls->scope, name);
    const char *key = arena_strdup(q.s->arena, name);
    struct val *v = s ? assigned(q, s) : NULL;
    int tries = 0;

    for (size_t i = 0; i < m->reads.n && !v && tries < MAX_TRIES; i++) {
        const struct pyread *x = &m->reads.v[i];
        TSNode n;

        if (x->at < cls->start || x->at >= cls->end ||
            !(x->flags & PYREAD_STORE) || x->dotted.n != name.n + 5 ||
            !span_starts(x->dotted, "self.") || !span_ends(x->dotted, key))
            continue;
        tries++;
        n = pynode_parent(statics_node(q.s, q.f, x->at, x->end));
        if (pynode_is(n, "assignment") &&
            pynode_end(pynode_field(n, "left")) == x->end)
            v = statics_eval(q, pynode_field(n, "right"));
    }
    return v;
}

struct option {
    uint32_t start, end; /* of the default; equal: a flag that is off */
};

/* add_argument(...) at read X. */
static void read_option(struct question q, const struct pyread *x)
{
    struct span text = q.f->m->text, name = {NULL, 0};
    struct option o = {0, 0};
    bool known = false;
    TSNode n = statics_node(q.s, q.f, x->at, x->end), args;

    n = statics_around(n, "call", 3);
    args = pynode_field(n, "arguments");
    for (uint32_t i = 0; i < pynode_count(args); i++) {
        TSNode c = pynode_child(args, i), v = pynode_field(c, "value");
        struct span key = pynode_text(text, pynode_field(c, "name"));
        struct val *t = pynode_is(c, "string") ? statics_text(q, c) : NULL;

        if (t && span_starts(t->s, "-") && t->s.n > name.n)
            name = t->s;
        if (span_is(key, "dest") && (t = statics_text(q, v)) != NULL)
            name = t->s;
        if (span_is(key, "default")) {
            o = (struct option){ts_node_start_byte(v), pynode_end(v)};
            known = true;
        }
        known |= span_is(key, "action") && (t = statics_text(q, v)) != NULL &&
                 span_is(t->s, "store_true");
    }
    while (name.n > 0 && name.p[0] == '-')
        name = (struct span){name.p + 1, name.n - 1};
    if (name.n == 0 || !known)
        return;
    char *key = arena_strdup(q.s->arena, name);
    struct option *kept = arena_alloc(q.s->arena, sizeof(*kept));
    *kept = o;
    for (char *p = key; *p; p++)
        *p = *p == '-' ? '_' : *p;
    if (!map_has(&q.f->options, span_str(key)))
        map_put(&q.f->options, span_str(key), kept);
}

/* args.NAME as argparse has it by default. */
static struct val *option_default(struct question q, struct span name)
{
    const struct option *o;
    const struct pymod *m = q.f->m;

    for (size_t i = 0; !q.f->options_known && i < m->reads.n; i++)
        if ((m->reads.v[i].flags & PYREAD_CALL) &&
            span_ends(m->reads.v[i].dotted, ".add_argument"))
            read_option(q, &m->reads.v[i]);
    q.f->options_known = true;
    o = map_get(&q.f->options, name);
    if (!o)
        return NULL;
    if (o->start == o->end)
        return val_bool(q.s->arena, false);
    TSNode n = statics_node(q.s, q.f, o->start, o->end);
    return ts_node_is_null(n) ? NULL : statics_eval(q, n);
}

/* Class that S, a parameter or variable, is an object of: by its annotation or
 * the call that made it, which goes into *MADE. */
static const struct pydef *class_of(struct question q, const struct pysym *s,
                                    struct sfile **file, TSNode *made)
{
    TSNode n = s->kind == PYSYM_PARAM
                   ? pynode_child(pynode_field(parameter_node(q, s), "type"), 0)
                   : bound_node(q, s);
    const struct pymod *m = NULL;
    const struct pydef *d = NULL;
    struct span dotted;

    *made = (TSNode){0};
    if (pynode_is(n, "call")) {
        *made = n;
        n = pynode_field(n, "function");
    }
    dotted = pynode_dotted(q.f->m->text, n);
    if (dotted.n > 0)
        d = pyrepo_class(
            q.s->names,
            pyrepo_resolve(q.s->names, q.f->m, ts_node_start_byte(n), dotted),
            &m);
    *file = d ? map_get(&q.s->by_path, span_str(m->path)) : NULL;
    return *file ? d : NULL;
}

/* S.NAME, S being an object. */
static struct val *attribute_of(struct question q, const struct pysym *s,
                                struct span name)
{
    struct question in = q;
    const struct pydef *d;
    const struct pysym *field;
    TSNode made;

    if (name.n == 0 || memchr(name.p, '.', name.n))
        return NULL;
    if (is_self(q, s))
        return own_attribute(q, s, name);
    d = class_of(q, s, &in.f, &made);
    if (!d)
        return option_default(q, name);
    if (!ts_node_is_null(made)) {
        struct val *args = val_list(q.s->arena), *kw = val_map(q.s->arena);

        if (statics_actuals(q, pynode_field(made, "arguments"), args, kw) == 0)
            for (size_t i = 0; i < kw->map.n; i++)
                if (span_eq(kw->map.keys[i], name))
                    return val_get(kw->map.v[i], "unknown") ? NULL
                                                            : kw->map.v[i];
    }
    field = pymod_lookup(in.f->m, d->scope, name);
    return field ? assigned(in, field) : NULL;
}

struct val *statics_own_name(struct question q, const struct pymod *m,
                             const struct pysym *s)
{
    struct val *l = val_list(q.s->arena);

    if (s->scope != 0)
        return NULL;
    val_push(q.s->arena, l, val_text(q.s->arena, span_str(m->path)));
    val_push(q.s->arena, l, val_text(q.s->arena, s->name));
    return statics_form(q, "own", l);
}

struct val *statics_name_value(struct question q, uint32_t at,
                               struct span dotted)
{
    struct pyref ref = pyrepo_resolve(q.s->names, q.f->m, at, dotted);

    if (ref.kind == PYREF_EXTERNAL)
        return span_starts(ref.dotted, "torch.")
                   ? statics_form(q, "name", val_text(q.s->arena, ref.dotted))
                   : NULL;
    if (ref.kind == PYREF_NONE) {
        const char *dot = memrchr(dotted.p, '.', dotted.n);

        return dot ? option_default(
                         q,
                         (struct span){dot + 1,
                                       (size_t)(dotted.p + dotted.n - dot - 1)})
                   : NULL;
    }
    if (ref.kind != PYREF_SYM)
        return NULL;
    q.f = map_get(&q.s->by_path, span_str(ref.mod->path));
    if (!q.f)
        return NULL;
    if (ref.rest.n > 0)
        return attribute_of(q, ref.sym, ref.rest);
    switch (ref.sym->kind) {
    case PYSYM_FUNCTION:
    case PYSYM_CLASS:
        return statics_own_name(q, ref.mod, ref.sym);
    case PYSYM_ASSIGN:
    case PYSYM_ANNOTATED:
        return assigned(q, ref.sym);
    case PYSYM_PARAM:
        return default_of(q, ref.sym);
    case PYSYM_TARGET:
        return first_of_loop(q, ref.sym);
    default:
        return NULL;
    }
}

TSNode statics_bound(struct statics *s, struct sfile *f, uint32_t at,
                     struct span name)
{
    struct question q = {s, f, 0};
    struct pyref ref = pyrepo_resolve(s->names, f->m, at, name);
    TSNode n = {0};

    if (ref.kind == PYREF_SYM && ref.mod == f->m && ref.rest.n == 0 &&
        !ref.sym->unpacked)
        n = bound_node(q, ref.sym);
    return ts_node_is_null(n) || enter(s, ref.sym) ? n : (TSNode){0};
}
