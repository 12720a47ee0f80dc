/* SPDX-License-Identifier: MIT */
/*
 * Memory of the parser. It allocates and frees a small node for every token;
 * the C library's allocator takes a sixth of the parsing time for that. Here
 * small pieces come from blocks, are kept in lists by size, and are never given
 * back: the next file needs them again. Not for threads, which no program of
 * ours that parses has.
 */
#include "base.h"

#include "py/kinds.h"

#include "mem.h"

/* The sanitizers look at each piece by itself. */
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

#define STEP    16
#define SMALL   512 /* bytes, the largest piece from a block */
#define CLASSES (SMALL / STEP)
#define BLOCK   (256u << 10)

/* Before each piece; keeps it aligned. */
struct head {
    size_t n; /* bytes of the piece; > SMALL: from the C library */
    struct head *next;
};

_Static_assert(sizeof(struct head) == STEP, "pieces stay aligned");

static struct head *free_lists[CLASSES + 1];
static char *block;
static size_t left;

static void *piece_alloc(size_t n)
{
    n = (MAX(n, (size_t)1) + STEP - 1) / STEP * STEP;
    if (n > SMALL) {
        struct head *h = xmalloc(sizeof(*h) + n);
        h->n = n;
        return h + 1;
    }
    struct head *h = free_lists[n / STEP];
    if (h) {
        free_lists[n / STEP] = h->next;
        return h + 1;
    }
    if (left < sizeof(*h) + n) {
        block = xmalloc(BLOCK);
        left = BLOCK;
    }
    h = (struct head *)(void *)block;
    block += sizeof(*h) + n;
    left -= sizeof(*h) + n;
    h->n = n;
    return h + 1;
}

static void piece_free(void *p)
{
    if (!p)
        return;
    struct head *h = (struct head *)p - 1;
    if (h->n > SMALL) {
        free(h);
        return;
    }
    h->next = free_lists[h->n / STEP];
    free_lists[h->n / STEP] = h;
}

static void *piece_calloc(size_t count, size_t size)
{
    size_t n;
    if (__builtin_mul_overflow(count, size, &n))
        n = SIZE_MAX / 2; /* fails as memory that is not there does */
    void *p = piece_alloc(n);
    memset(p, 0, n);
    return p;
}

static void *piece_realloc(void *p, size_t n)
{
    if (!p)
        return piece_alloc(n);
    struct head *h = (struct head *)p - 1;
    if (n <= h->n && (h->n <= SMALL || n > SMALL))
        return p;
    if (h->n > SMALL && n > SMALL) {
        h = xrealloc(h, sizeof(*h) + n);
        h->n = n;
        return h + 1;
    }
    void *q = piece_alloc(n);
    memcpy(q, p, MIN(n, h->n));
    piece_free(p);
    return q;
}

void pyparser_set_memory(void)
{
#ifndef SANITIZED
    static bool set;
    if (!set)
        ts_set_allocator(piece_alloc, piece_calloc, piece_realloc, piece_free);
    set = true;
#else
    (void)piece_alloc;
    (void)piece_calloc;
    (void)piece_realloc;
    (void)piece_free;
#endif
}
