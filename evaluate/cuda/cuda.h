/* SPDX-License-Identifier: MIT */
/*
 * CUDA's driver and its run-time compiler, opened when they are asked for. The
 * judge talks to no other part of CUDA, and links none.
 */
#ifndef KM_EVALUATE_CUDA_H
#define KM_EVALUATE_CUDA_H

#include "buf.h"
#include "err.h"

/* CUmemAllocationProp and CUmemAccessDesc of the driver. */
struct cuda_memory {
    int type, handles; /* 1 pinned; 1 a file descriptor */
    int location, device;
    void *unused;
    unsigned char compression, direct;
    unsigned short usage;
    unsigned char reserved[4];
};

struct cuda_access {
    int location, device;
    int flags; /* 3: read and write */
};

#define CUDA_MEMORY_PINNED 1
#define CUDA_HANDLE_FD     1
#define CUDA_ON_DEVICE     1
#define CUDA_READ_WRITE    3

/* Each returns 0, or an error's number. */
struct cuda_driver {
    void *lib;
#define CU(name, symbol, arguments) int(*name) arguments;
#include "evaluate/cuda/cuda.def"
};

struct nvrtc {
    void *lib;
#define NV(name, symbol, arguments) int(*name) arguments;
#include "evaluate/cuda/cuda.def"
};

/* The first of NAMES that can be opened: in CUDA_HOME, where the system looks,
 * by PACKAGES (patterns below the interpreter's prefix) of PYTHON (NULL: none),
 * and where the toolkit mostly is. NULL: there is none. */
void *cuda_library(const char *const *names, size_t n_names,
                   const char *const *packages, size_t n_packages,
                   const char *python);

/* Open it, once for the process; ERR_UNAVAILABLE says what there is not. */
const struct cuda_driver *cuda_driver(struct err *e);
/* libnvrtc of CUDA_HOME, of the system, or of PYTHON's packages (NULL: none).
 * The first that can be opened stays. */
const struct nvrtc *nvrtc_open(const char *python, struct err *e);

/* -1 with CODE unless RESULT of a driver's call is 0; WHAT failed. */
int cuda_check(int result, enum err_code code, const char *what, struct err *e);

struct nvrtc_conf {
    const char *name; /* in messages */
    int cc;           /* compute capability: 90 */
    /* A candidate's source: features of just this GPU, and the compiler's own
     * headers in FOLDERS; else the judge's, where the same numbers come out as
     * on the CPU. */
    bool candidate;
    const char *const *folders;
    size_t n_folders;
    /* Kernels, instances of templates too, whose SYMBOLS (the caller frees
     * each) are wanted. */
    const char *const *kernels;
    char **symbols;
    size_t n_kernels;
};

/* Machine code of SOURCE (CUDA C++), appended to OUT. ERR_PARSE: the
 * compiler's first error. */
int nvrtc_build(const struct nvrtc *n, struct span source,
                const struct nvrtc_conf *conf, struct buf *out,
                struct err *e) MUST_USE;

#endif
