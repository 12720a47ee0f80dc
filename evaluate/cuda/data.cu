// SPDX-License-Identifier: MIT
//
// What the judge writes into its arenas: the same bytes as evaluate/generate.c
// makes on a CPU, element by element from the words of a Philox stream. Compiled
// without contraction (nvrtc.c), since a fused multiply and add rounds once where
// the CPU rounds twice.

#include "evaluate/cuda/common.cuh"

static const u64 CHUNK = 1024; // of evaluate/generate.c
static const u64 HALF = CHUNK / 2;

__device__ static void block(const data &d, u64 at, u32 w[4])
{
    u32 c0 = (u32)at, c1 = (u32)(at >> 32);
    u32 c2 = (u32)d.stream, c3 = (u32)(d.stream >> 32);
    u32 k0 = d.key[0], k1 = d.key[1];
    for (int i = 0; i < 10; i++) {
        u64 p0 = (u64)0xD2511F53u * c0, p1 = (u64)0xCD9E8D57u * c2;
        u32 n0 = (u32)(p1 >> 32) ^ c1 ^ k0, n2 = (u32)(p0 >> 32) ^ c3 ^ k1;
        c1 = (u32)p1;
        c3 = (u32)p0;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    w[0] = c0;
    w[1] = c1;
    w[2] = c2;
    w[3] = c3;
}

__device__ static u16 to_half(float f)
{
    u32 x = __float_as_uint(f), sign = x >> 16 & 0x8000u, a = x & 0x7fffffffu;
    if (a > 0x7f800000u)
        return (u16)(sign | 0x7e00u);
    if (a >= 0x477ff000u)
        return (u16)(sign | 0x7c00u);
    if (a < 0x38800000u)
        return (u16)(sign |
                     (__float_as_uint(__uint_as_float(a) + 0.5f) - 0x3f000000u));
    a += 0xfffu + (a >> 13 & 1);
    return (u16)(sign | (a - 0x38000000u) >> 13);
}

__device__ static u16 to_bfloat(float f)
{
    u32 x = __float_as_uint(f);
    if ((x & 0x7fffffffu) > 0x7f800000u)
        return (u16)(x >> 16 | 0x40u);
    return (u16)((x + 0x7fffu + (x >> 16 & 1)) >> 16);
}

// T is float or double.
template <typename T> __device__ static void put(const data &d, u64 i, T v)
{
    switch (d.dtype) {
    case KM_FLOAT32:
        ((float *)d.to)[i] = (float)v;
        break;
    case KM_FLOAT64:
        ((double *)d.to)[i] = (double)v;
        break;
    case KM_FLOAT16:
        ((u16 *)d.to)[i] = to_half((float)v);
        break;
    case KM_BFLOAT16:
        ((u16 *)d.to)[i] = to_bfloat((float)v);
        break;
    case KM_INT64:
        ((i64 *)d.to)[i] = (i64)v;
        break;
    case KM_INT32:
        ((int *)d.to)[i] = (int)v;
        break;
    case KM_INT16:
        ((short *)d.to)[i] = (short)v;
        break;
    case KM_INT8:
        ((signed char *)d.to)[i] = (signed char)v;
        break;
    case KM_UINT8:
        ((unsigned char *)d.to)[i] = (unsigned char)v;
        break;
    default:
        ((unsigned char *)d.to)[i] = v != 0;
        break;
    }
}

// normal_chunk of evaluate/generate.c: a pair from the words U and A.
__device__ static void pair(u32 u, u32 a, float *first, float *second)
{
    float f = ((float)(int)(u >> 8) + 0.5f) * 0x1p-24f;
    int bits = __float_as_int(f) - 0x3f3504f3;
    float e = (float)(bits >> 23);
    float m = __int_as_float((bits & 0x007fffff) + 0x3f3504f3) - 1;
    float y = 7.0376836292e-2f;
    y = y * m - 1.1514610310e-1f;
    y = y * m + 1.1676998740e-1f;
    y = y * m - 1.2420140846e-1f;
    y = y * m + 1.4249322787e-1f;
    y = y * m - 1.6668057665e-1f;
    y = y * m + 2.0000714765e-1f;
    y = y * m - 2.4999993993e-1f;
    y = y * m + 3.3333331174e-1f;
    y = m + (y * m * m * m - 0.5f * m * m) + e * 0.69314718f;
    float r = sqrtf(-2 * y + 1e-9f);
    float x = (float)(int)(a >> 8) * 0x1p-24f;
    int quarter = (int)(x * 4 + 0.5f);
    float t = (x - (float)quarter * 0.25f) * 6.2831853f, z = t * t;
    float s = ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z -
               1.6666654611e-1f) *
                  z * t +
              t;
    float c = ((2.443315711809948e-5f * z - 1.388731625493765e-3f) * z +
               4.166664568298827e-2f) *
                  z * z -
              0.5f * z + 1;
    float odd = (float)(quarter & 1);
    float sign_c = (float)(1 - ((quarter + 1) & 2));
    float sign_s = (float)(1 - (quarter & 2));
    *first = r * sign_c * (c + odd * (s - c));
    *second = r * sign_s * (s + odd * (c - s));
}

__device__ static void put_float(const data &d, u64 i, float f)
{
    if (i >= d.n)
        return;
    if (d.kind != DATA_STRUCTURE) {
        put(d, i, f * (float)d.factor);
        return;
    }
    u64 row = i / d.last, col = i - row * d.last;
    double v = d.slope_last * (double)col / (double)d.last +
               d.slope_first * (double)row / (double)d.rows + 0.5 * (double)f;
    put(d, i, i >= d.flat && i < d.flat_end ? d.level : (float)(v * d.factor));
}

// A unit: four words of a chunk's first half, and the four of its second.
__device__ static void normals(const data &d)
{
    u64 units = (d.n + CHUNK - 1) / CHUNK * (HALF / 4);
    for (u64 i = first_unit(); i < units; i += units_apart()) {
        u64 chunk = i / (HALF / 4), k = i % (HALF / 4);
        u64 at = chunk * CHUNK + 4 * k;
        u32 u[4], a[4];
        float x, y;
        if (at >= d.n)
            continue;
        block(d, chunk * (CHUNK / 4) + k, u);
        block(d, chunk * (CHUNK / 4) + HALF / 4 + k, a);
        for (int j = 0; j < 4; j++) {
            pair(u[j], a[j], &x, &y);
            put_float(d, at + j, x);
            put_float(d, at + HALF + j, y);
        }
    }
}

// A unit: one block of four words.
__device__ static void uniforms(const data &d)
{
    float lo = (float)d.lo, width = (float)(d.hi - d.lo);
    for (u64 i = first_unit(); i < (d.n + 3) / 4; i += units_apart()) {
        u32 w[4];
        block(d, i, w);
        for (int j = 0; j < 4 && 4 * i + j < d.n; j++) {
            if (d.kind == DATA_BOOLS)
                put(d, 4 * i + j, (double)((double)w[j] * 0x1p-32 < d.p));
            else
                put(d, 4 * i + j,
                    (lo + width * ((float)(int)(w[j] >> 8) * 0x1p-24f)) *
                        (float)d.factor);
        }
    }
}

// A unit: one block, two words for each number.
__device__ static void integers(const data &d)
{
    u64 span = (u64)(d.hi - d.lo) + 1;
    for (u64 i = first_unit(); i < (d.n + 1) / 2; i += units_apart()) {
        u32 w[4];
        block(d, i, w);
        for (int j = 0; j < 2 && 2 * i + j < d.n; j++) {
            u64 x = (u64)w[2 * j] << 32 | w[2 * j + 1];
            double v = d.lo + (double)__umul64hi(x, span);
            if (d.bounds && (x & 7) < 2)
                v = x & 1 ? d.lo : d.hi;
            put(d, 2 * i + j, v);
        }
    }
}

// Tensors lie along y.
extern "C" __global__ void km_normals(const data *all, u64 n)
{
    for (u64 y = blockIdx.y; y < n; y += gridDim.y)
        normals(all[y]);
}

extern "C" __global__ void km_uniforms(const data *all, u64 n)
{
    for (u64 y = blockIdx.y; y < n; y += gridDim.y)
        uniforms(all[y]);
}

extern "C" __global__ void km_integers(const data *all, u64 n)
{
    for (u64 y = blockIdx.y; y < n; y += gridDim.y)
        integers(all[y]);
}

// One thread a tensor: of two at one place the later one stays.
extern "C" __global__ void km_spikes(const data *all, u64 n)
{
    for (u64 y = first_unit(); y < n; y += units_apart())
        for (int i = 0; i < all[y].n_spikes; i++)
            put(all[y], all[y].spike_at[i], all[y].spike[i]);
}
