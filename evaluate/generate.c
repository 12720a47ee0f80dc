/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/vectors.h" /* before anything is compiled */

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

/* Fill N words (a multiple of 4) from block BLOCK of a stream. Eight blocks at
 * a time. */
#define CHUNK 1024
#define LANES 8

typedef uint32_t lanes32 __attribute__((vector_size(4 * LANES)));
typedef uint64_t lanes64 __attribute__((vector_size(8 * LANES)));

VECTORS static void words(const struct gen *g, uint64_t stream, uint64_t block,
                          uint32_t *out, size_t n)
{
    for (size_t at = 0; at < n; at += (size_t)4 * LANES) {
        lanes32 c0 = {0}, c1 = {0}, c2 = {0}, c3 = {0};
        uint32_t k0 = g->key[0], k1 = g->key[1];
        size_t left = MIN((n - at) / 4, (size_t)LANES);
        for (size_t l = 0; l < LANES; l++) {
            uint64_t b = block + at / 4 + l;
            c0[l] = (uint32_t)b;
            c1[l] = (uint32_t)(b >> 32);
            c2[l] = (uint32_t)stream;
            c3[l] = (uint32_t)(stream >> 32);
        }
        for (int i = 0; i < 10; i++) {
            lanes64 p0 = __builtin_convertvector(c0, lanes64) * M0;
            lanes64 p1 = __builtin_convertvector(c2, lanes64) * M1;
            c0 = __builtin_convertvector(p1 >> 32, lanes32) ^ c1 ^ k0;
            c2 = __builtin_convertvector(p0 >> 32, lanes32) ^ c3 ^ k1;
            c1 = __builtin_convertvector(p1, lanes32);
            c3 = __builtin_convertvector(p0, lanes32);
            k0 += W0;
            k1 += W1;
        }
        for (size_t l = 0; l < left; l++) {
            out[at + 4 * l] = c0[l];
            out[at + 4 * l + 1] = c1[l];
            out[at + 4 * l + 2] = c2[l];
            out[at + 4 * l + 3] = c3[l];
        }
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

/*
 * Box and Muller: radius from the first half of W, angle from the second. 24
 * bits of the radius give values up to 5.8. Logarithm, sine and cosine are the
 * single-precision polynomials of Cephes (Moshier), good to 1e-6 here, without
 * branches so that they can be vectors.
 */
VECTORS static void normal_chunk(const uint32_t *w, float *dst)
{
    float r[CHUNK / 2];
    for (size_t i = 0; i < CHUNK / 2; i++) {
        float u = ((float)(int32_t)(w[i] >> 8) + 0.5f) * 0x1p-24f, m, e, y;
        int32_t bits;
        /* u = m 2^e with m in [sqrt(1/2), sqrt(2)) */
        memcpy(&bits, &u, 4);
        bits -= 0x3f3504f3;
        e = (float)(bits >> 23);
        bits = (bits & 0x007fffff) + 0x3f3504f3;
        memcpy(&m, &bits, 4);
        m -= 1;
        y = 7.0376836292e-2f;
        y = y * m - 1.1514610310e-1f;
        y = y * m + 1.1676998740e-1f;
        y = y * m - 1.2420140846e-1f;
        y = y * m + 1.4249322787e-1f;
        y = y * m - 1.6668057665e-1f;
        y = y * m + 2.0000714765e-1f;
        y = y * m - 2.4999993993e-1f;
        y = y * m + 3.3333331174e-1f;
        y = m + (y * m * m * m - 0.5f * m * m) + e * 0.69314718f;
        /* Above zero also where u rounds to 1. */
        r[i] = -2 * y + 1e-9f;
    }
    for (size_t i = 0; i < CHUNK / 2; i++)
        r[i] = sqrtf(r[i]);
    for (size_t i = 0; i < CHUNK / 2; i++) {
        float x = (float)(int32_t)(w[i + CHUNK / 2] >> 8) * 0x1p-24f;
        /* a in [-pi/4, pi/4], and the quarter turn it lies in */
        int32_t quarter = (int32_t)(x * 4 + 0.5f);
        float a = (x - (float)quarter * 0.25f) * 6.2831853f, z = a * a;
        float s = ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z -
                   1.6666654611e-1f) *
                      z * a +
                  a;
        float c = ((2.443315711809948e-5f * z - 1.388731625493765e-3f) * z +
                   4.166664568298827e-2f) *
                      z * z -
                  0.5f * z + 1;
        float odd = (float)(quarter & 1);
        float sign_c = (float)(1 - ((quarter + 1) & 2));
        float sign_s = (float)(1 - (quarter & 2));
        dst[i] = r[i] * sign_c * (c + odd * (s - c));
        dst[i + CHUNK / 2] = r[i] * sign_s * (s + odd * (c - s));
    }
}

void gen_normal(struct gen *g, float *dst, size_t n)
{
    uint32_t w[CHUNK];
    float f[CHUNK];
    uint64_t stream = g->stream++;
    for (size_t at = 0; at < n; at += CHUNK) {
        words(g, stream, at / 4, w, CHUNK);
        normal_chunk(w, f);
        memcpy(dst + at, f, MIN(n - at, CHUNK) * sizeof(*f));
    }
}

static void floats(const struct gen *g, const struct tensor *t,
                   const struct fill *x, char *dst)
{
    uint32_t w[CHUNK];
    float f[CHUNK];
    size_t size = dtype_size(t->dtype);
    float lo = (float)x->lo, width = (float)(x->hi - x->lo);
    float factor = (float)x->factor;
    for (size_t at = 0; at < t->numel; at += CHUNK) {
        size_t n = MIN(t->numel - at, CHUNK);
        words(g, x->stream, at / 4, w, CHUNK);
        if (x->kind == FILL_NORMAL) {
            normal_chunk(w, f);
            for (size_t i = 0; i < n; i++)
                f[i] *= factor;
        } else {
            for (size_t i = 0; i < n; i++)
                f[i] = (lo + width * ((float)(int32_t)(w[i] >> 8) * 0x1p-24f)) *
                       factor;
        }
        dtype_from_float(t->dtype, f, dst + at * size, n);
    }
}

static void integers(const struct gen *g, const struct tensor *t,
                     const struct fill *x, char *dst)
{
    double lo = x->lo, hi = x->hi;
    uint64_t span = (uint64_t)(hi - lo) + 1;
    uint32_t w[CHUNK];
    double d[CHUNK / 2];
    size_t size = dtype_size(t->dtype), n_chunk = CHUNK / 2;
    for (size_t at = 0; at < t->numel; at += n_chunk) {
        size_t n = MIN(t->numel - at, n_chunk);
        words(g, x->stream, at / 2, w, CHUNK);
        for (size_t i = 0; i < n; i++) {
            uint64_t v = (uint64_t)w[2 * i] << 32 | w[2 * i + 1];
            d[i] = lo + (double)(((unsigned __int128)v * span) >> 64);
            if (x->bounds && (v & 7) < 2)
                d[i] = v & 1 ? lo : hi;
        }
        dtype_from_double(t->dtype, d, dst + at * size, n);
    }
}

static void bools(const struct gen *g, const struct tensor *t,
                  const struct fill *x, char *dst)
{
    uint32_t w[CHUNK];
    double d[CHUNK];
    size_t size = dtype_size(t->dtype);
    for (size_t at = 0; at < t->numel; at += CHUNK) {
        size_t n = MIN(t->numel - at, CHUNK);
        words(g, x->stream, at / 4, w, CHUNK);
        for (size_t i = 0; i < n; i++)
            d[i] = (double)w[i] * 0x1p-32 < x->p;
        dtype_from_double(t->dtype, d, dst + at * size, n);
    }
}

/*
 * D6: data that is not independent and identically distributed. A ramp along
 * the last dimension, one along the first, a normal part, a stretch of equal
 * values, and a few spikes, each with secret place and height. A broadcast
 * along the wrong axis or a sum that leaves elements out, both of which hide
 * behind averages of i.i.d. data, change the result here.
 */
static void plan_structure(struct gen *g, const struct tensor *t,
                           struct fill *x)
{
    x->kind = FILL_STRUCTURE;
    x->slope_last = gen_uniform(g, 0.5, 1.5);
    x->slope_first = gen_uniform(g, -1.5, -0.5);
    x->flat = t->numel ? gen_below(g, t->numel) : 0;
    x->flat_end = MIN(t->numel, x->flat + t->numel / 16);
    x->level = (float)gen_uniform(g, 0.2, 0.8);
    x->stream = g->stream++;
    x->n_spikes = t->numel ? MIN((size_t)SPIKES_MAX, t->numel / 16 + 1) : 0;
    for (size_t i = 0; i < x->n_spikes; i++) {
        float v = (float)(gen_uniform(g, 4, 12) * x->factor);
        x->spike[i] = gen_below(g, 2) ? v : -v;
        x->spike_at[i] = gen_below(g, t->numel);
    }
}

static void structured(const struct gen *g, const struct tensor *t,
                       const struct fill *x, char *dst)
{
    size_t last = t->ndim ? (size_t)t->shape[t->ndim - 1] : 1;
    size_t rows = last ? t->numel / last : 0, size = dtype_size(t->dtype);
    uint32_t w[CHUNK];
    float f[CHUNK];

    for (size_t at = 0; at < t->numel; at += CHUNK) {
        size_t n = MIN(t->numel - at, CHUNK);
        words(g, x->stream, at / 4, w, CHUNK);
        normal_chunk(w, f);
        for (size_t i = 0; i < n; i++) {
            size_t k = at + i, row = k / last, col = k - row * last;
            double v = x->slope_last * (double)col / (double)last +
                       x->slope_first * (double)row / (double)rows +
                       0.5 * (double)f[i];
            f[i] = k >= x->flat && k < x->flat_end ? x->level
                                                   : (float)(v * x->factor);
        }
        dtype_from_float(t->dtype, f, dst + at * size, n);
    }
    for (size_t i = 0; i < x->n_spikes; i++)
        dtype_from_float(t->dtype, &x->spike[i], dst + x->spike_at[i] * size,
                         1);
}

void gen_plan(struct gen *g, const struct input *in, enum config_id config,
              bool later, struct fill *out)
{
    const struct config *c = &configs[config];
    double factor = c->factor;
    struct fill x = {.lo = in->lo, .hi = in->hi, .p = in->p};

    if (later && c->jitter > 0)
        factor *= gen_uniform(g, 1 - c->jitter, 1 + c->jitter);
    if (in->dist == DIST_INT) {
        x.kind = FILL_INTS;
        x.bounds = c->transform == TRANSFORM_BOUNDS;
    } else if (in->dist == DIST_BOOL) {
        x.kind = FILL_BOOLS;
        if (c->transform == TRANSFORM_BOUNDS && in->p > 0 && in->p < 1)
            x.p = gen_below(g, 2) ? 0.1 : 0.9;
    } else if (c->target == TARGET_FLOATS &&
               c->transform == TRANSFORM_STRUCTURE) {
        x.factor = factor;
        plan_structure(g, &in->t, &x);
        *out = x;
        return;
    } else {
        x.kind = in->dist == DIST_NORMAL || c->transform == TRANSFORM_NORMAL
                     ? FILL_NORMAL
                     : FILL_UNIFORM;
        x.factor = c->target == TARGET_FLOATS ? factor : 1;
    }
    x.stream = g->stream++;
    *out = x;
}

void gen_fill(const struct gen *g, const struct tensor *t, const struct fill *f,
              void *dst)
{
    switch (f->kind) {
    case FILL_INTS:
        integers(g, t, f, dst);
        break;
    case FILL_BOOLS:
        bools(g, t, f, dst);
        break;
    case FILL_STRUCTURE:
        structured(g, t, f, dst);
        break;
    default:
        floats(g, t, f, dst);
        break;
    }
}

void gen_input(struct gen *g, const struct input *in, enum config_id config,
               bool later, void *dst)
{
    struct fill f;
    gen_plan(g, in, config, later, &f);
    gen_fill(g, &in->t, &f, dst);
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
