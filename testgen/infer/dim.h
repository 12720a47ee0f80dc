/* SPDX-License-Identifier: MIT */
/*
 * Sizes that are not known yet: sums of products of variables, what must hold
 * between them, and values for all that hold. Every variable has a value that
 * is taken where nothing says otherwise.
 *
 * A `const struct dim *` is immutable, lives in the arena of its `dims`, and
 * may be NULL everywhere: a size of which nothing is known.
 */
#ifndef TESTGEN_INFER_DIM_H
#define TESTGEN_INFER_DIM_H

#include "array.h"

#define DIM_FACTORS 4

/* k times the product of n variables, in ascending order. */
struct dim_term {
    int64_t k;
    uint8_t n;
    uint16_t v[DIM_FACTORS];
};

struct dim {
    size_t n; /* terms, none of them zero; no terms: 0 */
    struct dim_term t[];
};

/* Whose variable is given up first when two are found equal. */
enum dim_rank { DIM_FREE, DIM_INPUT, DIM_INIT };

enum dim_def { DEF_NONE, DEF_FLOOR, DEF_ROOT };

struct dim_var {
    enum dim_rank rank;
    int64_t value;           /* where nothing says otherwise */
    const struct dim *bound; /* NULL: free */
    enum dim_def def;        /* what it was made as: */
    const struct dim *a, *b; /* floor(a / b); a root of a (free itself) */
    uint64_t turn;           /* when it was last looked at, */
    int64_t now;             /* and its value then */
};

enum dim_rule {
    DIM_ZERO,    /* a = 0 */
    DIM_DIVIDES, /* b divides a */
    DIM_POSITIVE /* a >= 1 */
};

struct dim_need {
    enum dim_rule rule;
    const struct dim *a, *b;
};

struct dims {
    struct arena *a;
    ARRAY(struct dim_var) vars;
    ARRAY(struct dim_need) needs;
    int conflicts; /* equalities of unequal numbers */
    uint64_t turn; /* number of the walk over variables at hand */
    uint64_t work; /* variables that the solver looked up */
};

void dims_init(struct dims *s, struct arena *a);
void dims_release(struct dims *s);

const struct dim *dim_int(struct dims *s, int64_t k);
const struct dim *dim_var(struct dims *s, int64_t value, enum dim_rank rank);
const struct dim *dim_add(struct dims *s, const struct dim *x,
                          const struct dim *y);
const struct dim *dim_sub(struct dims *s, const struct dim *x,
                          const struct dim *y);
const struct dim *dim_mul(struct dims *s, const struct dim *x,
                          const struct dim *y);
/* The largest whole number not above x / y. */
const struct dim *dim_floor(struct dims *s, const struct dim *x,
                            const struct dim *y);
/* The number whose square x is, which must be one. */
const struct dim *dim_root(struct dims *s, const struct dim *x);

/* X is one number whatever the variables are. */
bool dim_known(struct dims *s, const struct dim *x, int64_t *out);
/* X with the values that its variables have as things stand; 0 for NULL. */
int64_t dim_value(struct dims *s, const struct dim *x);
/* The same, and its variables keep these values. */
int64_t dim_settle(struct dims *s, const struct dim *x);
/* X, if it is a free variable, is VALUE where nothing says otherwise. */
void dim_prefer(struct dims *s, const struct dim *x, int64_t value);
/* Are they the same as things stand? Nothing is added. */
bool dim_same(struct dims *s, const struct dim *x, const struct dim *y);

/* From now on: */
void dim_equal(struct dims *s, const struct dim *x, const struct dim *y);
void dim_divides(struct dims *s, const struct dim *whole,
                 const struct dim *part);
void dim_positive(struct dims *s, const struct dim *x);

/* Choose values of free variables so that as many needs as possible hold:
 * number of those that do not. */
int dims_solve(struct dims *s);

#endif
