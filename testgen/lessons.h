/* SPDX-License-Identifier: MIT */
/* What a task that runs tells about the modules inside it. */
#ifndef TESTGEN_LESSONS_H
#define TESTGEN_LESSONS_H

#include "testgen/probe.h"
#include "testgen/state.h"

/*
 * Run PARENT ({rec, task}: a module record and the text of a task of it) and
 * see how it builds and calls CLASS. States in A go to OWN when every name in
 * them is known to the source of F, else to FOREIGN (lists): these need the
 * source of the parent. A parent that tells nothing adds nothing. -1 is a fault
 * of this machine.
 */
int lesson_ask(struct arena *a, struct probe *p, const struct val *parent,
               struct span class, const struct facts *f, struct val *own,
               struct val *foreign, struct err *e) MUST_USE;

#endif
