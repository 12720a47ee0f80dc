/* SPDX-License-Identifier: MIT */
/* Sizes for a GPU: what grows with what, and where it ends. */
#include "base.h"

#include <check.h>

#include "testgen/grow.h"
#include "testgen/propose.h"

Suite *testgen_sizes_suite(void);

static struct arena a = ARENA_INIT;
static struct pyparser *parser;
static struct facts f;

static void setup(void)
{
    struct err e;
    const char *source = "from torch import nn\n"
                         "class M(nn.Module):\n"
                         "    def __init__(self, dim, heads, dim_head):\n"
                         "        super().__init__()\n"
                         "    def forward(self, x, y=None):\n"
                         "        return x\n";
    parser = pyparser_new(&e);
    ck_assert_ptr_nonnull(parser);
    ck_assert_int_eq(
        facts_read(&f, parser, span_str(source), SPAN_LIT("M"), &e), 0);
}

static void teardown(void)
{
    facts_release(&f);
    pyparser_free(parser);
    arena_release(&a);
}

static const char *as_json(const struct val *v)
{
    struct buf b = BUF_INIT(1 << 16);
    ck_assert_int_eq(v ? val_json(&b, v) : buf_adds(&b, "absent"), 0);
    const char *s = arena_strdup(&a, buf_span(&b));
    buf_release(&b);
    return s;
}

static const char *shape_of(const struct val *state)
{
    return as_json(val_path(state, "in.x.shape"));
}

static int64_t init_of(const struct val *state, const char *name)
{
    return val_as_int(state_init(state, span_str(name)), -1);
}

static struct val *state_of(const int64_t *shape, size_t rank)
{
    struct val *s = state_new(&a);
    state_set_input(&a, s, SPAN_LIT("x"),
                    input_tensor(&a, SPAN_LIT("x"), shape, rank));
    return s;
}

/* A module as a run sees it: costs grow with the elements of x. */
struct model {
    bool linked;           /* the last dimension is the argument dim */
    bool heads;            /* dim is heads * dim_head */
    int64_t fixed;         /* the last dimension, 0 = any */
    int64_t longest, runs; /* most tokens, 0 = any; attempts */
    double flops;          /* of one element */
};

static int run_model(void *payload, const struct val *state,
                     struct val **figures, struct err *e)
{
    struct model *m = payload;
    int64_t shape[8], n = 1;
    size_t rank = input_shape(state_input(state, SPAN_LIT("x")), shape, 8);
    int64_t dim = init_of(state, "dim");
    (void)e;
    m->runs++;
    for (size_t i = 0; i < rank; i++)
        n *= shape[i];
    bool ok = (!m->linked || dim == shape[rank - 1]) &&
              (!m->heads ||
               init_of(state, "heads") * init_of(state, "dim_head") == dim) &&
              (!m->fixed || m->fixed == shape[rank - 1]) &&
              (!m->longest || shape[1] <= m->longest);
    *figures = val_map(&a);
    val_set(&a, *figures, "ok", val_bool(&a, ok));
    val_set(&a, *figures, "flops", val_float(&a, (double)n * m->flops));
    val_set(&a, *figures, "bytes", val_int(&a, n * 4));
    val_set(&a, *figures, "slot", val_int(&a, n * 4));
    return 0;
}

static struct val *grown(struct model *m, struct val *state)
{
    struct err e;
    struct grow g = {.a = &a,
                     .f = &f,
                     .budget = &budget_gpu,
                     .run = run_model,
                     .payload = m,
                     .best = state};
    ck_assert_int_eq(grow_run(&g, NULL, &e), 0);
    ck_assert_double_le(grow_gpu_ms(g.figures), GPU_MS_MAX);
    ck_assert_int_le(val_geti(g.figures, "slot", 0), GPU_SLOT);
    return g.best;
}

static void set_int(struct val *s, const char *name, int64_t v, const char *ev)
{
    state_set_init(&a, s, span_str(name), val_int(&a, v), ev);
}

START_TEST(test_guessed_widths_grow)
{
    int64_t shape[] = {2, 16, 64}, got[8];
    struct model m = {.linked = true, .heads = true, .flops = 1000};
    struct val *s = state_of(shape, 3);
    set_int(s, "dim", 64, "name");
    set_int(s, "heads", 4, "name");
    set_int(s, "dim_head", 16, "name");
    s = grown(&m, s);
    ck_assert_int_eq(init_of(s, "dim"), 512);
    ck_assert_int_eq(init_of(s, "heads"), 8);
    ck_assert_int_eq(init_of(s, "dim_head"), 64);
    input_shape(state_input(s, SPAN_LIT("x")), got, 8);
    ck_assert_int_eq(got[2], 512);
    ck_assert_int_ge(got[1], 128);
    ck_assert_int_ge(got[0], 2);
    ck_assert_int_lt(m.runs, 16);
}
END_TEST

START_TEST(test_evidence_stays)
{
    int64_t shape[] = {2, 16, 64}, got[8];
    struct model m = {.linked = true, .fixed = 64, .longest = 200, .flops = 10};
    struct val *s = state_of(shape, 3);
    set_int(s, "dim", 64, "as Net does");
    s = grown(&m, s);
    ck_assert_int_eq(init_of(s, "dim"), 64);
    input_shape(state_input(s, SPAN_LIT("x")), got, 8);
    ck_assert_int_eq(got[0], 256);
    ck_assert_int_eq(got[1], 128);
    ck_assert_int_eq(got[2], 64);
}
END_TEST

START_TEST(test_images_grow)
{
    int64_t shape[] = {2, 3, 32, 32}, got[8];
    struct model m = {.flops = 100};
    struct val *s = grown(&m, state_of(shape, 4));
    input_shape(state_input(s, SPAN_LIT("x")), got, 8);
    ck_assert_int_ge(got[2], 128);
    ck_assert_int_eq(got[2], got[3]);
    ck_assert_int_eq(got[1], 3);
}
END_TEST

START_TEST(test_costly_stays)
{
    int64_t shape[] = {2, 16, 64};
    struct model m = {.flops = 2e8};
    struct val *s = grown(&m, state_of(shape, 3));
    ck_assert_str_eq(shape_of(s), "[2,16,64]");
}
END_TEST

START_TEST(test_vectors_grow)
{
    int64_t shape[] = {64};
    struct model m = {.flops = 1};
    ck_assert_str_eq(shape_of(grown(&m, state_of(shape, 1))), "[1048576]");
}
END_TEST

START_TEST(test_own_defaults_come_first)
{
    int64_t shape[] = {2, 16, 64}, large[] = {2, 16, 768};
    struct model m = {.linked = true, .longest = 16, .flops = 1e7};
    struct err e;
    struct val *small = state_of(shape, 3), *other = state_of(large, 3);
    set_int(small, "dim", 64, "default, reduced");
    set_int(other, "dim", 768, "as Net does");
    struct grow g = {.a = &a,
                     .f = &f,
                     .budget = &budget_gpu,
                     .run = run_model,
                     .payload = &m,
                     .best = small};
    ck_assert_int_eq(grow_run(&g, other, &e), 0);
    ck_assert_int_eq(init_of(g.best, "dim"), 768);
}
END_TEST

START_TEST(test_odd_shapes)
{
    int64_t seq[] = {2, 16, 64}, image[] = {2, 3, 32, 32}, one[] = {1, 1};
    struct val *s = state_of(seq, 3);
    ck_assert_str_eq(shape_of(grow_odd(&a, s, 0)), "[1,16,64]");
    ck_assert_str_eq(shape_of(grow_odd(&a, s, 1)), "[2,15,64]");
    ck_assert_str_eq(shape_of(grow_odd(&a, s, 2)), "[2,17,64]");
    s = state_of(image, 4);
    ck_assert_str_eq(shape_of(grow_odd(&a, s, 1)), "[2,3,31,31]");
    ck_assert_str_eq(shape_of(grow_odd(&a, s, 2)), "[2,3,37,37]");
    s = state_of(one, 2);
    for (int i = 0; i < GROW_ODD; i++)
        ck_assert_ptr_null(grow_odd(&a, s, i));
    ck_assert_ptr_null(grow_odd(&a, state_new(&a), 0));
}
END_TEST

Suite *testgen_sizes_suite(void)
{
    Suite *s = suite_create("testgen_sizes");
    TCase *t = tcase_create("sizes");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_guessed_widths_grow);
    tcase_add_test(t, test_evidence_stays);
    tcase_add_test(t, test_images_grow);
    tcase_add_test(t, test_costly_stays);
    tcase_add_test(t, test_vectors_grow);
    tcase_add_test(t, test_own_defaults_come_first);
    tcase_add_test(t, test_odd_shapes);
    suite_add_tcase(s, t);
    return s;
}
