// SPDX-License-Identifier: MIT
//
// Comparison of a candidate's outputs where they lie: the passes of
// evaluate/compare.c, whose header says what is compared with what. Each block
// leaves its own totals, which the host adds in their order, so that the same
// data gives the same sums. The number of threads in a block is a power of two.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
typedef unsigned short u16;

enum {
    FLOAT32,
    FLOAT16,
    BFLOAT16,
    FLOAT64,
    INT64,
    INT32,
    INT16,
    INT8,
    UINT8,
    BOOL
};

#define ULP_BINS   34
#define JUDGEMENTS 3
#define THREADS    256

// evaluate/cuda/gpu_compare.c
struct totals {
    double sum_sq, max_abs, max_rel;
    u64 outside[JUDGEMENTS], nan, inf, bad, ulp[ULP_BINS];
};

struct pass {
    const void *candidate, *reference;
    const double *exact; // or 0
    u64 n;
    int dtype;
    double kb, kbv, t, s, own, own_rel, ulps;
    struct totals *out; // one for each block
};

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

__device__ static double get(const void *p, int dtype, u64 i)
{
    switch (dtype) {
    case FLOAT32:
        return ((const float *)p)[i];
    case FLOAT64:
        return ((const double *)p)[i];
    case FLOAT16:
        return half_to_float(((const u16 *)p)[i]);
    case BFLOAT16:
        return __uint_as_float((u32)((const u16 *)p)[i] << 16);
    case INT64:
        return (double)((const i64 *)p)[i];
    case INT32:
        return ((const int *)p)[i];
    case INT16:
        return ((const short *)p)[i];
    case INT8:
        return ((const signed char *)p)[i];
    default:
        return ((const unsigned char *)p)[i];
    }
}

// Bits as an integer that grows with the value of a float.
__device__ static i64 ordered(const void *p, int dtype, u64 i)
{
    if (dtype == FLOAT32) {
        int x = ((const int *)p)[i];
        return x < 0 ? -(i64)(x & 0x7fffffff) : x;
    }
    if (dtype == FLOAT64) {
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
    return bin < ULP_BINS ? bin : ULP_BINS - 1;
}

__device__ static bool is_bad(double x)
{
    return !(fabs(x) <= 1.7976931348623157e308);
}

__device__ static u64 first()
{
    return blockIdx.x * (u64)blockDim.x + threadIdx.x;
}

__device__ static u64 apart()
{
    return gridDim.x * (u64)blockDim.x;
}

// The block's sum or maximum of V, in thread 0.
__device__ static double fold(double v, bool sum)
{
    __shared__ double part[THREADS];
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

__device__ static void leave(struct totals *to, double sum_sq, double max_abs,
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
    struct totals *to = p.out + blockIdx.x;
    double sum = 0;
    u64 bad = 0;
    for (u64 i = first(); i < p.n; i += apart()) {
        double r = get(p.reference, p.dtype, i), x = p.exact ? p.exact[i] : r;
        sum += x * x;
        bad += is_bad(r);
    }
    if (bad)
        atomicAdd(&to->bad, bad);
    leave(to, sum, 0, 0);
}

// R at the places AT.
extern "C" __global__ void km_gather(pass p, const u64 *at, u64 n, double *out)
{
    for (u64 i = first(); i < n; i += apart())
        out[i] = p.exact ? p.exact[at[i]] : get(p.reference, p.dtype, at[i]);
}

// The reference's own error.
extern "C" __global__ void km_largest(pass p)
{
    double most = 0, most_rel = 0;
    for (u64 i = first(); i < p.n; i += apart()) {
        double b = p.exact[i], scale = fabs(b);
        double d = fabs(get(p.reference, p.dtype, i) - b);
        double rel = d / (scale > p.s ? scale : p.s > 0 ? p.s : 1);
        most = d > most ? d : most;
        most_rel = rel > most_rel ? rel : most_rel;
    }
    leave(p.out + blockIdx.x, 0, most, most_rel);
}

extern "C" __global__ void km_close(pass p)
{
    struct totals *to = p.out + blockIdx.x;
    double most = 0, most_rel = 0, sum = 0;
    u64 outside[JUDGEMENTS] = {0, 0, 0}, same = 0;
    for (u64 i = first(); i < p.n; i += apart()) {
        double c = get(p.candidate, p.dtype, i);
        double r = get(p.reference, p.dtype, i);
        double x = p.exact ? p.exact[i] : r;
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
            atomicAdd(&to->nan, (u64)1);
        } else if (is_bad(c)) {
            atomicAdd(&to->inf, (u64)1);
        } else {
            int bin = ulp_bin(ordered(p.candidate, p.dtype, i),
                              ordered(p.reference, p.dtype, i));
            if (bin)
                atomicAdd(&to->ulp[bin], (u64)1);
            else
                same++;
        }
    }
    for (int j = 0; j < JUDGEMENTS; j++)
        if (outside[j])
            atomicAdd(&to->outside[j], outside[j]);
    if (same)
        atomicAdd(&to->ulp[0], same);
    leave(to, sum, most, most_rel);
}

// Bytes alike, or zeros of both signs.
extern "C" __global__ void km_exact(pass p, int size)
{
    struct totals *to = p.out + blockIdx.x;
    const unsigned char *x = (const unsigned char *)p.candidate;
    const unsigned char *r = (const unsigned char *)p.reference;
    bool real = p.dtype <= FLOAT64;
    double most = 0;
    for (u64 i = first(); i < p.n; i += apart()) {
        bool equal = true;
        for (int k = 0; k < size; k++)
            equal = equal && x[i * size + k] == r[i * size + k];
        double a = get(x, p.dtype, i), b = get(r, p.dtype, i);
        if (equal || (real && a == b))
            continue;
        for (int j = 0; j < JUDGEMENTS; j++)
            atomicAdd(&to->outside[j], (u64)1);
        if (a != a)
            atomicAdd(&to->nan, (u64)1);
        else if (fabs(a - b) > most)
            most = fabs(a - b);
    }
    leave(to, 0, most, 0);
}
