/* SPDX-License-Identifier: MIT */
/* What a dotted name means, followed through the files of a repository. */
#include "base.h"

#include "py/repo.h"

/* Hops from name to name, and all of them for one question. */
#define MAX_HOPS  50
#define MAX_STEPS 1000

static const struct pyref none = {PYREF_NONE, NULL, NULL, {NULL, 0}, {NULL, 0}};

static struct pyref follow_sym(struct pyrepo *r, const struct pymod *m,
                               const struct pysym *s, struct span rest,
                               int hops);

static struct span split(struct span dotted, struct span *rest)
{
    const char *dot = dotted.n ? memchr(dotted.p, '.', dotted.n) : NULL;
    if (!dot) {
        *rest = (struct span){NULL, 0};
        return dotted;
    }
    size_t n = (size_t)(dot - dotted.p);
    *rest = (struct span){dot + 1, dotted.n - n - 1};
    return (struct span){dotted.p, n};
}

/* "A.B.C" in the repository's memory; empty parts left out. */
static struct span join(struct pyrepo *r, struct span a, struct span b,
                        struct span c)
{
    const struct span part[3] = {a, b, c};
    char *p = arena_alloc(&r->arena, a.n + b.n + c.n + 3);
    size_t n = 0;
    for (int i = 0; i < 3; i++) {
        if (part[i].n == 0)
            continue;
        if (n > 0)
            p[n++] = '.';
        memcpy(p + n, part[i].p, part[i].n);
        n += part[i].n;
    }
    p[n] = '\0';
    return (struct span){p, n};
}

static struct pyref external(struct pyrepo *r, struct span a, struct span b,
                             struct span c)
{
    struct pyref ref = none;
    ref.kind = PYREF_EXTERNAL;
    ref.dotted = join(r, a, b, c);
    return ref;
}

static const struct pysym *earlier(const struct pymod *m, const struct pysym *s)
{
    return s->earlier < 0 ? NULL : &m->syms.v[s->earlier];
}

static bool exports(const struct pymod *m, struct span name)
{
    if (!m->has_all)
        return name.n > 0 && name.p[0] != '_';
    for (size_t i = 0; i < m->all.n; i++)
        if (span_eq(m->all.v[i], name))
            return true;
    return false;
}

/* Several modules outside are star-imported and one of them has NAME: torch.nn
 * holds the layers, torch.nn.functional the functions. */
static int star_weight(struct span module, struct span name)
{
    bool capital = name.p[0] >= 'A' && name.p[0] <= 'Z';
    if (span_is(module, "torch.nn") || span_is(module, "torch.nn.modules"))
        return capital ? 3 : 1;
    if (span_is(module, "torch.nn.functional"))
        return capital ? 0 : 3;
    return span_is(module, "torch") ? 2 : 1;
}

static struct pyref follow_star(struct pyrepo *r, const struct pymod *m,
                                struct span name, struct span rest, int hops)
{
    const struct pysym *outside = NULL;
    int weight = -1;
    if (!m->has_star || hops > MAX_HOPS)
        return none;
    for (const struct pysym *s = pymod_lookup(m, 0, SPAN_LIT("*")); s;
         s = earlier(m, s)) {
        struct place *p;
        if (r->steps-- <= 0)
            break;
        enum located l = repo_locate(r, m, s->level, s->module, &p);
        if (l == LOC_EXTERNAL && star_weight(s->module, name) > weight) {
            weight = star_weight(s->module, name);
            outside = s;
        }
        struct pymod *t = l == LOC_FOUND ? place_mod(p) : NULL;
        if (!t || p->mark == r->mark || !exports(t, name))
            continue;
        p->mark = r->mark;
        struct pyref ref = none;
        for (const struct pysym *b = pymod_lookup(t, 0, name);
             b && ref.kind == PYREF_NONE; b = earlier(t, b))
            ref = follow_sym(r, t, b, rest, hops + 1);
        if (ref.kind == PYREF_NONE)
            ref = follow_star(r, t, name, rest, hops + 1);
        if (ref.kind != PYREF_NONE)
            return ref;
    }
    return outside ? external(r, outside->module, name, rest) : none;
}

/* Does S, found in P's file, import the very submodule NAME of P? Then it is
 * the submodule that is meant. */
static bool is_own_submodule(struct pyrepo *r, const struct place *p,
                             const struct pymod *m, const struct pysym *s)
{
    struct place *from;
    return s->kind == PYSYM_FROM &&
           repo_locate(r, m, s->level, s->module, &from) == LOC_FOUND &&
           from == p && span_eq(s->member, s->name);
}

static struct pyref follow_place(struct pyrepo *r, const struct place *p,
                                 struct span dotted, int hops)
{
    struct pyref ref = none;
    struct span rest, name = split(dotted, &rest);
    struct pymod *m = place_mod(p);
    if (hops > MAX_HOPS || r->steps-- <= 0)
        return none;
    if (dotted.n > 0) {
        if (m) {
            for (const struct pysym *s = pymod_lookup(m, 0, name);
                 s && ref.kind == PYREF_NONE; s = earlier(m, s))
                if (!is_own_submodule(r, p, m, s))
                    ref = follow_sym(r, m, s, rest, hops + 1);
            if (ref.kind == PYREF_NONE)
                ref = follow_star(r, m, name, rest, hops + 1);
            if (ref.kind != PYREF_NONE)
                return ref;
        }
        struct place *child = p->folder ? repo_place(r, p->base, name) : NULL;
        if (child)
            return follow_place(r, child, rest, hops + 1);
        if (!m)
            return none;
    }
    if (!m && (p->has_init || p->has_file))
        return none;
    ref.kind = PYREF_MODULE;
    ref.mod = m;
    ref.rest = dotted;
    return ref;
}

static struct pyref follow_import(struct pyrepo *r, const struct pymod *m,
                                  const struct pysym *s, struct span rest,
                                  int hops)
{
    struct place *p;
    struct span below, top = split(s->module, &below);
    enum located l = repo_locate(r, m, 0, s->module, &p);
    struct span nothing = {NULL, 0};
    if (l == LOC_EXTERNAL)
        return external(r, s->aliased ? s->module : top, rest, nothing);
    if (s->aliased)
        return l == LOC_FOUND ? follow_place(r, p, rest, hops + 1) : none;
    if (l == LOC_FOUND && below.n > 0) {
        struct span base = {p->base.p, p->base.n - below.n - 1};
        p = map_get(&r->places, base);
    } else if (l == LOC_MISSING) {
        l = repo_locate(r, m, 0, top, &p);
    }
    return l == LOC_FOUND && p ? follow_place(r, p, rest, hops + 1) : none;
}

static struct pyref follow_sym(struct pyrepo *r, const struct pymod *m,
                               const struct pysym *s, struct span rest,
                               int hops)
{
    struct place *p;
    struct pyref ref = none;
    if (hops > MAX_HOPS || r->steps-- <= 0)
        return none;
    if (s->kind == PYSYM_IMPORT)
        return follow_import(r, m, s, rest, hops);
    if (s->kind != PYSYM_FROM) {
        ref.kind = PYREF_SYM;
        ref.mod = m;
        ref.sym = s;
        ref.rest = rest;
        return ref;
    }
    switch (repo_locate(r, m, s->level, s->module, &p)) {
    case LOC_EXTERNAL:
        return external(r, s->module, s->member, rest);
    case LOC_FOUND: {
        /* The symbol itself must not answer for what it imports. */
        struct pymod *t = place_mod(p);
        struct place *child = repo_place(r, p->base, s->member);
        if (t == m && child)
            return follow_place(r, child, rest, hops + 1);
        if (t == m)
            return none;
        ref = follow_place(
            r, p, rest.n ? join(r, s->member, rest, none.rest) : s->member,
            hops + 1);
        bool unknown = ref.kind == PYREF_MODULE && ref.mod == t &&
                       ref.rest.n > 0 && t != NULL;
        return unknown ? none : ref;
    }
    default:
        return none;
    }
}

static void begin(struct pyrepo *r)
{
    repo_index(r);
    r->steps = MAX_STEPS;
    r->mark++;
}

struct pyref pyrepo_resolve_sym(struct pyrepo *r, const struct pymod *m,
                                const struct pysym *s, struct span rest)
{
    begin(r);
    return follow_sym(r, m, s, rest, 0);
}

struct pyref pyrepo_resolve(struct pyrepo *r, const struct pymod *m,
                            uint32_t at, struct span dotted)
{
    struct span rest, name = split(dotted, &rest);
    if (name.n == 0)
        return none;
    begin(r);
    const struct pysym *s = at == PY_AT_MODULE ? pymod_lookup(m, 0, name)
                                               : pymod_lookup_at(m, at, name);
    for (; s; s = earlier(m, s)) {
        struct pyref ref = follow_sym(r, m, s, rest, 0);
        if (ref.kind != PYREF_NONE || s->earlier < 0)
            return ref;
    }
    struct pyref ref = follow_star(r, m, name, rest, 0);
    bool builtin = py_is_builtin(name);
    if (builtin && (ref.kind == PYREF_NONE || ref.kind == PYREF_EXTERNAL)) {
        ref = none;
        ref.kind = PYREF_BUILTIN;
        ref.dotted = arena_span(&r->arena, dotted);
    }
    return ref;
}

/* Text of a value when it is a plain dotted name, else empty. */
static struct span dotted_value(const struct pymod *m, const struct pysym *s)
{
    struct span v = pymod_text(m, s->value_start, s->value_end);
    bool start = true;
    for (size_t i = 0; i < v.n; i++) {
        unsigned char c = (unsigned char)v.p[i];
        bool letter = c == '_' || c >= 0x80 || (c >= 'a' && c <= 'z') ||
                      (c >= 'A' && c <= 'Z');
        bool ok = letter || (!start && ((c >= '0' && c <= '9') || c == '.'));
        if (!ok)
            return (struct span){NULL, 0};
        start = c == '.';
    }
    if (start || py_is_keyword(v))
        return (struct span){NULL, 0};
    return v;
}

struct pyref pyrepo_deref(struct pyrepo *r, struct pyref ref)
{
    for (int i = 0; i < MAX_HOPS && ref.kind == PYREF_SYM; i++) {
        const struct pysym *s = ref.sym;
        if ((s->kind == PYSYM_ASSIGN || s->kind == PYSYM_ANNOTATED) &&
            !s->unpacked) {
            struct span v = dotted_value(ref.mod, s);
            if (v.n == 0)
                return ref;
            struct span all = ref.rest.n ? join(r, v, ref.rest, none.rest) : v;
            struct pyref to = pyrepo_resolve(r, ref.mod, s->value_start, all);
            if (to.kind == PYREF_NONE ||
                (to.kind == PYREF_SYM && to.sym == s && to.mod == ref.mod))
                return ref;
            ref = to;
        } else if (s->kind == PYSYM_CLASS && ref.rest.n > 0) {
            struct span rest, name = split(ref.rest, &rest);
            const struct pysym *in =
                pymod_lookup(ref.mod, ref.mod->defs.v[s->def].scope, name);
            if (!in || in->kind == PYSYM_FUNCTION)
                return ref;
            struct pyref to = pyrepo_resolve_sym(r, ref.mod, in, rest);
            if (to.kind == PYREF_NONE)
                return ref;
            ref = to;
        } else {
            return ref;
        }
    }
    return ref;
}

struct span pyrepo_ref_name(struct pyrepo *r, struct pyref ref)
{
    switch (ref.kind) {
    case PYREF_EXTERNAL:
    case PYREF_BUILTIN:
        return ref.dotted;
    case PYREF_MODULE:
        if (!ref.mod)
            return ref.rest;
        return join(r, pyrepo_module_name(r, ref.mod), ref.rest, none.rest);
    case PYREF_SYM: {
        struct span name = ref.sym->name;
        if (ref.sym->def >= 0)
            name = ref.mod->defs.v[ref.sym->def].qual;
        return join(r, pyrepo_module_name(r, ref.mod), name, ref.rest);
    }
    default:
        return none.rest;
    }
}

const struct pydef *pyrepo_class(struct pyrepo *r, struct pyref ref,
                                 const struct pymod **mod)
{
    ref = pyrepo_deref(r, ref);
    if (ref.kind != PYREF_SYM || ref.sym->kind != PYSYM_CLASS || ref.rest.n)
        return NULL;
    if (mod)
        *mod = ref.mod;
    return &ref.mod->defs.v[ref.sym->def];
}
