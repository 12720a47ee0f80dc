/* SPDX-License-Identifier: MIT */
/*
 * What is done with a candidate ahead of the judge, in worker processes: its
 * normal form, static findings, and its compilation (of PyTorch candidates what
 * they compile themselves).
 */
#ifndef KM_EVALUATE_PREPARE_H
#define KM_EVALUATE_PREPARE_H

#include "evaluate/outcome.h"
#include "hash.h"
#include "map.h"

struct prepare_conf {
    const struct map *tasks; /* id -> struct buf *, packed record */
    const char *store;       /* path, or NULL for the default */
    bool no_store;
    int require;        /* enum jail_level of compilers */
    const char *python; /* of builders; NULL for the default */
    const char *device_class;
    const struct val *options; /* of verdicts; part of the key */
};

/* Compilation: not needed, done, refused (the candidate's fault, MESSAGE says
 * why), or not possible here (CODE and MESSAGE). */
enum build_state { BUILD_NONE, BUILD_DONE, BUILD_REFUSED, BUILD_FAILED };

struct prepared {
    char key[HASH_HEX + 1];    /* of the verdict in the store */
    char normal[HASH_HEX + 1]; /* of the source's normal form */
    bool stored;               /* it was there: nothing was compiled */
    struct val *findings, *contract;
    struct span forbidden; /* text of a finding of grade forbid, or empty */
    enum build_state build;
    enum err_code code;
    struct span message, compiler;
    /* The shared object, or of language torch what it compiled; borrowed. */
    struct span object;
};

/* For lib/pool.h, in the worker. */
void *prepare_start(const struct prepare_conf *c);
int prepare_work(void *state, struct span item, struct buf *out, struct err *e);
/* Read what prepare_work made; text is A's, the object borrows from BYTES. */
int prepare_read(struct arena *a, struct span bytes, struct prepared *p,
                 struct err *e) MUST_USE;

#endif
