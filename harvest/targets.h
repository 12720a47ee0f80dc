/* SPDX-License-Identifier: MIT */
/*
 * The repositories of one run, one after the other: operands, then the lines
 * of the list. Nothing but the names already taken is kept, so a list may have
 * any length.
 */
#ifndef KM_TARGETS_H
#define KM_TARGETS_H

#include "harvest/harvest.h"
#include "map.h"

struct targets {
    char *const *operands;
    int n_operands, at;
    const char *list_name; /* NULL = no list, "-" = stdin */
    FILE *list;
    uint32_t line;
    uint64_t given;
    struct map names; /* name -> commit, hex or "" */
    struct arena arena;
};

/* LIST may be NULL. Both are borrowed. */
int targets_open(struct targets *t, int n_operands, char *const *operands,
                 const char *list, struct err *e) MUST_USE;
/* Next one: 1 = OUT is filled, 0 = no more, -1 = the list cannot be read. A
 * line that is no `SOURCE [NAME]` is filled in with `err` set. */
int targets_next(struct targets *t, struct target *out, struct err *e) MUST_USE;
/* In a worker: open the repository at X's path, find its commit and, unless
 * the list gave one, its name. What fails is left in X's err. */
void target_probe(struct target *x, const char *rev);
/* In a worker: append to OUT, for each older commit with Python that no newer
 * one has, COMMIT (OID_HEX bytes), the number of bytes that follow (size_t),
 * and the raw ids. */
int target_history(const struct target *x, struct buf *out,
                   struct err *e) MUST_USE;
/* In order, once for each: give X a name that none before has. The same commit
 * under the same name again becomes ERR_DUPLICATE. */
void targets_settle(struct targets *t, struct target *x);
void targets_release(struct targets *t);

#endif
