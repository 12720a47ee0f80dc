/* SPDX-License-Identifier: MIT */
/* The judge's own kernels. Without a GPU: what is said then, and that they
 * compile where there is a compiler; with one: the same bytes as on the CPU. */
#include "base.h"

#include <check.h>
#include <math.h>

#include "embed.h"
#include "evaluate/cuda/gpu.h"
#include "evaluate/device.h"
#include "mem.h"

Suite *eval_cuda_suite(void);

EMBED_DECLARE(data_cu);
EMBED_DECLARE(compare_cu);
EMBED_DECLARE(ring_cu);

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
    const struct span sources[] = {EMBED_SPAN(data_cu), EMBED_SPAN(compare_cu),
                                   EMBED_SPAN(ring_cu)};
    struct nvrtc_conf conf = {.name = "bad.cu", .cc = 80};
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        buf_clear(&code);
        ck_assert_msg(nvrtc_build(n, sources[i], &conf, &code, &e) == 0, "%s",
                      e.msg);
        ck_assert(span_starts(buf_span(&code), "\177ELF"));
    }
    ck_assert_int_eq(nvrtc_build(n, SPAN_LIT("int x = y;\n"), &conf, &code, &e),
                     -1);
    ck_assert_int_eq(e.code, ERR_PARSE);
    ck_assert_str_eq(e.msg, "bad.cu cannot be compiled: bad.cu(1): error: "
                            "identifier \"y\" is undefined");
    buf_release(&code);
}
END_TEST

/* A candidate's: instances of templates, by the symbols they get. */
START_TEST(test_candidates_compile)
{
    struct err e = {0};
    struct buf code = BUF_INIT(16u << 20);
    const char *kernels[] = {"scale<float, 4>", "plain"};
    char *symbols[2] = {NULL, NULL};
    struct nvrtc_conf conf = {.name = "candidate.cu",
                              .cc = 90,
                              .candidate = true,
                              .kernels = kernels,
                              .symbols = symbols,
                              .n_kernels = 2};
    static const char source[] =
        "#include <cstdint>\n#include <math.h>\n#include <float.h>\n"
        "#include <stdio.h>\n"
        "extern \"C\" __global__ void most(float *x, uint64_t n)\n"
        "{ float m = -INFINITY; for (uint64_t i = 0; i < n; i++)\n"
        "  m = fmaxf(m, x[i] < FLT_MAX ? sqrtf(x[i]) : NAN); x[0] = m; }\n"
        "template <typename T, int N> __global__ void scale(T *x) "
        "{ x[threadIdx.x] *= N; }\n"
        "extern \"C\" __global__ void plain(int *x) { *x = 1; }\n";
    const struct nvrtc *n = nvrtc_open(python(), &e);
    if (!n)
        return; /* test_kernels_compile tells */
    ck_assert_msg(nvrtc_build(n, span_str(source), &conf, &code, &e) == 0, "%s",
                  e.msg);
    ck_assert_ptr_nonnull(strstr(symbols[0], "scale"));
    ck_assert_str_ne(symbols[0], "scale");
    ck_assert_str_eq(symbols[1], "plain");
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++)
        free(symbols[i]);
    kernels[0] = "missing";
    ck_assert_int_eq(nvrtc_build(n, span_str(source), &conf, &code, &e), -1);
    ck_assert_int_eq(e.code, ERR_PARSE);
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
    ck_assert_msg(gpu_arena_new(&gpu, size, true, &arena, &e) == 0, "%s",
                  e.msg);
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

/* One tensor between two others, both ways, and that no byte behind it
 * changes. */
static void compare_fills(const struct input *in, enum config_id config)
{
    struct err e = {0};
    struct gen g, again;
    struct filling v[3];
    const struct input before = input_of(KM_FLOAT32, DIST_UNIFORM, 3, 5);
    const struct input after = input_of(KM_INT64, DIST_INT, 3, 5);
    size_t first = 256, second = first + (in->t.bytes + 64 + 255) / 256 * 256;
    size_t n = second + 256;
    char *here = xcalloc(1, n), *there = xcalloc(1, n);

    ck_assert_int_eq(gen_init(&g, 12345 + in->t.numel, &e), 0);
    again = g;
    memset(here, 0x5a, n);
    gen_input(&g, &before, CONFIG_D6, true, here);
    gen_input(&g, in, config, true, here + first);
    gen_input(&g, &after, CONFIG_D8, true, here + second);
    ck_assert_int_eq(gpu_write(&gpu, arena.at, there, n, &e), 0);
    memset(there, 0x5a, n);
    ck_assert_int_eq(gpu_write(&gpu, arena.at, there, n, &e), 0);
    v[0].t = &before.t;
    v[0].to = arena.at;
    gen_plan(&again, &before, CONFIG_D6, true, &v[0].f);
    v[1].t = &in->t;
    v[1].to = arena.at + first;
    gen_plan(&again, in, config, true, &v[1].f);
    v[2].t = &after.t;
    v[2].to = arena.at + second;
    gen_plan(&again, &after, CONFIG_D8, true, &v[2].f);
    ck_assert_msg(gpu_fill(&gpu, &again, v, 3, &e) == 0, "%s", e.msg);
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

/* Values of every kind: most near the reference, some far, some none. */
static void make_pair(struct gen *g, const struct tensor *t, void *reference,
                      void *candidate, double *exact)
{
    double *r = xcalloc(t->numel + 1, sizeof(*r));
    float *f = xcalloc(t->numel + 1, sizeof(*f));

    gen_normal(g, f, t->numel);
    for (size_t i = 0; i < t->numel; i++)
        r[i] = f[i];
    dtype_from_double(t->dtype, r, reference, t->numel);
    dtype_to_double(t->dtype, reference, r, t->numel);
    for (size_t i = 0; i < t->numel; i++) {
        exact[i] = r[i] * (1 + 1e-5 * gen_uniform(g, -1, 1));
        switch (gen_below(g, 97)) {
        case 0:
            r[i] += gen_uniform(g, -1, 1);
            break;
        case 1:
            r[i] *= 1 + gen_uniform(g, -1e-2, 1e-2);
            break;
        case 2:
            r[i] = gen_below(g, 50) ? 0 : (double)NAN;
            break;
        case 3:
            r[i] = gen_below(g, 50) ? -0.0 : (double)INFINITY;
            break;
        case 4:
            r[i] *= 1 + gen_uniform(g, -1e-3, 1e-3);
            break;
        default:
            r[i] *= 1 + gen_uniform(g, -1e-6, 1e-6);
            break;
        }
    }
    dtype_from_double(t->dtype, r, candidate, t->numel);
    free(r);
    free(f);
}

static void close_to(double a, double b)
{
    ck_assert_msg(fabs(a - b) <= 1e-12 * fabs(b), "%.17g, not %.17g", a, b);
}

/* One comparison on the CPU and on the GPU. */
static void compare_both(struct comparison *c, size_t bytes)
{
    struct err e = {0};
    struct compared here = {0}, there = {0};
    uint64_t at = arena.at, step = (bytes + 4095) / 4096 * 4096;
    struct gpu_comparison x = {.t = c->t,
                               .tf32 = c->tf32,
                               .how = c->how,
                               .candidate = at,
                               .reference = at + step,
                               .exact = c->exact ? at + 2 * step : 0,
                               .error = c->error,
                               .terms = c->terms};
    bool told = compare_tensor(c, &here);
    int rc;

    ck_assert_int_eq(gpu_write(&gpu, x.candidate, c->candidate, bytes, &e), 0);
    ck_assert_int_eq(gpu_write(&gpu, x.reference, c->reference, bytes, &e), 0);
    if (c->exact)
        ck_assert_int_eq(gpu_write(&gpu, x.exact, c->exact,
                                   c->t->numel * sizeof(double), &e),
                         0);
    rc = gpu_compare(&gpu, &x, &there, &e);
    ck_assert_msg(rc >= 0, "%s", e.msg);
    ck_assert_int_eq(rc, told);
    ck_assert_uint_eq(there.elements, here.elements);
    for (int j = 0; j < J_COUNT; j++)
        ck_assert_uint_eq(there.outside[j], here.outside[j]);
    ck_assert_uint_eq(there.nan, here.nan);
    ck_assert_uint_eq(there.inf, here.inf);
    ck_assert_mem_eq(there.ulp, here.ulp, sizeof(here.ulp));
    ck_assert_double_eq(there.max_abs, here.max_abs);
    close_to(there.max_rel, here.max_rel);
    close_to(there.sum_sq, here.sum_sq);
    if (c->exact && told) {
        struct own_error on,
            of = reference_error(c->t, c->how, c->reference, c->exact);
        ck_assert_int_eq(
            gpu_own_error(&gpu, c->t, x.reference, x.exact, &on, &e), 0);
        close_to(on.part, of.part);
        close_to(on.relative, of.relative);
    }
}

START_TEST(test_same_figures_as_on_the_cpu)
{
    static const size_t sizes[] = {1, 19, 4095, 100003, 1000000};
    struct err e = {0};
    struct gen g;
    if (!open_gpu(64u << 20))
        return;
    ck_assert_int_eq(gen_init(&g, 7, &e), 0);
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++)
        for (int type = 0; type < DTYPE_COUNT; type++) {
            struct tensor t = {.dtype = type,
                               .ndim = 1,
                               .shape = {(int64_t)sizes[k]},
                               .numel = sizes[k],
                               .bytes = sizes[k] * dtype_size(type)};
            void *r = xcalloc(1, t.bytes + 8), *c = xcalloc(1, t.bytes + 8);
            double *exact = xcalloc(t.numel + 1, sizeof(*exact));
            struct comparison x = {.t = &t,
                                   .tf32 = k % 2,
                                   .how = COMPARE_EXACT,
                                   .candidate = c,
                                   .reference = r,
                                   .error = {1e-6, 1e-5},
                                   .terms = 100};
            if (dtype_is_float(type)) {
                make_pair(&g, &t, r, c, exact);
                compare_both(&x, t.bytes);
                x.how = COMPARE_CLOSE;
                compare_both(&x, t.bytes);
                x.exact = exact;
                compare_both(&x, t.bytes);
                ((char *)r)[t.bytes - 1] = 0x7f; /* not finite */
                ((char *)r)[t.bytes - 2] = (char)0xff;
            } else {
                gen_bytes(&g, r, t.bytes);
                memcpy(c, r, t.bytes);
                ((char *)c)[gen_below(&g, t.bytes)] ^= 4;
            }
            compare_both(&x, t.bytes);
            free(r);
            free(c);
            free(exact);
        }
    close_gpu();
}
END_TEST

START_TEST(test_arena_by_descriptor)
{
    struct err e = {0};
    struct gpu_arena other;
    char pattern[] = "poison!", back[7];
    if (!open_gpu(3u << 20))
        return;
    ck_assert_msg(gpu_arena_import(&gpu, arena.fd, arena.size, &other, &e) == 0,
                  "%s", e.msg);
    ck_assert(other.at != arena.at);
    ck_assert_int_eq(gpu_write(&gpu, arena.at, pattern, 7, &e), 0);
    ck_assert_int_eq(gpu_read(&gpu, back, other.at, sizeof(back), &e), 0);
    ck_assert_mem_eq(back, pattern, sizeof(back));
    gpu_arena_free(&gpu, &other);
    close_gpu();
}
END_TEST

/* ---- the device's operations, against those of the CPU ---- */

#define OPS_BYTES 40000

struct ops_run {
    uint8_t bytes[OPS_BYTES];
    size_t differ[3];
    bool finite[6], alike[6];
    struct spot spots[5];
};

static void operate(const struct device_ops *ops, struct ops_run *out)
{
    static const struct tensor t = {
        .dtype = KM_FLOAT32, .ndim = 1, .numel = 100, .bytes = 400};
    struct region r, other;
    struct err e = {0};
    float values[6][100];
    void *dev = NULL;

    memset(out, 0, sizeof(*out));
    ck_assert_msg(ops->open(&dev, python(), &e) == 0, "%s", e.msg);
    ck_assert_msg(ops->region_new(dev, OPS_BYTES, true, &r, &e) == 0, "%s",
                  e.msg);
    ck_assert_msg(ops->region_new(dev, OPS_BYTES, false, &other, &e) == 0, "%s",
                  e.msg);
    ck_assert_int_ge(r.fd, 0);
    ck_assert_int_lt(other.fd, 0);
    ops->set(dev, rows_at(r.at, 0), OPS_BYTES, 1, 0xa5, 1);
    ops->set(dev, rows_at(other.at, 0), OPS_BYTES, 1, 0xa5, 1);
    out->differ[0] = ops->differ(dev, r.at, other.at, OPS_BYTES);
    /* rows: odd widths and places, values of every size */
    ops->set(dev, rows_at(r.at + 8, 1000), 24, 3, 0x1122334455667788, 8);
    ops->set(dev, rows_at(r.at + 100, 1000), 24, 3, 0x99887766, 4);
    ops->set(dev, rows_at(r.at + 200, 1000), 6, 3, 0x1234, 2);
    ops->set(dev, rows_at(r.at + 301, 1000), 5, 3, 0x7f, 1);
    out->differ[1] = ops->differ(dev, r.at, other.at, OPS_BYTES);
    out->differ[2] = ops->differ(dev, r.at + 333, other.at + 333, 700);
    ops->copy(dev, rows_at(r.at + 10000, 512), rows_at(r.at, 1000), 333, 3);
    ops->copy(dev, rows_at(r.at + 12288, 512), rows_at(r.at, 992), 320, 3);
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 100; k++)
            values[i][k] = (float)(k % 7) - 3.0f + (float)i;
    ops->write(dev, r.at + 16000, values, sizeof(values));
    values[1][99] = INFINITY;
    values[2][50] = NAN;
    values[3][0] += 0.01f; /* within rounding's reach, */
    values[4][10] += 9.0f; /* and beyond */
    ops->write(dev, r.at + 20000, values, sizeof(values));
    ops->finite(dev, &t, rows_at(r.at + 20000, 400), 6, out->finite);
    ops->alike(dev, &t, rows_at(r.at + 20000, 400), rows_at(r.at + 16000, 400),
               6, out->alike);
    ops->widen(dev, r.at + 24000, r.at + 16000, KM_FLOAT32, 100);
    ops->widen(dev, r.at + 25600, r.at + 8, KM_INT64, 3);
    for (size_t i = 0; i < 5; i++)
        out->spots[i] = (struct spot){.at = 16000 + i * 37, .size = 1 + i % 3};
    ops->gather(dev, r.at, out->spots, 5);
    for (size_t i = 0; i < 5; i++)
        out->spots[i].at += 14001;
    ops->scatter(dev, r.at, out->spots, 5);
    ops->read(dev, out->bytes, r.at, OPS_BYTES);
    ck_assert_msg(ops->health(dev, &e) == 0, "%s", e.msg);
    ops->region_free(dev, &r);
    ops->region_free(dev, &other);
    ops->close(dev);
}

START_TEST(test_operations)
{
    static struct ops_run cpu, cuda;
    static const bool finite[6] = {true, false, false, true, true, true};
    static const bool alike[6] = {true, false, false, true, false, true};

    operate(&device_cpu, &cpu);
    ck_assert_uint_eq(cpu.differ[0], OPS_BYTES);
    ck_assert_uint_eq(cpu.differ[1], 8);
    ck_assert_uint_eq(cpu.differ[2], 1008 - 333);
    ck_assert_mem_eq(cpu.finite, finite, sizeof(finite));
    ck_assert_mem_eq(cpu.alike, alike, sizeof(alike));
    if (!insists())
        return;
    operate(&device_cuda, &cuda);
    ck_assert_mem_eq(&cuda, &cpu, sizeof(cpu));
}
END_TEST

Suite *eval_cuda_suite(void)
{
    Suite *s = suite_create("eval_cuda");
    TCase *t = tcase_create("cuda");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, test_absence_is_told);
    tcase_add_test(t, test_kernels_compile);
    tcase_add_test(t, test_candidates_compile);
    tcase_add_test(t, test_same_bytes_as_on_the_cpu);
    tcase_add_test(t, test_same_figures_as_on_the_cpu);
    tcase_add_test(t, test_arena_by_descriptor);
    tcase_add_test(t, test_operations);
    suite_add_tcase(s, t);
    return s;
}
