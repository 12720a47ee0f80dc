/* SPDX-License-Identifier: MIT */
/* What a model is told of a verdict, level by level. */
#include "base.h"

#include <check.h>

#include "evaluate/feedback.h"

Suite *eval_feedback_suite(void);

/* Verdict TEXT (JSON) at LEVEL gives WANT. */
static void says(const char *text, enum feedback_level level, const char *want)
{
    struct arena a = ARENA_INIT;
    struct err e = {0};
    struct val *v = NULL;
    struct span s;

    ck_assert_msg(val_parse_json(&a, span_str(text), 0, &v, &e) == 0, "%s",
                  e.msg);
    s = val_as_str(feedback(&a, v, level));
    ck_assert_msg(span_is(s, want), "level %d: %.*s", (int)level, (int)s.n,
                  s.p ? s.p : "");
    arena_release(&a);
}

START_TEST(test_levels_of_an_exception)
{
    static const char raised[] =
        "{\"outcome\":\"runtime_error\",\"detail\":{\"class\":"
        "\"ValueError\",\"line\":7,\"message\":\"64x32 at x.1: 0.25, "
        "-1.5e-3 1e6 3 v2.0 12.\"}}";

    says(raised, FEEDBACK_CLASS, "Forward raises.");
    says(raised, FEEDBACK_PLACE, "Forward raises (line 7): ValueError.");
    says(raised, FEEDBACK_FIGURES, "Forward raises (line 7): ValueError.");
    says(raised, FEEDBACK_TEXTS,
         "Forward raises (line 7): ValueError: 64x32 at x.1: #, -# # 3 v2.0 "
         "12..");
}
END_TEST

START_TEST(test_levels_of_wrong_and_right)
{
    static const char wrong[] =
        "{\"outcome\":\"wrong\",\"detail\":{},\"correct\":[{\"config\":"
        "\"D3\",\"mode\":\"eval\",\"tested\":true,\"outside\":0.125,"
        "\"nan\":1,\"pass\":{\"strict\":false}}]}";
    static const char right[] =
        "{\"outcome\":\"ok\",\"time\":{\"ratio\":2.0,\"ratio_low\":1.9,"
        "\"ratio_high\":2.1}}";

    says(wrong, FEEDBACK_CLASS, "Wrong.");
    says(wrong, FEEDBACK_PLACE,
         "Wrong: right on ordinary inputs, but not on inputs of other scale, "
         "sign or structure (NaN among them).");
    says(wrong, FEEDBACK_FIGURES,
         "Wrong: right on ordinary inputs, but not on inputs of other scale, "
         "sign or structure (NaN among them); up to 12.5 % of the elements are "
         "outside the tolerance.");
    says(right, FEEDBACK_PLACE, "Correct.");
    says(right, FEEDBACK_FIGURES,
         "Correct. 2.00 times as fast as the reference (1.90 to 2.10).");
}
END_TEST

START_TEST(test_levels_of_rejection_and_compilers)
{
    static const char cheat[] = "{\"outcome\":\"cheat\",\"detail\":"
                                "{\"message\":\"it changed an input\"}}";
    static const char build[] = "{\"outcome\":\"build_failed\",\"detail\":"
                                "{\"message\":\"x.c:3: error: bad\"}}";

    says(cheat, FEEDBACK_CLASS, "Rejected.");
    says(cheat, FEEDBACK_PLACE, "Rejected: it changed an input.");
    says(build, FEEDBACK_FIGURES, "It does not compile.");
    says(build, FEEDBACK_TEXTS, "It does not compile: x.c:3: error: bad.");
    says("{\"outcome\":\"infrastructure\"}", FEEDBACK_TEXTS, "");
}
END_TEST

Suite *eval_feedback_suite(void)
{
    Suite *s = suite_create("eval_feedback");
    TCase *t = tcase_create("feedback");

    tcase_add_test(t, test_levels_of_an_exception);
    tcase_add_test(t, test_levels_of_wrong_and_right);
    tcase_add_test(t, test_levels_of_rejection_and_compilers);
    suite_add_tcase(s, t);
    return s;
}
