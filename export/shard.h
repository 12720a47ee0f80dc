/* SPDX-License-Identifier: MIT */
/* A shard file seen from outside: what the manifest says about it. */
#ifndef KM_SHARD_H
#define KM_SHARD_H

#include "hash.h"
#include "val.h"

#define SHARD_NAME_MAX 64

struct shard_info {
    char name[SHARD_NAME_MAX];
    char kind[16], split[16];
    uint64_t records; /* without header and end */
    uint64_t raw_bytes, bytes, frames;
    char sha256[HASH_HEX + 1], raw_sha256[HASH_HEX + 1];
};

/* Fill INFO but for name, kind and split from the file at PATH: digests of
 * the file and of the stream in it, and the stream's own check (digest,
 * counts, schema of each record). NAME is for messages. */
int shard_measure(struct shard_info *info, const char *path, const char *name,
                  struct err *e) MUST_USE;
/* The same for a JSON lines file: records = lines, frames = 0. */
int shard_measure_jsonl(struct shard_info *info, const char *path,
                        const char *name, struct err *e) MUST_USE;

/* KIND[-valid]-NNNNN.SUFFIX; the training split is not named. */
void shard_name(char out[SHARD_NAME_MAX], const char *kind, const char *split,
                unsigned index, const char *suffix);
/* Is NAME one that shard_name makes? */
bool shard_name_ok(const char *name);

struct val *shard_val(struct arena *a, const struct shard_info *info);
/* Back from the manifest; -1 when fields are missing or not plausible. */
int shard_from_val(struct shard_info *info, const struct val *v,
                   struct err *e) MUST_USE;

#endif
