/* SPDX-License-Identifier: MIT */
#ifndef KM_EVALUATE_CHAIN_H
#define KM_EVALUATE_CHAIN_H

#include "evaluate/reference.h"

#define CHAIN_BELOW_S 50e-6 /* forwards shorter than this are chained */

/* Fill ref->chains, or say in ref->no_chain why there is none. */
int reference_find_chains(struct reference *ref, struct gen *g,
                          struct err *e) MUST_USE;

#endif
