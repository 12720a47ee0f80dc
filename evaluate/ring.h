/* SPDX-License-Identifier: MIT */
/*
 * The data of one ring: fresh inputs of every slot in the judge's own memory,
 * and what the reference makes of them.
 */
#ifndef KM_EVALUATE_RING_H
#define KM_EVALUATE_RING_H

#include "evaluate/compare.h"
#include "evaluate/side.h"

struct ring {
    const struct device_ops *ops;
    void *dev;
    const struct task *task;
    size_t n, cap;
    enum config_id config[SLOTS_MAX];
    uint8_t *in;            /* n * task->in_stride */
    uint8_t *expect;        /* n * task->res_stride */
    bool usable[SLOTS_MAX]; /* the reference was finite there */
    bool has_exact[SLOTS_MAX];
    double *exact; /* n * numel of all results, where has_exact */
    size_t exact_stride;
};

/* Of D's task, on its device. */
void ring_init(struct ring *r, const struct side *d, size_t cap);
void ring_release(struct ring *r);

uint8_t *ring_in(const struct ring *r, size_t slot, size_t in);
uint8_t *ring_expect(const struct ring *r, size_t slot, size_t res);
double *ring_exact(const struct ring *r, size_t slot, size_t res);

/* Fresh inputs for N slots of CONFIG. LATER: jitter applies. */
void ring_generate(struct ring *r, struct gen *g, const enum config_id *config,
                   size_t n, bool later);
/* All slots to the same slots of D's image (d->slots >= r->n). */
void ring_load(const struct ring *r, struct side *d);
/* Slot FROM to slot TO of D's image. */
void ring_load_slot(const struct ring *r, size_t from, struct side *d,
                    size_t to);

/* After a forward of D (the reference) over all slots: its results become what
 * is expected. Slots that are not finite become unusable. */
void ring_take(struct ring *r, const struct side *d);
/* The same from the float64 reference D: its slot FROM is slot SLOT here.
 * False when it is not finite. */
bool ring_take_exact(struct ring *r, const struct side *d, size_t slot,
                     size_t from);
/* Take over the chained elements that the candidate D left, as inputs. False
 * when one is not finite. */
bool ring_take_chain(struct ring *r, const struct side *d,
                     const struct chain *chain);

/* The candidate's results of SLOT against what is expected. ERROR: E / s of
 * each result under this configuration. */
void ring_compare(const struct ring *r, const struct side *candidate,
                  size_t slot, const struct own_error *error, double terms,
                  struct compared *out);
/* Would zeros pass `strict` in this slot? */
bool ring_zero_passes(const struct ring *r, size_t slot,
                      const struct own_error *error, double terms);

#endif
