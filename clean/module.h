/* SPDX-License-Identifier: MIT */
/* One module record: from its place in a repository to a standalone source. */
#ifndef KM_CLEAN_MODULE_H
#define KM_CLEAN_MODULE_H

#include "clean/repo.h"
#include "hash.h"
#include "schema.h"

/* By what duplicates of a cleaned module are found. */
struct likeness {
    char digest[HASH_HEX + 1]; /* tokens_digest; "" when it failed */
    unsigned char *signature;  /* dup_signature, in the arena; may be NULL */
};

/*
 * Fill in source, entry, imports and inlined of REC, or fail it (rec_fail).
 * A is for the record.
 */
void module_clean(struct crepo *r, struct pyparser *p, struct arena *a,
                  struct val *rec, struct likeness *like);

#endif
