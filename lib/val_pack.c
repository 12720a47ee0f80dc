/* SPDX-License-Identifier: MIT */
/*
 * msgpack. Writing is msgpack-c's packer. Reading is ours: msgpack-c trusts
 * declared sizes (five bytes make it reserve gigabytes) and reports too deep
 * nesting as lack of memory, so a checking pass would be needed anyway, and
 * that pass is most of a decoder.
 */
#include "base.h"

#include <math.h>
#include <msgpack.h>

#include "utf8.h"
#include "val.h"

struct cursor {
    const unsigned char *p;
    size_t n, pos;
    struct arena *a; /* NULL: only measure */
    struct err *e;
};

enum { MORE = 1, BAD = -1 };

static int bad(struct cursor *c, const char *what)
{
    err_set(c->e, ERR_CORRUPT, "msgpack: %s at byte %zu", what, c->pos);
    return BAD;
}

/* Big-endian unsigned of N bytes at the cursor. */
static int take(struct cursor *c, int n, uint64_t *out)
{
    uint64_t v = 0;

    if (c->n - c->pos < (size_t)n)
        return MORE;
    for (int i = 0; i < n; i++)
        v = v << 8 | c->p[c->pos + (size_t)i];
    c->pos += (size_t)n;
    *out = v;
    return 0;
}

static int decode(struct cursor *c, int depth, struct val **out);

static int decode_str(struct cursor *c, uint64_t n, struct span *out)
{
    if (n > c->n - c->pos)
        return MORE;
    *out = (struct span){(const char *)c->p + c->pos, (size_t)n};
    /* measuring comes before decoding: once is enough */
    if (c->a && utf8_valid(*out) != out->n)
        return bad(c, "text is not UTF-8");
    c->pos += (size_t)n;
    return 0;
}

static int decode_list(struct cursor *c, uint64_t n, int depth,
                       struct val **out)
{
    struct val *list = NULL;

    if (depth > VAL_DEPTH)
        return bad(c, "nested too deep");
    /* each item needs a byte: nothing is reserved for what cannot be there */
    if (n > c->n - c->pos)
        return MORE;
    if (c->a)
        *out = list = val_list(c->a);
    for (uint64_t i = 0; i < n; i++) {
        struct val *v = NULL;
        int rc = decode(c, depth + 1, &v);
        if (rc)
            return rc;
        if (list)
            val_push(c->a, list, v);
    }
    return 0;
}

/* Length of a text whose lead byte is B; -1 when it is not a text. */
static int str_length(struct cursor *c, unsigned char b, uint64_t *n)
{
    if (b >= 0xa0 && b <= 0xbf) {
        *n = b & 31;
        return 0;
    }
    if (b >= 0xd9 && b <= 0xdb)
        return take(c, 1 << (b - 0xd9), n);
    return BAD;
}

static int decode_map(struct cursor *c, uint64_t n, int depth, struct val **out)
{
    struct val *map = NULL;

    if (n > (c->n - c->pos) / 2)
        return MORE;
    if (depth > VAL_DEPTH)
        return bad(c, "nested too deep");
    if (n > VAL_KEYS)
        return bad(c, "map with too many keys");
    if (c->a)
        *out = map = val_map(c->a);
    for (uint64_t i = 0; i < n; i++) {
        struct span key;
        struct val *v = NULL;
        uint64_t lead, len;
        int rc = take(c, 1, &lead);

        if (rc)
            return rc;
        rc = str_length(c, (unsigned char)lead, &len);
        if (rc == BAD)
            return bad(c, "map key is not a text");
        if (rc || (rc = decode_str(c, len, &key)))
            return rc;
        if (memchr(key.p, 0, key.n))
            return bad(c, "map key holds a NUL");
        rc = decode(c, depth + 1, &v);
        if (rc)
            return rc;
        if (map) {
            const char *k = arena_strdup(c->a, key);
            if (val_get(map, k))
                return bad(c, "map has the same key twice");
            val_set(c->a, map, k, v);
        }
    }
    return 0;
}

static int decode_int(struct cursor *c, unsigned char b, struct val **out)
{
    uint64_t u;
    int64_t i;
    int size = 1 << (b & 3), rc = take(c, size, &u);

    if (rc)
        return rc;
    if (b >= 0xd0) { /* signed: extend */
        int shift = 64 - 8 * size;
        i = (int64_t)(u << shift) >> shift;
    } else if (u > INT64_MAX) {
        return bad(c, "integer beyond int64");
    } else {
        i = (int64_t)u;
    }
    if (c->a)
        *out = val_int(c->a, i);
    return 0;
}

static int decode_float(struct cursor *c, bool wide, struct val **out)
{
    uint64_t u;
    double f;
    int rc = take(c, wide ? 8 : 4, &u);

    if (rc)
        return rc;
    if (wide) {
        memcpy(&f, &u, sizeof(f));
    } else {
        uint32_t w = (uint32_t)u;
        float g;
        memcpy(&g, &w, sizeof(g));
        f = (double)g;
    }
    if (!isfinite(f))
        return bad(c, "number is not finite");
    if (c->a)
        *out = val_float(c->a, f);
    return 0;
}

static int decode(struct cursor *c, int depth, struct val **out)
{
    uint64_t lead, n = 0;
    unsigned char b;
    int rc = take(c, 1, &lead);

    if (rc)
        return rc;
    b = (unsigned char)lead;
    if (b <= 0x7f || b >= 0xe0) {
        if (c->a)
            *out = val_int(c->a, (int8_t)b);
        return 0;
    }
    if (b <= 0x8f)
        return decode_map(c, b & 15, depth, out);
    if (b <= 0x9f)
        return decode_list(c, b & 15, depth, out);
    if (b == 0xc0 || b == 0xc2 || b == 0xc3) {
        if (c->a)
            *out = b == 0xc0 ? val_nil(c->a) : val_bool(c->a, b == 0xc3);
        return 0;
    }
    if (b == 0xca || b == 0xcb)
        return decode_float(c, b == 0xcb, out);
    if (b >= 0xcc && b <= 0xd3)
        return decode_int(c, b, out);
    if (b >= 0xdc) {
        rc = take(c, b & 1 ? 4 : 2, &n);
        if (rc)
            return rc;
        return b <= 0xdd ? decode_list(c, n, depth, out)
                         : decode_map(c, n, depth, out);
    }
    rc = str_length(c, b, &n);
    if (rc == 0) {
        struct span s;
        rc = decode_str(c, n, &s);
        if (rc == 0 && c->a) {
            *out = val_nil(c->a);
            (*out)->type = VAL_STR;
            (*out)->s = s;
        }
        return rc;
    }
    return rc == MORE ? MORE : bad(c, "type that no record has");
}

int val_unpack(struct arena *a, struct span in, size_t *used, struct val **out,
               struct err *e)
{
    struct cursor c = {(const unsigned char *)in.p, in.n, 0, a, e};
    int rc;

    *out = NULL;
    rc = decode(&c, 1, out);
    *used = c.pos;
    return rc;
}

int val_scan(struct span in, size_t *used, struct err *e)
{
    struct cursor c = {(const unsigned char *)in.p, in.n, 0, NULL, e};
    int rc = decode(&c, 1, NULL);

    *used = c.pos;
    return rc;
}

static int write_buf(void *data, const char *p, size_t n)
{
    return buf_add(data, p, n);
}

static int pack(msgpack_packer *pk, const struct val *v, int depth)
{
    int rc;

    switch (v->type) {
    case VAL_NIL:
        return msgpack_pack_nil(pk);
    case VAL_BOOL:
        return v->b ? msgpack_pack_true(pk) : msgpack_pack_false(pk);
    case VAL_INT:
        return msgpack_pack_int64(pk, v->i);
    case VAL_FLOAT:
        return msgpack_pack_double(pk, v->f);
    case VAL_STR:
        rc = msgpack_pack_str(pk, v->s.n);
        return rc < 0 || !v->s.n ? rc
                                 : msgpack_pack_str_body(pk, v->s.p, v->s.n);
    case VAL_LIST:
        if (depth > VAL_DEPTH)
            return -1;
        rc = msgpack_pack_array(pk, v->list.n);
        for (uint32_t i = 0; rc >= 0 && i < v->list.n; i++)
            rc = pack(pk, v->list.v[i], depth + 1);
        return rc;
    case VAL_MAP:
        if (depth > VAL_DEPTH || v->map.n > VAL_KEYS)
            return -1;
        rc = msgpack_pack_map(pk, v->map.n);
        for (uint32_t i = 0; rc >= 0 && i < v->map.n; i++) {
            struct span k = v->map.keys[i];
            rc = msgpack_pack_str(pk, k.n);
            if (rc >= 0 && k.n)
                rc = msgpack_pack_str_body(pk, k.p, k.n);
            if (rc >= 0)
                rc = pack(pk, v->map.v[i], depth + 1);
        }
        return rc;
    }
    return -1;
}

int val_pack(struct buf *out, const struct val *v)
{
    msgpack_packer pk;
    size_t before = out->n;

    msgpack_packer_init(&pk, out, write_buf);
    if (pack(&pk, v, 1) < 0) {
        buf_setlen(out, before);
        return -1;
    }
    return 0;
}
