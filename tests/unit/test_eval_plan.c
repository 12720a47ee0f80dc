/* SPDX-License-Identifier: MIT */
/* Launch plans of candidates in language cuda: what they say, and what is
 * refused. */
#include "base.h"

#include <check.h>

#include "buf.h"
#include "evaluate/cuda/plan.h"

Suite *eval_plan_suite(void);

static const int64_t shape_in[] = {8, 1000}, shape_weight[] = {3, 5};

/* in0 and out0 are 8 x 1000, in1 is 7, in2 is 0.25, conv.weight is 3 x 5. */
static bool find(void *payload UNUSED, struct span name, struct plan_named *out)
{
    *out = (struct plan_named){.ndim = 2, .shape = shape_in, .numel = 8000};
    if (span_is(name, "in0"))
        return true;
    out->place = PLAN_OUT;
    if (span_is(name, "out0"))
        return true;
    *out = (struct plan_named){.place = PLAN_PARAM,
                               .index = 4,
                               .ndim = 2,
                               .shape = shape_weight,
                               .numel = 15};
    if (span_is(name, "conv.weight") || span_is(name, "0.w"))
        return true;
    *out = (struct plan_named){.number = true, .i = 7};
    if (span_is(name, "in1"))
        return true;
    *out = (struct plan_named){.number = true, .real = true, .f = 0.25};
    return span_is(name, "in2");
}

static struct plan plan;
static struct plan_bound bound;
static struct err err;

static int bind(const char *source)
{
    const struct plan_names names = {find, NULL, 132};
    static struct arena a;
    int rc;
    arena_release(&a);
    err = (struct err){0};
    rc = plan_read(&plan, &a, span_str(source), &err);
    return rc ? rc : plan_bind(&plan, &names, &bound, &err);
}

START_TEST(test_a_plan_of_all_statements)
{
    const struct plan_step *s = bound.steps;
    ck_assert_msg(
        bind(
            "__global__ void f();\n"
            "#pragma km let n = in0.shape[-1]\n"
            "  #  pragma km scratch tmp 4 * n + 4\r\n"
            "#pragma km zero tmp\n"
            "#pragma km init pack<float, 4><<<1, (32, 2)>>>(conv.weight, tmp)\n"
            "// #pragma km launch nothing<<<1, 1>>>()\n"
            "#pragma km launch f<<<(ceil_div(n, 256), in0.shape[0]), 256, \\\n"
            "    4 * 256>>>(in0, \"0.w\", tmp, out0, n, long(in0.numel), \\\r\n"
            "    float(in2 / 2), double(sqrt(16)), in1 % 4)\n"
            "#pragma km launch g<<<(n + 1) * 2, 1>>>()\n"
            "#pragma once\n") == 0,
        "%s", err.msg);
    ck_assert_uint_eq(bound.n_scratch, 1);
    ck_assert_int_eq(bound.scratch[0], 4004);
    ck_assert_uint_eq(bound.n_steps, 4);
    ck_assert_int_eq(s[0].verb, PLAN_ZERO);
    ck_assert_int_eq(s[0].args[0].place, PLAN_BUFFER);
    ck_assert_int_eq(s[1].verb, PLAN_INIT);
    ck_assert_str_eq(plan.v[s[1].statement].kernel, "pack<float, 4>");
    ck_assert_uint_eq(s[1].block[1], 2);
    ck_assert_int_eq(s[1].args[0].place, PLAN_PARAM);
    ck_assert_uint_eq(s[1].args[0].index, 4);
    ck_assert_uint_eq(s[2].grid[0], 4);
    ck_assert_uint_eq(s[2].grid[1], 8);
    ck_assert_uint_eq(s[2].grid[2], 1);
    ck_assert_uint_eq(s[2].block[0], 256);
    ck_assert_uint_eq(s[2].shared, 1024);
    ck_assert_uint_eq(s[2].n_args, 9);
    ck_assert_int_eq(s[2].args[1].place, PLAN_PARAM);
    ck_assert_int_eq(s[2].args[3].place, PLAN_OUT);
    ck_assert_int_eq(s[2].args[4].kind, ARG_INT);
    ck_assert_int_eq(s[2].args[4].i, 1000);
    ck_assert_int_eq(s[2].args[5].kind, ARG_LONG);
    ck_assert_int_eq(s[2].args[5].i, 8000);
    ck_assert_int_eq(s[2].args[6].kind, ARG_FLOAT);
    ck_assert_double_eq(s[2].args[6].f, 0.125);
    ck_assert_double_eq(s[2].args[7].f, 4);
    ck_assert_int_eq(s[2].args[8].i, 3);
    ck_assert_uint_eq(s[3].grid[0], 2002);
    ck_assert_uint_eq(s[3].n_args, 0);
}
END_TEST

static const struct {
    const char *text;
    int64_t value;
} numbers[] = {
    {"1 + 2 * 3", 7},
    {"(1 + 2) * 3", 9},
    {"7 / 2", 3},
    {"-7 / 2", -3},
    {"7 - 2 - 1", 4},
    {"100 / 10 / 2", 5},
    {"--3", 3},
    {"min(3, 2) + max(3, 2)", 5},
    {"ceil_div(1000, 256)", 4},
    {"ceil_div(1024, 256)", 4},
    {"sm_count", 132},
    {"in0.ndim", 2},
    {"conv.weight.shape[1]", 5},
    {"in0.shape[in0.ndim - 1]", 1000},
    {"in1", 7},
};

START_TEST(test_numbers)
{
    char text[200];
    snprintf(text, sizeof(text), "#pragma km launch f<<<1, 1>>>(long(%s))",
             numbers[_i].text);
    ck_assert_msg(bind(text) == 0, "%s", err.msg);
    ck_assert_int_eq(bound.steps[0].args[0].i, numbers[_i].value);
}
END_TEST

#define LAUNCH "#pragma km launch f<<<1, 1>>>(in0)\n"
#define OF(x)  "#pragma km launch f<<<1, 1>>>(" x ")"

static const struct {
    const char *source, *message;
} refused[] = {
    {"", "the source launches no kernel"},
    {"#pragma km init f<<<1, 1>>>()", "the source launches no kernel"},
    {"\n#pragma km run f", "line 2: '#pragma km run' is unknown"},
    {"#pragma km launch f(in0)", "line 1: launch what?"},
    {"#pragma km launch <<<1, 1>>>()", "line 1: launch what?"},
    {"#pragma km launch f<<<1>>>(in0)", "line 1: ',' is missing at '>>>(in0)'"},
    {"#pragma km launch f<<<1, 1>>>(in0) in0", "line 1: more than a statement"},
    {"#pragma km launch f<<<1, 1>>>(in0", "line 1: ')' is missing at ''"},
    {"#pragma km launch f<<<-1, 1>>>()", "line 1: no extent of a launch: -1"},
    {"#pragma km launch f<<<(1, 2, 3, 4), 1>>>()",
     "line 1: ')' is missing at ', 4), 1>>>()'"},
    {OF("x"), "line 1: nothing is called 'x'"},
    {OF("1 / (in1 - 7)"), "line 1: a division by zero"},
    {OF("9223372036854775807 + 1"), "line 1: a number too large"},
    {OF("9223372036854775808"), "line 1: a number that cannot be read"},
    {OF("(-9223372036854775807 - 1) / -1"), "line 1: a number too large"},
    {OF("-(-9223372036854775807 - 1)"), "line 1: a number too large"},
    {OF("3000000000"), "line 1: 3000000000 is no int: pass long(...)"},
    {OF("in2"), "line 1: a fraction is passed as float(...) or double(...)"},
    {OF("float(1.0 / 0)"), "line 1: a number that is not finite"},
    {OF("float(sqrt(0 - 1))"), "line 1: a root of a negative number"},
    {OF("in0 + 1"), "line 1: ')' is missing at '+ 1)'"},
    {OF("1 + in0"), "line 1: 'in0' is a tensor, not a number"},
    {OF("in0.shape[2]"), "line 1: no such dimension"},
    {OF("in0.data"), "line 1: nothing is called 'in0.data'"},
    {OF("ceil_div(1, 0)"), "line 1: ceil_div takes whole numbers above zero"},
    {OF("1x"), "line 1: a number that cannot be read"},
    {LAUNCH "#pragma km let in0 = 1", "line 2: 'in0' cannot be a new name"},
    {LAUNCH "#pragma km let a = 1\n#pragma km scratch a 4",
     "line 3: 'a' cannot be a new name"},
    {LAUNCH "#pragma km scratch a 0.5",
     "line 2: a scratch takes a whole number of bytes"},
    {LAUNCH "#pragma km scratch a 0 - 1",
     "line 2: a scratch takes a whole number of bytes"},
    {LAUNCH "#pragma km zero in0", "line 2: 'in0' is no output and no scratch"},
    {LAUNCH "#pragma km init f<<<1, 1>>>(out0)",
     "line 2: init has no inputs and no outputs"},
};

START_TEST(test_refused)
{
    ck_assert_int_eq(bind(refused[_i].source), -1);
    ck_assert_int_eq(err.code, ERR_PARSE);
    ck_assert_msg(
        strncmp(err.msg, refused[_i].message, strlen(refused[_i].message)) == 0,
        "%s", err.msg);
}
END_TEST

static void repeated(struct buf *b, const char *head, const char *what, int n,
                     const char *tail)
{
    buf_clear(b);
    buf_adds(b, head);
    for (int i = 0; i < n; i++)
        buf_adds(b, what);
    buf_adds(b, tail);
}

START_TEST(test_bounds)
{
    struct buf b = BUF_INIT(100000);
    repeated(&b, "#pragma km launch f<<<1, 1>>>(", "(", 40, "1");
    ck_assert_int_eq(bind(b.p), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "nested too deep"));
    repeated(&b, "#pragma km launch f<<<1, 1>>>(", "-", 5000, "1)");
    ck_assert_int_eq(bind(b.p), -1);
    ck_assert_ptr_nonnull(strstr(err.msg, "nested too deep"));
    repeated(&b, "#pragma km launch f<<<1, 1>>>(", "1, ", PLAN_ARGS - 1, "1)");
    ck_assert_int_eq(bind(b.p), 0);
    repeated(&b, "#pragma km launch f<<<1, 1>>>(", "1, ", PLAN_ARGS, "1)");
    ck_assert_int_eq(bind(b.p), -1);
    repeated(&b, "", LAUNCH, PLAN_STATEMENTS, "");
    ck_assert_int_eq(bind(b.p), 0);
    repeated(&b, "", LAUNCH, PLAN_STATEMENTS + 1, "");
    ck_assert_int_eq(bind(b.p), -1);
    buf_release(&b);
}
END_TEST

Suite *eval_plan_suite(void)
{
    Suite *s = suite_create("eval_plan");
    TCase *t = tcase_create("plan");
    tcase_add_test(t, test_a_plan_of_all_statements);
    tcase_add_loop_test(t, test_numbers, 0, ARRAY_LEN(numbers));
    tcase_add_loop_test(t, test_refused, 0, ARRAY_LEN(refused));
    tcase_add_test(t, test_bounds);
    suite_add_tcase(s, t);
    return s;
}
