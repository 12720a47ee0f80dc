/* SPDX-License-Identifier: MIT */
/*
 * What the judge needs of a device. One entry of `devices` for each; the rest
 * of the judge knows none of them. A region is memory of the device that the
 * judge made and hands to one runner by descriptor; a runner that had it
 * mapped must be reaped before it is used for another.
 */
#ifndef KM_EVALUATE_DEVICE_H
#define KM_EVALUATE_DEVICE_H

#include "err.h"
#include "evaluate/compare.h"
#include "evaluate/generate.h"
#include "run/runner.h"
#include "val.h"

struct region {
    int fd;
    size_t size;
    void *map; /* the device's own */
};

/* A few bytes of a region, SIZE at AT. */
struct spot {
    size_t at, size; /* at most 8 */
    uint8_t value[8];
};

struct device_ops {
    const char *name;
    const char *const *languages; /* of candidates that it runs; NULL ends */
    /* How rings are timed: by the CPU time that the kernel charges to the
     * runner's process while it is thawed (all work is there, and neither other
     * load nor the judge's own wake-up counts), or by the judge's clock, until
     * it has looked at some of the outputs. */
    bool cpu_clock;
    /* Rings are captured once a placement, then replayed. */
    bool captures;
    double construct_s; /* deadline of what may have to be compiled */
    double ring_s;      /* wanted length of a ring */
    size_t ring_bytes;  /* of its data, if two slots fit */
    double precise;     /* half width of the interval that is enough */
    /* Choose and take the device; the calling process is the judge. PYTHON as
     * for zygote_conf. */
    int (*open)(void **dev, const char *python, struct err *e);
    void (*close)(void *dev);
    /* Class for the verdict's identity ("cpu", "cuda:sm_90"). */
    const char *(*class_name)(void *dev);
    void (*describe)(void *dev, struct arena *a, struct val *map);
    /* The other main of the zygote for its runners (runner.h); NULL: none. */
    struct span (*runner_source)(void);
    /* What a runner needs to reach it. */
    void (*runner)(void *dev, struct runner_conf *c);
    /* Put the device into the same cold state before every ring, so that
     * neither side starts from what the other left in its caches. False:
     * something runs on it, though every runner is frozen. */
    bool (*chill)(void *dev);
    /* Bytes a second that one runner can move at best, caches included; a
     * forward cannot be faster than its necessary bytes over this. */
    double (*peak_bandwidth)(void *dev);
    /* Bytes of the device's own memory that are taken, by whomever; -1 = it has
     * none, the runner's process tells. */
    int64_t (*taken)(void *dev);

    int (*region_new)(void *dev, size_t size, struct region *r, struct err *e);
    void (*region_free)(void *dev, struct region *r);
    void (*write)(void *dev, struct region *r, size_t at, const void *p,
                  size_t n);
    /* N bytes at AT, as they are now: a pointer into the region, or SCRATCH
     * after a copy. */
    const void *(*view)(void *dev, const struct region *r, size_t at, size_t n,
                        void *scratch);
    /* All of V at once: to the region, or as they are now. */
    void (*scatter)(void *dev, struct region *r, const struct spot *v,
                    size_t n);
    void (*gather)(void *dev, const struct region *r, struct spot *v, size_t n);
    /* gen_fill and compare_tensor, in memory of this process, with the same
     * result. */
    void (*fill)(void *dev, const struct gen *g, const struct tensor *t,
                 const struct fill *f, void *dst);
    bool (*compare)(void *dev, const struct comparison *c,
                    struct compared *out);
    /* 0, or the first failure of all that returned nothing. */
    int (*health)(void *dev, struct err *e);
};

extern const struct device_ops device_cpu, device_cuda;
/* NULL with ERR_UNAVAILABLE: the message says which devices this build has. */
const struct device_ops *device_find(const char *name, struct err *e);

#endif
