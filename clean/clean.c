/* SPDX-License-Identifier: MIT */
/*
 * km-clean: modules of a repository become standalone sources. This file
 * holds the records of one repository until it is complete and hands them to a
 * worker. What comes back is held until all modules are known and can be told
 * apart from their duplicates; it is then written in the order of the input.
 */
#include "base.h"

#include <fcntl.h>

#include "array.h"
#include "clean/benchmark.h"
#include "clean/cluster.h"
#include "clean/commands.h"
#include "clean/held.h"
#include "clean/work.h"
#include "log.h"
#include "pool.h"
#include "stage.h"

/* Bytes of the files of one repository that are held. */
#define MAX_HELD ((size_t)256 << 20)
/* And of those that only make modules. */
#define MAX_CALLERS ((size_t)32 << 20)
/* CPU seconds for a repository, and for one module after a crash. */
#define REPO_SECONDS   1800
#define MODULE_SECONDS 60

static struct opt_list allow_option;
static bool keep_docstrings, kernelbench;
static bool dedup = true, keep_near, no_kernelbench;
static int64_t shingle = 5, permutations = 256;
static double similarity = 0.7;
static const char *index_file;
static struct opt_list fingerprints;

static const struct opt clean_opts[] = {
    {OPT_GROUP, 0, "Cleaning", NULL, NULL, NULL, 0, 0, false},
    {OPT_LIST, 0, "allow", &allow_option, "PACKAGE",
     "let sources import this package too (may be repeated)", 0, 0, true},
    {OPT_FLAG, 0, "keep-docstrings", &keep_docstrings, NULL,
     "keep docstrings (default: removed, as comments are)", 0, 0, true},
    {OPT_FLAG, 0, "kernelbench", &kernelbench, NULL,
     "call the class Model, as KernelBench does", 0, 0, true},
    {OPT_GROUP, 0, "Duplicates", NULL, NULL, NULL, 0, 0, false},
    {OPT_FLAG, 0, "dedup", &dedup, NULL,
     "look for duplicates (default; --no-dedup: do not)", 0, 0, true},
    {OPT_STR, 0, "index", &index_file, "FILE",
     "look for them in earlier runs too: SQLite, made when absent", 0, 0,
     false},
    {OPT_FLAG, 0, "keep-near", &keep_near, NULL,
     "only mark near-duplicates (default: reject them)", 0, 0, true},
    {OPT_FLOAT, 0, "similarity", &similarity, "S",
     "Jaccard index from which sources are near (0.7)", 0.3, 1, true},
    {OPT_INT, 0, "shingle", &shingle, "N", "tokens of a gram (5)", 1, 50, true},
    {OPT_INT, 0, "permutations", &permutations, "N",
     "of a MinHash signature (256)", 16, MINHASH_MAX, true},
    {OPT_GROUP, 0, "Benchmarks", NULL, NULL, NULL, 0, 0, false},
    {OPT_LIST, 0, "decontaminate", &fingerprints, "FILE",
     "refuse copies of these fingerprints too (may be repeated)", 0, 0, false},
    {OPT_FLAG, 0, "no-decontaminate", &no_kernelbench, NULL,
     "do not look for copies of KernelBench", 0, 0, true},
    {0},
};

struct state {
    struct policy policy;
    struct minhash minhash;
    struct benchmark *benchmark;
    struct cluster *cluster; /* NULL: duplicates are not looked for */
    struct held *results;    /* what came back, while there are clusters */
    int jobs;
    struct pool *pool;
    struct emit *out;
    /* The records of the repository that is being read. */
    struct buf held;
    char *repo; /* its name, NULL = none */
    size_t file_bytes, caller_bytes;
    bool too_large;
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

static int put_plain(struct state *s, struct span packed, struct err *e)
{
    return s->cluster ? held_put(s->results, FRAME_PLAIN, packed, e)
                      : emit_packed(s->out, packed, e);
}

/* A cleaned module: HEAD is its frame before the record. */
static int put_cleaned(struct state *s, struct span head, struct span packed,
                       struct err *e)
{
    struct arena a = ARENA_INIT;
    struct span digest = {head.p + 2, HASH_HEX};
    const unsigned char *signature = NULL;
    struct val *rec;
    size_t used;
    int rc;

    if (head.p[0] == FRAME_SIGNED)
        signature = (const unsigned char *)head.p + 2 + HASH_HEX;
    rc =
        val_unpack(&a, packed, &used, &rec, e) ||
        cluster_add(s->cluster, head.p[1], rec_id(rec), digest, signature, e) ||
        held_put(s->results, FRAME_DIGEST, packed, e);
    arena_release(&a);
    return rc ? -1 : 0;
}

static int put_frames(struct state *s, struct span frames, struct err *e)
{
    while (frames.n > 0) {
        bool plain = frames.p[0] == FRAME_PLAIN;
        size_t skip = plain ? 1 : 2 + HASH_HEX, used;
        struct span packed, head;
        int rc;

        if (frames.p[0] == FRAME_SIGNED)
            skip += minhash_size(&s->minhash);
        packed = (struct span){frames.p + skip, frames.n - skip};
        head = (struct span){frames.p, skip};
        if (frames.n < skip || val_scan(packed, &used, e) != 0)
            return err_set(e, ERR_INTERNAL, "a worker sent nonsense");
        packed.n = used;
        rc = plain ? put_plain(s, packed, e) : put_cleaned(s, head, packed, e);
        if (rc < 0)
            return -1;
        frames.p += skip + used;
        frames.n -= skip + used;
    }
    return 0;
}

static void put_outcome(struct arena *a, struct val *rec,
                        const struct outcome *o)
{
    char note[96];

    val_set(a, rec, "cluster", val_strz(a, o->cluster));
    if (o->kind == CLUSTER_FIRST)
        return;
    val_set(a, rec, "duplicate_of", val_strz(a, o->original));
    if (o->kind == CLUSTER_SAME) {
        snprintf(note, sizeof(note), "same as %s", o->original);
        rec_fail(a, rec, "clean", ERR_DUPLICATE, note);
        return;
    }
    snprintf(note, sizeof(note), "%.2f like %s", o->similarity, o->original);
    if (!keep_near)
        rec_fail(a, rec, "clean", ERR_NEAR_DUPLICATE, note);
    else {
        rec_why(a, rec, "clean", ERR_NEAR_DUPLICATE);
        if (!val_get(rec, "note"))
            val_set(a, rec, "note", val_strz(a, note));
    }
}

/* All is known: write what was held. */
static int write_held(struct state *s, struct err *e)
{
    struct buf packed = BUF_INIT(REC_MAX);
    struct arena a = ARENA_INIT;
    char tag;
    int rc;

    if (cluster_judge(s->cluster, e) || held_rewind(s->results, e))
        return -1;
    while ((rc = held_get(s->results, &tag, &packed, e)) > 0) {
        struct outcome o;
        struct val *rec;
        size_t used;

        if (tag == FRAME_PLAIN) {
            rc = emit_packed(s->out, buf_span(&packed), e);
        } else {
            rc = val_unpack(&a, buf_span(&packed), &used, &rec, e) ||
                 cluster_next(s->cluster, &o, e);
            if (rc == 0) {
                put_outcome(&a, rec, &o);
                rc = emit_rec(s->out, &a, rec, e);
            }
        }
        arena_reset(&a);
        if (rc)
            break;
    }
    buf_release(&packed);
    arena_release(&a);
    return rc ? -1 : 0;
}

/* A record that the parent itself has changed. */
static int put_rec(struct state *s, struct arena *a, struct val *rec,
                   struct err *e)
{
    struct buf packed = BUF_INIT(REC_MAX);
    int rc;

    if (!s->cluster)
        return emit_rec(s->out, a, rec, e);
    rec_seal(a, rec);
    rc = val_pack(&packed, rec)
             ? err_set(e, ERR_TOO_LARGE, "record exceeds %u bytes", REC_MAX)
             : held_put(s->results, FRAME_PLAIN, buf_span(&packed), e);
    buf_release(&packed);
    return rc;
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
            rc = put_rec(s, &a, rec, e);
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
        rc = put_plain(s, rest.v[i], e);
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
    s->file_bytes = s->caller_bytes = 0;
    s->too_large = false;
    return rc < 0 ? KM_DEAD : 0;
}

/* The fingerprints that are looked for, into S. */
static int load_benchmarks(struct state *s, struct err *e)
{
    if (no_kernelbench && fingerprints.n == 0)
        return 0;
    s->benchmark = benchmark_new();
    if (!no_kernelbench && benchmark_load_own(s->benchmark, e))
        return -1;
    for (size_t i = 0; i < fingerprints.n; i++) {
        int fd = open(fingerprints.v[i], O_RDONLY | O_CLOEXEC);
        int rc = fd < 0
                     ? err_sys(e, "cannot open '%s'", fingerprints.v[i])
                     : benchmark_load(s->benchmark, fd, fingerprints.v[i], e);

        if (fd >= 0)
            close(fd);
        if (rc)
            return -1;
    }
    benchmark_seal(s->benchmark);
    s->policy.benchmark = s->benchmark;
    return 0;
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
        .max_item = MAX_HELD + MAX_CALLERS + 4 * (size_t)REC_MAX,
    };

    *out = s;
    if (!dedup && index_file)
        return err_set(e, ERR_USAGE,
                       "--index and --no-dedup exclude one "
                       "another");
    s->policy.allow = allow_option.v;
    s->policy.n_allow = allow_option.n;
    s->policy.keep_docstrings = keep_docstrings;
    s->policy.kernelbench = kernelbench;
    s->jobs = env->jobs;
    buf_init(&s->held, ops.max_item);
    (void)buf_addc(&s->held, ITEM_WHOLE);
    if (load_benchmarks(s, e))
        return -1;
    if (dedup) {
        minhash_init(&s->minhash, (unsigned)shingle, (unsigned)permutations,
                     similarity);
        s->policy.minhash = &s->minhash;
        s->results = held_new(e);
        if (!s->results ||
            cluster_open(&s->cluster, index_file, &s->minhash, e))
            return -1;
    }
    s->pool = pool_new(&ops);
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
    if (file && rec_ok(rec) && val_getb(rec, "caller", false)) {
        /* its loss is the loss of a hint */
        s->caller_bytes += val_gets(rec, "source").n;
        if (s->caller_bytes > MAX_CALLERS || s->too_large)
            return 0;
    } else if (file && rec_ok(rec)) {
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
    return s->cluster && write_held(s, e) ? KM_DEAD : 0;
}

static void clean_close(void *state)
{
    struct state *s = state;

    if (!s)
        return;
    pool_free(s->pool);
    buf_release(&s->held);
    free(s->repo);
    cluster_close(s->cluster);
    held_free(s->results);
    benchmark_free(s->benchmark);
    free(s);
}

int clean_main(int argc, char **argv)
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
