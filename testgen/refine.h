/* SPDX-License-Identifier: MIT */
/* What to try after a failed attempt. */
#ifndef TESTGEN_REFINE_H
#define TESTGEN_REFINE_H

#include "testgen/moves.h"

/* Fill M->list (M's other fields set by the caller) from M->reply; sorted by
 * weight. The regular expressions of refine.def are compiled at the first
 * call. */
void refine(struct moves *m);

#endif
