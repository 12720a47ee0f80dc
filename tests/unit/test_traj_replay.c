/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <check.h>

#include "buf.h"
#include "trajectories/replay.h"

#define BLOCK(s, r) "<<<<<<< SEARCH\n" s "\n=======\n" r "\n>>>>>>> REPLACE"

Suite *traj_replay_suite(void);

static const struct {
    const char *what, *parent, *reply, *child;
    enum replay result;
    bool diff;
} cases[] = {
    {"one block", "a\nb\nc", "text\n" BLOCK("b", "B"), "a\nB\nc", REPLAY_EXACT,
     true},
    {"first of several matches", "x\ny\nx", BLOCK("x", "z"), "z\ny\nx",
     REPLAY_EXACT, true},
    {"blocks in order, the second sees the first", "a",
     BLOCK("a", "b") "\n" BLOCK("b", "c"), "c", REPLAY_EXACT, true},
    {"a block without a match is skipped", "a\nb",
     BLOCK("q", "r") "\n" BLOCK("b", "c"), "a\nc", REPLAY_EXACT, true},
    {"lines are removed", "a\nb\nc", BLOCK("b\nc", "d"), "a\nd", REPLAY_EXACT,
     true},
    {"an empty replacement leaves an empty line", "a\nb\nc",
     "<<<<<<< SEARCH\nb\n=======\n>>>>>>> REPLACE", "a\n\nc", REPLAY_EXACT,
     true},
    {"white space at the end of a block goes", "a\nb",
     BLOCK("b  \n\n", "c\t\n"), "a\nc", REPLAY_EXACT, true},
    {"white space at line ends of the parent, newer rule", "a  \nb\nc",
     BLOCK("a\nb", "x"), "x\nc", REPLAY_EXACT, true},
    {"the separator ends the search at its first place", "a\nb",
     "<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE",
     "b\n=======\nc\nb", REPLAY_EXACT, true},
    {"CRLF parent never matches LF blocks, but at line ends", "a\r\nb\r\n",
     BLOCK("a", "x"), "x\nb\r\n", REPLAY_EXACT, true},
    {"another child", "a\nb", BLOCK("b", "c"), "a\nd", REPLAY_DIFFERS, true},
    {"a longer child", "a\nb", BLOCK("b", "c"), "a\nc\n", REPLAY_DIFFERS, true},
    {"a diff without its parent", NULL, BLOCK("b", "c"), "a\nc", REPLAY_ABSENT,
     true},
    {"an open block is no diff", "a", "<<<<<<< SEARCH\na\n=======\nb", "zz",
     REPLAY_DIFFERS, false},
    {"fence of the language", NULL,
     "Words\n```c\nint x;\n```\n```python\ny = 1\n\n```\n", "y = 1",
     REPLAY_EXACT, false},
    {"any fence, its tag stays", NULL, "```cpp\nint x;\n```", "cpp\nint x;",
     REPLAY_EXACT, false},
    {"no fence", NULL, "y = 1\n", "y = 1\n", REPLAY_EXACT, false},
    {"a fence that is not closed", NULL, "```python\ny = 1\n", "y = 1",
     REPLAY_DIFFERS, false},
    {"the whole program although blocks are shown", "a",
     "not\n" BLOCK("a", "b") "\nbut\n```python\nq\n```", "q", REPLAY_EXACT,
     false},
    {"no reply", "a", "", "b", REPLAY_ABSENT, false},
};

START_TEST(test_cases)
{
    bool diff;
    struct span parent = span_str(cases[_i].parent);
    enum replay r =
        replay_check(parent, span_str(cases[_i].reply), SPAN_LIT("python"),
                     span_str(cases[_i].child), &diff);
    ck_assert_msg(r == cases[_i].result, "%s: %d", cases[_i].what, (int)r);
    ck_assert_msg(diff == cases[_i].diff, "%s: form", cases[_i].what);
}
END_TEST

START_TEST(test_strip_is_python)
{
    /* U+0085, U+2003, U+3000 and U+001F are white space there, U+200B is not */
    struct span s = SPAN_LIT("\xe3\x80\x80 x\xe2\x80\x8b\xc2\x85\xe2\x80\x83"
                             "\x1f\n");
    ck_assert(span_is(replay_strip(s), "x\xe2\x80\x8b"));
    ck_assert_uint_eq(replay_strip(SPAN_LIT(" \t\n")).n, 0);
    ck_assert_uint_eq(replay_rstrip((struct span){NULL, 0}).n, 0);
}
END_TEST

START_TEST(test_nul_in_code)
{
    bool diff;
    struct span parent = {"a\0b\nc", 5}, child = {"a\0b\nd", 5};
    ck_assert_int_eq(replay_check(parent, SPAN_LIT(BLOCK("c", "d")),
                                  SPAN_LIT("python"), child, &diff),
                     REPLAY_EXACT);
}
END_TEST

/* Many equal lines against a search of many equal lines: quadratic. */
START_TEST(test_work_is_bounded)
{
    struct buf parent = BUF_INIT(16u << 20), reply = BUF_INIT(16u << 20);
    bool diff;
    for (int i = 0; i < 400000; i++)
        buf_adds(&parent, "aaaa\n");
    buf_adds(&reply, "<<<<<<< SEARCH\n");
    for (int i = 0; i < 200000; i++)
        buf_adds(&reply, "aaaa\n");
    buf_adds(&reply, "b\n=======\nc\n>>>>>>> REPLACE");
    ck_assert_int_eq(replay_check(buf_span(&parent), buf_span(&reply),
                                  SPAN_LIT("python"), SPAN_LIT("x"), &diff),
                     REPLAY_TOO_LARGE);
    buf_release(&parent);
    buf_release(&reply);
}
END_TEST

Suite *traj_replay_suite(void)
{
    Suite *s = suite_create("traj_replay");
    TCase *t = tcase_create("replay");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, test_cases, 0, (int)ARRAY_LEN(cases));
    tcase_add_test(t, test_strip_is_python);
    tcase_add_test(t, test_nul_in_code);
    tcase_add_test(t, test_work_is_bounded);
    suite_add_tcase(s, t);
    return s;
}
