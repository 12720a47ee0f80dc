/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/repo.h"
#include "clean/stand.h"
#include "py/unsafe.h"

/* Length of a chain of re-exports; longer ones are cycles in practice. */
#define MAX_HOPS 64
/* Steps of one question: star imports may fan out. */
#define BUDGET 4096

void crepo_init(struct crepo *r, const struct policy *policy)
{
    *r = (struct crepo){.policy = policy, .names = pyrepo_new()};
}

void crepo_release(struct crepo *r)
{
    for (size_t i = 0; i < r->files.n; i++) {
        scan_release(&r->files.v[i]->scan);
        free(r->files.v[i]->targets);
        free(r->files.v[i]->cut);
        free(r->files.v[i]->imports);
        free(r->files.v[i]->ids);
        free(r->files.v[i]->included);
        free(r->files.v[i]->order);
        array_release(&r->files.v[i]->decorators);
        array_release(&r->files.v[i]->mutators);
        free(r->files.v[i]);
    }
    array_release(&r->files);
    map_release(&r->by_path);
    map_release(&r->unreadable);
    map_release(&r->ids);
    pyrepo_free(r->names);
    arena_release(&r->arena);
}

static struct cfile *add_file(struct crepo *r, struct pymod *m,
                              const struct val *licence)
{
    struct cfile *f;

    f = xcalloc(1, sizeof(*f));
    f->index = (int)r->files.n;
    f->m = m;
    f->licence = licence;
    scan_file(&f->scan, m, r->policy);
    pymod_drop_tree(m);
    f->cut = xcalloc(m->reads.n + 1, 1);
    f->imports = xcalloc(m->syms.n + 1, sizeof(*f->imports));
    f->ids = xcalloc(m->syms.n + 1, sizeof(*f->ids));
    f->targets = xcalloc(m->reads.n + 1, sizeof(*f->targets));
    f->included = xcalloc(m->stmts.n + 1, sizeof(*f->included));
    f->order = xcalloc(m->stmts.n + 1, sizeof(*f->order));
    array_push(&r->files, f);
    map_put(&r->by_path, span_str(m->path), f);
    pyrepo_add(r->names, m);
    return f;
}

int crepo_add(struct crepo *r, struct pyparser *p, struct span path,
              struct span source, const struct val *licence, struct err *e)
{
    char *name = arena_strdup(&r->arena, path);
    struct pymod *m;

    if (map_has(&r->by_path, path))
        return 0; /* the same file twice: one blob for each path and commit */
    m = pymod_new(p, name, source, e);
    if (!m) {
        pyrepo_add_absent(r->names, name);
        return -1;
    }
    add_file(r, m, licence);
    return 0;
}

struct cfile *crepo_add_part(struct crepo *r, struct pyparser *p,
                             struct cfile *origin, struct span path,
                             struct span source, struct err *e)
{
    struct pymod *m = pymod_new(p, arena_strdup(&r->arena, path), source, e);
    struct cfile *f = m ? add_file(r, m, origin->licence) : NULL;

    if (f)
        f->origin = origin;
    r->ordered = NULL;
    return f;
}

struct cfile *crepo_file(const struct crepo *r, struct span path)
{
    return map_get(&r->by_path, path);
}

struct cfile *crepo_of(const struct crepo *r, const struct pymod *m)
{
    return m ? map_get(&r->by_path, span_str(m->path)) : NULL;
}

bool sym_is_import(const struct pysym *s)
{
    return s->kind == PYSYM_IMPORT || s->kind == PYSYM_FROM ||
           s->kind == PYSYM_STAR;
}

bool sym_is_remote(const struct pymod *m, const struct pysym *s)
{
    enum pystmt_kind k;

    if (s->stmt < 0)
        return false;
    k = m->stmts.v[s->stmt].kind;
    return (k == PYSTMT_FUNCTION || k == PYSTMT_CLASS) &&
           s->start != m->stmts.v[s->stmt].start;
}

bool sym_is_single(const struct pymod *m, const struct pysym *s)
{
    return s->scope != 0 && s->earlier < 0 &&
           pymod_lookup(m, s->scope, s->name) == s;
}

bool crepo_is_renamed(const struct pysym *s)
{
    size_t len;

    return s->kind == PYSYM_IMPORT && s->module.n > 0 &&
           !memchr(s->module.p, '.', s->module.n) &&
           policy_renamed(s->module, &len) != NULL;
}

size_t reads_from(const struct pymod *m, uint32_t at)
{
    size_t lo = 0, hi = m->reads.n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (m->reads.v[mid].at < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* ---- bindings ---- */

size_t crepo_bindings(const struct cfile *f, struct span name,
                      const struct pysym *out[CREPO_BINDINGS])
{
    const struct pymod *m = f->m;
    const struct pysym *s = pymod_lookup(m, 0, name);
    size_t n = 0, typing = 0;

    for (; s; s = s->earlier < 0 ? NULL : &m->syms.v[s->earlier]) {
        const struct pystmt *st = s->stmt < 0 ? NULL : &m->stmts.v[s->stmt];

        if (n == CREPO_BINDINGS)
            break;
        if (st && st->is_main)
            continue;
        typing += st && st->type_checking;
        out[n++] = s;
    }
    if (typing > 0 && typing < n) {
        size_t k = 0;

        for (size_t i = 0; i < n; i++)
            if (!m->stmts.v[out[i]->stmt].type_checking)
                out[k++] = out[i];
        n = k;
    }
    return n;
}

const struct cfile *crepo_binder(const struct cfile *f, struct span name)
{
    return f->origin && !pymod_lookup(f->m, 0, name) ? f->origin : f;
}

/* A new question begins. */
static void ask(struct crepo *r)
{
    r->budget = BUDGET;
    r->question++;
}

static bool works(const struct crepo *r, const struct target *t)
{
    switch (t->kind) {
    case TARGET_SYM:
    case TARGET_MODULE:
        return true;
    case TARGET_EXTERNAL:
        return policy_has(r->policy, t->dotted);
    default:
        return false;
    }
}

static struct target import_target(struct crepo *r, struct cfile *f,
                                   const struct pysym *s, int hops);

/*
 * The binding through which NAME can be followed to somewhere else, or NULL
 * when it has to be emitted as a symbol of this file: all of its bindings
 * are imports, and it does not depend on a condition which of them counts
 * (but for a try statement, where the first that works does).
 */
static const struct pysym *followed(struct crepo *r, struct cfile *f,
                                    const struct pysym *const *b, size_t n,
                                    int hops)
{
    const struct pymod *m = f->m;
    bool simple = true, one_try = true;
    int top;

    if (n == 0)
        return NULL;
    top = m->stmts.v[b[0]->stmt].top;
    for (size_t i = 0; i < n; i++) {
        const struct pystmt *st = &m->stmts.v[b[i]->stmt];

        if (!sym_is_import(b[i]) || sym_is_remote(m, b[i]))
            return NULL;
        simple &= st->parent < 0 || st->type_checking;
        one_try &= st->top == top;
    }
    if (simple)
        return b[0];
    if (n == 1) { /* bound here or nowhere */
        struct target t = import_target(r, f, b[0], hops + 1);

        return works(r, &t) ? b[0] : NULL;
    }
    if (!one_try || !scan_is_try(&f->scan, m->stmts.v[top].start))
        return NULL;
    for (size_t i = n; i-- > 0;) {
        struct target t = import_target(r, f, b[i], hops + 1);

        if (works(r, &t))
            return b[i];
    }
    return NULL;
}

/* ---- modules ---- */

static struct span join(struct crepo *r, struct span a, struct span b)
{
    if (a.n == 0)
        return b;
    if (b.n == 0)
        return a;
    return span_str(
        arena_printf(&r->arena, "%.*s.%.*s", (int)a.n, a.p, (int)b.n, b.p));
}

static struct span first_part(struct span dotted)
{
    const char *dot = dotted.n ? memchr(dotted.p, '.', dotted.n) : NULL;

    return dot ? (struct span){dotted.p, (size_t)(dot - dotted.p)} : dotted;
}

static struct span after_part(struct span dotted, struct span part)
{
    if (part.n >= dotted.n)
        return (struct span){dotted.p + dotted.n, 0};
    return (struct span){dotted.p + part.n + 1, dotted.n - part.n - 1};
}

/* Is the package at the head of an absolute import the repository's own, so
 * that a module missing in it is missing and not external? */
static bool own_package(struct crepo *r, const struct cfile *f,
                        struct span module)
{
    return pyrepo_module(r->names, f->m, 0, first_part(module)) != NULL;
}

bool crepo_is_own(struct crepo *r, const struct cfile *f, const struct pysym *s)
{
    return s->level > 0 || own_package(r, f, s->module);
}

static struct target module_target(struct crepo *r, const struct pymod *m)
{
    struct target t = {.kind = TARGET_MODULE, .file = crepo_of(r, m)};

    if (!t.file)
        t.kind = TARGET_NONE;
    return t;
}

/* ---- names ---- */

static struct target name_target(struct crepo *r, struct cfile *f,
                                 struct span name, int hops);

static bool is_public(const struct cfile *f, struct span name)
{
    if (!f->m->has_all)
        return name.p[0] != '_';
    for (size_t i = 0; i < f->m->all.n; i++)
        if (span_eq(f->m->all.v[i], name))
            return true;
    return false;
}

/* The one module that is star-imported often and whose names are few. */
static bool is_math(struct span name)
{
    static const char *const names[] = {
        "acos",  "acosh",   "asin",      "asinh",     "atan",      "atan2",
        "atanh", "cbrt",    "ceil",      "comb",      "copysign",  "cos",
        "cosh",  "degrees", "dist",      "e",         "erf",       "erfc",
        "exp",   "exp2",    "expm1",     "fabs",      "factorial", "floor",
        "fmod",  "frexp",   "fsum",      "gamma",     "gcd",       "hypot",
        "inf",   "isclose", "isfinite",  "isinf",     "isnan",     "isqrt",
        "lcm",   "ldexp",   "lgamma",    "log",       "log10",     "log1p",
        "log2",  "modf",    "nan",       "nextafter", "perm",      "pi",
        "prod",  "radians", "remainder", "sin",       "sinh",      "sqrt",
        "tan",   "tanh",    "tau",       "trunc",     "ulp",
    };

    return span_in(name, names, ARRAY_LEN(names));
}

/* NAME through the star imports of F, the last one first. */
static struct target star_target(struct crepo *r, struct cfile *f,
                                 struct span name, int hops)
{
    struct target none = {.kind = TARGET_NONE};
    const struct pysym *outer = NULL;
    size_t n_outer = 0;

    /* Star imports fan out and come back: each file is asked once. */
    if (!f->m->has_star || hops > MAX_HOPS ||
        (f->star_question == r->question && span_eq(f->star_name, name)))
        return none;
    f->star_question = r->question;
    f->star_name = name;
    for (size_t i = f->m->globals.n; i-- > 0;) {
        const struct pysym *s = &f->m->syms.v[f->m->globals.v[i]];
        const struct pymod *m;
        struct cfile *g;
        struct target t;

        if (s->kind != PYSYM_STAR)
            continue;
        m = pyrepo_module(r->names, f->m, s->level, s->module);
        g = crepo_of(r, m);
        if (!m && s->level == 0 && !own_package(r, f, s->module)) {
            outer = s;
            n_outer++;
        }
        if (!g || !is_public(g, name))
            continue;
        t = name_target(r, g, name, hops + 1);
        if (t.kind != TARGET_NONE)
            return t;
    }
    /* With one external star import the name can only come from there. */
    if (n_outer == 1 && !py_is_builtin(name) && name.p[0] != '_' &&
        (!span_is(outer->module, "math") || is_math(name))) {
        struct target t = {
            .kind = TARGET_EXTERNAL,
            .name = name,
            .module = outer->module,
            .member = name,
            .dotted = join(r, outer->module, name),
        };

        return t;
    }
    return none;
}

/* `from module import member`: a name of that file, or its submodule. */
static struct target member_target(struct crepo *r, struct cfile *f,
                                   const struct pysym *s, int hops)
{
    struct target none = {.kind = TARGET_NONE}, t;
    const struct pymod *m = pyrepo_module(r->names, f->m, s->level, s->module);
    struct cfile *g = crepo_of(r, m);
    const struct pymod *sub;

    if (g) {
        t = name_target(r, g, s->member, hops + 1);
        if (t.kind != TARGET_NONE && t.kind != TARGET_BUILTIN)
            return t;
    }
    sub =
        pyrepo_module(r->names, f->m, s->level, join(r, s->module, s->member));
    if (sub && sub != m)
        return module_target(r, sub);
    if (m || s->level > 0 || own_package(r, f, s->module))
        return none;
    t = (struct target){
        .kind = TARGET_EXTERNAL,
        .name = s->name,
        .module = s->module,
        .member = s->member,
        .dotted = join(r, s->module, s->member),
        .aliased = s->aliased,
    };
    return t;
}

static struct target import_target(struct crepo *r, struct cfile *f,
                                   const struct pysym *s, int hops)
{
    struct target t = {.kind = TARGET_NONE};
    struct span what;
    const struct pymod *m;

    if (hops > MAX_HOPS)
        return t;
    if (s->kind == PYSYM_FROM)
        return member_target(r, f, s, hops);
    if (s->kind != PYSYM_IMPORT) {
        t.kind = TARGET_LOCAL;
        return t;
    }
    what = s->aliased ? s->module : first_part(s->module);
    m = pyrepo_module(r->names, f->m, 0, what);
    if (m)
        return module_target(r, m);
    /* `import a.b` where a is a folder without __init__.py. */
    if (!s->aliased && pyrepo_module(r->names, f->m, 0, s->module))
        return t;
    if (own_package(r, f, s->module))
        return t;
    t = (struct target){
        .kind = TARGET_EXTERNAL,
        .name = s->name,
        .module = s->module,
        .dotted = what,
        .aliased = s->aliased || crepo_is_renamed(s),
    };
    return t;
}

/* ---- ids ---- */

static int id_of(struct crepo *r, struct span key)
{
    void **place = map_ref(&r->ids, key);

    if (!*place)
        *place = (void *)(uintptr_t)r->ids.n;
    return (int)(uintptr_t)*place;
}

int crepo_key_id(struct crepo *r, struct span key)
{
    return id_of(r, key);
}

int crepo_symbol_id(struct crepo *r, const struct cfile *f, struct span name)
{
    char key[320];
    int n = snprintf(key, sizeof(key), "%d:%.*s", f->index,
                     (int)MIN(name.n, 256u), name.p);

    return id_of(r, (struct span){key, (size_t)n});
}

int crepo_sym_id(struct crepo *r, struct cfile *f, const struct pysym *s)
{
    int *id = &f->ids[s - f->m->syms.v];

    if (*id == 0)
        *id = crepo_symbol_id(r, f, s->name);
    return *id;
}

bool target_is_package(const struct target *t)
{
    return t->member.n == 0 && !t->aliased;
}

/* One entity for all of `import torch` and `import torch.utils`. */
static int import_id(struct crepo *r, const struct target *t)
{
    struct span module = target_is_package(t) ? t->name : t->module;
    char key[640];
    int n =
        snprintf(key, sizeof(key), "i:%.*s:%.*s:%.*s", (int)MIN(module.n, 200u),
                 module.p, (int)MIN(t->member.n, 200u), t->member.p,
                 (int)MIN(t->name.n, 200u), t->name.p);

    return id_of(r, (struct span){key, (size_t)n});
}

/* Fill in what follows from the rest of T. */
static void finish_target(struct crepo *r, struct target *t)
{
    const struct py_unsafe *u = NULL;
    char name[160];

    if (t->kind == TARGET_MODULE) {
        snprintf(name, sizeof(name), "m:%d", t->file->index);
        t->stand = id_of(r, span_str(name));
    } else if (t->kind == TARGET_SYM) {
        t->id = crepo_symbol_id(r, t->file, t->name);
        snprintf(name, sizeof(name), "s:%.*s.%.*s",
                 (int)MIN(pyrepo_module_name(r->names, t->file->m).n, 100u),
                 pyrepo_module_name(r->names, t->file->m).p,
                 (int)MIN(t->name.n, 50u), t->name.p);
        if (shim_find(span_str(name + 2)))
            t->stand = id_of(r, span_str(name));
    } else if (t->kind == TARGET_EXTERNAL) {
        t->id = import_id(r, t);
        t->has = policy_has(r->policy, t->dotted);
        u = py_unsafe_find(t->dotted);
        snprintf(name, sizeof(name), "s:%.*s", (int)MIN(t->dotted.n, 150u),
                 t->dotted.p);
        if ((!t->has && !policy_absent(t->dotted)) || shim_find(t->dotted))
            t->stand = id_of(r, span_str(name));
    } else if (t->kind == TARGET_BUILTIN) {
        snprintf(name, sizeof(name), "builtins.%.*s",
                 (int)MIN(t->dotted.n, 128u), t->dotted.p);
        u = py_unsafe_find(span_str(name));
        if (shim_find(span_str(name)))
            t->stand = id_of(r, span_str(name));
    }
    /* as itself only: pathlib.Path.home is below pathlib.Path */
    t->unsafe_call =
        u && u->call &&
        strlen(u->name) == t->dotted.n + (t->kind == TARGET_BUILTIN ? 9 : 0);
    t->unsafe = u && !t->unsafe_call;
}

const struct target *crepo_import(struct crepo *r, struct cfile *f,
                                  const struct pysym *s)
{
    struct target *t = &f->imports[s - f->m->syms.v];

    if (t->kind == TARGET_UNSET) {
        ask(r);
        *t = import_target(r, f, s, 0);
        finish_target(r, t);
    }
    return t;
}

static struct target name_target(struct crepo *r, struct cfile *f,
                                 struct span name, int hops)
{
    struct target t = {.kind = TARGET_NONE};
    const struct pysym *b[CREPO_BINDINGS], *s;
    size_t n;

    if (hops > MAX_HOPS || r->budget-- <= 0)
        return t;
    n = crepo_bindings(f, name, b);
    if (n == 0 && f->origin)
        return name_target(r, f->origin, name, hops + 1);
    if (n == 0) {
        t = star_target(r, f, name, hops);
        if (t.kind == TARGET_NONE && py_is_builtin(name)) {
            t.kind = TARGET_BUILTIN;
            t.dotted = name;
        }
        return t;
    }
    s = followed(r, f, b, n, hops);
    if (s) {
        t = import_target(r, f, s, hops + 1);
        /* Through an import the name is what it is called here. */
        if (t.kind == TARGET_EXTERNAL && t.name.p != s->name.p &&
            !span_eq(t.name, s->name)) {
            t.aliased |= t.member.n == 0;
            t.name = s->name;
        }
        return t;
    }
    t.kind = TARGET_SYM;
    t.file = f;
    t.name = name;
    return t;
}

/* ---- chains ---- */

uint32_t chain_end(const struct pymod *m, uint32_t at, unsigned n)
{
    const char *p = m->text.p;
    size_t i = at, end = at;

    while (n-- > 0) {
        while (i < m->text.n && strchr(" \t\n\\.#", p[i]) && p[i]) {
            if (p[i] == '#')
                while (i < m->text.n && p[i] != '\n')
                    i++;
            else
                i++;
        }
        while (i < m->text.n &&
               ((unsigned char)p[i] >= 0x80 || p[i] == '_' ||
                (p[i] >= '0' && p[i] <= '9') || (p[i] >= 'A' && p[i] <= 'Z') ||
                (p[i] >= 'a' && p[i] <= 'z')))
            i++;
        end = i;
    }
    return (uint32_t)end;
}

/* Follow REST into the file of T, a MODULE target; USED counts the parts. */
static struct target through_modules(struct crepo *r, struct cfile *f,
                                     struct target t, struct span rest,
                                     unsigned *used)
{
    while (t.kind == TARGET_MODULE && rest.n > 0) {
        struct span part = first_part(rest);
        struct cfile *g = t.file;
        struct target next = name_target(r, g, part, 0);

        if (next.kind == TARGET_NONE || next.kind == TARGET_BUILTIN) {
            struct span full =
                join(r, pyrepo_module_name(r->names, g->m), part);
            const struct pymod *m = pyrepo_module(r->names, f->m, 0, full);

            next = m && m != g->m ? module_target(r, m)
                                  : (struct target){.kind = TARGET_NONE};
        }
        t = next;
        rest = after_part(rest, part);
        (*used)++;
    }
    if (t.kind == TARGET_EXTERNAL || t.kind == TARGET_BUILTIN)
        t.dotted = join(r, t.dotted, rest);
    return t;
}

/* `import a.b.c` and the use a.b.c.X, where a or b has no __init__.py. */
static struct target by_module_path(struct crepo *r, struct cfile *f,
                                    struct span dotted, unsigned *used)
{
    struct span prefix = dotted;

    while (prefix.n > 0) {
        const struct pymod *m = pyrepo_module(r->names, f->m, 0, prefix);

        if (m) {
            *used = 1;
            for (size_t i = 0; i < prefix.n; i++)
                *used += prefix.p[i] == '.';
            return through_modules(r, f, module_target(r, m),
                                   after_part(dotted, prefix), used);
        }
        while (prefix.n > 0 && prefix.p[--prefix.n] != '.')
            ;
    }
    return (struct target){.kind = TARGET_NONE};
}

/* The import that binds NAME in the function scope SCOPE; NULL: a plain local
 * name, or one that is bound more than once. */
static const struct pysym *local_import(const struct pymod *m, int scope,
                                        struct span name)
{
    const struct pysym *s = pymod_lookup(m, scope, name);

    if (!s || !sym_is_import(s) || s->earlier >= 0)
        return NULL;
    return s;
}

static struct target chain_target(struct crepo *r, struct cfile *f, uint32_t at,
                                  int bound, struct span dotted)
{
    struct target t;
    struct span head = first_part(dotted), rest = after_part(dotted, head);
    const struct pysym *s = NULL;
    unsigned used = 1;

    ask(r);
    if (bound > 0) {
        s = local_import(f->m, bound, head);
        if (!s)
            return (struct target){.kind = TARGET_LOCAL};
        t = import_target(r, f, s, 0);
    } else {
        t = name_target(r, f, head, 0);
        s = pymod_lookup(crepo_binder(f, head)->m, 0, head);
    }
    if (t.kind == TARGET_NONE && s && s->kind == PYSYM_IMPORT && !s->aliased)
        t = by_module_path(r, f, dotted, &used);
    else
        t = through_modules(r, f, t, rest, &used);
    t.end = chain_end(f->m, at, used);
    return t;
}

const struct target *crepo_target(struct crepo *r, struct cfile *f, size_t i)
{
    const struct pyread *x = &f->m->reads.v[i];

    if (f->targets[i].kind == TARGET_UNSET) {
        f->targets[i] = chain_target(r, f, x->at, x->bound, x->dotted);
        finish_target(r, &f->targets[i]);
    }
    return &f->targets[i];
}

struct target crepo_resolve(struct crepo *r, struct cfile *f, uint32_t at,
                            struct span dotted)
{
    const struct pysym *s = pymod_lookup_at(f->m, at, first_part(dotted));

    return chain_target(r, f, at, s ? s->scope : 0, dotted);
}
