/* SPDX-License-Identifier: MIT */
/* Values and their two encodings, with what hostile input can ask for. */
#include "base.h"

#include <check.h>
#include <math.h>

#include "val.h"

Suite *val_suite(void);

static struct arena a;

static void setup(void)
{
    a = (struct arena)ARENA_INIT;
}

static void teardown(void)
{
    arena_release(&a);
}

static struct val *sample(void)
{
    struct val *m = val_map(&a), *l = val_list(&a);

    val_push(&a, l, val_int(&a, -1));
    val_push(&a, l, val_int(&a, INT64_MIN));
    val_push(&a, l, val_int(&a, INT64_MAX));
    val_push(&a, l, val_int(&a, 200));
    val_push(&a, l, val_float(&a, 0.1));
    val_push(&a, l, val_float(&a, 3));
    val_push(&a, l, val_float(&a, 1e300));
    val_set(&a, m, "numbers", l);
    val_set(&a, m, "text", val_str(&a, SPAN_LIT("a\0\"\\\n\x1f\xc3\xa9")));
    val_set(&a, m, "nil", val_nil(&a));
    val_set(&a, m, "yes", val_bool(&a, true));
    val_set(&a, m, "empty", val_map(&a));
    return m;
}

START_TEST(test_pack_unpack_is_identity)
{
    struct buf b = BUF_INIT(1 << 20);
    struct val *v = sample(), *back;
    size_t used;
    struct err e;

    ck_assert_int_eq(val_pack(&b, v), 0);
    ck_assert_int_eq(val_unpack(&a, buf_span(&b), &used, &back, &e), 0);
    ck_assert_uint_eq(used, b.n);
    ck_assert(val_equal(v, back));
    for (size_t n = 0; n < b.n; n++) /* cut anywhere: wants more */
        ck_assert_int_eq(
            val_unpack(&a, (struct span){b.p, n}, &used, &back, &e), 1);
    buf_release(&b);
}
END_TEST

START_TEST(test_json_is_identity)
{
    struct buf b = BUF_INIT(1 << 20);
    struct val *v = sample(), *back;
    struct err e;

    ck_assert_int_eq(val_json(&b, v), 0);
    ck_assert_ptr_null(memchr(b.p, '\n', b.n));
    ck_assert_int_eq(
        val_parse_json(&a, buf_span(&b), VAL_JSON_STRICT, &back, &e), 0);
    ck_assert(val_equal(v, back));
    buf_release(&b);
}
END_TEST

static const struct {
    const char *bytes;
    size_t n;
    int rc;
    const char *message;
} hostile[] = {
    /* an array of 268 million items in five bytes: nothing may be reserved */
    {"\xdd\x0f\xff\xff\xff", 5, 1, NULL},
    {"\xdf\xff\xff\xff\xff", 5, 1, NULL},
    {"\xdb\xff\xff\xff\xff", 5, 1, NULL},
    {"\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91\x91"
     "\xc0",
     18, -1, "msgpack: nested too deep at byte 17"},
    {"\xc1", 1, -1, "msgpack: type that no record has at byte 1"},
    {"\xc4\x00", 2, -1, "msgpack: type that no record has at byte 1"},
    {"\xc7\x00\x01", 3, -1, "msgpack: type that no record has at byte 1"},
    {"\xcb\x7f\xf8\0\0\0\0\0\0", 9, -1,
     "msgpack: number is not finite at byte 9"},
    {"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 9, -1,
     "msgpack: integer beyond int64 at byte 9"},
    {"\xa1\xff", 2, -1, "msgpack: text is not UTF-8 at byte 1"},
    {"\x81\x01\x02", 3, -1, "msgpack: map key is not a text at byte 2"},
    {"\x82\xa1"
     "a\x01\xa1"
     "a\x02",
     7, -1, "msgpack: map has the same key twice at byte 7"},
    {"\x81\xa1\0\x01", 4, -1, "msgpack: map key holds a NUL at byte 3"},
};

START_TEST(test_unpack_hostile)
{
    struct val *v;
    size_t used;
    struct err e = {0};
    struct span in = {hostile[_i].bytes, hostile[_i].n};
    size_t before = a.total;

    ck_assert_int_eq(val_unpack(&a, in, &used, &v, &e), hostile[_i].rc);
    if (hostile[_i].message)
        ck_assert_str_eq(e.msg, hostile[_i].message);
    ck_assert_uint_le(a.total - before, 1u << 17);
}
END_TEST

START_TEST(test_unpack_signs_and_widths)
{
    static const struct {
        const char *bytes;
        size_t n;
        int64_t want;
    } c[] = {{"\x7f", 1, 127},
             {"\xe0", 1, -32},
             {"\xcc\xff", 2, 255},
             {"\xcd\xff\xff", 3, 65535},
             {"\xce\xff\xff\xff\xff", 5, 4294967295},
             {"\xd0\x80", 2, -128},
             {"\xd1\x80\x00", 3, -32768},
             {"\xd2\x80\x00\x00\x00", 5, -2147483648LL},
             {"\xd3\xff\xff\xff\xff\xff\xff\xff\xfe", 9, -2}};

    for (size_t i = 0; i < ARRAY_LEN(c); i++) {
        struct val *v;
        size_t used;
        struct err e;
        ck_assert_int_eq(
            val_unpack(&a, (struct span){c[i].bytes, c[i].n}, &used, &v, &e),
            0);
        ck_assert_int_eq(v->type, VAL_INT);
        ck_assert_int_eq(v->i, c[i].want);
    }
}
END_TEST

START_TEST(test_float_stays_a_float_in_json)
{
    struct buf b = BUF_INIT(1000);
    struct val *l = val_list(&a);

    val_push(&a, l, val_float(&a, 1));
    val_push(&a, l, val_float(&a, 0.1));
    val_push(&a, l, val_float(&a, 1e22));
    val_push(&a, l, val_float(&a, NAN));
    val_push(&a, l, val_float(&a, -INFINITY));
    ck_assert_int_eq(val_json(&b, l), 0);
    ck_assert_str_eq(b.p, "[1.0,0.1,1e+22,null,null]");
    buf_release(&b);
}
END_TEST

START_TEST(test_json_lenient_reads_what_python_writes)
{
    static const char text[] =
        "{\"a\": NaN, \"b\": -Infinity, \"c\": [Infinity, 1e999], "
        "\"d\": \"NaN \\ud800 \\ud83d\\ude00\", \"e\": "
        "12345678901234567890123}";
    struct val *v;
    struct err e;

    ck_assert_int_eq(
        val_parse_json(&a, span_str(text), VAL_JSON_STRICT, &v, &e), -1);
    ck_assert_int_eq(
        val_parse_json(&a, span_str(text), VAL_JSON_LENIENT, &v, &e), 0);
    ck_assert_int_eq(val_get(v, "a")->type, VAL_NIL);
    ck_assert_int_eq(val_get(v, "b")->type, VAL_NIL);
    ck_assert_int_eq(val_at(val_get(v, "c"), 1)->type, VAL_NIL);
    ck_assert(span_is(val_gets(v, "d"), "NaN \xef\xbf\xbd \xf0\x9f\x98\x80"));
    ck_assert(span_is(val_gets(v, "e"), "12345678901234567890123"));
}
END_TEST

START_TEST(test_json_bad)
{
    static const char *const bad[] = {
        "",         "{",     "{\"a\":1,\"a\":2}", "[1,]",
        "\"\xff\"", "{} {}", "\"\\ud800\""};
    char deep[101];
    struct val *v;
    struct err e;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_int_eq(
            val_parse_json(&a, span_str(bad[i]), VAL_JSON_STRICT, &v, &e), -1);
    memset(deep, '[', 100);
    deep[100] = '\0';
    ck_assert_int_eq(
        val_parse_json(&a, span_str(deep), VAL_JSON_LENIENT, &v, &e), -1);
    ck_assert_str_eq(e.msg, "json: nested too deep at byte 16");
}
END_TEST

START_TEST(test_getters_accept_anything)
{
    struct val *m = sample();

    ck_assert_ptr_null(val_get(NULL, "x"));
    ck_assert_ptr_null(val_get(val_int(&a, 1), "x"));
    ck_assert_int_eq(val_geti(m, "text", 7), 7);
    ck_assert_ptr_null(val_gets(m, "numbers").p);
    ck_assert_int_eq(val_as_int(val_float(&a, 3), 0), 3);
    ck_assert_int_eq(val_as_int(val_float(&a, 3.5), 0), 0);
    ck_assert_int_eq(val_as_int(val_float(&a, 0x1p63), 9), 9);
    ck_assert(val_as_float(val_int(&a, 2), 0) == 2.0);
    val_set(&a, m, "empty", sample());
    ck_assert(val_as_bool(val_path(m, "empty.yes"), false));
    ck_assert_ptr_null(val_path(m, "empty.yes.more"));
    val_del(m, "text");
    ck_assert_ptr_null(val_get(m, "text"));
    ck_assert_uint_eq(val_len(m), 4);
}
END_TEST

START_TEST(test_text_is_repaired)
{
    ck_assert(
        span_is(val_as_str(val_text(&a, SPAN_LIT("a\xff"))), "a\xef\xbf\xbd"));
}
END_TEST

Suite *val_suite(void)
{
    Suite *s = suite_create("val");
    TCase *t = tcase_create("val");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_pack_unpack_is_identity);
    tcase_add_test(t, test_json_is_identity);
    tcase_add_loop_test(t, test_unpack_hostile, 0, ARRAY_LEN(hostile));
    tcase_add_test(t, test_unpack_signs_and_widths);
    tcase_add_test(t, test_float_stays_a_float_in_json);
    tcase_add_test(t, test_json_lenient_reads_what_python_writes);
    tcase_add_test(t, test_json_bad);
    tcase_add_test(t, test_getters_accept_anything);
    tcase_add_test(t, test_text_is_repaired);
    suite_add_tcase(s, t);
    return s;
}
