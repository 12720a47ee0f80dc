/* SPDX-License-Identifier: MIT */
/*
 * Changes of a state that a failed attempt suggests, each with a weight. Here
 * are the primitive ones; refine.h maps error messages to them.
 */
#ifndef TESTGEN_MOVES_H
#define TESTGEN_MOVES_H

#include "testgen/propose.h"

struct move {
    struct val *state;
    int weight; /* higher first */
};

struct moves {
    struct arena *a;
    const struct facts *f;
    const struct val *state; /* that failed */
    const struct val *reply; /* how: see lib/run/probe.py */
    bool construct;          /* it failed before forward */
    ARRAY(struct move) list;
};

void moves_release(struct moves *m);
void moves_sort(struct moves *m);

/* The output is an object: its tensors are taken. */
void moves_unwrap(struct moves *m, int weight);
/* A size GOT was met where WANT was needed: dimensions, products and sums of
 * them, and constructor arguments that may be the cause. */
void moves_size(struct moves *m, int64_t got, int64_t want, int weight);
/* GOT must become a multiple of DIVISOR. */
void moves_divide(struct moves *m, int64_t got, int64_t divisor, int weight);
/* An input of rank GOT (0 = any) must have rank WANT. PATTERN: left side of an
 * einops pattern or empty. */
void moves_rank(struct moves *m, int want, int got, struct span pattern,
                int weight);
/* An input becomes of another type. FORM: "int64", "bool", "float32",
 * "number", "list", "uniform", "scalar". */
void moves_form(struct moves *m, const char *form, int weight);
/* Integer inputs get smaller bounds. */
void moves_range(struct moves *m, int weight);
/* The last dimension of an input, or of all, becomes SIZE, MATRIX: and the rank
 * 2. */
void moves_last(struct moves *m, int64_t size, bool matrix, int weight);
/* All spatial dimensions become SIDE. */
void moves_side(struct moves *m, int64_t side, int weight);
/* The argument NAME (of the constructor or of forward) is passed too. */
void moves_supply(struct moves *m, struct span name, int weight);
void moves_drop(struct moves *m, struct span name, int weight);
/* An argument of forward is an object (KEYED: a dict) with FIELD. */
void moves_field(struct moves *m, struct span field, bool keyed, int weight);
/* Constructor argument NAME gets VALUE. */
void moves_init(struct moves *m, struct span name, struct val *value,
                const char *evidence, int weight);
/* Integers FROM in the expressions of constructor arguments become TO. */
void moves_number(struct moves *m, int64_t from, int64_t to, int weight);
/* Large integers in them become an eighth. */
void moves_shrink(struct moves *m, int weight);
/* Constructor arguments whose value is a KIND ("Linear", "SimpleNamespace")
 * get attribute ATTR. */
void moves_attribute(struct moves *m, struct span kind, struct span attr,
                     int weight);
/* A layer of torch that is a constructor's argument is called in another way:
 * others that take more arguments. */
void moves_layers(struct moves *m, int weight);
/* Sequences among the constructor's arguments that the failing statement names
 * get WANT items. */
void moves_length(struct moves *m, int64_t want, int weight);
/* Constructor argument NAME gets values of other kinds, most likely first. */
void moves_kinds(struct moves *m, struct span name, int weight);

/* NAME occurs in the statement that failed: 2 in the innermost frame, 1 in one
 * further out, 0 not at all. */
int moves_named(const struct moves *m, struct span name);
/* An argument of the operator that failed is this very input. */
bool moves_direct(const struct moves *m, struct span input);

#endif
