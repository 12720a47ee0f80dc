/* SPDX-License-Identifier: MIT */
/* What tensor.c and views.c share. */
#ifndef TESTGEN_INFER_VIEWS_H
#define TESTGEN_INFER_VIEWS_H

#include "testgen/infer/interp.h"

enum tensor_rule {
    TR_NONE,
    TR_UNKNOWN, /* a tensor of which nothing is known */
    TR_SAME,    /* as its first */
    TR_FLOAT,   /* the same as numbers */
    TR_INT,     /* ... as indices */
    TR_BOOL,
    TR_BROADCAST,
    TR_LOGIC,  /* x < y */
    TR_MASKED, /* masked_fill */
    TR_VIEW,
    TR_PERMUTE,
    TR_TRANSPOSE,
    TR_TURN, /* the last two change places */
    TR_FLATTEN,
    TR_FLATTEN_BATCH, /* nn.Flatten(): all but the first */
    TR_UNFLATTEN,
    TR_UNSQUEEZE,
    TR_SQUEEZE,
    TR_CAT,
    TR_STACK,
    TR_CHUNK,
    TR_SPLIT,
    TR_UNBIND,
    TR_MATMUL,
    TR_REDUCE,
    TR_ARG,     /* argmax */
    TR_EXTREME, /* max: with a dimension two tensors */
    TR_SORT,
    TR_TOPK,
    TR_EXPAND,
    TR_AS_OTHER, /* expand_as */
    TR_REPEAT,
    TR_SIZE,
    TR_RANK,
    TR_COUNT,
    TR_FCONV,
    TR_FLINEAR,
    TR_FEMBED,
    TR_ONE_HOT,
    TR_PAD,
    TR_INTERPOLATE,
    TR_FADAPTIVE,
    TR_FPOOL,
    TR_SHUFFLE,
    TR_UNSHUFFLE,
    TR_ATTENTION,
    TR_MAKE, /* zeros(sizes) */
    TR_ARANGE,
    TR_GATHER,
    TR_PICK, /* index_select */
    TR_HALVE /* glu */
};

/* Functions whose first argument is no tensor: NULL for all others. */
struct aval *view_make(struct interp *in, enum tensor_rule rule,
                       struct span name, struct actuals *c);
/* Functions that rearrange the dimensions of X; NULL when RULE is none. */
struct aval *view_call(struct interp *in, enum tensor_rule rule,
                       struct tensor *x, struct actuals *c);

#endif
