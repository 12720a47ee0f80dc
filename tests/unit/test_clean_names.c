/* SPDX-License-Identifier: MIT */
/* What names mean across files, what a walk over a file finds, and which
 * sources count as equal. */
#include "base.h"

#include <check.h>

#include "clean/dup.h"
#include "clean/repo.h"

Suite *clean_names_suite(void);

static struct policy policy;
static struct pyparser *parser;
static struct crepo repo;
static struct err e;

static struct cfile *add(const char *path, const char *text)
{
    ck_assert_msg(
        crepo_add(&repo, parser, span_str(path), span_str(text), NULL, &e) == 0,
        "%s", e.msg);
    return crepo_file(&repo, span_str(path));
}

static void setup(void)
{
    memset(&policy, 0, sizeof(policy));
    parser = pyparser_new(&e);
    ck_assert_ptr_nonnull(parser);
    crepo_init(&repo, &policy);
}

static void teardown(void)
{
    crepo_release(&repo);
    pyparser_free(parser);
}

static const char a_py[] = "import torch\n"
                           "import torch.nn.functional as F\n"
                           "import pkg.b\n"
                           "from . import b, c\n"
                           "from .b import f as g, Deep, looped\n"
                           "from .c import *\n"
                           "from gone import lost\n"
                           "from .gone import lost2\n"
                           "x = 1\n"
                           "try:\n"
                           "    from timm.layers import DropPath\n"
                           "except ImportError:\n"
                           "    from .b import f as DropPath\n"
                           "try:\n"
                           "    import apex\n"
                           "except ImportError:\n"
                           "    apex = None\n"
                           "if x:\n"
                           "    from .c import only\n"
                           "from math import sqrt\n"
                           "from math import sqrt\n"
                           "import packaging\n";

static const char b_py[] = "from torch import nn\n"
                           "from .c import Deep\n"
                           "from .a import looped\n"
                           "def f():\n"
                           "    pass\n";

static const char c_py[] = "__all__ = ['public', 'only']\n"
                           "class Deep: pass\n"
                           "def public(): pass\n"
                           "def hidden(): pass\n"
                           "only = 2\n";

struct meaning {
    const char *dotted; /* in pkg/a.py */
    enum target_kind kind;
    const char *what; /* SYM: path:name; else dotted */
};

static const struct meaning meanings[] = {
    {"torch.nn.Linear", TARGET_EXTERNAL, "torch.nn.Linear"},
    {"F.relu", TARGET_EXTERNAL, "torch.nn.functional.relu"},
    {"x", TARGET_SYM, "pkg/a.py:x"},
    {"x.real", TARGET_SYM, "pkg/a.py:x"},
    {"b.f", TARGET_SYM, "pkg/b.py:f"},
    {"pkg.b.f.a", TARGET_SYM, "pkg/b.py:f"},
    {"b.nn.Linear", TARGET_EXTERNAL, "torch.nn.Linear"},
    {"b", TARGET_MODULE, NULL},
    {"b.nothing", TARGET_NONE, NULL},
    {"g", TARGET_SYM, "pkg/b.py:f"},
    {"Deep", TARGET_SYM, "pkg/c.py:Deep"},
    {"public", TARGET_SYM, "pkg/c.py:public"},
    {"hidden", TARGET_NONE, NULL},
    {"looped", TARGET_NONE, NULL},
    {"lost", TARGET_EXTERNAL, "gone.lost"},
    {"lost2", TARGET_NONE, NULL},
    {"DropPath", TARGET_SYM, "pkg/b.py:f"},
    {"apex.f", TARGET_SYM, "pkg/a.py:apex"},
    {"only", TARGET_SYM, "pkg/c.py:only"},
    {"sqrt", TARGET_EXTERNAL, "math.sqrt"},
    {"len", TARGET_BUILTIN, "len"},
    {"nobody", TARGET_NONE, NULL},
    {"packaging.version", TARGET_EXTERNAL, "packaging.version"},
};

START_TEST(test_meaning)
{
    const struct meaning *x = &meanings[_i];
    struct cfile *f = add("pkg/a.py", a_py);
    struct target t;
    char got[200];

    add("pkg/__init__.py", "");
    add("pkg/b.py", b_py);
    add("pkg/c.py", c_py);
    t = crepo_resolve(&repo, f, (uint32_t)f->m->text.n - 1,
                      span_str(x->dotted));
    ck_assert_int_eq(t.kind, x->kind);
    if (!x->what)
        return;
    if (t.kind == TARGET_SYM)
        snprintf(got, sizeof(got), "%s:%.*s", t.file->m->path, (int)t.name.n,
                 t.name.p);
    else
        snprintf(got, sizeof(got), "%.*s", (int)t.dotted.n, t.dotted.p);
    ck_assert_str_eq(got, x->what);
}
END_TEST

/* A fan of star imports would take for ever without a budget. */
START_TEST(test_star_fan)
{
    char path[40], text[2000];

    for (int i = 0; i < 40; i++) {
        size_t n = 0;

        for (int k = 0; k < 40; k++)
            n += (size_t)snprintf(text + n, sizeof(text) - n,
                                  "from m%d import *\n", k);
        snprintf(path, sizeof(path), "m%d.py", i);
        add(path, text);
    }
    for (int i = 0; i < 20; i++) {
        struct target t =
            crepo_resolve(&repo, crepo_file(&repo, SPAN_LIT("m0.py")), 0,
                          SPAN_LIT("missing"));

        ck_assert_int_eq(t.kind, TARGET_NONE);
    }
}
END_TEST

START_TEST(test_chain_end)
{
    struct cfile *f = add("m.py", "y = (a\n  . b # x.y\n  .c) . d\n");

    ck_assert_uint_eq(chain_end(f->m, 5, 1), 6);
    ck_assert_uint_eq(chain_end(f->m, 5, 2), 12);
    ck_assert_uint_eq(chain_end(f->m, 5, 3), 23);
}
END_TEST

START_TEST(test_order)
{
    struct cfile *a, *b, *init;

    init = add("p/__init__.py", "from .a import f\nlast = 1\n");
    a = add("p/a.py", "x = 1\nfrom . import b\nf = 2\n");
    b = add("p/b.py", "from .a import x\ny = 1\n");
    crepo_order(&repo, b);
    ck_assert_int_lt(a->order[0], b->order[1]);    /* x before y */
    ck_assert_int_lt(b->order[1], a->order[2]);    /* y before f */
    ck_assert_int_lt(a->order[2], init->order[1]); /* f before last */
}
END_TEST

struct blocks {
    const char *text;
    bool optional;
};

static const struct blocks blocks[] = {
    {"if pretrained:\n    f()\n", true},
    {"if weights is not None:\n    f()\n", true},
    {"if not pretrained:\n    f()\n", false},
    {"if pretrained is None:\n    f()\n", false},
    {"if is_apex_available():\n    f()\n", true},
    {"if has_apex and x:\n    f()\n", true},
    {"if has_apex or x:\n    f()\n", false},
    {"if self.has_tokens:\n    f()\n", false},
    {"if _HAS_X:\n    f()\n", true},
    {"if training:\n    f()\n", false},
    {"while pretrained:\n    f()\n", false},
};

START_TEST(test_optional)
{
    const struct blocks *x = &blocks[_i];
    struct cfile *f = add("m.py", x->text);
    int b =
        scan_block_at(&f->scan, (uint32_t)(strstr(x->text, "f()") - x->text));

    ck_assert_int_ge(b, 0);
    ck_assert_int_eq(f->scan.blocks.v[b].optional, x->optional);
    ck_assert_int_eq(scan_block_at(&f->scan, 0), -1);
}
END_TEST

START_TEST(test_scan)
{
    struct cfile *f =
        add("m.py", "try:\n    import a\nexcept ImportError:\n    a = None\n"
                    "try:\n    import b\nexcept ImportError:\n    raise\n"
                    "def f(x, *y: int, z=w, **k):\n    global g\n    g = x\n"
                    "    import c\n    return lambda v=g: v\n"
                    "h: int = 1\nfor i in h: pass\n");
    char names[100] = "";

    ck_assert_uint_eq(f->scan.imports.n, 3);
    ck_assert(f->scan.imports.v[0].guarded);
    ck_assert(!f->scan.imports.v[1].guarded);
    ck_assert(!f->scan.imports.v[2].guarded);
    ck_assert_uint_eq(f->scan.imports.v[2].syms.n, 1);
    for (size_t i = 0; i < f->scan.binders.n; i++) {
        size_t n = strlen(names);

        snprintf(names + n, sizeof(names) - n, "%.*s ",
                 (int)f->scan.binders.v[i].name.n, f->scan.binders.v[i].name.p);
    }
    ck_assert_str_eq(names, "a f g g h i ");
}
END_TEST

struct pair {
    const char *a, *b;
    bool equal;
};

static const struct pair pairs[] = {
    {"def f(a):\n    return a\n", "def g(b): # x\n  return b\n", true},
    {"def f(a, b):\n    return a\n", "def f(a, b):\n    return b\n", false},
    {"def f(a, b):\n    return a\n", "def f(b, a):\n    return b\n", true},
    {"x = 1\ny = x\n", "p = 1\nq = p\n", true},
    {"x = 1\ny = x\n", "x = 1\ny = y\n", false},
    {"x.a\n", "x.b\n", false},
    {"f(a=1)\n", "f(b=1)\n", false},
    {"from a import b\nb\n", "from a import c\nc\n", false},
    {"y = 'a\\n'\n", "y = 'b\\n'\n", false},
    {"y = f'{x}a'\n", "y = f'{x}b'\n", false},
    {"def f(a):\n    'text'\n    return a\n",
     "def f(a):\n    \"other\"\n    return a\n", true},
    {"x = 'a'\n", "x = \"a\"\n", true},
    {"x = b'a'\n", "x = 'a'\n", false},
    {"x = 1.\n", "x = 1e0\n", true},
    {"x = 1.\n", "x = 1\n", false},
    {"f(a, b,)\n", "f(a, b)\n", true},
    {"x = (a,)\n", "x = (a)\n", false},
    {"x = (a, b)\n", "x = a, b\n", true},
    {"x = (a + b) * c\n", "x = a + b * c\n", false},
    {"x = (a * b) + c\n", "x = a * b + c\n", true},
    {"x = (lambda: a)()\n", "x = lambda: a()\n", false},
    {"x: int = 1\n", "x = 1\n", true},
    {"def f(a: int = 2) -> int:\n    return a\n", "def f(a=2):\n    return a\n",
     true},
    {"import torch.nn as nn\nx = nn.ReLU()\n",
     "from torch import nn as layers\nx = layers.ReLU()\n", true},
    {"class A:\n    def f(self):\n        super(A, self).f()\n",
     "class B:\n    def f(self):\n        super().f()\n", true},
    {"def f(a):\n    return a\nf(a=1)\n", "def g(b):\n    return b\ng(b=1)\n",
     true},
    {"if x:\n    a\n    b\n", "if x:\n    a\nb\n", false},
    {"1\n", "2\n", false},
    {"len(x)\n", "sum(x)\n", false},
    {"lambda a, *b: a\n", "lambda c, *d: c\n", true},
    {"[i for i in x]\n", "[j for j in x]\n", true},
};

static void digest(const struct pymod *m, char out[HASH_HEX + 1])
{
    struct tokens t;

    tokens_read(&t, m);
    tokens_digest(&t, 0, out);
    tokens_release(&t);
}

START_TEST(test_digest)
{
    const struct pair *x = &pairs[_i];
    struct pymod *a = pymod_new(parser, "a", span_str(x->a), &e);
    struct pymod *b = pymod_new(parser, "b", span_str(x->b), &e);
    char p[HASH_HEX + 1], q[HASH_HEX + 1];

    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_nonnull(b);
    digest(a, p);
    digest(b, q);
    ck_assert_int_eq(strcmp(p, q) == 0, x->equal);
    pymod_free(a);
    pymod_free(b);
}
END_TEST

Suite *clean_names_suite(void)
{
    Suite *s = suite_create("clean_names");
    TCase *tc = tcase_create("names");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, test_meaning, 0, (int)ARRAY_LEN(meanings));
    tcase_add_test(tc, test_star_fan);
    tcase_add_test(tc, test_chain_end);
    tcase_add_test(tc, test_order);
    tcase_add_loop_test(tc, test_optional, 0, (int)ARRAY_LEN(blocks));
    tcase_add_test(tc, test_scan);
    tcase_add_loop_test(tc, test_digest, 0, (int)ARRAY_LEN(pairs));
    suite_add_tcase(s, tc);
    return s;
}
