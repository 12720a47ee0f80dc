/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/generate.h"

#include "mem.h"

#include <math.h>
#include <sys/random.h>

const struct config configs[CONFIG_COUNT] = {
#define CONFIG(name, target, transform, factor, jitter, about)                 \
    {#name, TARGET_##target, TRANSFORM_##transform, factor, jitter, about},
#include "evaluate/configs.def"
#undef CONFIG
};

/* ---- Philox 4x32-10 ---- */

#define M0 0xD2511F53u
#define M1 0xCD9E8D57u
#define W0 0x9E3779B9u
#define W1 0xBB67AE85u

void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3],
             k0 = key[0], k1 = key[1];
    for (int i = 0; i < 10; i++) {
        uint64_t p0 = (uint64_t)M0 * c0, p1 = (uint64_t)M1 * c2;
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        uint32_t n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        c0 = n0;
        c2 = n2;
        k0 += W0;
        k1 += W1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

int gen_init(struct gen *g, uint64_t seed, struct err *e)
{
    memset(g, 0, sizeof(*g));
    if (!seed && getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
        return err_sys(e, "cannot get random bytes");
    g->key[0] = (uint32_t)seed;
    g->key[1] = (uint32_t)(seed >> 32);
    return 0;
}

/* Fill WORDS (a multiple of 4) from a stream of their own. */
#define CHUNK 1024

static void words(struct gen *g, uint64_t stream, uint64_t block, uint32_t *out,
                  size_t n)
{
    uint32_t c[4] = {0, 0, (uint32_t)stream, (uint32_t)(stream >> 32)};
    for (size_t i = 0; i < n; i += 4, block++) {
        c[0] = (uint32_t)block;
        c[1] = (uint32_t)(block >> 32);
        philox(c, g->key, out + i);
    }
}

void gen_bytes(struct gen *g, void *dst, size_t n)
{
    uint32_t w[CHUNK];
    uint64_t stream = g->stream++, block = 0;
    for (size_t at = 0; at < n; at += sizeof(w), block += CHUNK / 4) {
        size_t part = MIN(n - at, sizeof(w));
        words(g, stream, block, w, (part + 15) / 16 * 4);
        memcpy((char *)dst + at, w, part);
    }
}

uint64_t gen_below(struct gen *g, uint64_t n)
{
    uint64_t x;
    gen_bytes(g, &x, sizeof(x));
    return (uint64_t)(((unsigned __int128)x * n) >> 64);
}

double gen_uniform(struct gen *g, double lo, double hi)
{
    uint64_t x;
    gen_bytes(g, &x, sizeof(x));
    return lo + (hi - lo) * ((double)(x >> 11) * 0x1p-53);
}

void gen_shuffle(struct gen *g, int *v, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)gen_below(g, i);
        int t = v[i - 1];
        v[i - 1] = v[j];
        v[j] = t;
    }
}

/* ---- distributions, in chunks of floats ---- */

/* Box and Muller; 24 bits of the radius give values up to 5.8. */
static void normal_chunk(const uint32_t *w, float *dst, size_t n)
{
    for (size_t i = 0; i < n; i += 2) {
        float u = ((float)(w[i] >> 8) + 0.5f) * 0x1p-24f;
        float r = sqrtf(-2.0f * logf(u)), s, c;
        sincosf((float)(w[i + 1] >> 8) * (6.2831853f * 0x1p-24f), &s, &c);
        dst[i] = r * c;
        dst[i + 1] = r * s;
    }
}

void gen_normal(struct gen *g, float *dst, size_t n)
{
    uint32_t w[CHUNK];
    float f[CHUNK];
    uint64_t stream = g->stream++;
    for (size_t at = 0; at < n; at += CHUNK) {
        words(g, stream, at / 4, w, CHUNK);
        normal_chunk(w, f, CHUNK);
        memcpy(dst + at, f, MIN(n - at, CHUNK) * sizeof(*f));
    }
}

struct shape_of {
    double lo, hi; /* of a uniform */
    float factor;
    bool normal;
};

static void floats(struct gen *g, const struct input *in,
                   const struct shape_of *s, char *dst)
{
    uint32_t w[CHUNK];
    float f[CHUNK];
    uint64_t stream = g->stream++;
    size_t size = dtype_size(in->t.dtype);
    for (size_t at = 0; at < in->t.numel; at += CHUNK) {
        size_t n = MIN(in->t.numel - at, CHUNK);
        words(g, stream, at / 4, w, CHUNK);
        if (s->normal) {
            normal_chunk(w, f, CHUNK);
            for (size_t i = 0; i < n; i++)
                f[i] *= s->factor;
        } else {
            float lo = (float)s->lo, width = (float)(s->hi - s->lo);
            for (size_t i = 0; i < n; i++)
                f[i] =
                    (lo + width * ((float)(w[i] >> 8) * 0x1p-24f)) * s->factor;
        }
        dtype_from_float(in->t.dtype, f, dst + at * size, n);
    }
}

static void integers(struct gen *g, const struct input *in, bool bounds,
                     char *dst)
{
    double lo = in->lo, hi = in->hi;
    uint64_t stream = g->stream++, span = (uint64_t)(hi - lo) + 1;
    uint32_t w[CHUNK];
    double d[CHUNK / 2];
    size_t size = dtype_size(in->t.dtype), n_chunk = CHUNK / 2;
    for (size_t at = 0; at < in->t.numel; at += n_chunk) {
        size_t n = MIN(in->t.numel - at, n_chunk);
        words(g, stream, at / 2, w, CHUNK);
        for (size_t i = 0; i < n; i++) {
            uint64_t x = (uint64_t)w[2 * i] << 32 | w[2 * i + 1];
            d[i] = lo + (double)(((unsigned __int128)x * span) >> 64);
            if (bounds && (x & 7) < 2)
                d[i] = x & 1 ? lo : hi;
        }
        dtype_from_double(in->t.dtype, d, dst + at * size, n);
    }
}

static void bools(struct gen *g, const struct input *in, double p, char *dst)
{
    uint32_t w[CHUNK];
    double d[CHUNK];
    uint64_t stream = g->stream++;
    size_t size = dtype_size(in->t.dtype);
    for (size_t at = 0; at < in->t.numel; at += CHUNK) {
        size_t n = MIN(in->t.numel - at, CHUNK);
        words(g, stream, at / 4, w, CHUNK);
        for (size_t i = 0; i < n; i++)
            d[i] = (double)w[i] * 0x1p-32 < p;
        dtype_from_double(in->t.dtype, d, dst + at * size, n);
    }
}

/*
 * D6: data that is not independent and identically distributed. A ramp along
 * the last dimension, one along the first, a normal part, a stretch of equal
 * values, and a few spikes, each with secret place and height. A broadcast
 * along the wrong axis or a sum that leaves elements out, both of which hide
 * behind averages of i.i.d. data, change the result here.
 */
static void structured(struct gen *g, const struct input *in, double factor,
                       char *dst)
{
    const struct tensor *t = &in->t;
    size_t last = t->ndim ? (size_t)t->shape[t->ndim - 1] : 1;
    size_t rows = last ? t->numel / last : 0, size = dtype_size(t->dtype);
    double a = gen_uniform(g, 0.5, 1.5), b = gen_uniform(g, -1.5, -0.5);
    size_t n_spikes = MIN((size_t)8, t->numel / 16 + 1);
    size_t flat = t->numel ? gen_below(g, t->numel) : 0;
    size_t flat_end = MIN(t->numel, flat + t->numel / 16);
    float level = (float)gen_uniform(g, 0.2, 0.8), *f;
    uint64_t stream = g->stream++;
    uint32_t w[CHUNK];
    float buffer[CHUNK];

    f = buffer;
    for (size_t at = 0; at < t->numel; at += CHUNK) {
        size_t n = MIN(t->numel - at, CHUNK);
        words(g, stream, at / 4, w, CHUNK);
        normal_chunk(w, f, CHUNK);
        for (size_t i = 0; i < n; i++) {
            size_t k = at + i, row = k / last, col = k - row * last;
            double x = a * (double)col / (double)last +
                       b * (double)row / (double)rows + 0.5 * (double)f[i];
            f[i] = k >= flat && k < flat_end ? level : (float)(x * factor);
        }
        dtype_from_float(t->dtype, f, dst + at * size, n);
    }
    for (size_t i = 0; t->numel && i < n_spikes; i++) {
        float v = (float)(gen_uniform(g, 4, 12) * factor);
        v = gen_below(g, 2) ? v : -v;
        dtype_from_float(t->dtype, &v, dst + gen_below(g, t->numel) * size, 1);
    }
}

void gen_input(struct gen *g, const struct input *in, enum config_id config,
               bool later, void *dst)
{
    const struct config *c = &configs[config];
    double factor = c->factor;
    struct shape_of s = {.lo = in->lo, .hi = in->hi};

    if (later && c->jitter > 0)
        factor *= gen_uniform(g, 1 - c->jitter, 1 + c->jitter);
    if (in->dist == DIST_INT) {
        integers(g, in, c->transform == TRANSFORM_BOUNDS, dst);
        return;
    }
    if (in->dist == DIST_BOOL) {
        double p = in->p;
        if (c->transform == TRANSFORM_BOUNDS && p > 0 && p < 1)
            p = gen_below(g, 2) ? 0.1 : 0.9;
        bools(g, in, p, dst);
        return;
    }
    if (c->target == TARGET_FLOATS && c->transform == TRANSFORM_STRUCTURE) {
        structured(g, in, factor, dst);
        return;
    }
    s.normal = in->dist == DIST_NORMAL || c->transform == TRANSFORM_NORMAL;
    s.factor = c->target == TARGET_FLOATS ? (float)factor : 1.0f;
    floats(g, in, &s, dst);
}

void gen_affine(struct gen *g, int dtype, void *data, size_t n)
{
    double a = gen_uniform(g, 0.6, 1.5), b = gen_uniform(g, 0.1, 0.4), sum = 0;
    double *d = xmalloc((n ? n : 1) * sizeof(*d));
    dtype_to_double(dtype, data, d, n);
    for (size_t i = 0; i < n; i++)
        sum += d[i] * d[i];
    b *= n && sum > 0 && isfinite(sum) ? sqrt(sum / (double)n) : 0.5;
    for (size_t i = 0; i < n; i++)
        d[i] = a * d[i] + b;
    dtype_from_double(dtype, d, data, n);
    free(d);
}
