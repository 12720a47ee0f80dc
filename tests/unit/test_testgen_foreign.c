/* SPDX-License-Identifier: MIT */
/* Drafts of tasks from other people's forms. */
#include "base.h"

#include <check.h>

#include "testgen/foreign.h"

Suite *testgen_foreign_suite(void);

static struct arena a = ARENA_INIT;
static struct pyparser *parser;
static struct draft d;
static struct err e;

static void setup(void)
{
    parser = pyparser_new(&e);
    ck_assert_ptr_nonnull(parser);
}

static void teardown(void)
{
    pyparser_free(parser);
    arena_release(&a);
}

static struct val *json(const char *text)
{
    struct val *v;
    ck_assert_int_eq(
        val_parse_json(&a, span_str(text), VAL_JSON_STRICT, &v, &e), 0);
    return v;
}

static int python(const char *path, const char *text)
{
    memset(&e, 0, sizeof(e));
    return foreign_python(&d, &a, parser, path, span_str(text), &e);
}

static void ck_span(struct span s, const char *want)
{
    char *got = xasprintf("%.*s", (int)s.n, s.p ? s.p : "");
    ck_assert_str_eq(got, want);
    free(got);
}

#define GETS "def get_inputs(): return []\n"

START_TEST(python_place)
{
    static const struct {
        const char *path, *benchmark;
        int64_t level, problem;
    } cases[] = {
        {"KernelBench/level2/17_Conv2d.py", "kernelbench", 2, 17},
        {"level_4/3_x.py", "kernelbench", 4, 3},
        {"level2/level3/1_x.py", "kernelbench", 3, 1},
        {"level2/x.py", "", -1, -1},
        {"toplevel2/1_x.py", "", -1, -1},
        {"level9999999/1_x.py", "", -1, -1},
        {"17_x.py", "", -1, -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ck_assert_int_eq(python(cases[i].path, "class Model: pass\n" GETS), 0);
        ck_span(val_gets(d.task, "benchmark"), cases[i].benchmark);
        ck_assert_int_eq(val_geti(d.task, "level", -1), cases[i].level);
        ck_assert_int_eq(val_geti(d.task, "problem", -1), cases[i].problem);
    }
}
END_TEST

START_TEST(python_entry)
{
    ck_assert_int_eq(python("a/b.py", "class A: pass\nclass B: pass\n" GETS),
                     0);
    ck_span(d.entry, "B");
    ck_span(val_gets(d.task, "name"), "b");
    ck_assert_int_eq(
        python("b.py", "class Model: pass\nclass B:\n    class C: pass\n" GETS),
        0);
    ck_span(d.entry, "Model");
    /* none of ours */
    ck_assert_int_eq(python("b.py", "class Model: pass\n"), 1);
    ck_assert_int_eq(python("b.py", GETS), 1);
    ck_assert_int_eq(python("b.py", "x = 'get_inputs'\nclass M: pass\n"), 1);
}
END_TEST

START_TEST(row_forms)
{
#define CODE "class M: pass\\n# get_inputs\\n"
    static const struct {
        const char *row, *entry, *name, *licence;
    } cases[] = {
        {"{\"python_code\": \"" CODE "\", \"entry_point\": \"M\", "
         "\"module_name\": \"Mod\", \"licenses\": [\"MIT\", \"BSD\"]}",
         "M", "Mod", "MIT AND BSD"},
        {"{\"reward_model\": {\"ground_truth\": \"" CODE "\"}, "
         "\"extra_info\": {\"entry_point\": \"M\", \"module_name\": \"N\"}}",
         "M", "N", ""},
        {"{\"code\": \"" CODE "\", \"license\": \"MIT\"}", "Model", "Model",
         "MIT"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ck_assert_int_eq(foreign_row(&d, &a, "x.jsonl", json(cases[i].row), &e),
                         0);
        ck_span(d.entry, cases[i].entry);
        ck_span(val_gets(d.task, "name"), cases[i].name);
        ck_span(val_as_str(val_path(d.task, "origin.licence.spdx")),
                cases[i].licence);
    }
}
END_TEST

START_TEST(row_refused)
{
    ck_assert_int_eq(foreign_row(&d, &a, "x", json("{\"a\": 1}"), &e), 1);
    ck_assert_int_eq(foreign_row(&d, &a, "x", json("[]"), &e), 1);
    ck_assert_int_eq(foreign_row(&d, &a, "x", json("{\"code\": \"x\"}"), &e),
                     -1);
    ck_assert_int_eq(e.code, ERR_NO_PROPOSAL);
    static const char *const entries[] = {"a.b", "1a", "a\\nimport os", "if"};
    for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
        char *text = xasprintf("{\"python_code\": \"" CODE
                               "\", \"entry_point\": \"%s\"}",
                               entries[i]);
        ck_assert_int_eq(foreign_row(&d, &a, "x", json(text), &e), -1);
        ck_assert_str_eq(e.msg, "the entry point is no name");
        free(text);
    }
}
END_TEST

#define DEFINITION(axes, inputs)                                               \
    "{\"name\": \"d\", \"axes\": {" axes "}, \"inputs\": {" inputs "}, "       \
    "\"outputs\": {}, \"reference\": \"def run(x): return x\"}"
#define VAR_M  "\"M\": {\"type\": \"var\"}"
#define FOUR_N "\"N\": {\"type\": \"const\", \"value\": 4}"
#define INPUT(name, shape, dtype)                                              \
    "\"" name "\": {\"shape\": " shape ", \"dtype\": \"" dtype "\"}"

static int definition(const char *text, const char *workload)
{
    memset(&e, 0, sizeof(e));
    return foreign_definition(&d, &a, "d.json", json(text),
                              workload ? json(workload) : NULL, &e);
}

START_TEST(definition_shapes)
{
    ck_assert_int_eq(
        definition(
            DEFINITION(VAR_M ", " FOUR_N,
                       INPUT("x", "[\"M\", \"N\"]",
                             "bfloat16") ", " INPUT("s", "null", "float32")),
            NULL),
        0);
    ck_assert_ptr_nonnull(strstr(
        d.tail.p, "    def forward(self, x, s):\n        return run(x, s)\n"));
    ck_assert_ptr_nonnull(
        strstr(d.tail.p, "[torch.randn([64, 4], dtype=torch.bfloat16),\n"
                         "            1.0]"));
    ck_assert_int_eq(
        definition(DEFINITION(VAR_M, INPUT("x", "[\"M\"]", "int32")),
                   "{\"axes\": {\"M\": 7}, \"inputs\": {\"x\": {\"type\": "
                   "\"random\"}}}"),
        0);
    ck_assert_ptr_nonnull(
        strstr(d.tail.p, "torch.randint(0, 2, [7], dtype=torch.int32)"));
}
END_TEST

START_TEST(definition_refused)
{
    static const struct {
        const char *text, *workload, *message;
    } cases[] = {
        {DEFINITION(FOUR_N, INPUT("x", "[\"M\"]", "float32")), NULL,
         "no length for the axis 'M'"},
        {DEFINITION(FOUR_N, INPUT("x", "[\"N\"]", "float8_e4m3fn")), NULL,
         "input 'x' has dtype 'float8_e4m3fn'"},
        {DEFINITION(FOUR_N, INPUT("x", "[\"N\"]", "int32")), NULL,
         "no workload says which integers input 'x' takes"},
        {DEFINITION(FOUR_N, INPUT("x", "[\"N\"]", "int32")),
         "{\"inputs\": {\"x\": {\"type\": \"safetensors\"}}}",
         "input 'x' is kept in a file of its own"},
        {DEFINITION(FOUR_N, INPUT("x): import os #", "[\"N\"]", "float32")),
         NULL, "an input has no usable name"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ck_assert_int_eq(definition(cases[i].text, cases[i].workload), -1);
        ck_assert_str_eq(e.msg, cases[i].message);
    }
    ck_assert_int_eq(definition("{\"axes\": {}, \"inputs\": {}}", NULL), 1);
}
END_TEST

START_TEST(folder)
{
    struct val *config =
        json("{\"single_input_configs\": [{\"b\": 1, \"n\": 2}], "
             "\"single_init_configs\": [{\"eps\": 0.5}], "
             "\"single_shared_configs\": [{\"n\": 8}]}");
    ck_assert_int_eq(foreign_folder(&d, &a, "tasks/norm/func_forward.py",
                                    SPAN_LIT("x"), config, &e),
                     0);
    ck_span(val_gets(d.task, "name"), "norm");
    ck_assert_ptr_nonnull(strstr(d.tail.p, "get_inputs, **{'b': 1, 'n': 8})"));
    ck_assert_ptr_nonnull(
        strstr(d.tail.p, "return [[], {'eps': 0.5, 'n': 8}]"));
    ck_assert_int_eq(foreign_folder(&d, &a, "a/level_1/task_2/func_forward.py",
                                    SPAN_LIT("x"), config, &e),
                     0);
    ck_assert_int_eq(val_geti(d.task, "level", -1), 1);
    ck_assert_int_eq(val_geti(d.task, "problem", -1), 2);
    ck_assert_int_eq(foreign_folder(&d, &a, "f/func_forward.py", SPAN_LIT("x"),
                                    json("{}"), &e),
                     -1);
}
END_TEST

Suite *testgen_foreign_suite(void)
{
    Suite *s = suite_create("testgen_foreign");
    TCase *t = tcase_create("drafts");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, python_place);
    tcase_add_test(t, python_entry);
    tcase_add_test(t, row_forms);
    tcase_add_test(t, row_refused);
    tcase_add_test(t, definition_shapes);
    tcase_add_test(t, definition_refused);
    tcase_add_test(t, folder);
    suite_add_tcase(s, t);
    return s;
}
