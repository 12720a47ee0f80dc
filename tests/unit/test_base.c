/* SPDX-License-Identifier: MIT */
/* err, mem, buf, array, map, hash, utf8: what everything stands on. */
#include "base.h"

#include <check.h>

#include "array.h"
#include "err.h"
#include "hash.h"
#include "map.h"
#include "utf8.h"

Suite *base_suite(void);

START_TEST(test_err_masks_control_characters)
{
    struct err e;

    ck_assert_int_eq(err_set(&e, ERR_CORRUPT, "bad '%s'", "a\x1b[31m\nb\xff"),
                     -1);
    ck_assert_str_eq(e.msg, "bad 'a?[31m?b?'");
    ck_assert_str_eq(err_code_name(e.code), "corrupt");
    err_wrap(&e, "stream '%s'", "x");
    ck_assert_str_eq(e.msg, "stream 'x': bad 'a?[31m?b?'");
    ck_assert_str_eq(e.hint, "");
    err_hint(&e, "do %d", 1);
    ck_assert_str_eq(e.hint, "do 1");
}
END_TEST

START_TEST(test_err_sys_names_the_cause)
{
    struct err e;

    errno = ENOENT;
    err_sys(&e, "cannot open '%s'", "f");
    ck_assert_str_eq(e.msg, "cannot open 'f': No such file or directory");
    ck_assert_int_eq(e.sys, ENOENT);
    ck_assert_int_eq(err_set(NULL, ERR_SYS, "no place for it"), -1);
}
END_TEST

START_TEST(test_err_codes_are_a_bijection)
{
    for (int i = 0; i < ERR_COUNT; i++)
        ck_assert_int_eq(err_code_find(err_code_name(i)), i);
    ck_assert_int_eq(err_code_find("no such code"), -1);
    ck_assert_str_eq(err_code_state(ERR_UNSAFE), "rejected");
    ck_assert_str_eq(err_code_state(ERR_TIMEOUT), "failed");
}
END_TEST

START_TEST(test_mask_text_cuts_between_characters)
{
    char out[6];

    mask_text(out, sizeof(out), span_str("abc\xe2\x82\xac!"));
    ck_assert_str_eq(out, "abc"); /* the euro sign needs three bytes */
    mask_text(out, 1, span_str("abc"));
    ck_assert_str_eq(out, "");
}
END_TEST

START_TEST(test_long_err_message_is_cut)
{
    char big[2000];
    struct err e;

    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    err_set(&e, ERR_SYS, "%s", big);
    ck_assert_uint_eq(strlen(e.msg), sizeof(e.msg) - 1);
    err_wrap(&e, "%s", big);
    ck_assert_uint_lt(strlen(e.msg), sizeof(e.msg));
}
END_TEST

START_TEST(test_buf_grow_stops_at_max)
{
    struct buf b = BUF_INIT(10);

    ck_assert_str_eq(b.p, "");
    ck_assert_int_eq(buf_adds(&b, "1234567"), 0);
    ck_assert_int_eq(buf_adds(&b, "890x"), -1);
    ck_assert(b.full);
    ck_assert_str_eq(b.p, "1234567");
    ck_assert_int_eq(buf_printf(&b, "%d", 890), 0);
    ck_assert_str_eq(b.p, "1234567890");
    ck_assert_ptr_null(buf_reserve(&b, SIZE_MAX));
    buf_clear(&b);
    ck_assert_uint_eq(b.n, 0);
    ck_assert(!b.full);
    ck_assert_int_eq(buf_add(&b, "a\0b", 3), 0);
    ck_assert_int_eq(b.p[1], 0);
    ck_assert_int_eq(b.p[3], 0);
    buf_release(&b);
    ck_assert_uint_eq(b.max, 10);
}
END_TEST

START_TEST(test_buf_detach_hands_over)
{
    struct buf b = BUF_INIT(100);
    size_t n;
    char *p = buf_detach(&b, &n);

    ck_assert_uint_eq(n, 0);
    ck_assert_str_eq(p, "");
    free(p);
    buf_adds(&b, "kernel");
    p = buf_detach(&b, &n);
    ck_assert_uint_eq(n, 6);
    ck_assert_str_eq(p, "kernel");
    ck_assert_uint_eq(b.n, 0);
    free(p);
}
END_TEST

START_TEST(test_arena_aligns_and_resets)
{
    struct arena a = ARENA_INIT;
    char *p = arena_alloc(&a, 1), *q = arena_alloc(&a, 1);

    ck_assert_uint_eq((uintptr_t)q % _Alignof(max_align_t), 0);
    ck_assert_ptr_ne(p, q);
    for (int i = 0; i < 1000; i++)
        memset(arena_alloc(&a, 1000), i, 1000);
    arena_alloc(&a, 20 << 20);
    arena_reset(&a);
    ck_assert_uint_le(a.total, 20u << 20);
    ck_assert_str_eq(arena_printf(&a, "%s-%d", "x", 7), "x-7");
    arena_release(&a);
    ck_assert_uint_eq(a.total, 0);
}
END_TEST

START_TEST(test_array_grows)
{
    ARRAY(int) v = {0};

    for (int i = 0; i < 100; i++)
        array_push(&v, i * i);
    ck_assert_uint_eq(v.n, 100);
    ck_assert_int_eq(v.v[99], 99 * 99);
    array_release(&v);
    ck_assert_ptr_null(v.v);
}
END_TEST

START_TEST(test_map_keeps_order_of_insertion)
{
    struct map m = MAP_INIT;
    char key[16];
    int values[1000];

    ck_assert_ptr_null(map_get(&m, span_str("x")));
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof(key), "k%d", (i * 7919) % 1000);
        values[i] = i;
        ck_assert_ptr_null(map_put(&m, span_str(key), &values[i]));
    }
    ck_assert_uint_eq(m.n, 1000);
    for (int i = 0; i < 1000; i++)
        ck_assert_ptr_eq(m.entries[i].value, &values[i]);
    ck_assert_ptr_eq(map_put(&m, span_str("k0"), &values[5]), &values[0]);
    ck_assert_uint_eq(m.n, 1000);
    ck_assert(map_has(&m, span_str("k7")));
    ck_assert(!map_has(&m, (struct span){"k7\0", 3}));
    map_release(&m);
}
END_TEST

START_TEST(test_sha256_known_values)
{
    char hex[HASH_HEX + 1];
    struct sha256 *h;
    char one[HASH_HEX + 1], two[HASH_HEX + 1];

    hash_sha256_hex(hex, SPAN_LIT("abc")); /* FIPS 180-2, appendix B.1 */
    ck_assert_str_eq(hex, "ba7816bf8f01cfea414140de5dae2223"
                          "b00361a396177a9cb410ff61f20015ad");
    /* fields cannot run into one another */
    h = sha256_new();
    sha256_add_field(h, SPAN_LIT("ab"));
    sha256_add_field(h, SPAN_LIT("c"));
    sha256_hex(h, one);
    sha256_free(h);
    h = sha256_new();
    sha256_add_field(h, SPAN_LIT("a"));
    sha256_add_field(h, SPAN_LIT("bc"));
    sha256_hex(h, two);
    sha256_free(h);
    ck_assert_str_ne(one, two);
}
END_TEST

static const struct {
    const char *bytes;
    size_t bad_at; /* offset of the first invalid byte */
    const char *repaired;
    long count;
} utf8_cases[] = {
    {"plain ascii text", 16, "plain ascii text", 0},
    {"caf\xc3\xa9", 5, "caf\xc3\xa9", 0},
    {"\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80", 0},
    {"a\xff"
     "b",
     1,
     "a\xef\xbf\xbd"
     "b",
     1},
    {"\xc0\x80", 0, "\xef\xbf\xbd\xef\xbf\xbd", 2}, /* overlong NUL */
    {"\xed\xa0\x80", 0, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 3},
    {"\xf4\x90\x80\x80", 0, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
     4},
    {"x\xe2\x82", 1, "x\xef\xbf\xbd", 1}, /* cut: one replacement */
};

START_TEST(test_utf8_valid_and_repair)
{
    struct span s = span_str(utf8_cases[_i].bytes);
    struct buf b = BUF_INIT(1000);

    ck_assert_uint_eq(utf8_valid(s), utf8_cases[_i].bad_at);
    ck_assert_int_eq(utf8_repair(&b, s), utf8_cases[_i].count);
    ck_assert_str_eq(b.p, utf8_cases[_i].repaired);
    buf_release(&b);
}
END_TEST

Suite *base_suite(void)
{
    Suite *s = suite_create("base");
    TCase *t = tcase_create("base");

    tcase_add_test(t, test_err_masks_control_characters);
    tcase_add_test(t, test_err_sys_names_the_cause);
    tcase_add_test(t, test_err_codes_are_a_bijection);
    tcase_add_test(t, test_mask_text_cuts_between_characters);
    tcase_add_test(t, test_long_err_message_is_cut);
    tcase_add_test(t, test_buf_grow_stops_at_max);
    tcase_add_test(t, test_buf_detach_hands_over);
    tcase_add_test(t, test_arena_aligns_and_resets);
    tcase_add_test(t, test_array_grows);
    tcase_add_test(t, test_map_keeps_order_of_insertion);
    tcase_add_test(t, test_sha256_known_values);
    tcase_add_loop_test(t, test_utf8_valid_and_repair, 0,
                        ARRAY_LEN(utf8_cases));
    suite_add_tcase(s, t);
    return s;
}
