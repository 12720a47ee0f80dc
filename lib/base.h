/* SPDX-License-Identifier: MIT */
/*
 * First include of every .c file: feature macros come from the build
 * (-D_GNU_SOURCE), system headers that nearly every file needs, attributes.
 */
#ifndef KM_BASE_H
#define KM_BASE_H

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define PRINTF(a, b) __attribute__((format(printf, a, b)))
#define NORETURN     __attribute__((noreturn))
#define MUST_USE     __attribute__((warn_unused_result))
#define UNUSED       __attribute__((unused))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b)    ((a) < (b) ? (a) : (b))
#define MAX(a, b)    ((a) > (b) ? (a) : (b))

/* Version of the programs; part of every stream's header. */
#define KM_VERSION "0.1.0"

/* Borrowed bytes: never freed through this; may contain NUL. */
struct span {
    const char *p;
    size_t n;
};

#define SPAN_LIT(s) ((struct span){"" s, sizeof(s) - 1})

static inline struct span span_str(const char *s)
{
    return (struct span){s, s ? strlen(s) : 0};
}

static inline bool span_eq(struct span a, struct span b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool span_is(struct span a, const char *lit)
{
    return span_eq(a, span_str(lit));
}

static inline bool span_starts(struct span a, const char *lit)
{
    size_t n = strlen(lit);
    return a.n >= n && memcmp(a.p, lit, n) == 0;
}

static inline bool span_begins(struct span a, struct span prefix)
{
    return a.n >= prefix.n && span_eq((struct span){a.p, prefix.n}, prefix);
}

static inline bool span_ends(struct span a, const char *lit)
{
    size_t n = strlen(lit);
    return a.n >= n && memcmp(a.p + a.n - n, lit, n) == 0;
}

/* Is A one of the N texts of LIST? */
static inline bool span_in(struct span a, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (span_is(a, list[i]))
            return true;
    return false;
}

/* Part of a name of Python or C: beyond ASCII every byte may be. */
static inline bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

/* Where WORD (not empty) first stands in TEXT as a whole name; NULL. */
static inline const char *span_find_word(struct span text, struct span word)
{
    const char *p = text.p, *end = p ? p + text.n : p;
    while (p && word.n &&
           (p = memmem(p, (size_t)(end - p), word.p, word.n)) != NULL) {
        if ((p == text.p || !is_word_char(p[-1])) &&
            (p + word.n == end || !is_word_char(p[word.n])))
            return p;
        p++;
    }
    return NULL;
}

static inline bool span_has_word(struct span text, struct span word)
{
    return span_find_word(text, word) != NULL;
}

/* "c" of "a.b.c"; a name without a dot is its own last part. */
static inline struct span span_last_part(struct span dotted)
{
    const char *dot = dotted.n ? memrchr(dotted.p, '.', dotted.n) : NULL;
    return dot ? (struct span){dot + 1, (size_t)(dotted.p + dotted.n - dot - 1)}
               : dotted;
}

#include "banned.h"

#endif
