/* SPDX-License-Identifier: MIT */
/* The allocator that torch gets on a GPU. Its memory is never touched, so any
 * numbers do for addresses. */
#include "base.h"

#include <check.h>

#include "run/runner_arena.h"

#define BASE UINT64_C(0x700000000000)
#define SIZE ((uint64_t)1 << 20)

Suite *run_arena_suite(void);

static uint64_t take(ssize_t size)
{
    return (uintptr_t)km_arena_alloc(size, 0, NULL);
}

static void give(uint64_t at, ssize_t size)
{
    km_arena_free((void *)(uintptr_t)at, size, 0, NULL);
}

START_TEST(test_pieces_lie_apart_in_the_arena)
{
    km_arena_set(BASE, SIZE);
    ck_assert_uint_eq(take(1), BASE);
    ck_assert_uint_eq(take(512), BASE + 512);
    ck_assert_uint_eq(take(513), BASE + 1024);
    ck_assert_uint_eq(take(0), BASE + 2048);
    /* what does not fit comes from the driver, and there is none */
    ck_assert_uint_eq(take((ssize_t)SIZE), 0);
    ck_assert_uint_eq(take((ssize_t)(SIZE - 2560)), BASE + 2560);
    ck_assert_uint_eq(take(1), 0);
}
END_TEST

START_TEST(test_what_is_freed_joins_its_neighbours)
{
    uint64_t v[8];

    km_arena_set(BASE, SIZE);
    for (int i = 0; i < 8; i++)
        v[i] = take((ssize_t)(SIZE / 8));
    ck_assert_uint_eq(take(1), 0);
    give(v[1], SIZE / 8);
    give(v[3], SIZE / 8);
    ck_assert_uint_eq(take((ssize_t)(SIZE / 4)), 0);
    give(v[2], SIZE / 8); /* between both */
    ck_assert_uint_eq(take((ssize_t)(SIZE / 8 * 3)), v[1]);
    for (int i = 7; i >= 4; i--) /* before the next */
        give(v[i], SIZE / 8);
    give(v[0], SIZE / 8);
    ck_assert_uint_eq(take((ssize_t)(SIZE / 2)), v[4]);
    give(v[4], SIZE / 2);
    give(v[1], SIZE / 8 * 3); /* all is one again */
    ck_assert_uint_eq(take((ssize_t)SIZE), BASE);
    give(0, 1);
    give(UINT64_C(1), 1); /* not of this arena: the driver's, were it there */
}
END_TEST

Suite *run_arena_suite(void)
{
    Suite *s = suite_create("run_arena");
    TCase *t = tcase_create("arena");

    tcase_add_test(t, test_pieces_lie_apart_in_the_arena);
    tcase_add_test(t, test_what_is_freed_joins_its_neighbours);
    suite_add_tcase(s, t);
    return s;
}
