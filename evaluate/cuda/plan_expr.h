/* SPDX-License-Identifier: MIT */
/* Expressions of launch plans (plan.h), shared by plan.c and plan_expr.c. */
#ifndef KM_EVALUATE_CUDA_PLAN_EXPR_H
#define KM_EVALUATE_CUDA_PLAN_EXPR_H

#include "evaluate/cuda/plan.h"

struct number {
    bool real;
    int64_t i;
    double f;
};

struct constant {
    struct span name;
    struct number value;
};

/* A text that is read from the left; the first failure stays in E. */
struct scan {
    struct span s;
    size_t at;
    const struct plan_names *names;
    const struct constant *constants;
    size_t n_constants;
    int depth;
    struct err *e;
};

/* Skip blanks, and continued lines. */
void scan_blanks(struct scan *p);
bool scan_end(struct scan *p);
/* TEXT comes next: skip it. */
bool scan_take(struct scan *p, const char *text);
int scan_want(struct scan *p, const char *text) MUST_USE;
/* A name, dots and quotes allowed; a member (shape, numel, ndim) behind it is
 * left. Empty: there is none. */
struct span scan_name(struct scan *p);
int scan_expr(struct scan *p, struct number *out) MUST_USE;

#endif
