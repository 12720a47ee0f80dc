/* SPDX-License-Identifier: MIT */
/*
 * State of km-trajectories select: an index of all revisions and what their
 * verdicts say; the bulk lies in the spill. select.c takes the records in,
 * judge.c decides, select_write.c makes the step and group records.
 */
#ifndef KM_SELECT_H
#define KM_SELECT_H

#include "array.h"
#include "map.h"
#include "stage.h"
#include "trajectories/spill.h"
#include "trajectories/taskset.h"

enum { MODE_SFT, MODE_RL, MODES };

/* What one mode says about one candidate. ERR_NONE: kept. */
struct decision {
    enum err_code code;
    const char *note; /* may be NULL */
};

/* One revision with its verdict. Texts lie in select.arena. */
struct candidate {
    struct span id, task, run, program, parent;
    int64_t iteration;
    bool seen; /* the revision itself was there, not the verdict only */
    bool seed; /* a program that the run began with */
    struct spill_ref rec;
    struct spill_ref code; /* squeezed, as a text */
    /* the verdict */
    bool judged; /* there is one */
    bool infrastructure;
    bool mixed; /* several, that must not be mixed */
    struct span judged_task;
    struct span verdict, outcome, context, device, protocol;
    bool correct, honest, contract_ok;
    bool timed;
    double ratio, low, high; /* reference / candidate */
    double log_ratio, sigma; /* sigma of log_ratio */
    double reference_ns, ns;
    int64_t memory_peak; /* -1 = unknown */
    double memory_ratio; /* NAN = unknown */
    /* descent */
    struct candidate *up; /* its parent, NULL = the reference or unknown */
    int64_t depth;        /* ancestors in the run; -1 = they never end */
    bool first;           /* a step from the reference */
    bool new_best;
    bool has_gain;           /* a later step, both sides measured */
    double gain, gain_sigma; /* log */
    struct decision decided[MODES];
};

struct select_options {
    const char *profile, *device;
    bool ignore_contract, keep_seeds;
    bool modes[MODES];
    double min_gain;         /* 0.05 = 5 % faster */
    int64_t top_k, per_task; /* 0 = all */
};

struct select {
    struct select_options o;
    struct arena arena;
    struct map by_id;              /* revision id -> candidate */
    struct map by_program;         /* task, run, program -> candidate */
    ARRAY(struct candidate *) all; /* sorted before judging */
    struct spill spill;
    struct taskset tasks;
    uint64_t repeated, other_device;
};

/* Key of several texts, NUL between them. */
struct span join_key(struct arena *a, const struct span *parts, size_t n);

/* Append S to OUT without white space. */
void select_squeeze(struct buf *out, struct span s);

/* Sort, find parents, and decide on each candidate in each mode. */
int select_judge(struct select *s, struct err *e) MUST_USE;
/* May C be measured against: correct, honest, of own code, timed? WHY (may be
 * NULL) then says what is missing. */
bool select_usable(const struct select *s, const struct candidate *c,
                   const char **why);

int select_write_steps(struct select *s, struct emit *out,
                       struct err *e) MUST_USE;
int select_write_groups(struct select *s, struct emit *out,
                        struct err *e) MUST_USE;

#endif
