/* SPDX-License-Identifier: MIT */
/*
 * Ordered pool of worker processes (forks of the caller). Items go out in
 * order, results come back in the same order whatever the number of workers;
 * a worker that dies or overruns costs its item only.
 */
#ifndef KM_POOL_H
#define KM_POOL_H

#include "buf.h"
#include "err.h"

enum { POOL_PASSED = 1 };

struct pool_ops {
    /* In the worker: turn ITEM into OUT. 0, or -1 with E. Called for one item
     * after another; WORKER_STATE is what `start` returned. */
    int (*work)(void *state, struct span item, struct buf *out, struct err *e);
    /* In the worker, once, before the first item; may be NULL. */
    void *(*start)(void *payload);
    /* In the parent, in input order. STATUS 0 = OUT is valid; POOL_PASSED =
     * ITEM came by pool_pass, there is no OUT; -1 = E says what happened
     * (CRASH, TIMEOUT, MEMORY or the worker's own error); ITEM is the input.
     * Returns 0, or -1 to stop the pool. */
    int (*result)(void *payload, struct span item, int status, struct span out,
                  struct err *e);
    void *payload;
    int jobs;        /* 1 .. 256 */
    double cpu_s;    /* CPU seconds an item may take (0 = no limit); wall
                        limit is ten times that */
    double idle_s;   /* seconds an item may go on without any CPU time, as one
                        that opened a pipe does (0 = no limit); not for work
                        that waits for processes of its own */
    int64_t memory;  /* RLIMIT_AS of a worker, 0 = none */
    size_t max_item; /* bytes of an item or a result */
};

struct pool;
struct pool *pool_new(const struct pool_ops *ops);
/* Hand in one item (copied). Blocks while the window is full, delivering
 * results meanwhile. -1 when a result callback stopped the pool. */
int pool_put(struct pool *p, struct span item, struct err *e) MUST_USE;
/* An item that needs no work but must keep its place in the order. */
int pool_pass(struct pool *p, struct span item, struct err *e) MUST_USE;
int pool_drain(struct pool *p, struct err *e) MUST_USE; /* until all are out */
void pool_free(struct pool *p); /* kills what still runs */

#endif
