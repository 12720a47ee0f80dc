/* SPDX-License-Identifier: MIT */
/* The rules that a module's outputs must keep, over the probe's figures. */
#ifndef TESTGEN_GATE_H
#define TESTGEN_GATE_H

#include "testgen/state.h"

/* Outputs whose range is below this carry nothing, nor do those whose standard
 * deviation is below it and below a tenth of their magnitude (the rows of a
 * softmax are small but vary). */
#define GATE_SPREAD   0.01
#define GATE_RELATIVE 0.1

/* In the order in which they are looked at. */
enum gate_rule {
    GATE_PASSED,
    GATE_UNINITIALISED,
    GATE_NONDETERMINISTIC,
    GATE_NOT_FINITE,
    GATE_SIZED,
    GATE_IDENTITY,
    GATE_UNUSED_INPUT,
    GATE_CONSTANT,
    GATE_FLAT,
    GATE_UNUSED_PARAMETER,
    GATE_TRAIN_MODE
};

/* The first rule that is broken. */
enum gate_rule gate_rule(const struct val *figures);
/* 0, or -1 with ERR_QUALITY and a text for that rule. INPUTS: task.inputs, for
 * their names. */
int gate_check(const struct val *figures, const struct val *inputs,
               struct err *e);
/* Another state that may pass, the I-th idea for the broken rule; *MORE says
 * whether there are further ones. NULL: this one does not apply. */
struct val *gate_mend(struct arena *a, const struct facts *f,
                      const struct val *state, const struct val *figures, int i,
                      bool *more);

#endif
