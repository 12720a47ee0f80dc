/* SPDX-License-Identifier: MIT */
/*
 * Sizes for a state that works: smaller ones when a forward would take too
 * long, else larger ones (tokens or pixels, then the batch), as long as the
 * estimated cost of one forward on a CPU stays below a budget. Costs are
 * estimated from counted operations, never measured, so that the
 * same module gets the same sizes everywhere.
 */
#ifndef TESTGEN_SCALE_H
#define TESTGEN_SCALE_H

#include "testgen/state.h"

#define SCALE_MS     10.0
#define SCALE_MEMORY ((int64_t)64 << 20)

struct scale {
    struct arena *a;
    const struct facts *f;
    struct val *best;    /* accepted last */
    struct val *figures; /* measured on it */
    int step;
    bool growing;
};

void scale_init(struct scale *s, struct arena *a, const struct facts *f,
                struct val *state, struct val *figures);
/* FROM with generous defaults of the constructor reduced; NULL when there are
 * none. */
struct val *scale_smaller_defaults(struct arena *a, const struct facts *f,
                                   const struct val *from);
/* A smaller state to try, NULL when the cost is within the budget or nothing
 * is left to reduce. */
struct val *scale_reduce(struct scale *s);
/* A larger state to try, NULL at the end. */
struct val *scale_next(struct scale *s);
/* A state runs, and these are its figures: after scale_reduce it is taken when
 * it costs less, after scale_next when it is within the budget. */
void scale_tell(struct scale *s, struct val *state, struct val *figures);
/* Bytes that one forward needs at once, by count. */
int64_t scale_memory(const struct val *figures);
/* Milliseconds that one forward takes on one core, by count. */
double scale_estimate_ms(const struct val *figures);

#endif
