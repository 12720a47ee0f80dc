/* SPDX-License-Identifier: MIT */
/*
 * Sizes that a GPU is worth using for: from a state that works to one with
 * widths, lengths, sides and a batch such as models have, as long as one
 * forward stays within a budget that is computed from counted operations.
 */
#ifndef TESTGEN_GROW_H
#define TESTGEN_GROW_H

#include "testgen/state.h"

/* A large GPU: fp32 outside of matrix units, memory, start of a kernel. */
#define GPU_FLOP_PER_MS  60e9
#define GPU_BYTES_PER_MS 3e9
#define GPU_MS_PER_OP    0.004

#define GPU_MS_MIN  0.05
#define GPU_MS_GOAL 4.0 /* from here on nothing grows */
#define GPU_MS_MAX  100.0
#define GPU_MEMORY  ((int64_t)4 << 30)
#define GPU_SLOT                                                               \
    ((int64_t)128 << 20) /* inputs and outputs: the judge's limit */

struct budget {
    double (*ms)(const struct val *figures); /* of one forward */
    double goal, max;                        /* milliseconds */
    int64_t memory, slot; /* bytes: in all; of inputs and outputs */
};

extern const struct budget budget_gpu, budget_cpu;

/* Milliseconds that one forward takes on a large GPU, by count. */
double grow_gpu_ms(const struct val *figures);

struct grow {
    struct arena *a;
    const struct facts *f;
    const struct budget *budget;
    /* Runs STATE: *FIGURES as `measure` gives them (lib/run/probe.py), `ok`
     * false when it does not run. -1: stop, with E. */
    int (*run)(void *payload, const struct val *state, struct val **figures,
               struct err *e);
    void *payload;
    struct val *best;    /* accepted last */
    struct val *figures; /* of it */
    struct val *tried;   /* list of states, set by grow_run */
};

/*
 * Let G->best grow. OTHER (or NULL) is the same module with the constructor's
 * own defaults where G->best has smaller values: taken first when it fits.
 * Neither needs figures. 0, or -1 when run said so.
 */
int grow_run(struct grow *g, struct val *other, struct err *e) MUST_USE;

/* The I-th odd shape of a small STATE: a batch of one, then sizes that are one
 * less, then prime ones. NULL: it has no such shape. */
struct val *grow_odd(struct arena *a, const struct val *state, int i);
#define GROW_ODD 3

#endif
