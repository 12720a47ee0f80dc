/* SPDX-License-Identifier: MIT */
/*
 * Is an output right? All figures are kept, and three named judgements.
 *
 * With c the candidate's element, r the reference's, R the same by a reference
 * cast to float64, t = 1e-3 for float32 and float64, 1e-2 for 16 bits:
 *
 *   kernelbench  |c - r| <= a + a |r|, a = 1e-4 (1e-2 for 16 bits): upstream's
 *                allclose (KernelBench src/kernelbench/eval.py)
 *   kbv          |c - r| <= t + t |r| (KernelBench-Verified, section on
 *                correctness)
 *   strict       |c - R| <= max(t (|R| + s), 2 E, 4 u sqrt(n) max(|R|, s))
 *
 * where s is the size of a small element of R: 16 times the 10 % quantile of
 * what is not zero, at most the root mean square (which it is for normal and
 * uniform values), so that a zero tensor is wrong however small the output is,
 * and a few large columns give the small ones no room; but so large that t s
 * covers what lies below the dtype's smallest normal number (float16: one step
 * between such numbers), which is rounded otherwise in another order. E is the
 * reference's own error, the largest |r - R| of the tensor, or the largest |r -
 * R| / max(|R|, s) times max(|R|, s) where that is less; u the unit roundoff of
 * what sums are kept in (2^-24, for float64 2^-53) and n the number of elements
 * that one output element can depend on (a sum of n terms in any order is off
 * by about u sqrt(n) of its terms' size). Without R (a slot that the float64
 * reference did not run) r stands for it and 3 E, E scaled from the slots of
 * the same configuration that had R, for 2 E. Where products may be computed
 * with TF32's precision E is at least TF32_ERROR times the root mean square or
 * max(|R|, s): whether a library does so is its choice, kernel by kernel, and a
 * candidate's too.
 *
 * NaN or infinity where the reference is finite fails all three.
 *
 * A set is compared row by row of its last dimension, in no order: each row of
 * c, r and R is sorted, then elements are compared as above (floats) or for
 * equality (integers). So a row must hold every element as often as the
 * reference's does.
 */
#ifndef KM_EVALUATE_COMPARE_H
#define KM_EVALUATE_COMPARE_H

#include "evaluate/task.h"

#define ULP_BINS 34 /* 0, 1, 2-3, 4-7, ... */

enum judgement { J_KERNELBENCH, J_KBV, J_STRICT, J_COUNT };
extern const char *const judgement_names[J_COUNT];

/* Merged over tensors, slots and rings. */
struct compared {
    uint64_t slots;
    uint64_t elements;
    uint64_t outside[J_COUNT]; /* elements that fail */
    uint64_t nan, inf;
    double max_abs, max_rel;
    double sum_sq; /* of differences */
    uint64_t ulp[ULP_BINS];
};

void compared_merge(struct compared *into, const struct compared *from);
bool compared_pass(const struct compared *c, enum judgement j);

/* The reference's own error in a tensor, so that it can be used for others of
 * the same configuration. */
struct own_error {
    double part;     /* largest |r - R| / root mean square of R */
    double relative; /* largest |r - R| / max(|R|, s) */
};

/* What TF32 may be off by, of the size of a sum of products with random signs:
 * two roundings to 11 bits, or cuts, which are biased by as much again, and
 * five standard deviations. Half precision's 8 bits are off by more. */
#define TF32_ERROR 3e-3

struct comparison {
    const struct tensor *t;
    bool tf32; /* products of float32 may have its precision */
    enum compare_kind how;
    const void *candidate, *reference; /* of dtype t->dtype */
    const double *exact;               /* R, or NULL */
    struct own_error error; /* of this configuration, for exact NULL */
    double terms;           /* n */
};

/* Compare one tensor and add to OUT (slots is the caller's). Returns false
 * when the reference itself is not finite: then nothing is added. */
bool compare_tensor(const struct comparison *c, struct compared *out);

/* ---- parts that a device's own comparison shares ---- */

/* The limits of one tensor: everything but the element. */
struct limits {
    double kb, kbv; /* absolute and relative */
    double t, s, own, own_rel, ulps;
};

/* s, n and the allowance for the reference's own error as above: OWN is the
 * largest error, OWN_REL that relative to max(|R|, s), of a tensor whose root
 * mean square is RMS, each TIMES. */
struct limits limits_of(int dtype, bool tf32, double s, double rms, double own,
                        double own_rel, double times, double terms);

#define COMPARE_SAMPLES 4096

/* The places of a tensor of NUMEL elements that s is told from, to OUT (room
 * for COMPARE_SAMPLES), spread by a fixed generator so that they follow no row
 * or column; how many. */
size_t sample_places(size_t numel, uint64_t *out);
/* s from N values of R there, which it reorders. */
double small_of(int dtype, double *sample, size_t n, double rms_all);

/* Of the reference's own output against R, which is finite. */
struct own_error reference_error(const struct tensor *t, enum compare_kind how,
                                 const void *reference, const double *exact);
bool all_finite(const struct tensor *t, const void *data);

#endif
