/* SPDX-License-Identifier: MIT */
/*
 * Shapes that a class tells its readers: "x: (B, N, C)" in docstrings and
 * comments, which the source loses. Evidence, no proof: the field `shapes`,
 * docs/records.md.
 */
#ifndef KM_CLEAN_SHAPES_H
#define KM_CLEAN_SHAPES_H

#include "py/pymod.h"
#include "val.h"

/* {PARAMETER: [NAME OF A SIZE, ...]} of the forward of class D of M, or of the
 * function D, in A; NULL when nothing is told. */
struct val *shapes_told(struct arena *a, const struct pymod *m,
                        const struct pydef *d);

#endif
