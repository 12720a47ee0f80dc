/* SPDX-License-Identifier: MIT */
/* A judge's device and what starts runners for it. */
#ifndef KM_EVALUATE_BENCH_H
#define KM_EVALUATE_BENCH_H

#include "evaluate/side.h"

/* What all verdicts of a judge share. */
struct bench {
    const struct device_ops *ops;
    void *dev;
    struct zygote *zygote; /* started when first needed */
    const char *python;
    int require; /* enum jail_level */
    int native;  /* descriptor of the device's native runner */
    int level;   /* of the last runner */
    /* A runner that holds nothing: it takes the candidate's turn where the
     * reference is timed without one. */
    struct side shadow;
};

/* Start a runner and open D's session. NATIVE: no PyTorch. ERR_UNAVAILABLE,
 * ERR_SANDBOX, ERR_INFRASTRUCTURE. */
int bench_runner(struct bench *b, bool native, struct side *d,
                 int64_t data_bytes, struct err *e) MUST_USE;

/* Start the zygote unless there is one. */
int bench_zygote(struct bench *b, struct err *e) MUST_USE;
/* Let the shadow have the core once. ERR_INFRASTRUCTURE. */
int bench_shadow(struct bench *b, struct err *e) MUST_USE;
void bench_close(struct bench *b);

#endif
