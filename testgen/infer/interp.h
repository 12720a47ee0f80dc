/* SPDX-License-Identifier: MIT */
/*
 * Abstract interpretation of a module: its __init__ with the values of a state,
 * its forward with tensors whose sizes are variables. What the layers and
 * functions of torch ask of their arguments becomes needs on these (dim.h).
 * What is not understood is unknown and asks nothing; steps and depth are
 * bounded.
 */
#ifndef TESTGEN_INFER_INTERP_H
#define TESTGEN_INFER_INTERP_H

#include "testgen/facts.h"
#include "testgen/infer/value.h"

/* What was seen of an argument of forward. */
struct input_use {
    bool ids, mask;          /* picks rows; masks */
    const struct dim *below; /* ids: a bound above them, or NULL */
};

#define INFER_INPUTS 24

struct interp {
    struct arena *a;
    struct dims dims;
    const struct facts *f;
    int steps, depth;
    struct input_use inputs[INFER_INPUTS];
    struct anames globals;
};

enum flow { FLOW_ON, FLOW_RETURN, FLOW_BREAK, FLOW_CONTINUE, FLOW_RAISE };

/* One call of a function of the source. */
struct frame {
    struct anames vars;
    struct frame *outer;     /* of an inner function or comprehension */
    const struct pydef *cls; /* whose method runs, or NULL */
    struct aval *self, *ret;
    enum flow flow;
};

/* Arguments of a call. */
struct actuals {
    struct aval **v;
    size_t n;
    struct anames kw;
};

/* interp.c */
/* In the arena: functions made inside look into it after its end. */
struct frame *interp_frame(struct interp *in, struct frame *outer);
struct aval *interp_eval(struct interp *in, struct frame *fr, TSNode n);
void interp_block(struct interp *in, struct frame *fr, TSNode n);
void interp_bind(struct interp *in, struct frame *fr, TSNode target,
                 struct aval *v);
/* 1, 0, or -1 when it is not known. */
int interp_truth(struct interp *in, const struct aval *v);
struct aval *interp_unknown(struct interp *in);
/* One more step; false when there are no more. */
bool interp_step(struct interp *in);

/* interp_expr.c */
struct aval *interp_binary(struct interp *in, struct span op, struct aval *x,
                           struct aval *y);
struct aval *interp_attribute(struct interp *in, struct aval *v,
                              struct span name);
struct aval *interp_item(struct interp *in, struct aval *v, struct aval **at,
                         size_t n);
/* Items of a list, tuple, Sequential, dict (keys), range; NULL: unknown. */
struct aseq *interp_items(struct interp *in, struct aval *v);

/* call.c */
struct aval *interp_call(struct interp *in, struct frame *fr, struct aval *f,
                         struct actuals *c);
struct aval *interp_function(struct interp *in, const struct pydef *def,
                             struct aval *self, struct frame *home,
                             struct actuals *c);
/* An instance of class DEF of the source. */
struct aval *interp_instance(struct interp *in, const struct pydef *def,
                             struct actuals *c);
/* Argument AT or NAME of a call, NULL when it is not given. */
struct aval *actual(const struct actuals *c, size_t at, const char *name);
/* Its whole number, or DFLT; NULL: given, not known. */
const struct dim *actual_dim(struct interp *in, const struct actuals *c,
                             size_t at, const char *name, int64_t dflt);
/* V as a whole number, NULL: none or not known. */
const struct dim *whole(const struct aval *v);
/* The class of torch.nn that DEF derives from directly, empty: none. */
struct span torch_base(struct interp *in, const struct pydef *def);

/* layers.c */
struct aval *layer_new(struct interp *in, struct span kind, struct actuals *c);
struct aval *layer_call(struct interp *in, struct frame *fr, struct module *m,
                        struct actuals *c);
struct aval *layer_attribute(struct interp *in, struct module *m,
                             struct span name);

/* tensor.c: function or method NAME of torch; args[0] is self of a method.
 * NULL: no such function is known. */
struct aval *tensor_call(struct interp *in, struct span name,
                         struct actuals *c);
/* V as a tensor whose rank may be asked for; NULL when it is none. */
struct tensor *tensor_of(const struct aval *v);
/* X's rank, guessed when nothing told it. */
int tensor_rank(struct interp *in, struct tensor *x);
/* Shape of x + y. */
struct shape *tensor_broadcast(struct interp *in, struct shape *x,
                               struct shape *y);
struct aval *tensor_new(struct interp *in, struct shape *s,
                        const struct tensor *like);
/* X[AT...] */
struct aval *tensor_item(struct interp *in, struct tensor *x, struct aval **at,
                         size_t n);
/* X has N + 2 dimensions (N + 1: without a batch) and C at the channels'. */
bool tensor_channels(struct interp *in, struct tensor *x, int n,
                     const struct dim *c);
/* How many sizes a window leaves. */
const struct dim *tensor_window(struct interp *in, const struct dim *size,
                                const struct aval *kernel,
                                const struct aval *stride,
                                const struct aval *padding,
                                const struct aval *dilation, int at);
struct aval *tensor_matmul(struct interp *in, struct tensor *x,
                           struct tensor *y);

/* einops.c: NAME of rearrange, reduce, repeat. */
struct aval *einops_call(struct interp *in, struct span name,
                         struct actuals *c);
struct aval *einsum_call(struct interp *in, struct actuals *c);

#endif
