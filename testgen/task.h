/* SPDX-License-Identifier: MIT */
/* The task record of a module for which a state was found. */
#ifndef TESTGEN_TASK_H
#define TESTGEN_TASK_H

#include "testgen/search.h"

/* What does not depend on where the module came from: the fields of the task
 * without name and origin. This is what the store keeps. */
struct val *task_core(struct arena *a, const struct facts *f,
                      const struct found *found);
/* Fill T's outputs from OUTS, [{shape, dtype}], and what G, the probe's figures
 * of one forward, tell of it; its kind is told from COUNTED (G, or the figures
 * of a small twin, whose operators were run). */
void task_figures(struct arena *a, struct val *t, const struct val *outs,
                  const struct val *g, const struct val *counted);
/* The core of a proposal that was not run. */
struct val *task_core_unverified(struct arena *a, const struct facts *f,
                                 const struct val *state, struct span source);
/* Record of kind task for MODULE (not sealed). */
struct val *task_record(struct arena *a, const struct val *module,
                        const struct val *core);

#endif
