/* SPDX-License-Identifier: MIT */
/* What facts.c and flow.c share: a walk over one method. */
#ifndef TESTGEN_FACTS_WALK_H
#define TESTGEN_FACTS_WALK_H

#include "testgen/facts.h"

#define FOLLOW_DEPTH 4

/* One method that is read. */
struct usage {
    const struct facts *f;
    const struct pydef *cls; /* class whose method is read; NULL: a function */
    const struct pydef *top; /* class that is built or run */
    struct params *ps;       /* parameters of the method */
    bool forward;
    int depth;
    unsigned *left; /* methods that may still be followed */
};

/* Method NAME of class D or of the first base in this source that has it. */
const struct pydef *walk_method(const struct facts *f, const struct pydef *d,
                                const char *name, int depth);
/* Parameters of a function; those of a METHOD without self. */
void walk_signature(const struct facts *f, const struct pydef *m, bool method,
                    struct params *out);
/* What METHOD (of U->cls) does with U->ps. */
void walk_uses(const struct usage *u, const struct pydef *method);
/* The parameter that N names: an identifier, or `p.a` and `p["a"]` where
 * "p.a" is one. */
struct param *walk_param(const struct usage *u, TSNode n);
/* N is self.NAME. */
bool walk_is_member(const struct facts *f, TSNode n, struct span name);
/* Of a string literal, without quotes. */
struct span walk_string(const struct facts *f, TSNode n);

/* fields.c: what METHOD does with the attributes of its arguments. */
void objects_read(struct facts *f, const struct pydef *method);

/* flow.c: self.NAME = VALUE in class CLS; a null node when there is none. */
TSNode flow_built(const struct facts *f, const struct pydef *cls,
                  struct span name);
/* Shapes: b, c = p.shape, and where p goes in the call N. */
void flow_shape(const struct usage *u, TSNode n);
void flow_call(const struct usage *u, TSNode n);

#endif
