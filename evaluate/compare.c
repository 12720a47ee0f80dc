/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/compare.h"

#include "mem.h"

#include <math.h>

const char *const judgement_names[J_COUNT] = {"kernelbench", "kbv", "strict"};

void compared_merge(struct compared *into, const struct compared *from)
{
    into->slots += from->slots;
    into->elements += from->elements;
    into->nan += from->nan;
    into->inf += from->inf;
    into->sum_sq += from->sum_sq;
    into->max_abs = MAX(into->max_abs, from->max_abs);
    into->max_rel = MAX(into->max_rel, from->max_rel);
    for (int j = 0; j < J_COUNT; j++)
        into->outside[j] += from->outside[j];
    for (int i = 0; i < ULP_BINS; i++)
        into->ulp[i] += from->ulp[i];
}

bool compared_pass(const struct compared *c, enum judgement j)
{
    return c->outside[j] == 0;
}

/* ---- distance in units in the last place ---- */

/* Map a float's bits to an integer that grows with its value. */
static int64_t ordered(int dtype, const void *p, size_t i)
{
    switch (dtype) {
    case KM_FLOAT32: {
        int32_t x;
        memcpy(&x, (const char *)p + i * 4, 4);
        return x < 0 ? -(int64_t)(x & 0x7fffffff) : x;
    }
    case KM_FLOAT64: {
        int64_t x;
        memcpy(&x, (const char *)p + i * 8, 8);
        return x < 0 ? -(x & INT64_MAX) : x;
    }
    default: {
        int16_t x;
        memcpy(&x, (const char *)p + i * 2, 2);
        return x < 0 ? -(int64_t)(x & 0x7fff) : x;
    }
    }
}

static int ulp_bin(int64_t a, int64_t b)
{
    uint64_t d = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
    return d ? MIN(64 - __builtin_clzll(d), ULP_BINS - 1) : 0;
}

/* ---- exact and set ---- */

static int cmp_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Sort along the last dimension: a set is a multiset of its last axis. */
static double *sorted(const struct tensor *t, const void *data)
{
    size_t last = t->ndim ? (size_t)t->shape[t->ndim - 1] : 1;
    double *d = xmalloc((t->numel ? t->numel : 1) * sizeof(*d));
    dtype_to_double(t->dtype, data, d, t->numel);
    for (size_t at = 0; last && at < t->numel; at += last)
        qsort(d + at, last, sizeof(*d), cmp_double);
    return d;
}

static void all_judgements(struct compared *out)
{
    for (int j = 0; j < J_COUNT; j++)
        out->outside[j]++;
}

static void compare_exact(const struct comparison *c, struct compared *out)
{
    size_t size = dtype_size(c->t->dtype);
    const char *x = c->candidate, *r = c->reference;
    for (size_t i = 0; i < c->t->numel; i++)
        if (memcmp(x + i * size, r + i * size, size)) {
            double a, b;
            dtype_to_double(c->t->dtype, x + i * size, &a, 1);
            dtype_to_double(c->t->dtype, r + i * size, &b, 1);
            if (a == b) /* -0.0 and 0.0 */
                continue;
            all_judgements(out);
            if (isnan(a))
                out->nan++;
            else
                out->max_abs = MAX(out->max_abs, fabs(a - b));
        }
    out->elements += c->t->numel;
}

static void compare_set(const struct comparison *c, struct compared *out)
{
    double *x = sorted(c->t, c->candidate), *r = sorted(c->t, c->reference);
    for (size_t i = 0; i < c->t->numel; i++)
        if (x[i] != r[i])
            all_judgements(out);
    out->elements += c->t->numel;
    free(x);
    free(r);
}

/* ---- close ---- */

#define CHUNK 2048

static double rms(const struct tensor *t, const void *data, const double *exact)
{
    double buffer[CHUNK], sum = 0;
    size_t size = dtype_size(t->dtype);
    for (size_t at = 0; at < t->numel; at += CHUNK) {
        size_t n = MIN(t->numel - at, CHUNK);
        const double *d = exact ? exact + at : buffer;
        if (!exact)
            dtype_to_double(t->dtype, (const char *)data + at * size, buffer,
                            n);
        for (size_t i = 0; i < n; i++)
            sum += d[i] * d[i];
    }
    return t->numel ? sqrt(sum / (double)t->numel) : 0;
}

static double max_difference(const struct tensor *t, const void *data,
                             const double *exact)
{
    double buffer[CHUNK], most = 0;
    size_t size = dtype_size(t->dtype);
    for (size_t at = 0; at < t->numel; at += CHUNK) {
        size_t n = MIN(t->numel - at, CHUNK);
        dtype_to_double(t->dtype, (const char *)data + at * size, buffer, n);
        for (size_t i = 0; i < n; i++)
            most = fmax(most, fabs(buffer[i] - exact[at + i]));
    }
    return most;
}

double reference_error(const struct tensor *t, const void *reference,
                       const double *exact)
{
    double s = rms(t, reference, exact);
    return s > 0 ? max_difference(t, reference, exact) / s : 0;
}

bool all_finite(const struct tensor *t, const void *data)
{
    double buffer[CHUNK];
    size_t size = dtype_size(t->dtype);
    if (!dtype_is_float(t->dtype))
        return true;
    for (size_t at = 0; at < t->numel; at += CHUNK) {
        size_t n = MIN(t->numel - at, CHUNK), bad = 0;
        dtype_to_double(t->dtype, (const char *)data + at * size, buffer, n);
        for (size_t i = 0; i < n; i++)
            bad += !isfinite(buffer[i]);
        if (bad)
            return false;
    }
    return true;
}

/* The limits of one tensor: everything but the element. */
struct limits {
    double kb, kbv; /* absolute and relative */
    double t, s, own, ulps;
};

static void close_chunk(const struct limits *l, const double *c,
                        const double *r, const double *exact, size_t n,
                        struct compared *out)
{
    for (size_t i = 0; i < n; i++) {
        double d = fabs(c[i] - r[i]), ar = fabs(r[i]), ref, allowed;
        if (!isfinite(c[i])) {
            all_judgements(out);
            if (isnan(c[i]))
                out->nan++;
            else
                out->inf++;
            continue;
        }
        ref = fabs(exact[i]);
        allowed =
            fmax(l->t * (ref + l->s), fmax(l->own, l->ulps * fmax(ref, l->s)));
        out->outside[J_KERNELBENCH] += d > l->kb + l->kb * ar;
        out->outside[J_KBV] += d > l->kbv + l->kbv * ar;
        out->outside[J_STRICT] += fabs(c[i] - exact[i]) > allowed;
        out->max_abs = fmax(out->max_abs, d);
        if (d > 0)
            out->max_rel = fmax(out->max_rel, ar > 0 ? d / ar : 1);
        out->sum_sq += d * d;
    }
}

bool compare_tensor(const struct comparison *c, struct compared *out)
{
    const struct tensor *t = c->t;
    size_t size = dtype_size(t->dtype);
    double x[CHUNK], r[CHUNK];
    bool half = t->dtype == KM_FLOAT16 || t->dtype == KM_BFLOAT16;
    struct limits l = {.kb = half ? 1e-2 : 1e-4,
                       .kbv = half ? 1e-2 : 1e-3,
                       .t = half ? 1e-2 : 1e-3};

    if (!all_finite(t, c->reference))
        return false;
    if (c->how == COMPARE_EXACT) {
        compare_exact(c, out);
        return true;
    }
    if (c->how == COMPARE_SET) {
        compare_set(c, out);
        return true;
    }
    l.s = rms(t, c->reference, c->exact);
    l.own = c->exact ? 2 * max_difference(t, c->reference, c->exact)
                     : 3 * c->error * l.s;
    l.ulps =
        4 * fmin(dtype_roundoff(t->dtype), 0x1p-24) * sqrt(fmax(1, c->terms));
    for (size_t at = 0; at < t->numel; at += CHUNK) {
        size_t n = MIN(t->numel - at, CHUNK);
        const char *pc = (const char *)c->candidate + at * size;
        const char *pr = (const char *)c->reference + at * size;
        dtype_to_double(t->dtype, pc, x, n);
        dtype_to_double(t->dtype, pr, r, n);
        close_chunk(&l, x, r, c->exact ? c->exact + at : r, n, out);
        for (size_t i = 0; i < n; i++)
            if (isfinite(x[i]))
                out->ulp[ulp_bin(ordered(t->dtype, pc, i),
                                 ordered(t->dtype, pr, i))]++;
    }
    out->elements += t->numel;
    return true;
}
