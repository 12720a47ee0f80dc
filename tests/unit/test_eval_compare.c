/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <check.h>
#include <math.h>

#include "evaluate/compare.h"
#include "evaluate/generate.h"
#include "evaluate/timing.h"

Suite *eval_compare_suite(void);

static struct tensor vec(int dtype, size_t n)
{
    struct tensor t = {.dtype = dtype, .ndim = 1, .numel = n};
    t.shape[0] = (int64_t)n;
    t.bytes = n * dtype_size(dtype);
    return t;
}

static struct compared compare(const float *c, const float *r,
                               const double *exact, size_t n, double error,
                               double terms)
{
    struct tensor t = vec(KM_FLOAT32, n);
    struct compared out = {0};
    struct comparison k = {.t = &t,
                           .how = COMPARE_CLOSE,
                           .candidate = c,
                           .reference = r,
                           .exact = exact,
                           .error = {error, error},
                           .terms = terms};
    ck_assert(compare_tensor(&k, &out));
    return out;
}

/*
 * Reference 1 everywhere, so s = 1 and the strict limit is 1e-3 (1 + 1); kbv's
 * is 1e-3 + 1e-3, kernelbench's 1e-4 + 1e-4.
 */
START_TEST(test_limits_by_hand)
{
    static const struct {
        float off;
        bool pass[J_COUNT];
    } v[] = {
        {0, {true, true, true}},           {1.9e-4f, {true, true, true}},
        {2.1e-4f, {false, true, true}},    {1.99e-3f, {false, true, true}},
        {2.01e-3f, {false, false, false}},
    };
    float r[4] = {1, 1, 1, 1}, c[4] = {1, 1, 1, 1};
    struct compared out;
    c[2] += v[_i].off;
    out = compare(c, r, NULL, 4, 0, 1);
    for (int j = 0; j < J_COUNT; j++)
        ck_assert_msg(compared_pass(&out, (enum judgement)j) == v[_i].pass[j],
                      "%s at %g", judgement_names[j], (double)v[_i].off);
    ck_assert_double_lt(fabs(out.max_abs - (double)(c[2] - 1)), 1e-12);
    ck_assert_uint_eq(out.elements, 4);
}
END_TEST

/* Small outputs: allclose takes zeros, the strict limit does not. */
START_TEST(test_zeros_fail_strict_however_small_the_output)
{
    float r[4] = {1e-6f, -2e-6f, 3e-6f, 1e-6f}, c[4] = {0};
    struct compared out = compare(c, r, NULL, 4, 0, 1);
    ck_assert(compared_pass(&out, J_KERNELBENCH));
    ck_assert(compared_pass(&out, J_KBV));
    ck_assert(!compared_pass(&out, J_STRICT));
    ck_assert_uint_eq(out.outside[J_STRICT], 4);
}
END_TEST

/* Below the smallest normal number order decides what is left: a step between
 * such numbers is no error, a normal number in their place is one. */
START_TEST(test_numbers_that_underflow_are_rounding)
{
    enum { N = 256 };
    float r[N] = {0}, c[N] = {0};
    double exact[N];
    struct compared out;
    for (size_t i = 0; i < N; i++)
        exact[i] = 4e-46;
    c[7] = 0x1p-149f;
    out = compare(c, r, exact, N, 0, 1);
    ck_assert(compared_pass(&out, J_STRICT));
    c[7] = 0x1p-127f; /* flushed to zero by one of both */
    out = compare(c, r, exact, N, 0, 1);
    ck_assert(compared_pass(&out, J_STRICT));
    c[7] = 0x1p-124f;
    out = compare(c, r, exact, N, 0, 1);
    ck_assert_uint_eq(out.outside[J_STRICT], 1);
}
END_TEST

/* Softmax in float16 is there where it is not normal: one step of 2^-24. */
START_TEST(test_small_halfs_count)
{
    enum { N = 256 };
    uint16_t r[N], c[N];
    double exact[N];
    struct tensor t = vec(KM_FLOAT16, N);
    struct compared out = {0};
    struct comparison k = {.t = &t,
                           .how = COMPARE_CLOSE,
                           .candidate = c,
                           .reference = r,
                           .exact = exact,
                           .terms = 1};
    for (size_t i = 0; i < N; i++) {
        r[i] = c[i] = 50;
        exact[i] = 50 * 0x1p-24;
    }
    c[7] = 51;
    ck_assert(compare_tensor(&k, &out));
    ck_assert(compared_pass(&out, J_STRICT));
    c[7] = 52;
    ck_assert(compare_tensor(&k, &out));
    ck_assert_uint_eq(out.outside[J_STRICT], 1);
}
END_TEST

/* One column of 1e6 among 64 of about 1: zeros in the others are no rounding,
 * neither beside the root mean square nor beside the large column's error. */
START_TEST(test_large_columns_hide_no_small_ones)
{
    enum { N = 64 * 64 };
    static float r[N], c[N];
    static double exact[N];
    for (size_t i = 0; i < N; i++) {
        bool large = i % 64 == 7;
        exact[i] = large ? 1e6 : 1 + (double)(i % 13) / 13;
        r[i] = (float)exact[i] + (large ? 4 : 1e-7f);
        c[i] = large ? r[i] : 0;
    }
    struct compared out = compare(c, r, exact, N, 0, 1024);
    ck_assert_uint_eq(out.outside[J_STRICT], N - 64);
    out = compare(c, r, NULL, N, 1e-5, 1024);
    ck_assert_uint_eq(out.outside[J_STRICT], N - 64);
    out = compare(r, r, exact, N, 0, 1024);
    ck_assert_uint_eq(out.outside[J_STRICT], 0);
}
END_TEST

/* Twice the reference's own error against float64 is granted, no more. */
START_TEST(test_own_error_of_the_reference_is_granted_twice)
{
    double exact[2] = {1, 1};
    float r[2] = {1.01f, 1}, c[2] = {1.0195f, 1};
    struct compared out = compare(c, r, exact, 2, 0, 1);
    ck_assert(compared_pass(&out, J_STRICT));
    c[0] = 1.0205f;
    out = compare(c, r, exact, 2, 0, 1);
    ck_assert(!compared_pass(&out, J_STRICT));
    /* Without the exact values: three times E, which is given as E / s. */
    c[0] = 1.01f + 0.029f;
    out = compare(c, r, NULL, 2, 0.01, 1);
    ck_assert(compared_pass(&out, J_STRICT));
    c[0] = 1.01f + 0.0315f;
    out = compare(c, r, NULL, 2, 0.01, 1);
    ck_assert(!compared_pass(&out, J_STRICT));
}
END_TEST

/* X with so many bits of its significand kept, rounded or cut. */
static double kept(double x, int bits, bool cut)
{
    int exponent;
    double m = ldexp(frexp(x, &exponent), bits);
    return ldexp(cut ? trunc(m) : nearbyint(m), exponent - bits);
}

/* Sums of TERMS products of numbers of both signs, as a unit of matrix products
 * forms them of operands with so many BITS (0 = all). */
static void products(double *exact, float *out, size_t n, int bits, bool cut)
{
    enum { TERMS = 64 };
    struct err e = {0};
    struct gen g;
    ck_assert_int_eq(gen_init(&g, 5, &e), 0);
    for (size_t i = 0; i < n; i++) {
        double sum = 0, rounded = 0;
        for (int k = 0; k < TERMS; k++) {
            double x = gen_uniform(&g, -1, 1), y = gen_uniform(&g, -1, 1);
            sum += x * y;
            rounded += bits ? kept(x, bits, cut) * kept(y, bits, cut) : x * y;
        }
        exact[i] = sum;
        out[i] = (float)rounded;
    }
}

/* A reference that happens to be computed in float32 does not forbid the TF32
 * that it was allowed; bfloat16 is something else. */
START_TEST(test_tf32_is_granted_where_it_is_allowed)
{
    enum { N = 30000 };
    static const struct {
        int bits;
        bool cut, tf32, pass;
    } v[] = {{11, false, true, true}, {11, true, true, true},
             {10, false, true, true}, {10, false, false, false},
             {8, false, true, false}, {0, false, false, true}};
    struct tensor t = vec(KM_FLOAT32, N);
    struct compared out = {0};
    double *exact = calloc(N, sizeof(*exact));
    float *c = calloc(N, sizeof(*c)), *r = calloc(N, sizeof(*r));
    struct comparison k = {.t = &t,
                           .tf32 = v[_i].tf32,
                           .candidate = c,
                           .reference = r,
                           .exact = exact,
                           .terms = 64};
    products(exact, r, N, 0, false);
    products(exact, c, N, v[_i].bits, v[_i].cut);
    ck_assert(compare_tensor(&k, &out));
    ck_assert_msg(compared_pass(&out, J_STRICT) == v[_i].pass,
                  "%d bits: %" PRIu64 " outside, largest difference %g",
                  v[_i].bits, out.outside[J_STRICT], out.max_abs);
    free(exact);
    free(c);
    free(r);
}
END_TEST

/* 4 u sqrt(n) with n = 2^32 terms: 4 * 2^-24 * 2^16 = 2^-6. */
START_TEST(test_long_sums_get_their_rounding)
{
    float r[1] = {1}, c[1] = {1 + 0.0155f};
    struct compared out = compare(c, r, NULL, 1, 0, 0x1p32);
    ck_assert(compared_pass(&out, J_STRICT));
    c[0] = 1 + 0.0158f;
    out = compare(c, r, NULL, 1, 0, 0x1p32);
    ck_assert(!compared_pass(&out, J_STRICT));
}
END_TEST

START_TEST(test_nan_and_infinity_fail_everything)
{
    float r[3] = {1, 1, 1}, c[3] = {NAN, INFINITY, 1};
    struct compared out = compare(c, r, NULL, 3, 0, 1);
    for (int j = 0; j < J_COUNT; j++)
        ck_assert_uint_eq(out.outside[j], 2);
    ck_assert_uint_eq(out.nan, 1);
    ck_assert_uint_eq(out.inf, 1);
}
END_TEST

START_TEST(test_a_reference_that_is_not_finite_is_no_measure)
{
    float r[2] = {1, NAN}, c[2] = {1, NAN};
    struct tensor t = vec(KM_FLOAT32, 2);
    struct compared out = {0};
    struct comparison k = {.t = &t, .candidate = c, .reference = r, .terms = 1};
    ck_assert(!compare_tensor(&k, &out));
    ck_assert_uint_eq(out.elements, 0);
}
END_TEST

START_TEST(test_ulp_bins)
{
    float r[5] = {1, 1, 1, 1, -0.0f}, c[5];
    struct compared out;
    c[0] = 1;
    c[1] = nextafterf(1, 2);
    c[2] = nextafterf(nextafterf(1, 2), 2);
    c[3] = 1 + 5 * 0x1p-23f;
    c[4] = 0;
    out = compare(c, r, NULL, 5, 0, 1);
    ck_assert_uint_eq(out.ulp[0], 2); /* -0 and 0 are the same */
    ck_assert_uint_eq(out.ulp[1], 1);
    ck_assert_uint_eq(out.ulp[2], 1);
    ck_assert_uint_eq(out.ulp[3], 1);
}
END_TEST

START_TEST(test_exact_and_set)
{
    int64_t r[6] = {1, 2, 3, 4, 5, 6}, c[6] = {3, 1, 2, 6, 5, 4};
    struct tensor t = {
        .dtype = KM_INT64, .ndim = 2, .numel = 6, .shape = {2, 3}, .bytes = 48};
    struct compared out = {0};
    struct comparison k = {
        .t = &t, .how = COMPARE_EXACT, .candidate = c, .reference = r};
    ck_assert(compare_tensor(&k, &out));
    ck_assert_uint_eq(out.outside[J_STRICT], 5);
    out = (struct compared){0};
    k.how = COMPARE_SET;
    ck_assert(compare_tensor(&k, &out));
    ck_assert(compared_pass(&out, J_STRICT));
    c[0] = 4; /* moved to another row: no longer the same sets */
    c[3] = 3;
    out = (struct compared){0};
    ck_assert(compare_tensor(&k, &out));
    ck_assert(!compared_pass(&out, J_STRICT));
}
END_TEST

static bool same_set(int dtype, const void *c, const void *r,
                     const double *exact)
{
    struct tensor t = {.dtype = dtype,
                       .ndim = 2,
                       .numel = 6,
                       .shape = {2, 3},
                       .bytes = 6 * dtype_size(dtype)};
    struct compared out = {0};
    struct comparison k = {.t = &t,
                           .how = COMPARE_SET,
                           .candidate = c,
                           .reference = r,
                           .exact = exact,
                           .terms = 1};
    ck_assert(compare_tensor(&k, &out));
    return compared_pass(&out, J_STRICT);
}

START_TEST(test_sets_of_floats_and_of_repeated_elements)
{
    float r[6] = {3, 1, 2, -1, -2, 7}, c[6] = {1, 2, 3.0001f, 7, -1, -2};
    double exact[6] = {2, 3, 1, 7, -2, -1}; /* in an order of its own */
    ck_assert(same_set(KM_FLOAT32, c, r, NULL));
    ck_assert(same_set(KM_FLOAT32, c, r, exact));
    c[2] = 3.1f;
    ck_assert(!same_set(KM_FLOAT32, c, r, exact));
    c[2] = NAN;
    ck_assert(!same_set(KM_FLOAT32, c, r, exact));
    int64_t i[6] = {1, 1, 2, 4, 4, 4}, j[6] = {1, 2, 1, 4, 4, 4};
    ck_assert(same_set(KM_INT64, j, i, NULL));
    j[0] = 2; /* one twice, the other once: the same values, another set */
    ck_assert(!same_set(KM_INT64, j, i, NULL));
    int64_t big[6] = {1ll << 60, 2, 3, 4, 5, 6};
    int64_t next[6] = {(1ll << 60) + 1, 2, 3, 4, 5, 6};
    ck_assert(!same_set(KM_INT64, next, big, NULL));
    struct tensor t = {.dtype = KM_FLOAT32,
                       .ndim = 2,
                       .numel = 6,
                       .shape = {2, 3},
                       .bytes = 24};
    struct own_error own = reference_error(&t, COMPARE_SET, r, exact);
    ck_assert(own.part == 0);
}
END_TEST

START_TEST(test_half_precision_has_its_own_limits)
{
    uint16_t r[2] = {0x3f80, 0x3f80}, c[2] = {0x3f82, 0x3f80}; /* 1.0156 */
    struct tensor t = vec(KM_BFLOAT16, 2);
    struct compared out = {0};
    struct comparison k = {
        .t = &t, .candidate = c, .reference = r, .terms = 1e6};
    ck_assert(compare_tensor(&k, &out));
    ck_assert(compared_pass(&out, J_STRICT)); /* 0.0156 <= 1e-2 (1 + 1) */
    c[0] = 0x3f83;                            /* 1.0234 */
    out = (struct compared){0};
    ck_assert(compare_tensor(&k, &out));
    ck_assert(!compared_pass(&out, J_STRICT));
}
END_TEST

START_TEST(test_empty_tensors_pass)
{
    struct compared out = compare(NULL, NULL, NULL, 0, 0, 1);
    ck_assert(compared_pass(&out, J_STRICT));
}
END_TEST

/* ---- statistics of times ---- */

START_TEST(test_median_and_trimmed_mean)
{
    double v[] = {5, 1, 100, 3, 2}, w[] = {4, 1, 3, 2};
    ck_assert_double_eq(timing_median(v, 5), 3);
    ck_assert_double_eq(timing_median(w, 4), 2.5);
    /* a fifth off each end: 2, 3, 5 */
    ck_assert_double_lt(fabs(timing_trimmed(v, 5, 0.2) - 10.0 / 3), 1e-12);
    ck_assert_double_eq(timing_median(v, 0), 0);
}
END_TEST

START_TEST(test_student_quantiles)
{
    ck_assert_double_lt(fabs(timing_t975(1) - 12.706), 1e-3);
    ck_assert_double_lt(fabs(timing_t975(4) - 2.776), 1e-3);
    ck_assert_double_lt(fabs(timing_t975(30) - 2.0423), 2e-3);
    ck_assert_double_lt(fabs(timing_t975(120) - 1.9799), 2e-3);
    ck_assert(isinf(timing_t975(0)));
}
END_TEST

static struct pair a_pair(int placement, double reference, double candidate)
{
    return (struct pair){.placement = placement,
                         .reference_ns = reference,
                         .candidate_ns = candidate};
}

START_TEST(test_ratio_and_interval_over_placements)
{
    struct pair p[20];
    struct ratio r;
    double half;
    /* Placement k has ratio 2 * exp(0.01 (k - 1.5)): mean 2, known spread. */
    for (int i = 0; i < 20; i++)
        p[i] = a_pair(i / 5, 200, 100 * exp(-0.01 * (i / 5 - 1.5)));
    ck_assert(timing_ratio(p, 20, &r));
    ck_assert_double_lt(fabs(r.ratio - 2), 1e-9);
    half = 3.182 * 0.01 * sqrt(5.0 / 3) / 2;
    ck_assert_double_lt(fabs(log(r.high / r.ratio) - half), 1e-5);
    ck_assert_double_lt(fabs(log(r.ratio / r.low) - half), 1e-5);
    ck_assert_uint_eq(r.placements, 4);
    ck_assert_uint_eq(r.used, 20);
}
END_TEST

START_TEST(test_disturbed_pairs_go_as_pairs)
{
    struct pair p[10];
    struct ratio r;
    for (int i = 0; i < 10; i++)
        p[i] = a_pair(i / 5, 100, 100);
    p[3].candidate_ns = 1;
    p[3].disturbed = true;
    ck_assert(timing_ratio(p, 10, &r));
    ck_assert_uint_eq(r.used, 9);
    ck_assert_uint_eq(r.dropped, 1);
    ck_assert_double_lt(fabs(r.ratio - 1), 1e-12);
    for (int i = 0; i < 5; i++)
        p[i].disturbed = true;
    ck_assert(!timing_ratio(p, 10, &r)); /* one placement is none */
    ck_assert(!timing_ratio(p, 0, &r));
}
END_TEST

/* One wild pair of a placement does not move the result. */
START_TEST(test_trimming)
{
    struct pair p[20];
    struct ratio r;
    for (int i = 0; i < 20; i++)
        p[i] = a_pair(i / 10, 100, 100);
    p[4].candidate_ns = 1e-3;
    p[15].candidate_ns = 1e9;
    ck_assert(timing_ratio(p, 20, &r));
    ck_assert_double_lt(fabs(r.ratio - 1), 1e-12);
}
END_TEST

Suite *eval_compare_suite(void)
{
    Suite *s = suite_create("eval_compare");
    TCase *t = tcase_create("compare");
    tcase_add_loop_test(t, test_limits_by_hand, 0, 5);
    tcase_add_test(t, test_zeros_fail_strict_however_small_the_output);
    tcase_add_test(t, test_numbers_that_underflow_are_rounding);
    tcase_add_test(t, test_small_halfs_count);
    tcase_add_test(t, test_large_columns_hide_no_small_ones);
    tcase_add_test(t, test_own_error_of_the_reference_is_granted_twice);
    tcase_add_loop_test(t, test_tf32_is_granted_where_it_is_allowed, 0, 6);
    tcase_add_test(t, test_long_sums_get_their_rounding);
    tcase_add_test(t, test_nan_and_infinity_fail_everything);
    tcase_add_test(t, test_a_reference_that_is_not_finite_is_no_measure);
    tcase_add_test(t, test_ulp_bins);
    tcase_add_test(t, test_exact_and_set);
    tcase_add_test(t, test_sets_of_floats_and_of_repeated_elements);
    tcase_add_test(t, test_half_precision_has_its_own_limits);
    tcase_add_test(t, test_empty_tensors_pass);
    suite_add_tcase(s, t);
    t = tcase_create("timing");
    tcase_add_test(t, test_median_and_trimmed_mean);
    tcase_add_test(t, test_student_quantiles);
    tcase_add_test(t, test_ratio_and_interval_over_placements);
    tcase_add_test(t, test_disturbed_pairs_go_as_pairs);
    tcase_add_test(t, test_trimming);
    suite_add_tcase(s, t);
    return s;
}
