/* SPDX-License-Identifier: MIT */
/* Digest of a standalone source under which exact duplicates are equal. */
#ifndef KM_CLEAN_DUP_H
#define KM_CLEAN_DUP_H

#include "hash.h"
#include "py/pymod.h"

/* Over the syntax tree of M, which must still have it: white space, comments,
 * and the names of classes, functions, variables and parameters do not count
 * (each is replaced by the order in which it first occurs); attributes,
 * keywords and imported names do. */
void dup_digest(const struct pymod *m, char out[HASH_HEX + 1]);

#endif
