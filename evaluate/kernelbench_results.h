/* SPDX-License-Identifier: MIT */
/*
 * What KernelBench's scripts wrote of a run: eval_results.json, in the forms
 * that there were so far. By problem, one result ("eval_from_generations.py"
 * of its first versions), a list of results with their `sample_id` (since it
 * takes several samples), or results by sample.
 */
#ifndef KM_EVALUATE_KERNELBENCH_RESULTS_H
#define KM_EVALUATE_KERNELBENCH_RESULTS_H

#include "err.h"
#include "mem.h"

#define KB_RESULTS_BYTES (16u << 20)
#define KB_RESULTS_MAX   100000u
#define KB_NUMBER_DIGITS 6 /* of a level, problem or sample */

enum kb_said {
    KB_CORRECT,
    KB_WRONG,
    KB_NOT_COMPILED,
    KB_RUNTIME_ERROR,
    KB_ABSENT, /* no result */
    KB_SAID_COUNT
};

const char *kb_said_name(enum kb_said said); /* "correct", "not_compiled" */
int kb_said_find(struct span name);          /* -1 */

struct kb_result {
    int32_t problem, sample;
    enum kb_said said;
    bool compiled, used; /* used: for the caller */
    double ms;           /* of a forward; 0 = not measured */
    struct span reason;  /* one line, "" when there is none */
    struct span hardware;
    size_t place; /* in the file: of two the later one counts */
};

struct kb_results {
    struct kb_result *v; /* by problem, then sample */
    size_t n;
    size_t broken;   /* entries that are no results */
    size_t repeated; /* results that a later one of the same sample replaces */
    struct arena mem;
};

/* Digits without a leading zero, at most KB_NUMBER_DIGITS; -1 = something
 * else. */
int32_t kb_number(struct span digits);

/* JSON of at most KB_RESULTS_BYTES. An entry that is no result is counted.
 * -1: the whole is none (CORRUPT, TRUNCATED, TOO_LARGE, BROKEN_INPUT).
 * OUT is to be released in either case. */
int kb_results_read(struct kb_results *out, struct span json,
                    struct err *e) MUST_USE;
struct kb_result *kb_results_find(const struct kb_results *r, int32_t problem,
                                  int32_t sample);
void kb_results_release(struct kb_results *r);

#endif
