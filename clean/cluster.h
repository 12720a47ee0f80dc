/* SPDX-License-Identifier: MIT */
/*
 * Which modules repeat which. The members of a run are collected first and
 * judged together, so that the outcome does not depend on their order: the one
 * with the most permissive licence comes first, among equal ones that with the
 * smallest id. A member with the digest of an earlier one is its duplicate; one
 * that is as similar as asked to an earlier representative is a near-duplicate
 * of the most similar one; any other is a representative itself. So every
 * near-duplicate is like its representative, not only like others that are.
 *
 * All of it lies in SQLite: members and outcomes in a temporary file,
 * representatives with the keys of their bands in the index, which is a
 * temporary file too or one that outlives the run. Memory is that of the page
 * caches and of a sort: 303 MB for a million members. An index is changed by
 * one transaction when all members are known, before any of them is written:
 * what a run decided once is found again by the next one.
 */
#ifndef KM_CLEAN_CLUSTER_H
#define KM_CLEAN_CLUSTER_H

#include "clean/minhash.h"
#include "err.h"
#include "hash.h"

enum cluster_kind { CLUSTER_FIRST, CLUSTER_SAME, CLUSTER_NEAR };

struct outcome {
    enum cluster_kind kind;
    char cluster[ID_HEX + 1];  /* the representative, maybe itself */
    char original[ID_HEX + 1]; /* SAME, NEAR: what it repeats */
    double similarity;         /* NEAR: estimated Jaccard index */
};

struct cluster;
/* INDEX NULL = for this run only. H is borrowed. An index that was made with
 * other parameters is ERR_VERSION. */
int cluster_open(struct cluster **out, const char *index,
                 const struct minhash *h, struct err *e) MUST_USE;
/* The next member: RANK of its licence (the lower the earlier), its id, its
 * digest (HASH_HEX digits), its signature (NULL: only exact duplicates). */
int cluster_add(struct cluster *c, int rank, struct span id, struct span digest,
                const unsigned char *signature, struct err *e) MUST_USE;
/* Judge all members; the index is complete when this returns. */
int cluster_judge(struct cluster *c, struct err *e) MUST_USE;
/* The outcomes in the order of cluster_add. */
int cluster_next(struct cluster *c, struct outcome *out,
                 struct err *e) MUST_USE;
void cluster_close(struct cluster *c);

#endif
