/* SPDX-License-Identifier: MIT */
/*
 * MinHash (Broder 1997) over sets of 32-bit hashes, with bands for finding
 * what is alike (locality-sensitive hashing), and signatures cut to one byte a
 * permutation (Li and König 2010) for judging it.
 */
#ifndef KM_CLEAN_MINHASH_H
#define KM_CLEAN_MINHASH_H

#include "base.h"

#define MINHASH_MAX 1024 /* permutations */

struct minhash {
    unsigned shingle;      /* tokens of a gram */
    unsigned permutations; /* 1 .. MINHASH_MAX */
    double similarity;     /* Jaccard index from which sources are alike */
    unsigned bands, rows;  /* bands * rows <= permutations */
    uint32_t mul[MINHASH_MAX], add[MINHASH_MAX];
};

/*
 * Choose bands and rows: the most rows with which a pair that is as similar as
 * asked shares a band with a probability of at least 0.8, which is
 * 1 - (1 - s^rows)^bands. For 256 and 0.7: 32 bands of 8.
 */
void minhash_init(struct minhash *h, unsigned shingle, unsigned permutations,
                  double similarity);
/* A packed signature is of two sets, a whole and the part of it that matters
 * most: keys of the bands of the whole (8 bytes each, little-endian), then a
 * byte a permutation of the whole, and of the part. Its bytes: */
size_t minhash_size(const struct minhash *h);
/* Signature of N > 0 hashes of the whole and N_PART of the part into OUT. */
void minhash_sign(const struct minhash *h, const uint32_t *v, size_t n,
                  const uint32_t *part, size_t n_part, unsigned char *out);
uint64_t minhash_band(const unsigned char *signature, unsigned i);
/* Estimate of the Jaccard index of two signatures, 0 to 1: the smaller one of
 * wholes and parts. The standard deviation of either is
 * sqrt(s (1 - s) / permutations), 0.03 for 256. */
double minhash_similarity(const struct minhash *h, const unsigned char *a,
                          const unsigned char *b);

#endif
