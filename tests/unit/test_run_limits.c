/* SPDX-License-Identifier: MIT */
/* The limits of the sandbox. The loop index is 1 when the caller shall be an
 * ordinary user. */
#include "base.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "proc.h"
#include "tests/unit/jailed.h"

Suite *run_limits_suite(void);

static int grab_memory(void *arg UNUSED)
{
    size_t n = 32 << 20;
    int got = 0;

    while (got < 100) {
        char *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            break;
        memset(p, 1, n);
        got++;
    }
    return got;
}

START_TEST(test_memory_limit)
{
    struct jail_conf c = plain();
    int got;

    become_user(_i);
    c.memory = 200 << 20;
    got = exit_of(run(c, grab_memory, NULL));
    ck_assert_int_ge(got, 3);
    ck_assert_int_le(got, 6);
}
END_TEST

static int spin(void *arg)
{
    if (arg)
        signal(SIGXCPU, SIG_IGN);
    for (;;)
        ;
    return 0;
}

START_TEST(test_cpu_limit)
{
    struct jail_conf c = plain();
    struct jailed j;
    struct pollfd p;
    char text[96];
    int status;

    c.cpu_s = 1;
    status = run(c, spin, NULL);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU);
    j = start(c, spin, &c); /* ignores it */
    p = (struct pollfd){j.r.ctl, POLLIN, 0};
    ck_assert_int_eq(poll(&p, 1, 20000), 1);
    j.r.cpu_s = 1;
    ck_assert_int_eq(runner_end(&j.r, text, sizeof(text)), ERR_TIMEOUT);
    ck_assert_int_eq(WTERMSIG(j.r.end.status), SIGKILL);
    ck_assert_int_ge(j.r.end.cpu_ms, 1000);
    runner_kill(&j.r);
}
END_TEST

static int write_much(void *arg UNUSED)
{
    char block[4096] = {0};
    int fd = open("/tmp/x", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    for (int i = 0; i < 64; i++)
        if (write(fd, block, sizeof(block)) < 0)
            return 1;
    return 0;
}

START_TEST(test_file_limit)
{
    struct jail_conf c = plain();
    int status;

    c.file_size = 100000;
    status = run(c, write_much, NULL);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ);
}
END_TEST

static void *wait_for_ever(void *arg)
{
    pause();
    return arg;
}

static int many_threads(void *arg UNUSED)
{
    pthread_t t;
    int n = 1;

    while (n < 200 && pthread_create(&t, NULL, wait_for_ever, NULL) == 0)
        n++;
    return n;
}

START_TEST(test_thread_limit)
{
    become_user(_i);
    /* Twice at once: neither counts against the other. */
    struct jailed a = start(plain(), wait_for_ever_main, NULL);
    ck_assert_int_gt(a.pid, 0);
    ck_assert_int_eq(exit_of(run(plain(), many_threads, NULL)), 16);
    runner_kill(&a.r);
}
END_TEST

/* Processes until no more come; they stay. */
static int many_processes(void *arg UNUSED)
{
    int n = 1;

    while (n < 200) {
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (pid == 0) {
            setsid(); /* out of every group */
            pause();
        }
        n++;
    }
    return n;
}

static int fork_for_ever(void *arg UNUSED)
{
    for (;;)
        (void)!fork();
    return 0;
}

START_TEST(test_process_limit)
{
    struct jail_conf c = plain();
    struct jailed j;
    double t;

    become_user(_i);
    c.profile = JAIL_BUILDER;
    ck_assert_int_eq(exit_of(run(c, many_processes, NULL)), 16);
    j = start(c, fork_for_ever, NULL);
    ck_assert_int_gt(j.pid, 0);
    usleep(50000);
    t = now_s();
    runner_kill(&j.r);
    ck_assert_double_lt(now_s() - t, 5);
}
END_TEST

Suite *run_limits_suite(void)
{
    Suite *s = suite_create("run_limits");
    TCase *t = tcase_create("limits");
    char what[160];

    suite_add_tcase(s, t);
    tcase_set_timeout(t, 60);
    if (jail_probe(what, sizeof(what)) != JAIL_FULL) {
        printf("run_limits: 5 tests skipped (%s)\n", what);
        return s;
    }
    tcase_add_loop_test(t, test_memory_limit, 0, 2);
    tcase_add_test(t, test_cpu_limit);
    tcase_add_test(t, test_file_limit);
    tcase_add_loop_test(t, test_thread_limit, 0, 2);
    tcase_add_loop_test(t, test_process_limit, 0, 2);
    return s;
}
