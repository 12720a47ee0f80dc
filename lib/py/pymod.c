/* SPDX-License-Identifier: MIT */
/* Life of a file's model and the questions that it answers alone. */
#include "base.h"

#include "py/scope.h"
#include "py/skim.h"

/* Bindings of one name that are looked through for the one before a place. */
#define MAX_REBOUND 1000

static void index_lines(struct pymod *m)
{
    array_push(&m->line_starts, 0);
    const char *p = m->text.p, *end = p + m->text.n;
    while ((p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
        p++;
        array_push(&m->line_starts, (uint32_t)(p - m->text.p));
    }
}

static struct pymod *start(const char *path, struct span text)
{
    struct pymod *m = xcalloc(1, sizeof(*m));
    m->path = xstrdup(path);
    m->text = (struct span){xmemdup0(text), text.n};
    index_lines(m);
    return m;
}

struct pymod *pymod_new(struct pyparser *p, const char *path, struct span text,
                        struct err *e)
{
    struct pymod *m = start(path, text);
    if (pytree_parse(&m->tree, p, m->text, 0, e) != 0)
        goto fail;
    m->error_line = m->tree.error_line;
    if (pymod_build(m, p, m->text, false, e) != 0)
        goto fail;
    return m;
fail:
    pymod_free(m);
    return NULL;
}

/* What was found in the short text lies elsewhere in the whole one. */
struct places {
    const struct pymod *m;
    const struct pyskim *skim;
};

static void put_range(const struct places *w, uint32_t *start, uint32_t *end)
{
    *start = pyskim_offset(w->skim, *start);
    *end = pyskim_offset(w->skim, *end);
}

static void put_lines(const struct places *w, uint32_t start, uint32_t end,
                      uint32_t *line, uint32_t *end_line)
{
    *line = pymod_line(w->m, start);
    *end_line = pymod_line(w->m, end > start ? end - 1 : end);
}

static void put_defs(const struct places *w, struct pymod *m)
{
    for (size_t i = 0; i < m->defs.n; i++) {
        struct pydef *d = &m->defs.v[i];
        put_range(w, &d->start, &d->end);
        put_range(w, &d->def_start, &d->body_start);
        put_lines(w, d->start, d->end, &d->line, &d->end_line);
        for (size_t k = 0; k < d->decorators.n; k++)
            put_range(w, &d->decorators.v[k].start, &d->decorators.v[k].end);
        for (size_t k = 0; k < d->bases.n; k++)
            put_range(w, &d->bases.v[k].start, &d->bases.v[k].end);
    }
}

static void put_places(struct pymod *m, const struct pyskim *skim)
{
    struct places w = {m, skim};
    for (size_t i = 0; i < m->stmts.n; i++) {
        struct pystmt *s = &m->stmts.v[i];
        put_range(&w, &s->start, &s->end);
        put_lines(&w, s->start, s->end, &s->line, &s->end_line);
    }
    for (size_t i = 0; i < m->scopes.n; i++)
        put_range(&w, &m->scopes.v[i].start, &m->scopes.v[i].end);
    for (size_t i = 0; i < m->syms.n; i++) {
        struct pysym *s = &m->syms.v[i];
        put_range(&w, &s->start, &s->end);
        put_range(&w, &s->value_start, &s->value_end);
    }
    put_defs(&w, m);
    /* Of this one only the line is known, and no gap begins one. */
    const char *p = skim->text.p, *end = p + skim->text.n;
    for (uint32_t i = 1; p && i < m->python2_line; i++) {
        p = memchr(p, '\n', (size_t)(end - p));
        p = p ? p + 1 : NULL;
    }
    if (m->python2_line > 0 && p)
        m->python2_line =
            pymod_line(m, pyskim_offset(skim, (uint32_t)(p - skim->text.p)));
}

/* Outline by the short text. 1: there is none, or it has errors, and what an
 * error means depends on all of the text. */
static int build_short(struct pymod *m, struct pyparser *p, struct err *e)
{
    struct pyskim skim;
    int rc = 1;
    if (!pyskim_make(&skim, m->text))
        return 1;
    if (pytree_parse(&m->tree, p, skim.text, 0, e) != 0) {
        rc = -1; /* out of time: the whole text would not take less */
    } else if (m->tree.error_line == 0) {
        m->parsed = skim.text.n;
        rc = pymod_build(m, p, skim.text, true, e);
        put_places(m, &skim);
        m->short_text = skim.text; /* names point into it */
        skim.text = (struct span){NULL, 0};
    }
    pymod_drop_tree(m);
    pyskim_release(&skim);
    return rc;
}

struct pymod *pymod_outline(struct pyparser *p, const char *path,
                            struct span text, bool skim, struct err *e)
{
    struct pymod *m = start(path, text);
    int rc = !skim || text.n > PY_MAX_SOURCE ? 1 : build_short(m, p, e);
    if (rc < 0)
        goto fail;
    if (rc == 0)
        return m;
    if (pytree_parse(&m->tree, p, m->text, 0, e) != 0)
        goto fail;
    m->error_line = m->tree.error_line;
    m->parsed = text.n;
    if (pymod_build(m, p, m->text, true, e) != 0)
        goto fail;
    pymod_drop_tree(m);
    return m;
fail:
    pymod_free(m);
    return NULL;
}

struct pymod *pymod_new_outline(struct pyparser *p, const char *path,
                                struct span text, struct err *e)
{
    return pymod_outline(p, path, text, true, e);
}

void pymod_drop_tree(struct pymod *m)
{
    pytree_release(&m->tree);
}

void pymod_free(struct pymod *m)
{
    if (!m)
        return;
    pytree_release(&m->tree);
    for (size_t i = 0; i < m->defs.n; i++) {
        array_release(&m->defs.v[i].decorators);
        array_release(&m->defs.v[i].bases);
    }
    array_release(&m->stmts);
    array_release(&m->scopes);
    array_release(&m->syms);
    array_release(&m->globals);
    array_release(&m->defs);
    array_release(&m->reads);
    array_release(&m->all);
    array_release(&m->line_starts);
    array_release(&m->scopes_by_start);
    map_release(&m->last);
    map_release(&m->first);
    arena_release(&m->arena);
    free((char *)(uintptr_t)m->text.p);
    free((char *)(uintptr_t)m->short_text.p);
    free(m->path);
    free(m);
}

struct span pymod_text(const struct pymod *m, uint32_t start, uint32_t end)
{
    if (start > end || end > m->text.n)
        return (struct span){NULL, 0};
    return (struct span){m->text.p + start, end - start};
}

uint32_t pymod_line(const struct pymod *m, uint32_t offset)
{
    size_t lo = 0, hi = m->line_starts.n;
    while (lo + 1 < hi) {
        size_t mid = (lo + hi) / 2;
        if (m->line_starts.v[mid] <= offset)
            lo = mid;
        else
            hi = mid;
    }
    return (uint32_t)lo + 1;
}

const struct pysym *pymod_lookup(const struct pymod *m, int scope,
                                 struct span name)
{
    int i = pymod_binding(&m->last, scope, name);
    return i < 0 ? NULL : &m->syms.v[i];
}

int pymod_scope_at(const struct pymod *m, uint32_t at)
{
    size_t lo = 0, hi = m->scopes_by_start.n;
    while (lo < hi) { /* the last one that starts at or before AT */
        size_t mid = (lo + hi) / 2;
        if (m->scopes.v[m->scopes_by_start.v[mid]].start <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    int s = lo > 0 ? m->scopes_by_start.v[lo - 1] : 0;
    while (s > 0 && m->scopes.v[s].end <= at)
        s = m->scopes.v[s].parent;
    return s;
}

const struct pysym *pymod_lookup_at(const struct pymod *m, uint32_t at,
                                    struct span name)
{
    int here = pymod_scope_at(m, at);
    for (int s = here; s >= 0; s = m->scopes.v[s].parent) {
        bool class_scope = m->scopes.v[s].kind == PYSCOPE_CLASS;
        if (class_scope && s != here)
            continue;
        const struct pysym *last = pymod_lookup(m, s, name), *sym = last;
        if (s == here)
            for (int i = 0; sym && sym->end > at; i++)
                sym = i > MAX_REBOUND || sym->earlier < 0
                          ? NULL
                          : &m->syms.v[sym->earlier];
        if (sym)
            return sym;
        if (last && !class_scope)
            return last;
    }
    return NULL;
}

const struct pydef *pymod_def(const struct pymod *m, struct span qual)
{
    for (size_t i = m->defs.n; i > 0; i--)
        if (span_eq(m->defs.v[i - 1].qual, qual))
            return &m->defs.v[i - 1];
    return NULL;
}

int pymod_stmt_at(const struct pymod *m, uint32_t at)
{
    size_t lo = 0, hi = m->stmts.n;
    while (lo < hi) { /* the last statement that starts at or before AT */
        size_t mid = (lo + hi) / 2;
        if (m->stmts.v[mid].start <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == 0)
        return -1;
    int top = m->stmts.v[lo - 1].top;
    return at < m->stmts.v[top].end ? top : -1;
}

const struct pydef *pymod_method(const struct pymod *m, const struct pydef *cls,
                                 const char *name)
{
    const struct pysym *s = pymod_lookup(m, cls->scope, span_str(name));
    for (; s; s = s->earlier < 0 ? NULL : &m->syms.v[s->earlier])
        if (s->kind == PYSYM_FUNCTION)
            return &m->defs.v[s->def];
    return NULL;
}

static size_t first_read(const struct pymod *m, uint32_t at)
{
    size_t lo = 0, hi = m->reads.n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (m->reads.v[mid].at < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

void pymod_reads(const struct pymod *m, uint32_t start, uint32_t end,
                 struct pyreads *out)
{
    struct map seen = MAP_INIT;
    struct buf key = BUF_INIT(PY_MAX_SOURCE + 64);
    for (size_t i = first_read(m, start); i < m->reads.n; i++) {
        const struct pyread *r = &m->reads.v[i];
        const struct pyscope *s = &m->scopes.v[r->bound];
        if (r->at >= end)
            break;
        if (r->bound != 0 && s->start >= start && s->end <= end)
            continue;
        buf_clear(&key);
        if (buf_printf(&key, "%u:%d:", r->flags, r->bound) == 0 &&
            buf_addspan(&key, r->dotted) == 0 &&
            !map_put(&seen, buf_span(&key), (void *)(uintptr_t)r))
            array_push(out, *r);
    }
    buf_release(&key);
    map_release(&seen);
}

void pyreads_release(struct pyreads *r)
{
    array_release(r);
}
