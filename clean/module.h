/* SPDX-License-Identifier: MIT */
/* One module record: from its place in a repository to a standalone source. */
#ifndef KM_CLEAN_MODULE_H
#define KM_CLEAN_MODULE_H

#include "clean/repo.h"
#include "hash.h"
#include "schema.h"

/*
 * Fill in source, entry, imports and inlined of REC, or fail it (rec_fail).
 * DIGEST is that of dup_digest, "" when it failed. A is for the record.
 */
void module_clean(struct crepo *r, struct pyparser *p, struct arena *a,
                  struct val *rec, char digest[HASH_HEX + 1]);

#endif
