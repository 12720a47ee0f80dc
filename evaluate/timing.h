/* SPDX-License-Identifier: MIT */
/*
 * Statistics of ring times. A pair is one ring of the reference and one of the
 * candidate on the same data; pairs are never taken apart.
 */
#ifndef KM_EVALUATE_TIMING_H
#define KM_EVALUATE_TIMING_H

#include "base.h"

struct pair {
    double reference_s, candidate_s;   /* of the whole ring, as measured */
    double reference_ns, candidate_ns; /* of one forward, without overhead */
    int placement;
    bool disturbed; /* the machine took the core away during either ring */
};

struct ratio {
    double reference_ns, candidate_ns;         /* medians over the pairs used */
    double ratio, low, high;                   /* 95 % over placements */
    double reference_spread, candidate_spread; /* quartile range / median */
    size_t used, dropped, placements;
};

/*
 * log ratio = mean over placements of the trimmed mean (a fifth off each end)
 * of log(reference / candidate) of the placement's pairs; interval by Student's
 * t over the placements. Placements without an undisturbed pair do not count.
 * False when fewer than two placements are left.
 */
bool timing_ratio(const struct pair *pairs, size_t n, struct ratio *out);

/* Sorts V. */
double timing_median(double *v, size_t n);
/* Sorts V; mean without CUT of the values at each end (0 <= CUT < 0.5). */
double timing_trimmed(double *v, size_t n, double cut);
/* 97.5 % quantile of Student's t. */
double timing_t975(size_t degrees);

#endif
