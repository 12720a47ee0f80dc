/* SPDX-License-Identifier: MIT */
/*
 * Runs the suites of tests/unit/test_NAME.c; the build lists them in
 * suites.def. CK_RUN_SUITE and CK_RUN_CASE select, CK_FORK=no stays in one
 * process (for a debugger).
 */
#include "base.h"

#include <check.h>

#define SUITE(name) Suite *name##_suite(void);
#include "suites.def"
#undef SUITE

static Suite *(*const suites[])(void) = {
#define SUITE(name) name##_suite,
#include "suites.def"
#undef SUITE
};

int main(void)
{
    SRunner *runner = srunner_create(NULL);
    int failed, run;

    for (size_t i = 0; i < ARRAY_LEN(suites); i++)
        srunner_add_suite(runner, suites[i]());
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    run = srunner_ntests_run(runner);
    srunner_free(runner);
    printf("unit: %d passed, %d failed\n", run - failed, failed);
    return failed > 0 || run == 0;
}
