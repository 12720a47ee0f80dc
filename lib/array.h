/* SPDX-License-Identifier: MIT */
/*
 * Typed growable array: `ARRAY(int) a = {0}; array_push(&a, 3);`
 * a.v[i], a.n. Allocation cannot fail; overflow of the size exits.
 */
#ifndef KM_ARRAY_H
#define KM_ARRAY_H

#include "mem.h"

#define ARRAY(T)                                                               \
    struct {                                                                   \
        T *v;                                                                  \
        size_t n, cap;                                                         \
    }

#define array_reserve(a, want)                                                 \
    do {                                                                       \
        if ((want) > (a)->cap) {                                               \
            size_t cap_ = (a)->cap ? (a)->cap * 2 : 8;                         \
            if (cap_ < (want))                                                 \
                cap_ = (want);                                                 \
            (a)->v = xreallocarray((a)->v, cap_, sizeof(*(a)->v));             \
            (a)->cap = cap_;                                                   \
        }                                                                      \
    } while (0)

#define array_push(a, x)                                                       \
    do {                                                                       \
        array_reserve((a), (a)->n + 1);                                        \
        (a)->v[(a)->n++] = (x);                                                \
    } while (0)

#define array_release(a)                                                       \
    do {                                                                       \
        free((a)->v);                                                          \
        (a)->v = NULL;                                                         \
        (a)->n = (a)->cap = 0;                                                 \
    } while (0)

#endif
