/* SPDX-License-Identifier: MIT */
/* Facts of a file that need name resolution, and so all files. */
#include "base.h"

#include "clean/repo.h"

/* Groups of options inside of one another that are followed. */
#define MAX_GROUPS 8

static bool is_log_method(struct span s)
{
    static const char *const names[] = {
        "debug",     "info",     "warning", "warn",         "error",
        "exception", "critical", "log",     "warning_once",
    };

    return span_in(s, names, ARRAY_LEN(names));
}

/* "logger", "_LOGGER", "log", "model_logger". */
static bool is_logger(struct span name)
{
    while (name.n > 0 && name.p[0] == '_') {
        name.p++;
        name.n--;
    }
    if (name.n >= 6 && strncasecmp(name.p + name.n - 6, "logger", 6) == 0)
        return true;
    return (name.n == 3 && strncasecmp(name.p, "log", 3) == 0) ||
           (name.n == 7 && strncasecmp(name.p, "logging", 7) == 0);
}

/* The last part of DOTTED; *BEFORE is the one before it. */
static struct span last_part(struct span dotted, struct span *before)
{
    size_t i = dotted.n, k;

    while (i > 0 && dotted.p[i - 1] != '.')
        i--;
    *before = (struct span){dotted.p, 0};
    if (i > 0) {
        for (k = i - 1; k > 0 && dotted.p[k - 1] != '.'; k--)
            ;
        *before = (struct span){dotted.p + k, i - 1 - k};
    }
    return (struct span){dotted.p + i, dotted.n - i};
}

static bool only_talks(struct crepo *r, struct cfile *f, const struct cut *c)
{
    size_t i = reads_from(f->m, c->at);
    const struct target *t;
    struct span before, last = last_part(c->dotted, &before);

    if (i == f->m->reads.n || f->m->reads.v[i].at != c->at)
        return false;
    t = crepo_target(r, f, i);
    switch (t->kind) {
    case TARGET_BUILTIN:
        return span_is(t->dotted, "print");
    case TARGET_EXTERNAL:
        return policy_silent(t->dotted) ||
               (is_log_method(last) && is_logger(before));
    case TARGET_SYM:
    case TARGET_LOCAL:
        return before.n > 0 && is_log_method(last) && is_logger(before);
    default:
        return false;
    }
}

bool crepo_is_cut(const struct cfile *f, uint32_t at)
{
    size_t lo = 0, hi = f->scan.cuts.n;

    while (lo < hi) { /* first cut that starts behind AT */
        size_t mid = lo + (hi - lo) / 2;

        if (f->scan.cuts.v[mid].start <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (lo-- > 0) { /* only comments lie inside of other cuts */
        const struct cut *x = &f->scan.cuts.v[lo];

        if (x->live && at < x->end)
            return true;
        if (x->live && x->kind != CUT_COMMENT)
            break;
        if (at - x->start > PY_MAX_SOURCE / 16)
            break;
    }
    return ranges_find(&f->decorators, at) != NULL;
}

/* torch.jit.script reads the source file of what it compiles; what it returns
 * computes the same. */
static void find_decorators(struct crepo *r, struct cfile *f)
{
    for (size_t i = 0; i < f->m->defs.n; i++) {
        const struct pydef *d = &f->m->defs.v[i];

        for (size_t k = 0; k < d->decorators.n; k++) {
            const struct pydeco *x = &d->decorators.v[k];
            size_t at = reads_from(f->m, x->start);
            const struct target *t;
            struct range range = {x->start, x->end};

            if (x->dotted.n == 0 || at == f->m->reads.n ||
                f->m->reads.v[at].at != x->start)
                continue;
            t = crepo_target(r, f, at);
            if (t->kind == TARGET_EXTERNAL &&
                (span_is(t->dotted, "torch.jit.script") ||
                 span_is(t->dotted, "torch.jit.interface") ||
                 span_is(t->dotted, "torch.jit.script_if_tracing")))
                array_push(&f->decorators, range);
        }
    }
}

/* `g = p.add_argument_group()` binds T: the read of p there, or -1. */
static int group_of(const struct target *t)
{
    static const char *const makers[] = {".add_argument_group",
                                         ".add_mutually_exclusive_group"};
    const struct pymod *m = t->file->m;
    const struct pysym *s = pymod_lookup(m, 0, t->name);
    size_t i;

    if (!s || s->earlier >= 0 || s->value_end <= s->value_start)
        return -1;
    i = reads_from(m, s->value_start);
    if (i == m->reads.n || m->reads.v[i].at != s->value_start ||
        !(m->reads.v[i].flags & PYREAD_CALL))
        return -1;
    for (size_t k = 0; k < ARRAY_LEN(makers); k++)
        if (span_ends(m->reads.v[i].dotted, makers[k]))
            return (int)i;
    return -1;
}

/* Statement STMT changes T, and what T is a group of options of. */
static void add_mutator(struct crepo *r, struct cfile *f,
                        const struct target *t, int stmt, bool registers)
{
    for (int hops = 0; t->kind == TARGET_SYM && hops < MAX_GROUPS; hops++) {
        struct mutator x = {t->file, t->name, stmt, registers};
        int whole = group_of(t);

        array_push(&f->mutators, x);
        if (whole < 0)
            break;
        t = crepo_target(r, t->file, (size_t)whole);
    }
}

/* `@X.register("name")` over a definition of the module. */
static void find_registered(struct crepo *r, struct cfile *f)
{
    const struct pymod *m = f->m;

    for (size_t i = 0; i < m->defs.n; i++) {
        const struct pydef *d = &m->defs.v[i];

        if (d->outer >= 0 || m->stmts.v[d->stmt].is_main)
            continue;
        for (size_t k = 0; k < d->decorators.n; k++) {
            uint32_t at = d->decorators.v[k].start;
            size_t x = reads_from(m, at);
            const struct target *t;

            if (x == m->reads.n || m->reads.v[x].at != at)
                continue;
            t = crepo_target(r, f, x);
            if (t->end < m->reads.v[x].end)
                add_mutator(r, f, t, m->stmts.v[d->stmt].top, true);
        }
    }
}

/* Does read X of statement S change what it names? A compound statement holds
 * its stores; the calls in its blocks are statements of their own. */
static bool changes(const struct pystmt *s, const struct pyread *x)
{
    if (x->bound != 0 || (x->flags & PYREAD_DEFERRED) ||
        span_ends(x->dotted, ".__doc__")) /* there is none to add to */
        return false;
    if (s->kind == PYSTMT_EXPR && x->at == s->start &&
        (x->flags & PYREAD_CALL) && x->name.n < x->dotted.n)
        return true;
    return s->parent < 0 && (x->flags & PYREAD_STORE);
}

/* `X.attr = v`, `X[k] = v`, `X.register(...)` and loops of such. */
static void find_mutators(struct crepo *r, struct cfile *f)
{
    const struct pymod *m = f->m;

    for (size_t i = 0; i < m->stmts.n; i++) {
        const struct pystmt *s = &m->stmts.v[i];
        bool expr = s->kind == PYSTMT_EXPR;

        if (s->is_main || s->type_checking ||
            (!expr && s->kind != PYSTMT_ASSIGN && s->kind != PYSTMT_COMPOUND))
            continue;
        for (size_t k = reads_from(m, s->start);
             k < m->reads.n && m->reads.v[k].at < s->end; k++)
            if (changes(s, &m->reads.v[k]))
                add_mutator(r, f, crepo_target(r, f, k), s->top, false);
    }
}

void crepo_prepare(struct crepo *r, struct cfile *f)
{
    if (f->prepared)
        return;
    f->prepared = true;
    for (size_t i = 0; i < f->scan.cuts.n; i++) {
        struct cut *c = &f->scan.cuts.v[i];

        if (c->kind == CUT_PRINT && c->dotted.n > 0)
            c->live = only_talks(r, f, c);
    }
    find_decorators(r, f);
    find_mutators(r, f);
    find_registered(r, f);
    for (size_t i = 0; i < f->m->reads.n; i++)
        f->cut[i] = crepo_is_cut(f, f->m->reads.v[i].at);
}

/* ---- order of execution ---- */

struct visit {
    struct cfile *f;
    bool started;
    size_t stmt, import; /* next ones; import: index into m->globals */
};

struct visits {
    struct visit *v;
    size_t n, cap;
};

static void push_file(struct crepo *r, struct visits *stack,
                      const struct pymod *m)
{
    struct cfile *f = crepo_of(r, m);
    struct visit v = {.f = f};

    if (f && !f->visited)
        array_push(stack, v);
}

/* Files that the import S runs, pushed so that the first is on top: packages
 * from the outside in, the module, the submodule. */
static void push_import(struct crepo *r, struct visits *stack,
                        const struct cfile *f, const struct pysym *s)
{
    struct span module = s->module;

    if (s->kind == PYSYM_FROM && s->member.n > 0) {
        char *full =
            xasprintf("%.*s%s%.*s", (int)module.n, module.p,
                      module.n ? "." : "", (int)s->member.n, s->member.p);

        push_file(r, stack,
                  pyrepo_module(r->names, f->m, s->level, span_str(full)));
        free(full);
    }
    for (;;) {
        push_file(r, stack, pyrepo_module(r->names, f->m, s->level, module));
        while (module.n > 0 && module.p[--module.n] != '.')
            ;
        if (module.n == 0)
            break;
    }
}

static void run_file(struct crepo *r, struct visits *stack, int *clock)
{
    while (stack->n > 0) {
        struct visit *v = &stack->v[stack->n - 1];
        const struct pymod *m = v->f->m;
        const struct pystmt *s;

        /* Another import may have run it since it was pushed. */
        if (v->stmt == m->stmts.n || (!v->started && v->f->visited)) {
            stack->n--;
            continue;
        }
        v->started = v->f->visited = true;
        s = &m->stmts.v[v->stmt];
        if (v->import < m->globals.n) {
            const struct pysym *y = &m->syms.v[m->globals.v[v->import]];

            if (y->start < s->end && s->parent < 0) {
                struct cfile *f = v->f;

                v->import++;
                if (sym_is_import(y) && !sym_is_remote(m, y) &&
                    !m->stmts.v[y->stmt].type_checking &&
                    !m->stmts.v[y->stmt].is_main)
                    push_import(r, stack, f, y); /* may move the stack */
                continue;
            }
        }
        v->f->order[v->stmt] = (*clock)++;
        v->stmt++;
    }
}

void crepo_order(struct crepo *r, struct cfile *entry)
{
    struct visits stack = {0};
    int clock = 0;
    struct span module;

    if (r->ordered == entry)
        return;
    r->ordered = entry;
    for (size_t i = 0; i < r->files.n; i++)
        r->files.v[i]->visited = false;
    /* Python runs the packages around a module first. */
    push_file(r, &stack, entry->m);
    if (entry->origin)
        push_file(r, &stack, entry->origin->m);
    module = pyrepo_module_name(r->names, entry->m);
    while (module.n > 0) {
        while (module.n > 0 && module.p[--module.n] != '.')
            ;
        if (module.n > 0)
            push_file(r, &stack, pyrepo_module(r->names, entry->m, 0, module));
    }
    run_file(r, &stack, &clock);
    for (size_t i = 0; i < r->files.n; i++) {
        push_file(r, &stack, r->files.v[i]->m);
        run_file(r, &stack, &clock);
    }
    array_release(&stack);
}
