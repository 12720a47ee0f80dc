/* SPDX-License-Identifier: MIT */
/*
 * For files whose inner loops go over all data of all rings: the optimizer may
 * make vectors, and functions marked VECTORS exist for AVX2 as well, chosen
 * when the program starts. Neither changes a result but for the last bit.
 */
#ifndef KM_EVALUATE_VECTORS_H
#define KM_EVALUATE_VECTORS_H

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3,no-math-errno,no-trapping-math")
#endif
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) &&         \
    !defined(__SANITIZE_ADDRESS__)
#define VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define VECTORS
#endif

#endif
