/* SPDX-License-Identifier: MIT */
/*
 * What the judge needs of a device. One entry of `devices` for each; the rest
 * of the judge knows none of them. All bulk data lie in the device's memory:
 * the judge's own, and shared regions that it hands to one runner by
 * descriptor. A runner that had a region mapped must be reaped before that is
 * used for another.
 */
#ifndef KM_EVALUATE_DEVICE_H
#define KM_EVALUATE_DEVICE_H

#include "err.h"
#include "evaluate/compare.h"
#include "evaluate/generate.h"
#include "run/runner.h"
#include "val.h"

/* A place in the device's memory: an address of it, on the CPU a pointer. */
typedef uint64_t place_t;

struct region {
    int fd; /* for the runner, -1 = the judge's own */
    size_t size;
    place_t at;
    void *own; /* the device's */
};

/* Rows of equal width, PITCH bytes apart. */
struct rows {
    place_t at;
    size_t pitch;
};

/* A few bytes, SIZE at AT of whatever it is said to be relative to. */
struct spot {
    size_t at, size; /* at most 8 */
    uint8_t value[8];
};

struct device_ops {
    const char *name;
    const char *native; /* language of its native runner; it runs torch too */
    /* How rings are timed: by the CPU time that the kernel charges to the
     * runner's process while it is thawed (all work is there, and neither other
     * load nor the judge's own wake-up counts), or by the judge's clock, until
     * it has looked at some of the outputs. */
    bool cpu_clock;
    /* Rings are captured once a placement, then replayed. */
    bool captures;
    size_t align; /* of tensors in a region: what its allocators give */
    size_t slots; /* of a ring, at most */
    size_t (*slot_max)(void *dev); /* bytes of one forward's in and out */
    size_t strict; /* of a timed ring that are compared strictly, at most */
    double construct_s; /* deadline of what may have to be compiled */
    double ring_s;      /* wanted length of a ring */
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
    /* Of a ring's data, if two slots fit. */
    size_t (*ring_bytes)(void *dev);
    /* What a runner needs to reach it. */
    void (*runner)(void *dev, struct runner_conf *c);
    /* Put the device into the same cold state before every ring, so that
     * neither side starts from what the other left in its caches. */
    void (*chill)(void *dev);
    /* With every runner frozen: does nothing run on it? */
    bool (*idle)(void *dev);
    /* Bytes a second that one runner can move at best, caches included; a
     * forward cannot be faster than its necessary bytes over this. */
    double (*peak_bandwidth)(void *dev);
    /* Operations a second of products whose operands are of DTYPE, TF32 for
     * float32; NULL, or 0: not known. */
    double (*peak_products)(void *dev, int dtype);
    /* Bytes a second of its memory; NULL: not known. */
    double (*bandwidth)(void *dev);
    /* Seconds that chaining adds to a captured forward; NULL: none that is
     * known. */
    double (*link_s)(void *dev);
    /* Bytes of the device's own memory that are taken by others than the judge;
     * -1 = it has none, the runner's process tells. */
    int64_t (*taken)(void *dev);
    /* Of it that is free, but for what the judge holds; -1 likewise. */
    int64_t (*left)(void *dev);

    int (*region_new)(void *dev, size_t size, bool shared, struct region *r,
                      struct err *e);
    void (*region_free)(void *dev, struct region *r);

    /* All of the following happen in order, and have happened when one that
     * tells something, or scatter, returns. What fails shows in health. */
    void (*write)(void *dev, place_t to, const void *from, size_t n);
    void (*read)(void *dev, void *to, place_t from, size_t n);
    /* All of V at once: to BASE, or as they are now. */
    void (*scatter)(void *dev, place_t base, const struct spot *v, size_t n);
    void (*gather)(void *dev, place_t base, struct spot *v, size_t n);
    /* N rows of WIDTH bytes. */
    void (*copy)(void *dev, struct rows to, struct rows from, size_t width,
                 size_t n);
    /* The same, all of the SIZE (1, 2, 4, 8) low bytes of VALUE. */
    void (*set)(void *dev, struct rows to, size_t width, size_t n,
                uint64_t value, size_t size);
    /* The same of rows at BASE plus each of N offsets at PLACES, which is on
     * the device. Only where the device captures. */
    void (*copy_places)(void *dev, struct rows to, place_t base, place_t places,
                        size_t width, size_t n);
    void (*set_places)(void *dev, place_t base, place_t places, size_t width,
                       size_t n, uint64_t value, size_t size);
    /* NUMEL elements of DTYPE as float64. */
    void (*widen)(void *dev, place_t to, place_t from, int dtype, size_t numel);
    /* Offset of the first byte that differs, N = none. */
    size_t (*differ)(void *dev, place_t a, place_t b, size_t n);
    /* gen_fill and compare_tensor; the pointers of C are places. */
    void (*fill)(void *dev, const struct gen *g, const struct filling *v,
                 size_t n);
    bool (*compare)(void *dev, const struct comparison *c,
                    struct compared *out);
    /* reference_error of compare.h. */
    struct own_error (*own_error)(void *dev, const struct tensor *t,
                                  enum compare_kind how, place_t reference,
                                  place_t exact);
    /* Of each of N rows of tensors T, whether all of it is finite. */
    void (*finite)(void *dev, const struct tensor *t, struct rows at, size_t n,
                   bool *out);
    /* Of each of N rows, whether every element of X is finite and within
     * ALIKE of that of R, relative to the root mean square of R's row and its
     * own size. */
    void (*alike)(void *dev, const struct tensor *t, struct rows x,
                  struct rows r, size_t n, bool *out);
    /* 0, or the first failure of all that returned nothing. */
    int (*health)(void *dev, struct err *e);
};

extern const struct device_ops device_cpu, device_cuda;
/* Part of an element's size, or of the row's, that no rounding reaches and no
 * guess stays within. */
#define ALIKE 0.1

static inline struct rows rows_at(place_t at, size_t pitch)
{
    return (struct rows){at, pitch};
}

/* NULL with ERR_UNAVAILABLE: the message says which devices this build has. */
const struct device_ops *device_find(const char *name, struct err *e);

#endif
