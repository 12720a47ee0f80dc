/* SPDX-License-Identifier: MIT */
/* What runs while a source is imported: a statement that was left out there
 * would raise at once. */
#include "base.h"

#include "clean/recover.h"

/* Functions that are followed. */
#define MAX_RUNNING 512

struct running {
    int id[MAX_RUNNING]; /* of the symbols */
    size_t n;
};

static void add(struct running *r, int id)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->id[i] == id)
            return;
    if (r->n < MAX_RUNNING)
        r->id[r->n++] = id;
}

/* Symbols that unit U calls: when it is executed, or (LATER) when the function
 * that it is runs. */
static void add_calls(struct closure *c, int u, bool later, struct running *r)
{
    struct cfile *f = c->units.v[u].f;
    const struct pystmt *s = &f->m->stmts.v[c->units.v[u].stmt];

    for (size_t i = reads_from(f->m, s->start);
         i < f->m->reads.n && f->m->reads.v[i].at < s->end; i++) {
        const struct pyread *x = &f->m->reads.v[i];
        const struct target *t;

        if (!(x->flags & (PYREAD_CALL | PYREAD_DECORATOR)) ||
            (x->flags & PYREAD_ANNOTATION) ||
            later != ((x->flags & PYREAD_DEFERRED) != 0))
            continue;
        t = crepo_target(c->r, f, i);
        if (t->kind == TARGET_SYM && t->end == x->end &&
            !closure_is_cut(c, f, x->at))
            add(r, t->id);
    }
}

bool runs_at_import(struct closure *c, const struct unit *u)
{
    const struct pymod *m = u->f->m;
    const struct pystmt *s = &m->stmts.v[u->stmt];
    struct running r = {.n = 0};
    int id;

    if (s->kind != PYSTMT_FUNCTION || s->n_defs == 0)
        return false;
    id =
        crepo_symbol_id(c->r, u->f, m->syms.v[m->globals.v[s->first_def]].name);
    for (size_t i = 0; i < c->units.n; i++)
        add_calls(c, (int)i, false, &r);
    for (size_t i = 0; i < r.n; i++) {
        const struct entity *e = closure_by_id(c, r.id[i]);

        if (r.id[i] == id)
            return true;
        for (size_t k = 0; e && k < e->units.n; k++) {
            const struct unit *v = &c->units.v[e->units.v[k]];

            if (v->f->m->stmts.v[v->stmt].kind == PYSTMT_FUNCTION)
                add_calls(c, e->units.v[k], true, &r);
        }
    }
    return false;
}
