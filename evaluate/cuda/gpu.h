/* SPDX-License-Identifier: MIT */
/*
 * One GPU as the judge uses it: its context, arenas that another process can
 * map by descriptor, and the judge's own kernels, compiled for it when it is
 * opened. All work is on one stream.
 */
#ifndef KM_EVALUATE_CUDA_GPU_H
#define KM_EVALUATE_CUDA_GPU_H

#include "evaluate/compare.h"
#include "evaluate/cuda/cuda.h"
#include "evaluate/generate.h"

/* Memory of the GPU at AT; FD for the process that may map it. */
struct gpu_arena {
    uint64_t at, handle;
    size_t size;
    int fd;
};

enum gpu_module { MODULE_DATA, MODULE_COMPARE, MODULE_RING, MODULE_COUNT };

enum gpu_kernel {
#define KERNEL(name, module, symbol) KERNEL_##name,
#include "evaluate/cuda/kernels.def"
#undef KERNEL
    KERNEL_COUNT
};

struct gpu {
    const struct cuda_driver *cu;
    int ordinal;
    int cc;                         /* compute capability: 90 */
    int units;                      /* multiprocessors */
    int clock, memory_clock;        /* the highest, kHz */
    int driver, compiler;           /* versions: 13000 */
    size_t l2, memory, granularity; /* bytes */
    char name[80];
    void *context, *stream;
    void *modules[MODULE_COUNT];
    void *kernels[KERNEL_COUNT];
    struct gpu_arena work;  /* of comparisons; no one else's */
    struct gpu_arena fills; /* what is to be drawn */
};

/* GPU number ORDINAL of those that the driver shows. PYTHON as for nvrtc_open.
 * ERR_UNAVAILABLE: there is none, or no compiler. gpu_close in any case. */
int gpu_open(struct gpu *d, int ordinal, const char *python,
             struct err *e) MUST_USE;
/* The same without the judge's kernels. */
int gpu_start(struct gpu *d, int ordinal, struct err *e) MUST_USE;
void gpu_close(struct gpu *d);

/* SIZE bytes or some more, to A->size; its bytes are whatever they are. A->fd
 * only when SHARED. */
int gpu_arena_new(struct gpu *d, size_t size, bool shared, struct gpu_arena *a,
                  struct err *e) MUST_USE;
/* Map what FD of another process gives, SIZE bytes; FD stays the caller's. */
int gpu_arena_import(struct gpu *d, int fd, size_t size, struct gpu_arena *a,
                     struct err *e) MUST_USE;
void gpu_arena_free(struct gpu *d, struct gpu_arena *a);

/* Complete when they return. */
int gpu_write(struct gpu *d, uint64_t to, const void *from, size_t n,
              struct err *e) MUST_USE;
int gpu_read(struct gpu *d, void *to, uint64_t from, size_t n,
             struct err *e) MUST_USE;
int gpu_wait(struct gpu *d, struct err *e) MUST_USE;

/* N bytes at TO from FROM, queued; both of this GPU. */
int gpu_move(struct gpu *d, uint64_t to, uint64_t from, size_t n,
             struct err *e) MUST_USE;
/* Bytes of the GPU's memory that are taken, by whomever. */
int gpu_taken(struct gpu *d, int64_t *bytes, struct err *e) MUST_USE;

/* Queued: gen_fill of generate.h for each of N. */
int gpu_fill(struct gpu *d, const struct gen *g, const struct filling *v,
             size_t n, struct err *e) MUST_USE;

/* A graph of what BODY queues; the caller frees it. */
int gpu_record(struct gpu *d, int (*body)(struct gpu *, void *, struct err *),
               void *payload, void **graph, struct err *e) MUST_USE;
/* Queued. */
int gpu_replay(struct gpu *d, void *graph, struct err *e) MUST_USE;
void gpu_forget(struct gpu *d, void *graph);

/* What the machine takes for things that are in every measurement, seconds. */
struct gpu_figures {
    double node; /* a kernel of one thread in a row of such */
    double link; /* more for each that is followed by a copy of an element */
};
int gpu_calibrate(struct gpu *d, struct gpu_figures *out,
                  struct err *e) MUST_USE;

enum gpu_peak { PEAK_FP32, PEAK_TF32, PEAK_BF16, PEAK_FP16, PEAK_COUNT };
/* Operations a second of products of large matrices by cuBLAS, found as
 * nvrtc_open finds its library; 0 where there is none. AT: 192 MiB to work in.
 */
#define PEAK_BYTES ((size_t)192 << 20)
void gpu_peaks(struct gpu *d, const char *python, uint64_t at,
               double out[PEAK_COUNT]);

/* For the judge's own kernels: blocks for N units of work, and a start. */
size_t gpu_blocks(const struct gpu *d, uint64_t n);
int gpu_launch(struct gpu *d, void *kernel, uint64_t n, void **arguments,
               struct err *e) MUST_USE;

/* The same over N rows of WIDTH units of work, one row a step of the grid along
 * y. */
int gpu_rows(struct gpu *d, enum gpu_kernel kernel, uint64_t width, uint64_t n,
             void **arguments, struct err *e) MUST_USE;

/* struct comparison of compare.h, on the GPU; EXACT is 0 where there is none.
 */
struct gpu_comparison {
    const struct tensor *t;
    bool tf32;
    enum compare_kind how; /* not a set */
    uint64_t candidate, reference, exact;
    struct own_error error;
    double terms;
};

/* As compare_tensor, with the same counts; sums and what follows from them may
 * differ in the last bits. 1 = added to OUT, 0 = the reference is not finite.
 */
int gpu_compare(struct gpu *d, const struct gpu_comparison *c,
                struct compared *out, struct err *e) MUST_USE;

/* reference_error of compare.h, of tensors whose elements have an order. */
int gpu_own_error(struct gpu *d, const struct tensor *t, uint64_t reference,
                  uint64_t exact, struct own_error *out,
                  struct err *e) MUST_USE;

#endif
