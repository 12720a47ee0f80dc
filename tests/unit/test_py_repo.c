/* SPDX-License-Identifier: MIT */
/* Names over several files, and which classes are nn.Modules. */
#include "base.h"

#include <check.h>

#include "py/pyrepo.h"

Suite *py_repo_suite(void);

static struct err e;
static struct pyparser *parser;
static struct pyrepo *repo;

static void setup(void)
{
    parser = pyparser_new(&e);
    ck_assert_ptr_nonnull(parser);
    repo = pyrepo_new();
}

static void teardown(void)
{
    pyrepo_free(repo);
    pyparser_free(parser);
}

static void add(const char *path, const char *text)
{
    struct pymod *m = pymod_new(parser, path, span_str(text), &e);

    ck_assert_msg(m != NULL, "%s", e.msg);
    pyrepo_add(repo, m);
}

/* What DOTTED means in PATH: kind, then the name. */
static void means(const char *path, const char *dotted, enum pyref_kind kind,
                  const char *name)
{
    struct pymod *m = pyrepo_find(repo, span_str(path));
    ck_assert_ptr_nonnull(m);
    struct pyref ref = pyrepo_resolve(repo, m, PY_AT_MODULE, span_str(dotted));
    struct span s = pyrepo_ref_name(repo, ref);

    ck_assert_msg(ref.kind == kind && span_is(s, name),
                  "%s in %s: kind %d, '%.*s'", dotted, path, (int)ref.kind,
                  (int)s.n, s.p ? s.p : "");
}

static bool is_module(const char *path, const char *qual)
{
    struct pymod *m = pyrepo_find(repo, span_str(path));
    ck_assert_ptr_nonnull(m);
    const struct pydef *d = pymod_def(m, span_str(qual));
    ck_assert_ptr_nonnull(d);
    return pyrepo_is_module_class(repo, m, d);
}

START_TEST(test_external)
{
    add("a.py", "import torch\nimport torch.nn as nn\n"
                "from torch import nn as n2\nfrom torch.nn import Module as M\n"
                "import torch.nn.functional\nimport numpy as np\n");
    means("a.py", "torch.nn.Module", PYREF_EXTERNAL, "torch.nn.Module");
    means("a.py", "nn.Linear", PYREF_EXTERNAL, "torch.nn.Linear");
    means("a.py", "n2.Linear", PYREF_EXTERNAL, "torch.nn.Linear");
    means("a.py", "M", PYREF_EXTERNAL, "torch.nn.Module");
    means("a.py", "torch.nn.functional.relu", PYREF_EXTERNAL,
          "torch.nn.functional.relu");
    means("a.py", "np.pi", PYREF_EXTERNAL, "numpy.pi");
    means("a.py", "super", PYREF_BUILTIN, "super");
    means("a.py", "unknown", PYREF_NONE, "");
}
END_TEST

/* A file that has the name of a package is not that package. */
START_TEST(test_names_of_packages)
{
    add("utils/torch.py", "import torch\nfrom torch.amp import autocast\n");
    add("utils/types.py", "x = 1\n");
    add("utils/other.py", "import types\nfrom .types import x\n"
                          "from torch import nn\n");
    add("einops/__init__.py", "def rearrange(): pass\n");
    add("run.py", "from einops import rearrange\n");
    means("utils/torch.py", "torch.nn", PYREF_EXTERNAL, "torch.nn");
    means("utils/torch.py", "autocast", PYREF_EXTERNAL, "torch.amp.autocast");
    means("utils/other.py", "types.X", PYREF_EXTERNAL, "types.X");
    means("utils/other.py", "nn.Linear", PYREF_EXTERNAL, "torch.nn.Linear");
    means("utils/other.py", "x", PYREF_SYM, "utils.types.x");
    means("run.py", "rearrange", PYREF_SYM, "einops.rearrange");
}
END_TEST

START_TEST(test_imports_within)
{
    add("pkg/__init__.py", "from .layers import Block, helper as h\n"
                           "from . import sub\n");
    add("pkg/layers.py", "class Block: pass\ndef helper(): pass\n");
    add("pkg/sub/__init__.py", "from ..layers import *\n__all__ = ['x']\n");
    add("pkg/sub/deep.py", "from ... import nothing\n"
                           "from ..layers import Block as B\n"
                           "from .. import Block as B2\n"
                           "import pkg.layers\n"
                           "import pkg.layers as L\n"
                           "from pkg import sub, missing\n");
    add("main.py", "from pkg import *\nimport pkg\n");
    means("pkg/__init__.py", "Block", PYREF_SYM, "pkg.layers.Block");
    means("pkg/__init__.py", "h", PYREF_SYM, "pkg.layers.helper");
    means("pkg/__init__.py", "sub", PYREF_MODULE, "pkg.sub");
    means("pkg/sub/deep.py", "B", PYREF_SYM, "pkg.layers.Block");
    means("pkg/sub/deep.py", "B2.x.y", PYREF_SYM, "pkg.layers.Block.x.y");
    means("pkg/sub/deep.py", "pkg.layers.helper", PYREF_SYM,
          "pkg.layers.helper");
    means("pkg/sub/deep.py", "L.Block", PYREF_SYM, "pkg.layers.Block");
    means("pkg/sub/deep.py", "sub.Block", PYREF_SYM, "pkg.layers.Block");
    means("pkg/sub/deep.py", "nothing", PYREF_NONE, "");
    means("pkg/sub/deep.py", "missing", PYREF_NONE, "");
    means("main.py", "Block", PYREF_SYM, "pkg.layers.Block");
    means("main.py", "pkg.sub.deep.B", PYREF_SYM, "pkg.layers.Block");
}
END_TEST

START_TEST(test_star_and_all)
{
    add("a.py", "__all__ = ['x', '_y']\nx = 1\n_y = 2\nz = 3\n");
    add("b.py", "w = 1\n_v = 2\nfrom c import *\n");
    add("c.py", "from b import *\nu = 1\n");
    add("m.py", "from a import *\nfrom b import *\nfrom torch.nn import *\n");
    means("m.py", "x", PYREF_SYM, "a.x");
    means("m.py", "_y", PYREF_SYM, "a._y");
    means("m.py", "w", PYREF_SYM, "b.w");
    means("m.py", "u", PYREF_SYM, "c.u");
    means("m.py", "Linear", PYREF_EXTERNAL, "torch.nn.Linear");
    means("m.py", "z", PYREF_EXTERNAL, "torch.nn.z");
    means("m.py", "print", PYREF_BUILTIN, "print");
}
END_TEST

START_TEST(test_cycles_end)
{
    add("a.py", "from b import x\nfrom a import y\nfrom b import *\n");
    add("b.py", "from a import x\nfrom a import *\n");
    add("p/__init__.py", "from . import q\nfrom .p import r\n");
    add("c.py", "A = B\nB = A\nclass C(D): pass\nclass D(C): pass\n");
    means("a.py", "x", PYREF_NONE, "");
    means("a.py", "y", PYREF_NONE, "");
    means("a.py", "z", PYREF_NONE, "");
    means("p/__init__.py", "q", PYREF_NONE, "");
    ck_assert(!is_module("c.py", "C"));
    struct pymod *m = pyrepo_find(repo, SPAN_LIT("c.py"));
    pyrepo_deref(repo, pyrepo_resolve(repo, m, PY_AT_MODULE, SPAN_LIT("A")));
}
END_TEST

START_TEST(test_roots)
{
    /* absolute imports: package root, top, src/, folders upwards, anywhere */
    add("src/pkg/__init__.py", "");
    add("src/pkg/a.py", "import pkg.b\nimport typing\nfrom helper import h\n"
                        "from tools.x import t\nimport torch\n");
    add("src/pkg/b.py", "v = 1\n");
    add("src/pkg/typing.py", "Optional = 1\n");
    add("src/pkg/torch.py", "");
    add("helper.py", "h = 1\n");
    add("exp/one/tools/x.py", "t = 1\n");
    add("src/tools/x.py", "t = 2\n");
    add("exp/one/run.py", "from tools.x import t\nimport math\n");
    means("src/pkg/a.py", "pkg.b.v", PYREF_SYM, "pkg.b.v");
    means("src/pkg/a.py", "typing.Optional", PYREF_EXTERNAL, "typing.Optional");
    means("src/pkg/a.py", "torch.nn", PYREF_EXTERNAL, "torch.nn");
    means("src/pkg/a.py", "h", PYREF_SYM, "helper.h");
    means("src/pkg/a.py", "t", PYREF_SYM, "tools.x.t");
    means("exp/one/run.py", "t", PYREF_SYM, "exp.one.tools.x.t");
    means("exp/one/run.py", "math.pi", PYREF_EXTERNAL, "math.pi");
}
END_TEST

START_TEST(test_absent_file)
{
    add("pkg/__init__.py", "");
    add("pkg/a.py", "from .gone import X\nfrom pkg.lost import Y\n"
                    "from .never import Z\n");
    pyrepo_add_absent(repo, "pkg/gone.py");
    means("pkg/a.py", "X", PYREF_NONE, "");
    means("pkg/a.py", "Y", PYREF_NONE, "");
    means("pkg/a.py", "Z", PYREF_NONE, "");
}
END_TEST

START_TEST(test_modules)
{
    /* the base's file comes later, and the chain goes over a re-export */
    add("a.py", "from m import Base\nclass A(Base): pass\n"
                "class NotOne(object): pass\n");
    add("m/__init__.py", "from .z import Base\n");
    add("m/z.py", "import torch.nn as nn\n"
                  "class Base(nn.Module): pass\n"
                  "class Twice(Base, dict): pass\n"
                  "Conv = nn.Conv2d\n"
                  "class ByAlias(Conv): pass\n"
                  "class Generic_(Base[int]): pass\n"
                  "class Outer:\n"
                  "    class Inner(nn.Module): pass\n"
                  "    class Inner2(Inner): pass\n"
                  "class OfNested(Outer.Inner): pass\n"
                  "def f(base):\n"
                  "    from torch.nn import Linear as L\n"
                  "    class InFunction(L): pass\n"
                  "    class Dynamic(base): pass\n"
                  "if nn:\n"
                  "    class InIf(nn.Module): pass\n"
                  "try:\n"
                  "    from fast import Norm\n"
                  "except ImportError:\n"
                  "    class Norm(nn.Module): pass\n"
                  "class UsesNorm(Norm): pass\n"
                  "class Base(Base): pass\n"
                  "class P(nn.Parameter): pass\n"
                  "class F(torch.autograd.Function): pass\n");
    /* the class of the branch that a plain machine does not take */
    add("opt/__init__.py", "try:\n"
                           "    from .fast import Fast\n"
                           "except ImportError:\n"
                           "    class Fast: pass\n");
    add("opt/fast.py", "from torch import nn\nclass Fast(nn.Module): pass\n");
    add("opt/use.py", "from opt import Fast\nclass U(Fast): pass\n"
                      "from torch.nn.modules.loss import _Loss, _Reduction\n"
                      "class L(_Loss): pass\nclass R(_Reduction): pass\n");
    ck_assert(is_module("a.py", "A"));
    ck_assert(!is_module("a.py", "NotOne"));
    ck_assert(is_module("opt/use.py", "U"));
    ck_assert(is_module("opt/use.py", "L"));
    ck_assert(!is_module("opt/use.py", "R"));
    static const char *const yes[] = {
        "Base",        "Twice",        "ByAlias",  "Generic_",
        "Outer.Inner", "Outer.Inner2", "OfNested", "f.<locals>.InFunction",
        "InIf",        "Norm",         "UsesNorm"};
    for (size_t i = 0; i < ARRAY_LEN(yes); i++)
        ck_assert_msg(is_module("m/z.py", yes[i]), "%s", yes[i]);
    static const char *const no[] = {"Outer", "f.<locals>.Dynamic", "P", "F"};
    for (size_t i = 0; i < ARRAY_LEN(no); i++)
        ck_assert_msg(!is_module("m/z.py", no[i]), "%s", no[i]);
}
END_TEST

START_TEST(test_look_alikes)
{
    add("flax_model.py", "import flax.linen as nn\n"
                         "class M(nn.Module): pass\n");
    add("own.py", "class Module: pass\nclass N(Module): pass\n");
    add("light.py", "import pytorch_lightning as pl\n"
                    "from lightning.pytorch import LightningModule\n"
                    "import torch\n"
                    "class A(pl.LightningModule): pass\n"
                    "class B(LightningModule): pass\n"
                    "class C(torch.jit.ScriptModule): pass\n"
                    "class D(torch.nn.modules.module.Module): pass\n"
                    "class E(torch.Tensor): pass\n"
                    "class G(pl.LightningDataModule): pass\n"
                    "class H(torch.nn.utils.rnn.PackedSequence): pass\n");
    ck_assert(!is_module("flax_model.py", "M"));
    ck_assert(!is_module("own.py", "N"));
    for (const char *c = "ABCD"; *c; c++)
        ck_assert(is_module("light.py", ((char[2]){*c, 0})));
    for (const char *c = "EGH"; *c; c++)
        ck_assert(!is_module("light.py", ((char[2]){*c, 0})));
}
END_TEST

START_TEST(test_class_of_file_elsewhere)
{
    const struct pymod *at = NULL;

    add("x/__init__.py", "from .y import B as C\n");
    add("x/y.py", "class B: pass\nD = B\n");
    struct pymod *m = pyrepo_find(repo, SPAN_LIT("x/__init__.py"));
    const struct pydef *d = pyrepo_class(
        repo, pyrepo_resolve(repo, m, PY_AT_MODULE, SPAN_LIT("C")), &at);
    ck_assert_ptr_nonnull(d);
    ck_assert(span_is(d->name, "B"));
    ck_assert_str_eq(at->path, "x/y.py");
    m = pyrepo_find(repo, SPAN_LIT("x/y.py"));
    ck_assert_ptr_eq(
        d,
        pyrepo_class(repo, pyrepo_resolve(repo, m, PY_AT_MODULE, SPAN_LIT("D")),
                     NULL));
}
END_TEST

START_TEST(test_files_imported)
{
    struct pymods v = {0};

    add("p/__init__.py", "from .a import x\n");
    add("p/a.py", "import os\nfrom . import b\ndef f():\n    import p.c\n");
    add("p/b.py", "");
    add("p/c.py", "from p.a import *\n");
    pyrepo_imports(repo, pyrepo_find(repo, SPAN_LIT("p/a.py")), &v);
    ck_assert_uint_eq(v.n, 3); /* the package, its submodule, and c */
    ck_assert_str_eq(v.v[0]->path, "p/__init__.py");
    ck_assert_str_eq(v.v[1]->path, "p/b.py");
    ck_assert_str_eq(v.v[2]->path, "p/c.py");
    array_release(&v);
}
END_TEST

START_TEST(test_long_chain_of_classes)
{
    struct buf b = BUF_INIT(PY_MAX_SOURCE);

    ck_assert_int_eq(buf_adds(&b, "from torch import nn\n"), 0);
    for (int i = 5000; i > 0; i--)
        ck_assert_int_eq(buf_printf(&b, "class C%d(C%d): pass\n", i, i - 1), 0);
    ck_assert_int_eq(buf_adds(&b, "class C0(nn.Module): pass\n"), 0);
    add("chain.py", b.p);
    ck_assert(is_module("chain.py", "C5000"));
    buf_release(&b);
}
END_TEST

START_TEST(test_many_stars)
{
    struct buf b = BUF_INIT(PY_MAX_SOURCE);

    for (int i = 0; i < 5000; i++)
        ck_assert_int_eq(buf_printf(&b, "from m%d import *\n", i), 0);
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(buf_printf(&b, "class A%d(B%d): pass\n", i, i), 0);
    add("stars.py", b.p);
    ck_assert(!is_module("stars.py", "A0"));
    buf_release(&b);
}
END_TEST

Suite *py_repo_suite(void)
{
    Suite *s = suite_create("py_repo");
    TCase *t = tcase_create("py_repo");

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_external);
    tcase_add_test(t, test_names_of_packages);
    tcase_add_test(t, test_imports_within);
    tcase_add_test(t, test_star_and_all);
    tcase_add_test(t, test_cycles_end);
    tcase_add_test(t, test_roots);
    tcase_add_test(t, test_absent_file);
    tcase_add_test(t, test_modules);
    tcase_add_test(t, test_look_alikes);
    tcase_add_test(t, test_class_of_file_elsewhere);
    tcase_add_test(t, test_files_imported);
    tcase_add_test(t, test_long_chain_of_classes);
    tcase_add_test(t, test_many_stars);
    suite_add_tcase(s, t);
    return s;
}
