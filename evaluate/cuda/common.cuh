// SPDX-License-Identifier: MIT
//
// What the judge's kernels share. Every kernel steps over its units of work by
// the size of its grid: no warp is assumed, no PTX used.

#include "evaluate/cuda/passed.h"
#include "evaluate/km_candidate.h"

typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;

__device__ static u64 first_unit()
{
    return blockIdx.x * (u64)blockDim.x + threadIdx.x;
}

__device__ static u64 units_apart()
{
    return gridDim.x * (u64)blockDim.x;
}

__device__ static float half_to_float(u16 h)
{
    u32 sign = (u32)(h & 0x8000u) << 16, exp = (h >> 10) & 31u,
        man = h & 0x3ffu;
    if (exp == 31)
        return __uint_as_float(sign | 0x7f800000u | man << 13);
    if (exp)
        return __uint_as_float(sign | (exp + 112) << 23 | man << 13);
    float f = (float)man * 0x1p-24f;
    return sign ? -f : f;
}

__device__ static double element(u64 at, int dtype, u64 i)
{
    const void *p = (const void *)at;
    switch (dtype) {
    case KM_FLOAT32:
        return ((const float *)p)[i];
    case KM_FLOAT64:
        return ((const double *)p)[i];
    case KM_FLOAT16:
        return half_to_float(((const u16 *)p)[i]);
    case KM_BFLOAT16:
        return __uint_as_float((u32)((const u16 *)p)[i] << 16);
    case KM_INT64:
        return (double)((const i64 *)p)[i];
    case KM_INT32:
        return ((const int *)p)[i];
    case KM_INT16:
        return ((const short *)p)[i];
    case KM_INT8:
        return ((const signed char *)p)[i];
    default:
        return ((const unsigned char *)p)[i];
    }
}

__device__ static bool is_bad(double x)
{
    return !(fabs(x) <= 1.7976931348623157e308);
}

// The block's sum or maximum of V, in thread 0.
__device__ static double fold(double v, bool sum)
{
    __shared__ double part[KERNEL_THREADS];
    part[threadIdx.x] = v;
    __syncthreads();
    for (unsigned k = blockDim.x / 2; k > 0; k /= 2) {
        if (threadIdx.x < k) {
            double o = part[threadIdx.x + k], m = part[threadIdx.x];
            part[threadIdx.x] = sum ? m + o : o > m ? o : m;
        }
        __syncthreads();
    }
    v = part[0];
    __syncthreads();
    return v;
}

// To what all threads of the block count; CUDA has its own name for 64 bits.
__device__ static void add(u64 *to, u64 n)
{
    atomicAdd((unsigned long long *)to, (unsigned long long)n);
}
