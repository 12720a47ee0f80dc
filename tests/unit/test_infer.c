/* SPDX-License-Identifier: MIT */
/* Sizes from the source: the solver, and what layers and functions ask. */
#include "base.h"

#include <check.h>

#include "testgen/infer/dim.h"
#include "testgen/infer/infer.h"
#include "testgen/propose.h"

Suite *infer_suite(void);

static struct arena a = ARENA_INIT;
static struct pyparser *parser;
static struct dims s;

static void setup(void)
{
    struct err e;
    parser = pyparser_new(&e);
    ck_assert_ptr_nonnull(parser);
    dims_init(&s, &a);
}

static void teardown(void)
{
    dims_release(&s);
    pyparser_free(parser);
    arena_release(&a);
}

/* ---- the solver ---- */

static const struct dim *var(int64_t value)
{
    return dim_var(&s, value, DIM_INPUT);
}

static const struct dim *num(int64_t k)
{
    return dim_int(&s, k);
}

START_TEST(test_sums_and_products)
{
    const struct dim *x = var(6), *y = var(5);
    const struct dim *p = dim_mul(&s, dim_add(&s, x, num(2)), y);
    ck_assert_int_eq(dim_value(&s, p), 40);
    ck_assert(dim_same(&s, dim_sub(&s, p, dim_mul(&s, num(2), y)),
                       dim_mul(&s, y, x)));
    ck_assert_int_eq(dim_value(&s, dim_floor(&s, x, num(4))), 1);
    ck_assert(dim_same(&s, dim_floor(&s, dim_mul(&s, x, y), y), x));
    ck_assert_ptr_null(dim_floor(&s, x, num(0)));
    ck_assert_ptr_null(dim_add(&s, NULL, x));
    ck_assert_int_eq(dim_value(&s, NULL), 0);
}
END_TEST

START_TEST(test_equalities_are_solved)
{
    const struct dim *x = var(7), *y = var(8), *z = var(9);
    int64_t k = 0;
    dim_equal(&s, x, num(3));
    ck_assert(dim_known(&s, x, &k) && k == 3);
    /* 2 y + x = 13 */
    dim_equal(&s, dim_add(&s, dim_mul(&s, y, num(2)), x), num(13));
    ck_assert(dim_known(&s, y, &k) && k == 5);
    /* y z = 20: found once y is known */
    dim_equal(&s, dim_mul(&s, y, z), num(20));
    ck_assert_int_eq(dims_solve(&s), 0);
    ck_assert_int_eq(dim_value(&s, z), 4);
    ck_assert_int_eq(s.conflicts, 0);
    dim_equal(&s, x, num(4));
    ck_assert_int_eq(s.conflicts, 1);
}
END_TEST

START_TEST(test_floors_are_inverted)
{
    const struct dim *x = var(30);
    const struct dim *half = dim_floor(&s, dim_add(&s, x, num(1)), num(2));
    ck_assert_int_eq(dim_value(&s, half), 15);
    dim_equal(&s, half, num(8));
    ck_assert_int_eq(dim_value(&s, x), 15);
    const struct dim *n = var(50), *side = dim_root(&s, n);
    ck_assert_int_eq(dims_solve(&s), 0);
    ck_assert_int_eq(dim_value(&s, n), 49);
    ck_assert_int_eq(dim_value(&s, side), 7);
}
END_TEST

START_TEST(test_needs_move_what_is_free)
{
    const struct dim *width = var(30), *heads = num(4), *size = var(2);
    dim_divides(&s, width, heads);
    dim_positive(&s, dim_sub(&s, size, num(6)));
    ck_assert_int_eq(dims_solve(&s), 0);
    ck_assert_int_eq(dim_value(&s, width) % 4, 0);
    ck_assert_int_ge(dim_value(&s, size), 7);
    dim_settle(&s, size);
    int64_t k;
    ck_assert(dim_known(&s, size, &k));
    dim_divides(&s, num(7), num(2));
    ck_assert_int_eq(s.conflicts, 1);
}
END_TEST

/* Products and sums beyond what is kept are unknown, never wrong. */
START_TEST(test_what_is_too_large)
{
    const struct dim *x = var(2), *y = num(INT64_MAX);
    for (int i = 0; i < 8; i++)
        x = dim_mul(&s, x, var(2));
    ck_assert_ptr_null(x);
    ck_assert_ptr_null(dim_mul(&s, y, y));
    for (int i = 0; i < 5000; i++)
        x = dim_var(&s, 1, DIM_FREE);
    ck_assert_ptr_null(x);
}
END_TEST

/* Sizes made of sizes, each mentioned more than once: linear, not 2^n. */
START_TEST(test_long_chains)
{
    const struct dim *x = var(1 << 20), *y = num(0);
    for (int i = 0; i < 50; i++) {
        const struct dim *half = dim_floor(&s, dim_add(&s, x, num(1)), num(2));
        const struct dim *third = dim_floor(&s, dim_add(&s, x, num(2)), num(3));
        x = dim_add(&s, half, third);
        dim_divides(&s, x, num(2));
        y = dim_add(&s, y, half);
    }
    dim_equal(&s, y, num(77));
    dims_solve(&s);
    ck_assert_int_ge(dim_value(&s, x), 0);
}
END_TEST

/* ---- shapes ---- */

struct shape_case {
    const char *init, *forward, *want;
};

#define F "        return "

static const struct shape_case shape_cases[] = {
    /* layers */
    {"self.l = nn.Linear(48, 8)", F "self.l(x)", "x=2,16,48"},
    {"self.l = nn.Conv2d(5, 8, 3)", F "self.l(x)", "x=2,5,32,32"},
    {"self.l = nn.Conv3d(5, 8, 3)", F "self.l(x)", "x=2,5,4,32,32"},
    {"self.l = nn.Sequential(nn.Conv1d(5, 8, 3), nn.ReLU())", F "self.l(x)",
     "x=2,5,16"},
    {"self.l = nn.LayerNorm([6, 7])", F "self.l(x)", "x=2,6,7"},
    {"self.l = nn.BatchNorm2d(12)", F "self.l(x)", "x=2,12,32,32"},
    {"self.l = nn.LSTM(20, 8, batch_first=True)\n"
     "        self.o = nn.Linear(8, 2)",
     F "self.o(self.l(x)[0])", "x=2,16,20"},
    {"self.l = nn.MultiheadAttention(24, 3)", F "self.l(x, x, x)[0]",
     "x=2,16,24"},
    {"self.l = nn.Embedding(30, 8)", F "self.l(x)", "x=2,16 <30"},
    /* sizes through a chain */
    {"self.c = nn.Conv2d(1, 4, 5)\n        self.l = nn.Linear(4 * 24 * 24, 9)",
     F "self.l(torch.flatten(self.c(x), 1))", "x=2,1,28,28"},
    {"self.c = nn.Conv2d(1, 4, 3, stride=2, padding=1)\n"
     "        self.l = nn.Linear(4 * 7 * 7, 9)",
     F "self.l(F.max_pool2d(self.c(x), 2).view(-1, 4 * 7 * 7))", "x=2,1,27,27"},
    {"self.p = nn.PixelUnshuffle(3)", F "self.p(x)", "x=2,3,48,48"},
    /* reshapes */
    {"pass", "        b, c, h, w = x.shape\n" F "x.view(b, c * h, w)",
     "x=2,3,32,32"},
    {"self.h = 6",
     "        b, n, d = x.size()\n" F
     "x.reshape(b, n, self.h, d // self.h).transpose(1, 2)",
     "x=2,16,6"},
    {"pass", F "rearrange(x, 'b c (h p) (w q) -> b (h w) (p q c)', p=5, q=5)",
     "x=2,3,40,40"},
    {"pass", F "x.permute(0, 2, 3, 1)", "x=2,3,32,32"},
    {"pass", "        a, b, c = x.chunk(3, dim=-1)\n" F "a * b + c",
     "x=2,16,72"},
    {"pass", "        a, b = torch.split(x, [5, 6], dim=1)\n" F "a.sum() + b",
     "x=2,11,64"},
    /* two that meet */
    {"self.l = nn.Linear(8, 20)", F "self.l(x) + y", "x=2,16,8 y=2,16,20"},
    {"self.c = nn.Conv2d(7, 5, 1)", F "torch.cat([self.c(x), y], dim=1)",
     "x=2,7,32,32 y=2,3,32,32"},
    {"pass", F "torch.bmm(x, y)", "x=2,16,64 y=2,64,64"},
    {"pass", F "torch.einsum('bij,bjk->bik', x, y)", "x=2,16,64 y=2,64,64"},
    {"pass", F "x.masked_fill(y, 0)", "x=2,16,64 y=? mask"},
    {"pass", F "x.gather(1, y)", "x=2,16,64 y=2,16,64 <16"},
    {"self.l = nn.Sequential(nn.Linear(21, 5), nn.Linear(5, 9))",
     F "self.l[:-1](x) + y", "x=2,16,21 y=2,16,5"},
    {"self.w = nn.Parameter(torch.zeros(9, 33))", F "F.linear(x, self.w)",
     "x=2,16,33"},
    /* Python */
    {"self.l = nn.ModuleList([nn.Linear(9, 9) for _ in range(3)])",
     "        for l in self.l:\n            x = x + l(x)\n" F "x", "x=2,16,9"},
    {"self.l = B(10)", F "self.l(x)", "x=2,16,10"},
    {"self.forward = self.other\n        self.l = nn.Linear(11, 2)",
     F "x\n    def other(self, x):\n        return self.l(x)", "x=2,16,11"},
    {"self.f = lambda t: helper(t)", F "self.f(x)", "x=2,16,13"},
    {"make = lambda: nn.Linear(17, 2)\n        self.l = make()", F "self.l(x)",
     "x=2,16,17"},
    {"self.a, self.b = 4, 3\n        self.l = nn.Linear(self.a * self.b, 2)",
     F "self.l(x) if self.training else self.l(x)[:, 1:]", "x=2,16,12"},
    {"d = dict(a=14)\n        self.l = nn.Linear(d['a'], int(d['a'] * 0.5))",
     F "self.l(x)", "x=2,16,14"},
};

static const char head[] =
    "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
    "from einops import rearrange\n"
    "def helper(t):\n    return nn.Linear(13, 2)(t)\n"
    "class A(nn.Module):\n    def __init__(self, n):\n"
    "        super().__init__()\n        self.n = n\n"
    "    @property\n    def size(self):\n        return self.n\n"
    "class B(A):\n    def __init__(self, n):\n        super().__init__(n)\n"
    "        self.l = nn.Linear(self.size, 1)\n"
    "    def forward(self, t):\n        return self.l(t)\n";

static void add_shape(struct buf *out, const struct val *in, const char *name)
{
    const struct val *v = val_get(in, name);
    const struct val *shape = val_get(v, "shape");
    if (!v)
        return;
    buf_printf(out, "%s%s=", out->n ? " " : "", name);
    for (size_t i = 0; i < val_len(shape); i++)
        buf_printf(out, "%s%lld", i ? "," : "",
                   (long long)val_as_int(val_at(shape, i), 0));
    if (span_is(val_gets(v, "dtype"), "int64"))
        buf_printf(out, " <%lld", (long long)val_geti(v, "hi", 0) + 1);
    if (span_is(val_gets(v, "dtype"), "bool"))
        buf_adds(out, " mask");
}

static struct val *inferred(struct facts *f, const char *source)
{
    struct err e;
    ck_assert_int_eq(facts_read(f, parser, span_str(source), SPAN_LIT("M"), &e),
                     0);
    struct val *state = propose_state(&a, f);
    struct val *v = infer_state(&a, f, state);
    return v ? v : state;
}

START_TEST(test_shapes)
{
    const struct shape_case *c = &shape_cases[_i];
    struct buf out = BUF_INIT(1000);
    struct facts f = {0};
    bool two = strstr(c->want, "y=") != NULL;
    char want[100];
    const char *source =
        arena_printf(&a,
                     "%sclass M(nn.Module):\n    def __init__(self):\n"
                     "        super().__init__()\n        %s\n"
                     "    def forward(self, x%s):\n%s\n",
                     head, c->init, two ? ", y" : "", c->forward);
    struct val *in = val_get(inferred(&f, source), "in");
    add_shape(&out, in, "x");
    add_shape(&out, in, "y");
    snprintf(want, sizeof(want), "%s", c->want);
    char *open = strchr(want, '?'); /* of that only the dtype is asked */
    if (open) {
        *open = 0;
        ck_assert_msg(strncmp(out.p, want, strlen(want)) == 0 &&
                          strstr(out.p, open + 1),
                      "%s: %s", c->forward, out.p);
    } else {
        ck_assert_msg(strcmp(out.p, want) == 0, "%s%s: %s", c->init, c->forward,
                      out.p);
    }
    buf_release(&out);
    facts_release(&f);
}
END_TEST

/* Numbers of the constructor that must agree do. */
START_TEST(test_numbers_of_the_constructor)
{
    struct facts f = {0};
    struct val *v = inferred(
        &f, "from torch import nn\nclass M(nn.Module):\n"
            "    def __init__(self, in_planes, dim, wide, groups):\n"
            "        super().__init__()\n"
            "        assert dim % groups == 0\n"
            "        if wide / 2 != dim:\n            raise ValueError\n"
            "        self.c = nn.Conv2d(in_planes, dim, 3, padding=1)\n"
            "        self.n = nn.GroupNorm(groups, dim)\n"
            "    def forward(self, x):\n"
            "        return x + self.n(self.c(x))\n");
    const struct val *x = state_init(v, SPAN_LIT("in_planes"));
    const struct val *d = state_init(v, SPAN_LIT("dim"));
    ck_assert(x && d && x->i == d->i);
    ck_assert_int_eq(state_init(v, SPAN_LIT("wide"))->i, 2 * d->i);
    ck_assert_int_eq(d->i % state_init(v, SPAN_LIT("groups"))->i, 0);
    facts_release(&f);
}
END_TEST

/* Loops without end, deep nesting, huge numbers: an answer, and soon. */
START_TEST(test_hostile_sources)
{
    static const char *const bodies[] = {
        "        while True:\n            x = x.view(-1)\n        return x\n",
        "        return self.forward(x)\n",
        "        for i in range(10**12):\n            x = x[i:]\n"
        "        return x\n",
        "        return x.view(99999999999999999999999, 2)\n",
        "        return [[y for y in x] for x in [[x] * 9999] * 9999]\n",
        "        return x.permute(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)\n",
        "        return torch.cat([x] * 64, dim=70000000000)\n",
        "        a, b = self.shape\n        return x[a:b]\n",
        "        f = [lambda t: t + y for y in [x, x]]\n"
        "        return f[0](f[1](x))\n",
        "        l = [x]\n        for i in range(32):\n"
        "            for j in range(32):\n                l = l + l\n"
        "        return l[0]\n",
    };
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct facts f = {0};
        inferred(&f, arena_printf(&a,
                                  "%sclass M(nn.Module):\n"
                                  "    def forward(self, x):\n%s",
                                  head, bodies[i]));
        facts_release(&f);
    }
    for (int pattern = 0; pattern < 2; pattern++) {
        struct buf deep = BUF_INIT(1 << 20);
        struct facts f = {0};
        buf_adds(&deep, head);
        buf_adds(&deep, "class M(nn.Module):\n    def forward(self, x):\n"
                        "        ");
        buf_adds(&deep, pattern ? "" : "return ");
        for (int i = 0; i < 5000; i++)
            buf_adds(&deep, pattern ? "(" : "-(");
        buf_adds(&deep, "x");
        for (int i = 0; i < 5000; i++)
            buf_adds(&deep, pattern ? ",)" : ")");
        buf_adds(&deep, pattern ? " = x\n        return x\n" : "\n");
        inferred(&f, deep.p);
        facts_release(&f);
        buf_release(&deep);
    }
}
END_TEST

Suite *infer_suite(void)
{
    Suite *suite = suite_create("infer");
    TCase *t = tcase_create("infer");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_sums_and_products);
    tcase_add_test(t, test_equalities_are_solved);
    tcase_add_test(t, test_floors_are_inverted);
    tcase_add_test(t, test_needs_move_what_is_free);
    tcase_add_test(t, test_what_is_too_large);
    tcase_add_test(t, test_long_chains);
    tcase_add_loop_test(t, test_shapes, 0, ARRAY_LEN(shape_cases));
    tcase_add_test(t, test_numbers_of_the_constructor);
    tcase_add_test(t, test_hostile_sources);
    suite_add_tcase(suite, t);
    return suite;
}
