/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/benchmark.h"
#include "clean/calls.h"
#include "clean/dup.h"
#include "clean/lift.h"
#include "clean/module.h"
#include "clean/recover.h"
#include "clean/secret.h"
#include "clean/shapes.h"
#include "clean/stand.h"
#include "clean/write.h"

/* Classes that are looked at on the way to a forward. */
#define MAX_BASES 256
/* Methods left out let others go. */
#define MAX_LEAN 3

/* Modules of torch that have no forward of their own. */
static bool is_container(struct span dotted)
{
    static const char *const names[] = {
        "torch.nn.Module",
        "torch.nn.ModuleList",
        "torch.nn.ModuleDict",
        "torch.nn.ParameterList",
        "torch.nn.ParameterDict",
        "torch.nn.modules.Module",
        "torch.nn.modules.module.Module",
        "torch.jit.ScriptModule",
        "typing.Generic",
        "typing.Protocol",
        "abc.ABC",
        "builtins.object",
        "object",
    };

    return span_in(dotted, names, ARRAY_LEN(names));
}

/* `forward` in the body, or self.forward = ... in a method. */
static bool defines_forward(const struct pymod *m, const struct pydef *d)
{
    if (pymod_lookup(m, d->scope, SPAN_LIT("forward")))
        return true;
    for (size_t i = reads_from(m, d->start);
         i < m->reads.n && m->reads.v[i].at < d->end; i++)
        if ((m->reads.v[i].flags & PYREAD_STORE) &&
            span_is(m->reads.v[i].dotted, "self.forward"))
            return true;
    return false;
}

/* Is the class D called by a `__call__` of its own, which does not lead to
 * forward? */
static bool defines_call(const struct pymod *m, const struct pydef *d)
{
    struct span text = pymod_text(m, d->start, d->end);

    return pymod_lookup(m, d->scope, SPAN_LIT("__call__")) &&
           !memmem(text.p, text.n, "forward(", 8) &&
           !memmem(text.p, text.n, ").__call__(", 11);
}

struct class_at {
    const struct pymod *m;
    const struct pydef *d;
};

static bool has_forward(struct crepo *r, const struct pymod *m,
                        const struct pydef *d)
{
    ARRAY(struct class_at) queue = {0};
    struct class_at x = {m, d};
    bool found = defines_call(m, d);

    array_push(&queue, x);
    for (size_t i = 0; i < queue.n && !found; i++) {
        x = queue.v[i];
        if (defines_forward(x.m, x.d)) {
            found = true;
            break;
        }
        for (size_t k = 0; k < x.d->bases.n && !found; k++) {
            const struct pybase *b = &x.d->bases.v[k];
            struct class_at y = {NULL, NULL};
            struct pyref ref;
            bool seen = false;

            if (b->keyword.n > 0)
                continue;
            if (b->dotted.n == 0) { /* a computed base: who knows */
                found = true;
                continue;
            }
            ref = pyrepo_deref(
                r->names, pyrepo_resolve(r->names, x.m, b->start, b->dotted));
            if (ref.kind == PYREF_EXTERNAL || ref.kind == PYREF_BUILTIN) {
                found = !is_container(ref.dotted);
                continue;
            }
            y.d = pyrepo_class(r->names, ref, &y.m);
            for (size_t j = 0; j < queue.n; j++)
                seen |= queue.v[j].d == y.d;
            if (y.d && !seen && queue.n < MAX_BASES)
                array_push(&queue, y);
        }
    }
    array_release(&queue);
    return found;
}

static void fail(struct arena *a, struct val *rec, enum err_code code,
                 const char *note)
{
    rec_fail(a, rec, "clean", code, note);
}

static struct span first_part(struct span dotted)
{
    const char *dot = dotted.n ? memchr(dotted.p, '.', dotted.n) : NULL;

    return dot ? (struct span){dotted.p, (size_t)(dot - dotted.p)} : dotted;
}

/* Digest and signature of the source M, and what of a benchmark is in it. */
static int compare(struct closure *c, const struct pymod *m, struct span entry,
                   struct val *rec, struct likeness *like)
{
    const struct policy *policy = c->r->policy;
    struct overlap o = {.rule = OVERLAP_NONE};
    const struct pydef *d;
    struct tokens t;

    tokens_read(&t, m);
    d = pymod_def(m, entry);
    tokens_digest(&t, tokens_from(&t, d->def_start), like->digest);
    if (policy->minhash)
        like->signature = dup_signature(&t, d, policy->minhash, c->arena);
    if (policy->benchmark)
        o = benchmark_find_source(policy->benchmark, m, &t, entry);
    if (o.rule != OVERLAP_NONE)
        val_set(c->arena, rec, "overlap", overlap_val(c->arena, &o));
    if (o.rule == OVERLAP_OPERATORS)
        rec_why(c->arena, rec, "clean", ERR_SAME_OPERATORS);
    if (o.rule > OVERLAP_OPERATORS) {
        c->code = ERR_CONTAMINATED;
        c->note = overlap_note(c->arena, &o);
        like->digest[0] = '\0';
    }
    tokens_release(&t);
    return o.rule > OVERLAP_OPERATORS ? -1 : 0;
}

static bool is_class_record(const struct val *rec)
{
    return !span_is(val_gets(rec, "entry_kind"), "function");
}

/* Last check: what was written must read as it should. */
static int check_source(struct closure *c, struct pyparser *p,
                        struct span source, struct span entry, struct val *rec,
                        struct likeness *like)
{
    struct err e;
    struct pymod *m = pymod_new(p, "source", source, &e);
    const char *secret = secret_find(source, true);
    const struct pydef *d;
    int rc = -1;

    c->code = ERR_PARSE;
    if (!m) {
        c->note = arena_strdup(c->arena, span_str(e.msg));
        return -1;
    }
    d = pymod_def(m, entry);
    if (m->error_line > 0)
        c->note = "syntax error in the standalone source";
    else if (m->python2_line > 0)
        c->note = "Python 2";
    else if (!d || d->is_class != is_class_record(rec))
        c->note = "the entry is not in the standalone source";
    else
        rc = 0;
    if (rc == 0 && secret) {
        c->code = ERR_SECRET;
        c->note = arena_printf(c->arena, "'%s' in the code", secret);
        rc = -1;
    }
    if (rc == 0)
        rc = compare(c, m, entry, rec, like);
    pymod_free(m);
    return rc;
}

static int by_name(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    int c = memcmp(x->p, y->p, MIN(x->n, y->n));

    return c ? c : (x->n > y->n) - (x->n < y->n);
}

static struct val *packages_list(struct arena *a, const struct map *packages)
{
    struct val *list = val_list(a);
    struct span *keys = arena_array(a, packages->n + 1, sizeof(*keys));

    for (size_t i = 0; i < packages->n; i++)
        keys[i] = packages->entries[i].key;
    qsort(keys, packages->n, sizeof(*keys), by_name);
    for (size_t i = 0; i < packages->n; i++)
        val_push(a, list, val_str(a, keys[i]));
    return list;
}

/* Where the parts of the source come from, in their order; the entry itself is
 * the record's own path. */
static struct val *parts_list(struct arena *a, const struct closure *c)
{
    struct val *list = val_list(a);

    for (size_t i = 0; i < c->units.n; i++) {
        const struct unit *u = &c->units.v[c->seq[i]];
        const struct pymod *m = u->f->m;
        const struct pystmt *s = &m->stmts.v[u->stmt];
        struct val *part = val_map(a);

        if (c->seq[i] == 0)
            continue;
        if (u->f->origin)
            m = u->f->origin->m;
        val_set(a, part, "path", val_strz(a, m->path));
        m = u->f->m;
        val_set(a, part, "name",
                s->n_defs > 0
                    ? val_str(a, m->syms.v[m->globals.v[s->first_def]].name)
                    : val_strz(a, ""));
        if (u->f->licence)
            val_set(a, part, "licence", val_copy(a, u->f->licence));
        val_push(a, list, part);
    }
    return list;
}

/* What was left out, for people. */
static const char *cuts_note(struct arena *a, const struct closure *c)
{
    const char *note = NULL;

    for (size_t i = 0; i < c->cuts.n && i < 8; i++) {
        const struct dcut *x = &c->cuts.v[i];

        note = arena_printf(a, "%s%s%s",
                            note ? note : "left out: ", note ? ", " : "",
                            arena_strdup(a, x->name));
    }
    return note;
}

/* The same for programs. */
static struct val *cuts_list(struct arena *a, const struct closure *c)
{
    static const char *const kinds[] = {
        [DCUT_DECORATOR] = "decorator", [DCUT_METHOD] = "method",
        [DCUT_STATEMENT] = "statement", [DCUT_BLOCK] = "block",
        [DCUT_RAISE] = "body",          [DCUT_UNCALLED] = "uncalled",
        [DCUT_BODY] = "absent",         [DCUT_REFERENCE] = "reference",
    };
    struct val *list = val_list(a);

    for (size_t i = 0; i < c->cuts.n; i++) {
        const struct dcut *x = &c->cuts.v[i];
        struct val *cut = val_map(a);

        val_set(a, cut, "kind", val_strz(a, kinds[x->kind]));
        val_set(a, cut, "path", val_strz(a, x->f->m->path));
        val_set(a, cut, "line", val_int(a, pymod_line(x->f->m, x->start)));
        val_set(a, cut, "name", val_text(a, x->name));
        val_set(a, cut, "why", val_text(a, span_str(x->note)));
        val_push(a, list, cut);
    }
    for (size_t i = 0; i < c->ents.n; i++) {
        const struct entity *e = &c->ents.v[i];
        struct val *cut = val_map(a);

        if (!e->stand)
            continue;
        val_set(a, cut, "kind",
                val_strz(a, e->stand == STAND_MODULE ? "module" : "package"));
        if (e->f)
            val_set(a, cut, "path", val_strz(a, e->f->m->path));
        val_set(a, cut, "name", val_text(a, e->f ? e->name : e->module));
        val_push(a, list, cut);
    }
    return list;
}

/* Close C over STMT of F and write it; TOP is the entry's statement. A source
 * that is too large is tried without the methods that nothing asks for. */
static int write_closure(struct closure *c, struct cfile *f, int stmt,
                         struct span top, struct span wanted,
                         struct buf *source, struct map *packages)
{
    for (int i = 0;; i++) {
        if (closure_run(c, f, stmt) || closure_order(c) ||
            closure_names(c, f, top, wanted))
            return -1;
        if (write_source(c, source, packages) == 0)
            return 0;
        if (i == MAX_LEAN || !lean_cut(c))
            return -1;
        buf_clear(source);
        map_release(packages);
    }
}

/* What the class tells of its shapes, before its docstrings go. */
static void add_shapes(struct closure *c, struct cfile *f, struct val *rec)
{
    const struct pydef *d = pymod_def(f->m, val_gets(rec, "name"));
    struct val *shapes = d ? shapes_told(c->arena, f->m, d) : NULL;

    if (shapes)
        val_set(c->arena, rec, "shapes", shapes);
}

static int standalone(struct closure *c, struct pyparser *p, struct cfile *f,
                      int stmt, struct span name, struct val *rec,
                      struct likeness *like)
{
    struct buf source = BUF_INIT(WRITE_MAX);
    struct map packages = MAP_INIT;
    struct span top = first_part(name), entry, wanted = {NULL, 0};
    bool wrapped = c->r->policy->kernelbench && !is_class_record(rec);
    struct val *cuts;
    struct err e;
    int rc = -1;

    /* A nested class has no name of its own to give up. */
    if (c->r->policy->kernelbench && top.n == name.n && !wrapped)
        wanted = SPAN_LIT("Model");
    if (write_closure(c, f, stmt, top, wanted, &source, &packages))
        goto out;
    entry = span_str(arena_printf(c->arena, "%s%.*s",
                                  closure_symbol(c, f, top)->out,
                                  (int)(name.n - top.n), name.p + top.n));
    if (check_source(c, p, buf_span(&source), entry, rec, like))
        goto out;
    if (wrapped && wrap_function(p, entry, &source, &e)) {
        c->code = e.code;
        c->note = arena_strdup(c->arena, span_str(e.msg));
        goto out;
    }
    if (wrapped) {
        val_del(rec, "entry_kind");
        entry = SPAN_LIT("Model");
        map_put(&packages, SPAN_LIT("torch"), c);
    }
    val_set(c->arena, rec, "source", val_str(c->arena, buf_span(&source)));
    val_set(c->arena, rec, "entry", val_str(c->arena, entry));
    val_set(c->arena, rec, "imports", packages_list(c->arena, &packages));
    val_set(c->arena, rec, "inlined", parts_list(c->arena, c));
    if (c->r->calls) {
        struct val *calls = calls_of(c->r->calls, c, val_gets(rec, "path"),
                                     val_gets(rec, "name"));

        if (calls)
            val_set(c->arena, rec, "calls", calls);
    }
    add_shapes(c, f, rec);
    cuts = cuts_list(c->arena, c);
    if (cuts->list.n > 0)
        val_set(c->arena, rec, "cuts", cuts);
    if (c->cuts.n > 0) {
        val_set(c->arena, rec, "note",
                val_strz(c->arena, cuts_note(c->arena, c)));
    }
    rc = 0;
out:
    buf_release(&source);
    map_release(&packages);
    return rc;
}

/* "A.B" of "f.<locals>.A.B". */
static struct span local_name(struct span qual)
{
    static const char mark[] = "<locals>.";
    const char *at;

    while ((at = memmem(qual.p, qual.n, mark, sizeof(mark) - 1)) != NULL) {
        qual.n -= (size_t)(at - qual.p) + sizeof(mark) - 1;
        qual.p = at + sizeof(mark) - 1;
    }
    return qual;
}

/* The class of REC in its file, or NULL: of local ones of one name by line. */
static const struct pydef *find_class(const struct pymod *m,
                                      const struct val *rec)
{
    struct span name = val_gets(rec, "name");
    int64_t line = val_geti(rec, "line", 0);

    for (size_t i = 0; i < m->defs.n; i++)
        if (m->defs.v[i].line == line && m->defs.v[i].is_class &&
            span_eq(m->defs.v[i].qual, name))
            return &m->defs.v[i];
    return pymod_def(m, name);
}

void module_clean(struct crepo *r, struct pyparser *p, struct arena *a,
                  struct val *rec, struct likeness *like)
{
    struct span path = val_gets(rec, "path"), name = val_gets(rec, "name");
    struct cfile *f = crepo_file(r, path);
    const struct pydef *d = NULL;
    struct closure c;
    int stmt;

    *like = (struct likeness){.signature = NULL};
    if (!f) {
        const struct err *why = map_get(&r->unreadable, path);

        fail(a, rec, why ? why->code : ERR_MISSING_OBJECT,
             why ? why->msg : "the file of this module is not in the stream");
        return;
    }
    d = memmem(name.p, name.n, "<locals>", 8) ? find_class(f->m, rec)
                                              : pymod_def(f->m, name);
    if (!d || d->is_class != is_class_record(rec)) {
        fail(a, rec, ERR_UNRESOLVED,
             is_class_record(rec) ? "no such class in the file"
                                  : "no such function in the file");
        return;
    }
    if (!d->is_class && d->outer >= 0) {
        fail(a, rec, ERR_UNRESOLVED, "the function is not one of the module");
        return;
    }
    stmt = f->m->stmts.v[d->stmt].top;
    if (f->m->stmts.v[d->stmt].is_main) {
        fail(a, rec, ERR_UNRESOLVED,
             "defined only when the file is run as a program");
        return;
    }
    if (d->is_class && !has_forward(r, f->m, d)) {
        fail(a, rec, ERR_NO_FORWARD, "no forward in it or its bases");
        return;
    }
    if (memmem(name.p, name.n, "<locals>", 8)) {
        const char *why;

        f = lift_class(r, p, a, f, d, &why);
        name = local_name(name);
        d = f ? pymod_def(f->m, name) : NULL;
        if (!d) {
            fail(a, rec, ERR_UNRESOLVED, f ? "cannot be moved" : why);
            return;
        }
        stmt = f->m->stmts.v[d->stmt].top;
    }
    closure_init(&c, r, a);
    if (standalone(&c, p, f, stmt, name, rec, like))
        fail(a, rec, c.code, c.note);
    closure_release(&c);
}
