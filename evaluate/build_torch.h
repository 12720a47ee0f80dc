/* SPDX-License-Identifier: MIT */
/*
 * Extensions that PyTorch candidates compile by torch.utils.cpp_extension, made
 * ahead of the judge: the candidate runs in a builder's sandbox until they are
 * there. What it leaves is its own work, so only it is ever given it.
 */
#ifndef KM_EVALUATE_BUILD_TORCH_H
#define KM_EVALUATE_BUILD_TORCH_H

#include "buf.h"
#include "err.h"
#include "val.h"

#define BUILT_MAX ((size_t)64 << 20) /* bytes of an artefact */

struct store;
struct zygote;

struct torch_builder {
    struct store *store;      /* or NULL */
    int require;              /* enum jail_level */
    const char *python;       /* or NULL */
    const char *device_class; /* "cuda:sm_90" has extensions for the GPU */
    double limit_s;           /* wall time of one build, 0 = as the judge's */
    /* Private: started with the first candidate that needs it */
    struct zygote *zygote;
    bool unavailable;
    char tools[65]; /* hash of what the compilers say they are */
};

/* Does SOURCE name what compiles extensions? */
bool build_torch_wanted(struct span source);
/*
 * Run SOURCE, and its constructor with INIT if that left nothing. 0: OUT has
 * what it built, or is empty when there is nothing to hand on (the judge then
 * finds out why). 1: a compiler refused, MESSAGE has its words. -1: the
 * store's error.
 */
int build_torch(struct torch_builder *b, struct span source,
                const struct val *init, struct buf *out, struct buf *message,
                struct err *e) MUST_USE;
void torch_builder_release(struct torch_builder *b);

#endif
