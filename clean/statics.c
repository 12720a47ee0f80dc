/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <math.h>

#include "clean/statics.h"

#define MAX_DEPTH 24
#define MAX_STEPS 600
#define MAX_OPEN  8 /* trees at a time, ten times their text */
#define MAX_ITEMS 64
#define MAX_TEXT  120
#define MAX_TRIES 4 /* bindings of one attribute that are looked at */

struct question {
    struct statics *s;
    struct sfile *f;
    int depth;
};

TSNode statics_child(TSNode n, uint32_t i)
{
    return ts_node_is_null(n) ? n : ts_node_named_child(n, i);
}

uint32_t statics_count(TSNode n)
{
    return ts_node_is_null(n) ? 0 : ts_node_named_child_count(n);
}

TSNode statics_parent(TSNode n)
{
    return ts_node_is_null(n) ? n : ts_node_parent(n);
}

uint32_t statics_end(TSNode n)
{
    return ts_node_is_null(n) ? 0 : ts_node_end_byte(n);
}

static struct val *value(struct question q, TSNode n);
static int arguments(struct question q, TSNode n, struct val *args,
                     struct val *kw);

void statics_init(struct statics *s, struct pyparser *p, struct arena *a)
{
    *s = (struct statics){
        .names = pyrepo_new_borrowing(), .parser = p, .arena = a};
}

void statics_close(struct statics *s)
{
    for (size_t i = 0; i < s->files.n && s->n_open > 0; i++)
        if (s->files.v[i]->open) {
            pytree_release(&s->files.v[i]->tree);
            s->files.v[i]->open = false;
            s->n_open--;
        }
}

void statics_release(struct statics *s)
{
    statics_close(s);
    for (size_t i = 0; i < s->files.n; i++) {
        map_release(&s->files.v[i]->options);
        free(s->files.v[i]);
    }
    array_release(&s->files);
    map_release(&s->by_path);
    pyrepo_free(s->names);
}

struct sfile *statics_add(struct statics *s, struct pymod *m)
{
    struct sfile *f = xcalloc(1, sizeof(*f));

    f->m = m;
    array_push(&s->files, f);
    map_put(&s->by_path, span_str(m->path), f);
    pyrepo_add(s->names, m);
    return f;
}

TSNode statics_root(struct statics *s, struct sfile *f)
{
    struct err e;

    if (f->m->tree.tree)
        return ts_tree_root_node(f->m->tree.tree);
    if (!f->open && s->n_open < MAX_OPEN &&
        pytree_parse(&f->tree, s->parser, f->m->text, 0, &e) == 0) {
        f->open = true;
        s->n_open++;
    }
    return f->open ? ts_tree_root_node(f->tree.tree) : (TSNode){0};
}

void statics_begin(struct statics *s)
{
    s->steps = MAX_STEPS;
    s->n_busy = 0;
}

TSNode statics_node(struct statics *s, struct sfile *f, uint32_t start,
                    uint32_t end)
{
    TSNode root = statics_root(s, f);

    return ts_node_is_null(root)
               ? root
               : ts_node_named_descendant_for_byte_range(root, start, end);
}

TSNode statics_around(TSNode n, const char *type, int up)
{
    for (; up > 0 && !ts_node_is_null(n); up--, n = statics_parent(n))
        if (pynode_is(n, type))
            return n;
    return (TSNode){0};
}

const struct val *statics_items(const struct val *v)
{
    if (v && v->type == VAL_MAP)
        v = val_get(v, "tuple");
    return v && v->type == VAL_LIST ? v : NULL;
}

static struct val *form(struct question q, const char *key, struct val *v)
{
    struct val *m = val_map(q.s->arena);

    val_set(q.s->arena, m, key, v);
    return m;
}

/* ---- literals ---- */

static struct val *number(struct question q, struct span text)
{
    char digits[64];
    size_t n = 0;
    bool whole = true;
    char *end;

    if (text.n >= sizeof(digits))
        return NULL;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != '_')
            digits[n++] = text.p[i];
    digits[n] = '\0';
    if (n > 1 && digits[0] == '0' && strchr("xXoObB", digits[1]))
        return NULL;
    whole = strspn(digits, "0123456789") == n;
    errno = 0;
    if (whole) {
        long long i = strtoll(digits, &end, 10);

        return errno || *end ? NULL : val_int(q.s->arena, i);
    }
    double d = strtod(digits, &end);
    return *end || !isfinite(d) ? NULL : val_float(q.s->arena, d);
}

/* Without escapes, replacement fields and bytes. */
static struct val *text_of(struct question q, TSNode n)
{
    struct span s = pynode_text(q.f->m->text, n);
    size_t quotes = 1;

    while (s.n > 0 && (*s.p == 'r' || *s.p == 'u')) {
        s.p++;
        s.n--;
    }
    if (s.n > 5 && s.p[0] == s.p[1] && s.p[1] == s.p[2])
        quotes = 3;
    if (s.n < 2 * quotes || (s.p[0] != '"' && s.p[0] != '\''))
        return NULL;
    s = (struct span){s.p + quotes, s.n - 2 * quotes};
    if (s.n > MAX_TEXT || (s.n > 0 && memchr(s.p, '\\', s.n)))
        return NULL;
    return val_text(q.s->arena, s);
}

static bool is_number(const struct val *v)
{
    return v && (v->type == VAL_INT || v->type == VAL_FLOAT);
}

static struct val *int_result(struct question q, char op, int64_t x, int64_t y)
{
    int64_t z = 0;
    bool over = false;

    switch (op) {
    case '+':
        over = __builtin_add_overflow(x, y, &z);
        break;
    case '-':
        over = __builtin_sub_overflow(x, y, &z);
        break;
    case '*':
        over = __builtin_mul_overflow(x, y, &z);
        break;
    case 'f': /* // rounds down */
        over = y == 0 || (y == -1 && x == INT64_MIN);
        if (!over)
            z = x / y - (x % y != 0 && (x < 0) != (y < 0));
        break;
    case '%':
        over = y <= 0;
        if (!over)
            z = (x % y + y) % y;
        break;
    case '^':
        over = y < 0 || y > 62;
        z = 1;
        for (int64_t i = 0; i < y && !over; i++)
            over = __builtin_mul_overflow(z, x, &z);
        break;
    default:
        over = true;
    }
    return over ? NULL : val_int(q.s->arena, z);
}

static struct val *float_result(struct question q, char op, double x, double y)
{
    double z = op == '+'               ? x + y
               : op == '-'             ? x - y
               : op == '*'             ? x * y
               : op == '/' && y != 0.0 ? x / y
               : op == 'f' && y != 0.0 ? floor(x / y)
               : op == '^'             ? pow(x, y)
                                       : NAN;

    return isfinite(z) ? val_float(q.s->arena, z) : NULL;
}

/* [4] * 3, [1] + [2] */
static struct val *sequence_result(struct question q, char op,
                                   const struct val *x, const struct val *y)
{
    const struct val *a = statics_items(x), *b = statics_items(y);
    struct val *l = val_list(q.s->arena);
    int64_t times = 1;

    if (op == '*' && y->type == VAL_INT)
        times = y->i;
    else if (op != '+' || !b || x->type != y->type)
        return NULL;
    if (times < 0 || times > MAX_ITEMS ||
        val_len(a) * (size_t)times + val_len(b) > MAX_ITEMS)
        return NULL;
    for (int64_t k = 0; k < times; k++)
        for (size_t i = 0; i < val_len(a); i++)
            val_push(q.s->arena, l, val_at(a, i));
    for (size_t i = 0; i < val_len(b); i++)
        val_push(q.s->arena, l, val_at(b, i));
    return x->type == VAL_MAP ? form(q, "tuple", l) : l;
}

static struct val *binary(struct question q, TSNode n)
{
    struct span op = pynode_text(q.f->m->text, pynode_field(n, "operator"));
    struct val *x = value(q, pynode_field(n, "left"));
    struct val *y = x ? value(q, pynode_field(n, "right")) : NULL;
    char c = span_is(op, "//") ? 'f' : span_is(op, "**") ? '^' : '\0';

    if (!y)
        return NULL;
    if (!c)
        c = op.n == 1 ? op.p[0] : '?';
    if (statics_items(x))
        return sequence_result(q, c, x, y);
    if (!is_number(x) || !is_number(y))
        return NULL;
    if (x->type == VAL_INT && y->type == VAL_INT && c != '/')
        return int_result(q, c, x->i, y->i);
    return float_result(q, c, val_as_float(x, 0), val_as_float(y, 0));
}

static struct val *unary(struct question q, TSNode n)
{
    struct span op = pynode_text(q.f->m->text, pynode_field(n, "operator"));
    struct val *x = value(q, pynode_field(n, "argument"));

    if (!is_number(x) || span_is(op, "~"))
        return NULL;
    if (!span_is(op, "-"))
        return x;
    if (x->type == VAL_FLOAT)
        return val_float(q.s->arena, -x->f);
    return x->i == INT64_MIN ? NULL : val_int(q.s->arena, -x->i);
}

static struct val *items(struct question q, TSNode n)
{
    struct val *l = val_list(q.s->arena);
    uint32_t count = statics_count(n);

    if (count > MAX_ITEMS)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        TSNode c = statics_child(n, i);
        struct val *v;

        if (pynode_is(c, "comment"))
            continue;
        v = value(q, c);
        if (!v)
            return NULL;
        val_push(q.s->arena, l, v);
    }
    return l;
}

static void put(struct question q, struct val *map, struct span key,
                struct val *v)
{
    if (map->map.n < MAX_ITEMS)
        val_set(q.s->arena, map, arena_strdup(q.s->arena, key), v);
}

/* Copy the entries of a {dict: ...}; false when it is none. */
static bool merge(struct question q, struct val *into, const struct val *v)
{
    const struct val *d = v && v->type == VAL_MAP ? val_get(v, "dict") : NULL;

    for (size_t i = 0; i < val_len(d); i++)
        put(q, into, d->map.keys[i], d->map.v[i]);
    return d != NULL;
}

static struct val *dictionary(struct question q, TSNode n)
{
    struct val *d = val_map(q.s->arena);

    for (uint32_t i = 0; i < statics_count(n); i++) {
        TSNode c = statics_child(n, i);
        struct val *key, *v;

        if (i > MAX_ITEMS)
            return NULL;
        if (pynode_is(c, "comment"))
            continue;
        if (pynode_is(c, "dictionary_splat")) {
            if (!merge(q, d, value(q, statics_child(c, 0))))
                return NULL;
            continue;
        }
        key = value(q, pynode_field(c, "key"));
        v = key && key->type == VAL_STR ? value(q, pynode_field(c, "value"))
                                        : NULL;
        if (!v)
            return NULL;
        put(q, d, key->s, v);
    }
    return form(q, "dict", d);
}

/* ---- names ---- */

static uint32_t offset_of(const struct pymod *m, struct span name)
{
    return (uint32_t)(name.p - m->text.p);
}

/* Item of a sequence that the target NAME of pattern LEFT gets of V. */
static struct val *unpack(struct question q, TSNode left, struct span name,
                          const struct val *v)
{
    const struct val *l = statics_items(v);

    for (uint32_t i = 0; l && i < statics_count(left); i++)
        if (span_eq(pynode_text(q.f->m->text, statics_child(left, i)), name))
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
    v = value(q, n);
    statics_leave(q.s);
    if (!v || !s->unpacked)
        return v;
    up = statics_around(n, "assignment", 3);
    return unpack(q, pynode_field(up, "left"), s->name, v);
}

static TSNode parameter_node(struct question q, const struct pysym *s)
{
    uint32_t at = offset_of(q.f->m, s->name);

    return statics_parent(statics_node(q.s, q.f, at, at + (uint32_t)s->name.n));
}

static struct val *default_of(struct question q, const struct pysym *s)
{
    TSNode up = parameter_node(q, s), v = pynode_field(up, "value");

    if (!pynode_is(up, "default_parameter") &&
        !pynode_is(up, "typed_default_parameter"))
        return NULL;
    return ts_node_is_null(v) ? NULL : value(q, v);
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
        loop = statics_parent(loop);
    }
    if (!pynode_is(loop, "for_statement") && !pynode_is(loop, "for_in_clause"))
        return NULL;
    l = statics_items(value(q, pynode_field(loop, "right")));
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
        n = statics_parent(statics_node(q.s, q.f, x->at, x->end));
        if (pynode_is(n, "assignment") &&
            statics_end(pynode_field(n, "left")) == x->end)
            v = value(q, pynode_field(n, "right"));
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
    for (uint32_t i = 0; i < statics_count(args); i++) {
        TSNode c = statics_child(args, i), v = pynode_field(c, "value");
        struct span key = pynode_text(text, pynode_field(c, "name"));
        struct val *t = pynode_is(c, "string") ? text_of(q, c) : NULL;

        if (t && span_starts(t->s, "-") && t->s.n > name.n)
            name = t->s;
        if (span_is(key, "dest") && (t = text_of(q, v)) != NULL)
            name = t->s;
        if (span_is(key, "default")) {
            o = (struct option){ts_node_start_byte(v), statics_end(v)};
            known = true;
        }
        known |= span_is(key, "action") && (t = text_of(q, v)) != NULL &&
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
    return ts_node_is_null(n) ? NULL : value(q, n);
}

/* Class that S, a parameter or variable, is an object of: by its annotation or
 * the call that made it, which goes into *MADE. */
static const struct pydef *class_of(struct question q, const struct pysym *s,
                                    struct sfile **file, TSNode *made)
{
    TSNode n =
        s->kind == PYSYM_PARAM
            ? statics_child(pynode_field(parameter_node(q, s), "type"), 0)
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

        if (arguments(q, pynode_field(made, "arguments"), args, kw) == 0)
            for (size_t i = 0; i < kw->map.n; i++)
                if (span_eq(kw->map.keys[i], name))
                    return val_get(kw->map.v[i], "unknown") ? NULL
                                                            : kw->map.v[i];
    }
    field = pymod_lookup(in.f->m, d->scope, name);
    return field ? assigned(in, field) : NULL;
}

static struct val *own_name(struct question q, const struct pymod *m,
                            const struct pysym *s)
{
    struct val *l = val_list(q.s->arena);

    if (s->scope != 0)
        return NULL;
    val_push(q.s->arena, l, val_text(q.s->arena, span_str(m->path)));
    val_push(q.s->arena, l, val_text(q.s->arena, s->name));
    return form(q, "own", l);
}

static struct val *name_value(struct question q, uint32_t at,
                              struct span dotted)
{
    struct pyref ref = pyrepo_resolve(q.s->names, q.f->m, at, dotted);

    if (ref.kind == PYREF_EXTERNAL)
        return span_starts(ref.dotted, "torch.")
                   ? form(q, "name", val_text(q.s->arena, ref.dotted))
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
        return own_name(q, ref.mod, ref.sym);
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

/* ---- calls ---- */

/* The whole of a text of identifiers and dots is the name of a class. */
static bool names_class(struct span dotted)
{
    const char *dot = dotted.n ? memrchr(dotted.p, '.', dotted.n) : NULL;

    return dot && dot[1] >= 'A' && dot[1] <= 'Z';
}

/* list(x), tuple(x), dict(a=1), int(x), float(x) */
static struct val *builtin_call(struct question q, struct span name,
                                struct val *args, struct val *kw)
{
    const struct val *x = val_at(args, 0), *l = statics_items(x);

    if (span_is(name, "dict") && val_len(args) <= 1) {
        struct val *d = val_map(q.s->arena);

        if (x && !merge(q, d, x))
            return NULL;
        for (size_t i = 0; i < kw->map.n; i++)
            put(q, d, kw->map.keys[i], kw->map.v[i]);
        return form(q, "dict", d);
    }
    if (val_len(args) != 1 || val_len(kw) != 0)
        return NULL;
    if (span_is(name, "list") && l)
        return val_copy(q.s->arena, l);
    if (span_is(name, "tuple") && l)
        return form(q, "tuple", val_copy(q.s->arena, l));
    if (span_is(name, "float") && is_number(x))
        return val_float(q.s->arena, val_as_float(x, 0));
    if (span_is(name, "int") && is_number(x) && fabs(val_as_float(x, 0)) < 1e15)
        return val_int(q.s->arena, (int64_t)val_as_float(x, 0));
    return NULL;
}

static bool all_known(const struct val *args, const struct val *kw)
{
    for (size_t i = 0; i < val_len(args); i++)
        if (val_get(val_at(args, i), "unknown"))
            return false;
    for (size_t i = 0; i < val_len(kw); i++)
        if (val_get(kw->map.v[i], "unknown"))
            return false;
    return true;
}

static struct val *call(struct question q, TSNode n)
{
    TSNode function = pynode_field(n, "function");
    struct span dotted = pynode_dotted(q.f->m->text, function);
    struct val *args = val_list(q.s->arena), *kw = val_map(q.s->arena), *made;
    struct val *what = NULL;
    struct pyref ref;

    if (dotted.n == 0)
        return NULL;
    ref = pyrepo_resolve(q.s->names, q.f->m, ts_node_start_byte(function),
                         dotted);
    if (ref.kind == PYREF_EXTERNAL &&
        ((span_starts(ref.dotted, "torch.nn.") && names_class(ref.dotted)) ||
         span_is(ref.dotted, "functools.partial")))
        what = val_text(q.s->arena, ref.dotted);
    else if (ref.kind == PYREF_SYM && ref.rest.n == 0 &&
             (ref.sym->kind == PYSYM_CLASS || ref.sym->kind == PYSYM_FUNCTION))
        what = own_name(q, ref.mod, ref.sym);
    if (!what && ref.kind != PYREF_BUILTIN)
        return NULL;
    if (arguments(q, pynode_field(n, "arguments"), args, kw) ||
        !all_known(args, kw))
        return NULL;
    if (!what)
        return builtin_call(q, dotted, args, kw);
    made = form(q, "call", what);
    val_set(q.s->arena, made, "args", args);
    val_set(q.s->arena, made, "kw", kw);
    return made;
}

/* SEQUENCE[3], MAP["name"] */
static struct val *item(struct question q, TSNode n)
{
    struct val *x = value(q, pynode_field(n, "value"));
    struct val *k = x ? value(q, pynode_field(n, "subscript")) : NULL;
    const struct val *l = statics_items(x);
    const struct val *d = x && x->type == VAL_MAP ? val_get(x, "dict") : NULL;

    if (l && k && k->type == VAL_INT) {
        int64_t i = k->i < 0 ? k->i + (int64_t)val_len(l) : k->i;

        return i < 0 ? NULL : val_at(l, (size_t)i);
    }
    for (size_t i = 0; k && k->type == VAL_STR && i < val_len(d); i++)
        if (span_eq(d->map.keys[i], k->s))
            return d->map.v[i];
    return NULL;
}

static struct val *chosen(struct question q, TSNode n)
{
    const struct val *condition = value(q, statics_child(n, 1));
    bool yes = val_as_bool(condition, false);

    if (!condition)
        return NULL;
    if (condition->type == VAL_NIL)
        yes = false;
    else if (condition->type != VAL_BOOL)
        return NULL;
    return value(q, statics_child(n, yes ? 0 : 2));
}

static struct val *value(struct question q, TSNode n)
{
    struct arena *a = q.s->arena;
    struct span dotted;
    struct val *l;

    if (ts_node_is_null(n) || q.s->steps-- <= 0 || ++q.depth > MAX_DEPTH)
        return NULL;
    if (pynode_is(n, "integer") || pynode_is(n, "float"))
        return number(q, pynode_text(q.f->m->text, n));
    if (pynode_is(n, "true") || pynode_is(n, "false"))
        return val_bool(a, pynode_is(n, "true"));
    if (pynode_is(n, "none"))
        return val_nil(a);
    if (pynode_is(n, "string"))
        return text_of(q, n);
    if (pynode_is(n, "unary_operator"))
        return unary(q, n);
    if (pynode_is(n, "binary_operator"))
        return binary(q, n);
    if (pynode_is(n, "parenthesized_expression"))
        return value(q, statics_child(n, 0));
    if (pynode_is(n, "list"))
        return items(q, n);
    if (pynode_is(n, "tuple") || pynode_is(n, "expression_list")) {
        l = items(q, n);
        return l ? form(q, "tuple", l) : NULL;
    }
    if (pynode_is(n, "dictionary"))
        return dictionary(q, n);
    if (pynode_is(n, "call"))
        return call(q, n);
    if (pynode_is(n, "subscript"))
        return item(q, n);
    if (pynode_is(n, "conditional_expression"))
        return chosen(q, n);
    dotted = pynode_dotted(q.f->m->text, n);
    return dotted.n ? name_value(q, ts_node_start_byte(n), dotted) : NULL;
}

/* V, or that it is not known. */
static struct val *known(struct question q, struct val *v)
{
    return v ? v : form(q, "unknown", val_bool(q.s->arena, true));
}

static int one_argument(struct question q, TSNode c, struct val *args,
                        struct val *kw)
{
    TSNode in = statics_child(c, 0);

    if (pynode_is(c, "comment"))
        return 0;
    if (pynode_is(c, "keyword_argument")) {
        put(q, kw, pynode_text(q.f->m->text, pynode_field(c, "name")),
            known(q, value(q, pynode_field(c, "value"))));
    } else if (pynode_is(c, "dictionary_splat")) {
        (void)merge(q, kw, value(q, in));
    } else if (pynode_is(c, "list_splat")) {
        const struct val *l = statics_items(value(q, in));

        if (!l)
            return -1;
        for (size_t i = 0; i < val_len(l); i++)
            val_push(q.s->arena, args, val_at(l, i));
    } else {
        val_push(q.s->arena, args, known(q, value(q, c)));
    }
    return val_len(args) > MAX_ITEMS ? -1 : 0;
}

static int arguments(struct question q, TSNode n, struct val *args,
                     struct val *kw)
{
    if (!pynode_is(n, "argument_list") || statics_count(n) > MAX_ITEMS)
        return -1;
    for (uint32_t i = 0; i < statics_count(n); i++)
        if (one_argument(q, statics_child(n, i), args, kw))
            return -1;
    return 0;
}

int statics_arguments(struct statics *s, struct sfile *f, TSNode n,
                      struct val *args, struct val *kw)
{
    struct question q = {s, f, 0};

    return arguments(q, n, args, kw);
}

struct val *statics_value(struct statics *s, struct sfile *f, TSNode n)
{
    struct question q = {s, f, 0};

    return value(q, n);
}

struct val *statics_name(struct statics *s, struct sfile *f, uint32_t at,
                         struct span dotted)
{
    struct question q = {s, f, 0};

    return dotted.n ? name_value(q, at, dotted) : NULL;
}
