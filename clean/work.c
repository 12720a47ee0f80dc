/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/calls.h"
#include "clean/dup.h"
#include "clean/module.h"
#include "clean/work.h"

struct work {
    const struct policy *policy;
    struct pyparser *parser;
    struct err parser_err;
};

struct item {
    struct arena arena;
    struct crepo repo;
    struct calls *calls;
    ARRAY(struct module_at) modules;
    ARRAY(struct span) rest; /* passes through, in order */
};

struct work *work_new(const struct policy *policy)
{
    struct work *w = xcalloc(1, sizeof(*w));

    w->policy = policy;
    w->parser = pyparser_new(&w->parser_err);
    return w;
}

void work_free(struct work *w)
{
    if (!w)
        return;
    pyparser_free(w->parser);
    free(w);
}

static void add_file(struct work *w, struct item *it, const struct val *rec)
{
    struct span path = val_gets(rec, "path");
    struct err e;

    if (val_getb(rec, "caller", false)) {
        calls_add(it->calls, path, val_gets(rec, "source"));
        return;
    }
    if (crepo_add(&it->repo, w->parser, path, val_gets(rec, "source"),
                  val_get(rec, "licence"), &e)) {
        struct err *kept = arena_alloc(&it->arena, sizeof(*kept));

        *kept = e;
        map_put(&it->repo.unreadable, path, kept);
    }
}

/* Sort the records of an item into files, modules and the rest. */
static int take(struct work *w, struct item *it, struct span item, bool whole,
                struct err *e)
{
    while (item.n > 0) {
        struct val *rec;
        size_t used;

        if (val_unpack(&it->arena, item, &used, &rec, e) != 0)
            return -1;
        if (span_is(rec_kind(rec), "file") && rec_ok(rec)) {
            if (whole)
                add_file(w, it, rec);
        } else if (span_is(rec_kind(rec), "module") && rec_ok(rec)) {
            struct module_at m = {rec, {item.p, used}, it->modules.n};

            array_push(&it->modules, m);
        } else {
            array_push(&it->rest, ((struct span){item.p, used}));
        }
        item.p += used;
        item.n -= used;
    }
    return 0;
}

int module_at_compare(const void *a, const void *b)
{
    const struct module_at *x = a, *y = b;
    struct span p = val_gets(x->rec, "path"), q = val_gets(y->rec, "path");
    int c = memcmp(p.p, q.p, MIN(p.n, q.n));
    int64_t i = val_geti(x->rec, "line", 0), k = val_geti(y->rec, "line", 0);

    if (c == 0)
        c = (p.n > q.n) - (p.n < q.n);
    if (c == 0)
        c = (i > k) - (i < k);
    return c ? c : (x->n > y->n) - (x->n < y->n);
}

static int put_module(struct work *w, struct item *it, struct val *rec,
                      bool whole, struct buf *out)
{
    struct likeness like = {.signature = NULL};
    const struct minhash *h = w->policy->minhash;
    struct arena a = ARENA_INIT;
    int rc;

    if (val_get(rec, "source"))
        ; /* clean already */
    else if (!whole)
        rec_fail(&a, rec, "clean", ERR_TOO_LARGE,
                 "the files of the repository exceed 256 MiB");
    else
        module_clean(&it->repo, w->parser, &a, rec, &like);
    rec_seal(&a, rec);
    if (like.digest[0] && h) {
        rc = buf_addc(out, like.signature ? FRAME_SIGNED : FRAME_DIGEST) ||
             buf_addc(out, (char)dup_licence_rank(rec)) ||
             buf_add(out, like.digest, HASH_HEX);
        if (like.signature)
            rc = rc || buf_add(out, like.signature, minhash_size(h));
    } else {
        rc = buf_addc(out, FRAME_PLAIN);
    }
    rc = rc || val_pack(out, rec);
    arena_release(&a);
    return rc ? -1 : 0;
}

static void find_calls(struct item *it)
{
    for (size_t i = 0; i < it->modules.n; i++) {
        const struct val *rec = it->modules.v[i].rec;

        if (!val_get(rec, "source"))
            calls_want(it->calls, val_gets(rec, "path"), val_gets(rec, "name"));
    }
    calls_read(it->calls, &it->repo);
}

int work_item(struct work *w, struct span item, struct buf *out, struct err *e)
{
    struct item it = {0};
    bool whole = item.n > 0 && item.p[0] == ITEM_WHOLE;
    int rc;

    if (!w->parser) {
        *e = w->parser_err;
        return -1;
    }
    if (item.n == 0)
        return err_set(e, ERR_INTERNAL, "empty item");
    crepo_init(&it.repo, w->policy);
    it.repo.calls = it.calls = calls_new(w->parser);
    rc = take(w, &it, (struct span){item.p + 1, item.n - 1}, whole, e);
    if (rc == 0 && it.modules.n > 1)
        qsort(it.modules.v, it.modules.n, sizeof(*it.modules.v),
              module_at_compare);
    if (rc == 0)
        find_calls(&it);
    for (size_t i = 0; i < it.modules.n && rc == 0; i++)
        rc = put_module(w, &it, it.modules.v[i].rec, whole, out);
    for (size_t i = 0; i < it.rest.n && rc == 0; i++)
        rc = buf_addc(out, FRAME_PLAIN) || buf_addspan(out, it.rest.v[i]);
    if (rc && out->full)
        err_set(e, ERR_TOO_LARGE, "the result is larger than %zu bytes",
                out->max);
    calls_free(it.calls);
    crepo_release(&it.repo);
    array_release(&it.modules);
    array_release(&it.rest);
    arena_release(&it.arena);
    return rc ? -1 : 0;
}
