/* SPDX-License-Identifier: MIT */
/* The first document of a YAML or JSON text as a tree (by libyaml). */
#ifndef KM_CLEAN_YAML_H
#define KM_CLEAN_YAML_H

#include "array.h"

#define YAML_NONE (-1)

enum ynode_kind { YNODE_SCALAR, YNODE_LIST, YNODE_MAP, YNODE_ALIAS };

/* Numbers of nodes are indices; YAML_NONE where there is none. */
struct ynode {
    enum ynode_kind kind;
    bool plain;       /* a scalar without quotes */
    uint32_t line;    /* from 1 */
    int up;           /* the node that holds it */
    int first, next;  /* child; sibling. A map's are key, value, key, value */
    int to;           /* of an alias: what it stands for, never an alias */
    struct span tag;  /* "!new:a.B", "tag:yaml.org,2002:str", or empty */
    struct span text; /* of a scalar, UTF-8 */
};

struct ytree {
    struct arena arena;
    ARRAY(struct ynode) nodes; /* 0 is the root */
};

/* Read TEXT into T (zeroed before). -1: broken, empty, or beyond the bounds on
 * nodes and nesting. Either way T is to be
 * released. */
int ytree_read(struct ytree *t, struct span text) MUST_USE;
void ytree_release(struct ytree *t);
/* The node that N stands for: N itself unless it is an alias. */
int ytree_at(const struct ytree *t, int n);

#endif
