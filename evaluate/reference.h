/* SPDX-License-Identifier: MIT */
/*
 * The reference of a task, made ready before any candidate of it is alive:
 * which configurations it survives, how long a forward takes, whether calls can
 * be chained, its error against float64, its memory.
 */
#ifndef KM_EVALUATE_REFERENCE_H
#define KM_EVALUATE_REFERENCE_H

#include "evaluate/bench.h"
#include "evaluate/ring.h"

struct memory_figures {
    int64_t resident, peak, first_peak, steady;
    int64_t base; /* of the fresh process; subtracted above */
};

#define CHAINS 8

struct reference {
    struct bench *bench;
    struct arena mem;
    struct task task;
    struct side f32, f64;
    bool has_f64;
    char no_f64[160];   /* why not */
    struct state state; /* the values every verdict starts from */
    uint64_t seed;      /* of constructors */

    bool tested[CONFIG_COUNT];
    char why_not[CONFIG_COUNT][160];
    bool train;
    char no_train[160];
    int threads;     /* that its process has */
    bool stateful;   /* a forward changes the state in eval mode */
    bool degenerate; /* zeros would pass everywhere */
    bool slow;       /* far from what the machine can, for what it computes */
    /* E / s of each result under each configuration */
    struct own_error *error;
    double terms;

    const char *eager; /* why its rings are not captured, or NULL */
    double forward_s;
    size_t slots; /* K */
    struct chain chains[CHAINS];
    size_t n_chains;
    const char *no_chain; /* why not, or NULL */
    struct memory_figures memory;
    struct val *kernels; /* [{name, ns}] of a forward; NULL = not asked yet */
};

/* REC is a task record (copied). ERR_BAD_TASK: the reference cannot be used;
 * anything else is the machine's fault. Free with reference_close. */
int reference_open(struct reference **out, struct bench *b,
                   const struct val *rec, struct gen *g,
                   struct err *e) MUST_USE;
void reference_close(struct reference *ref);

struct own_error *reference_error_of(const struct reference *ref,
                                     enum config_id c);
/* Deadline of N forwards: 200 times the reference's time, 2 s at least. */
double reference_limit(const struct reference *ref, size_t n);

/* Capture all slots of the reference where its device captures; REF->eager is
 * set where it cannot be. -1: ERR_BAD_TASK, ERR_INFRASTRUCTURE. */
int reference_capture(struct reference *ref, const struct chain *chain,
                      struct err *e) MUST_USE;
/* RC of a call of a reference runner D that was to succeed: 0, or -1 with
 * ERR_INFRASTRUCTURE that says why. */
int reference_failed(int rc, const struct side *d, struct err *e);
/*
 * Run the reference over R's slots and take its results as expected; with
 * EXACT >= 0 the float64 one over that slot too (-2: over all). Any failure is
 * ERR_INFRASTRUCTURE.
 */
int reference_expect(struct reference *ref, struct ring *r, struct gen *g,
                     int exact, struct err *e) MUST_USE;
/* Only the float64 part of it: R's expectations are there. */
int reference_exact(struct reference *ref, struct ring *r, struct gen *g,
                    int exact, struct err *e) MUST_USE;
/* Set the state of both reference runners. */
int reference_set_state(struct reference *ref, const struct state *st,
                        struct err *e) MUST_USE;
/* ref->state with D7 applied to every floating parameter and to running
 * statistics; caller frees ->data. */
struct state reference_affine(const struct reference *ref, struct gen *g);

/* What D's fresh process takes. */
int64_t memory_base(const struct side *d);
/* First forward and steady state of D on decoy data, WARM more forwards
 * between (each within LIMIT_S, the first within a minute), watched from
 * outside. Slots must be placed. 0, 1, -1 as session_call. */
int memory_measure(struct side *d, const struct task *t, struct gen *g,
                   size_t warm, double limit_s, struct memory_figures *m,
                   struct err *e) MUST_USE;

#endif
