/* SPDX-License-Identifier: MIT */
/*
 * The launch plan of a candidate in language `cuda`: lines of its source that
 * say what a forward launches, in order. `#pragma km` followed by one of
 *
 *     let NAME = EXPRESSION
 *     scratch NAME EXPRESSION          so many bytes of memory, kept between
 *                                      forwards; what they hold is not defined
 *     zero TENSOR                      all bytes of an output or a scratch
 *     launch KERNEL<<<GRID, BLOCK>>>(ARGUMENT, ...)
 *     launch KERNEL<<<GRID, BLOCK, SHARED>>>(ARGUMENT, ...)
 *     init KERNEL<<<...>>>(...)        once, and again whenever the parameters
 *                                      have changed; no inputs and outputs
 *
 * KERNEL may be a template's instance. GRID and BLOCK are an expression or (X,
 * Y) or (X, Y, Z), SHARED are bytes. A backslash continues a line.
 *
 * A tensor is in0, in1, ... (the arguments of forward, lists flattened), out0,
 * ..., a parameter by the reference's name for it (conv.weight, in quotes where
 * that is no identifier), or a scratch. An ARGUMENT is a tensor, whose address
 * it is; int(E), long(E), float(E), double(E); or an expression, which is an
 * int.
 *
 * Expressions know + - * / % and parentheses, min(a, b), max(a, b),
 * ceil_div(a, b), sqrt(a), TENSOR.numel, TENSOR.ndim, TENSOR.shape[E],
 * sm_count, what was defined before, and the value of an argument of forward
 * that is a number. Whole numbers are 64 bits wide, and divided as C divides
 * them.
 *
 * The text is hostile: lengths, depth and numbers are bounded, every operation
 * that overflows is an error.
 */
#ifndef KM_EVALUATE_CUDA_PLAN_H
#define KM_EVALUATE_CUDA_PLAN_H

#include "err.h"
#include "mem.h"

#define PLAN_STATEMENTS 64
#define PLAN_ARGS       32

enum plan_verb { PLAN_LET, PLAN_SCRATCH, PLAN_ZERO, PLAN_LAUNCH, PLAN_INIT };

struct plan_statement {
    enum plan_verb verb;
    int line;
    const char *kernel; /* of a launch */
    struct span rest;   /* behind the verb, or behind the kernel's name */
};

struct plan {
    struct plan_statement v[PLAN_STATEMENTS];
    size_t n;
};

/* The statements of SOURCE; text is A's. ERR_PARSE: one is unknown, there are
 * too many, or nothing is launched. */
int plan_read(struct plan *p, struct arena *a, struct span source,
              struct err *e) MUST_USE;

enum plan_place { PLAN_IN, PLAN_OUT, PLAN_PARAM, PLAN_BUFFER };

/* What a name stands for: a tensor, or a number. */
struct plan_named {
    bool number, real;
    int64_t i;
    double f;
    enum plan_place place;
    size_t index; /* among its kind */
    int ndim;
    const int64_t *shape;
    int64_t numel;
};

struct plan_arg {
    enum { ARG_ADDRESS, ARG_INT, ARG_LONG, ARG_FLOAT, ARG_DOUBLE } kind;
    enum plan_place place; /* ARG_ADDRESS */
    size_t index;
    int64_t i;
    double f;
};

/* A statement with its numbers. Of PLAN_ZERO the first argument alone. */
struct plan_step {
    enum plan_verb verb;
    size_t statement;
    uint32_t grid[3], block[3], shared;
    struct plan_arg args[PLAN_ARGS];
    size_t n_args;
};

struct plan_bound {
    struct plan_step steps[PLAN_STATEMENTS];
    size_t n_steps;
    int64_t scratch[PLAN_STATEMENTS]; /* bytes */
    size_t n_scratch;
};

struct plan_names {
    /* False: there is no such tensor or number. */
    bool (*find)(void *payload, struct span name, struct plan_named *out);
    void *payload;
    int64_t sm_count;
};

/* Fill B from P for tensors as NAMES tells them. ERR_PARSE with the line. */
int plan_bind(const struct plan *p, const struct plan_names *names,
              struct plan_bound *b, struct err *e) MUST_USE;

#endif
