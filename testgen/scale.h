/* SPDX-License-Identifier: MIT */
/*
 * Larger sizes for a state that works: tokens or pixels, then the batch, as
 * long as the estimated cost of one forward on a CPU stays below a budget.
 * Costs are estimated from counted operations, never measured, so that the
 * same module gets the same sizes everywhere.
 */
#ifndef TESTGEN_SCALE_H
#define TESTGEN_SCALE_H

#include "testgen/state.h"

#define SCALE_MS     20.0
#define SCALE_MEMORY ((int64_t)64 << 20)

struct scale {
    struct arena *a;
    const struct facts *f;
    struct val *best;    /* accepted last */
    struct val *figures; /* measured on it */
    int step;
};

void scale_init(struct scale *s, struct arena *a, const struct facts *f,
                struct val *state, struct val *figures);
/* A state to try, NULL at the end. */
struct val *scale_next(struct scale *s);
/* It runs, and these are its figures. */
void scale_tell(struct scale *s, struct val *state, struct val *figures);
/* Milliseconds that one forward takes on one core, by count. */
double scale_estimate_ms(const struct val *figures);

#endif
