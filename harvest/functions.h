/* SPDX-License-Identifier: MIT */
/* Functions of a file that compute on tensors: tasks as modules are. */
#ifndef KM_HARVEST_FUNCTIONS_H
#define KM_HARVEST_FUNCTIONS_H

#include "py/pyrepo.h"

/* False for the files of tests. */
bool functions_wants(struct span path);
/*
 * D, a definition of FULL (read in full, with its tree), is a function at
 * module level that takes a tensor and computes with it: no test, command,
 * fixture, generator or kernel. REPO knows the file as OUTLINE.
 */
bool function_computes(struct pyrepo *repo, const struct pymod *outline,
                       const struct pymod *full, const struct pydef *d);

#endif
