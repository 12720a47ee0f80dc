/* SPDX-License-Identifier: MIT */
/* Inside lib/py: node types as numbers, so that a walk compares no text. */
#ifndef KM_PY_KINDS_H
#define KM_PY_KINDS_H

#include "py/pytree.h"

enum pykind {
    K_none, /* any other type */
#define KIND(name) K_##name,
#include "py/kinds.def"
#undef KIND
    K_count
};

/* Anonymous nodes (keywords, punctuation) are K_none. */
enum pykind pyparser_kind(const struct pyparser *p, TSNode n);
/* Can nothing but expressions be inside of N? */
bool pyparser_is_expression(const struct pyparser *p, TSNode n);
/* alloc.c: before the first use of the parser. */
void pyparser_set_memory(void);

#endif
