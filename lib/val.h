/* SPDX-License-Identifier: MIT */
/*
 * One value of a record: nil, bool, int64, float64, text (valid UTF-8), list
 * or map with text keys. A tree lives in one arena; text may borrow from the
 * bytes it was decoded from, as the decoder says. A map keeps the order of
 * insertion and has no key twice. Depth is at most VAL_DEPTH.
 */
#ifndef KM_VAL_H
#define KM_VAL_H

#include "buf.h"
#include "err.h"
#include "mem.h"

#define VAL_DEPTH 16
#define VAL_KEYS  512 /* of one map in a record */

enum val_type {
    VAL_NIL,
    VAL_BOOL,
    VAL_INT,
    VAL_FLOAT,
    VAL_STR,
    VAL_LIST,
    VAL_MAP
};

struct val {
    enum val_type type;
    union {
        bool b;
        int64_t i;
        double f;
        struct span s;
        struct {
            struct val **v;
            uint32_t n, cap;
        } list;
        struct {
            struct span *keys;
            struct val **v;
            uint32_t n, cap;
        } map;
    };
};

struct val *val_nil(struct arena *a);
struct val *val_bool(struct arena *a, bool b);
struct val *val_int(struct arena *a, int64_t i);
/* Not finite becomes nil: no NaN or infinity is ever in a record. */
struct val *val_float(struct arena *a, double f);
struct val *val_str(struct arena *a, struct span s);  /* copies S */
struct val *val_strz(struct arena *a, const char *s); /* copies; NULL = nil */
struct val *val_text(struct arena *a, struct span s); /* copies, repairs */
struct val *val_strf(struct arena *a, const char *fmt, ...) PRINTF(2, 3);
struct val *val_list(struct arena *a);
struct val *val_map(struct arena *a);
struct val *val_copy(struct arena *a, const struct val *v); /* deep */

void val_push(struct arena *a, struct val *list, struct val *v);
/* Insert or replace KEY (a literal or arena text: it is borrowed). */
void val_set(struct arena *a, struct val *map, const char *key, struct val *v);
/* The same for a KEY that MAP surely has not: does not look for it. */
void val_add(struct arena *a, struct val *map, const char *key, struct val *v);
void val_del(struct val *map, const char *key);

/* Getters accept NULL and a wrong type: they then give NULL, the default or
 * an empty span (p == NULL). An integer is accepted where a float is asked
 * for, and a float with an integral value where an integer is. */
struct val *val_get(const struct val *map, const char *key);
struct val *val_path(const struct val *map, const char *dotted); /* "a.b.c" */
struct val *val_at(const struct val *list, size_t i);
size_t val_len(const struct val *v); /* of a list or map, else 0 */
struct span val_as_str(const struct val *v);
int64_t val_as_int(const struct val *v, int64_t dflt);
double val_as_float(const struct val *v, double dflt);
bool val_as_bool(const struct val *v, bool dflt);
/* Shorthands for a key of a map. */
struct span val_gets(const struct val *map, const char *key);
int64_t val_geti(const struct val *map, const char *key, int64_t dflt);
double val_getf(const struct val *map, const char *key, double dflt);
bool val_getb(const struct val *map, const char *key, bool dflt);
bool val_equal(const struct val *a, const struct val *b);
/* Is V within VAL_DEPTH, after LEVELS around it, and VAL_KEYS, so that a reader
 * of records takes it? */
bool val_bounded(const struct val *v, int levels);

/* msgpack. Every length is checked against the bytes left before anything is
 * allocated (an item needs at least one byte), depth and item count bounded.
 * val_unpack reads one value at IN, sets *USED; text borrows from IN. Returns
 * 0, 1 = needs more bytes, -1 = not acceptable (code CORRUPT, with offset). */
int val_unpack(struct arena *a, struct span in, size_t *used, struct val **out,
               struct err *e) MUST_USE;
/* Length in bytes of the value at IN without decoding: same returns. Text is
 * not looked at. */
int val_scan(struct span in, size_t *used, struct err *e) MUST_USE;
/* Shortest encodings; -1 when OUT is full, or when V is not within VAL_DEPTH
 * and VAL_KEYS: no reader would take it. */
int val_pack(struct buf *out, const struct val *v) MUST_USE;

/* JSON: one line, keys in order, "/" not escaped, ASCII control characters
 * as \u00XX, floats as the shortest text that reads back the same and always
 * with '.' or 'e', so that they stay floats. */
int val_json(struct buf *out, const struct val *v) MUST_USE;
/* One JSON text. NaN, Infinity and -Infinity (as Python writes them) and
 * lone surrogates are accepted only with VAL_JSON_LENIENT (nil, U+FFFD);
 * then integers beyond int64 become text. */
enum { VAL_JSON_STRICT = 0, VAL_JSON_LENIENT = 1 };
int val_parse_json(struct arena *a, struct span in, int flags, struct val **out,
                   struct err *e) MUST_USE;

#endif
