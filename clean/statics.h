/* SPDX-License-Identifier: MIT */
/*
 * What expressions of a repository are worth without running it: literals and
 * what is made of them, constants, defaults of parameters, of dataclasses and
 * of argparse, attributes that a constructor sets, and classes and functions by
 * name. It is evidence, no proof: a name has the value of its last binding
 * before, a parameter its default.
 */
#ifndef KM_CLEAN_STATICS_H
#define KM_CLEAN_STATICS_H

#include "py/pyrepo.h"
#include "val.h"

/*
 * A value: plain ones as they are, lists, and maps of one of these forms:
 *   {tuple: LIST}, {dict: {NAME: VALUE}}
 *   {name: TEXT}          of torch, dotted
 *   {own: [PATH, NAME]}   a class or function at the top of a file
 *   {call: NAME or OWN, args: LIST, kw: {NAME: VALUE}}
 *   {unknown: true}       only among arguments
 */
struct sfile {
    struct pymod *m; /* borrowed */
    struct pytree tree;
    bool open;          /* the tree is there */
    bool options_known; /* argparse: name -> struct option */
    struct map options;
    const uint32_t *lines; /* of a configuration (config.h): its line for each
                              of m's; else NULL */
};

#define STATICS_BUSY 16

struct statics {
    struct pyrepo *names;
    struct pyparser *parser;
    struct arena *arena; /* of values */
    ARRAY(struct sfile *) files;
    struct map by_path;
    size_t n_open;
    int steps;                              /* left for the present question */
    const struct pysym *busy[STATICS_BUSY]; /* bindings that it goes through */
    int n_busy;
};

void statics_init(struct statics *s, struct pyparser *p, struct arena *a);
void statics_release(struct statics *s); /* the files' models stay */
/* All files are added before the first question. M is borrowed. */
struct sfile *statics_add(struct statics *s, struct pymod *m);
/* The tree of F; a null node when it cannot be had. It stays until
 * statics_close, which gives back all trees. */
TSNode statics_root(struct statics *s, struct sfile *f);
void statics_close(struct statics *s);
/* Set the work that may be done from here on. */
void statics_begin(struct statics *s);

/* Value of expression N of F; NULL when it is not known. */
struct val *statics_value(struct statics *s, struct sfile *f, TSNode n);
/* The same for the name DOTTED read at AT of F. */
struct val *statics_name(struct statics *s, struct sfile *f, uint32_t at,
                         struct span dotted);
/* Node of the value that NAME, read at AT of F, was bound to last in this file,
 * or a null node. What is done with it is done before statics_leave. */
TSNode statics_bound(struct statics *s, struct sfile *f, uint32_t at,
                     struct span name);
void statics_leave(struct statics *s);
/* The arguments of argument list N into ARGS and KW; what is not known is
 * {unknown: true}, a starred mapping that is not known is left out. -1: their
 * places are not known. */
int statics_arguments(struct statics *s, struct sfile *f, TSNode n,
                      struct val *args, struct val *kw);
/* Items of a list or tuple, NULL for anything else. */
const struct val *statics_items(const struct val *v);
/* Node N, or the first one around it, that is of TYPE; at most UP levels. */
TSNode statics_around(TSNode n, const char *type, int up);
/* Smallest named node at [START, END) of F. */
TSNode statics_node(struct statics *s, struct sfile *f, uint32_t start,
                    uint32_t end);

#endif
