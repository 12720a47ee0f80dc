/* SPDX-License-Identifier: MIT */
/*
 * What the source alone tells: its normal form, graded findings, and the
 * contract. A finding is evidence; only the few of grade forbid, for which a
 * kernel has no use, reject. The dynamic side needs none of this to be right.
 */
#ifndef KM_EVALUATE_STATIC_H
#define KM_EVALUATE_STATIC_H

#include "evaluate/outcome.h"

struct statics;

struct static_result {
    struct val *findings;  /* list */
    struct val *contract;  /* {ok, grade, codes} */
    const char *forbidden; /* text of the first finding of grade forbid */
};

struct statics *statics_new(struct err *e);
void statics_free(struct statics *s);
/* CODE in LANGUAGE (torch, c or cuda); TASK a packed task record. The normal
 * form is appended to NORMAL; a launch plan is part of it. A source that cannot
 * be parsed has no findings and is its own normal form. */
int statics_look(struct statics *s, struct arena *a, struct span code,
                 struct span language, struct span task, struct buf *normal,
                 struct static_result *out, struct err *e) MUST_USE;

#endif
