/* SPDX-License-Identifier: MIT */
/*
 * The trial of one candidate against a prepared reference: correctness rings,
 * parameters changed, train mode, timed pairs. Everything that makes a verdict
 * and needs a device happens here.
 */
#ifndef KM_EVALUATE_TRIAL_H
#define KM_EVALUATE_TRIAL_H

#include "evaluate/outcome.h"
#include "evaluate/reference.h"
#include "evaluate/timing.h"

struct trial_conf {
    bool native; /* no PyTorch: CODE_FD is what its runner loads */
    int code_fd;
    int built_fd;           /* what it compiled ahead, or -1 */
    enum judgement profile; /* what a candidate must pass to be timed */
    double budget_s;        /* of timing */
};

enum mode { MODE_EVAL, MODE_TRAIN, MODE_COUNT };

struct cell {
    struct compared c;
    bool tested;
    const char *why_not;
};

/* Elements of outputs that are looked at the moment the reply is there. */
#define SAMPLES 256

struct trial {
    struct reference *ref;
    struct trial_conf conf;
    struct arena *a; /* of the verdict */
    struct gen *g;
    struct side cand;
    struct ring ring;
    struct cell cells[CONFIG_COUNT][MODE_COUNT];
    struct val *findings;
    struct memory_figures memory;
    bool has_memory, ran;
    bool busy;    /* something ran on the device when nothing may */
    int64_t left; /* bytes of the device before it started, -1 = see the jail */
    size_t rings; /* so far, for jitter */

    ARRAY(struct pair) pairs;
    struct ratio ratio;
    bool timed, chained, remeasured;
    const char *no_chain;
    bool alone_eager;
    double alone_ns;     /* the reference before the candidate existed, */
    double alone_margin; /* and by what factor noise can make it look slower */
    /* Empty calls of the reference, in the middle of it all: what is taken off
     * every ring of a runner of its kind. */
    ARRAY(double) empty;     /* turns of the reference, and */
    ARRAY(double) own_empty; /* of a native candidate on a GPU */
    const char *stop;

    struct spot samples[SAMPLES];
    size_t n_samples;
    struct side *sampled;
    const char *eager; /* why rings are not captured, or NULL */

    /* [{name, share, own}], of the time of a forward's kernels; the part of
     * libraries, -1 = not known. */
    struct val *kernels;
    double library_share;
    bool same_kernels; /* as the reference's, by name */

    enum outcome outcome;
    bool ended; /* the outcome stands, no more rings */
    const char *where, *cls, *message;
    int line;
};

/* Run it; T->outcome and the figures are set. -1 only for what is not the
 * candidate's doing (ERR_INFRASTRUCTURE, ERR_SANDBOX, ERR_UNAVAILABLE).
 * trial_close in any case. */
int trial_run(struct trial *t, struct reference *ref,
              const struct trial_conf *conf, struct gen *g, struct arena *a,
              struct err *e) MUST_USE;
void trial_close(struct trial *t);
bool trial_pass(const struct trial *t, enum judgement j);

/* One ring of the candidate (and of the reference, for what is expected). A
 * PAIR makes it a timed ring of both, in random order. */
struct ring_plan {
    const enum config_id *config;
    size_t n;
    enum mode mode;
    const struct state *state; /* to set before it on both sides, or NULL */
    enum config_id count_as;   /* CONFIG_COUNT: each slot as its own */
    int exact;                 /* as reference_expect */
    const struct chain *chain;
    struct pair *pair;
};
int trial_ring(struct trial *t, const struct ring_plan *p,
               struct err *e) MUST_USE;
/* Let TURN, of a ring of D's first N slots, end with a look at its outputs, and
 * start, by the judge's clock, once the salts are written. */
void trial_watch(struct trial *t, struct side *d, size_t n, struct turn *turn);
/* The last before D's turn: the device cold and idle, or the trial has ended;
 * then the salts, unless the turn writes them. */
void trial_ready(struct trial *t, struct side *d);
/* Does the candidate take memory that the reference may need? Then the trial
 * has ended. */
bool trial_hogs(struct trial *t);
/* End the trial with what the candidate's last call gave: RC 1 or -1.
 * Returns 0, or -1 when it was the machine. */
int trial_failed(struct trial *t, int rc, struct err *e) MUST_USE;
void trial_end(struct trial *t, enum outcome o, const char *message);
void trial_finding(struct trial *t, const char *code, enum grade g,
                   const char *text);

/* The timed part. */
int trial_alone(struct trial *t, struct err *e) MUST_USE;
int trial_time(struct trial *t, struct err *e) MUST_USE;

/* Ask what kernels a forward of the candidate runs: its last call. */
void trial_kernels(struct trial *t);
/* {library_share, grade, same_kernels, kernels}. */
struct val *trial_contract(const struct trial *t);

/* Fields of the verdict that the judge knows: outcome, ran, pass, correct,
 * findings, time, memory, detail, kernels. */
struct val *trial_verdict(const struct trial *t);

#endif
