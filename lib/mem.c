/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "mem.h"

#define BLOCK_MIN (64u << 10)
#define ALIGN     _Alignof(max_align_t)

static void NORETURN out_of_memory(size_t n)
{
    fprintf(stderr, "out of memory (%zu bytes)\n", n);
    exit(1);
}

void *xmalloc(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (!p)
        out_of_memory(n);
    return p;
}

void *xcalloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size ? size : 1);
    if (!p)
        out_of_memory(size);
    return p;
}

void *xrealloc(void *p, size_t n)
{
    void *q = realloc(p, n ? n : 1);
    if (!q)
        out_of_memory(n);
    return q;
}

void *xreallocarray(void *p, size_t count, size_t size)
{
    size_t n;
    if (__builtin_mul_overflow(count, size, &n))
        out_of_memory(SIZE_MAX);
    return xrealloc(p, n);
}

char *xstrdup(const char *s)
{
    return xmemdup0(span_str(s));
}

char *xmemdup0(struct span s)
{
    char *p = xmalloc(s.n + 1);
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return p;
}

char *xasprintf(const char *fmt, ...)
{
    char *p;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vasprintf(&p, fmt, ap);
    va_end(ap);
    if (n < 0)
        out_of_memory(0);
    return p;
}

struct arena_block {
    struct arena_block *next;
    size_t used, cap;
    _Alignas(max_align_t) char data[];
};

static struct arena_block *new_block(struct arena *a, size_t n)
{
    size_t cap = MAX(n, BLOCK_MIN), bytes;
    struct arena_block *b;

    /* grow with the arena, so that large records need few blocks */
    if (cap < a->total / 2)
        cap = a->total / 2;
    if (__builtin_add_overflow(cap, sizeof(*b), &bytes))
        out_of_memory(n);
    b = xmalloc(bytes);
    b->next = a->head;
    b->used = 0;
    b->cap = cap;
    a->head = b;
    a->total += cap;
    return b;
}

void *arena_alloc(struct arena *a, size_t n)
{
    struct arena_block *b = a->head;
    size_t need;
    void *p;

    if (__builtin_add_overflow(n, ALIGN - 1, &need))
        out_of_memory(n);
    need -= need % ALIGN;
    if (need == 0)
        need = ALIGN;
    if (!b || b->cap - b->used < need)
        b = new_block(a, need);
    p = b->data + b->used;
    b->used += need;
    return p;
}

void *arena_zalloc(struct arena *a, size_t n)
{
    return memset(arena_alloc(a, n), 0, n);
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    size_t n;
    if (__builtin_mul_overflow(count, size, &n))
        out_of_memory(SIZE_MAX);
    return arena_zalloc(a, n);
}

char *arena_strdup(struct arena *a, struct span s)
{
    char *p = arena_alloc(a, s.n + 1);
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return p;
}

struct span arena_span(struct arena *a, struct span s)
{
    return (struct span){arena_strdup(a, s), s.n};
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    char *p;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        n = 0;
    p = arena_alloc(a, (size_t)n + 1);
    va_start(ap, fmt);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return p;
}

void arena_reset(struct arena *a)
{
    struct arena_block *b = a->head;

    if (!b)
        return;
    while (b->next) {
        struct arena_block *next = b->next;
        /* keep the last one made, unless it is a giant */
        b->next = next->next;
        a->total -= next->cap;
        free(next);
    }
    b->used = 0;
    if (b->cap > (8u << 20))
        arena_release(a);
}

void arena_release(struct arena *a)
{
    while (a->head) {
        struct arena_block *b = a->head;
        a->head = b->next;
        free(b);
    }
    a->total = 0;
}
