/* SPDX-License-Identifier: MIT */
/*
 * What a worker keeps from one commit of a repository to the next: the open
 * repository, the texts of its files, their models. Commits of a history have
 * nearly all files in common, so each version is read and parsed once.
 */
#ifndef KM_HARVEST_BLOBS_H
#define KM_HARVEST_BLOBS_H

#include "harvest/gitrepo.h"
#include "harvest/notebook.h"
#include "py/pymod.h"

/* Texts kept beyond the commit at hand, in bytes. */
#define BLOBS_MAX ((size_t)64 << 20)

/* One version of one file. */
struct blob {
    bool read; /* `text` is there; false: to be filled in by the caller */
    struct span text;
    struct nbcells cells;
    struct pymod *mod; /* NULL until parsed; its path is the file's */
    unsigned used;     /* number of the last commit that had it */
};

struct blobs;
struct blobs *blobs_new(void);
void blobs_free(struct blobs *b);
/* Begin a commit of the repository at PATH, which is opened unless it was the
 * last one; all of another repository is forgotten. -1 as gitrepo_open. */
int blobs_begin(struct blobs *b, const char *path, struct gitrepo **out,
                struct err *e) MUST_USE;
/* The blob OID as file PATH; borrowed until the next blobs_begin. */
struct blob *blobs_get(struct blobs *b, const char *oid, const char *path);

#endif
