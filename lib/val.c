/* SPDX-License-Identifier: MIT */
/* Building and reading values; the encodings are in val_pack.c, val_json.c. */
#include "base.h"

#include <math.h>

#include "utf8.h"
#include "val.h"

static struct val *new_val(struct arena *a, enum val_type t)
{
    struct val *v = arena_zalloc(a, sizeof(*v));
    v->type = t;
    return v;
}

struct val *val_nil(struct arena *a)
{
    return new_val(a, VAL_NIL);
}

struct val *val_bool(struct arena *a, bool b)
{
    struct val *v = new_val(a, VAL_BOOL);
    v->b = b;
    return v;
}

struct val *val_int(struct arena *a, int64_t i)
{
    struct val *v = new_val(a, VAL_INT);
    v->i = i;
    return v;
}

struct val *val_float(struct arena *a, double f)
{
    struct val *v = new_val(a, isfinite(f) ? VAL_FLOAT : VAL_NIL);
    if (v->type == VAL_FLOAT)
        v->f = f;
    return v;
}

struct val *val_str(struct arena *a, struct span s)
{
    struct val *v = new_val(a, VAL_STR);
    v->s = arena_span(a, s);
    return v;
}

struct val *val_strz(struct arena *a, const char *s)
{
    return s ? val_str(a, span_str(s)) : val_nil(a);
}

struct val *val_text(struct arena *a, struct span s)
{
    struct buf b = BUF_INIT(SIZE_MAX / 2);
    struct val *v;

    if (utf8_valid(s) == s.n)
        return val_str(a, s);
    utf8_repair(&b, s);
    v = val_str(a, buf_span(&b));
    buf_release(&b);
    return v;
}

struct val *val_strf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    char *p;
    int n;
    struct val *v;

    va_start(ap, fmt);
    n = vasprintf(&p, fmt, ap);
    va_end(ap);
    if (n < 0)
        return val_nil(a);
    v = val_text(a, (struct span){p, (size_t)n});
    free(p);
    return v;
}

struct val *val_list(struct arena *a)
{
    return new_val(a, VAL_LIST);
}

struct val *val_map(struct arena *a)
{
    return new_val(a, VAL_MAP);
}

/* Recursion is bounded by VAL_DEPTH: nothing deeper is ever built. */
struct val *val_copy(struct arena *a, const struct val *v)
{
    struct val *c;

    if (!v)
        return NULL;
    c = new_val(a, v->type);
    switch (v->type) {
    case VAL_STR:
        c->s = arena_span(a, v->s);
        break;
    case VAL_LIST:
        for (uint32_t i = 0; i < v->list.n; i++)
            val_push(a, c, val_copy(a, v->list.v[i]));
        break;
    case VAL_MAP:
        for (uint32_t i = 0; i < v->map.n; i++)
            val_set(a, c, arena_strdup(a, v->map.keys[i]),
                    val_copy(a, v->map.v[i]));
        break;
    default:
        *c = *v;
    }
    return c;
}

void val_push(struct arena *a, struct val *list, struct val *v)
{
    if (list->list.n == list->list.cap) {
        uint32_t cap = list->list.cap ? list->list.cap * 2 : 8;
        struct val **p = arena_array(a, cap, sizeof(*p));
        if (list->list.n)
            memcpy(p, list->list.v, list->list.n * sizeof(*p));
        list->list.v = p;
        list->list.cap = cap;
    }
    list->list.v[list->list.n++] = v;
}

static long find_key(const struct val *map, struct span key)
{
    for (uint32_t i = 0; i < map->map.n; i++) {
        if (span_eq(map->map.keys[i], key))
            return (long)i;
    }
    return -1;
}

void val_set(struct arena *a, struct val *map, const char *key, struct val *v)
{
    long at = find_key(map, span_str(key));

    if (at >= 0)
        map->map.v[at] = v;
    else
        val_add(a, map, key, v);
}

void val_add(struct arena *a, struct val *map, const char *key, struct val *v)
{
    uint32_t cap;

    if (map->map.n == map->map.cap) {
        cap = map->map.cap ? map->map.cap * 2 : 8;
        struct val **p = arena_array(a, cap, sizeof(*p));
        struct span *q = arena_array(a, cap, sizeof(*q));
        if (map->map.n) {
            memcpy(p, map->map.v, map->map.n * sizeof(*p));
            memcpy(q, map->map.keys, map->map.n * sizeof(*q));
        }
        map->map.v = p;
        map->map.keys = q;
        map->map.cap = cap;
    }
    map->map.keys[map->map.n] = span_str(key);
    map->map.v[map->map.n++] = v;
}

void val_del(struct val *map, const char *key)
{
    long at = find_key(map, span_str(key));

    if (at < 0)
        return;
    map->map.n--;
    for (uint32_t i = (uint32_t)at; i < map->map.n; i++) {
        map->map.keys[i] = map->map.keys[i + 1];
        map->map.v[i] = map->map.v[i + 1];
    }
}

static struct val *get_span(const struct val *map, struct span key)
{
    long at;

    if (!map || map->type != VAL_MAP)
        return NULL;
    at = find_key(map, key);
    return at < 0 ? NULL : map->map.v[at];
}

struct val *val_get(const struct val *map, const char *key)
{
    return get_span(map, span_str(key));
}

struct val *val_path(const struct val *map, const char *dotted)
{
    const struct val *v = map;

    for (;;) {
        const char *dot = strchr(dotted, '.');
        size_t n = dot ? (size_t)(dot - dotted) : strlen(dotted);
        struct val *next = get_span(v, (struct span){dotted, n});
        if (!dot || !next)
            return next;
        v = next;
        dotted = dot + 1;
    }
}

struct val *val_at(const struct val *list, size_t i)
{
    if (!list || list->type != VAL_LIST || i >= list->list.n)
        return NULL;
    return list->list.v[i];
}

size_t val_len(const struct val *v)
{
    if (!v)
        return 0;
    return v->type == VAL_LIST ? v->list.n : v->type == VAL_MAP ? v->map.n : 0;
}

struct span val_as_str(const struct val *v)
{
    return v && v->type == VAL_STR ? v->s : (struct span){NULL, 0};
}

int64_t val_as_int(const struct val *v, int64_t dflt)
{
    if (!v)
        return dflt;
    if (v->type == VAL_INT)
        return v->i;
    /* 2^63 itself does not fit */
    if (v->type == VAL_FLOAT && v->f == trunc(v->f) && v->f >= -0x1p63 &&
        v->f < 0x1p63)
        return (int64_t)v->f;
    return dflt;
}

double val_as_float(const struct val *v, double dflt)
{
    if (!v)
        return dflt;
    return v->type == VAL_FLOAT ? v->f
           : v->type == VAL_INT ? (double)v->i
                                : dflt;
}

bool val_as_bool(const struct val *v, bool dflt)
{
    return v && v->type == VAL_BOOL ? v->b : dflt;
}

struct span val_gets(const struct val *map, const char *key)
{
    return val_as_str(val_get(map, key));
}

int64_t val_geti(const struct val *map, const char *key, int64_t dflt)
{
    return val_as_int(val_get(map, key), dflt);
}

double val_getf(const struct val *map, const char *key, double dflt)
{
    return val_as_float(val_get(map, key), dflt);
}

bool val_getb(const struct val *map, const char *key, bool dflt)
{
    return val_as_bool(val_get(map, key), dflt);
}

bool val_equal(const struct val *a, const struct val *b)
{
    if (!a || !b || a->type != b->type)
        return a == b;
    switch (a->type) {
    case VAL_NIL:
        return true;
    case VAL_BOOL:
        return a->b == b->b;
    case VAL_INT:
        return a->i == b->i;
    case VAL_FLOAT:
        return a->f == b->f;
    case VAL_STR:
        return span_eq(a->s, b->s);
    case VAL_LIST:
        if (a->list.n != b->list.n)
            return false;
        for (uint32_t i = 0; i < a->list.n; i++) {
            if (!val_equal(a->list.v[i], b->list.v[i]))
                return false;
        }
        return true;
    case VAL_MAP:
        if (a->map.n != b->map.n)
            return false;
        for (uint32_t i = 0; i < a->map.n; i++) {
            if (!val_equal(a->map.v[i], get_span(b, a->map.keys[i])))
                return false;
        }
        return true;
    }
    return false;
}

static bool bounded(const struct val *v, int depth)
{
    uint32_t n = (uint32_t)val_len(v);
    bool map = v->type == VAL_MAP;

    if (!map && v->type != VAL_LIST)
        return true;
    if (depth > VAL_DEPTH || (map && n > VAL_KEYS))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!bounded(map ? v->map.v[i] : v->list.v[i], depth + 1))
            return false;
    }
    return true;
}

bool val_bounded(const struct val *v, int levels)
{
    return bounded(v, 1 + levels);
}
