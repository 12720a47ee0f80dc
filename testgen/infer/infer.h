/* SPDX-License-Identifier: MIT */
/*
 * Sizes from the source alone: a state whose constructor's numbers and inputs'
 * shapes, dtypes and ranges are such that what the layers and functions in
 * __init__ and forward ask of them holds, as far as that is understood.
 */
#ifndef TESTGEN_INFER_INFER_H
#define TESTGEN_INFER_INFER_H

#include "testgen/state.h"

/* STATE with other numbers and shapes, in A; NULL when nothing was learnt from
 * the source or what was learnt cannot be. */
struct val *infer_state(struct arena *a, const struct facts *f,
                        const struct val *state);

#endif
