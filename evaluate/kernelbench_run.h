/* SPDX-License-Identifier: MIT */
/*
 * A run folder of KernelBench as revisions: eval_results.json and beside it the
 * candidates, level_L_problem_P_sample_S_kernel.py. Nothing in the folder is
 * trusted: no symbolic link is followed, sizes and numbers are bounded, and a
 * candidate that can't be read costs one record.
 */
#ifndef KM_EVALUATE_KERNELBENCH_RUN_H
#define KM_EVALUATE_KERNELBENCH_RUN_H

#include "buf.h"
#include "err.h"
#include "map.h"
#include "val.h"

/* Which task stands for a problem of a level. */
struct kb_places {
    struct map ids;  /* "LEVEL/PROBLEM" -> struct kb_place */
    size_t repeated; /* tasks of a place that is taken */
    struct arena mem;
};
#define KB_PLACES_INIT                                                         \
    {                                                                          \
        MAP_INIT, 0, ARENA_INIT                                                \
    }

/* A task without level or problem, and a variant, have no place. One of
 * KernelBench goes before those of other benchmarks, then the first counts. */
void kb_places_add(struct kb_places *p, const struct val *task);
void kb_places_release(struct kb_places *p);

struct kb_run;

/* PATH names eval_results.json or the folder that holds it. PLACES is borrowed
 * until kb_run_free. NULL: the folder or the results can't be read, or the
 * files are of several levels, between which the results do not tell. */
struct kb_run *kb_run_open(const char *path, const struct kb_places *places,
                           struct err *e);
/* The next candidate by problem and sample, a revision with what the run said
 * of it in `recorded`: KM_OK or KM_END. One that can't be read is a record that
 * says so. */
int kb_run_next(struct kb_run *r, struct arena *a, struct val **rec);
/* Lines for people, once all are taken: how many there were, files without a
 * result, results without a file, problems without a task. */
void kb_run_report(const struct kb_run *r, struct buf *out);
void kb_run_free(struct kb_run *r);

#endif
