/* SPDX-License-Identifier: MIT */
/* The store as several processes meet it at once. */
#include "base.h"

#include <check.h>
#include <sys/wait.h>

#include "store.h"

Suite *store_suite(void);

static int open_in_children(const char *path, int children)
{
    int go[2], failed = 0, status;
    char c;

    ck_assert_int_eq(pipe(go), 0);
    for (int i = 0; i < children; i++) {
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
            struct store *s;
            struct err e;

            close(go[1]);
            if (read(go[0], &c, 1) != 0) /* until all are there */
                _exit(2);
            if (store_open(&s, path, NULL, &e) < 0)
                _exit(1);
            store_close(s);
            _exit(0);
        }
    }
    close(go[0]);
    close(go[1]);
    while (wait(&status) > 0)
        failed += status != 0;
    return failed;
}

START_TEST(test_store_new_is_opened_by_many)
{
    char dir[] = "store-XXXXXX", path[64], command[64];
    int failed = 0;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    for (int i = 0; i < 50; i++) {
        snprintf(path, sizeof(path), "%s/%d.sqlite", dir, i);
        failed += open_in_children(path, 8);
    }
    snprintf(command, sizeof(command), "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(failed, 0);
}
END_TEST

Suite *store_suite(void)
{
    Suite *s = suite_create("store");
    TCase *t = tcase_create("open");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, test_store_new_is_opened_by_many);
    suite_add_tcase(s, t);
    return s;
}
