/* SPDX-License-Identifier: MIT */
/* Filters of km-cat, prompts, names and splits of shards. */
#include "base.h"

#include <check.h>

#include "export/filter.h"
#include "export/prompt.h"
#include "export/records.h"
#include "export/shard.h"

Suite *export_parts_suite(void);

static struct arena arena;

static void setup(void)
{
    arena = (struct arena)ARENA_INIT;
}

static void teardown(void)
{
    arena_release(&arena);
    prompt_release();
}

static struct val *json(const char *text)
{
    struct val *v = NULL;
    struct err e;
    ck_assert_int_eq(
        val_parse_json(&arena, span_str(text), VAL_JSON_STRICT, &v, &e), 0);
    return v;
}

static bool passes(const char *where, const struct val *rec)
{
    struct filter f = {0};
    ck_assert_int_eq(filter_where(&f, where), 0);
    bool r = filter_passes(&f, rec);
    filter_release(&f);
    return r;
}

START_TEST(test_where)
{
    struct val *r = json("{\"kind\":\"task\",\"state\":\"ok\",\"n\":3,"
                         "\"f\":1.5,\"t\":true,\"m\":{\"a\":\"x=y\"},"
                         "\"why\":[\"a.b\",\"c.d\"],\"z\":null}");
    ck_assert(passes("n=3", r) && !passes("n=4", r));
    ck_assert(passes("f=1.50", r) && !passes("f=1.5x", r));
    ck_assert(passes("t=true", r) && !passes("t=false", r));
    ck_assert(passes("m.a=x=y", r) && !passes("m.b=x", r));
    ck_assert(passes("why=c.d", r) && !passes("why=c", r));
    ck_assert(passes("z=", r) && passes("none=", r) && !passes("n=", r));
}
END_TEST

START_TEST(test_filters)
{
    struct filter f = {0};
    struct val *r = json("{\"kind\":\"step\",\"state\":\"failed\"}");
    ck_assert(filter_passes(&f, r));
    ck_assert_int_eq(filter_kinds(&f, "task,step"), 0);
    ck_assert(filter_passes(&f, r));
    ck_assert_int_eq(filter_states(&f, "ok,rejected"), 0);
    ck_assert(!filter_passes(&f, r));
    ck_assert_int_eq(filter_kinds(&f, "a,,b"), -1);
    ck_assert_int_eq(filter_states(&f, "good"), -1);
    ck_assert_int_eq(filter_where(&f, "=x"), -1);
    ck_assert_int_eq(filter_where(&f, "x"), -1);
    filter_release(&f);
}
END_TEST

START_TEST(test_shard_names)
{
    char name[SHARD_NAME_MAX];
    shard_name(name, "sft", "train", 3, "msgpack.zst");
    ck_assert_str_eq(name, "sft-00003.msgpack.zst");
    ck_assert(shard_name_ok(name));
    shard_name(name, "rl_prompt", "valid", 123456, "jsonl");
    ck_assert_str_eq(name, "rl_prompt-valid-123456.jsonl");
    ck_assert(shard_name_ok(name));
    static const char *const bad[] = {
        "sft-3.jsonl",          "../sft-00000.jsonl",
        "sft-00000.jsonl.part", "sft00000.jsonl",
        "grpo-.msgpack.zst",    "manifest.json",
        "sft-0000a.jsonl",      "",
        "sft-test-00000.jsonl",
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_msg(!shard_name_ok(bad[i]), "%s", bad[i]);
}
END_TEST

/* One in four problems, and near duplicates never apart. */
START_TEST(test_splits)
{
    int valid = 0;
    for (int i = 0; i < 1000; i++) {
        char id[32];
        snprintf(id, sizeof(id), "task%d", i);
        struct task t = {.id = span_str(id)};
        struct task twin = {.id = SPAN_LIT("other"), .cluster = span_str(id)};
        const char *split = split_of(&t, .25);
        ck_assert_str_eq(split, split_of(&twin, .25));
        ck_assert_str_eq(split_of(&t, 0), "train");
        ck_assert_str_eq(split_of(&t, 1), "valid");
        valid += strcmp(split, "valid") == 0;
    }
    ck_assert_int_gt(valid, 200);
    ck_assert_int_lt(valid, 300);
}
END_TEST

static struct span content(const struct prompt *p, size_t i)
{
    return val_gets(val_at(p->messages, i), "content");
}

static bool contains(struct span s, const char *part)
{
    return memmem(s.p, s.n, part, strlen(part)) != NULL;
}

START_TEST(test_prompts)
{
    static const char *const languages[] = {"torch", "c"};
    struct span language = span_str(languages[_i]);
    struct prompt first, step;
    struct err e;
    /* What looks like a mark in a source stays as it is. */
    struct span reference = SPAN_LIT("REF {{parent}}\n\n");
    ck_assert_int_eq(prompt_render(&arena, NULL, language, reference,
                                   (struct span){NULL, 0}, &first, &e),
                     0);
    ck_assert_uint_eq(val_len(first.messages), 2);
    ck_assert(contains(content(&first, 1), "\nREF {{parent}}\n```\n"));
    ck_assert_int_eq(prompt_render(&arena, NULL, language, reference,
                                   SPAN_LIT("PAR\n"), &step, &e),
                     0);
    ck_assert(contains(content(&step, 1), "\nPAR\n```\n"));
    ck_assert(strncmp(first.id, "first_", 6) == 0);
    ck_assert(strncmp(step.id, "step_", 5) == 0);
}
END_TEST

START_TEST(test_no_template)
{
    struct prompt p;
    struct err e;
    ck_assert_int_eq(prompt_render(&arena, NULL, SPAN_LIT("../c"),
                                   SPAN_LIT("r"), SPAN_LIT("p"), &p, &e),
                     -1);
    ck_assert_int_eq(e.code, ERR_UNAVAILABLE);
}
END_TEST

START_TEST(test_answer)
{
    struct val *v =
        prompt_answer(&arena, SPAN_LIT("torch"), SPAN_LIT("x = 1\n"));
    ck_assert(span_is(val_as_str(v), "```python\nx = 1\n```"));
    v = prompt_answer(&arena, SPAN_LIT("c"), SPAN_LIT(""));
    ck_assert(span_is(val_as_str(v), "```c\n\n```"));
}
END_TEST

Suite *export_parts_suite(void)
{
    Suite *s = suite_create("export_parts");
    TCase *t = tcase_create("parts");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_where);
    tcase_add_test(t, test_filters);
    tcase_add_test(t, test_shard_names);
    tcase_add_test(t, test_splits);
    tcase_add_loop_test(t, test_prompts, 0, 2);
    tcase_add_test(t, test_no_template);
    tcase_add_test(t, test_answer);
    suite_add_tcase(s, t);
    return s;
}
