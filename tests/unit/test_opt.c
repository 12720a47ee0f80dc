/* SPDX-License-Identifier: MIT */
/* Option tables. Wrong use exits, so those cases run in Check's child. */
#include "base.h"

#include <check.h>

#include "log.h"
#include "opt.h"
#include "val.h"

Suite *opt_suite(void);

static bool flag;
static int count;
static int64_t number, size_;
static double real_;
static const char *text, *choice = "one";
static struct opt_list list;

static const struct opt table[] = {
    {OPT_GROUP, 0, "Group", NULL, NULL, NULL, 0, 0, false},
    {OPT_FLAG, 'f', "flag", &flag, NULL, "a flag", 0, 0, true},
    {OPT_COUNT, 'c', "count", &count, NULL, "a count", 0, 0, false},
    {OPT_INT, 'n', "number", &number, "N", "a number", 1, 10, true},
    {OPT_SIZE, 0, "size", &size_, "SIZE", "a size", 0, 0, false},
    {OPT_FLOAT, 0, "real", &real_, "X", "a real", 0, 0, true},
    {OPT_STR, 't', "text", &text, "TEXT", "a text", 0, 0, true},
    {OPT_CHOICE, 0, "choice", &choice, "one|two|three", "a choice", 0, 0, true},
    {OPT_LIST, 'l', "list", &list, "ITEM", "a list", 0, 0, true},
    {0},
};

static const struct opt_spec spec = {
    "km-test", "[FILE]", "Tests options.", {table}, NULL};

#define PARSE(...)                                                             \
    char *argv[] = {(char *)"km-test", __VA_ARGS__, NULL};                     \
    int at = opt_parse(&spec, (int)ARRAY_LEN(argv) - 1, argv)

START_TEST(test_all_types)
{
    PARSE((char *)"-f", (char *)"operand", (char *)"-cc", (char *)"--number=7",
          (char *)"--size", (char *)"3M", (char *)"--real", (char *)"1e-3",
          (char *)"-tx", (char *)"--choice", (char *)"two", (char *)"-l",
          (char *)"a", (char *)"-lb");
    struct arena a = ARENA_INIT;
    struct buf b = BUF_INIT(1000);

    ck_assert(flag);
    ck_assert_int_eq(count, 2);
    ck_assert_int_eq(number, 7);
    ck_assert_int_eq(size_, 3 << 20);
    ck_assert(real_ == 1e-3);
    ck_assert_str_eq(text, "x");
    ck_assert_str_eq(choice, "two");
    ck_assert_uint_eq(list.n, 2);
    ck_assert_str_eq(list.v[1], "b");
    ck_assert_str_eq(argv[at], "operand");
    ck_assert_str_eq(log_program, "km-test");
    ck_assert_int_eq(val_json(&b, opt_record(&a, &spec)), 0);
    ck_assert_str_eq(b.p, "{\"flag\":true,\"number\":7,\"real\":0.001,"
                          "\"text\":\"x\",\"choice\":\"two\","
                          "\"list\":[\"a\",\"b\"]}");
    buf_release(&b);
    arena_release(&a);
    free(list.v);
}
END_TEST

START_TEST(test_negation)
{
    PARSE((char *)"--flag", (char *)"--no-flag");

    ck_assert(!flag);
    ck_assert_int_eq(at, 3);
}
END_TEST

static const char *const wrong[] = {"--nothing",
                                    "--number",
                                    "--number=11",
                                    "--number=1x",
                                    "--number=",
                                    "--size=3Q",
                                    "--real=nan",
                                    "--choice=on",
                                    "--flag=yes",
                                    "-x",
                                    "--number=99999999999999999999",
                                    "--size=99999999999G"};

START_TEST(test_wrong_use_exits_2)
{
    PARSE((char *)(uintptr_t)wrong[_i]);
    ck_abort_msg("accepted %s (%d)", wrong[_i], at);
}
END_TEST

START_TEST(test_help_names_every_option)
{
    char *out = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&out, &n);

    opt_help(&spec, f);
    fclose(f);
    for (const struct opt *o = table; o->name; o++)
        ck_assert_ptr_nonnull(strstr(out, o->name));
    ck_assert_ptr_nonnull(strstr(out, "  -n, --number N"));
    ck_assert_ptr_nonnull(strstr(out, "--version"));
    free(out);
}
END_TEST

START_TEST(test_help_exits_0)
{
    PARSE((char *)"--help");
    ck_abort_msg("went on (%d)", at);
}
END_TEST

Suite *opt_suite(void)
{
    Suite *s = suite_create("opt");
    TCase *t = tcase_create("opt");

    tcase_add_test(t, test_all_types);
    tcase_add_test(t, test_negation);
    tcase_add_loop_exit_test(t, test_wrong_use_exits_2, EXIT_USAGE, 0,
                             ARRAY_LEN(wrong));
    tcase_add_test(t, test_help_names_every_option);
    tcase_add_exit_test(t, test_help_exits_0, 0);
    suite_add_tcase(s, t);
    return s;
}
