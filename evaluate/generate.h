/* SPDX-License-Identifier: MIT */
/*
 * Secret random data: Philox 4x32-10 (Salmon et al., SC11), the task's
 * distributions, and the configurations of configs.def.
 */
#ifndef KM_EVALUATE_GENERATE_H
#define KM_EVALUATE_GENERATE_H

#include "evaluate/task.h"

enum config_id {
#define CONFIG(name, target, transform, factor, jitter, about) CONFIG_##name,
#include "evaluate/configs.def"
#undef CONFIG
    CONFIG_COUNT
};

enum config_target { TARGET_FLOATS, TARGET_PARAMS, TARGET_INTS };
enum config_transform {
    TRANSFORM_SCALE,
    TRANSFORM_NORMAL,
    TRANSFORM_STRUCTURE,
    TRANSFORM_AFFINE,
    TRANSFORM_BOUNDS
};

struct config {
    const char *name;
    enum config_target target;
    enum config_transform transform;
    double factor, jitter;
    const char *about;
};

extern const struct config configs[CONFIG_COUNT];

/* The bare generator: 4 words from a counter and a key. */
void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* A source of randomness: a key, and a stream that every call moves on. */
struct gen {
    uint32_t key[2];
    uint64_t stream;
};

/* SEED 0 = from the system. */
int gen_init(struct gen *g, uint64_t seed, struct err *e) MUST_USE;
void gen_bytes(struct gen *g, void *dst, size_t n);
uint64_t gen_below(struct gen *g, uint64_t n);           /* 0 .. n-1, n > 0 */
double gen_uniform(struct gen *g, double lo, double hi); /* [lo, hi) */
void gen_shuffle(struct gen *g, int *v, size_t n);
void gen_normal(struct gen *g, float *dst, size_t n);

#define SPIKES_MAX 8

/* How one tensor is filled: everything that is random but its elements, which
 * are words of STREAM. The CPU and a GPU make the same bytes of it. */
struct fill {
    enum {
        FILL_NORMAL,
        FILL_UNIFORM,
        FILL_INTS,
        FILL_BOOLS,
        FILL_STRUCTURE
    } kind;
    uint64_t stream;
    double lo, hi; /* uniform, ints */
    double p;      /* bools */
    bool bounds;   /* ints: a quarter of them at the bounds */
    double factor;
    /* structure: slopes, the stretch [flat, flat_end) of LEVEL, spikes */
    double slope_last, slope_first;
    uint64_t flat, flat_end;
    float level;
    size_t n_spikes;
    uint64_t spike_at[SPIKES_MAX];
    float spike[SPIKES_MAX];
};

/* A tensor to be drawn, at an address of whatever device draws it. */
struct filling {
    const struct tensor *t;
    struct fill f;
    uint64_t to;
};

/* One input tensor under a configuration. LATER: a ring after the first (jitter
 * applies). */
void gen_plan(struct gen *g, const struct input *in, enum config_id config,
              bool later, struct fill *out);
/* Its elements, in its own dtype, to DST. */
void gen_fill(const struct gen *g, const struct tensor *t, const struct fill *f,
              void *dst);
/* Both. */
void gen_input(struct gen *g, const struct input *in, enum config_id config,
               bool later, void *dst);
/* D7 on one parameter of N elements: a in [0.6, 1.5), b in [0.1, 0.4) of its
 * root mean square (0.05 to 0.2 when that is zero). */
void gen_affine(struct gen *g, int dtype, void *data, size_t n);

#endif
