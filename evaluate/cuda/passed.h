/* SPDX-License-Identifier: MIT */
/* What the judge's kernels are given and leave, as C and CUDA C++ both read
 * it. Addresses of the GPU are numbers. */
#ifndef KM_EVALUATE_CUDA_PASSED_H
#define KM_EVALUATE_CUDA_PASSED_H

#include <stdint.h>

#define KERNEL_THREADS 256 /* of a block; a power of two */

/* struct fill of evaluate/generate.h, for one tensor. */
enum { DATA_NORMAL, DATA_UNIFORM, DATA_INTS, DATA_BOOLS, DATA_STRUCTURE };

#define DATA_SPIKES 8

struct data {
    uint64_t to, n, stream;
    uint32_t key[2];
    int dtype, kind;
    double lo, hi, p, factor;
    int bounds;
    float level;
    double slope_last, slope_first;
    uint64_t last, rows, flat, flat_end;
    int n_spikes;
    uint64_t spike_at[DATA_SPIKES];
    float spike[DATA_SPIKES];
};

#define PASS_ULP_BINS   34
#define PASS_JUDGEMENTS 3

/* What one block counted. */
struct totals {
    double sum_sq, max_abs, max_rel;
    uint64_t outside[PASS_JUDGEMENTS], nan, inf, bad, ulp[PASS_ULP_BINS];
};

/* struct spot of evaluate/device.h. */
struct place {
    uint64_t at, size;
    uint8_t value[8];
};

/* struct rows of evaluate/device.h, or, with PLACES, rows at AT plus each of
 * these. */
struct strip {
    uint64_t at, pitch, places;
};

/* What is counted of one row. */
struct row {
    double squares;
    uint64_t bad;
};

/* One pass of a comparison; EXACT is 0 where there is none. The limits are
 * those of evaluate/compare.h; OUT: totals of each block. */
struct pass {
    uint64_t candidate, reference, exact;
    uint64_t n;
    int dtype;
    double kb, kbv, t, s, own, own_rel, ulps;
    uint64_t out;
};

#endif
