/* SPDX-License-Identifier: MIT */
/* The closure as one standalone source. */
#ifndef KM_CLEAN_WRITE_H
#define KM_CLEAN_WRITE_H

#include "clean/closure.h"

/* Largest standalone source, in bytes. */
#define WRITE_MAX (512u << 10)

/*
 * Append the source of closure C (after closure_order and closure_names) to
 * OUT. PACKAGES is filled with the top-level packages it imports (keys,
 * sorted). 0, or -1 with code and note in C.
 */
int write_source(struct closure *c, struct buf *out,
                 struct map *packages) MUST_USE;

/* wrap.c: append to SOURCE, which defines function ENTRY, a class Model whose
 * forward takes the function's parameters and calls it. ERR_UNRESOLVED when the
 * source has a Model already. */
int wrap_function(struct pyparser *p, struct span entry, struct buf *source,
                  struct err *e) MUST_USE;

#endif
