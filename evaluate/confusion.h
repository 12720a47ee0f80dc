/* SPDX-License-Identifier: MIT */
/*
 * What a run recorded of its candidates against what the judge says of them: a
 * table of counts, and a line for each on which they disagree.
 */
#ifndef KM_EVALUATE_CONFUSION_H
#define KM_EVALUATE_CONFUSION_H

#include "buf.h"
#include "val.h"

struct confusion;

/* JUDGEMENT ("strict", ...) is the one that has to agree with "correct". */
struct confusion *confusion_new(const char *judgement);
/* A revision with `recorded.outcome` and its verdict; VERDICT is NULL where the
 * revision could not be read. */
void confusion_add(struct confusion *c, const struct val *revision,
                   const struct val *verdict);
/* The table, then the lines in the order of the calls. */
void confusion_print(const struct confusion *c, struct buf *out);
void confusion_free(struct confusion *c);

#endif
