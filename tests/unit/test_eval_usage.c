/* SPDX-License-Identifier: MIT */
/* The accounts of a process that is stopped and let go again. */
#include "base.h"

#include <check.h>

#include "evaluate/memory.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *eval_usage_suite(void);

static pid_t spinning(void)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        for (;;)
            getppid();
    }
    return pid;
}

static void stop(pid_t pid)
{
    int status;
    pid_t got;
    kill(pid, SIGSTOP);
    /* Not asleep, so as to be there while it still leaves its core. */
    while ((got = waitpid(pid, &status, WUNTRACED | WNOHANG)) == 0)
        ;
    ck_assert_int_eq(got, pid);
    ck_assert(WIFSTOPPED(status));
}

/* One thread: its account and that of its process are the same, whatever it
 * did at the moment of the stop and however few the cores are. */
START_TEST(test_usage_of_a_stopped_process_agrees)
{
    enum { LOAD = 1, TURNS = 4000 };
    pid_t pid = spinning(), load[LOAD];
    double worst = 0;
    for (int i = 0; i < LOAD; i++)
        load[i] = spinning();
    for (int i = 0; i < TURNS; i++) {
        struct proc_usage u;
        stop(pid);
        ck_assert(usage_read_stopped(pid, &u));
        worst = fmax(worst, fabs(u.process_s - u.main_s));
        kill(pid, SIGCONT);
        usleep((useconds_t)(i % 7) * 50);
    }
    for (int i = 0; i < LOAD; i++) {
        kill(load[i], SIGKILL);
        waitpid(load[i], NULL, 0);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ck_assert_msg(worst < 1e-6, "%.9f s", worst);
}
END_TEST

START_TEST(test_usage_of_nobody)
{
    struct proc_usage u;
    pid_t pid = spinning();
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ck_assert(!usage_read(pid, &u));
    ck_assert(!usage_read_stopped(pid, &u));
}
END_TEST

Suite *eval_usage_suite(void)
{
    Suite *s = suite_create("eval_usage");
    TCase *t = tcase_create("usage");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, test_usage_of_a_stopped_process_agrees);
    tcase_add_test(t, test_usage_of_nobody);
    suite_add_tcase(s, t);
    return s;
}
