/* SPDX-License-Identifier: MIT */
/* Ranges of integer inputs. */
#ifndef TESTGEN_RANGES_H
#define TESTGEN_RANGES_H

#include "testgen/state.h"

/*
 * STATE with the ranges that its run found: REPLY's `limits` tells of the
 * inputs, by number, in how many places they look something up, also when that
 * failed. NULL when they are those already.
 */
struct val *ranges_found(struct arena *a, const struct facts *f,
                         const struct val *state, const struct val *reply);

#endif
