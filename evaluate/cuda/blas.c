/* SPDX-License-Identifier: MIT */
/* What products of matrices the GPU is capable of, by cuBLAS. */
#include "base.h"

#include <dlfcn.h>

#include "evaluate/cuda/gpu.h"
#include "proc.h"

#define SIDE  4096 /* of the matrices */
#define TURNS 4

static const char *const names[] = {"libcublas.so.13", "libcublas.so.12",
                                    "libcublas.so"};
static const char *const packages[] = {
    "lib/python3*/site-packages/nvidia/cu1*/lib/libcublas.so.1[0-9]",
    "lib/python3*/site-packages/nvidia/cublas/lib/libcublas.so.1[0-9]"};

struct blas {
    void *lib;
#define BLAS(name, symbol, arguments) int(*name) arguments;
#include "evaluate/cuda/cuda.def"
};

static bool blas_open(struct blas *b, const char *python)
{
    bool all = true;

    b->lib = cuda_library(names, ARRAY_LEN(names), packages,
                          ARRAY_LEN(packages), python);
    if (!b->lib)
        return false;
#define BLAS(name, symbol, arguments)                                          \
    *(void **)&b->name = dlsym(b->lib, symbol);                                \
    all = all && b->name;
#include "evaluate/cuda/cuda.def"
    return all;
}

/* cudaDataType and cublasComputeType_t of the kinds of product. */
static const struct {
    int dtype, type, compute;
} kinds[PEAK_COUNT] = {
    [PEAK_FP32] = {KM_FLOAT32, 0, 68},
    [PEAK_TF32] = {KM_FLOAT32, 0, 77},
    [PEAK_BF16] = {KM_BFLOAT16, 14, 68},
    [PEAK_FP16] = {KM_FLOAT16, 2, 68},
};

/* Both operands: zeros would take less power than numbers do. */
static int fill(struct gpu *d, int dtype, uint64_t at, size_t step,
                struct err *e)
{
    struct tensor t = {.dtype = dtype, .ndim = 2, .shape = {SIDE, SIDE}};
    struct filling v[2] = {{.t = &t, .f = {.kind = FILL_NORMAL, .factor = 1}}};
    struct gen g;

    t.numel = (size_t)SIDE * SIDE;
    t.bytes = t.numel * dtype_size(dtype);
    if (gen_init(&g, 1, e))
        return -1;
    v[0].to = at;
    v[1] = v[0];
    v[1].to = at + step;
    return gpu_fill(d, &g, v, ARRAY_LEN(v), e);
}

/* Operations a second, 0 where the library refuses. */
static double measure(struct gpu *d, const struct blas *b, void *handle,
                      enum gpu_peak kind, uint64_t at)
{
    const float one = 1, zero = 0;
    size_t step = (size_t)SIDE * SIDE * sizeof(float);
    int type = kinds[kind].type;
    double best = 1e9;
    struct err e;

    if (fill(d, kinds[kind].dtype, at, step, &e))
        return 0;
    for (int i = 0; i < TURNS; i++) {
        double start;
        if (gpu_wait(d, &e))
            return 0;
        start = now_s();
        if (b->product(handle, 0, 0, SIDE, SIDE, SIDE, &one, at, type, SIDE,
                       at + step, type, SIDE, &zero, at + 2 * step, type, SIDE,
                       kinds[kind].compute, -1) ||
            gpu_wait(d, &e))
            return 0;
        best = MIN(best, now_s() - start);
    }
    return 2.0 * SIDE * SIDE * SIDE / best;
}

void gpu_peaks(struct gpu *d, const char *python, uint64_t at,
               double out[PEAK_COUNT])
{
    struct blas b = {0};
    void *handle = NULL;

    for (int i = 0; i < PEAK_COUNT; i++)
        out[i] = 0;
    if (!blas_open(&b, python) || b.create(&handle))
        return;
    if (b.set_stream(handle, d->stream) == 0)
        for (int i = 0; i < PEAK_COUNT; i++)
            out[i] = measure(d, &b, handle, (enum gpu_peak)i, at);
    (void)b.destroy(handle);
}
