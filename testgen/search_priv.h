/* SPDX-License-Identifier: MIT */
/* What the parts of a search share: search.c looks for what runs, attempt.c
 * runs one state, full.c proves the text and finds full sizes. */
#ifndef TESTGEN_SEARCH_PRIV_H
#define TESTGEN_SEARCH_PRIV_H

#include "map.h"
#include "mem.h"
#include "testgen/moves.h"
#include "testgen/search.h"

#define ATTEMPT_S 1.0 /* CPU seconds of one attempt */

struct node {
    struct val *state, *reply;
    struct moves moves;
    bool expanded;
    size_t next;
    int64_t score;
    uint64_t kind; /* of failure: hash of place and message without numbers */
    int repeats;   /* earlier nodes of this kind */
};

struct search {
    struct arena *a;
    struct probe *p;
    struct facts *f;
    struct span source, entry;
    const struct search_conf *conf;
    ARRAY(struct node) nodes;
    struct map seen;
    int attempts, deaths, overruns;
    double cpu, fork_cpu;        /* seconds: of earlier forks, of this one */
    bool shapes;                 /* it is too large to be computed as it is */
    struct val *wide;            /* the state that ran on shapes, before it was
                                    reduced; NULL: none */
    struct val *gated, *figures; /* what the gate saw last of a task's text */
};

/* ---- attempt.c ---- */

/* A fresh process for SOURCE. -1: this machine's fault, with E. */
int search_load(struct search *s, struct span source, struct span entry,
                struct val **reply, struct err *e) MUST_USE;
/* OP with the texts of STATE (NULL: without). */
struct val *search_request(struct search *s, const char *op,
                           const struct val *state);
/* One request, its CPU time and its deaths counted. */
void search_call(struct search *s, struct val *msg, double cpu_s,
                 struct val **reply);
/* One line about one attempt, for -vv. */
void search_tell(const struct search *s, const struct val *state,
                 const struct val *reply);
/* STATE, computed, in the process that is there or in a fresh one. */
int search_attempt(struct search *s, const struct val *state,
                   struct val **reply, struct err *e) MUST_USE;
/* One attempt of the search; what takes too long to be computed runs on shapes
 * alone, and where it runs so, something smaller is computed: *STATE and *REPLY
 * are what was tried last. */
int search_try(struct search *s, struct val **state, struct val **reply,
               struct err *e) MUST_USE;
/* The CPU time of this attempt was used up. */
bool search_overran(const struct val *reply);
enum err_code search_death(const struct val *reply);

/* ---- full.c ---- */

/* The text of a state that runs, in a fresh process: run, measured and gated.
 * What it gives is in OUT. */
int search_prove(struct search *s, struct val *state, struct found *out,
                 struct err *e) MUST_USE;
/* OUT->state passed the gate and is loaded: it becomes the small twin of a
 * larger one. WIDE: as grow_run's OTHER. */
int search_full_size(struct search *s, struct found *out, struct val *wide,
                     struct err *e) MUST_USE;

#endif
