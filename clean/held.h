/* SPDX-License-Identifier: MIT */
/* Records in an unlinked, compressed temporary file (in TMPDIR, else /tmp),
 * written in order, then read once in the same order. */
#ifndef KM_CLEAN_HELD_H
#define KM_CLEAN_HELD_H

#include "buf.h"
#include "err.h"

struct held;
struct held *held_new(struct err *e);
/* Append a record behind a tag. */
int held_put(struct held *h, char tag, struct span packed,
             struct err *e) MUST_USE;
/* End of writing. */
int held_rewind(struct held *h, struct err *e) MUST_USE;
/* The next one into OUT (cleared). 1, 0 at the end, -1. */
int held_get(struct held *h, char *tag, struct buf *out,
             struct err *e) MUST_USE;
void held_free(struct held *h);

#endif
