/* SPDX-License-Identifier: MIT */
/* Versions of files, kept from one commit to the next. */
#include "base.h"

#include "harvest/blobs.h"
#include "map.h"

struct blobs {
    char *path;
    struct gitrepo *git;
    unsigned turn;
    struct map all; /* "OID PATH" -> struct blob */
};

struct blobs *blobs_new(void)
{
    return xcalloc(1, sizeof(struct blobs));
}

static void free_blob(struct blob *x)
{
    free((char *)(uintptr_t)x->text.p);
    array_release(&x->cells);
    pymod_free(x->mod);
    free(x);
}

static void forget_all(struct blobs *b)
{
    for (size_t i = 0; i < b->all.n; i++)
        free_blob(b->all.entries[i].value);
    map_release(&b->all);
    b->all = (struct map)MAP_INIT;
    gitrepo_close(b->git);
    b->git = NULL;
    free(b->path);
    b->path = NULL;
}

void blobs_free(struct blobs *b)
{
    if (!b)
        return;
    forget_all(b);
    free(b);
}

static size_t map_size(const struct map *m)
{
    return m->cap * sizeof(*m->entries) + m->n_slots * sizeof(*m->slots);
}

/* About the bytes that X holds. A model takes several times its text; arenas
 * are left out, whose blocks are hardly filled. */
static size_t blob_size(const struct blob *x)
{
    const struct pymod *m = x->mod;
    size_t n = sizeof(*x) + x->text.n;
    if (!m)
        return n;
    return n + sizeof(*m) + m->text.n + m->short_text.n +
           m->stmts.cap * sizeof(*m->stmts.v) +
           m->scopes.cap * sizeof(*m->scopes.v) +
           m->syms.cap * sizeof(*m->syms.v) + m->defs.cap * sizeof(*m->defs.v) +
           m->line_starts.cap * sizeof(*m->line_starts.v) + map_size(&m->last) +
           map_size(&m->first);
}

/* When they are too many, those that the last commit had stay. Empty files
 * have names, too. */
static void forget_old(struct blobs *b)
{
    size_t total = 0;
    for (size_t i = 0; i < b->all.n; i++) {
        const struct blob *x = b->all.entries[i].value;
        total += blob_size(x) + b->all.entries[i].key.n;
    }
    if (total <= BLOBS_MAX)
        return;
    struct map old = b->all;
    b->all = (struct map)MAP_INIT;
    for (size_t i = 0; i < old.n; i++) {
        struct blob *x = old.entries[i].value;
        if (x->used == b->turn)
            map_put(&b->all, old.entries[i].key, x);
        else
            free_blob(x);
    }
    map_release(&old);
}

int blobs_begin(struct blobs *b, const char *path, struct gitrepo **out,
                struct err *e)
{
    *out = NULL;
    if (!b->path || strcmp(b->path, path) != 0) {
        forget_all(b);
        if (gitrepo_open(&b->git, path, e) != 0)
            return -1;
        b->path = xstrdup(path);
    }
    forget_old(b);
    b->turn++;
    *out = b->git;
    return 0;
}

struct blob *blobs_get(struct blobs *b, const char *oid, const char *path)
{
    char key[OID_HEX + 1 + GIT_MAX_PATH + 1];
    int n = snprintf(key, sizeof(key), "%s %s", oid, path);
    void **at =
        map_ref(&b->all, (struct span){key, MIN((size_t)n, sizeof(key) - 1)});
    if (!*at)
        *at = xcalloc(1, sizeof(struct blob));
    struct blob *x = *at;
    x->used = b->turn;
    return x;
}
