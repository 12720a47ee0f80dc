/* SPDX-License-Identifier: MIT */
/* Element types of tensors: sizes, names, and the way to double and back. */
#ifndef KM_EVALUATE_DTYPE_H
#define KM_EVALUATE_DTYPE_H

#include "base.h"
#include "evaluate/km_candidate.h"

enum { DTYPE_COUNT = KM_BOOL + 1 };

/* Names as in task records: "float32", "int64", ... -1 when unknown. */
int dtype_find(struct span name);
const char *dtype_name(int dtype);
size_t dtype_size(int dtype);
bool dtype_is_float(int dtype);
/* Unit roundoff: half the distance from 1 to the next value (0 for
 * integers). */
double dtype_roundoff(int dtype);
/* N elements; int64 beyond 2^53 loses low bits. */
void dtype_to_double(int dtype, const void *src, double *dst, size_t n);
/* Rounds to nearest even for floats, towards zero for integers. */
void dtype_from_double(int dtype, const double *src, void *dst, size_t n);
void dtype_from_float(int dtype, const float *src, void *dst, size_t n);

#endif
