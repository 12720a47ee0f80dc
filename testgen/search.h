/* SPDX-License-Identifier: MIT */
/*
 * From the facts of a module to a state that runs and passes the gate: tries,
 * reads the failure, tries again, the most promising attempt first.
 */
#ifndef TESTGEN_SEARCH_H
#define TESTGEN_SEARCH_H

#include "testgen/probe.h"
#include "testgen/state.h"

struct search_conf {
    int attempts;
    double cpu_s; /* of one module */
    bool gpu;     /* sizes for a GPU, with a small twin */
    /* List of states to begin with, from those that use the module (NULL: what
     * its own source suggests). */
    const struct val *seeds;
    const struct val *calls;  /* of the record, or NULL: states beside those */
    const struct val *shapes; /* of the record, or NULL */
};

struct found {
    struct val *state;
    struct val *tried;   /* reply of `try` in a fresh process */
    struct val *measure; /* reply of `measure` */
    bool on_meta;        /* these two are of `shapes`: it was not computed */
    struct val *small;   /* what passed the gate, NULL: state itself */
    struct val *small_tried, *small_measure;
    struct span small_source;
    struct val *odd;    /* list of {state, tried}: with small's constructor */
    struct span source; /* the whole text that was run; after a failure the
                           one that came furthest, if it was built at all */
    int attempts;       /* these two also after a failure */
    double cpu_s;
    bool stochastic;
    struct val *mutates; /* list of indices */
};

/*
 * SOURCE defines class ENTRY; F are its facts (signatures are corrected by
 * what the interpreter reports). All results in A. -1 with ERR_PARSE,
 * ERR_NO_PROPOSAL, ERR_CONSTRUCT, ERR_FORWARD, ERR_QUALITY (the module's
 * fault), ERR_TIMEOUT, ERR_MEMORY, ERR_CRASH (it ended the process, each
 * time), or ERR_UNAVAILABLE, ERR_SANDBOX, ERR_SYS (this machine's).
 */
int search_run(struct found *out, struct arena *a, struct probe *p,
               struct facts *f, struct span source, struct span entry,
               const struct search_conf *c, struct err *e) MUST_USE;

/* SOURCE, Model, get_inputs and get_init_inputs in one text. */
int search_source(struct buf *out, const struct facts *f,
                  const struct val *state, struct span source,
                  struct span entry) MUST_USE;

#endif
