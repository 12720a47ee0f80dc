/* SPDX-License-Identifier: MIT */
/* Reading one repository: tree, blobs, decoding, parsing. */
#include "base.h"

#include "harvest/functions.h"
#include "harvest/harvest.h"
#include "hash.h"
#include "utf8.h"

static void source_fail(struct harvest *h, struct source *s,
                        const struct err *e)
{
    s->code = e->code;
    s->note = arena_strdup(&h->arena, span_str(e->msg));
}

/* Configurations that are read, to see whether they make modules: files, and
 * bytes of them. */
#define CONFIGS_MAX      4096
#define CONFIGS_MAX_TEXT (24u << 20)

static struct source *add_source(struct harvest *h, const struct gitentry *x)
{
    struct source s = {.path = arena_strdup(&h->arena, x->path),
                       .is_notebook = span_ends(x->path, ".ipynb")};
    memcpy(s.oid, x->oid, sizeof(s.oid));
    array_push(&h->sources, s);
    return &h->sources.v[h->sources.n - 1];
}

/* Folders of installed packages, other people's code under other terms, and of
 * copies that an editor made. */
static bool is_skipped(struct span folder)
{
    static const char *const folders[] = {
        "site-packages", "dist-packages", "node_modules",
        "venv",          ".venv",         ".ipynb_checkpoints"};
    return span_in(folder, folders, ARRAY_LEN(folders));
}

static bool in_skipped(struct span path)
{
    const char *slash;
    while (path.n > 0 && (slash = memchr(path.p, '/', path.n)) != NULL) {
        struct span part = {path.p, (size_t)(slash - path.p)};
        if (is_skipped(part))
            return true;
        path = (struct span){slash + 1, path.n - part.n - 1};
    }
    return false;
}

static bool is_source(struct span path)
{
    return span_ends(path, ".py") || span_ends(path, ".ipynb");
}

static bool is_config(struct span path)
{
    return span_ends(path, ".yaml") || span_ends(path, ".yml") ||
           span_ends(path, ".json");
}

bool harvest_wants(struct span name, bool folder)
{
    return folder ? !is_skipped(name) : is_source(name);
}

static int visit(void *payload, const struct gitentry *x, struct err *e)
{
    struct harvest *h = payload;
    struct err why;
    (void)e;
    if (x->kind == ENTRY_MISSING) {
        err_set(&why, ERR_MISSING_OBJECT, "folder is missing: object '%s'",
                x->oid);
        source_fail(h, add_source(h, x), &why);
        return 0;
    }
    if (x->kind == ENTRY_BAD_FOLDER ||
        (x->kind == ENTRY_BAD_FILE && is_source(x->path))) {
        err_set(&why, ERR_CORRUPT, "no name for a file or folder");
        source_fail(h, add_source(h, x), &why);
        return 0;
    }
    if (x->kind != ENTRY_BLOB)
        return 0;
    h->n_files++;
    if (is_source(x->path) && !in_skipped(x->path)) {
        if (add_source(h, x)->is_notebook)
            h->n_notebooks++;
        else
            h->n_python++;
    } else if (is_config(x->path) && !in_skipped(x->path)) {
        add_source(h, x)->is_config = true;
    }
    terms_add(h->terms, x->path, x->oid);
    return 0;
}

/* Blob of S to text; RAW is scratch. */
static int read_blob(struct harvest *h, const struct source *s,
                     struct blob *into, struct buf *raw, struct err *e)
{
    struct buf text = BUF_INIT((size_t)PY_MAX_SOURCE * 4);
    buf_clear(raw);
    size_t max = s->is_notebook ? NOTEBOOK_MAX
                 : s->is_config ? CALLER_MAX
                                : PY_MAX_SOURCE;
    if (gitrepo_blob(h->git, s->oid, max, raw, e) != 0)
        return -1;
    if (span_starts(buf_span(raw), "version https://git-lfs"))
        return err_set(e, ERR_LFS_POINTER, "git-lfs pointer, not a source");
    if (s->is_notebook && !memmem(raw->p, raw->n, "class ", 6) &&
        !(h->rules->functions && memmem(raw->p, raw->n, "def ", 4)))
        return 0; /* most of them, and large: not worth reading */
    array_release(&into->cells);
    if ((s->is_notebook ? notebook_source(&text, &into->cells, buf_span(raw), e)
                        : py_decode(&text, buf_span(raw), e)) != 0) {
        buf_release(&text);
        return -1;
    }
    size_t n;
    into->text.p = buf_detach(&text, &n);
    into->text.n = n;
    return 0;
}

static int read_source(struct harvest *h, const struct harvest_kit *kit,
                       struct source *s, struct buf *raw, struct err *e)
{
    struct blob *b = blobs_get(kit->blobs, s->oid, s->path);
    if (!b->read && read_blob(h, s, b, raw, e) != 0)
        return -1;
    b->read = true;
    h->total_text += b->text.n;
    if (h->total_text > HARVEST_MAX_TEXT)
        return err_set(e, ERR_TOO_LARGE, "sources of more than %u bytes",
                       HARVEST_MAX_TEXT);
    s->text = b->text;
    s->cells = b->cells;
    s->blob = b;
    return 0;
}

/* Read configurations, JSON after YAML, where there are modules that they could
 * make. One that cannot be read makes none. */
static void read_configs(struct harvest *h, const struct harvest_kit *kit,
                         struct buf *raw)
{
    size_t files = 0, total = 0;
    bool any = false;
    struct err e;
    for (size_t i = 0; i < h->sources.n && !any; i++)
        any = h->sources.v[i].has_module && h->sources.v[i].needed;
    for (int json = 0; json < 2 && any; json++)
        for (size_t i = 0; i < h->sources.n; i++) {
            struct source *s = &h->sources.v[i];
            struct blob *b;
            if (!s->is_config || s->code != ERR_NONE ||
                span_ends(span_str(s->path), ".json") != json)
                continue;
            if (files++ == CONFIGS_MAX || total > CONFIGS_MAX_TEXT)
                return;
            b = blobs_get(kit->blobs, s->oid, s->path);
            b->read = b->read || read_blob(h, s, b, raw, &e) == 0;
            if (b->read)
                s->text = b->text;
            total += s->text.n;
        }
}

/* Parse what is wanted and was not yet. */
static void parse_wanted(struct harvest *h, struct pyparser *parser)
{
    struct err e;
    for (size_t i = 0; i < h->sources.n; i++) {
        struct source *s = &h->sources.v[i];
        if (!s->wanted || s->mod || s->code != ERR_NONE)
            continue;
        if (!s->blob->mod)
            s->blob->mod = pymod_new_outline(parser, s->path, s->text, &e);
        s->mod = s->blob->mod;
        if (!s->mod) {
            source_fail(h, s, &e);
            continue;
        }
        h->n_parsed++;
        h->parsed_text += s->text.n;
        h->parser_text += s->mod->parsed;
        pyrepo_add(h->py, s->mod);
    }
}

/* Set `functions` of S, whose text is read a second time, in full: an outline
 * knows no uses of names. */
static void find_functions(struct harvest *h, struct pyparser *parser,
                           struct source *s)
{
    struct err e;
    struct pymod *m = pymod_new(parser, s->path, s->text, &e);
    for (size_t i = 0, k = 0; m && i < s->mod->defs.n; i++) {
        uint32_t start = s->mod->defs.v[i].start;
        while (k < m->defs.n && m->defs.v[k].start < start)
            k++;
        if (k == m->defs.n || m->defs.v[k].start != start ||
            !function_computes(h->py, s->mod, m, &m->defs.v[k]))
            continue;
        if (!s->functions)
            s->functions = arena_zalloc(&h->arena, s->mod->defs.n);
        s->functions[i] = true;
    }
    pymod_free(m);
}

static void find_all_functions(struct harvest *h, struct pyparser *parser)
{
    for (size_t i = 0; i < h->sources.n; i++) {
        struct source *s = &h->sources.v[i];
        if (s->mod && s->counts && functions_wants(span_str(s->path)))
            find_functions(h, parser, s);
    }
}

static void parse_needed(struct harvest *h, struct pyparser *parser)
{
    struct needs *x = needs_new(h);
    for (size_t i = 0; i < h->sources.n; i++)
        if (!h->sources.v[i].is_config)
            pyrepo_add_absent(h->py, h->sources.v[i].path);
    needs_modules(x);
    parse_wanted(h, parser);
    if (h->rules->functions)
        find_all_functions(h, parser);
    records_mark(h);
    needs_imports(x);
    parse_wanted(h, parser);
    needs_free(x);
}

static int by_path(const void *a, const void *b)
{
    const struct source *x = a, *y = b;
    int rc = strcmp(x->path, y->path);
    return rc ? rc : strcmp(x->oid, y->oid);
}

static void sort_sources(struct harvest *h)
{
    if (h->sources.n > 0)
        qsort(h->sources.v, h->sources.n, sizeof(*h->sources.v), by_path);
}

/* Paths that no record can have: not UTF-8, or the same twice in one folder,
 * as only a forged tree has it. */
static void refuse_paths(struct harvest *h)
{
    struct err why;
    const char *last = "";
    for (size_t i = 0; i < h->sources.n; i++) {
        struct source *s = &h->sources.v[i];
        struct span path = span_str(s->path);
        struct buf odd = BUF_INIT((size_t)GIT_MAX_PATH * 4);
        if (s->code != ERR_NONE)
            continue;
        if (utf8_valid(path) < path.n)
            err_set(&why, ERR_ENCODING, "path is not UTF-8");
        else if (strcmp(s->path, last) == 0)
            err_set(&why, ERR_CORRUPT, "the folder has this name twice");
        else {
            last = s->path;
            continue;
        }
        source_fail(h, s, &why);
        if (why.code == ERR_CORRUPT)
            (void)!buf_printf(&odd, "/%zu", i);
        (void)!git_odd_path(&odd, path);
        s->path = arena_strdup(&h->arena, buf_span(&odd));
        buf_release(&odd);
    }
}

/* Which sources count: all, or those whose blob is in ONLY. */
static void choose(struct harvest *h, struct span only)
{
    struct map ids = MAP_INIT;
    char hex[OID_HEX + 1];
    for (size_t i = 0; i + OID_HEX / 2 <= only.n; i += OID_HEX / 2) {
        hex_encode(hex, only.p + i, OID_HEX / 2);
        map_put(&ids, (struct span){hex, OID_HEX}, h);
    }
    for (size_t i = 0; i < h->sources.n; i++) {
        struct source *s = &h->sources.v[i];
        if (s->is_config)
            continue; /* they fail and make nothing of their own */
        void **left = only.n > 0 ? map_ref(&ids, span_str(s->oid)) : NULL;
        s->counts = !left || *left;
        if (left)
            *left = NULL; /* each blob once */
    }
    map_release(&ids);
}

static int read_repo(struct harvest *h, const struct harvest_kit *kit,
                     struct span only, struct err *e)
{
    struct buf raw = BUF_INIT(NOTEBOOK_MAX);
    struct err why;
    if (blobs_begin(kit->blobs, h->target->path, &h->git, e) != 0)
        return -1;
    if (gitrepo_walk(h->git, h->target->commit, visit, h, e) != 0)
        return -1;
    sort_sources(h);
    refuse_paths(h);
    sort_sources(h);
    choose(h, only);
    for (size_t i = 0; i < h->sources.n; i++) {
        struct source *s = &h->sources.v[i];
        if (s->code == ERR_NONE && !s->is_config &&
            read_source(h, kit, s, &raw, &why) != 0)
            source_fail(h, s, &why);
        map_put(&h->by_path, span_str(s->path), (void *)(uintptr_t)(i + 1));
    }
    parse_needed(h, kit->parser);
    read_configs(h, kit, &raw);
    buf_release(&raw);
    return 0;
}

int harvest_repo(const struct harvest_rules *rules,
                 const struct harvest_kit *kit, const struct target *t,
                 struct span only, struct buf *out, struct harvest_done *done,
                 struct err *e)
{
    struct harvest h = {.rules = rules, .target = t};
    struct err why;
    int rc;
    h.terms = terms_new();
    h.py = pyrepo_new_borrowing();
    if (!t->commit[0])
        rc = records_broken(t, &t->err, out, e);
    else if (read_repo(&h, kit, only, &why) != 0)
        rc = records_broken(t, &why, out, e);
    else
        rc = records_write(&h, only.n == 0, out, e);
    done->files = h.n_files;
    done->bytes = (int64_t)h.total_text;
    array_release(&h.sources);
    map_release(&h.by_path);
    map_release(&h.licences);
    pyrepo_free(h.py);
    terms_free(h.terms);
    arena_release(&h.arena);
    return rc;
}
