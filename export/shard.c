/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <fcntl.h>
#include <zstd.h>

#include "export/shard.h"
#include "io.h"
#include "mem.h"
#include "rec.h"
#include "schema.h"

#define CHUNK ((size_t)1 << 17)

void shard_name(char out[SHARD_NAME_MAX], const char *kind, const char *split,
                unsigned index, const char *suffix)
{
    bool train = strcmp(split, "train") == 0;
    snprintf(out, SHARD_NAME_MAX, "%s%s%s-%05u.%s", kind, train ? "" : "-",
             train ? "" : split, index, suffix);
}

bool shard_name_ok(const char *name)
{
    static const char *const kinds[] = {"sft", "rl_prompt", "grpo"};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        size_t n = strlen(kinds[i]);
        if (strncmp(name, kinds[i], n) != 0)
            continue;
        const char *p = name + n;
        if (strncmp(p, "-valid", 6) == 0)
            p += 6;
        size_t digits = *p == '-' ? strspn(p + 1, "0123456789") : 0;
        if (digits < 5 || digits > 9)
            continue;
        p += 1 + digits;
        return strcmp(p, ".msgpack.zst") == 0 || strcmp(p, ".jsonl") == 0;
    }
    return false;
}

/* State of one pass over a compressed file. */
struct pass {
    struct sha256 *file, *raw;
    ZSTD_DCtx *ctx;
    char *out;
    size_t last; /* of the decompressor: 0 = between frames */
};

static int feed(struct pass *p, const char *data, size_t n,
                struct shard_info *info, const char *name, struct err *e)
{
    ZSTD_inBuffer in = {data, n, 0};
    sha256_add(p->file, data, n);
    info->bytes += n;
    for (;;) {
        ZSTD_outBuffer out = {p->out, CHUNK, 0};
        size_t before = in.pos;
        size_t r = ZSTD_decompressStream(p->ctx, &out, &in);
        if (ZSTD_isError(r))
            return err_set(e, ERR_CORRUPT, "'%s': zstd: %s near byte %" PRIu64,
                           name, ZSTD_getErrorName(r), info->bytes);
        bool moved = in.pos > before || out.pos > 0;
        if (r == 0 && moved)
            info->frames++;
        if (moved)
            p->last = r;
        sha256_add(p->raw, p->out, out.pos);
        info->raw_bytes += out.pos;
        if (in.pos == in.size && out.pos < CHUNK)
            return 0;
    }
}

static int digests(struct shard_info *info, int fd, const char *name,
                   struct err *e)
{
    struct pass p = {sha256_new(), sha256_new(), ZSTD_createDCtx(),
                     xmalloc(CHUNK), 0};
    char *data = xmalloc(CHUNK);
    ssize_t n;
    int status = -1;
    ZSTD_DCtx_setParameter(p.ctx, ZSTD_d_windowLogMax, 23);
    while ((n = io_read_full(fd, data, CHUNK, e)) > 0)
        if (feed(&p, data, (size_t)n, info, name, e) != 0)
            goto out;
    if (n < 0)
        err_wrap(e, "'%s'", name);
    else if (p.last != 0)
        err_set(e, ERR_TRUNCATED, "'%s' ends inside a zstd frame", name);
    else
        status = 0;
out:
    sha256_hex(p.file, info->sha256);
    sha256_hex(p.raw, info->raw_sha256);
    sha256_free(p.file);
    sha256_free(p.raw);
    ZSTD_freeDCtx(p.ctx);
    free(p.out);
    free(data);
    return status;
}

static int check_records(struct shard_info *info, int fd, const char *name,
                         struct err *e)
{
    struct arena a = ARENA_INIT;
    struct rec_reader *r = rec_reader_new(fd, name, false);
    struct val *rec;
    int got;
    while ((got = rec_read(r, &a, &rec, e)) == KM_OK) {
        info->records++;
        if (schema_check(&a, rec, e) != 0) {
            err_wrap(e, "'%s', record %" PRIu64, name, info->records);
            break;
        }
        arena_reset(&a);
    }
    rec_reader_free(r);
    arena_release(&a);
    return got == KM_END ? 0 : -1;
}

static void reset(struct shard_info *info)
{
    info->records = info->raw_bytes = info->bytes = info->frames = 0;
}

int shard_measure(struct shard_info *info, const char *path, const char *name,
                  struct err *e)
{
    int status = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(e, "cannot open '%s'", name);
    reset(info);
    if (digests(info, fd, name, e) == 0) {
        if (lseek(fd, 0, SEEK_SET) == 0)
            status = check_records(info, fd, name, e);
        else
            err_sys(e, "cannot read '%s' again", name);
    }
    close(fd);
    return status;
}

int shard_measure_jsonl(struct shard_info *info, const char *path,
                        const char *name, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(e, "cannot open '%s'", name);
    struct sha256 *h = sha256_new();
    char *data = xmalloc(CHUNK);
    ssize_t n;
    reset(info);
    while ((n = io_read_full(fd, data, CHUNK, e)) > 0) {
        sha256_add(h, data, (size_t)n);
        info->bytes += (uint64_t)n;
        for (const char *p = data;
             (p = memchr(p, '\n', (size_t)(data + n - p))); p++)
            info->records++;
    }
    info->raw_bytes = info->bytes;
    sha256_hex(h, info->sha256);
    memcpy(info->raw_sha256, info->sha256, sizeof(info->sha256));
    sha256_free(h);
    free(data);
    close(fd);
    return n < 0 ? -1 : 0;
}

static void set_count(struct arena *a, struct val *m, const char *key,
                      uint64_t n)
{
    val_set(a, m, key, val_int(a, (int64_t)n));
}

struct val *shard_val(struct arena *a, const struct shard_info *info)
{
    struct val *m = val_map(a);
    val_set(a, m, "name", val_strz(a, info->name));
    val_set(a, m, "kind", val_strz(a, info->kind));
    val_set(a, m, "split", val_strz(a, info->split));
    set_count(a, m, "records", info->records);
    set_count(a, m, "raw_bytes", info->raw_bytes);
    set_count(a, m, "bytes", info->bytes);
    set_count(a, m, "frames", info->frames);
    val_set(a, m, "sha256", val_strz(a, info->sha256));
    val_set(a, m, "raw_sha256", val_strz(a, info->raw_sha256));
    return m;
}

static int get_text(char *out, size_t cap, const struct val *v, const char *key,
                    struct err *e)
{
    struct span s = val_gets(v, key);
    if (s.n == 0 || s.n >= cap || memchr(s.p, '\0', s.n))
        return err_set(e, ERR_SCHEMA, "'%s' of a shard is not as it must be",
                       key);
    memcpy(out, s.p, s.n);
    out[s.n] = '\0';
    return 0;
}

int shard_from_val(struct shard_info *info, const struct val *v, struct err *e)
{
    if (get_text(info->name, sizeof(info->name), v, "name", e) != 0 ||
        get_text(info->kind, sizeof(info->kind), v, "kind", e) != 0 ||
        get_text(info->split, sizeof(info->split), v, "split", e) != 0 ||
        get_text(info->sha256, sizeof(info->sha256), v, "sha256", e) != 0 ||
        get_text(info->raw_sha256, sizeof(info->raw_sha256), v, "raw_sha256",
                 e) != 0)
        return -1;
    if (!shard_name_ok(info->name))
        return err_set(e, ERR_SCHEMA, "'%s' is no name of a shard", info->name);
    info->records = (uint64_t)val_geti(v, "records", -1);
    info->raw_bytes = (uint64_t)val_geti(v, "raw_bytes", -1);
    info->bytes = (uint64_t)val_geti(v, "bytes", -1);
    info->frames = (uint64_t)val_geti(v, "frames", -1);
    return 0;
}
