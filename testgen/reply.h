/* SPDX-License-Identifier: MIT */
/*
 * Replies of lib/run/probe.py, which shares its process with the module that it
 * runs: what is no reply of the probe's form is none at all.
 */
#ifndef TESTGEN_REPLY_H
#define TESTGEN_REPLY_H

#include "val.h"

/* Counts of a reply are at most so large. */
#define REPLY_MAX ((int64_t)1 << 53)

/* Has REPLY to OP `ok`, a reason where that is false, and each field that
 * becomes part of a record, or is reckoned with, the form that the probe gives
 * it? */
bool reply_sound(const struct val *reply, struct span op);
/* The same for a list of inputs (docs/records.md, task.inputs; of what is not
 * settled yet a field may be missing). */
bool reply_inputs_sound(const struct val *list);
/* Is every number of the list MUTATES that of one of N inputs? */
bool reply_mutates_sound(const struct val *mutates, size_t n);

#endif
