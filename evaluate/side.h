/* SPDX-License-Identifier: MIT */
/*
 * A runner with its two regions: one for parameters, one for the slots of a
 * ring. The judge keeps an image of what the slot region must look like, so
 * that after a ring every byte outside the outputs can be checked: guard
 * bands, inputs, and the gaps between.
 */
#ifndef KM_EVALUATE_SIDE_H
#define KM_EVALUATE_SIDE_H

#include "array.h"
#include "evaluate/device.h"
#include "evaluate/generate.h"
#include "evaluate/session.h"
#include "evaluate/task.h"

#define SLOTS_MAX 4096
#define SALTS     8    /* elements a tensor that are written last, */
#define SALTS_ALL 8192 /* and of all, unless that is less than one of each */

enum { REGION_STATE, REGION_DATA, REGION_RESULTS };

/* One entry of a module's state. */
struct state_item {
    struct span name;
    struct tensor t;
    bool param;
    size_t at; /* in the state's bytes */
};

struct state {
    struct state_item *v;
    size_t n;
    size_t bytes;
    uint8_t *data; /* values, or NULL */
};

/* [in, element, out, element], or NULL: see frames.h. */
struct chain {
    int in, out;
    int64_t in_element, out_element;
};

struct side {
    const struct device_ops *ops;
    void *dev;
    const struct task *task;
    int as; /* dtype in place of floating ones (the float64 reference), or -1 */
    struct session s;
    struct arena mem;   /* of this side's life */
    struct arena tmp;   /* of one call */
    struct val *reply;  /* of the last call, until the next */
    struct state state; /* as its load reply told; values unset */
    struct region state_region, data_region;
    /* Layout of the current placement: every slot is laid out as the first,
     * STRIDE further */
    size_t slots;
    size_t used;   /* bytes of the data region */
    size_t stride; /* of slots */
    size_t in_at[TASK_TENSORS], out_at[TASK_TENSORS]; /* of slot 0 */
    struct region image;
    ARRAY(struct spot) salts;
    /* What was captured at this placement: the first so many slots, and the
     * chain of them. */
    size_t captured;
    const struct chain *captured_chain;
    /* Where a replay leaves its outputs, when that is not in the data region:
     * offsets in the results region, [out * captured + slot], and the same on
     * the device. */
    struct region results_region, places_region;
    uint64_t *places;
    bool replayed; /* the last run was one that left them there */
};

void side_init(struct side *d, const struct device_ops *ops, void *dev,
               const struct task *task, int as);
void side_close(struct side *d); /* idempotent */

/* All return 0, 1 (the runner's reply said no), or -1 as session_call; the
 * reply is d->reply. FDS: the source, and what it compiled ahead, if anything.
 */
int side_load(struct side *d, const char *role, const char *class_name,
              uint64_t seed, const int *fds, size_t n_fds,
              struct err *e) MUST_USE;
/* Reference only: DTYPE for all floating parameters. */
int side_cast(struct side *d, int dtype, struct err *e) MUST_USE;
/* Values of d->state to OUT (d->state.bytes). */
int side_state_get(struct side *d, uint8_t *out, struct err *e) MUST_USE;
/* Give ST's values to what has the same name and shape. */
int side_state_set(struct side *d, const struct state *st,
                   struct err *e) MUST_USE;
int side_mode(struct side *d, bool train, struct err *e) MUST_USE;

/* Bytes of the data region that SLOTS slots need. */
size_t side_need(const struct side *d, size_t slots);
/* A new placement: fresh secret offsets and guards, and the runner's bind. */
int side_place(struct side *d, struct gen *g, size_t slots,
               struct err *e) MUST_USE;

/* Put input IN of N slots from SLOT on into the image: rows FROM, in the task's
 * dtype. */
void side_input(struct side *d, size_t slot, size_t n, size_t in,
                struct rows from);
/* Write the image: inputs with decoys in salted places, poison in all
 * outputs. side_salt then writes what was held back. */
void side_fill(struct side *d, struct gen *g);
void side_salt(struct side *d);
/* Keep all results of a ring of N slots in the image, out of the runner's
 * reach, and what CHAIN has written into inputs. False when that is not what
 * the outputs say. */
bool side_keep(struct side *d, size_t n, const struct chain *chain);
/* Where result X of each slot is kept. */
struct rows side_result(const struct side *d, const struct result *x);

/* Let it capture the first N slots, chained, so that side_run of just these
 * replays what was captured. KEEP: its outputs may stay where they are
 * computed. Only on a device that captures, at most once a placement. */
int side_capture(struct side *d, size_t n, const struct chain *chain, bool keep,
                 double limit_s, struct err *e) MUST_USE;
int side_run(struct side *d, size_t first, size_t n, const struct chain *chain,
             double limit_s, struct turn *t, struct err *e) MUST_USE;

/* Does a forward of slot 0 multiply matrices or convolve? The reply's
 * `products`. Only the reference is asked. */
int side_products(struct side *d, double limit_s, struct err *e) MUST_USE;
/* Which kernels forwards of the first N slots run, as its process tells: the
 * reply has [{name, ns}]. On a device that captures. */
int side_profile(struct side *d, size_t n, double limit_s,
                 struct err *e) MUST_USE;

/* The time of a turn and of an empty one by the device's way of timing, in
 * seconds; and that of one of N forwards. */
double side_turn_s(const struct side *d, const struct turn *t);
double side_overhead_s(const struct side *d);
double forward_s(double turn_s, double overhead_s, size_t n);

/* Places of outputs that a ring of the first N slots leaves, relative to D's
 * data region, drawn by G: some of each, at most CAP; how many. */
size_t side_samples(const struct side *d, struct gen *g, size_t n,
                    struct spot *out, size_t cap);
/* The elements that a ring of N slots chained, relative to the data region:
 * N - 1, of slot 0 first. */
void side_chained(const struct side *d, size_t n, const struct chain *chain,
                  struct spot *out);

/* After side_keep: do all inputs and guards hold what they should? */
struct intact {
    bool inputs, guards;
};
struct intact side_intact(const struct side *d);

#endif
