/* SPDX-License-Identifier: MIT */
/*
 * The data of one ring: fresh inputs of every slot in the judge's own memory,
 * and what the reference makes of them.
 */
#ifndef KM_EVALUATE_RING_H
#define KM_EVALUATE_RING_H

#include "evaluate/compare.h"
#include "evaluate/side.h"

#define EXACTS 16 /* slots of a ring that have exact results, at most */

struct ring {
    const struct device_ops *ops;
    void *dev;
    const struct task *task;
    size_t n, cap;
    struct region in, expect, exact; /* exact: of EXACTS slots */
    size_t exact_stride;             /* bytes */
    enum config_id config[SLOTS_MAX];
    bool usable[SLOTS_MAX]; /* the reference was finite there */
    /* 1 + where the slot's results by the float64 reference are, 0 = none. */
    uint8_t exact_at[SLOTS_MAX];
    int n_exact;
};

/* Of D's task, on its device. ERR_INFRASTRUCTURE. ring_release in any case. */
int ring_init(struct ring *r, const struct side *d, size_t cap,
              struct err *e) MUST_USE;
void ring_release(struct ring *r);

place_t ring_in(const struct ring *r, size_t slot, size_t in);
place_t ring_expect(const struct ring *r, size_t slot, size_t res);
/* 0 where there is none. */
place_t ring_exact(const struct ring *r, size_t slot, size_t res);

/* Fresh inputs for N slots of CONFIG. LATER: jitter applies. */
void ring_generate(struct ring *r, struct gen *g, const enum config_id *config,
                   size_t n, bool later);
/* All inputs of slot FROM to slot TO. */
void ring_copy(struct ring *r, size_t from, size_t to);
/* All slots to the same slots of D's image (d->slots >= r->n). */
void ring_load(const struct ring *r, struct side *d);
/* Slot FROM to slot TO of D's image. */
void ring_load_slot(const struct ring *r, size_t from, struct side *d,
                    size_t to);
/* Were the same results expected of slots A and B? */
bool ring_same(const struct ring *r, size_t a, size_t b);

/* After a forward of D (the reference) over all slots: its results become what
 * is expected. Slots that are not finite become unusable. */
void ring_take(struct ring *r, struct side *d);
/* The same from the float64 reference D, whose results are kept: its slot FROM
 * is slot SLOT here. At most EXACTS slots. False when it is not finite. */
bool ring_take_exact(struct ring *r, const struct side *d, size_t slot,
                     size_t from);
/* Take over the chained elements that the candidate D left, as inputs. False
 * when one is not finite. */
bool ring_take_chain(struct ring *r, const struct side *d,
                     const struct chain *chain);

/* Of each slot, whether the candidate's results are alike (device.h) what is
 * expected, as far as they are close ones. */
void ring_alike(const struct ring *r, const struct side *candidate, bool *out);
/* The candidate's results of SLOT against what is expected. ERROR: E / s of
 * each result under this configuration. */
void ring_compare(const struct ring *r, const struct side *candidate,
                  size_t slot, const struct own_error *error, double terms,
                  struct compared *out);
/* The reference's own error in result RES of SLOT, which has exact values. */
struct own_error ring_own_error(const struct ring *r, size_t slot, size_t res);
/* Would zeros pass `strict` in this slot? */
bool ring_zero_passes(const struct ring *r, size_t slot,
                      const struct own_error *error, double terms);

#endif
