/* SPDX-License-Identifier: MIT */
/* The short text of an outline: what is taken out, what stays, and that the
 * outline is the same. */
#include "base.h"

#include <check.h>

#include "py/skim.h"
#include "tests/outline.h"

Suite *py_skim_suite(void);

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
}

/* A text and its short one; NULL: it stays whole. */
static const struct {
    const char *text, *want;
} shorts[] = {
    {"def f(a, b=1, *c):\n    '''Doc.'''\n    return a + b\n",
     "def f(xx):\n    xx\n"},
    {"class A(Base):\n    def f(self, long):\n        if long:\n            "
     "return 1\n        # of the function\n\n    x = 1\n",
     "class A(Base):\n    def f(xx):\n        xx\n        #xx\n\n    x = 1\n"},
    {"@d(1, 2, 3, 4)\nasync def f(long_name) -> T: return long_name  # note\n",
     "@d(xx)\nasync def f(xx) -> T: xx  # note\n"},
    {"'''Text of a module.'''\nx = {'a': 1, 'b': 2}\ny = f(x, key='v')[0]\n",
     "'''xx'''\nx = {xx}\ny = f(xx)[0]\n"},
    {"def f(aa, bb):\n    def g(cc, dd):\n        return cc + dd\n    class A: "
     "pass\n    return A\n",
     "def f(aa, bb):\n    def g(xx):\n        xx\n    class A: pass\n    "
     "return "
     "A\n"},
    {"def f(aa, bb):\n\tfrom m import name\n\treturn g(aa, bb, cc)\n",
     "def f(aa, bb):\n\tfrom m import name\n\treturn g(xx)\n"},
    {"def f():\n    global x\n    x = 1\ndef g(): print(1), call(2)\n",
     "def f():\n    global x\n    x = 1\ndef g(): xx\n"},
    {"def f(self,  # of self\n      other):\n    return '#' + \"'\"\n",
     "def f(xx):\n    xx\n"},
    {"x = f'{a[\"b\"]!r:>{w}}{{' + g('''it's''', r'\\\\')\n",
     "x = f'{a[\"b\"]!r:>{w}}{{' + g(xx)\n"},
    {"x = 1 + \\\n    call(a, b, c)\n", "x = 1 + \\\n    call(xx)\n"},
    /* Names are bound in these brackets, or strings told. */
    {"(aaaa, bbbb) = [cccc, dddd] = f(xxxx, yyyy)\n",
     "(aaaa, bbbb) = [cccc, dddd] = f(xx)\n"},
    {"x = f(1, name := 2)\n", NULL},
    {"__all__ = ['aaaa', 'bbbb']\n", NULL},
    {"for (aaaa, bbbb) in f(cccc, dddd): pass\n", NULL},
    {"with (open(x) as aaaa, y as bbbb): pass\n", NULL},
    {"if __name__ == '__main__' and f(aaaa, bbbb): pass\n", NULL},
    {"del (aaaa, bbbb)\n", NULL},
    {"class A(make(aaaa, bbbb), metaclass=M): pass\n", NULL},
    {"from m import (aaaa, bbbb)\n", NULL},
    {"try: from m import (aaaa, bbbb)\nexcept X: pass\n", NULL},
    {"if x: pass\nelse: from m import (aaaa, bbbb)\n", NULL},
    {"try: pass\nfinally: del (aaaa, bbbb)\n", NULL},
    {"match (aaaa, bbbb):\n    case (cccc, dddd): pass\n", NULL},
    {"def f(a): pass\n", NULL}, /* too short to be worth it */
    /* Of Python 2: what the class is in must be known. */
    {"class A:\n    def f(self, x):\n        print x\n", NULL},
    {"def f(self, x): exec 'text of it'\n", NULL},
    {"def f(self, x): return `x + 1234`\n", NULL},
    {"def f(self, x): print >>x, 'aaaaaa'\n", NULL},
    /* Not sure. */
    {"x = f(aaaa, bbbb\n", NULL},
    {"x = f(aaaa, bbbb]\n", NULL},
    {"x = 'abcdefgh\ny = f(aaaa, bbbb)\n", NULL},
    {"x = '''abcdefgh\ny = f(aaaa, bbbb)\n", NULL},
    {"x = f'{a['b']}' + f(aaaa, bbbb)\n", NULL},
    {"x = f'}' + f(aaaa, bbbb)\n", NULL},
    {"def f(self):\n        return self.x\n    x = 1\n", NULL},
    {"def f(self):\nreturn self.xxxx\n", NULL},
    {"  x = f(aaaa, bbbb)\n", NULL},
    {"def f(self):\n    return self.x\n\f\nx = 1\n", NULL},
    {"def f(self):\n    return self.x?\n", NULL},
    {"def f(self):\n    self.x = a <some operator>\n", NULL},
    {"def f(self):\n    x = 1 2 + self.x\n", NULL},
    {"def f(self):\n    retrun self.x\n", NULL},
    {"def f(self):\n    self.x = = 1\n", NULL},
    {"def f(self):\n    return self.x %\n", NULL},
    {"def f(self):\n    return (self.x <= )\n", NULL},
    {"def f(aaaa, /, b, *, c) -> T:\n    x[1:] <<= a // -b ** ~c\n",
     "def f(xx) -> T:\n    xx\n"},
    {"def f(self):\n    x \\ y = self.x\n", NULL},
    {"def f(self) -> lambda: self.x\n", NULL},
    {"<<<<<<< HEAD\nx = f(aaaa, bbbb)\n!\n", NULL},
    {"def f(self):\n    \xe2\x80\x8b"
     "class A: pass\n",
     NULL},
    {"", NULL},
};

START_TEST(test_skim_text)
{
    struct span text = span_str(shorts[_i].text);
    struct buf both = BUF_INIT((size_t)1 << 20);
    struct pyskim s;
    size_t spared;
    bool made = pyskim_make(&s, text);
    ck_assert_msg(made == (shorts[_i].want != NULL), "'%s' is %s", text.p,
                  made ? s.text.p : "whole");
    if (made) {
        ck_assert_str_eq(s.text.p, shorts[_i].want);
        ck_assert_uint_eq(pyskim_offset(&s, (uint32_t)s.text.n), text.n);
        ck_assert_uint_eq(pyskim_offset(&s, 0), 0);
        pyskim_release(&s);
    }
    ck_assert_msg(!outline_differs(parser, text, &spared, &both), "%s", both.p);
    ck_assert_uint_eq(spared > 0, made);
    buf_release(&both);
}
END_TEST

START_TEST(test_skim_places)
{
    struct err e;
    static const char text[] = "'''Words.\n\nMore of them.'''\n"
                               "class A(Base):\n"
                               "    def f(self, x):\n"
                               "        y = x\n"
                               "        return y\n"
                               "\n"
                               "    class B:\n"
                               "        z = call(1,\n"
                               "                 2)\n";
    struct pymod *m = pymod_new_outline(parser, "m.py", span_str(text), &e);
    ck_assert_ptr_nonnull(m);
    const struct pydef *a = pymod_def(m, SPAN_LIT("A"));
    const struct pydef *f = pymod_def(m, SPAN_LIT("A.f"));
    const struct pydef *b = pymod_def(m, SPAN_LIT("A.B"));
    ck_assert_uint_eq(a->line, 4);
    ck_assert_uint_eq(a->end_line, 11);
    ck_assert_uint_eq(f->line, 5);
    ck_assert_uint_eq(f->end_line, 7);
    ck_assert_uint_eq(b->line, 9);
    ck_assert_uint_eq(b->end, sizeof(text) - 2);
    struct span all = pymod_text(m, f->start, f->end);
    ck_assert(span_starts(all, "def f(") && span_ends(all, "return y"));
    const struct pysym *z = pymod_lookup(m, b->scope, SPAN_LIT("z"));
    struct span value = pymod_text(m, z->value_start, z->value_end);
    ck_assert(span_starts(value, "call(1,") && span_ends(value, "2)"));
    ck_assert_uint_lt(m->parsed, sizeof(text) / 2 + 40);
    pymod_free(m);
}
END_TEST

/* Where the short text has an error the whole one is read. */
START_TEST(test_skim_error)
{
    struct err e;
    struct pymod *m = pymod_new_outline(
        parser, "m.py",
        SPAN_LIT("class A:\n    def f(self):\n        return self.x\n"
                 "    y = = 2\n"),
        &e);
    ck_assert_ptr_nonnull(m);
    ck_assert_uint_eq(m->error_line, 4);
    ck_assert_uint_eq(m->parsed, m->text.n);
    ck_assert(m->defs.v[0].has_error);
    pymod_free(m);
}
END_TEST

Suite *py_skim_suite(void)
{
    Suite *s = suite_create("py_skim");
    TCase *t = tcase_create("skim");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, test_skim_text, 0, (int)ARRAY_LEN(shorts));
    tcase_add_test(t, test_skim_places);
    tcase_add_test(t, test_skim_error);
    suite_add_tcase(s, t);
    return s;
}
