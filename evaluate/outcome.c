/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/outcome.h"

static const char *const outcomes[OUTCOME_COUNT] = {
    [OUTCOME_OK] = "ok",
    [OUTCOME_WRONG] = "wrong",
    [OUTCOME_BUILD_FAILED] = "build_failed",
    [OUTCOME_LOAD_FAILED] = "load_failed",
    [OUTCOME_RUNTIME_ERROR] = "runtime_error",
    [OUTCOME_TIMEOUT] = "timeout",
    [OUTCOME_CRASH] = "crash",
    [OUTCOME_MEMORY] = "memory",
    [OUTCOME_PROTOCOL] = "protocol",
    [OUTCOME_CHEAT] = "cheat",
    [OUTCOME_REJECTED] = "rejected",
    [OUTCOME_INFRASTRUCTURE] = "infrastructure",
};

static const char *const grades[] = {"note", "suspect", "forbid"};

const char *outcome_name(enum outcome o)
{
    return outcomes[o];
}

int outcome_find(struct span name)
{
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (span_is(name, outcomes[i]))
            return i;
    return -1;
}

const char *grade_name(enum grade g)
{
    return grades[g];
}

static int grade_of(const struct val *finding)
{
    for (size_t i = 0; i < ARRAY_LEN(grades); i++)
        if (span_is(val_gets(finding, "grade"), grades[i]))
            return (int)i;
    return -1;
}

void finding_add(struct arena *a, struct val *list, const char *code,
                 enum grade g, const char *source, int line, const char *text)
{
    struct val *m;
    for (size_t i = 0; i < val_len(list); i++)
        if (span_is(val_gets(val_at(list, i), "code"), code) &&
            grade_of(val_at(list, i)) >= (int)g)
            return;
    m = val_map(a);
    val_set(a, m, "code", val_strz(a, code));
    val_set(a, m, "grade", val_strz(a, grade_name(g)));
    val_set(a, m, "source", val_strz(a, source));
    val_set(a, m, "line", line > 0 ? val_int(a, line) : val_nil(a));
    val_set(a, m, "text", val_text(a, span_str(text)));
    val_push(a, list, m);
}

bool finding_any(const struct val *list, enum grade at_least)
{
    for (size_t i = 0; i < val_len(list); i++)
        if (grade_of(val_at(list, i)) >= (int)at_least)
            return true;
    return false;
}
