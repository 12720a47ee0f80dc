/* SPDX-License-Identifier: MIT */
/*
 * What the interpreter of shapes computes with: Python's values as far as they
 * say something about sizes. All in the arena of one inference, all shared by
 * pointer: a shape of which more becomes known is known everywhere.
 */
#ifndef TESTGEN_INFER_VALUE_H
#define TESTGEN_INFER_VALUE_H

#include "py/pymod.h"
#include "testgen/infer/dim.h"

#define SHAPE_MAX 8

/* What an argument of forward is where nothing tells. */
struct shape_plan {
    int rank;
    int64_t size[SHAPE_MAX + 1][SHAPE_MAX]; /* by rank */
};

/*
 * Sizes of a tensor. An open one has no rank yet, only sizes counted from its
 * front and from its back; with LINK it is that shape but for its last size.
 */
struct shape {
    bool fixed;
    int rank;
    const struct dim *d[SHAPE_MAX];                       /* fixed */
    const struct dim *front[SHAPE_MAX], *back[SHAPE_MAX]; /* open */
    struct shape *link;
    const struct shape_plan *plan; /* of an argument of forward, else NULL */
};

enum adtype { AD_FLOAT, AD_INT, AD_BOOL };

struct tensor {
    struct shape *s;
    enum adtype dtype;
    int input; /* argument of forward whose numbers these are, or -1 */
};

enum aval_kind {
    AV_UNKNOWN,
    AV_NONE,
    AV_BOOL,
    AV_INT,
    AV_FLOAT,
    AV_STR,
    AV_SEQ,
    AV_DICT,
    AV_TENSOR,
    AV_MODULE,
    AV_CLASS,  /* of the source: def */
    AV_FUNC,   /* of the source: def, and self of a method */
    AV_NAME,   /* of a library or a builtin: "torch.nn.Linear" */
    AV_METHOD, /* attribute TEXT of what is no module */
    AV_SLICE,
    AV_ELLIPSIS,
    AV_LAMBDA /* also an inner function: node, home */
};

struct aval;

/* Values by name, in the order in which they were set. */
struct anames {
    struct span *names;
    struct aval **v;
    size_t n, cap;
};

struct aseq {
    struct aval **v;
    size_t n, cap;
    bool tuple;
};

/* An instance: of a layer of torch or of a class of the source. */
struct module {
    struct span layer; /* "Conv2d"; empty: of DEF */
    const struct pydef *def;
    struct aval **args; /* that built a layer */
    size_t n_args;
    struct anames kw, attrs;
    struct aseq *children; /* of Sequential, ModuleList */
};

struct frame;

struct aval {
    enum aval_kind kind;
    bool b;
    double x;
    struct span s;
    const struct dim *d; /* int; NULL: any */
    struct aseq *seq;
    struct anames *dict;
    struct tensor *t;
    struct module *m;
    const struct pydef *def;
    struct aval *self;
    TSNode node;        /* lambda */
    struct frame *home; /* where a lambda or an inner function was made */
    struct aval *slice[3];
};

struct aval *av_new(struct arena *a, enum aval_kind kind);
struct aval *av_bool(struct arena *a, bool b);
struct aval *av_dim(struct arena *a, const struct dim *d);
struct aval *av_float(struct arena *a, double x);
struct aval *av_str(struct arena *a, struct span s);
struct aval *av_name(struct arena *a, struct span dotted);
struct aval *av_seq(struct arena *a, bool tuple);
void aseq_push(struct arena *a, struct aseq *q, struct aval *v);
/* NULL when it is not there. */
struct aval *anames_get(const struct anames *n, struct span name);
void anames_set(struct arena *a, struct anames *n, struct span name,
                struct aval *v);

/* All of FROM, over what TO has by these names. */
void anames_copy(struct arena *a, struct anames *to, const struct anames *from);

struct shape *shape_open(struct arena *a);
struct shape *shape_fixed(struct arena *a, int rank);
/* LIKE but for its last size LAST. */
struct shape *shape_last(struct dims *s, struct shape *like,
                         const struct dim *last);
/* Rank that is planned for it, 0: none. */
int shape_planned(const struct shape *x);
/* Rank as things stand: -1 when it is open. */
int shape_rank(struct dims *s, struct shape *x);
/* From now on it has RANK; false when it has another. */
bool shape_fix(struct dims *s, struct shape *x, int rank);
/* Size at AT (negative: from the end), made where it was not known; NULL
 * outside of a fixed shape. */
const struct dim *shape_at(struct dims *s, struct shape *x, int at);
struct aval *av_tensor(struct arena *a, struct shape *s, enum adtype dtype,
                       int input);

#endif
