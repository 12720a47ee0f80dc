/* SPDX-License-Identifier: MIT */
/* The record stream: see rec.h for its layout. */
#include "base.h"

#include "hash.h"
#include "map.h"
#include "rec.h"
#include "schema.h"

#define JSON_LINE_MAX (4 * (size_t)REC_MAX) /* escapes take up to 6 bytes */
#define KIND_MAX      64                    /* bytes of a kind */

struct rec_counts {
    struct map kinds; /* kind -> struct rec_tally */
    struct rec_tally all;
};

/* The counts are one map of the end record: so many kinds and no more. */
static int check_kinds(const struct rec_counts *c, const struct val *rec,
                       struct err *e)
{
    if (c->kinds.n < VAL_KEYS || map_has(&c->kinds, rec_kind(rec)))
        return 0;
    return err_set(e, ERR_TOO_LARGE, "more than %d kinds of records", VAL_KEYS);
}

static void count(struct rec_counts *c, const struct val *rec)
{
    struct rec_tally **t =
        (struct rec_tally **)map_ref(&c->kinds, rec_kind(rec));
    struct span state = val_gets(rec, "state");

    if (!*t)
        *t = xcalloc(1, sizeof(**t));
    c->all.total++;
    (*t)->total++;
    if (span_is(state, "rejected")) {
        c->all.rejected++;
        (*t)->rejected++;
    } else if (span_is(state, "failed")) {
        c->all.failed++;
        (*t)->failed++;
    } else {
        c->all.ok++;
        (*t)->ok++;
    }
}

static struct val *counts_val(struct arena *a, const struct rec_counts *c)
{
    struct val *m = val_map(a);

    for (size_t i = 0; i < c->kinds.n; i++) {
        const struct rec_tally *t = c->kinds.entries[i].value;
        struct val *k = val_map(a);
        val_set(a, k, "ok", val_int(a, (int64_t)t->ok));
        val_set(a, k, "rejected", val_int(a, (int64_t)t->rejected));
        val_set(a, k, "failed", val_int(a, (int64_t)t->failed));
        val_set(a, m, arena_strdup(a, c->kinds.entries[i].key), k);
    }
    return m;
}

static void counts_release(struct rec_counts *c)
{
    for (size_t i = 0; i < c->kinds.n; i++)
        free(c->kinds.entries[i].value);
    map_release(&c->kinds);
}

/* ---- reading ---- */

struct rec_reader {
    struct zsource *src;
    char *name;
    bool bare, started, ended, has_peek, skip;
    enum rec_format format;
    struct buf in; /* bytes not yet consumed, from pos on */
    size_t pos;
    bool eof;
    uint64_t offset; /* of in.p[pos] in the decoded stream */
    uint64_t number; /* records handed out */
    uint64_t line;
    struct sha256 *digest;
    struct rec_counts counts;
    struct arena head_arena;
    struct val *header;
};

struct rec_reader *rec_reader_new(int fd, const char *name, bool bare)
{
    struct rec_reader *r = xcalloc(1, sizeof(*r));

    r->src = zsource_new(fd, name);
    r->name = xstrdup(name);
    r->bare = bare;
    buf_init(&r->in, JSON_LINE_MAX + (1u << 20));
    r->digest = sha256_new();
    return r;
}

/* Message with where it happened; the code stays. Always KM_DEAD. */
static int dead(struct rec_reader *r, struct err *e)
{
    r->ended = true;
    err_wrap(e, "'%s', record %" PRIu64 " at byte %" PRIu64, r->name,
             r->number + 1, r->offset);
    return KM_DEAD;
}

static int more(struct rec_reader *r, struct err *e)
{
    /* read at least as much as is there: large records then cost few scans */
    size_t have = r->in.n - r->pos, want = MAX(have, (size_t)65536);
    ssize_t k;
    char *to;

    if (r->pos) {
        memmove(r->in.p, r->in.p + r->pos, have);
        buf_setlen(&r->in, have);
        r->pos = 0;
    }
    want = MIN(want, r->in.max - r->in.n);
    to = buf_reserve(&r->in, want);
    if (!to || !want)
        return err_set(e, ERR_TOO_LARGE, "record is larger than the limit");
    k = zsource_read(r->src, to, want, e);
    if (k < 0)
        return -1;
    if (k == 0)
        r->eof = true;
    buf_setlen(&r->in, r->in.n + (size_t)k);
    return 0;
}

static void consume(struct rec_reader *r, size_t n)
{
    r->pos += n;
    r->offset += n;
}

static int start(struct rec_reader *r, struct err *e)
{
    unsigned char c;

    r->started = true;
    while (!r->eof && r->in.n == r->pos) {
        if (more(r, e) < 0)
            return dead(r, e);
    }
    if (r->in.n == r->pos) {
        if (r->bare) {
            r->format = REC_JSON;
            return 0;
        }
        err_set(e, ERR_TRUNCATED, "the stream is empty");
        err_hint(e, "the program before in the pipe failed, or wrote nothing");
        return dead(r, e);
    }
    c = (unsigned char)r->in.p[r->pos];
    if (c == '{' || c == '\n' || c == ' ') {
        r->format = REC_JSON;
    } else if ((c & 0xf0) == 0x80 || c == 0xde || c == 0xdf) {
        r->format = REC_MSGPACK;
    } else {
        err_set(e, ERR_CORRUPT,
                "not a record stream (first byte 0x%02x is neither msgpack "
                "map nor '{')",
                c);
        return dead(r, e);
    }
    return 0;
}

/* One raw msgpack record: sets *REC to its bytes inside r->in. */
static int next_packed(struct rec_reader *r, struct span *rec, struct err *e)
{
    for (;;) {
        struct span in = {r->in.p + r->pos, r->in.n - r->pos};
        size_t used;
        int rc = in.n ? val_scan(in, &used, e) : 1;

        if (rc == 0) {
            if (used > REC_MAX) {
                err_set(e, ERR_TOO_LARGE, "record of %zu bytes", used);
                return dead(r, e);
            }
            *rec = (struct span){in.p, used};
            return 0;
        }
        if (rc < 0)
            return dead(r, e);
        if (r->eof) {
            err_set(e, ERR_TRUNCATED,
                    "the stream is truncated (no end record)");
            err_hint(e, "the program that wrote it did not finish: run it "
                        "again");
            return dead(r, e);
        }
        if (in.n > REC_MAX) {
            err_set(e, ERR_TOO_LARGE, "record is larger than %u bytes",
                    REC_MAX);
            return dead(r, e);
        }
        if (more(r, e) < 0)
            return dead(r, e);
    }
}

/* Drop the rest of a line that was too long. */
static int skip_line(struct rec_reader *r, struct err *e)
{
    while (r->skip) {
        char *p = r->in.p + r->pos;
        size_t n = r->in.n - r->pos;
        char *nl = n ? memchr(p, '\n', n) : NULL;

        consume(r, nl ? (size_t)(nl - p) + 1 : n);
        r->skip = !nl && !r->eof;
        if (r->skip && more(r, e) < 0)
            return dead(r, e);
    }
    return 0;
}

/* One JSON line without its line end; KM_END at the end of the input. */
static int next_line(struct rec_reader *r, struct span *line, size_t *used,
                     struct err *e)
{
    size_t seen = 0;
    int rc = skip_line(r, e);

    if (rc)
        return rc;
    for (;;) {
        char *p = r->in.p + r->pos;
        size_t n = r->in.n - r->pos;
        char *nl = n > seen ? memchr(p + seen, '\n', n - seen) : NULL;

        if (nl || (r->eof && n)) {
            size_t len = nl ? (size_t)(nl - p) : n;
            *line = (struct span){p, len};
            *used = nl ? len + 1 : len;
            r->line++;
            return 0;
        }
        if (r->eof)
            return KM_END;
        seen = n;
        if (n > JSON_LINE_MAX) {
            r->skip = true;
            r->line++;
            err_set(e, ERR_TOO_LARGE, "line is larger than %zu bytes",
                    JSON_LINE_MAX);
            err_wrap(e, "'%s', line %" PRIu64 " at byte %" PRIu64, r->name,
                     r->line, r->offset);
            return KM_RECORD;
        }
        if (more(r, e) < 0)
            return dead(r, e);
    }
}

static int check_header(struct rec_reader *r, const struct val *h,
                        struct err *e)
{
    int64_t v = val_geti(h, "v", -1);

    if (!span_is(rec_kind(h), "header")) {
        err_set(e, ERR_SCHEMA, "the stream does not begin with a header");
        if (r->format == REC_JSON)
            err_hint(e, "--bare reads JSON lines without header and end");
        return dead(r, e);
    }
    if (v < 1 || v > REC_VERSION) {
        err_set(e, ERR_VERSION,
                "stream of schema version %" PRId64
                ", this program reads up to %d",
                v, REC_VERSION);
        err_hint(e, "use a newer version of the program");
        return dead(r, e);
    }
    return 0;
}

static int check_end(struct rec_reader *r, struct val *end, struct err *e)
{
    char hex[HASH_HEX + 1];
    struct arena a = ARENA_INIT;
    bool same;

    sha256_hex(r->digest, hex);
    if (!span_is(val_gets(end, "digest"), hex)) {
        err_set(e, ERR_CORRUPT,
                "digest of the stream does not match its end "
                "record");
        return dead(r, e);
    }
    same = val_equal(counts_val(&a, &r->counts), val_get(end, "counts"));
    arena_release(&a);
    if (!same) {
        err_set(e, ERR_CORRUPT, "counts of the end record do not match");
        return dead(r, e);
    }
    return 0;
}

static int after_end(struct rec_reader *r, struct err *e)
{
    for (;;) {
        /* an empty line is none of JSON lines */
        while (r->format == REC_JSON && r->pos < r->in.n &&
               strchr(" \t\r\n", r->in.p[r->pos]) && r->in.p[r->pos])
            consume(r, 1);
        if (r->pos < r->in.n || r->eof)
            break;
        if (more(r, e) < 0)
            return dead(r, e);
    }
    if (r->pos < r->in.n) {
        err_set(e, ERR_CORRUPT, "data after the end record");
        return dead(r, e);
    }
    r->ended = true;
    return KM_END;
}

/* Whatever its form, a record has a kind and can be written packed. */
static int check_form(const struct val *v, size_t bytes, struct err *e)
{
    struct buf packed = BUF_INIT(REC_MAX);
    struct span kind = rec_kind(v);
    int rc = 0;

    if (v->type != VAL_MAP || !kind.p)
        return err_set(e, ERR_SCHEMA, "not a map with a 'kind'");
    if (kind.n > KIND_MAX)
        return err_set(e, ERR_SCHEMA, "'kind' of %zu bytes", kind.n);
    if (!val_bounded(v, 0))
        return err_set(e, ERR_TOO_LARGE,
                       "nested deeper than %d, or a map of more than %d keys",
                       VAL_DEPTH, VAL_KEYS);
    /* "1.5," in JSON takes 9 bytes packed, and nothing grows more */
    if (bytes > REC_MAX / 3 && val_pack(&packed, v) != 0)
        rc = err_set(e, ERR_TOO_LARGE, "record is larger than %u bytes",
                     REC_MAX);
    buf_release(&packed);
    return rc;
}

static int read_packed(struct rec_reader *r, struct arena *a, struct val **out,
                       struct err *e)
{
    struct span raw, kind;
    size_t used;
    int rc = next_packed(r, &raw, e);

    if (rc)
        return rc;
    raw = arena_span(a, raw);
    if (val_unpack(a, raw, &used, out, e) != 0)
        return dead(r, e);
    if (check_form(*out, 0, e) != 0)
        return dead(r, e);
    kind = rec_kind(*out);
    if (span_is(kind, "end")) {
        rc = check_end(r, *out, e);
        consume(r, used);
        return rc ? rc : after_end(r, e);
    }
    sha256_add(r->digest, raw.p, raw.n);
    consume(r, used);
    return 0;
}

static int read_json(struct rec_reader *r, struct arena *a, struct val **out,
                     struct err *e)
{
    for (;;) {
        struct span line;
        size_t used = 0, i = 0;
        int rc = next_line(r, &line, &used, e);

        if (rc == KM_END && r->bare) {
            r->ended = true;
            return KM_END;
        }
        if (rc == KM_END) {
            err_set(e, ERR_TRUNCATED,
                    "the stream is truncated (no end record)");
            err_hint(e, "--bare reads JSON lines without header and end");
            return dead(r, e);
        }
        if (rc)
            return rc;
        while (i < line.n && strchr(" \t\r", line.p[i]))
            i++;
        if (i == line.n) {
            consume(r, used);
            continue;
        }
        rc = val_parse_json(a, line, VAL_JSON_STRICT, out, e);
        if (rc == 0)
            rc = check_form(*out, line.n, e);
        if (rc < 0)
            err_wrap(e, "'%s', line %" PRIu64 " at byte %" PRIu64, r->name,
                     r->line, r->offset);
        consume(r, used);
        if (rc < 0)
            return KM_RECORD;
        if (span_is(rec_kind(*out), "end"))
            return after_end(r, e);
        return 0;
    }
}

static int read_any(struct rec_reader *r, struct arena *a, struct val **out,
                    struct err *e)
{
    return r->format == REC_JSON ? read_json(r, a, out, e)
                                 : read_packed(r, a, out, e);
}

/* Read the header, or, in a bare stream that has none, keep the first record
 * for the next rec_read. */
static int open_stream(struct rec_reader *r, struct err *e)
{
    struct val *v;
    int rc = start(r, e);

    if (rc)
        return rc;
    for (;;) {
        rc = read_any(r, &r->head_arena, &v, e);
        if (rc == KM_RECORD && !r->bare)
            return dead(r, e);
        if (rc)
            return rc;
        if (r->bare && !span_is(rec_kind(v), "header")) {
            r->header = v;
            r->has_peek = true;
            return 0;
        }
        r->header = v;
        return check_header(r, v, e);
    }
}

int rec_header(struct rec_reader *r, const struct val **out, struct err *e)
{
    int rc = 0;

    if (!r->started) {
        rc = open_stream(r, e);
        if (rc == KM_END)
            rc = 0;
    }
    *out = r->has_peek ? NULL : r->header;
    return rc;
}

int rec_read(struct rec_reader *r, struct arena *a, struct val **out,
             struct err *e)
{
    int rc;

    if (!r->started) {
        rc = open_stream(r, e);
        if (rc)
            return rc;
    }
    if (r->has_peek) {
        *out = val_copy(a, r->header);
        r->has_peek = false;
        r->header = NULL;
    } else {
        if (r->ended)
            return KM_END;
        rc = read_any(r, a, out, e);
        if (rc)
            return rc;
        if (span_is(rec_kind(*out), "header")) {
            err_set(e, ERR_CORRUPT, "a second header inside the stream");
            return dead(r, e);
        }
    }
    if (check_kinds(&r->counts, *out, e) != 0)
        return dead(r, e);
    count(&r->counts, *out);
    r->number++;
    return KM_OK;
}

enum rec_format rec_format(const struct rec_reader *r)
{
    return r->format;
}

uint64_t rec_number(const struct rec_reader *r)
{
    return r->number;
}

void rec_reader_free(struct rec_reader *r)
{
    if (!r)
        return;
    zsource_free(r->src);
    buf_release(&r->in);
    sha256_free(r->digest);
    counts_release(&r->counts);
    arena_release(&r->head_arena);
    free(r->name);
    free(r);
}

/* ---- writing ---- */

struct rec_writer {
    struct zsink *sink;
    enum rec_format format;
    struct sha256 *digest;
    struct rec_counts counts;
    struct buf scratch;
    struct arena arena;
};

struct rec_writer *rec_writer_new(int fd, const char *name,
                                  enum rec_format format, int zstd_level)
{
    struct rec_writer *w = xcalloc(1, sizeof(*w));

    w->sink = zsink_new(fd, name, zstd_level, 4u << 20);
    w->format = format;
    w->digest = sha256_new();
    buf_init(&w->scratch, JSON_LINE_MAX);
    return w;
}

static int put_val(struct rec_writer *w, const struct val *v, bool digest,
                   struct err *e)
{
    int rc;

    if (!val_bounded(v, 0))
        return err_set(e, ERR_TOO_LARGE,
                       "record is nested deeper than %d, or has a map of more "
                       "than %d keys",
                       VAL_DEPTH, VAL_KEYS);
    buf_clear(&w->scratch);
    if (w->format == REC_JSON) {
        rc = val_json(&w->scratch, v);
        if (rc == 0)
            rc = buf_addc(&w->scratch, '\n');
    } else {
        rc = val_pack(&w->scratch, v);
        if (rc == 0 && w->scratch.n > REC_MAX)
            rc = -1;
    }
    if (rc < 0)
        return err_set(e, ERR_TOO_LARGE, "record is larger than %u bytes",
                       REC_MAX);
    if (digest)
        sha256_add(w->digest, w->scratch.p, w->scratch.n);
    if (zsink_write(w->sink, w->scratch.p, w->scratch.n, e) < 0)
        return -1;
    return zsink_boundary(w->sink, e);
}

int rec_write_header(struct rec_writer *w, const char *program,
                     const struct val *options, const struct val *upstream,
                     struct err *e)
{
    struct arena *a = &w->arena;
    struct val *h = val_map(a), *chain = val_list(a), *old;
    int rc;

    old = val_get(upstream, "chain");
    for (size_t i = 0; i < val_len(old); i++)
        val_push(a, chain, val_copy(a, val_at(old, i)));
    if (upstream) {
        static const char *const keys[] = {"program", "version", "options"};
        struct val *link = val_map(a);
        for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
            const struct val *v = val_get(upstream, keys[i]);
            if (v)
                val_set(a, link, keys[i], val_copy(a, v));
        }
        val_push(a, chain, link);
    }
    val_set(a, h, "kind", val_strz(a, "header"));
    val_set(a, h, "v", val_int(a, REC_VERSION));
    val_set(a, h, "program", val_strz(a, program));
    val_set(a, h, "version", val_strz(a, KM_VERSION));
    val_set(a, h, "options", options ? val_copy(a, options) : val_map(a));
    val_set(a, h, "chain", chain);
    rc = put_val(w, h, true, e);
    arena_reset(a);
    return rc;
}

int rec_write(struct rec_writer *w, const struct val *rec, struct err *e)
{
    if (check_kinds(&w->counts, rec, e) < 0 || put_val(w, rec, true, e) < 0)
        return -1;
    count(&w->counts, rec);
    return 0;
}

int rec_write_packed(struct rec_writer *w, struct span packed, struct err *e)
{
    int rc = 0;

    while (rc == 0 && packed.n) {
        struct val *v;
        size_t used;
        rc = val_unpack(&w->arena, packed, &used, &v, e);
        if (rc > 0)
            rc = err_set(e, ERR_TRUNCATED, "record of a worker is cut");
        if (rc == 0)
            rc = rec_write(w, v, e);
        packed.p += used;
        packed.n -= used;
        arena_reset(&w->arena);
    }
    return rc;
}

int rec_flush(struct rec_writer *w, struct err *e)
{
    return zsink_flush(w->sink, e);
}

int rec_write_end(struct rec_writer *w, struct err *e)
{
    struct arena *a = &w->arena;
    struct val *v = val_map(a);
    char hex[HASH_HEX + 1];
    int rc;

    val_set(a, v, "kind", val_strz(a, "end"));
    val_set(a, v, "counts", counts_val(a, &w->counts));
    sha256_hex(w->digest, hex);
    if (w->format == REC_MSGPACK)
        val_set(a, v, "digest", val_strz(a, hex));
    rc = put_val(w, v, false, e);
    arena_reset(a);
    return rc < 0 ? rc : zsink_finish(w->sink, e);
}

struct rec_tally rec_written(const struct rec_writer *w)
{
    return w->counts.all;
}

void rec_writer_free(struct rec_writer *w)
{
    if (!w)
        return;
    zsink_free(w->sink);
    sha256_free(w->digest);
    counts_release(&w->counts);
    buf_release(&w->scratch);
    arena_release(&w->arena);
    free(w);
}
