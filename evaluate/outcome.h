/* SPDX-License-Identifier: MIT */
/* Words that the parent and the judge share: outcomes, findings, versions. */
#ifndef KM_EVALUATE_OUTCOME_H
#define KM_EVALUATE_OUTCOME_H

#include "val.h"

/* Raised whenever a verdict's meaning changes. */
#define PROTOCOL_VERSION "6"

enum outcome {
    OUTCOME_OK,
    OUTCOME_WRONG,
    OUTCOME_BUILD_FAILED,
    OUTCOME_LOAD_FAILED,
    OUTCOME_RUNTIME_ERROR,
    OUTCOME_TIMEOUT,
    OUTCOME_CRASH,
    OUTCOME_MEMORY,
    OUTCOME_PROTOCOL,
    OUTCOME_CHEAT,
    OUTCOME_REJECTED,
    OUTCOME_INFRASTRUCTURE,
    OUTCOME_COUNT
};

const char *outcome_name(enum outcome o);
int outcome_find(struct span name); /* -1 */

enum grade { GRADE_NOTE, GRADE_SUSPECT, GRADE_FORBID };
const char *grade_name(enum grade g);

/* {code, grade, source, line, text} pushed to LIST unless the same code is
 * there with this grade or a higher one. LINE 0 = none. */
void finding_add(struct arena *a, struct val *list, const char *code,
                 enum grade g, const char *source, int line, const char *text);
bool finding_any(const struct val *list, enum grade at_least);

#endif
