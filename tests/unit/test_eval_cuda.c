/* SPDX-License-Identifier: MIT */
/* The judge's own kernels. Without a GPU: what is said then, and that they
 * compile where there is a compiler; with one: the same bytes as on the CPU. */
#include "base.h"

#include <check.h>

#include "embed.h"
#include "evaluate/cuda/gpu.h"
#include "mem.h"

Suite *eval_cuda_suite(void);

EMBED_DECLARE(data_cu);

/* Only the GPU's own part of the tests insists on it. */
static bool insists(void)
{
    const char *s = getenv("KM_GPU");
    return s && *s == '1';
}

static const char *python(void)
{
    return getenv("KM_PYTHON");
}

START_TEST(test_absence_is_told)
{
    struct err e = {0};
    struct gpu d;
    if (gpu_open(&d, 0, python(), &e) == 0) {
        ck_assert(d.cc >= 50);
        gpu_close(&d);
        ck_assert_int_eq(gpu_open(&d, 1000, NULL, &e), -1);
    } else {
        ck_assert_msg(!insists(), "%s", e.msg);
    }
    ck_assert_int_eq(e.code, ERR_UNAVAILABLE);
    ck_assert(e.msg[0] != '\0');
    gpu_close(&d);
}
END_TEST

START_TEST(test_kernels_compile)
{
    struct err e = {0};
    struct buf code = BUF_INIT(16u << 20);
    const struct nvrtc *n = nvrtc_open(python(), &e);
    if (!n) {
        ck_assert_int_eq(e.code, ERR_UNAVAILABLE);
        ck_assert_msg(!insists(), "%s", e.msg);
        return;
    }
    ck_assert_msg(
        nvrtc_build(n, EMBED_SPAN(data_cu), "data.cu", 80, &code, &e) == 0,
        "%s", e.msg);
    ck_assert(span_starts(buf_span(&code), "\177ELF"));
    ck_assert_int_eq(
        nvrtc_build(n, SPAN_LIT("int f( {\n"), "bad.cu", 80, &code, &e), -1);
    ck_assert_int_eq(e.code, ERR_INTERNAL);
    ck_assert_ptr_nonnull(strstr(e.msg, "bad.cu cannot be compiled: error:"));
    buf_release(&code);
}
END_TEST

static struct gpu gpu;
static struct gpu_arena arena;

static bool open_gpu(size_t size)
{
    struct err e = {0};
    if (!insists())
        return false;
    ck_assert_msg(gpu_open(&gpu, 0, python(), &e) == 0, "%s", e.msg);
    ck_assert_msg(gpu_arena_new(&gpu, size, &arena, &e) == 0, "%s", e.msg);
    ck_assert_uint_ge(arena.size, size);
    return true;
}

static void close_gpu(void)
{
    gpu_arena_free(&gpu, &arena);
    gpu_close(&gpu);
}

static struct input input_of(int dtype, enum dist dist, int64_t rows,
                             int64_t last)
{
    struct input in = {.dist = dist, .lo = -3, .hi = 1000, .p = 0.3};
    in.t.dtype = dtype;
    in.t.ndim = 2;
    in.t.shape[0] = rows;
    in.t.shape[1] = last;
    in.t.numel = (size_t)(rows * last);
    in.t.bytes = in.t.numel * dtype_size(dtype);
    if (dtype == KM_UINT8)
        in.lo = 0;
    if (dtype == KM_INT8 || dtype == KM_UINT8)
        in.hi = 100;
    if (dtype == KM_INT64)
        in.hi = 1e12;
    return in;
}

/* One tensor, both ways, and that no byte behind it changes. */
static void compare_fills(const struct input *in, enum config_id config)
{
    struct err e = {0};
    struct gen g, again;
    struct fill f;
    size_t n = in->t.bytes + 64;
    char *here = xcalloc(1, n), *there = xcalloc(1, n);

    ck_assert_int_eq(gen_init(&g, 12345 + in->t.numel, &e), 0);
    again = g;
    memset(here, 0x5a, n);
    gen_input(&g, in, config, true, here);
    ck_assert_int_eq(gpu_write(&gpu, arena.at, there, n, &e), 0);
    memset(there, 0x5a, n);
    ck_assert_int_eq(gpu_write(&gpu, arena.at, there, n, &e), 0);
    gen_plan(&again, in, config, true, &f);
    ck_assert_msg(gpu_fill(&gpu, &again, &in->t, &f, arena.at, &e) == 0, "%s",
                  e.msg);
    ck_assert_msg(gpu_read(&gpu, there, arena.at, n, &e) == 0, "%s", e.msg);
    ck_assert_uint_eq(g.stream, again.stream);
    for (size_t i = 0; memcmp(here, there, n) && i < n; i++)
        if (here[i] != there[i])
            ck_abort_msg("%s, %s, %zu elements: byte %zu is %02x, not %02x",
                         dtype_name(in->t.dtype), configs[config].name,
                         in->t.numel, i, there[i] & 255, here[i] & 255);
    free(here);
    free(there);
}

START_TEST(test_same_bytes_as_on_the_cpu)
{
    static const int64_t shapes[][2] = {{0, 5},   {1, 1},     {1, 7},
                                        {3, 341}, {64, 16},   {5, 205},
                                        {7, 511}, {333, 301}, {1025, 1024}};
    if (!open_gpu(16u << 20))
        return;
    for (size_t s = 0; s < ARRAY_LEN(shapes); s++)
        for (int t = 0; t < DTYPE_COUNT; t++)
            for (int c = 0; c < CONFIG_COUNT; c++) {
                bool real = dtype_is_float(t);
                struct input in = input_of(t,
                                           real           ? DIST_NORMAL
                                           : t == KM_BOOL ? DIST_BOOL
                                                          : DIST_INT,
                                           shapes[s][0], shapes[s][1]);
                compare_fills(&in, (enum config_id)c);
                in.dist = DIST_UNIFORM;
                if (real)
                    compare_fills(&in, (enum config_id)c);
            }
    close_gpu();
}
END_TEST

START_TEST(test_arena_by_descriptor)
{
    struct err e = {0};
    struct gpu_arena other;
    char pattern[] = "poison!", back[1000];
    if (!open_gpu(3u << 20))
        return;
    ck_assert_msg(gpu_arena_import(&gpu, arena.fd, arena.size, &other, &e) == 0,
                  "%s", e.msg);
    ck_assert(other.at != arena.at);
    ck_assert_int_eq(gpu_write(&gpu, arena.at, pattern, 7, &e), 0);
    ck_assert_int_eq(
        gpu_repeat(&gpu, arena.at + 4096, sizeof(back), arena.at, 7, &e), 0);
    ck_assert_int_eq(gpu_read(&gpu, back, other.at + 4096, sizeof(back), &e),
                     0);
    for (size_t i = 0; i < sizeof(back); i++)
        ck_assert_int_eq(back[i], pattern[i % 7]);
    gpu_arena_free(&gpu, &other);
    close_gpu();
}
END_TEST

Suite *eval_cuda_suite(void)
{
    Suite *s = suite_create("eval_cuda");
    TCase *t = tcase_create("cuda");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, test_absence_is_told);
    tcase_add_test(t, test_kernels_compile);
    tcase_add_test(t, test_same_bytes_as_on_the_cpu);
    tcase_add_test(t, test_arena_by_descriptor);
    suite_add_tcase(s, t);
    return s;
}
