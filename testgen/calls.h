/* SPDX-License-Identifier: MIT */
/*
 * What a module's record says of the places that make it (`calls`,
 * docs/records.md), as states to begin with. Records come from outside: of
 * what they hold only plain values and names of identifiers and dots get into
 * a state, and a call that is not as described adds none.
 */
#ifndef TESTGEN_CALLS_H
#define TESTGEN_CALLS_H

#include "testgen/state.h"

#define CALLS_MAX 6 /* states of one module */

/*
 * Append the states, in A; what CALLS (may be NULL) leaves open is proposed, or
 * follows from the source. CHEAP: only those with small sizes, or only the
 * others.
 */
void calls_states(struct arena *a, const struct facts *f,
                  const struct val *calls, bool cheap, struct val *list);

#endif
