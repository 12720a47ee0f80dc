/* SPDX-License-Identifier: MIT */
/* What expressions are worth that nobody runs. */
#include "base.h"

#include <check.h>

#include "clean/inputs.h"

Suite *clean_calls_suite(void);

static const char other[] = "import argparse\n"
                            "WIDTH = 8 * 4\n"
                            "class Config:\n"
                            "    depth: int = 3\n"
                            "    rate = 0.5\n";

static const char file[] =
    "import argparse\n"
    "import torch, functools\n"
    "from torch import nn\n"
    "from torch.autograd import Variable\n"
    "from other import WIDTH, Config\n"
    "import other as o\n"
    "parser = argparse.ArgumentParser()\n"
    "parser.add_argument('-d', '--the-dim', type=int, default=24)\n"
    "parser.add_argument('--fast', action='store_true')\n"
    "args = parser.parse_args()\n"
    "sizes = [4, 5]\n"
    "a, b = 6, 7\n"
    "loop = loop + 1\n"
    "left = right\n"
    "right = left\n"
    "conf = Config(depth=9)\n"
    "x = torch.rand(2, 3).cuda()\n"
    "x = x.view(1, 6)\n"
    "class Act(nn.Module):\n"
    "    pass\n"
    "class Case:\n"
    "    batch = 2\n"
    "    def __init__(self, width=16, other=None, flag=sizes):\n"
    "        self.width = width\n"
    "    def run(self, c: Config, n, k=-1):\n"
    "        for size in (10, 20):\n"
    "            result = HERE\n";

/* EXPR in the place of HERE. */
struct world {
    struct arena arena;
    struct pyparser *parser;
    struct statics statics;
    struct pymod *mods[2];
    struct sfile *f;
    TSNode node;
};

static void make(struct world *w, const char *expr)
{
    const char *at = strstr(file, "HERE");
    struct err e;
    char *text;

    memset(w, 0, sizeof(*w));
    text = arena_printf(&w->arena, "%.*s%s\n", (int)(at - file), file, expr);
    w->parser = pyparser_new(&e);
    w->mods[0] = pymod_new(w->parser, "other.py", span_str(other), &e);
    w->mods[1] = pymod_new(w->parser, "case.py", span_str(text), &e);
    ck_assert_ptr_nonnull(w->mods[0]);
    ck_assert_ptr_nonnull(w->mods[1]);
    statics_init(&w->statics, w->parser, &w->arena);
    statics_add(&w->statics, w->mods[0]);
    w->f = statics_add(&w->statics, w->mods[1]);
    w->node = statics_node(&w->statics, w->f, (uint32_t)(at - file),
                           (uint32_t)(at - file + strlen(expr)));
    statics_begin(&w->statics);
}

static void drop(struct world *w)
{
    statics_release(&w->statics);
    pymod_free(w->mods[0]);
    pymod_free(w->mods[1]);
    pyparser_free(w->parser);
    arena_release(&w->arena);
}

static void same(const struct val *v, const char *expr, const char *want)
{
    struct buf b = BUF_INIT(1u << 16);

    if (!v) {
        ck_assert_msg(!want, "%s: unknown, not %s", expr, want);
        return;
    }
    ck_assert_int_eq(val_json(&b, v), 0);
    ck_assert_int_eq(buf_addc(&b, '\0'), 0);
    ck_assert_msg(want && strcmp(b.p, want) == 0, "%s: %s, not %s", expr, b.p,
                  want ? want : "unknown");
    buf_release(&b);
}

static const char *const values[][2] = {
    {"1_000", "1000"},
    {"0x10", NULL},
    {"-2.5e1", "-25.0"},
    {"'abc'", "\"abc\""},
    {"f'a{b}'", NULL},
    {"'a\\n'", NULL},
    {"b'a'", NULL},
    {"None", "null"},
    {"(1)", "1"},
    {"(1, True)", "{\"tuple\":[1,true]}"},
    {"[1] * 3 + sizes", "[1,1,1,4,5]"},
    {"[1] * 10000000", NULL},
    {"{'a': {'b': 1}}", "{\"dict\":{\"a\":{\"dict\":{\"b\":1}}}}"},
    {"{1: 2}", NULL},
    {"dict(a=1, **{'b': 2})", "{\"dict\":{\"a\":1,\"b\":2}}"},
    {"7 // 2 - 7 % 4", "0"},
    {"-7 // 2", "-4"},
    {"1 / 0", NULL},
    {"1 // 0", NULL},
    {"1 % 0", NULL},
    {"2 ** 5", "32"},
    {"9 ** 99", NULL},
    {"9223372036854775807 + 1", NULL},
    {"WIDTH", "32"},
    {"o.WIDTH // 2", "16"},
    {"o.NONE", NULL},
    {"b", "7"},
    {"loop", NULL},
    {"left", NULL},
    {"sizes[-1]", "5"},
    {"sizes[2]", NULL},
    {"sizes[-9]", NULL},
    {"args.the_dim", "24"},
    {"args.fast", "false"},
    {"args.other", NULL},
    {"conf.depth", "9"},
    {"conf.rate", "0.5"},
    {"c.depth", "3"},
    {"c.none", NULL},
    {"n", NULL},
    {"k", "-1"},
    {"size", "10"},
    {"self.width", "16"},
    {"self.batch", "2"},
    {"self.none", NULL},
    {"1 if self.batch else 2", NULL},
    {"1 if args.fast else 2", "2"},
    {"nn.GELU", "{\"name\":\"torch.nn.GELU\"}"},
    {"nn.Linear(3, bias=False)",
     "{\"call\":\"torch.nn.Linear\",\"args\":[3],\"kw\":{\"bias\":false}}"},
    {"nn.Linear(n)", NULL},
    {"Act", "{\"own\":[\"case.py\",\"Act\"]}"},
    {"Act()",
     "{\"call\":{\"own\":[\"case.py\",\"Act\"]},\"args\":[],\"kw\":{}}"},
    {"functools.partial(nn.LayerNorm, eps=1e-6)",
     "{\"call\":\"functools.partial\",\"args\":[{\"name\":\"torch.nn."
     "LayerNorm\"}],\"kw\":{\"eps\":1e-06}}"},
    {"open('x')", NULL},
    {"print", NULL},
    {"lambda: 1", NULL},
};

static const char *const tensors[][2] = {
    {"torch.randn(2, 3)", "[2,3] float32 normal"},
    {"torch.rand((2, n))", "[2,null] float32 uniform"},
    {"torch.ones(n)", NULL},
    {"torch.zeros(size=(2, self.width))", "[2,16] float32 uniform"},
    {"torch.rand(1, 0)", NULL},
    {"torch.randint(0, 9, (2, 4))", "[2,4] int64 int 0..8"},
    {"torch.randint(5, (2,), dtype=torch.int32)", "[2] int32 int 0..4"},
    {"torch.arange(6)", "[6] int64 int 0..5"},
    {"torch.arange(2, 4)", "[2] int64 int 2..3"},
    {"torch.tensor([[1, 2], [3, 4]])", "[2,2] int64 int 1..4"},
    {"torch.randn(3).unsqueeze(0).to('cuda')", "[1,3] float32 normal"},
    {"torch.randn(3).unsqueeze(9)", NULL},
    {"torch.ones(2, 5).bool()", "[2,5] bool bool"},
    {"torch.rand(2) > 0.5", "[2] bool bool"},
    {"Variable(torch.rand(2) * 2)", "[2] float32 uniform"},
    {"torch.randn_like(torch.rand(4))", "[4] float32 uniform"},
    {"x", "[1,6] float32 uniform"},
    {"torch.load('a')", NULL},
};

START_TEST(expressions)
{
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        struct world w;

        make(&w, values[i][0]);
        same(statics_value(&w.statics, w.f, w.node), values[i][0],
             values[i][1]);
        drop(&w);
    }
}
END_TEST

START_TEST(inputs)
{
    for (size_t i = 0; i < ARRAY_LEN(tensors); i++) {
        struct world w;
        struct buf b = BUF_INIT(4096);
        const char *want = tensors[i][1];
        const struct val *v;

        make(&w, tensors[i][0]);
        v = inputs_value(&w.statics, w.f, w.node);
        ck_assert_msg(!v == !want, "%s", tensors[i][0]);
        if (v) {
            struct span dtype = val_gets(v, "dtype"), d = val_gets(v, "dist");

            ck_assert_int_eq(val_json(&b, val_get(v, "shape")), 0);
            (void)buf_printf(&b, " %.*s %.*s", (int)dtype.n, dtype.p, (int)d.n,
                             d.p);
            if (val_get(v, "hi"))
                (void)buf_printf(&b, " %d..%d", (int)val_geti(v, "lo", -1),
                                 (int)val_geti(v, "hi", -1));
            ck_assert_msg(span_is(buf_span(&b), want), "%s: %.*s, not %s",
                          tensors[i][0], (int)b.n, b.p, want);
        }
        buf_release(&b);
        drop(&w);
    }
}
END_TEST

/* What would not end, or grow without bound, is not known. */
START_TEST(bounds)
{
    static const char *const deep[] = {"(", "[", "-", "nn.Linear("};
    struct buf b = BUF_INIT(1u << 16);
    struct world w;

    for (size_t i = 0; i < ARRAY_LEN(deep); i++) {
        buf_clear(&b);
        for (int k = 0; k < 60; k++)
            ck_assert_int_eq(buf_adds(&b, deep[i]), 0);
        ck_assert_int_eq(buf_adds(&b, "1"), 0);
        for (int k = 0; k < 60 && i != 2; k++)
            ck_assert_int_eq(buf_adds(&b, i == 1 ? "]" : ")"), 0);
        ck_assert_int_eq(buf_addc(&b, '\0'), 0);
        make(&w, b.p);
        ck_assert_ptr_null(statics_value(&w.statics, w.f, w.node));
        drop(&w);
    }
    buf_release(&b);
}
END_TEST

Suite *clean_calls_suite(void)
{
    Suite *s = suite_create("clean_calls");
    TCase *t = tcase_create("calls");

    tcase_add_test(t, expressions);
    tcase_add_test(t, inputs);
    tcase_add_test(t, bounds);
    suite_add_tcase(s, t);
    return s;
}
