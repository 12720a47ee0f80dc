/* SPDX-License-Identifier: MIT */
/* Named rewards, and the arithmetic of a group (TRL's form of GRPO). */
#ifndef KM_REWARD_H
#define KM_REWARD_H

#include "val.h"

enum reward_kind { REWARD_PARENT_SPEEDUP, REWARD_CLIPPED, REWARD_LOG, REWARDS };

extern const char *const reward_names[REWARDS];

struct reward_options {
    enum reward_kind kind; /* the one that counts */
    double clip;           /* highest value of `clipped` */
    double log_floor;      /* of `log`, for what earns nothing */
    bool ignore_contract;
};

/* What is known of one sample, from a child's figures. */
struct sample {
    bool valid; /* false: the infrastructure failed, there is no reward */
    bool earns; /* correct, honest, own code, timed */
    double speedup_parent, speedup_ref; /* NAN = unknown */
    double sigma;                       /* of log(speedup_ref) */
};

/* BASE: ratio of the parent to the reference, 1 when the parent is the
 * reference. */
struct sample sample_of(const struct val *child, double base,
                        const struct reward_options *o);
/* Ratio of PARENT to the reference; 1 for nil or what cannot be measured
 * against (the program that a run starts from); *IS_REFERENCE says which. */
double reward_base(const struct val *parent, const struct reward_options *o,
                   bool *is_reference);
/* Value of one reward; only for valid samples. Always finite. */
double reward_of(const struct sample *s, enum reward_kind kind,
                 const struct reward_options *o);

struct group_stats {
    size_t n, n_valid;
    double mean, std;       /* std with n - 1; NAN under two valid ones */
    const char *degenerate; /* "", singleton, all_fail, all_equal,
                               within_noise */
};

#define ADVANTAGE_EPS 1e-4

void group_stats(struct group_stats *out, const struct sample *samples,
                 size_t n, const struct reward_options *o);
/* (r - mean) / (std + eps); 0 when there is no std. */
double advantage(const struct group_stats *g, double reward);

#endif
