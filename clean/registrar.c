/* SPDX-License-Identifier: MIT */
/*
 * Decorators that only enter what they decorate into a table: `@register(name)`
 * gives back the function or class itself. Where nothing of the source asks the
 * table they are left out, and with them what they need: a table of models that
 * must hold the model before its variants is of no use to a single class.
 */
#include "base.h"

#include "clean/closure.h"
#include "clean/recover.h"

enum { OTHER, OWN, INNER }; /* what a function returns */

struct facts {
    struct span param; /* first one */
    bool rebound;      /* param is, or attributes of it are set */
    unsigned returns;
    bool own;     /* all of them return param */
    int inner;    /* all of them return this function in it; -1 */
    bool unclear; /* they return different things */
};

/* The function whose own body holds AT, -1. */
static int function_at(const struct pymod *m, uint32_t at)
{
    for (int s = pymod_scope_at(m, at); s > 0; s = m->scopes.v[s].parent)
        if (m->scopes.v[s].kind == PYSCOPE_FUNCTION && m->scopes.v[s].def >= 0)
            return m->scopes.v[s].def;
    return -1;
}

static int inner_function(const struct pymod *m, int def, struct span name)
{
    const struct pysym *s = pymod_lookup(m, m->defs.v[def].scope, name);

    return s && s->kind == PYSYM_FUNCTION && s->earlier < 0 ? s->def : -1;
}

static void see_return(const struct pymod *m, struct facts *f, int def,
                       struct span value)
{
    int inner = inner_function(m, def, value);

    f->own = (f->returns == 0 || f->own) && f->param.n > 0 &&
             span_eq(value, f->param);
    f->unclear |= f->returns > 0 && f->inner != inner;
    f->inner = inner;
    f->returns++;
}

static void see_symbols(const struct pymod *m, struct facts *facts)
{
    for (size_t i = 0; i < m->syms.n; i++) {
        const struct pysym *s = &m->syms.v[i];
        int def = m->scopes.v[s->scope].def;

        if (def < 0 || m->scopes.v[s->scope].kind != PYSCOPE_FUNCTION)
            continue;
        if (s->kind == PYSYM_PARAM && facts[def].param.n == 0)
            facts[def].param = s->name;
        else if (span_eq(s->name, facts[def].param))
            facts[def].rebound = true;
    }
    for (size_t i = 0; i < m->reads.n; i++) {
        const struct pyread *x = &m->reads.v[i];
        int def = x->bound > 0 ? m->scopes.v[x->bound].def : -1;

        if (def >= 0 && (x->flags & PYREAD_STORE) &&
            span_eq(x->name, facts[def].param))
            facts[def].rebound = true;
    }
}

void registrar_scan(struct scan *s, const struct pymod *m)
{
    struct facts *facts = xcalloc(m->defs.n + 1, sizeof(*facts));

    s->registrars = xcalloc(m->defs.n + 1, 1);
    see_symbols(m, facts);
    for (size_t i = 0; i < s->returns.n; i++) {
        const struct range *r = &s->returns.v[i];
        int def = function_at(m, r->start);

        if (def >= 0)
            see_return(m, &facts[def], def, pymod_text(m, r->start, r->end));
    }
    for (size_t i = 0; i < m->defs.n; i++)
        if (facts[i].own && facts[i].returns > 0 && !facts[i].rebound)
            s->registrars[i] = OWN;
    for (size_t i = 0; i < m->defs.n; i++) {
        const struct facts *f = &facts[i];

        if (f->returns > 0 && !f->unclear && f->inner >= 0 &&
            s->registrars[f->inner] == OWN)
            s->registrars[i] = INNER;
    }
    free(facts);
}

/* ---- in a closure ---- */

static bool registers(struct span name)
{
    return memmem(name.p, name.n, "regist", 6) != NULL;
}

/* The function that decorator X of F calls or is, when it only registers. */
static const struct pydef *registrar(struct closure *c, struct cfile *f,
                                     const struct pydeco *x,
                                     struct cfile **file)
{
    size_t i = reads_from(f->m, x->start);
    const struct pyread *r = &f->m->reads.v[i];
    const struct target *t;
    const struct pysym *s;

    if (i == f->m->reads.n || r->at != x->start || x->dotted.n == 0)
        return NULL;
    t = crepo_target(c->r, f, i);
    if (t->kind != TARGET_SYM || t->end != r->end || !registers(t->name))
        return NULL;
    s = pymod_lookup(t->file->m, 0, t->name);
    if (!s || s->kind != PYSYM_FUNCTION || s->earlier >= 0 ||
        t->file->scan.registrars[s->def] != (x->called ? INNER : OWN))
        return NULL;
    *file = t->file;
    return &t->file->m->defs.v[s->def];
}

static bool is_kept(const struct closure *c, const struct pydef *d)
{
    for (size_t i = 0; i < c->registrars.n; i++)
        if (c->registrars.v[i] == d)
            return true;
    return false;
}

static size_t defs_from(const struct pymod *m, uint32_t at)
{
    size_t lo = 0, hi = m->defs.n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (m->defs.v[mid].start < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

void registrar_cut(struct closure *c, int unit)
{
    struct cfile *f = c->units.v[unit].f, *file;
    const struct pystmt *s = &f->m->stmts.v[c->units.v[unit].stmt];

    for (size_t i = defs_from(f->m, s->start);
         i < f->m->defs.n && f->m->defs.v[i].start < s->end; i++) {
        const struct pydef *d = &f->m->defs.v[i];

        for (size_t k = 0; k < d->decorators.n; k++) {
            const struct pydeco *x = &d->decorators.v[k];
            const struct pydef *r = registrar(c, f, x, &file);
            struct dcut cut = {.kind = DCUT_DECORATOR, .f = f};

            if (!r || is_kept(c, r) || closure_is_cut(c, f, x->start))
                continue;
            cut.start = x->start;
            cut.end = x->end;
            cut.name = x->dotted;
            cut.note = "it only registers what nobody looks up";
            cut.registrar = r;
            cut.registrar_file = file;
            array_push(&c->cuts, cut);
        }
    }
}

/* Is unit U a function that registers? Its own looks do not count. */
static bool is_registering(const struct closure *c, size_t u)
{
    const struct pymod *m = c->units.v[u].f->m;
    const struct pystmt *s = &m->stmts.v[c->units.v[u].stmt];

    return s->kind == PYSTMT_FUNCTION && s->n_defs > 0 &&
           registers(m->syms.v[m->globals.v[s->first_def]].name);
}

/* Does something of the source read variable ID but what registers? */
static bool is_read(struct closure *c, int id)
{
    for (size_t u = 0; u < c->units.n; u++) {
        struct cfile *f = c->units.v[u].f;
        const struct pystmt *s = &f->m->stmts.v[c->units.v[u].stmt];

        if (is_registering(c, u))
            continue;
        for (size_t i = reads_from(f->m, s->start);
             i < f->m->reads.n && f->m->reads.v[i].at < s->end; i++)
            if (crepo_target(c->r, f, i)->id == id &&
                !closure_is_cut(c, f, f->m->reads.v[i].at))
                return true;
    }
    return false;
}

/* Does something look up what D, of F, registers in one of the variables that
 * it reads? */
static bool is_looked_up(struct closure *c, struct cfile *f,
                         const struct pydef *d)
{
    for (size_t i = reads_from(f->m, d->body_start);
         i < f->m->reads.n && f->m->reads.v[i].at < d->end; i++) {
        const struct target *t = crepo_target(c->r, f, i);
        const struct pysym *s =
            t->kind == TARGET_SYM ? pymod_lookup(t->file->m, 0, t->name) : NULL;
        const struct entity *e;

        if (!s || (s->kind != PYSYM_ASSIGN && s->kind != PYSYM_ANNOTATED))
            continue;
        e = closure_symbol(c, t->file, t->name);
        if (e && e->required && is_read(c, t->id))
            return true;
    }
    return false;
}

/* The text that is the first argument of decorator X of F, else empty. */
static struct span first_text(const struct cfile *f, const struct pydeco *x)
{
    struct span s = pymod_text(f->m, x->start, x->end);
    const char *open = s.n ? memchr(s.p, '(', s.n) : NULL, *end;
    size_t left = open ? (size_t)(s.p + s.n - open) : 0;

    if (left < 3 || (open[1] != '"' && open[1] != '\''))
        return (struct span){s.p, 0};
    end = memchr(open + 2, open[1], left - 2);
    return (struct span){open + 2, end ? (size_t)(end - open - 2) : 0};
}

/* Does registrar D of F raise where its first argument is not yet registered:
 * `if model not in MODELS`? */
static bool wants_other(const struct cfile *f, const struct pydef *d)
{
    struct span body = pymod_text(f->m, d->body_start, d->end);
    char want[80];

    for (size_t i = 0; i < f->m->syms.n; i++) {
        const struct pysym *s = &f->m->syms.v[i];

        if (s->kind != PYSYM_PARAM || s->scope != d->scope || s->name.n > 60)
            continue;
        snprintf(want, sizeof(want), "if %.*s not in ", (int)s->name.n,
                 s->name.p);
        return memmem(body.p, body.n, want, strlen(want)) != NULL;
    }
    return false;
}

/* Does a class of the source register itself as KEY? */
static bool has_class(struct closure *c, struct span key)
{
    for (size_t u = 0; u < c->units.n; u++) {
        struct cfile *f = c->units.v[u].f, *file;
        const struct pystmt *s = &f->m->stmts.v[c->units.v[u].stmt];

        for (size_t i = defs_from(f->m, s->start);
             i < f->m->defs.n && f->m->defs.v[i].start < s->end; i++) {
            const struct pydef *d = &f->m->defs.v[i];

            for (size_t k = 0; d->is_class && k < d->decorators.n; k++)
                if (registrar(c, f, &d->decorators.v[k], &file) &&
                    !closure_is_cut(c, f, d->decorators.v[k].start) &&
                    span_eq(first_text(f, &d->decorators.v[k]), key))
                    return true;
        }
    }
    return false;
}

/* Leave out what unit U registers for a class that is not in the source: it
 * would raise. */
static bool cut_lone(struct closure *c, size_t u)
{
    struct cfile *f = c->units.v[u].f, *file;
    const struct pystmt *s = &f->m->stmts.v[c->units.v[u].stmt];
    size_t i = defs_from(f->m, s->start), n = c->cuts.n;

    if (s->kind != PYSTMT_FUNCTION || i == f->m->defs.n)
        return false;
    for (size_t k = 0; k < f->m->defs.v[i].decorators.n; k++) {
        const struct pydeco *x = &f->m->defs.v[i].decorators.v[k];
        const struct pydef *r = registrar(c, f, x, &file);
        struct span key = first_text(f, x);
        struct dcut cut = {.kind = DCUT_DECORATOR, .f = f};

        if (!r || key.n == 0 || closure_is_cut(c, f, x->start) ||
            !wants_other(file, r) || has_class(c, key))
            continue;
        cut.start = x->start;
        cut.end = x->end;
        cut.name = x->dotted;
        cut.note = "it registers for a class that is not here";
        array_push(&c->cuts, cut);
    }
    return c->cuts.n > n;
}

bool registrar_restore(struct closure *c)
{
    bool lone = false;
    size_t k = 0, n = c->registrars.n;

    for (size_t i = 0; i < c->cuts.n; i++) {
        const struct pydef *d = c->cuts.v[i].registrar;

        if (d && !is_kept(c, d) &&
            is_looked_up(c, c->cuts.v[i].registrar_file, d))
            array_push(&c->registrars, d);
        if (!d || !is_kept(c, d))
            c->cuts.v[k++] = c->cuts.v[i];
    }
    c->cuts.n = k;
    if (c->registrars.n > n)
        return true;
    for (size_t u = 0; u < c->units.n; u++)
        lone |= cut_lone(c, u);
    return lone;
}
