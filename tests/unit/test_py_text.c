/* SPDX-License-Identifier: MIT */
/* Decoding of Python files, the parser's limits, walks. */
#include "base.h"

#include <check.h>

#include "mem.h"
#include "py/pytree.h"

Suite *py_text_suite(void);

static struct err e;

struct decoding {
    struct span raw;
    const char *text; /* NULL: refused with CODE */
    enum err_code code;
};

static const struct decoding decodings[] = {
    {SPAN_LIT("a = 1\n"), "a = 1\n", 0},
    {SPAN_LIT("a\r\nb\rc\n\r"), "a\nb\nc\n\n", 0},
    {SPAN_LIT("\xef\xbb\xbf# x\n"), "# x\n", 0},
    {SPAN_LIT("# coding: latin-1\nx = '\xe9'\n"),
     "# coding: latin-1\nx = '\xc3\xa9'\n", 0},
    {SPAN_LIT("#!/usr/bin/python\n# -*- coding: ISO_8859_1 -*-\n\xfc"),
     "#!/usr/bin/python\n# -*- coding: ISO_8859_1 -*-\n\xc3\xbc", 0},
    /* the second byte is a backslash */
    {SPAN_LIT("# coding=gbk\nx = '\x95\x5c'\n"),
     "# coding=gbk\nx = '\xe6\x98\x9e'\n", 0},
    /* not in the third line, nor after code */
    {SPAN_LIT("\n\n# coding: latin-1\n\xe9"), NULL, ERR_ENCODING},
    {SPAN_LIT("x = 1\n# coding: latin-1\n\xe9"), NULL, ERR_ENCODING},
    {SPAN_LIT("# coding: utf-8\n\xe9"), NULL, ERR_ENCODING},
    {SPAN_LIT("# coding: no-such-code\n"), NULL, ERR_ENCODING},
    {SPAN_LIT("# coding: utf-16\nx\n"), NULL, ERR_ENCODING},
    {SPAN_LIT("# coding: ascii\n\xe9"), NULL, ERR_ENCODING},
    {SPAN_LIT("a\0b"), NULL, ERR_ENCODING},
    {SPAN_LIT(""), "", 0},
};

START_TEST(test_decode)
{
    const struct decoding *d = &decodings[_i];
    struct buf out = BUF_INIT(1000);

    ck_assert_int_eq(buf_adds(&out, "before\r"), 0);
    if (d->text) {
        ck_assert_int_eq(py_decode(&out, d->raw, &e), 0);
        ck_assert_str_eq(out.p + 7, d->text);
        ck_assert_uint_eq(out.n, 7 + strlen(d->text));
    } else {
        ck_assert_int_eq(py_decode(&out, d->raw, &e), -1);
        ck_assert_int_eq(e.code, d->code);
        ck_assert_str_eq(out.p, "before\r");
    }
    buf_release(&out);
}
END_TEST

START_TEST(test_decode_bounds)
{
    struct buf out = BUF_INIT(10);
    char *big = xcalloc(1, PY_MAX_SOURCE + 1);

    memset(big, ' ', PY_MAX_SOURCE + 1);
    ck_assert_int_eq(py_decode(&out, (struct span){big, PY_MAX_SOURCE + 1}, &e),
                     -1);
    ck_assert_int_eq(e.code, ERR_TOO_LARGE);
    ck_assert_int_eq(py_decode(&out, (struct span){big, 11}, &e), -1);
    ck_assert_int_eq(e.code, ERR_TOO_LARGE);
    /* conversion that grows beyond the buffer */
    ck_assert_int_eq(
        py_decode(&out, SPAN_LIT("#coding:l1\n\xe9\xe9\xe9\xe9\xe9"), &e), -1);
    ck_assert_int_eq(e.code, ERR_TOO_LARGE);
    free(big);
    buf_release(&out);
}
END_TEST

static struct span repeat(struct buf *b, const char *s, int n)
{
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(buf_adds(b, s), 0);
    return buf_span(b);
}

START_TEST(test_parse_finds_errors)
{
    struct pyparser *p = pyparser_new(&e);
    struct pytree t;

    ck_assert_ptr_nonnull(p);
    ck_assert_int_eq(pytree_parse(&t, p, SPAN_LIT("a = 1\n"), 0, &e), 0);
    ck_assert_uint_eq(t.error_line, 0);
    pytree_release(&t);
    ck_assert_int_eq(pytree_parse(&t, p, SPAN_LIT("a\nb = (\n"), 0, &e), 0);
    ck_assert_uint_ne(t.error_line, 0);
    pytree_release(&t);
    pytree_release(&t); /* harmless */
    ck_assert_int_eq(pytree_parse(&t, p, (struct span){NULL, 0}, 0, &e), 0);
    pytree_release(&t);
    pyparser_free(p);
}
END_TEST

START_TEST(test_parse_limits)
{
    struct pyparser *p = pyparser_new(&e);
    struct buf b = BUF_INIT(PY_MAX_SOURCE + 10);
    struct pytree t;

    repeat(&b, "x", PY_MAX_SOURCE + 1);
    ck_assert_int_eq(pytree_parse(&t, p, buf_span(&b), 0, &e), -1);
    ck_assert_int_eq(e.code, ERR_TOO_LARGE);
    buf_clear(&b);
    /* over 65,535 children of one node corrupt the heap of tree-sitter 0.20 */
    repeat(&b, "[", 70000);
    ck_assert_int_eq(pytree_parse(&t, p, buf_span(&b), 0, &e), 0);
    ck_assert_uint_eq(t.error_line, 1);
    ck_assert_uint_gt(ts_node_child_count(ts_tree_root_node(t.tree)), 65535);
    pytree_release(&t);
    /* the time limit is an error, and the parser works afterwards */
    buf_clear(&b);
    repeat(&b, ")]}({[", 10000);
    ck_assert_int_eq(pytree_parse(&t, p, buf_span(&b), 1, &e), -1);
    ck_assert_int_eq(e.code, ERR_TIMEOUT);
    ck_assert_int_eq(pytree_parse(&t, p, SPAN_LIT("a\n"), 0, &e), 0);
    ck_assert_uint_eq(t.error_line, 0);
    pytree_release(&t);
    buf_release(&b);
    pyparser_free(p);
}
END_TEST

/* A grammar begins with its ABI number. */
START_TEST(test_grammar_of_another_abi)
{
    const uint32_t old[64] = {1}, later[64] = {99};

    ck_assert_ptr_null(pyparser_for((const TSLanguage *)old, &e));
    ck_assert_int_eq(e.code, ERR_VERSION);
    ck_assert_ptr_null(pyparser_for((const TSLanguage *)later, &e));
    ck_assert_int_eq(e.code, ERR_VERSION);
    ck_assert_ptr_nonnull(strstr(e.msg, "ABI 99"));
}
END_TEST

struct steps {
    uint32_t entered, left, deepest;
};

static bool count_enter(void *payload, TSNode n, const char *field,
                        uint32_t depth)
{
    struct steps *s = payload;

    (void)n;
    (void)field;
    s->entered++;
    s->deepest = MAX(s->deepest, depth);
    return true;
}

static void count_leave(void *payload, TSNode n, uint32_t depth)
{
    struct steps *s = payload;

    (void)n;
    (void)depth;
    s->left++;
}

START_TEST(test_walk_is_not_recursive)
{
    struct pyparser *p = pyparser_new(&e);
    struct buf b = BUF_INIT(PY_MAX_SOURCE);
    struct steps s = {0, 0, 0};
    struct pyvisit v = {count_enter, count_leave, &s};
    struct pytree t;

    repeat(&b, "(", 10000);
    ck_assert_int_eq(buf_addc(&b, 'a'), 0);
    repeat(&b, ")", 10000);
    ck_assert_int_eq(pytree_parse(&t, p, buf_span(&b), 0, &e), 0);
    pytree_walk(ts_tree_root_node(t.tree), &v);
    ck_assert_uint_gt(s.deepest, 10000);
    ck_assert_uint_eq(s.entered, s.left);
    pytree_release(&t);
    buf_release(&b);
    pyparser_free(p);
}
END_TEST

START_TEST(test_dotted)
{
    struct pyparser *p = pyparser_new(&e);
    struct span text = SPAN_LIT("a.b.c\nf().b\na .b\n");
    struct pytree t;
    static const char *const want[] = {"a.b.c", NULL, NULL};

    ck_assert_int_eq(pytree_parse(&t, p, text, 0, &e), 0);
    TSNode root = ts_tree_root_node(t.tree);
    ck_assert_uint_eq(ts_node_named_child_count(root), 3);
    for (uint32_t i = 0; i < 3; i++) {
        TSNode x = ts_node_named_child(ts_node_named_child(root, i), 0);
        struct span s = pynode_dotted(text, x);
        ck_assert(want[i] ? span_is(s, want[i]) : s.n == 0);
        ck_assert_uint_eq(pynode_line(x), i + 1);
    }
    pytree_release(&t);
    pyparser_free(p);
}
END_TEST

Suite *py_text_suite(void)
{
    Suite *s = suite_create("py_text");
    TCase *t = tcase_create("py_text");

    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, test_decode, 0, (int)ARRAY_LEN(decodings));
    tcase_add_test(t, test_decode_bounds);
    tcase_add_test(t, test_parse_finds_errors);
    tcase_add_test(t, test_parse_limits);
    tcase_add_test(t, test_grammar_of_another_abi);
    tcase_add_test(t, test_walk_is_not_recursive);
    tcase_add_test(t, test_dotted);
    suite_add_tcase(s, t);
    return s;
}
