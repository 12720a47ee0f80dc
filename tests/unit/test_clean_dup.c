/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <check.h>

#include "clean/benchmark.h"
#include "clean/cluster.h"
#include "clean/dup.h"
#include "clean/operators.h"
#include "schema.h"

Suite *clean_dup_suite(void);

static struct pyparser *parser;
static struct err e;
static struct minhash h;

static void setup(void)
{
    parser = pyparser_new(&e);
    ck_assert_ptr_nonnull(parser);
    minhash_init(&h, 5, 256, 0.7);
}

static void teardown(void)
{
    pyparser_free(parser);
}

/* 1 - (1 - s^rows)^bands: for 0.7, 0.684 with 9 rows and 0.850 with 8. */
START_TEST(test_bands)
{
    ck_assert_uint_eq(h.rows, 8);
    ck_assert_uint_eq(h.bands, 32);
    ck_assert_uint_eq(minhash_size(&h), 32 * 8 + 2 * 256);
}
END_TEST

static const unsigned shared[] = {0, 500, 700, 824, 905, 1000};

/* Two sets of 1,000 that share some: s / (2000 - s). Five deviations. */
START_TEST(test_similarity)
{
    unsigned char x[10 * MINHASH_MAX], y[10 * MINHASH_MAX];
    uint32_t a[1000], b[1000];
    unsigned common = shared[_i];
    double jaccard = common / (2000.0 - common);

    for (unsigned i = 0; i < 1000; i++) {
        a[i] = (uint32_t)hash_fast(SPAN_LIT("a"), i);
        b[i] = i < common ? a[i] : (uint32_t)hash_fast(SPAN_LIT("b"), i);
    }
    minhash_sign(&h, a, 1000, a, 1000, x);
    minhash_sign(&h, b, 1000, a, 1000, y);
    ck_assert_double_eq_tol(minhash_similarity(&h, x, y), jaccard, 0.15);
    if (common == 1000) {
        ck_assert_double_eq(minhash_similarity(&h, x, y), 1);
        ck_assert_uint_eq(minhash_band(x, 3), minhash_band(y, 3));
    }
    /* the part is what differs most */
    minhash_sign(&h, a, 1000, b, 1000, y);
    ck_assert_double_eq_tol(minhash_similarity(&h, x, y), jaccard, 0.15);
}
END_TEST

#define HEAD                                                                   \
    "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"   \
    "class M(nn.Module):\n"

static const struct {
    const char *body, *text;
} operators[] = {
    {"    def forward(self, x):\n        return torch.relu(x)\n", "relu();"},
    {"    def forward(self, x):\n        return F.relu(x, inplace=True)\n",
     "relu();"},
    {"    def forward(self, x):\n        return x.leaky_relu(0.1)\n",
     "leakyrelu(0.1);"},
    {"    def __init__(self, i, o):\n"
     "        self.a = nn.Conv2d(i, o, 3, padding=(1, 1))\n"
     "        self.b = nn.Sequential(nn.ReLU(), nn.Linear(o, 5))\n"
     "    def forward(self, x):\n"
     "        return self.b(self.a(x)) + x * 2\n",
     "conv2d(?,?,3,padding=(1,1));relu();linear(?,5);*;+;"},
    {"    def forward(self, x):\n        x += 1\n        return x.size(0)\n",
     "+;"},
    {"    def forward(self, x):\n        return len(x)\n", ""},
    {"    def forward(self, x):\n        return self.other(x)\n", ""},
    {"    def forward(self, x):\n        return np.sum(x)\n", ""},
    {"    def call(self, x):\n        return torch.relu(x)\n", ""},
};

START_TEST(test_operators)
{
    char source[1024];
    struct buf out = BUF_INIT(4096);
    struct pymod *m;

    snprintf(source, sizeof(source), "%s%s%s",
             strstr(operators[_i].body, "np.") ? "import numpy as np\n" : "",
             HEAD, operators[_i].body);
    m = pymod_new(parser, "a", span_str(source), &e);
    ck_assert_ptr_nonnull(m);
    operators_text(m, pymod_def(m, SPAN_LIT("M")), &out);
    ck_assert_str_eq(out.p, operators[_i].text);
    buf_release(&out);
    pymod_free(m);
}
END_TEST

static const struct {
    const char *spdx, *part;
    int rank;
} ranks[] = {
    {"MIT", NULL, 1},
    {"0BSD", NULL, 0},
    {"Apache-2.0", "MIT", 2},
    {"MIT", "GPL-3.0-only", 4},
    {"MIT OR GPL-2.0-only", NULL, 1},
    {"MIT AND Apache-2.0", NULL, 2},
    {"(MIT AND MPL-2.0) OR Unlicense", NULL, 0},
    {"", NULL, 6},
    {"Nobody-1.0", NULL, 6},
    {"MIT", "", 6},
};

START_TEST(test_licence)
{
    struct arena a = ARENA_INIT;
    struct val *rec = rec_new(&a, "module"), *licence = val_map(&a);

    val_set(&a, licence, "spdx", val_strz(&a, ranks[_i].spdx));
    val_set(&a, rec, "licence", licence);
    if (ranks[_i].part) {
        struct val *list = val_list(&a), *part = val_map(&a);

        val_set(&a, part, "licence", val_strz(&a, ranks[_i].part));
        val_push(&a, list, part);
        val_set(&a, rec, "inlined", list);
    }
    ck_assert_int_eq(dup_licence_rank(rec), ranks[_i].rank);
    arena_release(&a);
}
END_TEST

/* The fingerprints that the program carries find what they were made of. */
START_TEST(test_kernelbench)
{
    static const char source[] = HEAD "    def __init__(self):\n"
                                      "        super().__init__()\n"
                                      "    def forward(self, tensor):\n"
                                      "        return torch.relu(tensor)\n";
    struct benchmark *b = benchmark_new();
    struct pymod *m = pymod_new(parser, "a", span_str(source), &e);
    struct overlap o;
    struct tokens t;

    ck_assert_int_eq(benchmark_load_own(b, &e), 0);
    benchmark_seal(b);
    ck_assert_uint_eq(benchmark_count(b), 297);
    tokens_read(&t, m);
    o = benchmark_find_source(b, m, &t, SPAN_LIT("M"));
    ck_assert_int_eq(o.rule, OVERLAP_AST);
    ck_assert_int_eq(o.level, 1);
    ck_assert_int_eq(o.number, 19);
    tokens_release(&t);
    pymod_free(m);
    benchmark_free(b);
}
END_TEST

Suite *clean_dup_suite(void)
{
    Suite *s = suite_create("clean_dup");
    TCase *tc = tcase_create("dup");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, test_bands);
    tcase_add_loop_test(tc, test_similarity, 0, ARRAY_LEN(shared));
    tcase_add_loop_test(tc, test_operators, 0, ARRAY_LEN(operators));
    tcase_add_loop_test(tc, test_licence, 0, ARRAY_LEN(ranks));
    tcase_add_test(tc, test_kernelbench);
    suite_add_tcase(s, tc);
    return s;
}
