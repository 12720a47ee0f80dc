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
