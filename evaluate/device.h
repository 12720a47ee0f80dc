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
#include "val.h"

struct region {
    int fd;
    size_t size;
    void *map; /* the device's own */
};

struct device_ops {
    const char *name;
    /* How rings are timed: by the CPU time that the kernel charges to the
     * runner's process while it is thawed (all work is there, and neither other
     * load nor the judge's own wake-up counts), or by the judge's clock. */
    bool cpu_clock;
    /* Choose and take the device; the calling process is the judge. */
    int (*open)(void **dev, struct err *e);
    void (*close)(void *dev);
    /* Class for the verdict's identity ("cpu", "cuda:sm_90"). */
    const char *(*class_name)(void *dev);
    void (*describe)(void *dev, struct arena *a, struct val *map);
    /* Core for runners, -1 = any. */
    int (*runner_core)(void *dev);
    /* Put the runner's core into the same cold state before every ring, so that
     * neither side starts from what the other left in its caches. */
    void (*chill)(void *dev);
    /* Bytes a second that one runner can move at best, caches included; a
     * forward cannot be faster than its necessary bytes over this. */
    double (*peak_bandwidth)(void *dev);

    int (*region_new)(void *dev, size_t size, struct region *r, struct err *e);
    void (*region_free)(void *dev, struct region *r);
    void (*write)(void *dev, struct region *r, size_t at, const void *p,
                  size_t n);
    /* N bytes at AT, as they are now: a pointer into the region, or SCRATCH
     * after a copy. */
    const void *(*view)(void *dev, const struct region *r, size_t at, size_t n,
                        void *scratch);
};

extern const struct device_ops device_cpu;
/* NULL with ERR_UNAVAILABLE: the message says which devices this build has. */
const struct device_ops *device_find(const char *name, struct err *e);

#endif
