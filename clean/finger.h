/* SPDX-License-Identifier: MIT */
/*
 * Fingerprints of classes, under which a copy is known again: hashes only, no
 * text.
 */
#ifndef KM_CLEAN_FINGER_H
#define KM_CLEAN_FINGER_H

#include "clean/tokens.h"

/* Tokens of a gram. 13 are long enough that a shared one says something, 5
 * short enough that an edit leaves others. */
#define FINGER_LONG  13
#define FINGER_SHORT 5

struct finger {
    struct span name; /* of the class */
    unsigned tokens;
    /* Hash of the syntax tree with locals and attributes of its own replaced
     * by the order in which they occur. */
    uint64_t ast;
    /* Hash of its statements as a set: own names and literals replaced by what
     * they are, so that order, values and names do not count. */
    uint64_t shape;
    /* Hash of the operators of forward with their constructor arguments, in
     * order (operators.h); 0 = not only operators of torch, or none. */
    uint64_t operators;
    struct grams grams_long, grams_short;
};

/* Of class (or function) D of M, whose tokens are T. M must have its tree. The
 * name borrows from M. ENTRY false: without operators. Release with
 * finger_release. */
void finger_of(struct finger *f, const struct pymod *m, const struct tokens *t,
               const struct pydef *d, bool entry);
void finger_release(struct finger *f);

#endif
