/* SPDX-License-Identifier: MIT */
/* Shapes that a module's record has from its docstrings and comments. */
#ifndef TESTGEN_TOLD_H
#define TESTGEN_TOLD_H

#include "testgen/state.h"

/*
 * STATE with the ranks that SHAPES (`module.shapes`, may be NULL; not trusted)
 * tells of tensors whose rank is a guess, and equal sizes where these have one
 * name, in A; NULL when nothing changes.
 */
struct val *told_state(struct arena *a, const struct facts *f,
                       const struct val *state, const struct val *shapes);

#endif
