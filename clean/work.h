/* SPDX-License-Identifier: MIT */
/*
 * One repository in one worker. An item is a flag byte and the packed records
 * of a repository; a result is a sequence of frames, each a tag byte and a
 * packed record: FRAME_PLAIN passes on; between the tag and a cleaned module
 * FRAME_DIGEST has the rank of its licence as a byte and the HASH_HEX digits of
 * tokens_digest, FRAME_SIGNED these and minhash_size bytes of its signature.
 */
#ifndef KM_CLEAN_WORK_H
#define KM_CLEAN_WORK_H

#include "clean/policy.h"
#include "rec.h"

enum { ITEM_WHOLE = 'w', ITEM_TOO_LARGE = 't' };
enum { FRAME_PLAIN = 'p', FRAME_DIGEST = 'd', FRAME_SIGNED = 's' };

/* A module of an item; sorted by path, line and place in the stream. */
struct module_at {
    struct val *rec;
    struct span packed;
    size_t n; /* place in the stream */
};

int module_at_compare(const void *a, const void *b);

struct work; /* parser and policy of a worker */
struct work *work_new(const struct policy *policy);
void work_free(struct work *w);
/* Clean the modules of ITEM. -1 only for a malformed item or a full OUT. */
int work_item(struct work *w, struct span item, struct buf *out,
              struct err *e) MUST_USE;

#endif
