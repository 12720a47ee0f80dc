/* SPDX-License-Identifier: MIT */
/*
 * Methods that nothing asks for, left out where a source would be too large:
 * mixins for loading, saving and quantizing reach whole other models that no
 * forward needs.
 *
 * What stands outside of such methods is alive, and so is each method whose
 * name something alive asks for, as an attribute, a whole text (getattr,
 * hasattr) or in a class body. Hooks, which torch and Python call, and methods
 * of classes whose bases are not the repository's are no candidates.
 */
#include "base.h"

#include "clean/recover.h"

struct candidate {
    struct cfile *f;
    const struct pydef *d;
    int next; /* of the same name, -1 = none */
    bool alive;
};

struct lean {
    struct closure *c;
    ARRAY(struct candidate) list; /* by file and start */
    struct map names;             /* -> index + 1 of the first */
    ARRAY(int) queue;             /* alive, not yet read */
};

/* Is each decorator of D one that leaves it a method of its name? */
static bool plain_decorators(const struct pydef *d)
{
    static const char *const plain[] = {"property",
                                        "staticmethod",
                                        "classmethod",
                                        "torch.no_grad",
                                        "abstractmethod",
                                        "abc.abstractmethod",
                                        "torch.inference_mode"};

    for (size_t k = 0; k < d->decorators.n; k++) {
        struct span dotted = d->decorators.v[k].dotted;

        if (!span_ends(dotted, ".setter") &&
            !span_in(dotted, plain, ARRAY_LEN(plain)))
            return false;
    }
    return true;
}

static void add_candidates(struct lean *l, const struct unit *u)
{
    const struct pymod *m = u->f->m;
    const struct pystmt *s = &m->stmts.v[u->stmt];

    for (size_t i = 0; i < m->defs.n; i++) {
        const struct pydef *d = &m->defs.v[i];
        struct candidate x = {u->f, d, -1, false};
        int left = RECOVER_MAX_BASES;

        if (d->start < s->start || d->end > s->end || d->is_class ||
            d->outer < 0 || !m->defs.v[d->outer].is_class ||
            recover_is_hook(d->name) || !plain_decorators(d) ||
            closure_is_cut(l->c, u->f, d->start) ||
            recover_has_base(l->c, u->f, &m->defs.v[d->outer], true, &left))
            continue;
        array_push(&l->list, x);
    }
}

static int by_place(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    int rc = strcmp(x->f->m->path, y->f->m->path);

    if (rc != 0)
        return rc;
    return (x->d->start > y->d->start) - (x->d->start < y->d->start);
}

static void index_names(struct lean *l)
{
    for (size_t i = l->list.n; i-- > 0;) {
        void **at = map_ref(&l->names, l->list.v[i].d->name);

        l->list.v[i].next = (int)(uintptr_t)*at - 1;
        *at = (void *)(uintptr_t)(i + 1);
    }
}

/* First candidate of F that begins at or after AT. */
static size_t candidate_from(const struct lean *l, const struct cfile *f,
                             uint32_t at)
{
    size_t lo = 0, hi = l->list.n;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int rc = strcmp(l->list.v[mid].f->m->path, f->m->path);

        if (rc < 0 || (rc == 0 && l->list.v[mid].d->start < at))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void see_name(struct lean *l, struct cfile *f, uint32_t at, size_t n)
{
    struct span word = {f->m->text.p + at, n};
    int i = (int)(uintptr_t)map_get(&l->names, word) - 1;

    if (i < 0 || l->list.v[i].alive || !recover_asks_for(f, at, n) ||
        closure_is_cut(l->c, f, at))
        return;
    for (; i >= 0; i = l->list.v[i].next) {
        l->list.v[i].alive = true;
        array_push(&l->queue, i);
    }
}

/* The words of [START, END) but those of candidates in it. */
static void read_range(struct lean *l, struct cfile *f, uint32_t start,
                       uint32_t end)
{
    size_t k = candidate_from(l, f, start);
    const char *text = f->m->text.p;

    for (uint32_t at = start; at < end;) {
        uint32_t from = at;

        if (k < l->list.n && l->list.v[k].f == f &&
            l->list.v[k].d->start == at) {
            at = l->list.v[k].d->end;
            while (k < l->list.n && l->list.v[k].f == f &&
                   l->list.v[k].d->start < at)
                k++;
            continue;
        }
        while (at < end && is_word_char(text[at]))
            at++;
        if (at > from)
            see_name(l, f, from, at - from);
        else
            at++;
    }
}

static void read_all(struct lean *l)
{
    for (size_t i = 0; i < l->c->units.n; i++) {
        struct cfile *f = l->c->units.v[i].f;
        const struct pystmt *s = &f->m->stmts.v[l->c->units.v[i].stmt];

        read_range(l, f, s->start, s->end);
    }
    for (size_t q = 0; q < l->queue.n; q++) {
        const struct candidate *x = &l->list.v[l->queue.v[q]];

        /* from its second letter, so that it doesn't leave itself out */
        read_range(l, x->f, x->d->start + 1, x->d->end);
    }
}

bool lean_cut(struct closure *c)
{
    static const struct fault why = {.code = ERR_TOO_LARGE,
                                     .note = "nothing asks for it"};
    struct lean l = {.c = c};
    bool any = false;

    for (size_t i = 0; i < c->units.n; i++)
        add_candidates(&l, &c->units.v[i]);
    if (l.list.n > 0)
        qsort(l.list.v, l.list.n, sizeof(*l.list.v), by_place);
    index_names(&l);
    read_all(&l);
    for (size_t i = 0; i < l.list.n; i++) {
        const struct candidate *x = &l.list.v[i];

        if (x->alive || closure_is_cut(c, x->f, x->d->start))
            continue;
        recover_cut_method(c, x->f, x->d, &why);
        any = true;
    }
    array_release(&l.list);
    array_release(&l.queue);
    map_release(&l.names);
    return any;
}
