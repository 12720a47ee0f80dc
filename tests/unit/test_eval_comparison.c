/* SPDX-License-Identifier: MIT */
/* Reading what KernelBench recorded of a run, and the table beside verdicts. */
#include "base.h"

#include <check.h>

#include "evaluate/confusion.h"
#include "evaluate/kernelbench_results.h"
#include "evaluate/kernelbench_run.h"

Suite *eval_comparison_suite(void);

static struct val *parsed(struct arena *a, const char *text)
{
    struct err e = {0};
    struct val *v = NULL;

    ck_assert_msg(val_parse_json(a, span_str(text), 0, &v, &e) == 0, "%s",
                  e.msg);
    return v;
}

/* ---- eval_results.json ---- */

static void reads(struct kb_results *r, const char *text)
{
    struct err e = {0};
    ck_assert_msg(kb_results_read(r, span_str(text), &e) == 0, "%s", e.msg);
}

static const struct kb_result *found(const struct kb_results *r,
                                     int32_t problem, int32_t sample)
{
    const struct kb_result *x = kb_results_find(r, problem, sample);
    ck_assert_msg(x != NULL, "problem %d sample %d", (int)problem, (int)sample);
    return x;
}

START_TEST(test_forms_of_results)
{
    struct kb_results r;

    /* one result a problem, with Python's NaN */
    reads(&r, "{\"10\": {\"sample_id\": 0, \"compiled\": true, "
              "\"correctness\": true, \"metadata\": {\"hardware\": \"GPU\"}, "
              "\"runtime\": 26.5}, \"9\": {\"compiled\": true, "
              "\"correctness\": false, \"metadata\": {}, \"runtime\": NaN}}");
    ck_assert_uint_eq(r.n, 2);
    ck_assert_int_eq(r.v[0].problem, 9);
    ck_assert_int_eq(found(&r, 10, 0)->said, KB_CORRECT);
    ck_assert(found(&r, 10, 0)->ms == 26.5);
    ck_assert(span_is(found(&r, 10, 0)->hardware, "GPU"));
    ck_assert_int_eq(found(&r, 9, 0)->said, KB_WRONG);
    ck_assert(found(&r, 9, 0)->ms == 0);
    ck_assert(kb_results_find(&r, 9, 1) == NULL);
    kb_results_release(&r);

    /* a list of samples, one of them tried again */
    reads(&r, "{\"3\": [{\"sample_id\": 1, \"compiled\": true, "
              "\"correctness\": true, \"runtime\": -1.0}, "
              "{\"sample_id\": 0, \"compiled\": false, \"correctness\": "
              "false}, {\"sample_id\": 0, \"compiled\": true, "
              "\"correctness\": false}]}");
    ck_assert_uint_eq(r.n, 2);
    ck_assert_uint_eq(r.repeated, 1);
    ck_assert_int_eq(found(&r, 3, 0)->said, KB_WRONG);
    ck_assert_int_eq(found(&r, 3, 1)->said, KB_CORRECT);
    ck_assert(found(&r, 3, 1)->ms == 0);
    kb_results_release(&r);

    /* results by sample */
    reads(&r, "{\"3\": {\"0\": {\"compiled\": true, \"correctness\": true}, "
              "\"12\": {\"compiled\": false, \"correctness\": false}}}");
    ck_assert_int_eq(found(&r, 3, 0)->said, KB_CORRECT);
    ck_assert_int_eq(found(&r, 3, 12)->said, KB_NOT_COMPILED);
    kb_results_release(&r);
}
END_TEST

/* METADATA of a result that is not correct. */
static void is_said(const char *compiled, const char *metadata,
                    enum kb_said said, const char *reason)
{
    struct kb_results r;
    char *text = xasprintf("{\"1\": {\"compiled\": %s, \"correctness\": false,"
                           " \"metadata\": %s}}",
                           compiled, metadata);

    reads(&r, text);
    ck_assert_msg(found(&r, 1, 0)->said == said, "%s", metadata);
    ck_assert_msg(span_is(found(&r, 1, 0)->reason, reason), "%s: %.*s",
                  metadata, (int)r.v[0].reason.n, r.v[0].reason.p);
    kb_results_release(&r);
    free(text);
}

START_TEST(test_what_a_result_says)
{
    is_said(
        "false",
        "{\"compilation_error\": \"Error building extension 'a': "
        "[1/2]\\nmain.cu(7): error: identifier \\\"x\\\" is undefined\\n\"}",
        KB_NOT_COMPILED, "error: identifier \"x\" is undefined");
    is_said("false", "{\"other_error\": \"error: no\"}", KB_NOT_COMPILED,
            "error: no");
    is_said("false", "{\"cuda_error\": \"\\nCUDA Error: illegal\\nmore\"}",
            KB_RUNTIME_ERROR, "CUDA Error: illegal");
    is_said("true", "{\"runtime_error\": \"shapes\\u001b[31m\"}",
            KB_RUNTIME_ERROR, "shapes?[31m");
    is_said("true", "{\"eval_0\": {\"runtime_error\": \"deep\"}}",
            KB_RUNTIME_ERROR, "deep");
    is_said("true", "{\"correctness_issue\": \"Output mismatch\"}", KB_WRONG,
            "Output mismatch");
    is_said("true", "{}", KB_WRONG, "");
    is_said("true", "null", KB_WRONG, "");
    is_said("true", "{\"runtime_error\": [\"x\"]}", KB_WRONG, "");
}
END_TEST

static void counts_broken(const char *text, size_t broken, size_t results)
{
    struct kb_results r;

    reads(&r, text);
    ck_assert_msg(r.broken == broken && r.n == results, "%s: %zu %zu", text,
                  r.broken, r.n);
    kb_results_release(&r);
}

static void refuses(struct span text, enum err_code code)
{
    struct kb_results r;
    struct err e = {0};

    ck_assert_int_eq(kb_results_read(&r, text, &e), -1);
    ck_assert_msg(e.code == code, "%s", e.msg);
    kb_results_release(&r);
}

START_TEST(test_broken_results)
{
    static const char good[] =
        "\"2\": {\"compiled\": true, \"correctness\": true}";
    static const char *const bad[] = {
        "\"x\": {\"compiled\": true, \"correctness\": true}",
        "\"07\": {\"compiled\": true, \"correctness\": true}",
        "\"-1\": {\"compiled\": true, \"correctness\": true}",
        "\"1234567\": {\"compiled\": true, \"correctness\": true}",
        "\"\": {}",
        "\"1\": {}",
        "\"1\": 7",
        "\"1\": [null]",
        "\"1\": {\"compiled\": \"True\", \"correctness\": true}",
        "\"1\": {\"compiled\": true}",
        "\"1\": {\"sample_id\": -4, \"compiled\": true, \"correctness\": true}",
        "\"1\": {\"sample_id\": \"a\", \"compiled\": true, \"correctness\": "
        "true}",
        "\"1\": {\"sample_id\": 1e300, \"compiled\": true, \"correctness\": "
        "true}",
    };
    struct kb_results r;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char *text = xasprintf("{%s, %s}", bad[i], good);
        counts_broken(text, 1, 1);
        free(text);
    }
    counts_broken("{}", 0, 0);
    refuses(SPAN_LIT("[]"), ERR_BROKEN_INPUT);
    refuses(SPAN_LIT("{\"1\": {\"compiled\": tr"), ERR_CORRUPT);
    refuses(SPAN_LIT(""), ERR_TRUNCATED);
    refuses((struct span){"{", KB_RESULTS_BYTES + 1}, ERR_TOO_LARGE);
    memset(&r, 0, sizeof(r));
    ck_assert(kb_results_find(&r, 1, 0) == NULL);
}
END_TEST

START_TEST(test_numbers)
{
    ck_assert_int_eq(kb_number(SPAN_LIT("0")), 0);
    ck_assert_int_eq(kb_number(SPAN_LIT("999999")), 999999);
    ck_assert_int_eq(kb_number(SPAN_LIT("1000000")), -1);
    ck_assert_int_eq(kb_number(SPAN_LIT("01")), -1);
    ck_assert_int_eq(kb_number(SPAN_LIT("1 ")), -1);
    ck_assert_int_eq(kb_number(SPAN_LIT("")), -1);
}
END_TEST

/* ---- tasks by place ---- */

static void place(struct kb_places *p, const char *task)
{
    struct arena a = ARENA_INIT;
    kb_places_add(p, parsed(&a, task));
    arena_release(&a);
}

START_TEST(test_places)
{
    struct kb_places p = KB_PLACES_INIT;

    place(&p, "{\"id\": \"a\", \"name\": \"no place\"}");
    place(&p, "{\"id\": \"b\", \"level\": 1, \"problem\": 2, \"variant_of\": "
              "\"c\", \"benchmark\": \"kernelbench\"}");
    ck_assert_uint_eq(p.ids.n, 0);
    place(&p, "{\"id\": \"c\", \"level\": 1, \"problem\": 2, \"benchmark\": "
              "\"other\"}");
    place(&p, "{\"id\": \"d\", \"level\": 12, \"problem\": 0}");
    ck_assert_uint_eq(p.ids.n, 2);
    ck_assert_uint_eq(p.repeated, 0);
    place(&p, "{\"id\": \"e\", \"level\": 1, \"problem\": 2, \"benchmark\": "
              "\"kernelbench\"}");
    place(&p, "{\"id\": \"f\", \"level\": 1, \"problem\": 2, \"benchmark\": "
              "\"kernelbench\"}");
    ck_assert_uint_eq(p.ids.n, 2);
    ck_assert_uint_eq(p.repeated, 2);
    /* the id comes first in a place */
    ck_assert_str_eq(**(char ***)map_ref(&p.ids, SPAN_LIT("1/2")), "e");
    kb_places_release(&p);
}
END_TEST

/* ---- the table ---- */

#define REVISION(program, recorded)                                            \
    "{\"kind\": \"revision\", \"state\": \"ok\", \"program\": \"" program      \
    "\", \"recorded\": {" recorded "}}"
#define VERDICT(outcome, kernelbench, kbv, strict, more)                       \
    "{\"kind\": \"verdict\", \"state\": \"ok\", \"outcome\": \"" outcome       \
    "\", \"pass\": {\"kernelbench\": " kernelbench ", \"kbv\": " kbv           \
    ", \"strict\": " strict "}" more "}"

static void add(struct confusion *c, const char *revision, const char *verdict)
{
    struct arena a = ARENA_INIT;
    confusion_add(c, parsed(&a, revision),
                  verdict ? parsed(&a, verdict) : NULL);
    arena_release(&a);
}

static void add_all(struct confusion *c)
{
    add(c, REVISION("agrees", "\"outcome\": \"correct\", \"ms\": 2.0"),
        VERDICT("ok", "true", "true", "true",
                ", \"time\": {\"candidate_ns\": 1500000.0}"));
    add(c, REVISION("half", "\"outcome\": \"correct\", \"ms\": 2.0"),
        VERDICT("wrong", "true", "false", "false",
                ", \"feedback\": \"Wrong: there.\\nmore\", \"time\": "
                "{\"candidate_ns\": 1500000.0}"));
    add(c, REVISION("cheats", "\"outcome\": \"correct\", \"ms\": 2.0"),
        VERDICT("cheat", "false", "false", "false", ""));
    add(c,
        REVISION("builds", "\"outcome\": \"not_compiled\", \"reason\": \"no "
                           "nvcc\""),
        VERDICT("ok", "true", "true", "true", ", \"feedback\": \"Correct.\""));
    add(c, REVISION("raises", "\"outcome\": \"runtime_error\""),
        VERDICT("runtime_error", "false", "false", "false", ""));
    add(c, REVISION("differs", "\"outcome\": \"wrong\""),
        VERDICT("load_failed", "false", "false", "false", ""));
    add(c, REVISION("unknown", "\"outcome\": \"absent\""),
        VERDICT("ok", "true", "true", "true", ""));
    add(c, REVISION("no task", "\"outcome\": \"correct\""),
        "{\"state\": \"failed\", \"outcome\": \"infrastructure\", \"why\": "
        "[\"evaluate.no_task\"], \"pass\": {\"strict\": null}}");
    add(c,
        "{\"state\": \"rejected\", \"why\": [\"evaluate.too_large\"], "
        "\"program\": \"large\"}",
        NULL);
}

static const char counts[] =
    "recorded         kernels kernelbench    kbv strict  wrong not built  "
    "broke rejected no verdict\n"
    "correct                4           2      1      1      1         0      "
    "0        1          1\n"
    "wrong                  1           0      0      0      0         1      "
    "0        0          0\n"
    "did not compile        1           1      1      1      0         0      "
    "0        0          0\n"
    "runtime error          1           0      0      0      0         0      "
    "1        0          0\n"
    "absent                 2           1      1      1      0         0      "
    "0        0          1\n"
    "all                    9           4      3      3      1         1      "
    "1        1          2\n"
    "no verdict: 1 evaluate.no_task\n"
    "no verdict: 1 evaluate.too_large\n";

static const char half[] =
    "half: correct, here wrong (passes kernelbench); here: Wrong: there; 2 ms "
    "recorded, 1.5 ms here\n";
static const char others[] =
    "cheats: correct, here cheat (passes none)\n"
    "builds: did not compile, here ok (passes kernelbench, kbv, strict); "
    "recorded: no nvcc\n";

START_TEST(test_table)
{
    static const char *const judgements[] = {"strict", "kernelbench"};

    for (size_t i = 0; i < ARRAY_LEN(judgements); i++) {
        struct confusion *c = confusion_new(judgements[i]);
        struct buf b = BUF_INIT(1 << 20);
        char *want = xasprintf("%sdisagree under %s: %d\n%s%s", counts,
                               judgements[i], i ? 2 : 3, i ? "" : half, others);
        add_all(c);
        confusion_print(c, &b);
        ck_assert_str_eq(b.p, want);
        free(want);
        buf_release(&b);
        confusion_free(c);
    }
}
END_TEST

Suite *eval_comparison_suite(void)
{
    Suite *s = suite_create("eval_comparison");
    TCase *t = tcase_create("comparison");

    tcase_add_test(t, test_forms_of_results);
    tcase_add_test(t, test_what_a_result_says);
    tcase_add_test(t, test_broken_results);
    tcase_add_test(t, test_numbers);
    tcase_add_test(t, test_places);
    tcase_add_test(t, test_table);
    suite_add_tcase(s, t);
    return s;
}
