/* SPDX-License-Identifier: MIT */
/* What config.c and config_scalar.c share. */
#ifndef KM_CLEAN_CONFIG_PRIV_H
#define KM_CLEAN_CONFIG_PRIV_H

#include "clean/config.h"
#include "clean/yaml.h"
#include "map.h"

/* A node that makes an object, by name. */
struct maker {
    struct span name;
    int args;       /* map or list of arguments, YAML_NONE: has none */
    int positional; /* a list of more */
    bool beside;    /* the map holds the name, too */
    bool partial;   /* it makes a functools.partial, or the class itself */
    bool broken;    /* it names nothing that can be written */
};

struct config {
    const struct ytree *t;
    struct maker *makers; /* per node; without a name: makes nothing */
    bool *queued;         /* per node: it is in the queue */
    ARRAY(int) queue;     /* nodes that get a statement */
    struct buf body;      /* the statements */
    struct map imports;   /* modules that they need */
    bool hyper;           /* HyperPyYAML; else the others */
    int left;             /* children that may still be looked at */
};

/* Write the name of the statement for node N. */
void config_refer(struct config *c, int n);
/* Write scalar N. */
void config_scalar(struct config *c, int n);
/* Write S as a string of Python; `...` where that needs escapes. */
void config_string(struct config *c, struct span s);
/* Value of KEY in map N, the last one, or YAML_NONE. */
int config_child(struct config *c, int n, struct span key);

#endif
