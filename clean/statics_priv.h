/* SPDX-License-Identifier: MIT */
/* What statics.c and statics_names.c share. */
#ifndef KM_CLEAN_STATICS_PRIV_H
#define KM_CLEAN_STATICS_PRIV_H

#include "clean/statics.h"

/* Where an expression is looked at. */
struct question {
    struct statics *s;
    struct sfile *f;
    int depth;
};

/* Value of expression N, NULL when it is not known; one step of the question.
 */
struct val *statics_eval(struct question q, TSNode n);
/* As statics_arguments. */
int statics_actuals(struct question q, TSNode n, struct val *args,
                    struct val *kw);
/* {KEY: V} */
struct val *statics_form(struct question q, const char *key, struct val *v);
/* The string literal N, NULL when it is none. */
struct val *statics_text(struct question q, TSNode n);
/* What DOTTED, read at AT, is worth. */
struct val *statics_name_value(struct question q, uint32_t at,
                               struct span dotted);
/* {own: [PATH, NAME]} of the class or function S of M; NULL for all else. */
struct val *statics_own_name(struct question q, const struct pymod *m,
                             const struct pysym *s);

#endif
