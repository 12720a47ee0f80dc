/* SPDX-License-Identifier: MIT */
/*
 * km-clean: modules of a repository become standalone sources. This file
 * holds the records of one repository until it is complete, hands them to a
 * worker, and finds duplicates in what comes back, in the order of the input.
 */
#include "base.h"

#include "array.h"
#include "clean/work.h"
#include "hash.h"
#include "log.h"
#include "map.h"
#include "pool.h"
#include "stage.h"

/* Bytes of the files of one repository that are held. */
#define MAX_HELD ((size_t)256 << 20)
/* CPU seconds for a repository, and for one module after a crash. */
#define REPO_SECONDS   1800
#define MODULE_SECONDS 60

static struct opt_list allow_option;
static bool keep_docstrings;

static const struct opt clean_opts[] = {
    {OPT_GROUP, 0, "Cleaning", NULL, NULL, NULL, 0, 0, false},
    {OPT_LIST, 0, "allow", &allow_option, "PACKAGE",
     "let sources import this package too (may be repeated)", 0, 0, true},
    {OPT_FLAG, 0, "keep-docstrings", &keep_docstrings, NULL,
     "keep docstrings (default: removed, as comments are)", 0, 0, true},
    {0},
};

struct state {
    struct policy policy;
    int jobs;
    struct pool *pool;
    struct emit *out;
    /* The records of the repository that is being read. */
    struct buf held;
    char *repo; /* its name, NULL = none */
    size_t file_bytes;
    bool too_large;
    /* Digest -> id of the first module that has it. */
    struct map seen;
    struct arena ids;
};

/* ---- worker side ---- */

static void *start_work(void *payload)
{
    struct state *s = payload;

    return work_new(&s->policy);
}

static int do_work(void *work, struct span item, struct buf *out, struct err *e)
{
    return work_item(work, item, out, e);
}

/* ---- results ---- */

static int put_cleaned(struct state *s, const char *digest, struct span packed,
                       struct err *e)
{
    struct arena a = ARENA_INIT;
    struct val *rec;
    size_t used;
    struct span key = {digest, HASH_HEX}, id;
    const char *first;
    int rc = -1;

    if (val_unpack(&a, packed, &used, &rec, e) != 0)
        goto out;
    id = rec_id(rec);
    first = map_get(&s->seen, key);
    if (!first) {
        first = arena_strdup(&s->ids, id);
        map_put(&s->seen, key, (void *)(uintptr_t)first);
    }
    val_set(&a, rec, "cluster", val_strz(&a, first));
    if (!span_is(id, first)) {
        char note[64];

        snprintf(note, sizeof(note), "same as %s", first);
        rec_fail(&a, rec, "clean", ERR_DUPLICATE, note);
    }
    rc = emit_rec(s->out, &a, rec, e);
out:
    arena_release(&a);
    return rc < 0 ? -1 : 0;
}

static int put_frames(struct state *s, struct span frames, struct err *e)
{
    while (frames.n > 0) {
        const char *digest = frames.p + 1;
        bool cleaned = frames.p[0] == FRAME_DIGEST;
        size_t skip = cleaned ? 1 + HASH_HEX : 1, used;
        struct span packed = {frames.p + skip, frames.n - skip};
        int rc;

        if (frames.n < skip || val_scan(packed, &used, e) != 0)
            return err_set(e, ERR_INTERNAL, "a worker sent nonsense");
        packed.n = used;
        rc = cleaned ? put_cleaned(s, digest, packed, e)
                     : emit_packed(s->out, packed, e);
        if (rc < 0)
            return -1;
        frames.p += skip + used;
        frames.n -= skip + used;
    }
    return 0;
}

/* The module that even alone ends its worker. */
static int one_result(void *payload, struct span item, int status,
                      struct span out, struct err *e)
{
    struct state *s = payload;
    struct arena a = ARENA_INIT;
    struct span rest = {item.p + 1, item.n - 1};
    struct err why;
    int rc = 0;

    if (status == 0)
        return put_frames(s, out, e);
    why = *e;
    while (rc == 0 && rest.n > 0) {
        struct val *rec;
        size_t used;

        rc = val_unpack(&a, rest, &used, &rec, e);
        if (rc != 0)
            break;
        if (span_is(rec_kind(rec), "module") && rec_ok(rec)) {
            rec_fail(&a, rec, "clean", why.code, why.msg);
            rc = emit_rec(s->out, &a, rec, e);
        }
        rest.p += used;
        rest.n -= used;
    }
    arena_release(&a);
    return rc ? -1 : 0;
}

/* A worker died over a repository: its modules one at a time. */
static int retry(struct state *s, struct span item, struct err *e)
{
    struct pool_ops ops = {
        .work = do_work,
        .start = start_work,
        .result = one_result,
        .payload = s,
        .jobs = 1,
        .cpu_s = MODULE_SECONDS,
        .max_item = item.n + REC_MAX,
    };
    struct pool *pool = pool_new(&ops);
    struct arena a = ARENA_INIT;
    struct buf files = BUF_INIT(item.n), one = BUF_INIT(item.n);
    ARRAY(struct module_at) modules = {0};
    ARRAY(struct span) rest = {0};
    struct span left = {item.p + 1, item.n - 1};
    int rc = buf_addc(&files, item.p[0]);

    while (rc == 0 && left.n > 0) {
        struct val *rec;
        struct span packed = left;

        rc = val_unpack(&a, left, &packed.n, &rec, e);
        if (rc != 0)
            break;
        if (span_is(rec_kind(rec), "file") && rec_ok(rec)) {
            rc = buf_addspan(&files, packed);
        } else if (span_is(rec_kind(rec), "module") && rec_ok(rec)) {
            struct module_at at = {rec, packed, modules.n};
            array_push(&modules, at);
        } else {
            array_push(&rest, packed);
        }
        left.p += packed.n;
        left.n -= packed.n;
    }
    if (modules.n > 1)
        qsort(modules.v, modules.n, sizeof(*modules.v), module_at_compare);
    for (size_t i = 0; i < modules.n && rc == 0; i++) {
        buf_clear(&one);
        rc = buf_addspan(&one, buf_span(&files)) ||
             buf_addspan(&one, modules.v[i].packed);
        if (rc == 0)
            rc = pool_put(pool, buf_span(&one), e);
    }
    if (rc == 0)
        rc = pool_drain(pool, e);
    for (size_t i = 0; i < rest.n && rc == 0; i++)
        rc = emit_packed(s->out, rest.v[i], e);
    pool_free(pool);
    array_release(&modules);
    array_release(&rest);
    buf_release(&files);
    buf_release(&one);
    arena_release(&a);
    return rc ? -1 : 0;
}

static int result(void *payload, struct span item, int status, struct span out,
                  struct err *e)
{
    struct state *s = payload;

    if (status == 0)
        return put_frames(s, out, e);
    log_info("a repository is tried again, module by module: %s", e->msg);
    return retry(s, item, e);
}

/* ---- input ---- */

static int flush_held(struct state *s, struct err *e)
{
    int rc = 0;

    if (s->held.n > 1) {
        s->held.p[0] = s->too_large ? ITEM_TOO_LARGE : ITEM_WHOLE;
        rc = pool_put(s->pool, buf_span(&s->held), e);
    }
    buf_release(&s->held); /* one large repository must not stay in memory */
    (void)buf_addc(&s->held, ITEM_WHOLE);
    free(s->repo);
    s->repo = NULL;
    s->file_bytes = 0;
    s->too_large = false;
    return rc < 0 ? KM_DEAD : 0;
}

static int clean_open(void **out, const struct stage_env *env, struct err *e)
{
    struct state *s = xcalloc(1, sizeof(*s));
    struct pool_ops ops = {
        .work = do_work,
        .start = start_work,
        .result = result,
        .payload = s,
        .jobs = env->jobs,
        .cpu_s = REPO_SECONDS,
        .max_item = MAX_HELD + 4 * (size_t)REC_MAX,
    };

    (void)e;
    s->policy.allow = allow_option.v;
    s->policy.n_allow = allow_option.n;
    s->policy.keep_docstrings = keep_docstrings;
    s->jobs = env->jobs;
    buf_init(&s->held, ops.max_item);
    (void)buf_addc(&s->held, ITEM_WHOLE);
    s->pool = pool_new(&ops);
    *out = s;
    return 0;
}

static int clean_process(void *state, struct arena *a, struct val *rec,
                         struct emit *out, struct err *e)
{
    struct state *s = state;
    struct span kind = rec_kind(rec), repo = val_gets(rec, "repo");
    bool file = span_is(kind, "file"), closing = span_is(kind, "repo");
    bool ours = file || closing || span_is(kind, "module");
    size_t before;

    s->out = out;
    /* A stream that a filter went through may lack the closing record. */
    if (ours && s->repo && !span_is(repo, s->repo) && flush_held(s, e))
        return KM_DEAD;
    if (ours && !s->repo)
        s->repo = xmemdup0(repo);
    rec_seal(a, rec);
    before = s->held.n;
    if (file && rec_ok(rec)) {
        s->file_bytes += val_gets(rec, "source").n;
        s->too_large |= s->file_bytes > MAX_HELD;
        if (s->too_large)
            return 0;
    }
    if (val_pack(&s->held, rec) != 0) {
        buf_setlen(&s->held, before);
        return err_set(e, ERR_TOO_LARGE,
                       "the records of a repository exceed %zu MiB",
                       s->held.max >> 20);
    }
    if (closing || (!s->repo && s->held.n > REC_MAX))
        return flush_held(s, e);
    return 0;
}

static int clean_finish(void *state, struct emit *out, struct err *e)
{
    struct state *s = state;

    s->out = out;
    if (flush_held(s, e) || pool_drain(s->pool, e))
        return KM_DEAD;
    return 0;
}

static void clean_close(void *state)
{
    struct state *s = state;

    if (!s)
        return;
    pool_free(s->pool);
    buf_release(&s->held);
    free(s->repo);
    map_release(&s->seen);
    arena_release(&s->ids);
    free(s);
}

int main(int argc, char **argv)
{
    static const char *const accepts[] = {"file", "module", "repo", NULL};
    static const struct stage stage = {
        .spec = {.program = "km-clean",
                 .synopsis = "[OPTION]... < files-and-modules > modules",
                 .about = "Turn the module records of a repository into "
                          "standalone sources: what they\nneed of the "
                          "repository is inlined, imports come from a list, "
                          "unsafe code,\nsecrets and duplicates are refused.",
                 .tables = {clean_opts, stage_common_opts, NULL},
                 .epilogue =
                     "km-harvest repo | km-clean | km-cat --kind module"},
        .name = "clean",
        .accepts = accepts,
        .holds = true,
        .open = clean_open,
        .process = clean_process,
        .finish = clean_finish,
        .close = clean_close,
    };

    return stage_main(argc, argv, &stage);
}
