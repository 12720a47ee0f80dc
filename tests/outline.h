/* SPDX-License-Identifier: MIT */
/*
 * Is the outline by the short text that of the whole text? For the unit tests
 * and the fuzz target.
 */
#ifndef KM_TESTS_OUTLINE_H
#define KM_TESTS_OUTLINE_H

#include "py/scope.h"

/* Functions of which an outline may tell the head alone, as [start, end) from
 * behind the "def"; by offset, none inside of another. */
struct dull_range {
    uint32_t start, end;
};

struct dull {
    ARRAY(struct dull_range) v;
};

static bool outline_is_dull(const struct pymod *m, const struct pydef *d)
{
    if (d->is_class || d->python2)
        return false;
    for (size_t i = 0; i < m->defs.n; i++)
        if (m->defs.v[i].is_class && m->defs.v[i].start >= d->def_start &&
            m->defs.v[i].start < d->end)
            return false;
    for (size_t i = 0; i < m->syms.n; i++) {
        const struct pysym *s = &m->syms.v[i];
        bool import = s->kind == PYSYM_IMPORT || s->kind == PYSYM_FROM ||
                      s->kind == PYSYM_STAR;
        bool global = s->scope == 0 && (int)i != d->sym;
        if ((import || global) && s->start > d->def_start && s->start < d->end)
            return false;
    }
    return true;
}

static void outline_dull(const struct pymod *m, struct dull *out)
{
    for (size_t i = 0; i < m->defs.n; i++) {
        const struct pydef *d = &m->defs.v[i];
        bool inside = out->v.n > 0 && d->def_start < out->v.v[out->v.n - 1].end;
        if (inside || !outline_is_dull(m, d))
            continue;
        struct dull_range r = {d->def_start + 1, d->end};
        array_push(&out->v, r);
    }
}

static bool outline_hidden(const struct dull *d, uint32_t at)
{
    for (size_t i = 0; i < d->v.n; i++)
        if (at >= d->v.v[i].start && at < d->v.v[i].end)
            return true;
    return false;
}

/* Symbols that are seen: parameters have the statement of their function as
 * their own, and are told by their names. */
static bool outline_sees(const struct pymod *m, const struct dull *d,
                         const struct pysym *s)
{
    int def = m->scopes.v[s->scope].def;
    int up = m->scopes.v[s->scope].parent;
    for (; up > 0 && def < 0; up = m->scopes.v[up].parent)
        def = m->scopes.v[up].def;
    return !outline_hidden(d, s->start) &&
           (def < 0 || s->scope == 0 || m->defs.v[def].is_class ||
            !outline_hidden(d, m->defs.v[def].def_start + 1));
}

static void outline_sym(struct buf *b, const struct pymod *m,
                        const struct pysym *s)
{
    const struct pyscope *in = &m->scopes.v[s->scope];
    (void)!buf_printf(b, "%d %.*s in %d:%u-%u stmt %d at %u-%u value %u-%u%s",
                      s->kind, (int)s->name.n, s->name.p, in->kind, in->start,
                      in->end, s->stmt, s->start, s->end, s->value_start,
                      s->value_end, s->unpacked ? " unpacked" : "");
    (void)!buf_printf(b, " %d %.*s %.*s%s\n", s->level, (int)s->module.n,
                      s->module.p, (int)s->member.n, s->member.p,
                      s->aliased ? " aliased" : "");
}

static void outline_def(struct buf *b, const struct pydef *d)
{
    (void)!buf_printf(
        b, "%s%d %.*s %u-%u %u %u lines %u-%u stmt %d%s%s\n",
        d->is_class ? "class" : "def", d->is_async, (int)d->qual.n, d->qual.p,
        d->start, d->end, d->def_start, d->body_start, d->line, d->end_line,
        d->stmt, d->has_error ? " error" : "", d->python2 ? " python2" : "");
    for (size_t i = 0; i < d->decorators.n; i++) {
        const struct pydeco *x = &d->decorators.v[i];
        (void)!buf_printf(b, " @%u-%u %.*s %d\n", x->start, x->end,
                          (int)x->dotted.n, x->dotted.p, x->called);
    }
    for (size_t i = 0; i < d->bases.n; i++) {
        const struct pybase *x = &d->bases.v[i];
        (void)!buf_printf(b, " (%u-%u %.*s %.*s\n", x->start, x->end,
                          (int)x->keyword.n, x->keyword.p, (int)x->dotted.n,
                          x->dotted.p);
    }
}

/* All that M tells outside of the dull functions, as lines of text. */
static void outline_show(struct buf *b, const struct pymod *m,
                         const struct dull *d)
{
    (void)!buf_printf(b, "error %u python2 %u%s%s%s\n", m->error_line,
                      m->python2_line, m->has_all ? " all" : "",
                      m->has_star ? " star" : "",
                      m->future_annotations ? " annotations" : "");
    for (size_t i = 0; i < m->all.n; i++)
        (void)!buf_printf(b, "all %.*s\n", (int)m->all.v[i].n, m->all.v[i].p);
    for (size_t i = 0; i < m->stmts.n; i++) {
        const struct pystmt *s = &m->stmts.v[i];
        (void)!buf_printf(b, "stmt %d in %d %d at %u-%u lines %u-%u %d%d%d\n",
                          s->kind, s->parent, s->top, s->start, s->end, s->line,
                          s->end_line, s->is_main, s->type_checking,
                          s->has_error);
    }
    for (size_t i = 0; i < m->defs.n; i++)
        if (!outline_hidden(d, m->defs.v[i].def_start))
            outline_def(b, &m->defs.v[i]);
    for (size_t i = 0; i < m->syms.n; i++)
        if (outline_sees(m, d, &m->syms.v[i]))
            outline_sym(b, m, &m->syms.v[i]);
}

/*
 * Append to BOTH what the two outlines of TEXT tell if they differ, the whole
 * one first. 0 = the same, or TEXT has errors, of which the short one need not
 * know; 1 = they differ; SHORTER: bytes that the parser was spared.
 */
static int outline_differs(struct pyparser *p, struct span text,
                           size_t *shorter, struct buf *both)
{
    struct err e;
    struct dull dull = {0};
    struct buf x = BUF_INIT((size_t)64 << 20), y = BUF_INIT((size_t)64 << 20);
    struct pymod *whole = pymod_outline(p, "m.py", text, false, &e);
    struct pymod *made = pymod_outline(p, "m.py", text, true, &e);
    int rc = 0;
    *shorter = 0;
    if (whole && made) {
        *shorter = text.n - made->parsed;
        outline_dull(whole, &dull);
        outline_show(&x, whole, &dull);
        outline_show(&y, made, &dull);
        rc = !span_eq(buf_span(&x), buf_span(&y)) && whole->error_line == 0;
    }
    if (rc)
        (void)!buf_printf(both, "%s--\n%s", x.p, y.p);
    pymod_free(whole);
    pymod_free(made);
    array_release(&dull.v);
    buf_release(&x);
    buf_release(&y);
    return rc;
}

#endif
