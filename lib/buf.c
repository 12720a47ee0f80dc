/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "buf.h"
#include "mem.h"

char buf_empty[1];

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf)BUF_INIT(max);
}

char *buf_reserve(struct buf *b, size_t n)
{
    size_t want;

    if (__builtin_add_overflow(b->n, n, &want) || want > b->max) {
        b->full = true;
        return NULL;
    }
    if (want + 1 > b->cap) {
        size_t cap = MAX(b->cap * 2, (size_t)64);
        if (cap < want + 1)
            cap = want + 1;
        if (b->max < SIZE_MAX && cap > b->max + 1)
            cap = b->max + 1;
        b->p = xrealloc(b->p == buf_empty ? NULL : b->p, cap);
        b->cap = cap;
    }
    return b->p + b->n;
}

void buf_setlen(struct buf *b, size_t n)
{
    if (b->p == buf_empty)
        return;
    b->n = n;
    b->p[n] = '\0';
}

int buf_add(struct buf *b, const void *p, size_t n)
{
    char *to;

    if (n == 0)
        return 0;
    to = buf_reserve(b, n);
    if (!to)
        return -1;
    memcpy(to, p, n);
    buf_setlen(b, b->n + n);
    return 0;
}

int buf_adds(struct buf *b, const char *s)
{
    return buf_add(b, s, strlen(s));
}

int buf_addc(struct buf *b, char c)
{
    return buf_add(b, &c, 1);
}

int buf_addspan(struct buf *b, struct span s)
{
    return buf_add(b, s.p, s.n);
}

int buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    char *to;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n <= 0)
        return n;
    to = buf_reserve(b, (size_t)n);
    if (!to)
        return -1;
    va_start(ap, fmt);
    vsnprintf(to, (size_t)n + 1, fmt, ap);
    va_end(ap);
    buf_setlen(b, b->n + (size_t)n);
    return 0;
}

void buf_clear(struct buf *b)
{
    buf_setlen(b, 0);
    b->full = false;
}

void buf_release(struct buf *b)
{
    if (b->p != buf_empty)
        free(b->p);
    buf_init(b, b->max);
}

char *buf_detach(struct buf *b, size_t *n)
{
    char *p = b->p == buf_empty ? xcalloc(1, 1) : b->p;
    if (n)
        *n = b->n;
    buf_init(b, b->max);
    return p;
}
