/* SPDX-License-Identifier: MIT */
/* Configurations as Python. */
#include "base.h"

#include <check.h>

#include "clean/config.h"

Suite *clean_config_suite(void);

/* The Python of YAML is WANT; NULL: there is none. */
static void same(const char *yaml, const char *want)
{
    struct buf b = BUF_INIT(1u << 20);
    struct config_lines lines = {0};
    int rc = config_python(&b, &lines, span_str(yaml));
    size_t n = 0;

    ck_assert_msg((rc == 0) == (want != NULL), "%s: %s", yaml, b.p);
    if (want) {
        ck_assert_msg(strcmp(b.p, want) == 0, "%s:\n%s\nnot\n%s", yaml, b.p,
                      want);
        for (size_t i = 0; i < b.n; i++)
            n += b.p[i] == '\n';
        ck_assert_uint_eq(lines.of.n, n);
    }
    array_release(&lines.of);
    buf_release(&b);
}

/* SCALAR as the only argument of a class is VALUE. */
static void scalar(const char *tag, const char *yaml, const char *value)
{
    char *in = xasprintf("%s\nx: %s\n", tag, yaml);
    char *out =
        xasprintf("import p\nn%d_ = p.C(x=%s, )\n", *tag == '!' ? 0 : 2, value);

    if (*tag != '!') {
        free(in);
        in = xasprintf("a:\n  _target_: p.C\n  x: %s\n", yaml);
    }
    same(in, out);
    free(in);
    free(out);
}

static const char *const scalars[][2] = {
    {"12", "12"},
    {"-1_000", "-1000"},
    {"0", "0"},
    {"010", "8"},
    {"08", "'08'"},
    {"0x1F", "31"},
    {"0b11", "3"},
    {"99999999999999999999", "..."},
    {"1:30", "..."},
    {"1.5", "1.5"},
    {"+.5", "0.5"},
    {"2.", "2.0"},
    {"1e-3", "0.001"},
    {"1e400", "..."},
    {".inf", "..."},
    {"1.2.3", "'1.2.3'"},
    {"1e", "'1e'"},
    {"~", "None"},
    {"", "None"},
    {"null", "None"},
    {"yes", "True"},
    {"Off", "False"},
    {"nO", "'nO'"},
    {"'12'", "'12'"},
    {"!!str 12", "'12'"},
    {"it's", "\"it's\""},
    {"'\"'", "'\"'"},
    {"\"a\\n\"", "..."},
    {"a\\b", "..."},
    {"[1, [a, true]]", "[1, ['a', True, ], ]"},
    {"{a: {b: 1}, 2: 3}", "{'a': {'b': 1, }, 2: 3, }"},
    {"!!python/tuple [1, 2]", "(1, 2, )"},
    {"!Other 1", "..."},
    {"!Other [1]", "..."},
};

START_TEST(plain)
{
    for (size_t i = 0; i < ARRAY_LEN(scalars); i++) {
        scalar("!new:p.C", scalars[i][0], scalars[i][1]);
        if (!strstr(scalars[i][0], "!Other"))
            scalar("", scalars[i][0], scalars[i][1]);
    }
}
END_TEST

START_TEST(hyper)
{
    scalar("!new:p.C", "(3, 4.5, -1)", "((3, 4.5, -1))");
    scalar("!new:p.C", "!tuple (1,)", "...");
    scalar("!new:p.C", "(a)", "...");
    scalar("!new:p.C", "!ref <nothing>", "...");
    scalar("!new:p.C", "!ref 3 * (2 + 1) // 2 ** 2", "(3 * (2 + 1) // 2 ** 2)");
    scalar("!new:p.C", "!ref 3 4", "...");
    scalar("!new:p.C", "!ref (3", "...");
    scalar("!new:p.C", "!ref 3)", "...");
    scalar("!new:p.C", "!ref 3 *", "...");
    scalar("!new:p.C", "!ref 0x10", "...");
    scalar("!new:p.C", "!ref __import__('os')", "...");
    scalar("!new:p.C", "!apply:os.getcwd []", "...");
    scalar("!new:p.C", "!apply:os.getcwd", "...");
    scalar("!new:p.C", "!include:other.yaml", "...");
    scalar("!new:p.C", "${a}", "'${a}'");
    same("a: 2\n"
         "d: {k: [5, 6]}\n"
         "net: !new:q.r.Net\n"
         "  dim: !ref <a> * 2\n"
         "  k: !ref <d[k][1]>\n"
         "  act: !name:torch.nn.ReLU\n"
         "  norm: !name:torch.nn.LayerNorm {eps: 1e-6}\n"
         "  path: !ref <a>/<a>/save\n"
         "  open: !ref <a>/\n"
         "two: !new:q.Two\n- !ref <net>\n- !new:q.Three\n",
         "import q.r\nimport torch.nn\nimport functools\nimport q\n"
         "n10_ = q.r.Net(dim=(n2_ * 2), k=(n8_), act=torch.nn.ReLU, "
         "norm=functools.partial(torch.nn.LayerNorm, eps=9.9999999999999995e-07"
         ", ), path=..., open=..., )\n"
         "n26_ = q.Two((n10_), n28_, )\n"
         "n28_ = q.Three()\n"
         "n2_ = 2\n"
         "n8_ = 6\n");
}
END_TEST

START_TEST(target)
{
    scalar("", "${b}", "...");
    scalar("", "${oc.env:HOME}", "...");
    scalar("", "a${x}", "...");
    scalar("", "\"@b#c\"", "...");
    scalar("", "$3 * 2", "(3 * 2)");
    scalar("", "$open('x')", "...");
    scalar("", "'%b'", "...");
    scalar("", "(3, 4)", "'(3, 4)'");
    same("dim: 4\n"
         "net:\n"
         "  _target_: a.Net\n"
         "  _args_: [1, 2]\n"
         "  _convert_: all\n"
         "  dim: ${dim}\n"
         "  twice: ${.dim}\n"
         "  up: ${..more[0].x}\n"
         "  act: {_target_: torch.nn.GELU, _partial_: true}\n"
         "  norm: {_target_: torch.nn.LayerNorm, _partial_: true, eps: 1}\n"
         "more:\n"
         "- {x: 3}\n",
         "import a\nimport torch.nn\nimport functools\n"
         "n4_ = a.Net(1, 2, dim=n2_, twice=n14_, up=n37_, act=torch.nn.GELU, "
         "norm=functools.partial(torch.nn.LayerNorm, eps=1, ), )\n"
         "n2_ = 4\n"
         "n14_ = n2_\n"
         "n37_ = 3\n");
    same("{\"n\": 3, \"net\": {\"_target_\": \"UNet\", \"c\": \"@n\", "
         "\"d\": \"$@n * 2\", \"e\": \"@net#c\"}}\n",
         "n4_ = UNet(c=(n2_), d=(n2_ * 2), e=(n8_), )\nn2_ = 3\n"
         "n8_ = (n2_)\n");
    same("defaults: [a]\n_target_: a.Net\nx: {defaults: 1}\n",
         "import a\nn0_ = a.Net(x={'defaults': 1, }, )\n");
    same("- class_path: a.Net\n  init_args: {x: 1}\n- class_path: Net\n"
         "- target: b.Net\n  params: {x: 2}\n- target: a.Net\n  params: 3\n",
         "import a\nimport b\nn1_ = a.Net(x=1, )\nn11_ = b.Net(x=2, )\n");
}
END_TEST

START_TEST(aliases)
{
    same("a: &a {x: 1}\nb: &b [*a]\nc: !new:p.C\n  <<: *a\n  y: *b\n"
         "d: !new:p.C {z: *a}\n",
         "import p\nn9_ = p.C(**n2_, y=n6_, )\nn15_ = p.C(z=n2_, )\n"
         "n2_ = {'x': 1, }\nn6_ = [n2_, ]\n");
    /* one that holds itself */
    same("a: &a [*a]\nb: !new:p.C [*a]\n",
         "import p\nn5_ = p.C(n2_, )\nn2_ = [n2_, ]\n");
    same("b: !new:p.C [*a]\n", NULL);
}
END_TEST

/* What is broken, or makes nothing. */
START_TEST(nothing)
{
    same("", NULL);
    same("a: 1\n", NULL);
    same("a: [1\nb: !new:p.C\n", NULL);
    same("a: !new:p.C {b: [}\n", NULL);
    same("a: !new:p.C {b c: 1}\n", NULL);
    same("a: !new:p.C {class: 1}\n", NULL);
    same("a: !new:p.C {[1]: 1}\n", NULL);
    same("a: !new:p.C text\n", NULL);
    same("a: !new:p..C\n", NULL);
    same("a: !new:p.if.C\n", NULL);
    same("a: !name:p.C\n", NULL);
    same("a: {_target_: 'p.C(1)'}\n", NULL);
    same("a: {_target_: p.C, _args_: 3}\n", NULL);
    same("a: {_target_: }\n", NULL);
    same("target: 80%\n", NULL);
    same("{{ template }}\n", NULL);
    same("a: 1\n---\nb: !new:p.C\n", NULL);
}
END_TEST

START_TEST(bounds)
{
    struct buf b = BUF_INIT(8u << 20);

    /* nesting */
    ck_assert_int_eq(buf_adds(&b, "a: !new:p.C [1]\nb: "), 0);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(buf_addc(&b, '['), 0);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(buf_addc(&b, ']'), 0);
    same(b.p, NULL);
    /* nodes */
    buf_clear(&b);
    ck_assert_int_eq(buf_adds(&b, "a: !new:p.C [1]\nb:\n"), 0);
    for (int i = 0; i < 30000; i++)
        ck_assert_int_eq(buf_adds(&b, "- 1\n"), 0);
    same(b.p, NULL);
    /* aliases of aliases: a statement each */
    buf_clear(&b);
    ck_assert_int_eq(buf_adds(&b, "k0: &k0 1\n"), 0);
    for (int i = 1; i < 30; i++)
        ck_assert_int_eq(
            buf_printf(&b, "k%d: &k%d [*k%d, *k%d]\n", i, i, i - 1, i - 1), 0);
    ck_assert_int_eq(buf_adds(&b, "a: !new:p.C [*k29]\n"), 0);
    {
        struct buf out = BUF_INIT(1u << 20);
        struct config_lines lines = {0};

        ck_assert_int_eq(config_python(&out, &lines, buf_span(&b)), 0);
        ck_assert_uint_lt(out.n, 1000);
        ck_assert_uint_eq(lines.of.n, 32);
        ck_assert_uint_eq(lines.of.v[1], 31);
        array_release(&lines.of);
        buf_release(&out);
    }
    buf_release(&b);
}
END_TEST

Suite *clean_config_suite(void)
{
    Suite *s = suite_create("clean_config");
    TCase *t = tcase_create("config");

    tcase_add_test(t, plain);
    tcase_add_test(t, hyper);
    tcase_add_test(t, target);
    tcase_add_test(t, aliases);
    tcase_add_test(t, nothing);
    tcase_add_test(t, bounds);
    suite_add_tcase(s, t);
    return s;
}
