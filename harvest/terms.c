/* SPDX-License-Identifier: MIT */
/* Licence files by folder; each text is read once, when it is asked for. */
#include "base.h"

#include "array.h"
#include "harvest/terms.h"
#include "map.h"
#include "utf8.h"

#define MAX_LICENCE_FILE (1u << 20)
/* Below any file of a licence: */
#define README_RANK   1
#define METADATA_RANK 2
#define REUSE_RANK    3 /* LICENSES/MIT.txt */

struct licence_file {
    char *path;
    char oid[OID_HEX + 1];
    int rank;
};

struct folder {
    ARRAY(struct licence_file) files;
    bool read;
    struct licence licence;
};

struct terms {
    struct arena arena;
    struct map folders; /* path -> struct folder */
    struct map beside;  /* path of a source -> id of its FILE.license */
};

struct terms *terms_new(void)
{
    return xcalloc(1, sizeof(struct terms));
}

void terms_free(struct terms *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->folders.n; i++) {
        struct folder *f = t->folders.entries[i].value;
        array_release(&f->files);
    }
    map_release(&t->folders);
    map_release(&t->beside);
    arena_release(&t->arena);
    free(t);
}

static bool is_readme(struct span name)
{
    return span_is(name, "README.md") || span_is(name, "README.rst") ||
           span_is(name, "README.txt") || span_is(name, "README") ||
           span_is(name, "readme.md") || span_is(name, "Readme.md");
}

static struct span folder_of(struct span path)
{
    const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
    return (struct span){path.p, slash ? (size_t)(slash - path.p) : 0};
}

static bool is_metadata(struct span name)
{
    return span_is(name, "pyproject.toml") || span_is(name, "setup.cfg") ||
           span_is(name, "setup.py") || span_is(name, "PKG-INFO");
}

void terms_add(struct terms *t, struct span path, const char *oid)
{
    struct span dir = folder_of(path), name = path;
    if (dir.n > 0 || (path.n > 0 && path.p[0] == '/'))
        name = (struct span){path.p + dir.n + 1, path.n - dir.n - 1};
    int rank = licence_file_rank(name);
    if (rank == 0 && dir.n == 0 && is_metadata(name))
        rank = METADATA_RANK;
    if (rank == 0 && dir.n == 0 && is_readme(name))
        rank = README_RANK;
    if (span_ends(name, ".py.license") || span_ends(name, ".ipynb.license")) {
        struct span source = {path.p, path.n - strlen(".license")};
        map_put(&t->beside, source, arena_strdup(&t->arena, span_str(oid)));
        return;
    }
    if (span_is(dir, "LICENSES") && span_ends(name, ".txt")) {
        /* The texts that the files' tags name; they hold for the whole. */
        rank = REUSE_RANK;
        dir.n = 0;
    }
    if (rank == 0 || utf8_valid(path) < path.n)
        return;
    struct folder *f = map_get(&t->folders, dir);
    if (!f) {
        f = arena_zalloc(&t->arena, sizeof(*f));
        map_put(&t->folders, dir, f);
    }
    struct licence_file file = {.rank = rank};
    file.path = arena_strdup(&t->arena, path);
    snprintf(file.oid, sizeof(file.oid), "%s", oid);
    array_push(&f->files, file);
}

/* As licence_text. */
static int read_one(const struct licence_file *file, struct gitrepo *git,
                    char spdx[SPDX_MAX])
{
    struct buf b = BUF_INIT(MAX_LICENCE_FILE);
    struct err e;
    int said = 0;
    spdx[0] = '\0';
    if (gitrepo_blob(git, file->oid, MAX_LICENCE_FILE, &b, &e) == 0) {
        if (file->rank == METADATA_RANK)
            licence_metadata(spdx, buf_span(&b));
        else if (file->rank == README_RANK)
            licence_readme(spdx, buf_span(&b));
        else
            said = licence_text(spdx, buf_span(&b));
    }
    buf_release(&b);
    return said;
}

/* ---- several licence files of one folder ---- */

struct ids {
    ARRAY(struct span) list;
};

static bool has_id(const struct ids *ids, struct span id)
{
    for (size_t i = 0; i < ids->list.n; i++)
        if (span_eq(ids->list.v[i], id))
            return true;
    return false;
}

/* Add the licences of "A AND B AND C", each once. */
static void add_ids(struct ids *ids, const char *expr)
{
    static const char and[] = " AND ";
    while (*expr) {
        const char *end = strstr(expr, and);
        struct span id = {expr, end ? (size_t)(end - expr) : strlen(expr)};
        if (!has_id(ids, id))
            array_push(&ids->list, id);
        expr = id.p + id.n + (end ? strlen(and) : 0);
    }
}

static void add_joined(struct buf *out, const struct ids *ids, const char *word)
{
    for (size_t i = 0; i < ids->list.n; i++)
        buf_printf(out, "%s%.*s", i ? word : "", (int)ids->list.v[i].n,
                   ids->list.v[i].p);
}

/* The texts of one folder. */
struct sum {
    struct ids all;    /* hold together */
    struct ids choice; /* of files called after their licence: one of them */
    bool unknown;      /* one of them is not understood, or limits use */
    bool lesser;       /* COPYING.LESSER adds to the GPL's text beside it */
};

/* Add what the licence file says; false: it says nothing, beside others. */
static bool add_file(struct terms *t, struct sum *s, struct gitrepo *git,
                     const struct licence_file *file)
{
    char spdx[SPDX_MAX];
    struct span path = span_str(file->path);
    struct span name = path;
    size_t dir = folder_of(path).n;
    if (dir > 0)
        name = (struct span){path.p + dir + 1, path.n - dir - 1};
    int said = read_one(file, git, spdx);
    if (said == 0 && licence_is_notice(file->rank))
        return false;
    s->unknown |= said != 1;
    if (said != 1)
        return true;
    const char *expr = arena_strdup(&t->arena, span_str(spdx));
    s->lesser |= strcmp(expr, "LGPL-3.0-only") == 0 && name.n > 7 &&
                 strncasecmp(name.p + 7, ".lesser", 7) == 0;
    add_ids(licence_names(name, expr) ? &s->choice : &s->all, expr);
    return true;
}

/* What S comes to; "" = no answer. */
static void write_sum(struct sum *s, struct buf *out)
{
    struct ids *choice = &s->choice;
    bool settled = false;
    if (choice->list.n == 1 && !has_id(&s->all, choice->list.v[0]))
        array_push(&s->all.list, choice->list.v[0]);
    for (size_t i = 0; i < choice->list.n; i++)
        settled |= has_id(&s->all, choice->list.v[i]);
    size_t kept = 0;
    for (size_t i = 0; i < s->all.list.n; i++)
        if (!s->lesser || !span_is(s->all.list.v[i], "GPL-3.0-only"))
            s->all.list.v[kept++] = s->all.list.v[i];
    s->all.list.n = kept;
    if (s->unknown)
        return;
    bool both = kept > 0 && choice->list.n > 0 && !settled;
    add_joined(out, &s->all, " AND ");
    if (both)
        buf_adds(out, " AND (");
    if (!settled)
        add_joined(out, choice, " OR ");
    if (both)
        buf_adds(out, ")");
}

/*
 * All of them hold, as nothing says which is for which file: so no list of
 * licences is passed by the gentler of two. But LICENSE-MIT and LICENSE-APACHE
 * leave the choice. COPYRIGHT may hold no more than names.
 */
static void read_files(struct terms *t, struct folder *f, struct gitrepo *git)
{
    struct licence *l = &f->licence;
    struct sum s = {.unknown = false};
    struct buf expr = BUF_INIT(SPDX_MAX - 1);
    for (size_t i = 0; i < f->files.n; i++) {
        const struct licence_file *file = &f->files.v[i];
        if (file->rank > REUSE_RANK && add_file(t, &s, git, file))
            l->evidence = l->evidence ? arena_printf(&t->arena, "%s, %s",
                                                     l->evidence, file->path)
                                      : file->path;
    }
    if (!l->evidence)
        l->evidence = f->files.v[0].path;
    write_sum(&s, &expr);
    if (!expr.full) /* no half answers */
        snprintf(l->spdx, SPDX_MAX, "%.*s", (int)expr.n, expr.p);
    buf_release(&expr);
    array_release(&s.all.list);
    array_release(&s.choice.list);
}

static int by_rank(const void *a, const void *b)
{
    const struct licence_file *x = a, *y = b;
    return x->rank != y->rank ? y->rank - x->rank : strcmp(x->path, y->path);
}

static const struct licence *folder_licence(struct terms *t, struct folder *f,
                                            struct gitrepo *git)
{
    struct licence *l = &f->licence;
    if (f->read)
        return l;
    f->read = true;
    qsort(f->files.v, f->files.n, sizeof(*f->files.v), by_rank);
    const struct licence_file *best = &f->files.v[0];
    if (best->rank > REUSE_RANK) {
        read_files(t, f, git);
        return l;
    }
    read_one(best, git, l->spdx);
    l->evidence = best->path;
    for (size_t i = 1; i < f->files.n && best->rank <= METADATA_RANK; i++) {
        if (l->spdx[0])
            break;
        read_one(&f->files.v[i], git, l->spdx);
        l->evidence = f->files.v[i].path;
    }
    /* Of several texts each file's own tag says which: none, no answer. */
    if (best->rank == REUSE_RANK && f->files.n > 1 &&
        f->files.v[1].rank == REUSE_RANK) {
        l->spdx[0] = '\0';
        l->evidence = "LICENSES";
    }
    if (best->rank <= METADATA_RANK && !l->spdx[0])
        l->evidence = "";
    return l;
}

const struct licence *terms_root(struct terms *t, struct gitrepo *git)
{
    static const struct licence none = {"", ""};
    struct folder *f = map_get(&t->folders, (struct span){"", 0});
    return f ? folder_licence(t, f, git) : &none;
}

/* REUSE's file beside a source that can't say it itself; false: none, or it
 * says nothing. */
static bool said_beside(struct terms *t, struct gitrepo *git, struct span path,
                        struct licence *out)
{
    struct buf b = BUF_INIT(MAX_LICENCE_FILE);
    const char *oid = map_get(&t->beside, path);
    struct err e;
    bool tag = false;
    if (oid && gitrepo_blob(git, oid, MAX_LICENCE_FILE, &b, &e) == 0 &&
        licence_header(out->spdx, &tag, buf_span(&b)) > 0 && tag)
        out->evidence =
            arena_printf(&t->arena, "%.*s.license", (int)path.n, path.p);
    buf_release(&b);
    return tag;
}

void terms_of(struct terms *t, struct gitrepo *git, struct span path,
              struct span source, struct licence *out)
{
    bool tag;
    if (said_beside(t, git, path, out))
        return;
    int said = licence_header(out->spdx, &tag, source);
    out->evidence = tag ? "tag" : "header";
    if (said != 0)
        return;
    for (struct span d = folder_of(path); d.n > 0; d = folder_of(d)) {
        struct folder *f = map_get(&t->folders, d);
        if (f) {
            *out = *folder_licence(t, f, git);
            return;
        }
    }
    *out = *terms_root(t, git);
}
