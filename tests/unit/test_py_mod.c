/* SPDX-License-Identifier: MIT */
/* The model of one file: statements, definitions, scopes, free names. */
#include "base.h"

#include <check.h>

#include "py/pymod.h"

Suite *py_mod_suite(void);

static struct err e;
static struct pyparser *parser;

static void setup(void)
{
    parser = pyparser_new(&e);
    ck_assert_ptr_nonnull(parser);
}

static void teardown(void)
{
    pyparser_free(parser);
}

static struct pymod *mod(const char *text)
{
    struct pymod *m = pymod_new(parser, "m.py", span_str(text), &e);

    ck_assert_msg(m != NULL, "%s", e.msg);
    return m;
}

/* Free names of the whole definition QUAL (or the file, NULL), as
 * "a b.c=1 ...", the number being a bound scope other than the module's. */
static void reads(struct pymod *m, const char *qual, const char *want)
{
    struct buf b = BUF_INIT(4000);
    struct pyreads r = {0};
    uint32_t start = 0, end = (uint32_t)m->text.n;

    if (qual) {
        const struct pydef *d = pymod_def(m, span_str(qual));
        ck_assert_ptr_nonnull(d);
        start = d->start;
        end = d->end;
    }
    pymod_reads(m, start, end, &r);
    for (size_t i = 0; i < r.n; i++) {
        int rc = buf_printf(&b, "%s%.*s", i ? " " : "", (int)r.v[i].dotted.n,
                            r.v[i].dotted.p);
        if (r.v[i].bound)
            rc |= buf_printf(&b, "=%d", r.v[i].bound);
        ck_assert_int_eq(rc, 0);
    }
    ck_assert_str_eq(b.p, want);
    pyreads_release(&r);
    buf_release(&b);
}

static const struct {
    const char *text, *qual, *want;
} scoping[] = {
    {"def f(a, *b, c=d, **e):\n return a + b + c + e + g\n", "f", "d g"},
    {"def f(x: T = v) -> R:\n y: U = x\n return y\n", "f", "T v R U"},
    {"def f():\n x = [i * k for i in n for j in i if j]\n return i\n", "f",
     "k n i"},
    {"f = lambda a, b=c: a + b + d\n", NULL, "c d"},
    {"class A(B, metaclass=M):\n x = 1\n y = x + z\n"
     " def f(self):\n  return x + self.y\n",
     "A", "B M z x"},
    /* a class body reads outside until it binds the name itself */
    {"class A:\n dim = dim\n d2 = dim\n", "A", "dim"},
    {"def f():\n global g\n g = h\n return g\n", "f", "h g"},
    {"def f():\n n = 0\n def g():\n  nonlocal n\n  n += 1\n  return n\n", "f",
     ""},
    {"def f():\n n = 0\n def g():\n  return n + m\n", "f.<locals>.g", "n=1 m"},
    {"def f():\n with a as (b, c), d as e.g:\n  b, c\n", "f", "a d e.g"},
    {"def f():\n try:\n  a\n except B as b:\n  b\n", "f", "a B"},
    {"def f():\n import a.b, c as d\n from e import g as h\n a, d, h, c\n", "f",
     "c"},
    {"def f():\n if (n := a) > [y := z for z in n][0]: n, y\n", "f", "a"},
    {"def f(s):\n match s:\n  case [a, *b] if a: a, b\n"
     "  case P(x=q) | {'k': v, **r}: q, v, r\n  case A.B: _\n  case c: c\n",
     "f", "P A.B _"},
    {"def f():\n a.b = 1\n c[i] = 2\n d.e.f += 3\n del g.h\n x = y = z\n", "f",
     "a.b c i d.e.f g.h z"},
    {"x = f'{a.b!r:>{w}} {{no}} {c=}'\n", NULL, "a.b w c"},
    {"@d.e(k=v)\ndef f(): pass\n", "f", "d.e v"},
    {"f(a=1, **b)(c).d\n", NULL, "f b c"},
    {"x = a \\\n .b.c\ny = (a\n  .d)\n", NULL, "a.b.c a.d"},
    {"def f():\n x += 1\n", "f", ""},
    {"def f[T: B](a: T) -> T:\n return T\n", "f", ""},
    {"class A:\n def f(self): return super().f(), __class__, self.x.y\n", "A",
     "super __class__"},
    {"async def f():\n async for i in a:\n  await i.b\n", "f", "a"},
    {"def f():\n for i, (j, *k) in a: i, j, k\n else: l\n", "f", "a l"},
    {"def f():\n return 'x' in y, not z, w if v else u, a[b:c, ...]\n", "f",
     "y z w v u a b c"},
    {"x: 'Foo' = None\n", NULL, ""},
};

START_TEST(test_free_names)
{
    struct pymod *m = mod(scoping[_i].text);

    ck_assert_uint_eq(m->error_line, 0);
    reads(m, scoping[_i].qual, scoping[_i].want);
    pymod_free(m);
}
END_TEST

START_TEST(test_flags)
{
    struct pymod *m = mod("@deco\n"
                          "def f(a: ann = dflt):\n"
                          "    call(read)\n"
                          "    obj.attr = 1\n");
    static const struct {
        const char *dotted;
        unsigned flags;
    } want[] = {
        {"deco", PYREAD_DECORATOR},
        {"ann", PYREAD_ANNOTATION},
        {"dflt", 0},
        {"call", PYREAD_DEFERRED | PYREAD_CALL},
        {"read", PYREAD_DEFERRED},
        {"obj.attr", PYREAD_DEFERRED | PYREAD_STORE},
    };

    ck_assert_uint_eq(m->reads.n, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        ck_assert(span_is(m->reads.v[i].dotted, want[i].dotted));
        ck_assert_uint_eq(m->reads.v[i].flags, want[i].flags);
    }
    pymod_free(m);
}
END_TEST

START_TEST(test_statements)
{
    struct pymod *m = mod("\"\"\"doc\"\"\"\n"
                          "# comment\n"
                          "import a\n"
                          "try:\n"
                          "    import b\n"
                          "    X: int = 1\n"
                          "except ImportError:\n"
                          "    b = None\n"
                          "@deco\n"
                          "class C: pass\n"
                          "f(1)\n"
                          "if __name__ == '__main__':\n"
                          "    main()\n"
                          "if TYPE_CHECKING:\n"
                          "    from t import T\n"
                          "x, (y, *z) = 1, (2, 3)\n"
                          "for i in x: w = i\n");
    static const struct {
        enum pystmt_kind kind;
        int parent, n_defs;
        uint32_t line, end_line;
    } want[] = {
        {PYSTMT_DOC, -1, 0, 1, 1},        {PYSTMT_IMPORT, -1, 1, 3, 3},
        {PYSTMT_COMPOUND, -1, 3, 4, 8},   {PYSTMT_IMPORT, 2, 1, 5, 5},
        {PYSTMT_ASSIGN, 2, 1, 6, 6},      {PYSTMT_ASSIGN, 2, 1, 8, 8},
        {PYSTMT_CLASS, -1, 1, 9, 10},     {PYSTMT_EXPR, -1, 0, 11, 11},
        {PYSTMT_COMPOUND, -1, 0, 12, 13}, {PYSTMT_EXPR, 8, 0, 13, 13},
        {PYSTMT_COMPOUND, -1, 1, 14, 15}, {PYSTMT_IMPORT, 10, 1, 15, 15},
        {PYSTMT_ASSIGN, -1, 3, 16, 16},   {PYSTMT_COMPOUND, -1, 2, 17, 17},
        {PYSTMT_ASSIGN, 13, 1, 17, 17},
    };

    ck_assert_uint_eq(m->stmts.n, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        const struct pystmt *s = &m->stmts.v[i];
        ck_assert_msg(s->kind == want[i].kind, "statement %zu", i);
        ck_assert_int_eq(s->parent, want[i].parent);
        ck_assert_int_eq(s->n_defs, want[i].n_defs);
        ck_assert_uint_eq(s->line, want[i].line);
        ck_assert_uint_eq(s->end_line, want[i].end_line);
        ck_assert_int_eq(s->top, s->parent < 0 ? (int)i : s->parent);
        ck_assert_int_eq(pymod_stmt_at(m, s->start), s->top);
        ck_assert(s->is_main == (i == 8 || i == 9));
        ck_assert(s->type_checking == (i == 10 || i == 11));
    }
    const struct pysym *x = pymod_lookup(m, 0, SPAN_LIT("X"));
    ck_assert_int_eq(x->kind, PYSYM_ANNOTATED);
    ck_assert(span_is(pymod_text(m, x->value_start, x->value_end), "1"));
    const struct pysym *b = pymod_lookup(m, 0, SPAN_LIT("b"));
    ck_assert_int_eq(b->kind, PYSYM_ASSIGN);
    ck_assert_int_eq(m->syms.v[b->earlier].kind, PYSYM_IMPORT);
    ck_assert(pymod_lookup(m, 0, SPAN_LIT("z"))->unpacked);
    ck_assert_ptr_null(pymod_lookup(m, 0, SPAN_LIT("none")));
    pymod_free(m);
}
END_TEST

START_TEST(test_imports)
{
    struct pymod *m = mod("from __future__ import annotations\n"
                          "import a.b.c\n"
                          "import a.b as d\n"
                          "from ..e.f import g as h, i\n"
                          "from . import j\n"
                          "from k import *\n");
    const struct pysym *s = pymod_lookup(m, 0, SPAN_LIT("a"));

    ck_assert(m->future_annotations);
    ck_assert(m->has_star);
    ck_assert(span_is(s->module, "a.b.c") && !s->aliased);
    s = pymod_lookup(m, 0, SPAN_LIT("d"));
    ck_assert(span_is(s->module, "a.b") && s->aliased);
    s = pymod_lookup(m, 0, SPAN_LIT("h"));
    ck_assert_int_eq(s->level, 2);
    ck_assert(span_is(s->module, "e.f") && span_is(s->member, "g"));
    s = pymod_lookup(m, 0, SPAN_LIT("j"));
    ck_assert_int_eq(s->level, 1);
    ck_assert_uint_eq(s->module.n, 0);
    s = pymod_lookup(m, 0, SPAN_LIT("*"));
    ck_assert_int_eq(s->kind, PYSYM_STAR);
    pymod_free(m);
}
END_TEST

START_TEST(test_definitions)
{
    struct pymod *m = mod("class A(nn.Module):\n"
                          "    class B: pass\n"
                          "    @property\n"
                          "    @x.y(1)\n"
                          "    def f(self):\n"
                          "        class C(Base[int], m(), k=v): pass\n"
                          "if 1:\n"
                          "    async def g(): pass\n");
    static const struct {
        const char *qual;
        uint32_t line, end_line;
    } want[] = {{"A", 1, 6},
                {"A.B", 2, 2},
                {"A.f", 3, 6},
                {"A.f.<locals>.C", 6, 6},
                {"g", 8, 8}};

    ck_assert_uint_eq(m->defs.n, ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        ck_assert(span_is(m->defs.v[i].qual, want[i].qual));
        ck_assert_uint_eq(m->defs.v[i].line, want[i].line);
        ck_assert_uint_eq(m->defs.v[i].end_line, want[i].end_line);
    }
    const struct pydef *f = &m->defs.v[2], *c = &m->defs.v[3];
    ck_assert_uint_eq(f->decorators.n, 2);
    ck_assert(span_is(f->decorators.v[1].dotted, "x.y"));
    ck_assert(f->decorators.v[1].called && !f->decorators.v[0].called);
    ck_assert(span_starts(pymod_text(m, f->start, f->end), "@property"));
    ck_assert(span_starts(pymod_text(m, f->def_start, f->end), "def f"));
    ck_assert_uint_eq(c->bases.n, 3);
    ck_assert(span_is(c->bases.v[0].dotted, "Base"));
    ck_assert(span_is(c->bases.v[1].dotted, "m"));
    ck_assert(span_is(c->bases.v[2].keyword, "k"));
    ck_assert(m->defs.v[4].is_async);
    ck_assert_ptr_eq(pymod_method(m, &m->defs.v[0], "f"), f);
    ck_assert_ptr_null(pymod_method(m, &m->defs.v[0], "B"));
    pymod_free(m);
}
END_TEST

static const struct {
    const char *text;
    bool known;
    const char *names;
} alls[] = {
    {"__all__ = ['a', \"b\"]\n", true, "a b"},
    {"__all__ = ('a',)\n__all__ += ['b']\n__all__.append('c')\n"
     "__all__.extend(['d'])\n",
     true, "a b c d"},
    {"__all__: list[str] = ['a']\n", true, "a"},
    {"__all__ = x.__all__ + ['b']\n", false, NULL},
    {"__all__ = ['a']\n__all__ += x.__all__\n", false, NULL},
    {"__all__ = ['a', f'{b}']\n", false, NULL},
    {"a = ['b']\n", false, NULL},
    {"def f():\n __all__ = ['a']\n", false, NULL},
};

START_TEST(test_all)
{
    struct pymod *m = mod(alls[_i].text);
    struct buf b = BUF_INIT(100);

    ck_assert(m->has_all == alls[_i].known);
    for (size_t i = 0; alls[_i].known && i < m->all.n; i++)
        ck_assert_int_eq(buf_printf(&b, "%s%.*s", i ? " " : "",
                                    (int)m->all.v[i].n, m->all.v[i].p),
                         0);
    if (alls[_i].known)
        ck_assert_str_eq(b.p, alls[_i].names);
    buf_release(&b);
    pymod_free(m);
}
END_TEST

START_TEST(test_lookup_at)
{
    const char *text = "x = 1\n"
                       "class x(x): pass\n"
                       "def f(p):\n"
                       "    y = p\n"
                       "    return y\n"
                       "class C:\n"
                       "    z = 1\n"
                       "    def g(self): return z\n";
    struct pymod *m = mod(text);
    uint32_t base = (uint32_t)(strstr(text, "(x)") - text + 1);
    uint32_t inside = (uint32_t)(strstr(text, "return y") - text);
    uint32_t method = (uint32_t)(strstr(text, "return z") - text);

    /* the base is read before the class is bound */
    ck_assert_int_eq(pymod_lookup_at(m, base, SPAN_LIT("x"))->kind,
                     PYSYM_ASSIGN);
    ck_assert_int_eq(pymod_lookup(m, 0, SPAN_LIT("x"))->kind, PYSYM_CLASS);
    ck_assert_int_eq(pymod_lookup_at(m, inside, SPAN_LIT("p"))->kind,
                     PYSYM_PARAM);
    ck_assert_int_eq(pymod_lookup_at(m, inside, SPAN_LIT("y"))->kind,
                     PYSYM_ASSIGN);
    ck_assert_ptr_null(pymod_lookup_at(m, method, SPAN_LIT("z")));
    pymod_free(m);
}
END_TEST

START_TEST(test_broken_source)
{
    struct pymod *m = mod("class A(B):\n"
                          "    def f(self):\n"
                          "        return (1 +\n"
                          "\n"
                          "class C(D):\n"
                          "    def g(self): pass\n"
                          "class P:\n"
                          "    def h(self):\n"
                          "        print 'x'\n");

    ck_assert_uint_ne(m->error_line, 0);
    ck_assert_uint_eq(m->python2_line, 9);
    const struct pydef *p = pymod_def(m, SPAN_LIT("P"));
    ck_assert_ptr_nonnull(p);
    ck_assert(p->python2 && !p->has_error);
    pymod_free(m);
    m = mod("\f\n\x01 ??? ))) class\n");
    ck_assert_uint_ne(m->error_line, 0);
    pymod_free(m);
    m = mod("");
    ck_assert_uint_eq(m->stmts.n, 0);
    pymod_free(m);
}
END_TEST

START_TEST(test_nesting)
{
    struct buf b = BUF_INIT(PY_MAX_SOURCE);

    for (int i = 0; i < 10000; i++)
        ck_assert_int_eq(buf_adds(&b, "lambda:"), 0);
    ck_assert_int_eq(buf_addc(&b, '0'), 0);
    ck_assert_ptr_null(pymod_new(parser, "x.py", buf_span(&b), &e));
    ck_assert_int_eq(e.code, ERR_PARSE);
    buf_clear(&b);
    for (int i = 0; i < 10000; i++)
        ck_assert_int_eq(buf_adds(&b, "a.b("), 0);
    struct pymod *m = pymod_new(parser, "x.py", buf_span(&b), &e);
    ck_assert_ptr_nonnull(m);
    pymod_free(m);
    buf_clear(&b);
    ck_assert_int_eq(buf_adds(&b, "x = a"), 0);
    for (int i = 0; i < 20000; i++)
        ck_assert_int_eq(buf_adds(&b, ".b"), 0);
    m = pymod_new(parser, "x.py", buf_span(&b), &e);
    ck_assert_ptr_nonnull(m);
    ck_assert_uint_eq(m->reads.n, 1);
    ck_assert(span_is(m->reads.v[0].dotted, "a"));
    pymod_free(m);
    buf_release(&b);
}
END_TEST

START_TEST(test_names)
{
    ck_assert(py_is_builtin(SPAN_LIT("super")));
    ck_assert(py_is_builtin(SPAN_LIT("__name__")));
    ck_assert(!py_is_builtin(SPAN_LIT("supe")));
    ck_assert(!py_is_builtin(SPAN_LIT("superb")));
    ck_assert(!py_is_builtin((struct span){NULL, 0}));
    ck_assert(py_is_keyword(SPAN_LIT("lambda")));
    ck_assert(!py_is_keyword(SPAN_LIT("match")));
    ck_assert(py_is_identifier(SPAN_LIT("_a9")));
    ck_assert(!py_is_identifier(SPAN_LIT("9a")));
    ck_assert(!py_is_identifier(SPAN_LIT("a.b")));
    ck_assert(!py_is_identifier(SPAN_LIT("lambda")));
    ck_assert(!py_is_identifier(SPAN_LIT("\xc3\xa9")));
    ck_assert(!py_is_identifier(SPAN_LIT("")));
    ck_assert(py_is_stdlib(SPAN_LIT("math")));
    ck_assert(!py_is_stdlib(SPAN_LIT("torch")));
    ck_assert(py_is_package(SPAN_LIT("torch")));
}
END_TEST

Suite *py_mod_suite(void)
{
    Suite *s = suite_create("py_mod");
    TCase *t = tcase_create("py_mod");

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, test_free_names, 0, (int)ARRAY_LEN(scoping));
    tcase_add_test(t, test_flags);
    tcase_add_test(t, test_statements);
    tcase_add_test(t, test_imports);
    tcase_add_test(t, test_definitions);
    tcase_add_loop_test(t, test_all, 0, (int)ARRAY_LEN(alls));
    tcase_add_test(t, test_lookup_at);
    tcase_add_test(t, test_broken_source);
    tcase_add_test(t, test_nesting);
    tcase_add_test(t, test_names);
    suite_add_tcase(s, t);
    return s;
}
