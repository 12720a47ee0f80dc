/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/closure.h"
#include "clean/recover.h"
#include "clean/safe.h"
#include "clean/stand.h"
#include "py/unsafe.h"

/* Times that one class may be closed over again with something left out, and
 * statements that it may need. */
#define MAX_ATTEMPTS 256
#define MAX_UNITS    4000

void closure_init(struct closure *c, struct crepo *r, struct arena *a)
{
    *c = (struct closure){.r = r, .arena = a};
}

static void reset(struct closure *c)
{
    for (size_t i = 0; i < c->units.n; i++)
        c->units.v[i].f->included[c->units.v[i].stmt] = 0;
    for (size_t i = 0; i < c->ents.n; i++) {
        c->by_id.v[c->ents.v[i].id] = 0;
        array_release(&c->ents.v[i].modules);
        array_release(&c->ents.v[i].units);
    }
    c->units.n = 0;
    c->ents.n = 0;
    map_release(&c->builtins);
    c->future = false;
}

void closure_release(struct closure *c)
{
    reset(c);
    array_release(&c->units);
    array_release(&c->ents);
    array_release(&c->cuts);
    array_release(&c->dropped);
    array_release(&c->registrars);
    array_release(&c->occ);
    array_release(&c->by_id);
}

/* ---- what is left out ---- */

static bool in_dcut(const struct closure *c, const struct cfile *f, uint32_t at)
{
    for (size_t i = 0; i < c->cuts.n; i++)
        if (c->cuts.v[i].f == f && c->cuts.v[i].start <= at &&
            at < c->cuts.v[i].end)
            return true;
    return false;
}

bool closure_is_cut(const struct closure *c, const struct cfile *f, uint32_t at)
{
    return crepo_is_cut(f, at) || in_dcut(c, f, at);
}

const struct dcut *closure_body(const struct closure *c, const struct unit *u)
{
    uint32_t start = u->f->m->stmts.v[u->stmt].start;

    for (size_t i = 0; i < c->cuts.n; i++)
        if ((c->cuts.v[i].kind == DCUT_BODY ||
             c->cuts.v[i].kind == DCUT_UNCALLED ||
             c->cuts.v[i].kind == DCUT_REFERENCE) &&
            c->cuts.v[i].f == u->f && c->cuts.v[i].start == start)
            return &c->cuts.v[i];
    return NULL;
}

static bool is_dropped(const struct closure *c, const struct cfile *f,
                       uint32_t at, bool mutator)
{
    for (size_t i = 0; i < c->dropped.n; i++)
        if (c->dropped.v[i].f == f && c->dropped.v[i].at == at &&
            c->dropped.v[i].mutator == mutator)
            return true;
    return false;
}

bool closure_is_dropped(const struct closure *c, const struct cfile *f,
                        struct span name)
{
    const struct pysym *s = pymod_lookup(f->m, 0, name);
    int top = s && s->stmt >= 0 ? f->m->stmts.v[s->stmt].top : -1;

    return top >= 0 && is_dropped(c, f, f->m->stmts.v[top].start, true);
}

/* `["NAME"]` at AT, and the whole is only compared with something: its end,
 * else 0. START: of the expression. */
static uint32_t compared_item(const struct pymod *m, uint32_t start,
                              uint32_t at)
{
    const char *p = m->text.p;
    size_t n = m->text.n, i = at;
    char quote;

    if (i + 3 >= n || p[i] != '[' || (p[i + 1] != '"' && p[i + 1] != '\''))
        return 0;
    quote = p[i + 1];
    for (i += 2; i < n && (p[i] == '_' || (p[i] >= 'A' && p[i] <= 'Z') ||
                           (p[i] >= '0' && p[i] <= '9'));
         i++)
        ;
    if (i + 5 >= n || p[i] != quote || p[i + 1] != ']')
        return 0;
    at = (uint32_t)i + 2;
    if (memcmp(p + at, " ==", 3) == 0 || memcmp(p + at, " !=", 3) == 0)
        return at;
    return start > 5 && (memcmp(p + start - 5, "\" in ", 5) == 0 ||
                         memcmp(p + start - 5, "' in ", 5) == 0)
               ? at
               : 0;
}

const char *closure_env(const struct closure *c, struct cfile *f, size_t i,
                        uint32_t *end)
{
    static const char *const methods[] = {"",      "get",    "keys",
                                          "items", "values", "copy"};
    const struct pyread *x = &f->m->reads.v[i];
    const struct target *t = crepo_target(c->r, f, i);
    struct span rest = t->dotted;
    unsigned parts = 1;

    if (t->kind != TARGET_EXTERNAL || (x->flags & PYREAD_STORE))
        return NULL;
    for (size_t k = 0; k < x->dotted.n; k++)
        parts += x->dotted.p[k] == '.';
    if (span_is(t->dotted, "os.getenv")) {
        *end = chain_end(f->m, x->at, parts);
        return "({}).get";
    }
    if (!span_starts(rest, "os.environ") || (rest.n > 10 && rest.p[10] != '.'))
        return NULL;
    rest.p += MIN(rest.n, 11u);
    rest.n -= MIN(rest.n, 11u);
    for (size_t k = 0; k < ARRAY_LEN(methods); k++) {
        if (!span_is(rest, methods[k]))
            continue;
        *end = chain_end(f->m, x->at, parts - (k > 0));
        if (k == 0 && compared_item(f->m, x->at, *end) > 0) {
            *end = compared_item(f->m, x->at, *end);
            return "''";
        }
        return "({})";
    }
    return NULL;
}

/* ---- entities ---- */

struct entity *closure_by_id(const struct closure *c, int id)
{
    int k = id > 0 && (size_t)id < c->by_id.n ? c->by_id.v[id] : 0;

    return k > 0 ? &c->ents.v[k - 1] : NULL;
}

struct entity *closure_symbol(const struct closure *c, const struct cfile *f,
                              struct span name)
{
    return closure_by_id(c, crepo_symbol_id(c->r, f, name));
}

struct entity *closure_add(struct closure *c, int id, struct entity e)
{
    while (c->by_id.n <= (size_t)id)
        array_push(&c->by_id, 0);
    if (c->by_id.v[id] == 0) {
        e.id = id;
        array_push(&c->ents, e);
        c->by_id.v[id] = (int)c->ents.n;
    }
    return &c->ents.v[c->by_id.v[id] - 1];
}

static struct entity *add_symbol(struct closure *c, struct cfile *f,
                                 struct span name, int id)
{
    struct entity e = {.f = f, .name = name};

    return closure_add(c, id, e);
}

bool entity_is_package(const struct entity *e)
{
    return e->external && e->member.n == 0 && !e->aliased;
}

/* The `import a.b.c` statements of F that the chain DOTTED needs. */
static void add_modules(struct entity *e, const struct cfile *f,
                        struct span head, const struct target *t)
{
    const struct pysym *b[CREPO_BINDINGS];
    size_t n = crepo_bindings(crepo_binder(f, head), head, b), found = 0;

    for (size_t i = 0; i < n; i++) {
        struct span m = b[i]->module;
        bool prefix = b[i]->kind == PYSYM_IMPORT && !b[i]->aliased &&
                      span_eq(b[i]->name, t->name) && m.n <= t->dotted.n &&
                      memcmp(m.p, t->dotted.p, m.n) == 0 &&
                      (m.n == t->dotted.n || t->dotted.p[m.n] == '.');

        if (prefix) {
            array_push(&e->modules, m);
            found++;
        }
    }
    if (found == 0)
        array_push(&e->modules, t->name);
}

static void add_import(struct closure *c, const struct cfile *f,
                       struct span head, const struct target *t)
{
    struct entity e = {
        .external = true,
        .required = true,
        .name = t->name,
        .module = t->module,
        .member = t->member,
        .aliased = t->aliased,
    };
    struct entity *found = closure_add(c, t->id, e);

    if (target_is_package(t) && found->modules.n < 256)
        add_modules(found, f, head, t);
}

struct entity *closure_entity(const struct closure *c, struct cfile *f,
                              size_t i)
{
    const struct pyread *x = &f->m->reads.v[i];
    const struct target *t = crepo_target(c->r, f, i);
    uint32_t end;

    if (t->stand && !f->cut[i] && !in_dcut(c, f, x->at)) {
        struct entity *e = closure_by_id(c, t->stand);

        if (e && !is_dropped(c, f, x->at, false))
            return e;
    }
    if (t->id == 0 || f->cut[i] || in_dcut(c, f, x->at))
        return NULL;
    if (t->kind == TARGET_EXTERNAL) {
        if (closure_env(c, f, i, &end))
            return NULL;
        if (x->bound > 0) {
            const struct pysym *s = pymod_lookup(f->m, x->bound, x->name);

            if (!s || !crepo_is_own(c->r, f, s))
                return NULL;
        }
    }
    return closure_by_id(c, t->id);
}

/* ---- units ---- */

static int include(struct closure *c, struct cfile *f, int stmt, int from,
                   uint32_t at, bool mutator, struct fault *x)
{
    const struct pystmt *s = &f->m->stmts.v[stmt];
    struct unit u = {f, stmt, from, at, mutator};

    if (f->included[stmt])
        return 0;
    if (c->units.n == MAX_UNITS)
        return fault_set(x, ERR_TOO_LARGE, from, at, f,
                         span_str("more than 4000 statements"), "");
    array_push(&c->units, u);
    f->included[stmt] = (int)c->units.n;
    crepo_prepare(c->r, f);
    c->future |= f->m->future_annotations;
    /* Of an import statement only what is required is emitted. */
    if (s->kind == PYSTMT_IMPORT)
        return 0;
    for (int i = 0; i < s->n_defs; i++) {
        const struct pysym *y =
            &f->m->syms.v[f->m->globals.v[s->first_def + i]];

        if (y->kind != PYSYM_STAR && !sym_is_remote(f->m, y))
            array_push(
                &add_symbol(c, f, y->name, crepo_sym_id(c->r, f, y))->units,
                (int)c->units.n - 1);
    }
    return 0;
}

/* Is the import S in a try statement that sets something else as well, so that
 * the program can know that it failed? */
static bool tells_failure(const struct cfile *f, const struct pysym *s)
{
    int k = scan_import_at(&f->scan, s->start);
    const struct pystmt *st = &f->m->stmts.v[f->m->stmts.v[s->stmt].top];

    if (k >= 0 && f->scan.imports.v[k].optional)
        return true;
    if (k < 0 || !f->scan.imports.v[k].guarded)
        return false;
    for (int i = 0; i < st->n_defs; i++)
        if (!sym_is_import(&f->m->syms.v[f->m->globals.v[st->first_def + i]]))
            return true;
    return false;
}

static bool is_base(const struct pymod *m, uint32_t at)
{
    for (size_t i = 0; i < m->defs.n; i++)
        if (m->defs.v[i].is_class && at >= m->defs.v[i].def_start &&
            at < m->defs.v[i].body_start)
            return true;
    return false;
}

/* Is read X of what cannot be had used at once: as a base, a decorator, by a
 * call or an attribute? None would not do in its place. */
static bool used_at_once(const struct pymod *m, const struct pyread *x)
{
    if (x->flags & (PYREAD_DEFERRED | PYREAD_ANNOTATION))
        return false;
    if ((x->flags & (PYREAD_CALL | PYREAD_DECORATOR)) ||
        x->dotted.n > x->name.n)
        return true;
    return is_base(m, x->at);
}

bool closure_uses(const struct closure *c, struct cfile *f, size_t i)
{
    const struct pyread *x = &f->m->reads.v[i];
    const struct target *t = crepo_target(c->r, f, i);

    return (x->flags & (PYREAD_CALL | PYREAD_DECORATOR | PYREAD_STORE)) != 0 ||
           (t->kind == TARGET_SYM && t->end < x->end) || is_base(f->m, x->at);
}

static bool is_none(const struct cfile *f, const struct pysym *s)
{
    return s->kind == PYSYM_ASSIGN &&
           span_is(pymod_text(f->m, s->value_start, s->value_end), "None");
}

/* Symbol NAME of F, read by X of file G in UNIT, may be bound by imports that
 * are unsafe, or denied with nothing in their place. */
static int check_bindings(struct closure *c, struct cfile *f, struct span name,
                          const struct cfile *g, const struct pyread *r,
                          int unit, struct fault *x)
{
    const struct pysym *b[CREPO_BINDINGS], *last = pymod_lookup(f->m, 0, name);
    size_t n, denied = 0, nothing = 0;
    struct span rest;
    const struct target *t = NULL;
    uint32_t at = r->at;
    bool told = true;

    if (last && last->earlier < 0 && !sym_is_import(last))
        return 0; /* as nearly all */
    n = crepo_bindings(f, name, b);
    rest = safe_rest(c, (struct cfile *)g, r);

    for (size_t i = 0; i < n; i++) {
        const char *full;

        if (!sym_is_import(b[i])) {
            nothing += is_none(f, b[i]);
            continue;
        }
        t = crepo_import(c->r, f, b[i]);
        told &= tells_failure(f, b[i]);
        if (t->kind == TARGET_EXTERNAL) {
            full = arena_printf(c->arena, "%.*s%s%.*s", (int)t->dotted.n,
                                t->dotted.p, rest.n ? "." : "", (int)rest.n,
                                rest.p);
            if (py_unsafe_find(span_str(full)))
                return fault_set(x, ERR_UNSAFE, unit, at, g, span_str(full),
                                 "");
            denied += !t->has;
            if (rest.n == 0 && t->has && safe_opens(g, r, t))
                return fault_set(x, ERR_UNSAFE, unit, at, g, t->dotted,
                                 "a module as a value");
        } else if (t->kind == TARGET_NONE) {
            denied++;
        }
    }
    if (denied == 0 || denied + nothing < n)
        return 0;
    /* In its own statement it is read only after it has been imported. */
    if ((denied < n || told) &&
        (!used_at_once(g->m, r) ||
         (f == g && pymod_stmt_at(g->m, at) == f->m->stmts.v[b[0]->stmt].top)))
        return 0;
    if (t->kind == TARGET_EXTERNAL)
        return fault_set(x, ERR_IMPORT_DENIED, unit, at, g, t->dotted, "");
    return fault_set(x, ERR_UNRESOLVED, unit, at, g, name,
                     "imported but not in the repository");
}

int closure_require(struct closure *c, struct cfile *f, struct span name,
                    int unit, uint32_t at, struct fault *x)
{
    const struct pysym *b[CREPO_BINDINGS];
    size_t n = crepo_bindings(f, name, b);
    bool remote = true;
    int id = crepo_symbol_id(c->r, f, name), top;
    struct entity *e = add_symbol(c, f, name, id);

    if (e->required)
        return 0;
    e->required = true;
    for (size_t i = 0; i < n; i++)
        remote &= sym_is_remote(f->m, b[i]);
    for (size_t i = n; i-- > 0;) {
        if (sym_is_remote(f->m, b[i]) && !remote)
            continue;
        top = f->m->stmts.v[b[i]->stmt].top;
        if (include(c, f, top, unit, at, false, x))
            return -1;
        /* ENTS may have moved */
        if (f->m->stmts.v[top].kind == PYSTMT_IMPORT)
            array_push(&add_symbol(c, f, name, id)->units,
                       f->included[top] - 1);
    }
    if (n == 0) /* resolved to nothing but a cycle */
        return fault_set(x, ERR_UNRESOLVED, unit, at, f, name, "");
    return 0;
}

/* Statements of file F that change symbol NAME of file G, which read R of unit
 * UNIT wants. Who only registers itself needs no other registered. */
static int add_mutators(struct closure *c, struct cfile *f,
                        const struct cfile *g, struct span name, int unit,
                        const struct pyread *r, struct fault *x)
{
    crepo_prepare(c->r, f);
    for (size_t i = 0; i < f->mutators.n; i++) {
        const struct mutator *mu = &f->mutators.v[i];

        if (mu->file != g || !span_eq(mu->name, name) ||
            (mu->registers && (r->flags & PYREAD_DECORATOR)) ||
            is_dropped(c, f, f->m->stmts.v[mu->stmt].start, true))
            continue;
        if (include(c, f, mu->stmt, unit, r->at, true, x))
            return -1;
    }
    return 0;
}

static int external(struct closure *c, struct cfile *f, size_t i, int unit,
                    struct fault *bad)
{
    const struct pyread *x = &f->m->reads.v[i];
    const struct target *t = crepo_target(c->r, f, i);
    bool denied = !t->has, stays = false;
    size_t len;

    /* `from packaging import version` has its own way */
    if (!denied && t->stand &&
        (!policy_renamed(t->dotted, &len) || target_is_package(t)) &&
        stand_name(c, f, i))
        return 0;
    if (safe_is_unsafe(f, x, t) && !denied)
        return fault_set(bad, ERR_UNSAFE, unit, x->at, f, t->dotted, "");
    if (x->bound > 0) {
        const struct pysym *s = pymod_lookup(f->m, x->bound, x->name);
        int k = s ? scan_import_at(&f->scan, s->start) : -1;

        stays = s && !crepo_is_own(c->r, f, s);
        if (stays && k >= 0 &&
            (f->scan.imports.v[k].guarded || f->scan.imports.v[k].optional))
            return 0;
    }
    if (denied && stand_name(c, f, i))
        return 0;
    if (denied && safe_is_unsafe(f, x, t))
        return fault_set(bad, ERR_UNSAFE, unit, x->at, f, t->dotted, "");
    if (denied || (policy_renamed(t->dotted, &len) && target_is_package(t)))
        return fault_set(bad, ERR_IMPORT_DENIED, unit, x->at, f, t->dotted, "");
    if (safe_opens(f, x, t))
        return fault_set(bad, ERR_UNSAFE, unit, x->at, f, t->dotted,
                         "a module as a value");
    if (!stays)
        add_import(c, f, x->name, t);
    return 0;
}

/* An annotation that names a whole module class would drag it in for nothing;
 * a configuration class is evidence for those who make inputs. */
static bool wanted_annotation(struct closure *c, const struct target *t)
{
    const struct pysym *s = pymod_lookup(t->file->m, 0, t->name);

    if (!s || s->kind != PYSYM_CLASS)
        return true;
    return !pyrepo_is_module_class(c->r->names, t->file->m,
                                   &t->file->m->defs.v[s->def]);
}

/* What was left out whole may be handed around and no more. */
static int check_uncalled(struct closure *c, struct cfile *f, size_t i,
                          const struct target *t, int unit, struct fault *bad)
{
    for (size_t k = 0; k < c->cuts.n; k++) {
        const struct dcut *d = &c->cuts.v[k];

        if (d->kind != DCUT_UNCALLED || d->f != t->file ||
            !span_eq(d->name, t->name) || !closure_uses(c, f, i))
            continue;
        bad->code = d->code;
        bad->unit = unit;
        bad->at = f->m->reads.v[i].at;
        snprintf(bad->note, sizeof(bad->note), "%s", d->note);
        return -1;
    }
    return 0;
}

/* Is read X of F answered whenever the source is imported: at module level or
 * in the body of a class? A block of a compound statement has a condition. */
static bool needed_at_import(const struct cfile *f, const struct pyread *x)
{
    int s = pymod_stmt_at(f->m, x->at);
    bool def = s >= 0 && (f->m->stmts.v[s].kind == PYSTMT_CLASS ||
                          f->m->stmts.v[s].kind == PYSTMT_FUNCTION);

    return !(x->flags & PYREAD_DEFERRED) &&
           (def || scan_block_at(&f->scan, x->at) < 0);
}

static int read_one(struct closure *c, int unit, size_t i, struct fault *bad)
{
    struct cfile *f = c->units.v[unit].f;
    const struct pyread *x = &f->m->reads.v[i];
    const struct target *t;
    const struct entity *e;
    uint32_t end;

    t = crepo_target(c->r, f, i);
    if (f->cut[i] || in_dcut(c, f, x->at))
        return 0;
    if (is_dropped(c, f, x->at, false)) {
        c->future = true;
        return 0;
    }
    switch (t->kind) {
    case TARGET_LOCAL:
        return safe_local(c, f, i, unit, bad);
    case TARGET_BUILTIN:
        if (t->stand && stand_name(c, f, i))
            return 0;
        if (safe_is_unsafe(f, x, t))
            return fault_set(bad, ERR_UNSAFE, unit, x->at, f, x->name, "");
        map_put(&c->builtins, x->name, c);
        return safe_builtin(c, f, i, unit, bad);
    case TARGET_EXTERNAL:
        if (closure_env(c, f, i, &end)) {
            /* the empty one has no such entry */
            if (f->m->text.p[end] == '[' && needed_at_import(f, x))
                return fault_set(bad, ERR_UNRESOLVED, unit, x->at, f, x->dotted,
                                 "a variable that is needed at import");
            return 0;
        }
        return external(c, f, i, unit, bad);
    case TARGET_SYM:
        if (t->stand && stand_name(c, f, i))
            return 0;
        if ((x->flags & PYREAD_ANNOTATION) && !wanted_annotation(c, t) &&
            !closure_symbol(c, t->file, t->name)) {
            c->future = true;
            return 0;
        }
        if (safe_shadow(c, f, i, unit, bad) ||
            check_bindings(c, t->file, t->name, f, x, unit, bad) ||
            check_uncalled(c, f, i, t, unit, bad))
            return -1;
        e = closure_by_id(c, t->id);
        if ((!(e && e->required) &&
             closure_require(c, t->file, t->name, unit, x->at, bad)) ||
            add_mutators(c, f, t->file, t->name, unit, x, bad))
            return -1;
        return f == t->file
                   ? 0
                   : add_mutators(c, t->file, t->file, t->name, unit, x, bad);
    case TARGET_MODULE:
        if (stand_module(c, f, i, unit))
            return 0;
        return fault_set(bad, ERR_UNRESOLVED, unit, x->at, f, x->dotted,
                         "a module used as a value");
    default:
        return fault_set(bad, ERR_UNRESOLVED, unit, x->at, f, x->dotted, "");
    }
}

/* Syntax errors: the innermost definitions that hold one. */
static int check_errors(struct closure *c, int unit, struct fault *bad)
{
    struct cfile *f = c->units.v[unit].f;
    const struct pystmt *s = &f->m->stmts.v[c->units.v[unit].stmt];
    const struct pydef *leaf = NULL;
    bool any = false;

    if (!s->has_error)
        return 0;
    for (size_t i = f->m->defs.n; i-- > 0;) {
        const struct pydef *d = &f->m->defs.v[i];

        if (d->start < s->start || d->end > s->end || !d->has_error)
            continue;
        any = true;
        if (!(leaf && leaf->start >= d->start && leaf->end <= d->end)) {
            leaf = d;
            if (!closure_is_cut(c, f, d->body_start))
                return fault_set(bad, ERR_PARSE, unit, d->body_start, f,
                                 d->qual, "syntax error");
        }
    }
    if (!any)
        return fault_set(bad, ERR_PARSE, unit, s->start, f,
                         span_str("statement"), "syntax error");
    return 0;
}

/* Does statement S of the module raise where an import of it fails, at its end
 * of another way: `else: raise ImportError(...)`? */
static bool raises_without(const struct cfile *f, const struct pystmt *s)
{
    for (size_t i = 0; i < f->scan.blocks.n; i++) {
        const struct block *b = &f->scan.blocks.v[i];

        if (b->raises && b->start >= s->start && b->end <= s->end &&
            pymod_scope_at(f->m, b->start) == 0)
            return true;
    }
    return false;
}

/* Imports inside of the unit that turn into assignments: what they name is
 * needed. Those that cannot be had must have been guarded or be unused. */
static int nested_imports(struct closure *c, int unit, bool last,
                          struct fault *bad)
{
    struct cfile *f = c->units.v[unit].f;
    const struct pystmt *s = &f->m->stmts.v[c->units.v[unit].stmt];

    for (size_t i = scan_imports_from(&f->scan, s->start);
         i < f->scan.imports.n && f->scan.imports.v[i].start < s->end; i++) {
        const struct nimport *im = &f->scan.imports.v[i];

        if (closure_is_cut(c, f, im->start))
            continue;
        for (size_t k = 0; k < im->syms.n; k++) {
            const struct pysym *y = &f->m->syms.v[im->syms.v[k]];
            const struct target *t = crepo_import(c->r, f, y);
            struct entity *e;

            if (y->kind == PYSYM_STAR && s->kind != PYSTMT_IMPORT)
                return fault_set(bad, ERR_UNRESOLVED, unit, im->start, f,
                                 y->module, "star import under a condition");
            if (safe_class_import(c, f, y, unit, bad))
                return -1;
            if (sym_is_single(f->m, y))
                continue; /* its reads are resolved each */
            if (y->scope != 0 && t->kind == TARGET_EXTERNAL &&
                py_unsafe_find(t->dotted))
                return fault_set(bad, ERR_UNSAFE, unit, im->start, f, t->dotted,
                                 "");
            e = y->scope == 0 ? closure_symbol(c, f, y->name) : NULL;
            if (s->kind == PYSTMT_IMPORT && !(e && e->required))
                continue;
            if (t->kind == TARGET_SYM) {
                if (closure_require(c, t->file, t->name, unit, im->start, bad))
                    return -1;
                continue;
            }
            if (!last || (t->kind == TARGET_EXTERNAL && t->has))
                continue;
            if ((im->guarded || im->optional ||
                 (y->scope == 0 && !(e && e->required))) &&
                !(y->scope == 0 && t->kind == TARGET_EXTERNAL &&
                  raises_without(f, s)))
                continue;
            if (t->kind == TARGET_EXTERNAL)
                return fault_set(bad, ERR_IMPORT_DENIED, unit, im->start, f,
                                 t->dotted, "");
            if (t->kind != TARGET_EXTERNAL)
                return fault_set(bad, ERR_UNRESOLVED, unit, im->start, f,
                                 y->name, "imported but not in the repository");
        }
    }
    return 0;
}

/* A function with something unsafe in it that also asks for a package that is
 * not there: it is the package that it fails for, and its callers may be ready
 * for that. The closure ends either way. */
static void prefer_package(struct closure *c, int unit, struct fault *bad)
{
    const struct unit u = c->units.v[unit];
    const struct pystmt *s = &u.f->m->stmts.v[u.stmt];
    struct fault x = {0};

    if (s->kind != PYSTMT_FUNCTION)
        return;
    for (size_t i = reads_from(u.f->m, s->start);
         i < u.f->m->reads.n && u.f->m->reads.v[i].at < s->end; i++)
        if (read_one(c, unit, i, &x) && x.code == ERR_IMPORT_DENIED) {
            *bad = x;
            return;
        }
}

static int close_unit(struct closure *c, int unit, struct fault *bad)
{
    const struct unit u = c->units.v[unit];
    const struct pystmt *s = &u.f->m->stmts.v[u.stmt];
    const struct dcut *d = closure_body(c, &u);

    registrar_cut(c, unit);
    if (check_errors(c, unit, bad))
        return -1;
    if (safe_findings(c, unit, bad)) {
        prefer_package(c, unit, bad);
        return -1;
    }
    if (d && d->kind == DCUT_REFERENCE &&
        closure_require(c, u.f, d->reference, unit, s->start, bad))
        return -1;
    for (size_t i = reads_from(u.f->m, s->start);
         i < u.f->m->reads.n && u.f->m->reads.v[i].at < s->end; i++)
        if (read_one(c, unit, i, bad))
            return -1;
    stand_defaults(c, unit);
    return nested_imports(c, unit, false, bad);
}

static int close_all(struct closure *c, struct cfile *f, int stmt,
                     struct fault *bad)
{
    size_t done = 0;

    reset(c);
    if (include(c, f, stmt, -1, 0, false, bad))
        return -1;
    do {
        for (; done < c->units.n; done++)
            if (close_unit(c, (int)done, bad))
                return -1;
        for (size_t i = 0; i < c->units.n; i++)
            if (nested_imports(c, (int)i, true, bad))
                return -1;
        if (stand_members(c, bad))
            return -1;
    } while (done < c->units.n);
    return 0;
}

/* What needs the unit of fault X, up to the entry: for people. */
static const char *explain(struct closure *c, const struct fault *x)
{
    const char *note = arena_strdup(c->arena, span_str(x->note));
    int u = x->unit;

    for (int i = 0; i < 3 && u > 0; i++, u = c->units.v[u].from) {
        const struct unit *y = &c->units.v[u];
        const struct pymod *m = y->f->m;
        const struct pystmt *s = &m->stmts.v[y->stmt];
        char name[64] = "a statement";

        if (s->n_defs > 0)
            mask_text(name, sizeof(name),
                      m->syms.v[m->globals.v[s->first_def]].name);
        note = arena_printf(c->arena, "%s%s%s", note,
                            i == 0 ? ", needed through " : ", ", name);
    }
    return note;
}

int closure_run(struct closure *c, struct cfile *f, int stmt)
{
    struct fault x = {0};

    for (int i = 0; i < MAX_ATTEMPTS; i++) {
        if (close_all(c, f, stmt, &x) == 0 && !recover_check(c, &x)) {
            if (!registrar_restore(c))
                return 0;
            continue;
        }
        if (!recover(c, &x))
            break;
    }
    c->code = x.code;
    c->note = explain(c, &x);
    return -1;
}
