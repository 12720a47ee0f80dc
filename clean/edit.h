/* SPDX-License-Identifier: MIT */
/* Replacements in a range of text. */
#ifndef KM_CLEAN_EDIT_H
#define KM_CLEAN_EDIT_H

#include "array.h"
#include "buf.h"

struct edit {
    uint32_t start, end;
    struct span text;
};

struct edits {
    struct edit *v;
    size_t n, cap;
};

void edit_add(struct edits *e, uint32_t start, uint32_t end, struct span text);
/* Remove the statement [START, END): with its lines when it is alone on them,
 * else `pass` takes its place. */
void edit_remove(struct edits *e, struct span text, uint32_t start,
                 uint32_t end);
/* Remove a comment with the space before it, or with its line. */
void edit_remove_comment(struct edits *e, struct span text, uint32_t start,
                         uint32_t end);
/* Append [START, END) of TEXT with the edits; of two that overlap the one that
 * starts first counts, of equal starts the longer one. Sorts E. */
int edit_apply(struct edits *e, struct span text, uint32_t start, uint32_t end,
               struct buf *out);

#endif
