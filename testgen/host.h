/* SPDX-License-Identifier: MIT */
/*
 * What every command of km-testgen needs of the machine: an interpreter with
 * torch, the sandbox, a memo of results, and in each worker a probe and a
 * parser.
 */
#ifndef TESTGEN_HOST_H
#define TESTGEN_HOST_H

#include "hash.h"
#include "opt.h"
#include "py/pytree.h"
#include "store.h"
#include "testgen/probe.h"

struct host_conf {
    const char *python; /* NULL: KM_PYTHON, then the cache's */
    int64_t memory;     /* bytes of one module beyond torch itself */
    double cpu_s;       /* CPU seconds of one module */
    bool store, weak;
};
extern struct host_conf host_conf;
extern const struct opt host_opts[]; /* the options that fill it */

struct host {
    char *python;
    char torch[80]; /* version, "" = no torch here */
    /* in a worker */
    struct probe probe;
    struct pyparser *parser;
    struct store *store;
};

/* Find the interpreter and its torch, without importing it; a warning when
 * there is none. -1 with ERR_SANDBOX when foreign code can't be confined. */
int host_open(struct host *h, struct err *e) MUST_USE;
/* In a worker, once; dies when it can't work. META: modules will run on the
 * meta device. */
void host_start(struct host *h, bool meta);
void host_release(struct host *h);

/* Key of the memo: limits and versions, then PARTS, which end with a NULL
 * pointer. */
void host_key(const struct host *h, const struct span *parts,
              char key[HASH_HEX + 1]);
/* What was kept under KEY, in A; NULL when there is nothing. */
struct val *host_recall(struct host *h, struct arena *a, const char *key);
/* Keep V, unless a limit of wall-clock time was hit on the way. */
void host_remember(struct host *h, const char *key, const struct val *v);

/* Is E the source's own fault, so that another run ends the same? */
bool host_is_verdict(const struct err *e);
/* What a source does to its process is its own fault as long as it was CPU
 * time or memory that ran out: E becomes ERR_FORWARD. */
void host_blame(struct err *e, bool wall);
/* Addresses and folders in a message differ from run to run: in TEXT
 * "0x7f.." becomes "0x", "/a/b/c.py" becomes "c.py". */
void host_scrub(char *text);

#endif
