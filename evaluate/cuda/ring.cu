// SPDX-License-Identifier: MIT
//
// Around a ring: a few bytes here and there, and whether anything still runs.

#include "evaluate/cuda/common.cuh"

// V[0 .. n) to the bytes at BASE, or these to V.
extern "C" __global__ void km_scatter(u64 base, const place *v, u64 n)
{
    for (u64 i = first_unit(); i < n; i += units_apart())
        for (u64 k = 0; k < v[i].size; k++)
            ((unsigned char *)base)[v[i].at + k] = v[i].value[k];
}

extern "C" __global__ void km_collect(u64 base, place *v, u64 n)
{
    for (u64 i = first_unit(); i < n; i += units_apart())
        for (u64 k = 0; k < v[i].size; k++)
            v[i].value[k] = ((const unsigned char *)base)[v[i].at + k];
}

extern "C" __global__ void km_idle(u64 *x)
{
    ++*x;
}
