/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/vectors.h" /* before anything is compiled */

#include "evaluate/dtype.h"

static const struct {
    const char *name;
    uint8_t size;
    bool is_float;
    double roundoff;
} types[DTYPE_COUNT] = {
    [KM_FLOAT32] = {"float32", 4, true, 0x1p-24},
    [KM_FLOAT16] = {"float16", 2, true, 0x1p-11},
    [KM_BFLOAT16] = {"bfloat16", 2, true, 0x1p-8},
    [KM_FLOAT64] = {"float64", 8, true, 0x1p-53},
    [KM_INT64] = {"int64", 8, false, 0},
    [KM_INT32] = {"int32", 4, false, 0},
    [KM_INT16] = {"int16", 2, false, 0},
    [KM_INT8] = {"int8", 1, false, 0},
    [KM_UINT8] = {"uint8", 1, false, 0},
    [KM_BOOL] = {"bool", 1, false, 0},
};

int dtype_find(struct span name)
{
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (span_is(name, types[i].name))
            return i;
    return -1;
}

const char *dtype_name(int dtype)
{
    return types[dtype].name;
}

size_t dtype_size(int dtype)
{
    return types[dtype].size;
}

bool dtype_is_float(int dtype)
{
    return types[dtype].is_float;
}

double dtype_roundoff(int dtype)
{
    return types[dtype].roundoff;
}

static float half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16;
    uint32_t exp = (h >> 10) & 31u, man = h & 0x3ffu, bits;
    float f;
    if (exp == 31) {
        bits = sign | 0x7f800000u | man << 13;
    } else if (exp) {
        bits = sign | (exp + 112) << 23 | man << 13;
    } else {
        /* Zero and subnormals: an integer times 2^-24, exact in float. */
        f = (float)man * 0x1p-24f;
        return sign ? -f : f;
    }
    memcpy(&f, &bits, 4);
    return f;
}

static uint16_t float_to_half(float f)
{
    uint32_t x, sign, a;
    memcpy(&x, &f, 4);
    sign = x >> 16 & 0x8000u;
    a = x & 0x7fffffffu;
    if (a > 0x7f800000u)
        return (uint16_t)(sign | 0x7e00u);
    if (a >= 0x477ff000u) /* 65520 and above rounds to infinity */
        return (uint16_t)(sign | 0x7c00u);
    if (a < 0x38800000u) {
        /* Subnormal half: let the FPU round by adding 2^-24 * 2^23. */
        float g;
        uint32_t b;
        memcpy(&g, &a, 4);
        g += 0.5f;
        memcpy(&b, &g, 4);
        return (uint16_t)(sign | (b - 0x3f000000u));
    }
    a += 0xfffu + (a >> 13 & 1);
    return (uint16_t)(sign | (a - 0x38000000u) >> 13);
}

static uint16_t float_to_bfloat(float f)
{
    uint32_t x;
    memcpy(&x, &f, 4);
    if ((x & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t)(x >> 16 | 0x40u);
    return (uint16_t)((x + 0x7fffu + (x >> 16 & 1)) >> 16);
}

static float bfloat_to_float(uint16_t b)
{
    uint32_t x = (uint32_t)b << 16;
    float f;
    memcpy(&f, &x, 4);
    return f;
}

#define COPY_FROM(T)                                                           \
    do {                                                                       \
        const T *s_ = src;                                                     \
        for (size_t i = 0; i < n; i++)                                         \
            dst[i] = (double)s_[i];                                            \
    } while (0)

void dtype_to_double(int dtype, const void *src, double *dst, size_t n)
{
    const uint16_t *h = src;
    switch (dtype) {
    case KM_FLOAT32:
        COPY_FROM(float);
        break;
    case KM_FLOAT64:
        memcpy(dst, src, n * sizeof(double));
        break;
    case KM_FLOAT16:
        for (size_t i = 0; i < n; i++)
            dst[i] = half_to_float(h[i]);
        break;
    case KM_BFLOAT16:
        for (size_t i = 0; i < n; i++)
            dst[i] = bfloat_to_float(h[i]);
        break;
    case KM_INT64:
        COPY_FROM(int64_t);
        break;
    case KM_INT32:
        COPY_FROM(int32_t);
        break;
    case KM_INT16:
        COPY_FROM(int16_t);
        break;
    case KM_INT8:
        COPY_FROM(int8_t);
        break;
    default: /* uint8 and bool */
        COPY_FROM(uint8_t);
        break;
    }
}

#define COPY_TO(T)                                                             \
    do {                                                                       \
        T *d_ = dst;                                                           \
        for (size_t i = 0; i < n; i++)                                         \
            d_[i] = (T)src[i];                                                 \
    } while (0)

#define CONVERT()                                                              \
    uint16_t *h = dst;                                                         \
    switch (dtype) {                                                           \
    case KM_FLOAT32:                                                           \
        COPY_TO(float);                                                        \
        break;                                                                 \
    case KM_FLOAT64:                                                           \
        COPY_TO(double);                                                       \
        break;                                                                 \
    case KM_FLOAT16:                                                           \
        for (size_t i = 0; i < n; i++)                                         \
            h[i] = float_to_half((float)src[i]);                               \
        break;                                                                 \
    case KM_BFLOAT16:                                                          \
        for (size_t i = 0; i < n; i++)                                         \
            h[i] = float_to_bfloat((float)src[i]);                             \
        break;                                                                 \
    case KM_INT64:                                                             \
        COPY_TO(int64_t);                                                      \
        break;                                                                 \
    case KM_INT32:                                                             \
        COPY_TO(int32_t);                                                      \
        break;                                                                 \
    case KM_INT16:                                                             \
        COPY_TO(int16_t);                                                      \
        break;                                                                 \
    case KM_INT8:                                                              \
        COPY_TO(int8_t);                                                       \
        break;                                                                 \
    case KM_UINT8:                                                             \
        COPY_TO(uint8_t);                                                      \
        break;                                                                 \
    default:                                                                   \
        for (size_t i = 0; i < n; i++)                                         \
            ((uint8_t *)dst)[i] = src[i] != 0;                                 \
    }

void dtype_from_double(int dtype, const double *src, void *dst, size_t n)
{
    CONVERT()
}

void dtype_from_float(int dtype, const float *src, void *dst, size_t n)
{
    CONVERT()
}
