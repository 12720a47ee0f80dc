/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/timing.h"

#include "mem.h"

#include <math.h>

static int cmp(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double timing_median(double *v, size_t n)
{
    if (!n)
        return 0;
    qsort(v, n, sizeof(*v), cmp);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

double timing_trimmed(double *v, size_t n, double cut)
{
    size_t k = (size_t)((double)n * cut);
    double sum = 0;
    if (!n)
        return 0;
    qsort(v, n, sizeof(*v), cmp);
    for (size_t i = k; i < n - k; i++)
        sum += v[i];
    return sum / (double)(n - 2 * k);
}

double timing_t975(size_t degrees)
{
    static const double t[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                               2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                               2.131,  2.120, 2.110, 2.101, 2.093, 2.086};
    double d = (double)degrees;
    if (degrees < 1)
        return INFINITY;
    if (degrees <= ARRAY_LEN(t))
        return t[degrees - 1];
    /* Cornish and Fisher's expansion, good to 1e-3 from here on. */
    return 1.95996 + 2.37227 / d + 2.82250 / (d * d);
}

static double quartile_range(double *v, size_t n)
{
    double m = timing_median(v, n); /* sorts */
    return n < 4 || m <= 0 ? 0 : (v[n - 1 - n / 4] - v[n / 4]) / m;
}

bool timing_ratio(const struct pair *pairs, size_t n, struct ratio *out)
{
    double *v = xmalloc((n ? n : 1) * sizeof(*v));
    double *means = xmalloc((n ? n : 1) * sizeof(*means));
    double mean = 0, var = 0, half;
    int last = -1;
    size_t m = 0;

    *out = (struct ratio){0};
    for (size_t i = 0; i < n; i++)
        last = MAX(last, pairs[i].placement);
    for (int p = 0; p <= last; p++) {
        size_t k = 0;
        for (size_t i = 0; i < n; i++)
            if (pairs[i].placement == p && !pairs[i].disturbed)
                v[k++] = log(pairs[i].reference_ns / pairs[i].candidate_ns);
        if (k)
            means[m++] = timing_trimmed(v, k, 0.2);
        out->used += k;
    }
    out->dropped = n - out->used;
    out->placements = m;
    if (m < 2)
        goto out;
    for (size_t i = 0; i < m; i++)
        mean += means[i] / (double)m;
    for (size_t i = 0; i < m; i++)
        var += (means[i] - mean) * (means[i] - mean) / (double)(m - 1);
    half = timing_t975(m - 1) * sqrt(var / (double)m);
    out->ratio = exp(mean);
    out->low = exp(mean - half);
    out->high = exp(mean + half);

    for (int side = 0; side < 2; side++) {
        size_t k = 0;
        double *ns = side ? &out->candidate_ns : &out->reference_ns;
        double *spread = side ? &out->candidate_spread : &out->reference_spread;
        for (size_t i = 0; i < n; i++)
            if (!pairs[i].disturbed)
                v[k++] = side ? pairs[i].candidate_ns : pairs[i].reference_ns;
        *spread = quartile_range(v, k);
        *ns = timing_median(v, k);
    }
out:
    free(v);
    free(means);
    return out->placements >= 2;
}
