/* SPDX-License-Identifier: MIT */
/* Content ids (SHA-256) and fast checksums (XXH3). */
#ifndef KM_HASH_H
#define KM_HASH_H

#include "base.h"

#define HASH_HEX 64 /* digits of a whole SHA-256 */
#define ID_HEX   32 /* digits of a record id: the first half */

struct sha256; /* opaque, streaming */
struct sha256 *sha256_new(void);
void sha256_add(struct sha256 *h, const void *p, size_t n);
/* Length-prefixed (8 bytes, little-endian), so that fields cannot run into
 * one another. */
void sha256_add_field(struct sha256 *h, struct span s);
void sha256_hex(struct sha256 *h, char out[HASH_HEX + 1]); /* ends H */
void sha256_free(struct sha256 *h);

/* 2 * N digits and a NUL. */
void hex_encode(char *out, const void *p, size_t n);
void hash_sha256_hex(char out[HASH_HEX + 1], struct span s);
uint64_t hash_fast(struct span s, uint64_t seed);

#endif
