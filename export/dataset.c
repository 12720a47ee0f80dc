/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "export/dataset.h"
#include "map.h"
#include "schema.h"

#define ZSTD_LEVEL 9

struct dataset_stream {
    const char *kind, *split;
    unsigned next;        /* index of the next shard */
    struct rec_writer *w; /* NULL = no shard is open */
    struct shard_info info;
    struct outfile file, jsonl;
    struct buf lines; /* not yet written to jsonl */
    uint64_t raw;
};

static char *in_dir(const struct dataset *d, const char *name)
{
    return xasprintf("%s/%s", d->dir, name);
}

/* ---- the folder ---- */

/* Call FN for each name in the folder; its first non-zero result ends. */
static int each_name(const struct dataset *d,
                     int (*fn)(const struct dataset *, const char *),
                     struct err *e)
{
    DIR *dir = opendir(d->dir);
    struct dirent *entry;
    int r = 0;
    if (!dir)
        return err_sys(e, "cannot read folder '%s'", d->dir);
    while (r == 0 && (errno = 0, entry = readdir(dir)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            r = fn(d, entry->d_name);
    if (r == 0 && errno)
        r = err_sys(e, "cannot read folder '%s'", d->dir);
    closedir(dir);
    return r;
}

/* A name that an export makes, finished or not? */
static bool our_name(const char *name, bool *part)
{
    struct span s = span_str(name);
    *part = span_ends(s, ".part");
    if (*part)
        s.n -= strlen(".part");
    char *stem = xmemdup0(s);
    bool ours = shard_name_ok(stem) || strcmp(stem, "manifest.json") == 0;
    free(stem);
    return ours;
}

static int is_foreign(const struct dataset *d, const char *name)
{
    bool part;
    (void)d;
    return !our_name(name, &part);
}

/* May the folder be written? It is empty, holds nothing but what a failed or
 * killed export left, or has a manifest of ours. 0, 1 = no, -1 with E. */
static int is_taken(const struct dataset *d, struct err *e)
{
    struct buf text = BUF_INIT(64u << 20);
    struct arena a = ARENA_INIT;
    struct val *v = NULL;
    char *path = in_dir(d, "manifest.json");
    int taken = each_name(d, is_foreign, e);
    if (taken >= 0 && access(path, F_OK) == 0)
        taken = io_read_file(&text, path, NULL) != 0 ||
                val_parse_json(&a, buf_span(&text), VAL_JSON_STRICT, &v,
                               NULL) != 0 ||
                !span_is(val_gets(v, "format"), DATASET_FORMAT);
    free(path);
    buf_release(&text);
    arena_release(&a);
    return taken;
}

int dataset_open(struct dataset *d, const char *dir,
                 const struct dataset_options *o, struct err *e)
{
    struct rlimit lim;
    *d = (struct dataset){.dir = xstrdup(dir), .o = *o, .manifest = {.fd = -1}};
    /* Shards keep their descriptors until they are named. */
    if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur < lim.rlim_max) {
        lim.rlim_cur = lim.rlim_max;
        setrlimit(RLIMIT_NOFILE, &lim);
    }
    if (io_mkdirs(dir, e) != 0)
        return -1;
    int taken = is_taken(d, e);
    if (taken < 0)
        return -1;
    if (taken && !o->force) {
        err_set(e, ERR_USAGE,
                "folder '%s' is not empty and holds no data set of km-export",
                dir);
        return err_hint(e, "name another folder, or use --force");
    }
    char *path = in_dir(d, "manifest.json");
    int status = outfile_open(&d->manifest, path, e);
    free(path);
    return status;
}

/* ---- shards ---- */

static int open_file(struct dataset *d, struct outfile *f, const char *name,
                     struct err *e)
{
    char *path = in_dir(d, name);
    int status = outfile_open(f, path, e);
    free(path);
    return status;
}

static struct dataset_stream *stream_get(struct dataset *d, const char *kind,
                                         const char *split)
{
    for (size_t i = 0; i < d->streams.n; i++) {
        struct dataset_stream *s = d->streams.v[i];
        if (strcmp(s->kind, kind) == 0 && strcmp(s->split, split) == 0)
            return s;
    }
    struct dataset_stream *s = xcalloc(1, sizeof(*s));
    s->kind = kind;
    s->split = split;
    s->file.fd = s->jsonl.fd = -1;
    buf_init(&s->lines, 8 * (size_t)REC_MAX);
    array_push(&d->streams, s);
    return s;
}

static int shard_open(struct dataset *d, struct dataset_stream *s,
                      struct err *e)
{
    char name[SHARD_NAME_MAX];
    s->info = (struct shard_info){.records = 0};
    shard_name(s->info.name, s->kind, s->split, s->next, "msgpack.zst");
    snprintf(s->info.kind, sizeof(s->info.kind), "%s", s->kind);
    snprintf(s->info.split, sizeof(s->info.split), "%s", s->split);
    if (open_file(d, &s->file, s->info.name, e) != 0)
        return -1;
    shard_name(name, s->kind, s->split, s->next, "jsonl");
    if (d->o.jsonl && open_file(d, &s->jsonl, name, e) != 0)
        return -1;
    s->next++;
    s->raw = 0;
    s->w = rec_writer_new(s->file.fd, s->info.name, REC_MSGPACK, ZSTD_LEVEL);
    return rec_write_header(s->w, "km-export", d->o.options, d->o.upstream, e);
}

static int flush_lines(struct dataset_stream *s, size_t least, struct err *e)
{
    if (s->lines.n == 0 || s->lines.n < least)
        return 0;
    int status = io_write_full(s->jsonl.fd, s->lines.p, s->lines.n, e);
    buf_clear(&s->lines);
    return status;
}

/* The file is read back: what the manifest says is what lies on the disk. */
static int shard_close(struct dataset *d, struct dataset_stream *s,
                       struct err *e)
{
    int status = rec_write_end(s->w, e);
    rec_writer_free(s->w);
    s->w = NULL;
    if (status != 0)
        return -1;
    if (shard_measure(&s->info, s->file.part, s->info.name, e) != 0)
        return -1;
    array_push(&d->shards, s->info);
    array_push(&d->files, s->file);
    s->file.fd = -1;
    if (!d->o.jsonl)
        return 0;
    if (flush_lines(s, 0, e) != 0)
        return -1;
    struct shard_info info = s->info;
    shard_name(info.name, s->kind, s->split, s->next - 1, "jsonl");
    if (shard_measure_jsonl(&info, s->jsonl.part, info.name, e) != 0)
        return -1;
    array_push(&d->jsonl, info);
    array_push(&d->files, s->jsonl);
    s->jsonl.fd = -1;
    return 0;
}

int dataset_put(struct dataset *d, const char *kind, const char *split,
                const struct val *rec, struct err *e)
{
    struct dataset_stream *s = stream_get(d, kind, split);
    struct buf packed = BUF_INIT(REC_MAX);
    int status = -1;
    if (val_pack(&packed, rec) != 0) {
        err_set(e, ERR_TOO_LARGE, "record of more than %u MiB", REC_MAX >> 20);
        goto out;
    }
    if (s->w && s->raw + packed.n > (uint64_t)d->o.shard_size &&
        shard_close(d, s, e) != 0)
        goto out;
    if (!s->w && shard_open(d, s, e) != 0)
        goto out;
    s->raw += packed.n;
    if (rec_write_packed(s->w, buf_span(&packed), e) != 0)
        goto out;
    if (d->o.jsonl &&
        (val_json(&s->lines, rec) != 0 || buf_addc(&s->lines, '\n') != 0)) {
        err_set(e, ERR_INTERNAL, "record without a JSON form");
        goto out;
    }
    status = d->o.jsonl ? flush_lines(s, 1u << 20, e) : 0;
out:
    buf_release(&packed);
    return status;
}

int dataset_finish(struct dataset *d, struct err *e)
{
    for (size_t i = 0; i < d->streams.n; i++)
        if (d->streams.v[i]->w && shard_close(d, d->streams.v[i], e) != 0)
            return -1;
    return 0;
}

/* ---- the manifest ---- */

static bool listed(const struct dataset *d, const char *name)
{
    for (size_t i = 0; i < d->shards.n; i++)
        if (strcmp(d->shards.v[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < d->jsonl.n; i++)
        if (strcmp(d->jsonl.v[i].name, name) == 0)
            return true;
    return false;
}

/* Remove NAME when it is a shard that this data set does not have, or the
 * beginning of one. The manifest is not ready yet: its .part stays. */
static int remove_stale(const struct dataset *d, const char *name)
{
    bool part;
    if (our_name(name, &part) && strncmp(name, "manifest", 8) != 0 &&
        (part || !listed(d, name))) {
        char *path = in_dir(d, name);
        unlink(path);
        free(path);
    }
    return 0;
}

/* One line for each top-level key and each shard: for people and diff. */
static int manifest_text(struct buf *out, const struct val *m)
{
    buf_adds(out, "{\n");
    for (uint32_t i = 0; i < m->map.n; i++) {
        const struct val *v = m->map.v[i];
        bool rows = v->type == VAL_LIST && val_len(v) > 0;
        buf_printf(out, "  \"%.*s\": ", (int)m->map.keys[i].n,
                   m->map.keys[i].p);
        for (size_t k = 0; rows && k < val_len(v); k++) {
            buf_adds(out, k ? ",\n    " : "[\n    ");
            if (val_json(out, val_at(v, k)) != 0)
                return -1;
        }
        if (rows)
            buf_adds(out, "\n  ]");
        else if (val_json(out, v) != 0)
            return -1;
        buf_adds(out, i + 1 < m->map.n ? ",\n" : "\n");
    }
    buf_adds(out, "}\n");
    return out->full ? -1 : 0;
}

/* What a full disk tells late is told while the old data set still stands. */
static int sync_files(const struct dataset *d, struct err *e)
{
    for (size_t i = 0; i < d->files.n; i++)
        if (fsync(d->files.v[i].fd) != 0 && errno != EINVAL)
            return err_sys(e, "cannot sync '%s'", d->files.v[i].part);
    if (fsync(d->manifest.fd) != 0 && errno != EINVAL)
        return err_sys(e, "cannot sync '%s'", d->manifest.part);
    return 0;
}

int dataset_commit(struct dataset *d, const struct val *manifest, struct err *e)
{
    struct buf text = BUF_INIT(64u << 20);
    int status = -1;
    char *path = in_dir(d, "manifest.json");
    if (manifest_text(&text, manifest) != 0) {
        err_set(e, ERR_TOO_LARGE, "manifest is too large");
        goto out;
    }
    if (io_write_full(d->manifest.fd, text.p, text.n, e) != 0) {
        err_wrap(e, "'%s'", path);
        goto out;
    }
    if (sync_files(d, e) != 0)
        goto out;
    /* From here to the end there is no valid data set. */
    if (unlink(path) != 0 && errno != ENOENT) {
        err_sys(e, "cannot remove '%s'", path);
        goto out;
    }
    for (size_t i = 0; i < d->files.n; i++)
        if (outfile_commit(&d->files.v[i], e) != 0)
            goto out;
    d->files.n = 0;
    if (each_name(d, remove_stale, e) != 0)
        goto out;
    status = outfile_commit(&d->manifest, e);
out:
    free(path);
    buf_release(&text);
    return status;
}

void dataset_release(struct dataset *d)
{
    for (size_t i = 0; i < d->streams.n; i++) {
        struct dataset_stream *s = d->streams.v[i];
        rec_writer_free(s->w);
        if (s->file.fd >= 0)
            outfile_abort(&s->file);
        if (s->jsonl.fd >= 0)
            outfile_abort(&s->jsonl);
        buf_release(&s->lines);
        free(s);
    }
    for (size_t i = 0; i < d->files.n; i++)
        outfile_abort(&d->files.v[i]);
    if (d->manifest.fd >= 0)
        outfile_abort(&d->manifest);
    array_release(&d->streams);
    array_release(&d->shards);
    array_release(&d->jsonl);
    array_release(&d->files);
    free(d->dir);
    d->dir = NULL;
}

/* ---- verify ---- */

static int same_info(const struct shard_info *want,
                     const struct shard_info *got, struct err *e)
{
    const char *what = NULL;
    if (want->bytes != got->bytes)
        what = "size";
    else if (strcmp(want->sha256, got->sha256) != 0)
        what = "sha256";
    else if (want->raw_bytes != got->raw_bytes)
        what = "raw size";
    else if (strcmp(want->raw_sha256, got->raw_sha256) != 0)
        what = "raw sha256";
    else if (want->frames != got->frames)
        what = "number of frames";
    else if (want->records != got->records)
        what = "number of records";
    if (!what)
        return 0;
    return err_set(e, ERR_CORRUPT, "'%s': %s is not what the manifest says",
                   want->name, what);
}

static int verify_list(struct dataset *d, const struct val *list, bool jsonl,
                       uint64_t *records, struct err *e)
{
    for (size_t i = 0; i < val_len(list); i++) {
        struct shard_info want, got;
        if (shard_from_val(&want, val_at(list, i), e) != 0)
            return -1;
        char *path = in_dir(d, want.name);
        int status = jsonl ? shard_measure_jsonl(&got, path, want.name, e)
                           : shard_measure(&got, path, want.name, e);
        free(path);
        if (jsonl) /* the manifest counts no raw stream and frames for it */
            want.raw_bytes = got.raw_bytes, want.frames = got.frames;
        if (status != 0 || same_info(&want, &got, e) != 0)
            return -1;
        *records += got.records;
        if (jsonl)
            array_push(&d->jsonl, want);
        else
            array_push(&d->shards, want);
    }
    return 0;
}

static int is_stray(const struct dataset *d, const char *name)
{
    return shard_name_ok(name) && !listed(d, name);
}

int dataset_verify(const char *dir, uint64_t *shards, uint64_t *records,
                   struct err *e)
{
    struct dataset d = {.dir = xstrdup(dir), .manifest = {.fd = -1}};
    struct buf text = BUF_INIT(64u << 20);
    struct arena a = ARENA_INIT;
    struct val *m;
    uint64_t lines = 0;
    int status = -1;
    char *path = in_dir(&d, "manifest.json");
    *shards = *records = 0;
    if (io_read_file(&text, path, e) != 0)
        goto out;
    if (val_parse_json(&a, buf_span(&text), VAL_JSON_STRICT, &m, e) != 0) {
        err_wrap(e, "'%s'", path);
        goto out;
    }
    if (!span_is(val_gets(m, "format"), DATASET_FORMAT)) {
        err_set(e, ERR_SCHEMA, "'%s' is no manifest of km-export", path);
        goto out;
    }
    if (val_geti(m, "version", 0) != DATASET_VERSION) {
        err_set(e, ERR_VERSION, "'%s' has version %" PRId64 ", not %d", path,
                val_geti(m, "version", 0), DATASET_VERSION);
        goto out;
    }
    if (verify_list(&d, val_get(m, "shards"), false, records, e) != 0 ||
        verify_list(&d, val_get(m, "jsonl"), true, &lines, e) != 0)
        goto out;
    int stray = each_name(&d, is_stray, e);
    if (stray > 0)
        err_set(e, ERR_CORRUPT,
                "'%s' holds a shard that the manifest does not name", dir);
    if (stray != 0)
        goto out;
    *shards = d.shards.n;
    status = 0;
out:
    free(path);
    buf_release(&text);
    arena_release(&a);
    dataset_release(&d);
    return status;
}
