/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <check.h>
#include <math.h>

#include "export/reward.h"

Suite *export_reward_suite(void);

static struct arena arena;
static struct reward_options options;

static void setup(void)
{
    arena = (struct arena)ARENA_INIT;
    options = (struct reward_options){REWARD_PARENT_SPEEDUP, 3, -1, false};
}

static void teardown(void)
{
    arena_release(&arena);
}

static struct val *figures(const char *json)
{
    struct val *v = NULL;
    struct err e;
    ck_assert_int_eq(
        val_parse_json(&arena, span_str(json), VAL_JSON_STRICT, &v, &e), 0);
    return v;
}

#define GOOD "\"correct\":true,\"honest\":true,\"contract_ok\":true"

static const struct {
    const char *json;
    double base;
    bool valid;
    double speedup, clipped, log;
} cases[] = {
    {"{" GOOD ",\"ratio\":8.0}", 2, true, 4, 3, 1.3862943611198906},
    {"{" GOOD ",\"ratio\":1.0}", 2, true, .5, .5, -0.6931471805599453},
    {"{" GOOD ",\"ratio\":0.01}", 1, true, .01, .01, -1},
    {"{\"correct\":false,\"honest\":true,\"outcome\":\"wrong\"}", 2, true, 0, 0,
     -1},
    {"{\"correct\":true,\"honest\":false,\"ratio\":99.0}", 2, true, 0, 0, -1},
    {"{\"correct\":true,\"honest\":true,\"contract_ok\":false,"
     "\"ratio\":2.0}",
     1, true, 0, 0, -1},
    {"{\"outcome\":\"infrastructure\",\"correct\":false}", 1, false, 0, 0, 0},
    {"{" GOOD ",\"outcome\":\"ok\"}", 1, false, 0, 0, 0},   /* not timed */
    {"{" GOOD ",\"ratio\":1e300}", 1e-300, false, 0, 0, 0}, /* no number */
};

START_TEST(test_rewards)
{
    struct sample s =
        sample_of(figures(cases[_i].json), cases[_i].base, &options);
    ck_assert_int_eq(s.valid, cases[_i].valid);
    if (!s.valid)
        return;
    ck_assert_double_eq_tol(reward_of(&s, REWARD_PARENT_SPEEDUP, &options),
                            cases[_i].speedup, 1e-12);
    ck_assert_double_eq_tol(reward_of(&s, REWARD_CLIPPED, &options),
                            cases[_i].clipped, 1e-12);
    ck_assert_double_eq_tol(reward_of(&s, REWARD_LOG, &options), cases[_i].log,
                            1e-12);
}
END_TEST

START_TEST(test_contract_can_be_ignored)
{
    struct val *v = figures("{\"correct\":true,\"honest\":true,"
                            "\"contract_ok\":false,\"ratio\":2.0}");
    options.ignore_contract = true;
    struct sample s = sample_of(v, 1, &options);
    ck_assert_double_eq(reward_of(&s, REWARD_PARENT_SPEEDUP, &options), 2);
}
END_TEST

START_TEST(test_base)
{
    bool is_reference;
    ck_assert_double_eq(reward_base(NULL, &options, &is_reference), 1);
    ck_assert(is_reference);
    struct val *v = figures("{" GOOD ",\"ratio\":2.5}");
    ck_assert_double_eq(reward_base(v, &options, &is_reference), 2.5);
    ck_assert(!is_reference);
    v = figures("{\"correct\":false,\"honest\":true,\"ratio\":2.5}");
    ck_assert_double_eq(reward_base(v, &options, &is_reference), 1);
    ck_assert(is_reference);
}
END_TEST

static struct sample earning(double ratio, double sigma)
{
    return (struct sample){true, true, ratio, ratio, sigma};
}

START_TEST(test_advantages_are_those_of_trl)
{
    struct sample s[] = {
        earning(1, 0), earning(2, 0), earning(6, 0), {.valid = false}};
    struct group_stats g;
    group_stats(&g, s, 4, &options);
    ck_assert_uint_eq(g.n_valid, 3);
    ck_assert_double_eq_tol(g.mean, 3, 1e-12);
    ck_assert_double_eq_tol(g.std, sqrt(7), 1e-12);
    ck_assert_double_eq_tol(advantage(&g, 6), 3 / (sqrt(7) + 1e-4), 1e-12);
    ck_assert_str_eq(g.degenerate, "");
}
END_TEST

START_TEST(test_degenerate_groups)
{
    struct sample none = {
        .valid = true, .speedup_ref = NAN, .speedup_parent = NAN};
    struct sample one[] = {earning(2, 0), {.valid = false}};
    struct sample fail[] = {none, none, none};
    struct sample equal[] = {earning(2, 0), earning(2, 0)};
    struct sample noise[] = {earning(2, .02), earning(2.1, .02)};
    struct sample spread[] = {earning(2, .001), earning(2.1, .001)};
    struct sample mixed[] = {earning(2, 0), none};
    struct group_stats g;
    group_stats(&g, one, 2, &options);
    ck_assert_str_eq(g.degenerate, "singleton");
    ck_assert_double_eq(advantage(&g, 2), 0); /* never the raw reward */
    group_stats(&g, fail, 3, &options);
    ck_assert_str_eq(g.degenerate, "all_fail");
    ck_assert_double_eq(advantage(&g, 0), 0);
    group_stats(&g, equal, 2, &options);
    ck_assert_str_eq(g.degenerate, "all_equal");
    group_stats(&g, noise, 2, &options);
    ck_assert_str_eq(g.degenerate, "within_noise");
    group_stats(&g, spread, 2, &options);
    ck_assert_str_eq(g.degenerate, "");
    group_stats(&g, mixed, 2, &options);
    ck_assert_str_eq(g.degenerate, "");
}
END_TEST

Suite *export_reward_suite(void)
{
    Suite *s = suite_create("export_reward");
    TCase *t = tcase_create("reward");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, test_rewards, 0, (int)ARRAY_LEN(cases));
    tcase_add_test(t, test_contract_can_be_ignored);
    tcase_add_test(t, test_base);
    tcase_add_test(t, test_advantages_are_those_of_trl);
    tcase_add_test(t, test_degenerate_groups);
    suite_add_tcase(s, t);
    return s;
}
