/* SPDX-License-Identifier: MIT */
/*
 * The interface of candidates in language `c`: one C translation unit that
 * includes this header and defines km_forward, and km_init if it wants to.
 *
 *     #include "km_candidate.h"
 *
 *     int km_forward(const struct km_tensor *in, int n_in,
 *                    const struct km_tensor *params, int n_params,
 *                    struct km_tensor *out, int n_out)
 *     {
 *         const float *x = in[0].data;
 *         float *y = out[0].data;
 *         for (int64_t i = 0; i < km_numel(&in[0]); i++)
 *             y[i] = x[i] > 0 ? x[i] : 0;
 *         return 0;
 *     }
 *
 * Plain C types and no library beyond libc and libm; compiled as
 * cc -std=gnu11 -O3 -march=native -fno-math-errno -shared -fPIC ... -lm.
 */
#ifndef KM_CANDIDATE_H
#define KM_CANDIDATE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KM_DIMS 8

enum km_dtype {
    KM_FLOAT32 = 0,
    KM_FLOAT16 = 1,  /* IEEE binary16, as uint16_t or _Float16 */
    KM_BFLOAT16 = 2, /* upper half of a float32, as uint16_t */
    KM_FLOAT64 = 3,
    KM_INT64 = 4,
    KM_INT32 = 5,
    KM_INT16 = 6,
    KM_INT8 = 7,
    KM_UINT8 = 8,
    KM_BOOL = 9 /* one byte, 0 or 1 */
};

struct km_tensor {
    void *data;
    int32_t dtype; /* enum km_dtype */
    int32_t ndim;  /* 0 = a scalar, at most KM_DIMS */
    int64_t shape[KM_DIMS];
    int64_t stride[KM_DIMS]; /* in elements; always row-major here */
    const char *name;        /* "in0", a parameter's dotted name, "out0" */
};

/*
 * One forward. IN holds the arguments of the reference's forward in order,
 * lists flattened: tensors, and each int, float or bool argument as a scalar
 * tensor (int64, float64, bool; a str or None argument is left out). PARAMS
 * holds the parameters and buffers of the reference's state dict in its
 * order, with the dotted names that PyTorch gives them ("conv.weight"). OUT is
 * allocated, one for each tensor that the reference returns; every element must
 * be written. IN and PARAMS must not be written unless the reference writes
 * them. The pointers differ from call to call. Returns 0, anything else is a
 * run-time error. One thread: a candidate that starts others is judged as
 * cheating, because the reference has one too.
 */
int km_forward(const struct km_tensor *in, int n_in,
               const struct km_tensor *params, int n_params,
               struct km_tensor *out, int n_out);

/*
 * Optional. Called before the first forward and again each time the
 * parameters' values have changed (the params themselves stay where they are),
 * so packed copies of weights belong here. Not on the clock; memory kept
 * counts. Returns 0 on success.
 */
int km_init(const struct km_tensor *params, int n_params);

static inline int64_t km_numel(const struct km_tensor *t)
{
    int64_t n = 1;
    for (int32_t i = 0; i < t->ndim; i++)
        n *= t->shape[i];
    return n;
}

#ifdef __cplusplus
}
#endif

#endif
