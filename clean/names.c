/* SPDX-License-Identifier: MIT */
/*
 * Names of the output. All files of the closure share one module there, so
 * equal names of different things get different ones: the first keeps its
 * name (packages, the entry, then in the order in which the closure met them),
 * the others get a number. In KernelBench form the entry is called Model.
 */
#include "base.h"

#include "clean/stand.h"

#define MAX_SUFFIX 1000

/* `import x as NAME` in a function becomes `NAME = out`: they must differ. */
struct forbidden {
    int ent;
    struct span name;
};

struct namer {
    struct closure *c;
    struct map taken;
    ARRAY(struct forbidden) forbidden;
    size_t *first; /* occurrences of each entity: slices of by_ent */
    int *by_ent;   /* indices into c->occ */
};

static void collect(struct namer *n)
{
    struct closure *c = n->c;

    for (size_t u = 0; u < c->units.n; u++) {
        struct cfile *f = c->units.v[u].f;
        const struct pystmt *s = &f->m->stmts.v[c->units.v[u].stmt];

        for (size_t i = reads_from(f->m, s->start);
             i < f->m->reads.n && f->m->reads.v[i].at < s->end; i++) {
            const struct entity *e = closure_entity(c, f, i);
            struct occurrence o = {0, f, i};

            if (!e)
                continue;
            o.ent = (int)(e - c->ents.v);
            array_push(&c->occ, o);
        }
        for (size_t i = scan_imports_from(&f->scan, s->start);
             i < f->scan.imports.n && f->scan.imports.v[i].start < s->end;
             i++) {
            const struct nimport *im = &f->scan.imports.v[i];

            for (size_t k = 0; k < im->syms.n; k++) {
                const struct pysym *y = &f->m->syms.v[im->syms.v[k]];
                const struct target *t = crepo_import(c->r, f, y);
                struct forbidden x = {0, y->name};
                const struct entity *e =
                    t->kind == TARGET_SYM ? closure_symbol(c, t->file, t->name)
                                          : NULL;

                if (!e || y->scope == 0 || sym_is_single(f->m, y))
                    continue;
                x.ent = (int)(e - c->ents.v);
                array_push(&n->forbidden, x);
            }
        }
    }
}

static void index_occurrences(struct namer *n)
{
    struct closure *c = n->c;
    size_t *fill;

    n->first = arena_array(c->arena, c->ents.n + 2, sizeof(size_t));
    fill = arena_array(c->arena, c->ents.n + 2, sizeof(size_t));
    n->by_ent = arena_array(c->arena, c->occ.n + 1, sizeof(int));
    for (size_t i = 0; i < c->occ.n; i++)
        n->first[c->occ.v[i].ent + 1]++;
    for (size_t i = 0; i < c->ents.n; i++)
        n->first[i + 1] += n->first[i];
    memcpy(fill, n->first, (c->ents.n + 1) * sizeof(size_t));
    for (size_t i = 0; i < c->occ.n; i++)
        n->by_ent[fill[c->occ.v[i].ent]++] = (int)i;
}

/* Would NAME, written where occurrence O is, mean a local name? */
static bool is_hidden(const struct occurrence *o, struct span name)
{
    const struct pymod *m = o->f->m;
    int here = m->reads.v[o->read].scope;

    for (int s = here; s > 0; s = m->scopes.v[s].parent) {
        if (m->scopes.v[s].kind == PYSCOPE_CLASS && s != here)
            continue;
        if (pymod_lookup(m, s, name))
            return true;
    }
    return false;
}

/* The text that an occurrence's replaced part has now. */
static struct span written(struct closure *c, const struct occurrence *o)
{
    uint32_t at = o->f->m->reads.v[o->read].at;

    return pymod_text(o->f->m, at, stand_end(c, o->f, o->read));
}

static bool fits(struct namer *n, size_t ent, struct span name)
{
    struct closure *c = n->c;

    if (map_has(&n->taken, name) || map_has(&c->builtins, name) ||
        py_is_keyword(name))
        return false;
    for (size_t i = 0; i < n->forbidden.n; i++)
        if (n->forbidden.v[i].ent == (int)ent &&
            span_eq(n->forbidden.v[i].name, name))
            return false;
    for (size_t i = n->first[ent]; i < n->first[ent + 1]; i++) {
        const struct occurrence *o = &c->occ.v[n->by_ent[i]];

        if (!span_eq(written(c, o), name) && is_hidden(o, name))
            return false;
    }
    return true;
}

static int assign(struct namer *n, size_t ent, struct span wanted)
{
    struct entity *e = &n->c->ents.v[ent];
    char *name = arena_strdup(n->c->arena, wanted);
    char shown[96];

    for (int i = 2; i < MAX_SUFFIX; i++) {
        if (fits(n, ent, span_str(name))) {
            e->out = name;
            map_put(&n->taken, span_str(name), e);
            return 0;
        }
        if (entity_is_package(e))
            break;
        name = arena_printf(n->c->arena, "%.*s_%d", (int)wanted.n, wanted.p, i);
    }
    mask_text(shown, sizeof(shown), e->name);
    n->c->code = ERR_UNRESOLVED;
    n->c->note = arena_printf(n->c->arena, "'%s', no free name for it", shown);
    return -1;
}

int closure_names(struct closure *c, const struct cfile *f, struct span entry,
                  struct span wanted)
{
    struct namer n = {.c = c};
    struct entity *e = closure_symbol(c, f, entry);
    int rc = 0;

    c->occ.n = 0;
    collect(&n);
    index_occurrences(&n);
    for (size_t i = 0; i < c->ents.n; i++)
        c->ents.v[i].out = NULL;
    for (size_t i = 0; i < c->ents.n && rc == 0; i++)
        if (entity_is_package(&c->ents.v[i]))
            rc = assign(&n, i, c->ents.v[i].name);
    if (rc == 0 && e)
        rc = assign(&n, (size_t)(e - c->ents.v), wanted.n ? wanted : e->name);
    for (size_t i = 0; i < c->ents.n && rc == 0; i++)
        if (!c->ents.v[i].out)
            rc = assign(&n, i, c->ents.v[i].name);
    map_release(&n.taken);
    array_release(&n.forbidden);
    return rc;
}
