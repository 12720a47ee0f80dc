/* SPDX-License-Identifier: MIT */
/* The records of one repository. */
#include "base.h"

#include "harvest/harvest.h"
#include "schema.h"

#define STAGE "harvest"

struct writer {
    struct harvest *h;
    struct buf *out;
    struct arena a; /* of one record */
};

static int put(struct writer *w, struct val *rec, struct err *e)
{
    rec_seal(&w->a, rec);
    int rc = val_pack(w->out, rec);
    arena_reset(&w->a);
    return rc == 0 ? 0
                   : err_set(e, ERR_TOO_LARGE,
                             "records of one repository are over %zu bytes",
                             w->out->max);
}

static struct val *licence_val(struct arena *a, const struct licence *l)
{
    struct val *v = val_map(a);
    val_set(a, v, "spdx", val_strz(a, l->spdx));
    val_set(a, v, "evidence", val_text(a, span_str(l->evidence)));
    return v;
}

static struct val *start(struct writer *w, const char *kind,
                         const struct source *s)
{
    struct val *r = rec_new(&w->a, kind);
    val_set(&w->a, r, "repo", val_strz(&w->a, w->h->target->name));
    val_set(&w->a, r, "commit", val_strz(&w->a, w->h->target->commit));
    if (s) {
        val_set(&w->a, r, "path", val_text(&w->a, span_str(s->path)));
        val_set(&w->a, r, "blob", val_strz(&w->a, s->oid));
    }
    return r;
}

/* Asked for the file and for each of its modules, found once. */
static void file_licence(struct harvest *h, const struct source *s,
                         struct licence *l)
{
    void **known = map_ref(&h->licences, span_str(s->path));
    if (!*known) {
        terms_of(h->terms, h->git, span_str(s->path), s->text, l);
        *known = arena_zalloc(&h->arena, sizeof(*l));
        memcpy(*known, l, sizeof(*l));
    }
    memcpy(l, *known, sizeof(*l));
}

static int put_file(struct writer *w, const struct source *s, struct err *e)
{
    struct val *r = start(w, "file", s);
    struct licence l;
    if (s->code != ERR_NONE) {
        rec_fail(&w->a, r, STAGE, s->code, s->note);
        return put(w, r, e);
    }
    file_licence(w->h, s, &l);
    val_set(&w->a, r, "source", val_str(&w->a, s->text));
    if (s->caller)
        val_set(&w->a, r, "caller", val_bool(&w->a, true));
    val_set(&w->a, r, "licence", licence_val(&w->a, &l));
    return put(w, r, e);
}

/* Is D a class that is a module, or a function that counts as one? */
static bool is_module(struct harvest *h, const struct source *s,
                      const struct pydef *d)
{
    return d->is_class ? pyrepo_is_module_class(h->py, s->mod, d)
                       : s->functions && s->functions[d - s->mod->defs.v];
}

static struct val *bases_val(struct writer *w, const struct pymod *m,
                             const struct pydef *d)
{
    struct val *list = val_list(&w->a);
    for (size_t i = 0; i < d->bases.n; i++) {
        const struct pybase *b = &d->bases.v[i];
        if (b->keyword.n > 0)
            continue;
        struct span name = {NULL, 0};
        if (b->dotted.n > 0)
            name = pyrepo_ref_name(
                w->h->py,
                pyrepo_deref(w->h->py,
                             pyrepo_resolve(w->h->py, m, b->start, b->dotted)));
        if (name.n == 0)
            name = pymod_text(m, b->start, b->end);
        val_push(&w->a, list, val_text(&w->a, name));
    }
    return list;
}

/* Why the module is not passed on: ERR_NONE when it is. */
static enum err_code judge(const struct harvest_rules *rules,
                           const struct pydef *d, const struct licence *l,
                           char note[160])
{
    note[0] = '\0';
    if (d->has_error) {
        snprintf(note, 160, "syntax error in the %s",
                 d->is_class ? "class" : "function");
        return ERR_PARSE;
    }
    if (d->python2) {
        snprintf(note, 160, "Python 2 syntax in the %s",
                 d->is_class ? "class" : "function");
        return ERR_PARSE;
    }
    if (rules->any_licence)
        return ERR_NONE;
    if (!l->spdx[0]) {
        snprintf(note, 160,
                 l->evidence[0] ? "licence not understood"
                                : "no licence found");
        return ERR_LICENCE_UNKNOWN;
    }
    if (!licence_allowed(&rules->licences, l->spdx))
        return ERR_LICENCE_DENIED;
    return ERR_NONE;
}

static int put_module(struct writer *w, const struct source *s,
                      const struct pydef *d, struct err *e)
{
    struct arena *a = &w->a;
    struct val *r = start(w, "module", s);
    struct licence l;
    char note[160];
    file_licence(w->h, s, &l);
    val_set(a, r, "name", val_str(a, d->qual));
    val_set(a, r, "line", val_int(a, d->line));
    val_set(a, r, "end_line", val_int(a, d->end_line));
    if (s->is_notebook)
        val_set(a, r, "cell", val_int(a, notebook_cell(&s->cells, d->line)));
    if (d->is_class)
        val_set(a, r, "bases", bases_val(w, s->mod, d));
    else
        val_set(a, r, "entry_kind", val_strz(a, "function"));
    val_set(a, r, "licence", licence_val(a, &l));
    enum err_code code = judge(w->h->rules, d, &l, note);
    if (code != ERR_NONE)
        rec_fail(a, r, STAGE, code, note);
    return put(w, r, e);
}

void records_mark(struct harvest *h)
{
    struct licence l;
    char note[160];
    for (size_t i = 0; i < h->sources.n; i++) {
        struct source *s = &h->sources.v[i];
        if (!s->counts)
            continue;
        for (size_t k = 0; s->mod && k < s->mod->defs.n && !s->needed; k++) {
            const struct pydef *d = &s->mod->defs.v[k];
            if (!is_module(h, s, d))
                continue;
            s->has_module = true;
            file_licence(h, s, &l);
            s->needed = judge(h->rules, d, &l, note) == ERR_NONE;
        }
    }
}

/* Mark what the modules to be passed on need: all that their files import,
 * however indirectly. */
static void mark_needed(struct harvest *h)
{
    ARRAY(size_t) queue = {0};
    for (size_t i = 0; i < h->sources.n; i++)
        if (h->sources.v[i].needed)
            array_push(&queue, i);
    for (size_t q = 0; q < queue.n; q++) {
        struct pymods imports = {0};
        pyrepo_imports(h->py, h->sources.v[queue.v[q]].mod, &imports);
        for (size_t k = 0; k < imports.n; k++) {
            size_t i = (size_t)(uintptr_t)map_get(&h->by_path,
                                                  span_str(imports.v[k]->path));
            if (i > 0 && !h->sources.v[i - 1].needed) {
                h->sources.v[i - 1].needed = true;
                array_push(&queue, i - 1);
            }
        }
        array_release(&imports);
    }
    array_release(&queue);
}

static int put_repo(struct writer *w, struct err *e)
{
    struct harvest *h = w->h;
    struct arena *a = &w->a;
    struct val *r = start(w, "repo", NULL), *c = val_map(a);
    val_set(a, r, "licence", licence_val(a, terms_root(h->terms, h->git)));
    val_set(a, c, "files", val_int(a, h->n_files));
    val_set(a, c, "python", val_int(a, h->n_python));
    val_set(a, c, "notebooks", val_int(a, h->n_notebooks));
    val_set(a, c, "parsed", val_int(a, h->n_parsed));
    val_set(a, c, "bytes", val_int(a, (int64_t)h->total_text));
    val_set(a, c, "parsed_bytes", val_int(a, (int64_t)h->parsed_text));
    val_set(a, c, "parser_bytes", val_int(a, (int64_t)h->parser_text));
    val_set(a, c, "modules", val_int(a, h->n_modules));
    if (h->rules->functions)
        val_set(a, c, "functions", val_int(a, h->n_functions));
    val_set(a, c, "shadowed", val_int(a, h->n_shadowed));
    val_set(a, c, "failed", val_int(a, h->n_failed));
    val_set(a, r, "counts", c);
    return put(w, r, e);
}

/* The modules of one file, functions among them. Of several definitions of one
 * name the last is taken: it is the one that Python keeps, and ids cannot tell
 * them apart. */
static int put_modules(struct writer *w, const struct source *s, struct err *e)
{
    struct harvest *h = w->h;
    struct map last = MAP_INIT;
    int rc = 0;
    for (size_t k = 0; k < s->mod->defs.n; k++) {
        struct pydef *d = &s->mod->defs.v[k];
        if (is_module(h, s, d) && map_put(&last, d->qual, d))
            h->n_shadowed++;
    }
    for (size_t k = 0; rc == 0 && k < s->mod->defs.n; k++) {
        const struct pydef *d = &s->mod->defs.v[k];
        if (!is_module(h, s, d) || map_get(&last, d->qual) != d)
            continue;
        h->n_modules++;
        h->n_functions += !d->is_class;
        rc = put_module(w, s, d, e);
    }
    map_release(&last);
    return rc;
}

int records_write(struct harvest *h, bool always, struct buf *out,
                  struct err *e)
{
    struct writer w = {.h = h, .out = out};
    bool any = always;
    int rc = 0;
    for (size_t i = 0; i < h->sources.n; i++) {
        const struct source *s = &h->sources.v[i];
        bool failed = s->counts && s->code != ERR_NONE;
        h->n_failed += failed;
        any |= failed || s->has_module;
    }
    if (!any)
        return 0;
    mark_needed(h);
    callers_mark(h);
    for (size_t i = 0; rc == 0 && i < h->sources.n; i++) {
        const struct source *s = &h->sources.v[i];
        if (s->code == ERR_NONE ? s->needed || s->caller : s->counts)
            rc = put_file(&w, s, e);
    }
    for (size_t i = 0; rc == 0 && i < h->sources.n; i++)
        if (h->sources.v[i].has_module)
            rc = put_modules(&w, &h->sources.v[i], e);
    if (rc == 0)
        rc = put_repo(&w, e);
    arena_release(&w.a);
    return rc;
}

int records_broken(const struct target *t, const struct err *why,
                   struct buf *out, struct err *e)
{
    struct harvest h = {.target = t};
    struct writer w = {.h = &h, .out = out};
    struct val *r = start(&w, "repo", NULL);
    if (!t->commit[0])
        val_set(&w.a, r, "commit", val_nil(&w.a));
    rec_fail(&w.a, r, STAGE, why->code, why->msg);
    int rc = put(&w, r, e);
    arena_release(&w.a);
    return rc;
}
