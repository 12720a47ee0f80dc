/* SPDX-License-Identifier: MIT */
/*
 * Growable bytes with a maximum given at init. Invariants: p is never NULL
 * and p[n] is NUL; n <= max. Reaching the maximum makes the call fail with
 * -1 and leaves the contents as they were; `full` then stays set, so that a
 * caller may append many times and look once.
 */
#ifndef KM_BUF_H
#define KM_BUF_H

#include "base.h"

struct buf {
    char *p;
    size_t n, cap, max;
    bool full;
};

extern char buf_empty[1];
#define BUF_INIT(maximum)                                                      \
    {                                                                          \
        buf_empty, 0, 0, (maximum), false                                      \
    }

void buf_init(struct buf *b, size_t max);
int buf_add(struct buf *b, const void *p, size_t n);
int buf_adds(struct buf *b, const char *s);
int buf_addc(struct buf *b, char c);
int buf_addspan(struct buf *b, struct span s);
int buf_printf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
/* Make room for N more bytes and return where they go (NULL: over max);
 * the caller then adds what it wrote to b->n and sets the NUL by buf_set. */
char *buf_reserve(struct buf *b, size_t n);
void buf_setlen(struct buf *b, size_t n);   /* n <= reserved; writes the NUL */
void buf_clear(struct buf *b);              /* keeps the memory */
void buf_release(struct buf *b);            /* back to empty, same max */
char *buf_detach(struct buf *b, size_t *n); /* caller frees */
static inline struct span buf_span(const struct buf *b)
{
    return (struct span){b->p, b->n};
}

#endif
