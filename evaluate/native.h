/* SPDX-License-Identifier: MIT */
/*
 * A native runner, in the jail, frames on descriptor 3 (run/frames.h): what the
 * runners of languages `c` and `cuda` have in common. Once the candidate is
 * loaded nothing that this process says can be trusted, and the judge does not.
 */
#ifndef KM_EVALUATE_NATIVE_H
#define KM_EVALUATE_NATIVE_H

#include "array.h"
#include "evaluate/task.h"

#define NATIVE_ARENAS 4
#define NATIVE_SLOTS  4096

struct native {
    const struct native_ops *ops;
    void *own; /* the language's */
    struct {
        char *at; /* an address of the device */
        size_t size;
        void *own;
    } arenas[NATIVE_ARENAS];
    ARRAY(struct km_tensor) params;
    /* Of the last bind; slots * n_in, slots * n_out. */
    struct km_tensor *in, *out;
    size_t slots, n_in, n_out;
    int64_t *index; /* of each argument's tensor, -1 for a scalar */
    char *copy;     /* room for the largest output */
    size_t copy_size;
    struct val *outs; /* of the bind, for replies */
    struct arena bound;
};

/* [in, element, out, element] of frames.h, the first as an argument's number;
 * ON: there is one. */
struct native_chain {
    bool on;
    size_t in, out;
    int64_t in_element, out_element;
};

/* All return 0, or -1 with E. *WHERE of a failure is set by the caller. */
struct native_ops {
    const char *kind; /* for the hello */
    int (*load)(struct native *s, int fd, const char **where, struct err *e);
    int (*map)(struct native *s, size_t arena, int fd, size_t size,
               struct err *e);
    int (*unmap)(struct native *s, size_t arena, struct err *e);
    /* Memory of the device; lives as long as the runner, or until given back.
     */
    int (*take)(struct native *s, size_t bytes, void **out, struct err *e);
    void (*give)(struct native *s, void *p);
    /* In order with all else that is started. */
    int (*copy)(struct native *s, void *to, const void *from, size_t n,
                struct err *e);
    /* All parameters have new values. */
    int (*init)(struct native *s, struct err *e);
    /* New slots are there. */
    int (*bound)(struct native *s, struct err *e);
    int (*forward)(struct native *s, size_t slot, struct err *e);
    /* Until all is done. */
    int (*wait)(struct native *s, struct err *e);
    /* What an empty call costs besides its frames; NULL: nothing. */
    int (*empty)(struct native *s, struct err *e);
    /* Around a ring that is to be replayed later; NULL: there is no such
     * thing. */
    int (*capture_begin)(struct native *s, struct err *e);
    int (*capture_end)(struct native *s, bool failed, struct err *e);
    int (*replay)(struct native *s, struct err *e);
};

size_t native_bytes(const struct km_tensor *k);
/* Until the judge is gone; the exit status. */
int native_serve(struct native *s);

#endif
