/* SPDX-License-Identifier: MIT */
/* What a standalone source is compared with others by. */
#ifndef KM_CLEAN_DUP_H
#define KM_CLEAN_DUP_H

#include "clean/minhash.h"
#include "clean/tokens.h"
#include "val.h"

/* Tokens of a class from which near-duplicates are looked for: in smaller ones
 * a single other operator, which makes them another, changes too little. */
#define DUP_MIN_TOKENS 50

/*
 * MinHash signature of the tokens, minhash_size(h) bytes in A; NULL when there
 * are fewer than a gram has, or the class is too small. Its part is the class
 * ENTRY: two classes that do different things with the same large helpers are
 * no duplicates.
 */
unsigned char *dup_signature(const struct tokens *t, const struct pydef *entry,
                             const struct minhash *h, struct arena *a);

/*
 * How permissive the licence of REC and of the parts in it is, the strictest
 * one counting: 0 = public domain, 1 = asks for its notice, 2 = and for more
 * (Apache), 3 = copyleft by file, 4 = of the whole, 5 = over a network too,
 * 6 = unknown. The list is licence.def. "A OR B" counts as the better one.
 */
#define DUP_RANKS 7
int dup_licence_rank(const struct val *rec);

#endif
