// SPDX-License-Identifier: MIT
//
// Around a ring: rows that are copied, set, widened and looked at, a few bytes
// here and there, and whether anything still runs. Rows lie along y.

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

__device__ static u64 row_at(const strip &s, u64 r)
{
    return s.at + (s.places ? ((const u64 *)s.places)[r] : r * s.pitch);
}

// N rows of WIDTH bytes; 16 at once where all is so aligned.
extern "C" __global__ void km_copy(strip to, strip from, u64 width, u64 n)
{
    for (u64 r = blockIdx.y; r < n; r += gridDim.y) {
        u64 a = row_at(to, r), b = row_at(from, r);
        bool wide = !((a | b) % 16);
        u64 whole = wide ? width / 16 : 0;
        for (u64 i = first_unit(); i < whole; i += units_apart())
            ((uint4 *)a)[i] = ((const uint4 *)b)[i];
        for (u64 i = whole * 16 + first_unit(); i < width; i += units_apart())
            ((unsigned char *)a)[i] = ((const unsigned char *)b)[i];
    }
}

// The SIZE low bytes of VALUE again and again.
extern "C" __global__ void km_set(strip to, u64 width, u64 n, u64 value,
                                  u64 size)
{
    for (u64 r = blockIdx.y; r < n; r += gridDim.y) {
        u64 a = row_at(to, r);
        for (u64 i = first_unit(); i < width / size; i += units_apart())
            switch (size) {
            case 8:
                ((u64 *)a)[i] = value;
                break;
            case 4:
                ((u32 *)a)[i] = (u32)value;
                break;
            case 2:
                ((u16 *)a)[i] = (u16)value;
                break;
            default:
                ((unsigned char *)a)[i] = (unsigned char)value;
            }
    }
}

extern "C" __global__ void km_widen(double *to, u64 from, int dtype, u64 n)
{
    for (u64 i = first_unit(); i < n; i += units_apart())
        to[i] = element(from, dtype, i);
}

// The least offset at which A and B differ, to OUT, which holds N.
extern "C" __global__ void km_differ(const unsigned char *a,
                                     const unsigned char *b, u64 n, u64 *out)
{
    bool wide = !(((u64)a | (u64)b) % 16);
    u64 whole = wide ? n / 16 : 0, least = n;
    for (u64 i = first_unit(); i < whole; i += units_apart()) {
        uint4 x = ((const uint4 *)a)[i], y = ((const uint4 *)b)[i];
        if (x.x == y.x && x.y == y.y && x.z == y.z && x.w == y.w)
            continue;
        for (u64 k = i * 16; k < i * 16 + 16 && least == n; k++)
            if (a[k] != b[k])
                least = k;
        break; // what comes later is further on
    }
    for (u64 i = whole * 16 + first_unit(); i < n && least == n;
         i += units_apart())
        if (a[i] != b[i])
            least = i;
    if (least < n)
        atomicMin((unsigned long long *)out, (unsigned long long)least);
}

// Of each row, into OUT, which holds zeros: the sum of squares of what is
// finite, and how much is not.
extern "C" __global__ void km_row_squares(strip at, int dtype, u64 numel, u64 n,
                                          row *out)
{
    for (u64 r = blockIdx.y; r < n; r += gridDim.y) {
        double sum = 0;
        u64 bad = 0;
        for (u64 i = first_unit(); i < numel; i += units_apart()) {
            double v = element(row_at(at, r), dtype, i);
            if (is_bad(v))
                bad++;
            else
                sum += v * v;
        }
        sum = fold(sum, true);
        if (threadIdx.x == 0)
            atomicAdd(&out[r].squares, sum);
        if (bad)
            add(&out[r].bad, bad);
    }
}

// Of each row, into BAD of OUT: elements of X that are not within PART of those
// of R, relative to these and to the root mean square that OUT holds.
extern "C" __global__ void km_row_apart(strip x, strip r0, int dtype, u64 numel,
                                        u64 n, double part, row *out)
{
    for (u64 r = blockIdx.y; r < n; r += gridDim.y) {
        double rms = sqrt(out[r].squares / (double)numel);
        u64 bad = 0;
        for (u64 i = first_unit(); i < numel; i += units_apart()) {
            double a = element(row_at(x, r), dtype, i);
            double b = element(row_at(r0, r), dtype, i);
            if (!(fabs(a - b) <= part * (fabs(b) + rms)))
                bad++;
        }
        if (bad)
            add(&out[r].bad, bad);
    }
}
