/* SPDX-License-Identifier: MIT */
/*
 * Order of the output: the one in which Python would execute the statements
 * when it imports the entry's file, so that what worked there works here. Only
 * where files are missing, or where imports of functions are pulled up, can it
 * be wrong; then statements go behind what they read when they run.
 */
#include "base.h"

#include "clean/closure.h"

struct edge {
    int user, used; /* units */
};

struct edges {
    struct edge *v;
    size_t n, cap;
};

struct orderer {
    struct closure *c;
    int *pos;          /* of each unit in c->seq */
    struct edges late; /* reads at run time of the module */
};

static int by_execution(const void *a, const void *b, void *payload)
{
    const struct closure *c = payload;
    const struct unit *x = &c->units.v[*(const int *)a];
    const struct unit *y = &c->units.v[*(const int *)b];

    return x->f->order[x->stmt] - y->f->order[y->stmt];
}

static void set_positions(struct orderer *o)
{
    for (size_t i = 0; i < o->c->units.n; i++)
        o->pos[o->c->seq[i]] = (int)i;
}

/* Is a binding of E executed before unit U reads it? */
static bool is_bound(const struct orderer *o, const struct entity *e, int u)
{
    const struct unit *x = &o->c->units.v[u];
    bool self = x->f->m->stmts.v[x->stmt].kind == PYSTMT_COMPOUND;

    for (size_t i = 0; i < e->units.n; i++) {
        int v = e->units.v[i];

        if (o->pos[v] < o->pos[u] || (v == u && self))
            return true;
    }
    return false;
}

/* What unit U reads of symbols while it is executed; NULL-ended walk by index:
 * calls FN for each. */
static int each_read(struct orderer *o, int u,
                     int (*fn)(struct orderer *o, int u, uint32_t at,
                               const struct entity *e, bool annotation))
{
    struct closure *c = o->c;
    struct cfile *f = c->units.v[u].f;
    const struct pystmt *s = &f->m->stmts.v[c->units.v[u].stmt];

    for (size_t i = reads_from(f->m, s->start);
         i < f->m->reads.n && f->m->reads.v[i].at < s->end; i++) {
        const struct pyread *x = &f->m->reads.v[i];
        const struct entity *e;

        if (x->flags & PYREAD_DEFERRED)
            continue;
        e = closure_entity(c, f, i);
        if (e && !e->external &&
            fn(o, u, x->at, e, (x->flags & PYREAD_ANNOTATION) != 0))
            return -1;
    }
    for (size_t i = scan_imports_from(&f->scan, s->start);
         i < f->scan.imports.n && f->scan.imports.v[i].start < s->end; i++) {
        const struct nimport *im = &f->scan.imports.v[i];

        for (size_t k = 0; k < im->syms.n; k++) {
            const struct pysym *y = &f->m->syms.v[im->syms.v[k]];
            const struct target *t;
            const struct entity *e;

            e = closure_symbol(c, f, y->name);
            if (y->scope != 0 || !e || !e->required)
                continue;
            t = crepo_import(c->r, f, y);
            e = t->kind == TARGET_SYM ? closure_symbol(c, t->file, t->name)
                                      : NULL;
            if (e && fn(o, u, im->start, e, false))
                return -1;
        }
    }
    return 0;
}

static int note_late(struct orderer *o, int u, uint32_t at,
                     const struct entity *e, bool annotation)
{
    (void)at;
    if (annotation)
        return 0;
    for (size_t i = 0; i < e->units.n; i++) {
        struct edge x = {u, e->units.v[i]};

        if (x.used != u)
            array_push(&o->late, x);
    }
    return 0;
}

static int check_one(struct orderer *o, int u, uint32_t at,
                     const struct entity *e, bool annotation)
{
    struct cfile *f = o->c->units.v[u].f;
    char name[96];

    if (is_bound(o, e, u))
        return 0;
    if (annotation) { /* text is enough */
        o->c->future = true;
        return 0;
    }
    mask_text(name, sizeof(name), e->name);
    o->c->code = ERR_UNRESOLVED;
    o->c->note = arena_printf(o->c->arena,
                              "'%s', used before its definition at %.80s:%u",
                              name, f->m->path, pymod_line(f->m, at));
    return -1;
}

static int check(struct orderer *o)
{
    for (size_t i = 0; i < o->c->units.n; i++)
        if (each_read(o, (int)i, check_one))
            return -1;
    return 0;
}

/* Depth-first over `late`, in the order there is: what is read comes first. */
static void sort_by_use(struct orderer *o)
{
    size_t n = o->c->units.n, out = 0;
    int *seq = arena_array(o->c->arena, n, sizeof(int));
    size_t *first = arena_array(o->c->arena, n + 1, sizeof(size_t));
    size_t *next = arena_array(o->c->arena, n + 1, sizeof(size_t));
    char *seen = arena_array(o->c->arena, n, 1);
    int *stack = arena_array(o->c->arena, n, sizeof(int));

    /* `late` was filled by user: slices of it. */
    for (size_t i = 0, u = 0; u <= n; u++) {
        while (i < o->late.n && (size_t)o->late.v[i].user < u)
            i++;
        first[u] = next[u] = i;
    }
    for (size_t i = 0; i < n; i++) {
        size_t depth = 0;

        if (seen[o->c->seq[i]])
            continue;
        stack[depth++] = o->c->seq[i];
        seen[o->c->seq[i]] = 1;
        while (depth > 0) {
            int u = stack[depth - 1];
            int v = -1;

            while (next[u] < first[u + 1] && v < 0) {
                v = o->late.v[next[u]++].used;
                if (seen[v])
                    v = -1;
            }
            if (v < 0) {
                seq[out++] = u;
                depth--;
            } else {
                seen[v] = 1;
                stack[depth++] = v;
            }
        }
    }
    o->c->seq = seq;
}

int closure_order(struct closure *c)
{
    struct orderer o = {.c = c};
    size_t n = c->units.n;
    int rc;

    crepo_order(c->r, c->units.v[0].f);
    c->seq = arena_array(c->arena, n, sizeof(int));
    o.pos = arena_array(c->arena, n, sizeof(int));
    for (size_t i = 0; i < n; i++)
        c->seq[i] = (int)i;
    qsort_r(c->seq, n, sizeof(int), by_execution, c);
    set_positions(&o);
    rc = check(&o);
    if (rc) {
        for (size_t i = 0; i < n; i++)
            (void)each_read(&o, (int)i, note_late);
        sort_by_use(&o);
        set_positions(&o);
        rc = check(&o);
    }
    array_release(&o.late);
    return rc;
}
