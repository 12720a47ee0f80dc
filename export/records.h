/* SPDX-License-Identifier: MIT */
/* The records of the data set, made of steps, groups and their tasks. Every
 * record of a kind has the same keys, so that tables can be made of them. */
#ifndef KM_RECORDS_H
#define KM_RECORDS_H

#include "err.h"
#include "export/reward.h"
#include "map.h"

/* What is kept of a task. Texts lie in the arena of struct tasks. */
struct task {
    struct span id, name, source, cluster, licence, family, difficulty;
    struct span benchmark;
};

struct tasks {
    struct map by_id; /* id -> struct task */
    struct arena arena;
    struct val *header; /* of the stream */
};

int tasks_load(struct tasks *t, const char *path, struct err *e) MUST_USE;
void tasks_release(struct tasks *t);

struct record_options {
    const char *templates; /* folder, or NULL */
    bool rendered;         /* never use recorded prompts */
    double valid_share;    /* of the problems */
    struct reward_options reward;
};

/* "train" or "valid": the same for all records of a problem, which is the
 * cluster of near duplicates that the task belongs to. */
const char *split_of(const struct task *t, double valid_share);

/* INDEX: position in its kind and split. */
int make_sft(struct arena *a, const struct val *step, const struct task *t,
             const struct record_options *o, struct val **out,
             struct err *e) MUST_USE;
int make_rl_prompt(struct arena *a, const struct val *step,
                   const struct task *t, int64_t index,
                   const struct record_options *o, struct val **out,
                   struct err *e) MUST_USE;
/* *DEGENERATE as in reward.h. */
int make_grpo(struct arena *a, const struct val *group, const struct task *t,
              const struct record_options *o, struct val **out,
              const char **degenerate, struct err *e) MUST_USE;

#endif
