/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/vectors.h" /* before anything is compiled */

#include "evaluate/compare.h"

#include "mem.h"

#include <float.h>
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

/* One element of a set: raw bytes behind what they are sorted by. */
struct member {
    int64_t key;
    uint8_t raw[8];
};

static int cmp_member(const void *a, const void *b)
{
    int64_t x = ((const struct member *)a)->key;
    int64_t y = ((const struct member *)b)->key;
    return x < y ? -1 : x > y;
}

static int64_t key_of(int dtype, const void *data, size_t i)
{
    int64_t x;
    double d;
    if (dtype_is_float(dtype))
        return ordered(dtype, data, i);
    if (dtype == KM_INT64) {
        memcpy(&x, (const char *)data + i * 8, 8);
        return x;
    }
    dtype_to_double(dtype, (const char *)data + i * dtype_size(dtype), &d, 1);
    return (int64_t)d;
}

static size_t last_dim(const struct tensor *t)
{
    return t->ndim ? (size_t)t->shape[t->ndim - 1] : 1;
}

/* A copy with each row of the last dimension in ascending order. */
static void *sorted(const struct tensor *t, const void *data)
{
    size_t last = last_dim(t), size = dtype_size(t->dtype);
    struct member *row = xcalloc(last + 1, sizeof(*row));
    char *out = xmalloc(t->bytes + 1);
    for (size_t at = 0; last && at < t->numel; at += last) {
        for (size_t i = 0; i < last; i++) {
            row[i].key = key_of(t->dtype, data, at + i);
            memcpy(row[i].raw, (const char *)data + (at + i) * size, size);
        }
        qsort(row, last, sizeof(*row), cmp_member);
        for (size_t i = 0; i < last; i++)
            memcpy(out + (at + i) * size, row[i].raw, size);
    }
    free(row);
    return out;
}

/* The same of R, which is finite; NULL for NULL. */
static double *sorted_exact(const struct tensor *t, const double *exact)
{
    size_t last = last_dim(t);
    if (!exact)
        return NULL;
    double *out = xmalloc((t->numel + 1) * sizeof(*out));
    memcpy(out, exact, t->numel * sizeof(*out));
    for (size_t at = 0; last && at < t->numel; at += last)
        qsort(out + at, last, sizeof(*out), cmp_double);
    return out;
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
            if (a == b && dtype_is_float(c->t->dtype)) /* -0.0 and 0.0 */
                continue;
            all_judgements(out);
            if (isnan(a))
                out->nan++;
            else
                out->max_abs = MAX(out->max_abs, fabs(a - b));
        }
    out->elements += c->t->numel;
}

/* ---- close ---- */

#define CHUNK 2048

VECTORS static double sum_squares(const double *d, size_t n)
{
    double sum[8] = {0}, all = 0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (size_t l = 0; l < 8; l++)
            sum[l] += d[i + l] * d[i + l];
    for (; i < n; i++)
        all += d[i] * d[i];
    for (size_t l = 0; l < 8; l++)
        all += sum[l];
    return all;
}

static double rms(const struct tensor *t, const void *data, const double *exact)
{
    double buffer[CHUNK], sum = 0;
    size_t size = dtype_size(t->dtype);
    for (size_t at = 0; at < t->numel; at += CHUNK) {
        size_t n = MIN(t->numel - at, CHUNK);
        if (!exact)
            dtype_to_double(t->dtype, (const char *)data + at * size, buffer,
                            n);
        sum += sum_squares(exact ? exact + at : buffer, n);
    }
    return t->numel ? sqrt(sum / (double)t->numel) : 0;
}

#define SAMPLES_MIN 20 /* fewer have no quantile */
/* 10 % of normal values are under 0.126 of their root mean square. */
#define SMALL_FACTOR 16

size_t sample_places(size_t numel, uint64_t *out)
{
    size_t n = MIN(numel, (size_t)COMPARE_SAMPLES);
    uint64_t state = 1;
    for (size_t i = 0; i < n; i++) {
        out[i] = i;
        if (numel > COMPARE_SAMPLES) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            out[i] = ((state >> 32) * numel) >> 32;
        }
    }
    return n;
}

/* What is below the smallest normal number was rounded to few bits or none, in
 * whatever order it was computed: t s covers it. In float16 such numbers still
 * count, and t s is one step between them. */
static double least_size(int dtype)
{
    return dtype == KM_FLOAT64   ? 0x1p-1022 / 1e-3
           : dtype == KM_FLOAT16 ? 0x1p-24 / 1e-2
                                 : 0x1p-126 / 1e-3;
}

double small_of(int dtype, double *sample, size_t n, double rms_all)
{
    size_t some = 0;
    double least = least_size(dtype);
    for (size_t i = 0; i < n; i++)
        if (sample[i] > 0 || sample[i] < 0)
            sample[some++] = fabs(sample[i]);
    if (some < SAMPLES_MIN)
        return fmax(rms_all, least);
    qsort(sample, some, sizeof(*sample), cmp_double);
    return fmax(fmin(rms_all, SMALL_FACTOR * sample[some / 10]), least);
}

/* s of compare.h. */
static double small_size(const struct tensor *t, const void *data,
                         const double *exact, double rms_all)
{
    uint64_t at[COMPARE_SAMPLES];
    double v[COMPARE_SAMPLES] = {0};
    size_t size = dtype_size(t->dtype), n = sample_places(t->numel, at);
    for (size_t i = 0; i < n; i++) {
        if (exact)
            v[i] = exact[at[i]];
        else
            dtype_to_double(t->dtype, (const char *)data + at[i] * size, &v[i],
                            1);
    }
    return small_of(t->dtype, v, n, rms_all);
}

/* Largest |a - b| and |a - b| / max(|b|, s) so far. */
VECTORS static void largest(const double *a, const double *b, size_t n,
                            double s, double *most, double *most_rel)
{
    double m = *most, mr = *most_rel;
    for (size_t i = 0; i < n; i++) {
        double d = fabs(a[i] - b[i]), scale = fabs(b[i]);
        double rel = d / (scale > s ? scale : s > 0 ? s : 1);
        m = d > m ? d : m;
        mr = rel > mr ? rel : mr;
    }
    *most = m;
    *most_rel = mr;
}

/* Sets the largest difference and the largest one relative to max(|R|, s). */
static void max_difference(const struct tensor *t, const void *data,
                           const double *exact, double s, double *most,
                           double *most_rel)
{
    double buffer[CHUNK];
    size_t size = dtype_size(t->dtype);
    *most = *most_rel = 0;
    for (size_t at = 0; at < t->numel; at += CHUNK) {
        size_t n = MIN(t->numel - at, CHUNK);
        dtype_to_double(t->dtype, (const char *)data + at * size, buffer, n);
        largest(buffer, exact + at, n, s, most, most_rel);
    }
}

static struct own_error error_in_order(const struct tensor *t,
                                       const void *reference,
                                       const double *exact)
{
    struct own_error own;
    double all = rms(t, reference, exact), most;
    max_difference(t, reference, exact, small_size(t, reference, exact, all),
                   &most, &own.relative);
    own.part = all > 0 ? most / all : 0;
    return own;
}

struct own_error reference_error(const struct tensor *t, enum compare_kind how,
                                 const void *reference, const double *exact)
{
    if (how != COMPARE_SET)
        return error_in_order(t, reference, exact);
    void *r = sorted(t, reference);
    double *x = sorted_exact(t, exact);
    struct own_error own = error_in_order(t, r, x);
    free(r);
    free(x);
    return own;
}

VECTORS static bool chunk_finite(const double *d, size_t n)
{
    uint64_t bad = 0;
    for (size_t i = 0; i < n; i++)
        bad += !(fabs(d[i]) <= DBL_MAX);
    return bad == 0;
}

bool all_finite(const struct tensor *t, const void *data)
{
    double buffer[CHUNK];
    size_t size = dtype_size(t->dtype);
    if (!dtype_is_float(t->dtype))
        return true;
    for (size_t at = 0; at < t->numel; at += CHUNK) {
        size_t n = MIN(t->numel - at, CHUNK);
        dtype_to_double(t->dtype, (const char *)data + at * size, buffer, n);
        if (!chunk_finite(buffer, n))
            return false;
    }
    return true;
}

struct limits limits_of(int dtype, bool tf32, double s, double rms, double own,
                        double own_rel, double times, double terms)
{
    bool half = dtype == KM_FLOAT16 || dtype == KM_BFLOAT16;
    double least = tf32 && dtype == KM_FLOAT32 ? 2 * TF32_ERROR : 0;
    return (struct limits){
        .kb = half ? 1e-2 : 1e-4,
        .kbv = half ? 1e-2 : 1e-3,
        .t = half ? 1e-2 : 1e-3,
        .s = s,
        .own = fmax(times * own, least * rms),
        .own_rel = fmax(times * own_rel, least),
        .ulps = 4 * fmin(dtype_roundoff(dtype), 0x1p-24) * sqrt(fmax(1, terms)),
    };
}

/* What a pass over a chunk counts. */
struct counts {
    uint64_t outside[J_COUNT];
    double max_abs, max_rel, sum_sq;
};

/* NaN and infinity in C fail every `<=`. Without branches, for vectors. */
VECTORS static void close_pass(const struct limits *l, const double *c,
                               const double *r, const double *exact, size_t n,
                               struct counts *out)
{
    uint64_t kb = 0, kbv = 0, strict = 0;
    double most = 0, most_rel = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        double d = fabs(c[i] - r[i]), ar = fabs(r[i]), ref = fabs(exact[i]);
        double scale = ref > l->s ? ref : l->s;
        double a = l->t * (ref + l->s), b = l->ulps * scale, rel;
        double own = l->own_rel * scale;
        bool ok = d <= DBL_MAX;
        own = own < l->own ? own : l->own;
        a = a > own ? a : own;
        a = a > b ? a : b;
        kb += !(d <= l->kb + l->kb * ar);
        kbv += !(d <= l->kbv + l->kbv * ar);
        strict += !(fabs(c[i] - exact[i]) <= a);
        d = ok ? d : 0;
        rel = d / (ar > 0 ? ar : d > 0 ? d : 1);
        most = d > most ? d : most;
        most_rel = rel > most_rel ? rel : most_rel;
        sum += d * d;
    }
    out->outside[J_KERNELBENCH] += kb;
    out->outside[J_KBV] += kbv;
    out->outside[J_STRICT] += strict;
    out->max_abs = fmax(out->max_abs, most);
    out->max_rel = fmax(out->max_rel, most_rel);
    out->sum_sq += sum;
}

static void count_ulps(int dtype, const char *c, const char *r, const double *x,
                       size_t n, struct compared *out)
{
    if (memcmp(c, r, n * dtype_size(dtype)) == 0) {
        out->ulp[0] += n;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (isnan(x[i]))
            out->nan++;
        else if (isinf(x[i]))
            out->inf++;
        else
            out->ulp[ulp_bin(ordered(dtype, c, i), ordered(dtype, r, i))]++;
    }
}

static bool compare_set(const struct comparison *c, struct compared *out)
{
    void *x = sorted(c->t, c->candidate), *r = sorted(c->t, c->reference);
    double *exact = sorted_exact(c->t, c->exact);
    struct comparison in_order = *c;
    in_order.how = dtype_is_float(c->t->dtype) ? COMPARE_CLOSE : COMPARE_EXACT;
    in_order.candidate = x;
    in_order.reference = r;
    in_order.exact = exact;
    bool told = compare_tensor(&in_order, out);
    free(x);
    free(r);
    free(exact);
    return told;
}

bool compare_tensor(const struct comparison *c, struct compared *out)
{
    const struct tensor *t = c->t;
    size_t size = dtype_size(t->dtype);
    double x[CHUNK], r[CHUNK];
    struct limits l;
    struct counts k = {0};
    double all, small, own, own_rel;

    if (c->how == COMPARE_EXACT) {
        compare_exact(c, out);
        return true;
    }
    if (c->how == COMPARE_SET)
        return compare_set(c, out);
    all = rms(t, c->reference, c->exact);
    if (!isfinite(all) || (c->exact && !all_finite(t, c->reference)))
        return false;
    small = small_size(t, c->reference, c->exact, all);
    if (c->exact)
        max_difference(t, c->reference, c->exact, small, &own, &own_rel);
    l = c->exact ? limits_of(t->dtype, c->tf32, small, all, own, own_rel, 2,
                             c->terms)
                 : limits_of(t->dtype, c->tf32, small, all, c->error.part * all,
                             c->error.relative, 3, c->terms);
    for (size_t at = 0; at < t->numel; at += CHUNK) {
        size_t n = MIN(t->numel - at, CHUNK);
        const char *pc = (const char *)c->candidate + at * size;
        const char *pr = (const char *)c->reference + at * size;
        dtype_to_double(t->dtype, pc, x, n);
        dtype_to_double(t->dtype, pr, r, n);
        close_pass(&l, x, r, c->exact ? c->exact + at : r, n, &k);
        count_ulps(t->dtype, pc, pr, x, n, out);
    }
    for (int j = 0; j < J_COUNT; j++)
        out->outside[j] += k.outside[j];
    out->max_abs = fmax(out->max_abs, k.max_abs);
    out->max_rel = fmax(out->max_rel, k.max_rel);
    out->sum_sq += k.sum_sq;
    out->elements += t->numel;
    return true;
}
