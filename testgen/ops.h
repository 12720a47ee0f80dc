/* SPDX-License-Identifier: MIT */
/* The table of ATen's operators (ops.def), and what it says of a forward. */
#ifndef TESTGEN_OPS_H
#define TESTGEN_OPS_H

#include "val.h"

enum op_family {
#define FAMILY(name, text) OP_FAMILY_##name,
#define OP(name, kind, shape, flops, bytes, family)
#include "testgen/ops.def"
#undef FAMILY
#undef OP
    OP_FAMILY_NONE
};

enum op_shape {
    OP_SHAPE_SAME,
    OP_SHAPE_BROADCAST,
    OP_SHAPE_MATMUL,
    OP_SHAPE_CONV,
    OP_SHAPE_POOL,
    OP_SHAPE_REDUCE,
    OP_SHAPE_INDEX,
    OP_SHAPE_JOIN,
    OP_SHAPE_VIEW,
    OP_SHAPE_SIZES,
    OP_SHAPE_OWN
};

enum op_flops {
    OP_FLOPS_NONE,
    OP_FLOPS_POINT,
    OP_FLOPS_FEW,
    OP_FLOPS_INPUT,
    OP_FLOPS_MATMUL,
    OP_FLOPS_CONV,
    OP_FLOPS_ATTENTION,
    OP_FLOPS_RNN,
    OP_FLOPS_SORT,
    OP_FLOPS_FFT,
    OP_FLOPS_LINALG
};

enum op_bytes { OP_BYTES_NONE, OP_BYTES_ALL, OP_BYTES_OUT, OP_BYTES_PICKED };

struct op_row {
    const char *name, *kind;
    enum op_shape shape;
    enum op_flops flops;
    enum op_bytes bytes;
    enum op_family family;
};

/* NAME as ATen calls it, also of one that writes in place; NULL: unknown. */
const struct op_row *op_find(struct span name);

/* OPS: counts by name, as the probe's `measure` gives them. What the forward
 * is mainly about, one of the names in ops.def. */
const char *ops_family(const struct val *ops);
/* [{kind, count}], most frequent first, then by kind; `other` for operators
 * that the table lacks. */
struct val *ops_tags(struct arena *a, const struct val *ops);

#endif
