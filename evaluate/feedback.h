/* SPDX-License-Identifier: MIT */
/* What the model that wrote a candidate is told of its verdict. */
#ifndef KM_EVALUATE_FEEDBACK_H
#define KM_EVALUATE_FEEDBACK_H

#include "val.h"

/* Each tells what those before it do. */
enum feedback_level {
    FEEDBACK_CLASS,   /* what became of it */
    FEEDBACK_PLACE,   /* and where: line, exception, kind of inputs */
    FEEDBACK_FIGURES, /* and how much: elements outside, speedup */
    FEEDBACK_TEXTS,   /* and what compilers and exceptions said */
    FEEDBACK_LEVELS
};

/*
 * Text for verdict V, nil where it was not the candidate's doing. It holds no
 * seed, no input or expected value, and of hidden inputs no more than their
 * kind. An exception's own words are the candidate's: numbers with a fraction
 * are hidden in them, as a value that it has read would be one.
 */
struct val *feedback(struct arena *a, const struct val *v,
                     enum feedback_level level);

#endif
