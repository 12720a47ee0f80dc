/* SPDX-License-Identifier: MIT */
/*
 * Functions that launch a kernel, beside which the repository has the same in
 * plain torch: `rms_norm_fn` and `rms_norm_ref` of one file.
 */
#ifndef KM_CLEAN_REFERENCE_H
#define KM_CLEAN_REFERENCE_H

#include "clean/recover.h"

/* Unit U is a function that cannot be had for X: put a call of its reference,
 * where it has one, in its place. Arguments that the reference does not take
 * must be what they are by default, else the call raises. */
bool reference_cut(struct closure *c, const struct unit *u,
                   const struct fault *x);
/* Append the function that D makes of unit U. */
int reference_write(const struct closure *c, const struct unit *u,
                    const struct dcut *d, struct buf *out) MUST_USE;

#endif
