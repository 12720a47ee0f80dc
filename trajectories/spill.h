/* SPDX-License-Identifier: MIT */
/*
 * Records kept in an unlinked temporary file (in TMPDIR, else /tmp), so that
 * a stage that must see all of its input holds only an index in memory.
 */
#ifndef KM_SPILL_H
#define KM_SPILL_H

#include "val.h"

struct spill {
    int fd; /* -1 = closed */
    uint64_t size;
    struct buf packed; /* scratch */
};

struct spill_ref {
    uint64_t off;
    uint32_t n; /* 0 = nothing kept */
};

int spill_open(struct spill *s, struct err *e) MUST_USE;
/* Append V; ERR_TOO_LARGE when it exceeds a record's maximum (the spill then
 * stays usable). */
int spill_put(struct spill *s, const struct val *v, struct spill_ref *out,
              struct err *e) MUST_USE;
/* The value again, whole in arena A. */
int spill_get(struct spill *s, struct spill_ref ref, struct arena *a,
              struct val **out, struct err *e) MUST_USE;
void spill_close(struct spill *s);

#endif
