/* SPDX-License-Identifier: MIT */
/*
 * A data set folder: shards of records and manifest.json. Everything is
 * written under temporary names; dataset_commit then gives the shards their
 * names and the manifest last, so a folder with a manifest is whole.
 */
#ifndef KM_DATASET_H
#define KM_DATASET_H

#include "array.h"
#include "export/shard.h"
#include "io.h"
#include "rec.h"

#define DATASET_FORMAT  "kernelmill-dataset"
#define DATASET_VERSION 1

struct dataset_options {
    int64_t shard_size;        /* raw bytes after which the next shard begins */
    bool jsonl;                /* also as JSON lines */
    bool force;                /* write into a folder that holds other things */
    const struct val *options; /* of the program, for headers */
    const struct val *upstream; /* header of the input, or NULL */
};

struct dataset_stream; /* open shard of one kind and split */

struct dataset {
    char *dir;
    struct dataset_options o;
    struct outfile manifest;
    ARRAY(struct dataset_stream *) streams;
    ARRAY(struct shard_info) shards, jsonl;
    ARRAY(struct outfile) files; /* finished, not yet named */
};

/* Make or take over the folder DIR. It must be empty, or hold a data set of
 * ours (also one whose making was killed), unless FORCE. */
int dataset_open(struct dataset *d, const char *dir,
                 const struct dataset_options *o, struct err *e) MUST_USE;
/* Write REC (sealed). KIND and SPLIT are literals. ERR_TOO_LARGE costs the
 * record only. */
int dataset_put(struct dataset *d, const char *kind, const char *split,
                const struct val *rec, struct err *e) MUST_USE;
/* Close the shards: then d->shards and d->jsonl are complete. */
int dataset_finish(struct dataset *d, struct err *e) MUST_USE;
/* Name all files, remove what an earlier export left, write MANIFEST. */
int dataset_commit(struct dataset *d, const struct val *manifest,
                   struct err *e) MUST_USE;
/* Drop what was not committed; harmless after commit. */
void dataset_release(struct dataset *d);

/* Read the manifest of DIR and check all that it says. COUNT gets the number
 * of shards and records. */
int dataset_verify(const char *dir, uint64_t *shards, uint64_t *records,
                   struct err *e) MUST_USE;

#endif
