/* SPDX-License-Identifier: MIT */
/*
 * A task that others wrote, or that was changed: what its source says of
 * itself, and what is measured when it runs (lib/run/examine.py).
 */
#ifndef TESTGEN_EXAMINE_H
#define TESTGEN_EXAMINE_H

#include "testgen/host.h"
#include "val.h"

/*
 * SOURCE defines class ENTRY and get_inputs, once TAIL (may be empty) stands
 * behind it. The task's source is SOURCE, unchanged where it is in KernelBench
 * form (class Model, get_init_inputs a flat list of plain values that go by
 * position); else TAIL and what brings it into that form are appended.
 *
 * One forward is measured on the meta device, or for real where that can't do
 * it; what is small enough goes through the quality gate. What does not fit in
 * memory or time has `unmeasured`.
 *
 * *FOUND, in A and kept in the store: {core: {field: value}, note, code} with
 * NOTE and CODE (testgen.quality, testgen.unverified) when it is not verified,
 * or {code, note} of what is wrong with the source. -1: this machine's fault.
 */
int examine(struct host *h, struct arena *a, struct span source,
            struct span entry, struct span tail, struct val **found,
            struct err *e) MUST_USE;
/* The fields of FOUND into record REC of kind task, or its failure. */
void examine_fill(struct arena *a, struct val *rec, const struct val *found);
/* REC, sealed and packed. What is in it came out of a foreign process: -1 with
 * ERR_TOO_LARGE when no reader would take it. */
int examine_pack(struct arena *a, struct val *rec, struct buf *out,
                 struct err *e) MUST_USE;

#endif
