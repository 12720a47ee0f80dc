/* SPDX-License-Identifier: MIT */
/* What is kept from one commit to the next, and that it stays bounded. */
#include "base.h"

#include <check.h>

#include "harvest/blobs.h"

Suite *blobs_suite(void);

static char folder[] = "/tmp/km-blobs-XXXXXX";

static void setup(void)
{
    char command[128];
    struct err e;
    ck_assert_int_eq(git_start(&e), 0);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(command, sizeof(command), "git init -q --bare %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static struct blob *get(struct blobs *b, int i)
{
    char path[512];
    memset(path, 'd', 400);
    snprintf(path + 400, sizeof(path) - 400, "/%d.py", i);
    return blobs_get(b, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", path);
}

/* Files without a text, under long names: N of them, and one of the commit
 * after that; whether the first of them is still kept then. */
static bool is_kept(int n)
{
    struct blobs *b = blobs_new();
    struct gitrepo *git;
    struct err e;
    ck_assert_int_eq(blobs_begin(b, folder, &git, &e), 0);
    for (int i = 0; i < n; i++)
        get(b, i)->read = true;
    ck_assert_int_eq(blobs_begin(b, folder, &git, &e), 0);
    ck_assert(get(b, 1)->read); /* of the last commit */
    ck_assert_int_eq(blobs_begin(b, folder, &git, &e), 0);
    ck_assert(get(b, 1)->read);
    bool kept = get(b, 0)->read;
    blobs_free(b);
    return kept;
}

START_TEST(test_blobs_bound)
{
    ck_assert(is_kept(2));
    ck_assert(!is_kept(200000));
}
END_TEST

Suite *blobs_suite(void)
{
    Suite *s = suite_create("blobs");
    TCase *t = tcase_create("blobs");
    tcase_add_unchecked_fixture(t, setup, teardown);
    tcase_add_test(t, test_blobs_bound);
    suite_add_tcase(s, t);
    return s;
}
