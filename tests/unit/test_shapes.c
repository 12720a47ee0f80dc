/* SPDX-License-Identifier: MIT */
/* Shapes told in docstrings and comments, and what testgen makes of them. */
#include "base.h"

#include <check.h>

#include "clean/shapes.h"
#include "testgen/propose.h"
#include "testgen/told.h"

Suite *shapes_suite(void);

static struct arena a = ARENA_INIT;
static struct pyparser *parser;

static void setup(void)
{
    struct err e;
    parser = pyparser_new(&e);
    ck_assert_ptr_nonnull(parser);
}

static void teardown(void)
{
    pyparser_free(parser);
    arena_release(&a);
}

static const char *as_json(const struct val *v)
{
    struct buf b = BUF_INIT(1 << 16);
    ck_assert_int_eq(v ? val_json(&b, v) : buf_adds(&b, "nothing"), 0);
    const char *s = arena_strdup(&a, buf_span(&b));
    buf_release(&b);
    return s;
}

struct told_case {
    const char *doc, *want;
};

static const struct told_case told_cases[] = {
    {"\"\"\"x: (B, N, C)\"\"\"", "{\"x\":[\"B\",\"N\",\"C\"]}"},
    {"\"\"\"\n        Args:\n            x (torch.Tensor): of shape "
     "`(batch, dim)`, and\n            mask (Tensor, optional): [B, 1, T+1]\n"
     "        \"\"\"",
     "{\"x\":[\"batch\",\"dim\"],\"mask\":[\"B\",\"1\",\"T+1\"]}"},
    {"\"\"\"x: tensor\n            of shape (B, C, H, W)\"\"\"",
     "{\"x\":[\"B\",\"C\",\"H\",\"W\"]}"},
    {"\"\"\"Shape:\n        - Input: :math:`(N, C, L)`\n\"\"\"",
     "{\"x\":[\"N\",\"C\",\"L\"]}"},
    {"# mask: (B, T)", "{\"mask\":[\"B\",\"T\"]}"},
    {"# x is (B,) and later (B, 2)", "{\"x\":[\"B\"]}"},
    /* none of these is a shape of an argument */
    {"y = x.view(b, c)", "nothing"},
    {"print('x (B, N)')", "nothing"},
    {"# x (0, 1)", "nothing"},
    {"# x (see the paper, section two)", "nothing"},
    {"# x: (N, *)", "nothing"},
    {"# max (B, N)", "nothing"},
    {"# x (A, B, C, D, E, F, G)", "nothing"},
    {"# x (B, N", "nothing"},
    {"'''x (B, N)", "{\"x\":[\"B\",\"N\"]}"},
};

START_TEST(test_told)
{
    const struct told_case *c = &told_cases[_i];
    struct err e;
    struct pymod *m =
        pymod_new(parser, "m.py",
                  span_str(arena_printf(&a,
                                        "class M(nn.Module):\n"
                                        "    def forward(self, x, mask=None):\n"
                                        "        %s\n        return x\n",
                                        c->doc)),
                  &e);
    const struct pydef *d = pymod_def(m, SPAN_LIT("M"));
    ck_assert_ptr_nonnull(d);
    ck_assert_str_eq(as_json(shapes_told(&a, m, d)), c->want);
    pymod_free(m);
}
END_TEST

START_TEST(test_states)
{
    static const char *const cases[][2] = {
        {"{\"x\": [\"B\", \"T\"], \"y\": [\"T\", \"dim\", \"7\"]}",
         "x=2,48 y=48,48,7"},
        {"{\"x\": [\"B\", \"C\", \"H\", \"W\"]}", "x=2,48,32,32 y=2,16,48"},
        {"{\"x\": 7, \"y\": [3, null], \"z\": [\"B\"]}", "nothing"},
        {"[1]", "nothing"},
    };
    struct facts f = {0};
    struct err e;
    ck_assert_int_eq(
        facts_read(&f, parser,
                   SPAN_LIT("from torch import nn\nclass M(nn.Module):\n"
                            "    def __init__(self, dim=48):\n"
                            "        super().__init__()\n"
                            "    def forward(self, x, y):\n"
                            "        return x + y\n"),
                   SPAN_LIT("M"), &e),
        0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = BUF_INIT(1000);
        struct val *shapes, *v;
        ck_assert_int_eq(val_parse_json(&a, span_str(cases[i][0]),
                                        VAL_JSON_STRICT, &shapes, &e),
                         0);
        v = told_state(&a, &f, propose_state(&a, &f), shapes);
        if (!v)
            buf_adds(&out, "nothing");
        for (size_t k = 0; v && k < 2; k++) {
            const struct val *l =
                val_get(val_get(val_get(v, "in"), k ? "y" : "x"), "shape");
            buf_printf(&out, k ? " y=" : "x=");
            for (size_t n = 0; n < val_len(l); n++)
                buf_printf(&out, "%s%lld", n ? "," : "",
                           (long long)val_as_int(val_at(l, n), 0));
        }
        ck_assert_str_eq(out.p, cases[i][1]);
        buf_release(&out);
    }
    facts_release(&f);
}
END_TEST

Suite *shapes_suite(void)
{
    Suite *s = suite_create("shapes");
    TCase *t = tcase_create("shapes");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, test_told, 0, ARRAY_LEN(told_cases));
    tcase_add_test(t, test_states);
    suite_add_tcase(s, t);
    return s;
}
