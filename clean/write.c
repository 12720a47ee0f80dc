/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/edit.h"
#include "clean/reference.h"
#include "clean/stand.h"
#include "clean/write.h"

/* A statement that goes; a block of which all go needs a `pass`. */
struct removal {
    uint32_t start, end;
    int block;
};

struct removals {
    struct removal *v;
    size_t n, cap;
};

struct writer {
    struct closure *c;
    struct buf *out;
    struct map *packages;
    struct edits edits;
    struct removals gone;
};

static struct span top_of(struct span dotted)
{
    const char *dot = dotted.n ? memchr(dotted.p, '.', dotted.n) : NULL;

    return dot ? (struct span){dotted.p, (size_t)(dot - dotted.p)} : dotted;
}

/* MODULE as it is called where the source will run. */
static struct span installed(struct writer *w, struct span module)
{
    size_t len;
    const char *there = policy_renamed(module, &len);

    if (!there || policy_allows(w->c->r->policy, module))
        return module;
    return span_str(arena_printf(w->c->arena, "%s%.*s", there,
                                 (int)(module.n - len), module.p + len));
}

static void note_package(struct writer *w, struct span module)
{
    map_put(w->packages, top_of(installed(w, module)), w);
}

/* ---- imports at the top ---- */

struct line {
    const char *text;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->text,
                  ((const struct line *)b)->text);
}

/* Length of "from MODULE import " at the start of T, 0 for another form. */
static size_t from_length(const char *t)
{
    const char *p = t[0] == 'f' ? strstr(t, " import ") : NULL;

    return p ? (size_t)(p - t) + 8 : 0;
}

/* Sorted lines: plain imports first, then one line for each module. */
static int print_imports(struct buf *out, const struct line *v, size_t n)
{
    int rc = 0;

    for (size_t i = 0; i < n; i++)
        if (!from_length(v[i].text) &&
            (i == 0 || strcmp(v[i].text, v[i - 1].text) != 0))
            rc |= buf_printf(out, "%s\n", v[i].text);
    for (size_t i = 0, k; i < n; i = k) {
        size_t len = from_length(v[i].text);

        k = i + 1;
        if (len == 0)
            continue;
        rc |= buf_adds(out, v[i].text);
        for (; k < n && strncmp(v[k].text, v[i].text, len) == 0; k++)
            if (strcmp(v[k].text, v[k - 1].text) != 0)
                rc |= buf_printf(out, ", %s", v[k].text + len);
        rc |= buf_addc(out, '\n');
    }
    return rc;
}

static int write_imports(struct writer *w)
{
    struct closure *c = w->c;
    ARRAY(struct line) lines = {0};
    int rc = 0;

    for (size_t i = 0; i < c->ents.n; i++) {
        const struct entity *e = &c->ents.v[i];
        struct span module = installed(w, e->module);
        struct line l;

        if (!e->external || e->stand)
            continue;
        if (entity_is_package(e)) {
            for (size_t k = 0; k < e->modules.n; k++) {
                l.text =
                    arena_printf(c->arena, "import %.*s",
                                 (int)e->modules.v[k].n, e->modules.v[k].p);
                array_push(&lines, l);
            }
        } else if (e->member.n == 0) {
            l.text = arena_printf(c->arena, "import %.*s as %s", (int)module.n,
                                  module.p, e->out);
            array_push(&lines, l);
        } else {
            bool same = span_is(e->member, e->out);

            l.text = arena_printf(c->arena, "from %.*s import %.*s%s%s",
                                  (int)module.n, module.p, (int)e->member.n,
                                  e->member.p, same ? "" : " as ",
                                  same ? "" : e->out);
            array_push(&lines, l);
        }
        note_package(w, e->module);
    }
    if (lines.n > 1)
        qsort(lines.v, lines.n, sizeof(*lines.v), by_text);
    rc = print_imports(w->out, lines.v, lines.n);
    array_release(&lines);
    return rc;
}

/* ---- imports inside of statements ---- */

static void remove_later(struct writer *w, uint32_t start, uint32_t end,
                         int block)
{
    struct removal r = {start, end, block};

    array_push(&w->gone, r);
}

static void add_part(struct buf *b, const char *text)
{
    if (b->n > 0)
        (void)buf_adds(b, "; ");
    (void)buf_adds(b, text);
}

/* Can the import S stay as it is, up to its module's name? */
static bool stays(struct writer *w, struct cfile *f, const struct pysym *y,
                  const struct target *t)
{
    return t->kind == TARGET_EXTERNAL && !crepo_is_own(w->c->r, f, y) &&
           policy_has(w->c->r->policy, t->dotted);
}

/* One name of a nested import, appended to B as a statement. *RAISE is set to
 * the module that is not there, when a handler waits for that. */
static void import_part(struct writer *w, struct cfile *f,
                        const struct nimport *im, const struct pysym *y,
                        struct buf *b, struct span *raise)
{
    struct arena *a = w->c->arena;
    const struct target *t = crepo_import(w->c->r, f, y);
    const struct pystmt *at = y->stmt < 0 ? NULL : &f->m->stmts.v[y->stmt];
    const struct entity *e =
        y->scope == 0 ? closure_symbol(w->c, f, y->name) : NULL;
    const char *local = e ? e->out : arena_strdup(a, y->name);

    if (at && at->kind == PYSTMT_IMPORT && at->parent < 0 &&
        !(e && e->required))
        return;
    if (t->kind == TARGET_SYM) {
        const struct entity *s = closure_symbol(w->c, t->file, t->name);

        if (!sym_is_single(f->m, y) && s && s->required)
            add_part(b, arena_printf(a, "%s = %s", local, s->out));
    } else if (stays(w, f, y, t)) {
        struct span module = installed(w, y->module);
        bool same = span_is(y->member, local);
        bool as = y->aliased || crepo_is_renamed(y);
        /* the package has another name in the source: torch_2 */
        bool moved = !as && y->kind == PYSYM_IMPORT && e && e->out &&
                     !span_is(y->name, e->out);

        note_package(w, y->module);
        if (y->kind == PYSYM_FROM)
            add_part(b,
                     arena_printf(a, "from %.*s import %.*s%s%s", (int)module.n,
                                  module.p, (int)y->member.n, y->member.p,
                                  same ? "" : " as ", same ? "" : local));
        else if (!moved || !span_eq(y->name, module))
            add_part(b,
                     arena_printf(a, "import %.*s%s%s", (int)module.n, module.p,
                                  as ? " as " : "", as ? local : ""));
        if (moved)
            add_part(b, arena_printf(a, "import %.*s as %s", (int)y->name.n,
                                     y->name.p, local));
    } else if ((im->guarded || im->optional) && t->kind != TARGET_MODULE) {
        *raise = y->module.n ? y->module : y->name;
        /* else reads of it would mean a name of the module */
        if (y->scope > 0 && f->m->scopes.v[y->scope].kind == PYSCOPE_FUNCTION)
            add_part(b, arena_printf(a, "%s = None", local));
    }
}

/* Does statement S end early because an import in it fails? */
static bool import_fails(struct writer *w, struct cfile *f,
                         const struct pystmt *s)
{
    for (size_t i = scan_imports_from(&f->scan, s->start);
         i < f->scan.imports.n && f->scan.imports.v[i].start < s->end; i++) {
        const struct nimport *im = &f->scan.imports.v[i];

        if (closure_is_cut(w->c, f, im->start))
            continue;
        for (size_t k = 0; k < im->syms.n; k++) {
            const struct pysym *y = &f->m->syms.v[im->syms.v[k]];
            const struct target *t = crepo_import(w->c->r, f, y);

            if (y->scope == 0 && !stays(w, f, y, t) && t->kind != TARGET_SYM &&
                t->kind != TARGET_MODULE)
                return true;
        }
    }
    return false;
}

/* Is NAME bound once, or by imports only, in statement S and nowhere else in
 * the module? */
static bool binds_alone(const struct cfile *f, const struct pystmt *s,
                        struct span name)
{
    const struct pysym *all[CREPO_BINDINGS];
    size_t n = crepo_bindings(f, name, all);

    for (size_t i = 0; i < n; i++)
        if (all[i]->start < s->start || all[i]->start >= s->end ||
            (n > 1 && !sym_is_import(all[i])))
            return false;
    return n > 0;
}

/* What such a statement alone binds is None, should somebody look: a name that
 * nobody binds is an error in other people's eyes. Goes before it, to OUT. */
static int name_missing(struct writer *w, struct cfile *f,
                        const struct pystmt *s, struct buf *out)
{
    int rc = 0;

    if (s->kind != PYSTMT_COMPOUND || !import_fails(w, f, s))
        return 0;
    for (int i = 0; i < s->n_defs; i++) {
        const struct pysym *y =
            &f->m->syms.v[f->m->globals.v[s->first_def + i]];
        const struct entity *e = closure_symbol(w->c, f, y->name);

        if (e && e->required && pymod_lookup(f->m, 0, y->name) == y &&
            binds_alone(f, s, y->name))
            rc |= buf_printf(out, "%s = None\n", e->out);
    }
    return rc;
}

static void edit_imports(struct writer *w, struct cfile *f,
                         const struct pystmt *s)
{
    for (size_t i = scan_imports_from(&f->scan, s->start);
         i < f->scan.imports.n && f->scan.imports.v[i].start < s->end; i++) {
        const struct nimport *im = &f->scan.imports.v[i];
        struct buf b = BUF_INIT(64u << 10);
        struct span raise = {NULL, 0};

        if (closure_is_cut(w->c, f, im->start))
            continue;
        for (size_t k = 0; k < im->syms.n; k++)
            import_part(w, f, im, &f->m->syms.v[im->syms.v[k]], &b, &raise);
        if (raise.n > 0)
            add_part(&b, arena_printf(w->c->arena, "raise ImportError('%.*s')",
                                      (int)raise.n, raise.p));
        if (b.n == 0)
            remove_later(w, im->start, im->end,
                         scan_block_at(&f->scan, im->start));
        else
            edit_add(&w->edits, im->start, im->end,
                     arena_span(w->c->arena, buf_span(&b)));
        buf_release(&b);
    }
}

/* ---- removals ---- */

static int by_block(const void *a, const void *b)
{
    const struct removal *x = a, *y = b;

    if (x->block != y->block)
        return x->block - y->block;
    return x->start < y->start ? -1 : x->start > y->start;
}

static uint32_t at_sign(struct span text, uint32_t start)
{
    while (start > 0 && text.p[start] != '@')
        start--;
    return start;
}

static void collect_removals(struct writer *w, struct cfile *f,
                             const struct pystmt *s)
{
    struct closure *c = w->c;
    struct span text = f->m->text;

    for (size_t i = 0; i < f->scan.cuts.n; i++) {
        const struct cut *x = &f->scan.cuts.v[i];

        if (x->start < s->start || x->start >= s->end || !x->live)
            continue;
        if (x->kind == CUT_COMMENT)
            edit_remove_comment(&w->edits, text, x->start, x->end);
        else
            remove_later(w, x->start, x->end, x->block);
    }
    for (size_t i = 0; i < f->decorators.n; i++)
        if (f->decorators.v[i].start >= s->start &&
            f->decorators.v[i].start < s->end)
            edit_remove(&w->edits, text,
                        at_sign(text, f->decorators.v[i].start),
                        f->decorators.v[i].end);
    for (size_t i = 0; i < c->cuts.n; i++) {
        const struct dcut *x = &c->cuts.v[i];

        if (x->f != f || x->start < s->start || x->start >= s->end)
            continue;
        if (x->kind == DCUT_DECORATOR)
            edit_remove(&w->edits, text, at_sign(text, x->start), x->end);
        else if (x->kind == DCUT_BLOCK || x->kind == DCUT_RAISE)
            edit_add(&w->edits, x->start, x->end, span_str(x->text));
        else
            remove_later(w, x->start, x->end,
                         scan_block_at(&f->scan, x->start));
    }
}

static void edit_removals(struct writer *w, struct cfile *f)
{
    const struct removal *v = w->gone.v;
    size_t n = w->gone.n;

    if (n > 1)
        qsort(w->gone.v, n, sizeof(*v), by_block);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i; k < n && v[k].block == v[i].block; k++)
            ;
        for (size_t j = i; j < k; j++) {
            bool empty =
                v[i].block < 0 || k - i >= f->scan.blocks.v[v[i].block].n;

            if (empty && j == i)
                edit_add(&w->edits, v[j].start, v[j].end, SPAN_LIT("pass"));
            else
                edit_remove(&w->edits, f->m->text, v[j].start, v[j].end);
        }
    }
}

/* ---- names ---- */

static void edit_names(struct writer *w, struct cfile *f,
                       const struct pystmt *s, size_t *occ)
{
    struct closure *c = w->c;

    for (; *occ < c->occ.n; ++*occ) {
        const struct occurrence *o = &c->occ.v[*occ];
        const struct pyread *x = &f->m->reads.v[o->read];
        const struct entity *e = &c->ents.v[o->ent];
        uint32_t end;

        if (o->f != f || x->at < s->start || x->at >= s->end)
            break;
        end = stand_end(c, f, o->read);
        if (!span_is(pymod_text(f->m, x->at, end), e->out))
            edit_add(&w->edits, x->at, end, span_str(e->out));
    }
    for (size_t i = 0; i < f->scan.binders.n; i++) {
        const struct binder *b = &f->scan.binders.v[i];
        const struct entity *e;

        if (b->at < s->start || b->at >= s->end)
            continue;
        e = closure_symbol(c, f, b->name);
        if (e && e->out && !span_is(b->name, e->out))
            edit_add(&w->edits, b->at, b->at + (uint32_t)b->name.n,
                     span_str(e->out));
    }
}

static void edit_env(struct writer *w, struct cfile *f, const struct pystmt *s)
{
    for (size_t i = reads_from(f->m, s->start);
         i < f->m->reads.n && f->m->reads.v[i].at < s->end; i++) {
        uint32_t end;
        const char *text = closure_env(w->c, f, i, &end);

        if (text)
            edit_add(&w->edits, f->m->reads.v[i].at, end, span_str(text));
    }
}

/* ---- units ---- */

static bool is_def(const struct pystmt *s)
{
    return s->kind == PYSTMT_FUNCTION || s->kind == PYSTMT_CLASS;
}

/* is_PACKAGE_available() as it would answer there, or a definition that is only
 * handed around: it raises when it is called after all. */
static int write_body(struct writer *w, const struct unit *u,
                      const struct dcut *d)
{
    struct span package = {d->name.p + 3, d->name.n - 3 - 10};
    const struct entity *e = closure_symbol(w->c, u->f, d->name);

    if (d->kind == DCUT_REFERENCE)
        return reference_write(w->c, u, d, w->out);
    if (d->kind == DCUT_UNCALLED &&
        u->f->m->stmts.v[u->stmt].kind == PYSTMT_FUNCTION)
        return buf_printf(w->out, "def %s(*args, **kwargs):\n    %s\n", e->out,
                          d->text);
    if (d->kind == DCUT_UNCALLED)
        return buf_printf(w->out,
                          "class %s:\n    def __new__(cls, *args, **kwargs):\n"
                          "        %s\n",
                          e->out, d->text);

    return buf_printf(
        w->out, "def %s(*args, **kwargs):\n    return %s\n", e->out,
        policy_allows(w->c->r->policy, package) ? "True" : "False");
}

static int write_unit(struct writer *w, int u, size_t occ)
{
    struct cfile *f = w->c->units.v[u].f;
    const struct pystmt *s = &f->m->stmts.v[w->c->units.v[u].stmt];
    struct buf text = BUF_INIT(w->out->max);
    const struct dcut *body = closure_body(w->c, &w->c->units.v[u]);
    size_t skip = 0;
    int rc;

    if (body)
        return write_body(w, &w->c->units.v[u], body);
    if (name_missing(w, f, s, w->out))
        return -1;
    w->edits.n = 0;
    w->gone.n = 0;
    collect_removals(w, f, s);
    edit_imports(w, f, s);
    edit_removals(w, f);
    edit_names(w, f, s, &occ);
    stand_edit_defaults(w->c, f, s, &w->edits);
    edit_env(w, f, s);
    rc = edit_apply(&w->edits, f->m->text, s->start, s->end, &text);
    while (skip < text.n && (text.p[skip] == '\n' || text.p[skip] == ' '))
        skip++;
    if (rc == 0)
        rc = buf_add(w->out, text.p + skip, text.n - skip);
    if (rc == 0)
        rc = buf_addc(w->out, '\n');
    buf_release(&text);
    return rc;
}

/* First occurrence of every unit: closure_names collected them by unit. */
static size_t *slices(const struct closure *c)
{
    size_t *first = arena_array(c->arena, c->units.n + 1, sizeof(size_t));
    size_t k = 0;

    for (size_t u = 0; u < c->units.n; u++) {
        const struct cfile *f = c->units.v[u].f;
        const struct pystmt *s = &f->m->stmts.v[c->units.v[u].stmt];

        first[u] = k;
        while (k < c->occ.n && c->occ.v[k].f == f &&
               f->m->reads.v[c->occ.v[k].read].at >= s->start &&
               f->m->reads.v[c->occ.v[k].read].at < s->end)
            k++;
    }
    return first;
}

int write_source(struct closure *c, struct buf *out, struct map *packages)
{
    struct writer w = {.c = c, .out = out, .packages = packages};
    const size_t *first = slices(c);
    struct buf body = BUF_INIT(out->max);
    bool was_def = true;
    int rc = 0;

    w.out = &body;
    for (size_t i = 0; i < c->units.n && rc == 0; i++) {
        int u = c->seq[i];
        const struct unit *x = &c->units.v[u];
        bool def = is_def(&x->f->m->stmts.v[x->stmt]);

        if (body.n > 0)
            rc = buf_adds(&body, def || was_def ? "\n\n" : "");
        was_def = def;
        if (rc == 0)
            rc = write_unit(&w, u, first[u]);
    }
    w.out = out;
    if (rc == 0 && c->future)
        rc = buf_adds(out, "from __future__ import annotations\n\n");
    if (rc == 0)
        rc = write_imports(&w);
    if (rc == 0)
        rc = stand_write(c, false, out);
    if (rc == 0 && out->n > 0)
        rc = buf_adds(out, "\n\n");
    if (rc == 0)
        rc = buf_addspan(out, buf_span(&body));
    if (rc == 0)
        rc = stand_write(c, true, out);
    buf_release(&body);
    array_release(&w.edits);
    array_release(&w.gone);
    if (rc == 0)
        return 0;
    c->code = ERR_TOO_LARGE;
    c->note = "the standalone source would be larger than 512 KiB";
    return -1;
}
