/* SPDX-License-Identifier: MIT */
/* What testgen takes as a reply of the probe, and what a module forged. */
#include "base.h"

#include <check.h>

#include "testgen/reply.h"

Suite *testgen_reply_suite(void);

static struct arena a = ARENA_INIT;

static const struct val *json(const char *text)
{
    struct err e;
    struct val *v;
    ck_assert_int_eq(val_parse_json(&a, span_str(text), 0, &v, &e), 0);
    return v;
}

#define COUNTS                                                                 \
    "\"ok\": true, \"flops\": 9, \"moved\": 9, \"kernels\": 1, "               \
    "\"largest\": 4, \"bytes\": 8, \"slot\": 8, \"parameters\": 0, "           \
    "\"unordered\": [0]"
#define GATE                                                                   \
    "\"ok\": true, \"uninitialised\": [], \"deterministic\": true, "           \
    "\"seeded\": false, \"hidden\": \"\", \"finite\": true, "                  \
    "\"identity\": false"

static const struct {
    const char *op, *reply;
    bool sound;
} replies[] = {
    {"load", "{\"ok\": true, \"cpu\": 0.25}", true},
    {"load", "{\"ok\": true, \"cpu\": -1}", false},
    {"load", "{\"ok\": true, \"cpu\": \"x\"}", false},
    {"load", "{\"ok\": 1}", false},
    {"load", "{\"ok\": false, \"where\": \"load\", \"class\": \"E\"}", true},
    {"load", "{\"ok\": false, \"where\": \"load\"}", false},
    {"try",
     "{\"ok\": false, \"where\": \"forward\", \"class\": \"E\", \"ops\": 3}",
     true},
    {"try",
     "{\"ok\": true, \"ops\": 3, \"limits\": {\"0\": 5}, "
     "\"outs\": [{\"shape\": [2, 0], \"dtype\": \"float32\"}]}",
     true},
    {"try", "{\"ok\": true, \"ops\": 3, \"limits\": {}}", false},
    {"try", "{\"ok\": true, \"limits\": {\"0\": -5}, \"outs\": []}", false},
    {"try", "{\"ok\": true, \"limits\": {}, \"outs\": {}}", false},
    {"try",
     "{\"ok\": true, \"limits\": {}, "
     "\"outs\": [{\"shape\": \"abc\", \"dtype\": \"float32\"}]}",
     false},
    {"try",
     "{\"ok\": true, \"limits\": {}, "
     "\"outs\": [{\"shape\": [-1], \"dtype\": \"float32\"}]}",
     false},
    {"try",
     "{\"ok\": true, \"limits\": {}, \"outs\": "
     "[{\"shape\": [1], \"dtype\": \"float32\", \"compare\": \"set\"}]}",
     false},
    {"measure",
     "{" COUNTS ", \"ops\": {\"relu\": 1}, \"graph\": \"0123456789abcdef\"}",
     true},
    {"measure",
     "{" COUNTS ", \"ops\": {\"relu\": 1}, \"graph\": \"0123456789ABCDEF\"}",
     false},
    {"measure",
     "{" COUNTS ", \"ops\": {\"relu\": 0}, \"graph\": \"0123456789abcdef\"}",
     false},
    {"measure", "{" COUNTS ", \"ops\": [1], \"graph\": \"0123456789abcdef\"}",
     false},
    {"measure", "{" COUNTS ", \"ops\": 1, \"graph\": \"0123456789abcdef\"}",
     false},
    {"measure", "{" COUNTS ", \"ops\": {\"relu\": 1}}", false},
    {"measure",
     "{" COUNTS ", \"held\": 9007199254740993, \"ops\": {}, "
     "\"graph\": \"0123456789abcdef\"}",
     false},
    {"gate", "{" GATE ", \"mutates\": [1], \"spread\": 2.5}", true},
    {"gate", "{" GATE ", \"mutates\": [-1]}", false},
    {"gate", "{" GATE ", \"mutates\": \"x\"}", false},
    {"gate", "{" GATE ", \"mutates\": [], \"unused_inputs\": {\"a\": 1}}",
     false},
    {"gate", "{" GATE "}", false},
};

START_TEST(test_replies)
{
    ck_assert_msg(reply_sound(json(replies[_i].reply),
                              span_str(replies[_i].op)) == replies[_i].sound,
                  "%s", replies[_i].reply);
}
END_TEST

#define TENSOR "\"kind\": \"tensor\", \"shape\": [2], \"dtype\": \"int64\""

static const struct {
    const char *list;
    bool sound;
} inputs[] = {
    {"[{" TENSOR ", \"lo\": 0, \"hi\": 2.5, \"made\": [\"rand\"]}]", true},
    {"[{\"kind\": \"list\", \"items\": [{" TENSOR "}]}]", true},
    {"[{\"kind\": \"int\", \"value\": 3, \"name\": \"k\"}]", true},
    {"[{\"kind\": \"tensor\", \"shape\": [2]}]", false},
    {"[{\"kind\": \"list\"}]", false},
    {"[{" TENSOR ", \"items\": []}]", false},
    {"[{" TENSOR ", \"lo\": \"x\"}]", false},
    {"[{\"name\": \"x\"}]", false},
    {"[7]", false},
    {"{}", false},
};

START_TEST(test_inputs)
{
    ck_assert_msg(reply_inputs_sound(json(inputs[_i].list)) == inputs[_i].sound,
                  "%s", inputs[_i].list);
}
END_TEST

START_TEST(test_mutates)
{
    ck_assert(reply_mutates_sound(json("[0, 1]"), 2));
    ck_assert(!reply_mutates_sound(json("[2]"), 2));
    ck_assert(!reply_mutates_sound(json("[\"x\"]"), 2));
    ck_assert(reply_mutates_sound(NULL, 0));
}
END_TEST

static void teardown(void)
{
    arena_release(&a);
}

Suite *testgen_reply_suite(void)
{
    Suite *s = suite_create("testgen_reply");
    TCase *t = tcase_create("reply");
    tcase_add_unchecked_fixture(t, NULL, teardown);
    tcase_add_loop_test(t, test_replies, 0, (int)ARRAY_LEN(replies));
    tcase_add_loop_test(t, test_inputs, 0, (int)ARRAY_LEN(inputs));
    tcase_add_test(t, test_mutates);
    suite_add_tcase(s, t);
    return s;
}
