/* SPDX-License-Identifier: MIT */
/*
 * Allocation that cannot fail (it prints and exits 1; sizes from input are
 * capped elsewhere) and the arena: memory that is given back all at once.
 */
#ifndef KM_MEM_H
#define KM_MEM_H

#include "base.h"

void *xmalloc(size_t n);
void *xcalloc(size_t count, size_t size); /* checks count * size */
void *xrealloc(void *p, size_t n);
void *xreallocarray(void *p, size_t count, size_t size);
char *xstrdup(const char *s);
char *xmemdup0(struct span s); /* NUL-terminated copy */
char *xasprintf(const char *fmt, ...) PRINTF(1, 2);

struct arena_block;
struct arena {
    struct arena_block *head;
    size_t total; /* bytes in all blocks */
};

#define ARENA_INIT                                                             \
    {                                                                          \
        NULL, 0                                                                \
    }

/* All results are aligned for any type, valid until arena_reset/_release. */
void *arena_alloc(struct arena *a, size_t n);
void *arena_zalloc(struct arena *a, size_t n);
void *arena_array(struct arena *a, size_t count, size_t size); /* zeroed */
char *arena_strdup(struct arena *a, struct span s); /* NUL-terminated */
struct span arena_span(struct arena *a, struct span s);
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3);
void arena_reset(struct arena *a); /* keeps one block for the next turn */
void arena_release(struct arena *a);

#endif
