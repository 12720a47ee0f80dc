/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <zstd.h>

#include "io.h"
#include "mem.h"
#include "zio.h"

#define IN_BYTES       (256u << 10)
#define WINDOW_LOG_MAX 23 /* 8 MiB */

struct zsource {
    int fd;
    char *name;
    char in[IN_BYTES];
    size_t pos, n;
    bool eof, sniffed;
    ZSTD_DCtx *ctx; /* NULL = plain */
    size_t last;    /* last return of ZSTD_decompressStream, 0 at a border */
    uint64_t offset;
};

struct zsource *zsource_new(int fd, const char *name)
{
    struct zsource *s = xcalloc(1, sizeof(*s));

    s->fd = fd;
    s->name = xstrdup(name);
    return s;
}

static int fill(struct zsource *s, struct err *e)
{
    ssize_t k;

    do {
        k = read(s->fd, s->in, sizeof(s->in));
    } while (k < 0 && errno == EINTR);
    if (k < 0) {
        err_sys(e, "cannot read '%s'", s->name);
        return -1;
    }
    s->pos = 0;
    s->n = (size_t)k;
    s->eof = k == 0;
    return 0;
}

/* Do the first N bytes begin a zstd frame? Parallel compressors begin with a
 * skippable one. */
static bool is_zstd(const char *p, size_t n)
{
    static const unsigned char frame[4] = {0x28, 0xb5, 0x2f, 0xfd};
    static const unsigned char skippable[4] = {0x50, 0x2a, 0x4d, 0x18};
    unsigned char first = n ? (unsigned char)p[0] : 0;

    n = MIN(n, sizeof(frame));
    return memcmp(p, frame, n) == 0 ||
           (first >> 4 == 5 && memcmp(p + 1, skippable + 1, n - 1) == 0);
}

/* The magic may arrive byte by byte through a pipe. */
static int sniff(struct zsource *s, struct err *e)
{

    while (s->n < 4 && !s->eof) {
        ssize_t k = read(s->fd, s->in + s->n, sizeof(s->in) - s->n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return err_sys(e, "cannot read '%s'", s->name);
        s->eof = k == 0;
        s->n += (size_t)k;
        if (!is_zstd(s->in, s->n))
            break;
    }
    s->sniffed = true;
    if (s->n >= 4 && is_zstd(s->in, s->n)) {
        s->ctx = ZSTD_createDCtx();
        if (!s->ctx)
            return err_set(e, ERR_MEMORY, "no memory for zstd");
        ZSTD_DCtx_setParameter(s->ctx, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    }
    return 0;
}

ssize_t zsource_read(struct zsource *s, void *p, size_t n, struct err *e)
{
    if (!s->sniffed && sniff(s, e) < 0)
        return -1;
    if (n == 0)
        return 0;
    for (;;) {
        ZSTD_inBuffer in;
        ZSTD_outBuffer out = {p, n, 0};
        size_t r;

        if (s->pos == s->n && !s->eof && fill(s, e) < 0)
            return -1;
        if (!s->ctx) {
            size_t k = MIN(n, s->n - s->pos);
            memcpy(p, s->in + s->pos, k);
            s->pos += k;
            s->offset += k;
            return (ssize_t)k;
        }
        in = (ZSTD_inBuffer){s->in, s->n, s->pos};
        r = ZSTD_decompressStream(s->ctx, &out, &in);
        if (ZSTD_isError(r))
            return err_set(e, ERR_CORRUPT,
                           "'%s': zstd: %s, after byte %" PRIu64
                           " of the decoded stream",
                           s->name, ZSTD_getErrorName(r), s->offset);
        if (in.pos != s->pos || out.pos)
            s->last = r;
        s->pos = in.pos;
        s->offset += out.pos;
        if (out.pos)
            return (ssize_t)out.pos;
        if (s->eof && s->pos == s->n) {
            if (s->last != 0)
                return err_set(e, ERR_TRUNCATED,
                               "'%s' ends inside a zstd frame, after byte "
                               "%" PRIu64 " of the decoded stream",
                               s->name, s->offset);
            return 0;
        }
    }
}

uint64_t zsource_offset(const struct zsource *s)
{
    return s->offset;
}

void zsource_free(struct zsource *s)
{
    if (!s)
        return;
    ZSTD_freeDCtx(s->ctx);
    free(s->name);
    free(s);
}

struct zsink {
    int fd;
    char *name;
    ZSTD_CCtx *ctx; /* NULL = plain */
    size_t frame;
    struct buf raw;
    int level;
    uint64_t frames;
    char *out;
    size_t out_cap;
    int error; /* once failed, always failed */
};

/* Bytes gathered before they are written: plain output, and the largest zstd
 * frame when no frame size is asked for. */
#define PLAIN_BYTES (64u << 10)
#define FRAME_BYTES (4u << 20)

struct zsink *zsink_new(int fd, const char *name, int level, size_t frame)
{
    struct zsink *s = xcalloc(1, sizeof(*s));

    s->fd = fd;
    s->name = xstrdup(name);
    s->level = level;
    s->frame = frame ? frame : FRAME_BYTES;
    buf_init(&s->raw, SIZE_MAX - 1);
    if (level) {
        s->ctx = ZSTD_createCCtx();
        if (s->ctx) {
            ZSTD_CCtx_setParameter(s->ctx, ZSTD_c_compressionLevel, level);
            ZSTD_CCtx_setParameter(s->ctx, ZSTD_c_checksumFlag, 1);
            ZSTD_CCtx_setParameter(s->ctx, ZSTD_c_contentSizeFlag, 1);
            ZSTD_CCtx_setParameter(s->ctx, ZSTD_c_windowLog, 22);
        }
    }
    return s;
}

static int put(struct zsink *s, const void *p, size_t n, struct err *e)
{
    if (io_write_full(s->fd, p, n, e) < 0) {
        s->error = 1;
        return err_wrap(e, "'%s'", s->name);
    }
    return 0;
}

/* Write out what is gathered: one whole zstd frame, or plain bytes. */
static int emit(struct zsink *s, struct err *e)
{
    size_t r, bound;
    int rc;

    if (s->raw.n == 0)
        return 0;
    if (!s->level) {
        rc = put(s, s->raw.p, s->raw.n, e);
        buf_clear(&s->raw);
        return rc;
    }
    if (!s->ctx)
        return err_set(e, ERR_MEMORY, "no memory for zstd");
    bound = ZSTD_compressBound(s->raw.n);
    if (bound > s->out_cap) {
        s->out = xrealloc(s->out, bound);
        s->out_cap = bound;
    }
    r = ZSTD_compress2(s->ctx, s->out, s->out_cap, s->raw.p, s->raw.n);
    if (ZSTD_isError(r))
        return err_set(e, ERR_INTERNAL, "zstd: %s", ZSTD_getErrorName(r));
    buf_clear(&s->raw);
    s->frames++;
    return put(s, s->out, r, e);
}

int zsink_write(struct zsink *s, const void *p, size_t n, struct err *e)
{
    if (s->error)
        return err_set(e, ERR_SYS, "'%s' failed before", s->name);
    buf_add(&s->raw, p, n);
    if (!s->level && s->raw.n >= PLAIN_BYTES)
        return emit(s, e);
    return 0;
}

int zsink_boundary(struct zsink *s, struct err *e)
{
    return s->level && s->raw.n >= s->frame ? emit(s, e) : 0;
}

int zsink_flush(struct zsink *s, struct err *e)
{
    /* a zstd frame is never cut short by a flush: the bytes must not depend
     * on who was slow */
    return s->level ? 0 : emit(s, e);
}

int zsink_finish(struct zsink *s, struct err *e)
{
    return emit(s, e);
}

uint64_t zsink_frames(const struct zsink *s)
{
    return s->frames;
}

void zsink_free(struct zsink *s)
{
    if (!s)
        return;
    ZSTD_freeCCtx(s->ctx);
    buf_release(&s->raw);
    free(s->out);
    free(s->name);
    free(s);
}
