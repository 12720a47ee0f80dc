/* SPDX-License-Identifier: MIT */
/* The rules that a module's outputs must keep, over the probe's figures. */
#ifndef TESTGEN_GATE_H
#define TESTGEN_GATE_H

#include "testgen/state.h"

/* Outputs whose standard deviation or range is below this carry nothing. */
#define GATE_SPREAD 0.01

/* 0, or -1 with ERR_QUALITY and the first broken rule (E may be NULL). INPUTS:
 * task.inputs, for their names. */
int gate_check(const struct val *figures, const struct val *inputs,
               struct err *e);
/* Another state that may pass, the I-th idea for the broken rule; NULL. */
struct val *gate_mend(struct arena *a, const struct facts *f,
                      const struct val *state, const struct val *figures,
                      int i);

#endif
