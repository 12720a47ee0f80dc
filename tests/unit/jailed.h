/* SPDX-License-Identifier: MIT */
/* Hostile functions in a jail, for the tests of it. */
#ifndef KM_TEST_JAILED_H
#define KM_TEST_JAILED_H

#include <check.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "run/runner.h"

struct jailed {
    struct runner r;
    pid_t pid;
    int32_t level;
    char why[160];
};

static inline struct jail_conf plain(void)
{
    return (struct jail_conf){.profile = JAIL_RUNNER,
                              .cpu = -1,
                              .tmp_size = 1 << 20,
                              .max_tasks = 16,
                              .out_fd = -1,
                              .require = JAIL_FULL};
}

static inline void become_user(int i)
{
    if (i == 0 || geteuid() != 0)
        return;
    ck_assert_int_eq(setgroups(0, NULL), 0);
    ck_assert_int_eq(setresgid(65534, 65534, 65534), 0);
    ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
    /* As for a process that was started by this user. */
    ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0), 0);
}

/* Start FN in a jail; it leaves with what FN returns. */
static inline struct jailed start(struct jail_conf c, int (*fn)(void *),
                                  void *arg)
{
    struct jailed j = {.r = RUNNER_NONE};
    int ctl[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ctl),
                     0);
    j.pid = jail_fork(&c, ctl[1], &j.level, j.why, sizeof(j.why));
    if (j.pid == 0)
        _exit(fn(arg));
    close(ctl[1]);
    j.r.ctl = ctl[0];
    j.r.init = j.pid > 0 ? j.pid : 0;
    return j;
}

/* Run FN to its end and return its wait status. */
static inline int run(struct jail_conf c, int (*fn)(void *), void *arg)
{
    struct jailed j = start(c, fn, arg);
    struct pollfd p = {j.r.ctl, POLLIN, 0};
    char text[96];

    ck_assert_msg(j.pid > 0, "%s", j.why);
    ck_assert_int_eq(poll(&p, 1, 20000), 1);
    runner_end(&j.r, text, sizeof(text));
    ck_assert(j.r.ended);
    runner_kill(&j.r);
    return j.r.end.status;
}

static inline int exit_of(int status)
{
    ck_assert_msg(WIFEXITED(status), "ended by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status);
}

static inline int wait_for_ever_main(void *arg UNUSED)
{
    pause();
    return 0;
}

#endif
