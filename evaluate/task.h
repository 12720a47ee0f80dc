/* SPDX-License-Identifier: MIT */
/*
 * A task record as the judge uses it: its tensors in flat order, the skeleton
 * of the arguments for the runner, and limits checked once.
 */
#ifndef KM_EVALUATE_TASK_H
#define KM_EVALUATE_TASK_H

#include "evaluate/dtype.h"
#include "val.h"

#define TASK_TENSORS 64 /* inputs, and outputs */
#define TASK_SLOT_MAX                                                          \
    (16ull << 30) /* bytes of one forward's in and out; a                      \
                     device may set less */

struct tensor {
    int dtype;
    int ndim;
    int64_t shape[KM_DIMS];
    size_t numel, bytes;
};

enum dist { DIST_NORMAL, DIST_UNIFORM, DIST_INT, DIST_BOOL };

struct input {
    struct tensor t;
    enum dist dist;
    double lo, hi; /* uniform [lo, hi), int [lo, hi] */
    double p;      /* bool: share of true */
    bool mutates;  /* the reference writes it: it is compared like an output */
};

enum compare_kind { COMPARE_CLOSE, COMPARE_EXACT, COMPARE_SET };

struct output {
    struct tensor t;
    enum compare_kind compare;
};

/* What a forward leaves behind: its outputs, then the inputs it writes. */
struct result {
    const struct tensor *t;
    enum compare_kind compare;
    bool is_input;
    size_t index; /* into out or in */
    size_t at;    /* in the results of one slot */
};

struct task {
    struct span id, source;
    const struct val *init;
    struct val *skeleton; /* {t: index}, {v: value}, {l: [...]} */
    struct input *in;
    struct output *out;
    struct result *res;
    size_t n_in, n_out, n_res;
    size_t in_bytes, out_bytes;
    size_t *in_at;    /* places of inputs in the data of one slot, */
    size_t in_stride; /* and the bytes of that (64-aligned) */
    size_t res_stride;
    int64_t necessary_bytes; /* traffic of one forward; from the record, else
                                inputs + outputs */
    double flops; /* of one forward, from the record; 0 = not known */
    bool any_float, any_int; /* among the inputs */
    bool stochastic;
    bool tf32; /* its products may have that precision: set by who knows */
};

/* Fill T from record REC; all memory and text is A's or borrowed from REC.
 * ERR_BAD_TASK names the field. */
int task_parse(struct task *t, struct arena *a, const struct val *rec,
               struct err *e) MUST_USE;
/* {shape: [...], dtype: "float32"}; ERR_PROTOCOL. */
int tensor_parse(struct tensor *t, const struct val *v, struct err *e) MUST_USE;
bool tensor_equal(const struct tensor *a, const struct tensor *b);
/* {shape, dtype} for frames; AS is a dtype that replaces a floating one, or
 * -1. */
struct val *tensor_val(struct arena *a, const struct tensor *t, int as);
/* "float32[2, 3]" for people. */
const char *tensor_text(struct arena *a, const struct tensor *t);

#endif
