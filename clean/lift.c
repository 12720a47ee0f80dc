/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/lift.h"

/* Local statements that one class may need, and their text. */
#define MAX_STATEMENTS 64
#define MAX_LIFTED     (256u << 10)

struct lift {
    const struct cfile *f;
    struct arena *arena;
    ARRAY(const struct pysym *) syms; /* the class first */
    const char *why;
};

static bool refuse(struct lift *l, struct span name, const char *why)
{
    char text[96];

    mask_text(text, sizeof(text), name);
    l->why = arena_printf(
        l->arena, "defined inside of a function, whose '%s' %s", text, why);
    return false;
}

static bool within(const struct pymod *m, int scope, const struct pysym *s)
{
    return m->scopes.v[scope].start >= s->start &&
           m->scopes.v[scope].end <= s->end;
}

/* Is the value of S a list or the like, which whoever has it may change? */
static bool is_mutable(const struct pymod *m, const struct pysym *s)
{
    struct span v = pymod_text(m, s->value_start, s->value_end);

    return s->kind == PYSYM_ASSIGN &&
           (memchr(v.p, '[', v.n) || memchr(v.p, '{', v.n));
}

/* Has the value of S two names: `S = other = v`? */
static bool is_shared(const struct pymod *m, const struct pysym *s)
{
    for (size_t i = 0; i < m->syms.n; i++)
        if (&m->syms.v[i] != s && m->syms.v[i].scope == s->scope &&
            m->syms.v[i].start == s->start)
            return true;
    return false;
}

static bool follows(const struct pymod *m, uint32_t at, const char *text)
{
    size_t n = strlen(text);

    return at >= n && memcmp(m->text.p + at - n, text, n) == 0;
}

/* Does the function change what S binds: `S.a = v`, `S.append(v)`,
 * `S.list.append(v)` of a class, `setattr(S, ...)`? May it: does it hand a list
 * on, `fill(S)`? */
static bool is_changed(const struct pymod *m, const struct pysym *s)
{
    bool mutable = is_mutable(m, s);

    for (size_t i = 0; i < m->reads.n; i++) {
        const struct pyread *x = &m->reads.v[i];

        if (x->bound != s->scope || !span_eq(x->name, s->name) ||
            (x->at >= s->start && x->at < s->end))
            continue;
        if ((x->flags & PYREAD_STORE) || follows(m, x->at, "setattr(") ||
            (mutable && x->scope == s->scope))
            return true;
        if (!(x->flags & PYREAD_CALL) || x->dotted.n == x->name.n)
            continue;
        if (s->kind == PYSYM_ASSIGN || memchr(x->dotted.p + x->name.n + 1, '.',
                                              x->dotted.n - x->name.n - 1))
            return true;
    }
    return mutable && is_shared(m, s);
}

/* Is the value of S the same whenever it is asked for: no call makes it? */
static bool is_plain(const struct pymod *m, const struct pysym *s)
{
    for (size_t i = reads_from(m, s->value_start);
         i < m->reads.n && m->reads.v[i].at < s->value_end; i++) {
        int scope = m->reads.v[i].scope;
        bool lambda = scope != s->scope && !m->scopes.v[scope].comprehension;

        if ((m->reads.v[i].flags & PYREAD_CALL) && !lambda)
            return false;
    }
    return s->value_end > s->value_start;
}

/* May the statement that binds S stand at module level? */
static bool can_move(struct lift *l, const struct pysym *s)
{
    const struct pymod *m = l->f->m;

    if (l->syms.n > 0 &&
        (s->earlier >= 0 || pymod_lookup(m, s->scope, s->name) != s))
        return refuse(l, s->name, "is bound more than once");
    switch (s->kind) {
    case PYSYM_CLASS:
    case PYSYM_FUNCTION:
    case PYSYM_ASSIGN:
        if (is_changed(m, s))
            return refuse(l, s->name, "is changed");
        if (s->kind == PYSYM_ASSIGN && (!is_plain(m, s) || s->unpacked))
            return refuse(l, s->name, "is made by a call");
        return true;
    case PYSYM_IMPORT:
    case PYSYM_FROM:
        return true;
    default:
        return refuse(l, s->name, "it reads");
    }
}

static bool add(struct lift *l, const struct pysym *s)
{
    for (size_t i = 0; i < l->syms.n; i++) {
        if (l->syms.v[i] == s)
            return true;
        if (span_eq(l->syms.v[i]->name, s->name))
            return refuse(l, s->name, "has two meanings");
    }
    if (!can_move(l, s))
        return false;
    if (l->syms.n == MAX_STATEMENTS)
        return refuse(l, s->name, "is one of too many that it reads");
    array_push(&l->syms, s);
    return true;
}

/* What the statement of S reads of the functions around it. */
static bool add_reads(struct lift *l, const struct pysym *s)
{
    const struct pymod *m = l->f->m;

    for (size_t i = reads_from(m, s->start);
         i < m->reads.n && m->reads.v[i].at < s->end; i++) {
        const struct pyread *x = &m->reads.v[i];
        const struct pysym *y;

        if (x->bound <= 0 || within(m, x->bound, s))
            continue;
        y = pymod_lookup(m, x->bound, x->name);
        if (!y)
            return refuse(l, x->name, "cannot be read");
        if (!add(l, y))
            return false;
    }
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct pysym *const *x = a, *const *y = b;

    return (*x)->start < (*y)->start ? -1 : (*x)->start > (*y)->start;
}

/* Append [START, END) without the indentation of its first line; what lies in
 * texts stays as it is. */
static int dedent(const struct cfile *f, uint32_t start, uint32_t end,
                  struct buf *out)
{
    struct span text = f->m->text;
    uint32_t column = 0;
    int rc = 0;

    while (column < start && text.p[start - column - 1] != '\n')
        column++;
    while (start < end && rc == 0) {
        const char *nl = memchr(text.p + start, '\n', end - start);
        uint32_t next = nl ? (uint32_t)(nl + 1 - text.p) : end;

        rc = buf_add(out, text.p + start, next - start);
        start = next;
        for (uint32_t k = 0;
             k < column && start < end && !ranges_find(&f->scan.strings, start);
             k++) {
            if (text.p[start] != ' ' && text.p[start] != '\t')
                break;
            start++;
        }
    }
    return rc == 0 ? buf_addc(out, '\n') : rc;
}

static int write_text(struct lift *l, struct buf *out)
{
    uint32_t done = 0;
    int rc = 0;

    if (l->f->m->future_annotations)
        rc = buf_adds(out, "from __future__ import annotations\n");
    qsort(l->syms.v, l->syms.n, sizeof(*l->syms.v), by_start);
    for (size_t i = 0; i < l->syms.n && rc == 0; i++) {
        const struct pysym *s = l->syms.v[i];
        struct span text = pymod_text(l->f->m, s->start, s->end);

        if (s->end <= done) /* one statement of several names */
            continue;
        done = s->end;
        if (memmem(text.p, text.n, "nonlocal", 8))
            return refuse(l, s->name, "binds names of functions"), -1;
        rc = dedent(l->f, s->start, s->end, out);
    }
    if (rc)
        l->why = "defined inside of a function, and too large";
    return rc;
}

/* The definition local to a function that holds D, or is it. */
static const struct pydef *outermost(const struct pymod *m,
                                     const struct pydef *d)
{
    while (d->outer >= 0 && m->defs.v[d->outer].is_class)
        d = &m->defs.v[d->outer];
    return d;
}

struct cfile *lift_class(struct crepo *r, struct pyparser *p, struct arena *a,
                         struct cfile *f, const struct pydef *d,
                         const char **why)
{
    const struct pydef *top = outermost(f->m, d);
    struct lift l = {.f = f, .arena = a};
    struct buf text = BUF_INIT(MAX_LIFTED);
    const char *path =
        arena_printf(a, "%s#%u", f->m->path, pymod_line(f->m, top->start));
    struct cfile *made = crepo_file(r, span_str(path));
    bool ok = made || add(&l, &f->m->syms.v[top->sym]);
    struct err e;

    for (size_t i = 0; i < l.syms.n && ok; i++)
        ok = add_reads(&l, l.syms.v[i]);
    if (ok && !made && write_text(&l, &text) == 0) {
        made = crepo_add_part(r, p, f, span_str(path), buf_span(&text), &e);
        l.why = made ? NULL : arena_strdup(a, span_str(e.msg));
    }
    *why = l.why;
    array_release(&l.syms);
    buf_release(&text);
    return made;
}
