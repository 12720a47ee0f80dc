/* SPDX-License-Identifier: MIT */
/* One program file of a run: every odd form gives a record or an error. */
#include "base.h"

#include <check.h>

#include "trajectories/lineage.h"

Suite *traj_import_suite(void);

static struct arena arena;
static bool migrant;

static void setup(void)
{
    arena = (struct arena)ARENA_INIT;
}

static void teardown(void)
{
    arena_release(&arena);
}

static struct val *program(const char *json, struct err *e)
{
    struct val *out = NULL;
    memset(e, 0, sizeof(*e));
    int r = import_program(&arena, span_str(json), SPAN_LIT("p1"),
                           "combined_score", &out, &migrant, e);
    ck_assert_int_eq(r, out ? 0 : -1);
    return out;
}

static bool has_flag(const struct val *rec, const char *name)
{
    const struct val *flags = val_get(rec, "flags");
    for (size_t i = 0; i < val_len(flags); i++)
        if (span_is(val_as_str(val_at(flags, i)), name))
            return true;
    return false;
}

START_TEST(test_whole_program)
{
    struct err e;
    struct val *r =
        program("{\"id\":\"p1\",\"code\":\"x = 1\\n\",\"language\":\"python\","
                "\"parent_id\":\"p0\",\"generation\":2,\"iteration_found\":7,"
                "\"metrics\":{\"combined_score\":1.5,\"correct\":true},"
                "\"metadata\":{\"island\":3},\"prompts\":{\"evaluation\":"
                "{\"system\":\"\",\"user\":\"judge\",\"responses\":[\"9\"]},"
                "\"diff_user\":{\"system\":\"S\",\"user\":\"U\",\"responses\":"
                "[\"R\",\"R2\"]}}}",
                &e);
    ck_assert(span_is(val_gets(r, "program"), "p1"));
    ck_assert(span_is(val_gets(r, "parent"), "p0"));
    ck_assert(span_is(val_gets(r, "code"), "x = 1\n"));
    ck_assert_int_eq(val_geti(r, "iteration", -1), 7);
    ck_assert_int_eq(val_geti(r, "generation", -1), 2);
    ck_assert_int_eq(val_geti(r, "island", -1), 3);
    ck_assert_uint_eq(val_len(val_get(r, "prompt")), 2);
    ck_assert(
        span_is(val_gets(val_at(val_get(r, "prompt"), 1), "content"), "U"));
    ck_assert(span_is(val_gets(r, "reply"), "R"));
    ck_assert(val_as_float(val_path(r, "recorded.score"), 0) == 1.5);
    ck_assert(val_as_bool(val_path(r, "recorded.correct"), false));
    ck_assert(!migrant);
}
END_TEST

START_TEST(test_skydiscover_solution)
{
    struct err e;
    struct val *r = program("{\"id\":\"p1\",\"solution\":\"s\"}", &e);
    ck_assert(span_is(val_gets(r, "code"), "s"));
}
END_TEST

START_TEST(test_migrants)
{
    struct err e;
    ck_assert(program("{\"id\":\"a_migrant_2\",\"code\":\"s\"}", &e));
    ck_assert(migrant);
    ck_assert(program("{\"id\":\"p1\",\"metadata\":{\"migrant\":true}}", &e));
    ck_assert(migrant);
}
END_TEST

static const struct {
    const char *metrics;
    double score; /* -1 = none */
} scores[] = {
    {"{\"combined_score\":2}", 2},
    {"{\"combined_score\":\"2.5\"}", 2.5},
    {"{\"combined_score\":\"fast\"}", -1},
    {"{\"combined_score\":NaN,\"score\":3}", 3},
    {"{\"combined_score\":-Infinity}", -1},
    {"{\"combined_score\":true}", -1},
    {"{\"score\":0.0,\"error\":\"no compiler\"}", 0},
    {"{\"error\":0.0,\"timeout\":true}", -1},
    {"{\"runs\":[{\"ms\":[1,2]},{\"ms\":null}]}", -1},
    {"null", -1},
    {"\"broken\"", -1},
    {"[1,2]", -1},
};

START_TEST(test_scores)
{
    struct err e;
    char json[256];
    snprintf(json, sizeof(json),
             "{\"id\":\"p1\",\"code\":\"c\",\"metrics\":%s}",
             scores[_i].metrics);
    struct val *r = program(json, &e);
    ck_assert_msg(r != NULL, "%s: %s", json, e.msg);
    ck_assert_msg(val_as_float(val_path(r, "recorded.score"), -1) ==
                      scores[_i].score,
                  "%s", json);
    struct span text = val_as_str(val_path(r, "recorded.metrics"));
    struct val *again;
    ck_assert_msg(val_parse_json(&arena, text, VAL_JSON_STRICT, &again, &e) ==
                      0,
                  "metrics are no JSON text: %s", e.msg);
}
END_TEST

START_TEST(test_odd_texts)
{
    struct err e;
    struct val *r =
        program("\xef\xbb\xbf{\"id\":\"p1\",\"code\":\"a\\u0000b\"}", &e);
    ck_assert_uint_eq(val_gets(r, "code").n, 3);
    r = program("{\"id\":\"p1\",\"code\":\"x\\ud83dy\"}", &e);
    ck_assert(span_is(val_gets(r, "code"), "x\xef\xbf\xbdy"));
    ck_assert(has_flag(r, "replacement_character"));
    r = program("{\"id\":\"p1\",\"code\":\"x\xffy\"}", &e);
    ck_assert(span_is(val_gets(r, "code"), "x\xef\xbf\xbdy"));
    ck_assert(has_flag(r, "replacement_character"));
    r = program("{\"id\":\"other\",\"code\":\"x\"}", &e);
    ck_assert(span_is(val_gets(r, "program"), "other"));
    ck_assert(has_flag(r, "id_not_file_name"));
    r = program("{\"code\":\"x\",\"parent_id\":null,\"prompts\":null}", &e);
    ck_assert(span_is(val_gets(r, "program"), "p1"));
    ck_assert(!val_get(r, "parent"));
    r = program("{\"id\":\"p1\",\"code\":null}", &e);
    ck_assert_uint_eq(val_gets(r, "code").n, 0);
    r = program("{\"id\":\"p1\",\"code\":\"c\",\"prompts\":{\"a\":7,\"b\":"
                "{\"user\":\"u\",\"responses\":\"no list\"}}}",
                &e);
    ck_assert_uint_eq(val_len(val_get(r, "prompt")), 1);
    ck_assert(!val_get(r, "reply"));
}
END_TEST

static const char *const broken[] = {
    "",
    "{\"id\":\"p1\",\"code\":\"tr",
    "[1]",
    "7",
    "{\"id\":\"p1\"} x",
    "\xff\xfe{}",
    "{\"a\":[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]}",
};

START_TEST(test_broken)
{
    struct err e;
    ck_assert_msg(!program(broken[_i], &e), "%s", broken[_i]);
    ck_assert_int_eq(e.code, ERR_BROKEN_INPUT);
    ck_assert(e.msg[0] != '\0');
}
END_TEST

START_TEST(test_long_id_is_refused)
{
    struct err e;
    char json[1024], id[600];
    memset(id, 'i', sizeof(id) - 1);
    id[sizeof(id) - 1] = '\0';
    snprintf(json, sizeof(json), "{\"id\":\"%s\",\"code\":\"c\"}", id);
    ck_assert(!program(json, &e));
    ck_assert_int_eq(e.code, ERR_BROKEN_INPUT);
}
END_TEST

START_TEST(test_taskset)
{
    struct taskset t = TASKSET_INIT;
    struct err e = {0};
    struct span id = SPAN_LIT("00112233445566778899aabbccddeeff");
    ck_assert(span_eq(taskset_find(&t, id, &e), id));
    ck_assert(!taskset_find(&t, SPAN_LIT("ReLU"), &e).p);
    ck_assert_int_eq(e.code, ERR_NO_TASK);
    ck_assert(!taskset_find(&t, (struct span){NULL, 0}, &e).p);
    t.loaded = true; /* then an id must be there */
    ck_assert(!taskset_find(&t, id, &e).p);
    taskset_release(&t);
}
END_TEST

START_TEST(test_spill)
{
    struct spill s;
    struct spill_ref a, b;
    struct err e = {0};
    struct val *v = val_map(&arena), *out;
    val_set(&arena, v, "k", val_strz(&arena, "text"));
    ck_assert_int_eq(spill_open(&s, &e), 0);
    ck_assert_int_eq(spill_put(&s, v, &a, &e), 0);
    ck_assert_int_eq(spill_put(&s, val_int(&arena, 7), &b, &e), 0);
    ck_assert_int_eq(spill_get(&s, b, &arena, &out, &e), 0);
    ck_assert_int_eq(val_as_int(out, 0), 7);
    ck_assert_int_eq(spill_get(&s, a, &arena, &out, &e), 0);
    ck_assert(val_equal(out, v));
    b.off = 1000;
    ck_assert_int_eq(spill_get(&s, b, &arena, &out, &e), -1);
    spill_close(&s);
}
END_TEST

Suite *traj_import_suite(void)
{
    Suite *s = suite_create("traj_import");
    TCase *t = tcase_create("program");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_whole_program);
    tcase_add_test(t, test_skydiscover_solution);
    tcase_add_test(t, test_migrants);
    tcase_add_loop_test(t, test_scores, 0, (int)ARRAY_LEN(scores));
    tcase_add_test(t, test_odd_texts);
    tcase_add_loop_test(t, test_broken, 0, (int)ARRAY_LEN(broken));
    tcase_add_test(t, test_long_id_is_refused);
    tcase_add_test(t, test_taskset);
    tcase_add_test(t, test_spill);
    suite_add_tcase(s, t);
    return s;
}
