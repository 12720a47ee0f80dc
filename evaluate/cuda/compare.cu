// SPDX-License-Identifier: MIT
//
// Comparison of a candidate's outputs where they lie: the passes of
// evaluate/compare.c, whose header says what is compared with what. Each block
// leaves its own totals, which the host adds in their order, so that the same
// data gives the same sums.

#include "evaluate/cuda/common.cuh"

// Bits as an integer that grows with the value of a float.
__device__ static i64 ordered(u64 at, int dtype, u64 i)
{
    const void *p = (const void *)at;
    if (dtype == KM_FLOAT32) {
        int x = ((const int *)p)[i];
        return x < 0 ? -(i64)(x & 0x7fffffff) : x;
    }
    if (dtype == KM_FLOAT64) {
        i64 x = ((const i64 *)p)[i];
        return x < 0 ? -(x & 0x7fffffffffffffffll) : x;
    }
    short x = ((const short *)p)[i];
    return x < 0 ? -(i64)(x & 0x7fff) : x;
}

__device__ static int ulp_bin(i64 a, i64 b)
{
    u64 d = a > b ? (u64)a - (u64)b : (u64)b - (u64)a;
    int bin = d ? 64 - __clzll((i64)d) : 0;
    return bin < PASS_ULP_BINS ? bin : PASS_ULP_BINS - 1;
}

__device__ static void leave(totals *to, double sum_sq, double max_abs,
                             double max_rel)
{
    sum_sq = fold(sum_sq, true);
    max_abs = fold(max_abs, false);
    max_rel = fold(max_rel, false);
    if (threadIdx.x == 0) {
        to->sum_sq = sum_sq;
        to->max_abs = max_abs;
        to->max_rel = max_rel;
    }
}

// What is counted is zero before: the host sees to it.

// Squares of R, and elements of the reference that are not finite.
extern "C" __global__ void km_squares(pass p)
{
    totals *to = (totals *)p.out + blockIdx.x;
    double sum = 0;
    u64 bad = 0;
    for (u64 i = first_unit(); i < p.n; i += units_apart()) {
        double r = element(p.reference, p.dtype, i), x = p.exact ? ((const double *)p.exact)[i] : r;
        sum += x * x;
        bad += is_bad(r);
    }
    if (bad)
        add(&to->bad, bad);
    leave(to, sum, 0, 0);
}

// R at the places AT.
extern "C" __global__ void km_gather(pass p, const u64 *at, u64 n, double *out)
{
    for (u64 i = first_unit(); i < n; i += units_apart())
        out[i] = p.exact ? ((const double *)p.exact)[at[i]] : element(p.reference, p.dtype, at[i]);
}

// The reference's own error.
extern "C" __global__ void km_largest(pass p)
{
    double most = 0, most_rel = 0;
    for (u64 i = first_unit(); i < p.n; i += units_apart()) {
        double b = ((const double *)p.exact)[i], scale = fabs(b);
        double d = fabs(element(p.reference, p.dtype, i) - b);
        double rel = d / (scale > p.s ? scale : p.s > 0 ? p.s : 1);
        most = d > most ? d : most;
        most_rel = rel > most_rel ? rel : most_rel;
    }
    leave((totals *)p.out + blockIdx.x, 0, most, most_rel);
}

extern "C" __global__ void km_close(pass p)
{
    totals *to = (totals *)p.out + blockIdx.x;
    double most = 0, most_rel = 0, sum = 0;
    u64 outside[PASS_JUDGEMENTS] = {0, 0, 0}, same = 0;
    for (u64 i = first_unit(); i < p.n; i += units_apart()) {
        double c = element(p.candidate, p.dtype, i);
        double r = element(p.reference, p.dtype, i);
        double x = p.exact ? ((const double *)p.exact)[i] : r;
        double d = fabs(c - r), ar = fabs(r), ref = fabs(x);
        double scale = ref > p.s ? ref : p.s;
        double a = p.t * (ref + p.s), b = p.ulps * scale;
        double own = p.own_rel * scale;
        own = own < p.own ? own : p.own;
        a = a > own ? a : own;
        a = a > b ? a : b;
        outside[0] += !(d <= p.kb + p.kb * ar);
        outside[1] += !(d <= p.kbv + p.kbv * ar);
        outside[2] += !(fabs(c - x) <= a);
        d = is_bad(d) ? 0 : d;
        double rel = d / (ar > 0 ? ar : d > 0 ? d : 1);
        most = d > most ? d : most;
        most_rel = rel > most_rel ? rel : most_rel;
        sum += d * d;
        if (c != c) {
            add(&to->nan, (u64)1);
        } else if (is_bad(c)) {
            add(&to->inf, (u64)1);
        } else {
            int bin = ulp_bin(ordered(p.candidate, p.dtype, i),
                              ordered(p.reference, p.dtype, i));
            if (bin)
                add(&to->ulp[bin], (u64)1);
            else
                same++;
        }
    }
    for (int j = 0; j < PASS_JUDGEMENTS; j++)
        if (outside[j])
            add(&to->outside[j], outside[j]);
    if (same)
        add(&to->ulp[0], same);
    leave(to, sum, most, most_rel);
}

// Bytes alike, or zeros of both signs.
extern "C" __global__ void km_exact(pass p, int size)
{
    totals *to = (totals *)p.out + blockIdx.x;
    const unsigned char *x = (const unsigned char *)p.candidate;
    const unsigned char *r = (const unsigned char *)p.reference;
    bool real = p.dtype <= KM_FLOAT64;
    double most = 0;
    for (u64 i = first_unit(); i < p.n; i += units_apart()) {
        bool equal = true;
        for (int k = 0; k < size; k++)
            equal = equal && x[i * size + k] == r[i * size + k];
        double a = element(p.candidate, p.dtype, i);
        double b = element(p.reference, p.dtype, i);
        if (equal || (real && a == b))
            continue;
        for (int j = 0; j < PASS_JUDGEMENTS; j++)
            add(&to->outside[j], (u64)1);
        if (a != a)
            add(&to->nan, (u64)1);
        else if (fabs(a - b) > most)
            most = fabs(a - b);
    }
    leave(to, 0, most, 0);
}
