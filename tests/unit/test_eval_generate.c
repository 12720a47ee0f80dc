/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <check.h>
#include <math.h>

#include "evaluate/generate.h"
#include "mem.h"

Suite *eval_generate_suite(void);

/* Known answers of Random123 (kat_vectors, philox4x32, 10 rounds). */
static const struct {
    uint32_t counter[4], key[2], out[4];
} known[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

START_TEST(test_philox_known_answers)
{
    uint32_t out[4];
    philox(known[_i].counter, known[_i].key, out);
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(out[i], known[_i].out[i]);
}
END_TEST

static struct input an_input(int dtype, enum dist dist, size_t n)
{
    struct input in = {.dist = dist, .lo = 0, .hi = 1, .p = 0.5};
    in.t = (struct tensor){.dtype = dtype, .ndim = 1, .numel = n};
    in.t.shape[0] = (int64_t)n;
    in.t.bytes = n * dtype_size(dtype);
    return in;
}

static double *draw(struct gen *g, const struct input *in, enum config_id c)
{
    void *raw = xmalloc(in->t.bytes);
    double *d = xmalloc(in->t.numel * sizeof(*d));
    gen_input(g, in, c, false, raw);
    dtype_to_double(in->t.dtype, raw, d, in->t.numel);
    free(raw);
    return d;
}

static void moments(const double *d, size_t n, double *mean, double *sd)
{
    double s = 0, q = 0;
    for (size_t i = 0; i < n; i++)
        s += d[i];
    *mean = s / (double)n;
    for (size_t i = 0; i < n; i++)
        q += (d[i] - *mean) * (d[i] - *mean);
    *sd = sqrt(q / (double)n);
}

#define N 100000

/* Mean and standard deviation of each configuration on a normal input. */
static const struct {
    enum config_id config;
    double sd;
} normals[] = {{CONFIG_D1, 1}, {CONFIG_D2, 3}, {CONFIG_D3, 0.01},
               {CONFIG_D4, 1}, {CONFIG_D5, 1}, {CONFIG_D8, 1}};

START_TEST(test_normal_scales)
{
    struct gen g;
    struct input in = an_input(KM_FLOAT32, DIST_NORMAL, N);
    double *d, mean, sd;
    ck_assert_int_eq(gen_init(&g, 7, NULL), 0);
    d = draw(&g, &in, normals[_i].config);
    moments(d, N, &mean, &sd);
    ck_assert_double_lt(fabs(mean), 0.02 * normals[_i].sd);
    ck_assert_double_lt(fabs(sd / normals[_i].sd - 1), 0.02);
    free(d);
}
END_TEST

START_TEST(test_uniform_keeps_its_range_and_sign)
{
    struct gen g;
    struct input in = an_input(KM_FLOAT32, DIST_UNIFORM, N);
    double *d, mean, sd;
    in.lo = 2;
    in.hi = 4;
    ck_assert_int_eq(gen_init(&g, 7, NULL), 0);
    d = draw(&g, &in, CONFIG_D1);
    for (size_t i = 0; i < N; i++)
        ck_assert(d[i] >= 2 && d[i] <= 4);
    moments(d, N, &mean, &sd);
    ck_assert_double_lt(fabs(mean - 3), 0.01);
    free(d);
    d = draw(&g, &in, CONFIG_D4);
    for (size_t i = 0; i < N; i++)
        ck_assert(d[i] >= -4 && d[i] <= -2);
    free(d);
    d = draw(&g, &in, CONFIG_D5); /* zero mean whatever the task says */
    moments(d, N, &mean, &sd);
    ck_assert_double_lt(fabs(mean), 0.02);
    free(d);
}
END_TEST

START_TEST(test_integers_stay_in_range_and_d8_has_the_bounds)
{
    static const enum config_id all[] = {CONFIG_D1, CONFIG_D2, CONFIG_D4,
                                         CONFIG_D8};
    struct gen g;
    struct input in = an_input(KM_INT64, DIST_INT, 4096);
    ck_assert_int_eq(gen_init(&g, 7, NULL), 0);
    in.lo = 0;
    in.hi = 50256;
    for (size_t k = 0; k < ARRAY_LEN(all); k++) {
        double *d = draw(&g, &in, all[k]);
        int low = 0, high = 0;
        for (size_t i = 0; i < in.t.numel; i++) {
            ck_assert(d[i] >= 0 && d[i] <= 50256 && d[i] == floor(d[i]));
            low += d[i] == 0;
            high += d[i] == 50256;
        }
        if (all[k] == CONFIG_D8)
            ck_assert(low > 100 && high > 100);
        else
            ck_assert(low < 10 && high < 10);
        free(d);
    }
}
END_TEST

START_TEST(test_bools_are_zero_or_one)
{
    struct gen g;
    struct input in = an_input(KM_BOOL, DIST_BOOL, 4096);
    double *d, mean, sd;
    ck_assert_int_eq(gen_init(&g, 7, NULL), 0);
    in.p = 0.25;
    d = draw(&g, &in, CONFIG_D1);
    for (size_t i = 0; i < in.t.numel; i++)
        ck_assert(d[i] == 0 || d[i] == 1);
    moments(d, in.t.numel, &mean, &sd);
    ck_assert_double_lt(fabs(mean - 0.25), 0.05);
    free(d);
}
END_TEST

/* Structured data has what i.i.d. data lacks: a trend along its axes. */
START_TEST(test_structure_has_a_trend)
{
    struct gen g;
    struct input in = an_input(KM_FLOAT32, DIST_NORMAL, 4096);
    double first = 0, last = 0, *d;
    ck_assert_int_eq(gen_init(&g, 7, NULL), 0);
    in.t.ndim = 2;
    in.t.shape[0] = in.t.shape[1] = 64;
    d = draw(&g, &in, CONFIG_D6);
    for (size_t r = 0; r < 64; r++)
        for (size_t c = 0; c < 16; c++) {
            first += d[r * 64 + c];
            last += d[r * 64 + 48 + c];
        }
    ck_assert_double_gt(last - first, 0.2 * 64 * 16);
    free(d);
}
END_TEST

START_TEST(test_streams_differ_and_seeds_repeat)
{
    struct gen a, b;
    char x[64], y[64], z[64];
    ck_assert_int_eq(gen_init(&a, 99, NULL), 0);
    ck_assert_int_eq(gen_init(&b, 99, NULL), 0);
    gen_bytes(&a, x, sizeof(x));
    gen_bytes(&a, y, sizeof(y));
    gen_bytes(&b, z, sizeof(z));
    ck_assert_int_ne(memcmp(x, y, sizeof(x)), 0);
    ck_assert_int_eq(memcmp(x, z, sizeof(x)), 0);
    ck_assert_int_eq(gen_init(&a, 0, NULL), 0);
    ck_assert_int_eq(gen_init(&b, 0, NULL), 0);
    ck_assert(a.key[0] != b.key[0] || a.key[1] != b.key[1]);
}
END_TEST

START_TEST(test_affine_is_increasing_and_moves_constants)
{
    struct gen g;
    float v[3] = {-1, 0, 2}, zero[2] = {0, 0};
    ck_assert_int_eq(gen_init(&g, 7, NULL), 0);
    gen_affine(&g, KM_FLOAT32, v, 3);
    ck_assert(v[0] < v[1] && v[1] < v[2] && v[1] > 0);
    /* the same a: distances keep their proportion */
    ck_assert_double_lt(fabs((double)(v[2] - v[1]) / (double)(v[1] - v[0]) - 2),
                        1e-5);
    gen_affine(&g, KM_FLOAT32, zero, 2);
    ck_assert(zero[0] > 0.04f && zero[0] < 0.21f && zero[0] == zero[1]);
}
END_TEST

START_TEST(test_shuffle_is_a_permutation)
{
    struct gen g;
    int v[20], seen[20] = {0};
    ck_assert_int_eq(gen_init(&g, 7, NULL), 0);
    for (int i = 0; i < 20; i++)
        v[i] = i;
    gen_shuffle(&g, v, 20);
    for (int i = 0; i < 20; i++)
        seen[v[i]]++;
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(seen[i], 1);
}
END_TEST

/* ---- element types ---- */

START_TEST(test_half_values)
{
    static const struct {
        float f;
        uint16_t h;
    } v[] = {{1, 0x3c00},           {-2, 0xc000},         {65504, 0x7bff},
             {65519, 0x7bff},       {65520, 0x7c00},      {0x1p-24f, 0x0001},
             {0x1p-25f, 0x0000},    {0x1.8p-25f, 1},      {0x1p-14f, 0x0400},
             {0x1.ff8p-15f, 0x3ff}, {1.0004883f, 0x3c00}, {1.0014648f, 0x3c02}};
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        uint16_t h;
        dtype_from_float(KM_FLOAT16, &v[i].f, &h, 1);
        ck_assert_msg(h == v[i].h, "%a: %04x", (double)v[i].f, h);
    }
}
END_TEST

START_TEST(test_every_half_goes_there_and_back)
{
    static const int types[] = {KM_FLOAT16, KM_BFLOAT16};
    for (uint32_t x = 0; x < 0x10000; x++) {
        uint16_t in = (uint16_t)x, out;
        double d;
        dtype_to_double(types[_i], &in, &d, 1);
        dtype_from_double(types[_i], &d, &out, 1);
        if (isnan(d))
            continue;
        ck_assert_msg(in == out, "%04x -> %a -> %04x", in, d, out);
    }
}
END_TEST

START_TEST(test_bfloat_rounds_to_even)
{
    static const struct {
        float f;
        uint16_t b;
    } v[] = {{1, 0x3f80},
             {0x1.01p0f, 0x3f80}, /* half way, to even */
             {0x1.03p0f, 0x3f82}, /* half way, to even */
             {0x1.0102p0f, 0x3f81}};
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        uint16_t b;
        dtype_from_float(KM_BFLOAT16, &v[i].f, &b, 1);
        ck_assert_msg(b == v[i].b, "%a: %04x", (double)v[i].f, b);
    }
}
END_TEST

Suite *eval_generate_suite(void)
{
    Suite *s = suite_create("eval_generate");
    TCase *t = tcase_create("generate");
    tcase_add_loop_test(t, test_philox_known_answers, 0, ARRAY_LEN(known));
    tcase_add_loop_test(t, test_normal_scales, 0, ARRAY_LEN(normals));
    tcase_add_test(t, test_uniform_keeps_its_range_and_sign);
    tcase_add_test(t, test_integers_stay_in_range_and_d8_has_the_bounds);
    tcase_add_test(t, test_bools_are_zero_or_one);
    tcase_add_test(t, test_structure_has_a_trend);
    tcase_add_test(t, test_streams_differ_and_seeds_repeat);
    tcase_add_test(t, test_affine_is_increasing_and_moves_constants);
    tcase_add_test(t, test_shuffle_is_a_permutation);
    tcase_add_test(t, test_half_values);
    tcase_add_loop_test(t, test_every_half_goes_there_and_back, 0, 2);
    tcase_add_test(t, test_bfloat_rounds_to_even);
    suite_add_tcase(s, t);
    return s;
}
