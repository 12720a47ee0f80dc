/* SPDX-License-Identifier: MIT */
/* The sandbox, from inside: every test runs hostile code in it. The loop
 * index is 1 when the caller shall be an ordinary user. */
#include "base.h"

#include <check.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "proc.h"
#include "tests/unit/jailed.h"

Suite *run_jail_suite(void);

static struct err e;

/* The number of system calls that Linux has is above this. */
#define BEYOND_KNOWN 451

/* ---- calls ---- */

static void *thread_of_nothing(void *arg)
{
    return arg;
}

/* Number of the first call that did not fail as it must, 0 when all did. */
static int try_calls(void *arg UNUSED)
{
    cpu_set_t set;
    char block[256] = {0};
    struct rlimit lim = {1, 1};
    int n = 0;

#define FAILS(call, error)                                                     \
    do {                                                                       \
        n++;                                                                   \
        errno = 0;                                                             \
        if ((call) != -1 || errno != (error))                                  \
            return n;                                                          \
    } while (0)

    CPU_ZERO(&set);
    CPU_SET(0, &set);
    FAILS(syscall(SYS_clone3, NULL, 0), ENOSYS);
    FAILS(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0), EPERM);
    FAILS(ptrace(PTRACE_TRACEME, 0, 0, 0), EPERM);
    FAILS(syscall(SYS_process_vm_readv, 1, NULL, 0, NULL, 0, 0), EPERM);
    FAILS(syscall(SYS_process_vm_writev, 1, NULL, 0, NULL, 0, 0), EPERM);
    FAILS(syscall(SYS_pidfd_open, 1, 0), EPERM);
    FAILS(syscall(SYS_pidfd_getfd, 0, 0, 0), EPERM);
    FAILS(sched_setaffinity(0, sizeof(set), &set), EPERM);
    FAILS(syscall(SYS_sched_setattr, 0, block, 0), EPERM);
    FAILS(setpriority(PRIO_PROCESS, 0, 5), EPERM);
    FAILS(syscall(SYS_io_uring_setup, 1, block), EPERM); /* 11 */
    FAILS(syscall(SYS_io_setup, 1, block), EPERM);
    FAILS(syscall(SYS_userfaultfd, 0), EPERM);
    FAILS(syscall(SYS_timer_create, 0, NULL, block), EPERM);
    FAILS(syscall(SYS_mq_open, "/x", O_CREAT | O_RDWR, 0600, NULL), EPERM);
    FAILS(socket(AF_INET, SOCK_STREAM, 0), EPERM);
    FAILS(socket(AF_UNIX, SOCK_STREAM, 0), EPERM);
    FAILS(socket(AF_NETLINK, SOCK_RAW, 0), EPERM);
    FAILS(memfd_create("x", 0), EPERM);
    FAILS(shmget(IPC_PRIVATE, 4096, 0600), EPERM);
    FAILS(unshare(CLONE_NEWUSER), EPERM); /* 21 */
    FAILS(setns(0, 0), EPERM);
    FAILS(mount("none", "/tmp", "tmpfs", 0, NULL), EPERM);
    FAILS(umount2("/tmp", MNT_DETACH), EPERM);
    FAILS(chroot("/tmp"), EPERM);
    FAILS(syscall(SYS_bpf, 0, block, 0), EPERM);
    FAILS(syscall(SYS_perf_event_open, block, 0, -1, -1, 0), EPERM);
    FAILS(syscall(SYS_keyctl, 0, 0, 0, 0, 0), EPERM);
    FAILS(syscall(SYS_add_key, "user", "a", "b", 1, -2), EPERM);
    FAILS(syscall(SYS_personality, 0), EPERM);
    FAILS(fcntl(0, F_SETSIG, SIGCONT), EPERM); /* 31 */
    FAILS(fcntl(0, F_SETOWN, getpid()), EPERM);
    FAILS(fcntl(0, F_NOTIFY, 0), EPERM);
    FAILS(syscall(SYS_prlimit64, 1, RLIMIT_CPU, &lim, NULL), EPERM);
    FAILS(syscall(BEYOND_KNOWN), ENOSYS);
    FAILS(syscall(600), ENOSYS);
    FAILS(setuid(0), EINVAL);
    /* Nobody to hurt here; the init must still tell how we ended. */
    (void)kill(1, SIGKILL);
    (void)kill(-1, SIGKILL);
    return 0;
#undef FAILS
}

/* fork and exec, as numbers of processes that came to be. */
static int try_processes(void *arg UNUSED)
{
    char *argv[] = {(char *)"true", NULL};
    pthread_t t;

    if (syscall(SYS_fork) != -1 || errno != EPERM)
        return 1;
    if (syscall(SYS_vfork) != -1 || errno != EPERM)
        return 2;
    if (syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) != -1 || errno != EPERM)
        return 3;
    if (syscall(SYS_clone,
                CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_VFORK, 0, 0, 0,
                0) != -1 ||
        errno != EPERM)
        return 8;
    /* nobody wakes itself while it is frozen */
    if (kill(getpid(), SIGCONT) != -1 || errno != EPERM ||
        raise(SIGCONT) == 0 ||
        sigqueue(getpid(), SIGCONT, (union sigval){0}) == 0)
        return 9;
    if (fork() != -1 || errno != EPERM)
        return 4;
    if (execv("/bin/true", argv) != -1 || errno != EPERM)
        return 5;
    if (system("true") == 0)
        return 6;
    if (pthread_create(&t, NULL, thread_of_nothing, NULL) != 0 ||
        pthread_join(t, NULL) != 0)
        return 7;
    return 0;
}

START_TEST(test_calls_are_denied)
{
    struct jail_conf c = plain();

    become_user(_i);
    ck_assert_int_eq(exit_of(run(c, try_calls, NULL)), 0);
    c.profile = JAIL_BUILDER;
    ck_assert_int_eq(exit_of(run(c, try_calls, NULL)), 0);
    c.profile = JAIL_EXEC;
    ck_assert_int_eq(exit_of(run(c, try_calls, NULL)), 0);
}
END_TEST

START_TEST(test_a_runner_has_threads_only)
{
    become_user(_i);
    ck_assert_int_eq(exit_of(run(plain(), try_processes, NULL)), 0);
}
END_TEST

static int exec_then_seal(void *arg)
{
    char *argv[] = {(char *)"false", NULL};
    bool seal = *(bool *)arg;

    if (seal && jail_seal() < 0)
        return 3;
    execv("/bin/false", argv);
    return 2;
}

START_TEST(test_exec_until_sealed)
{
    struct jail_conf c = plain();
    bool seal = false;

    become_user(_i);
    c.profile = JAIL_EXEC;
    ck_assert_int_eq(exit_of(run(c, exec_then_seal, &seal)), 1);
    seal = true;
    ck_assert_int_eq(exit_of(run(c, exec_then_seal, &seal)), 2);
}
END_TEST

/* ---- files ---- */

static bool can_write(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write(fd, "x", 1) == 1;

    if (fd >= 0)
        close(fd);
    return ok;
}

static int try_files(void *arg UNUSED)
{
    static const char *const hidden[] = {"/etc/shadow",
                                         "/etc/passwd",
                                         "/etc/hostname",
                                         "/proc/self/status",
                                         "/proc/1/environ",
                                         "/sys/kernel",
                                         "/root",
                                         "/home",
                                         "/var",
                                         "/run",
                                         "/dev/sda",
                                         "/dev/vda",
                                         "/dev/kmsg",
                                         "/dev/mem",
                                         "/dev/tty",
                                         "/tmp/../../etc/shadow"};
    static const char *const closed[] = {
        "/usr/bin/x", "/usr/local/x", "/bin/sh",         "/x",
        "/dev/x",     "/lib/x",       "/etc/ld.so.cache"};
    static const char *const open_[] = {"/tmp/x", "/dev/shm/x", "/dev/null",
                                        "x"};
    char dir[64], block[65536] = {0};
    int n = 0, fd, got;
    void *p;

    for (size_t i = 0; i < ARRAY_LEN(hidden); i++, n++)
        if (open(hidden[i], O_RDONLY | O_CLOEXEC) >= 0)
            return 1 + n;
    for (size_t i = 0; i < ARRAY_LEN(closed); i++, n++)
        if (can_write(closed[i]))
            return 1 + n;
    for (size_t i = 0; i < ARRAY_LEN(open_); i++, n++)
        if (!can_write(open_[i]))
            return 1 + n;
    if (!getcwd(dir, sizeof(dir)) || strcmp(dir, "/tmp") != 0)
        return 100;
    if (mkdir("/d", 0700) == 0 || mkdir("/tmp/d", 0700) != 0)
        return 101;
    if (rename("/tmp/x", "/tmp/d/x") != 0 || unlink("/tmp/d/x") != 0)
        return 102;
    /* Code may be mapped from here: shared objects of candidates. */
    fd = open("/tmp/code", O_RDWR | O_CREAT | O_CLOEXEC, 0700);
    if (fd < 0 || write(fd, block, 4096) != 4096)
        return 103;
    p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return 104;
    /* 1 MiB is there, not 2. */
    for (got = 0; got < 32; got++)
        if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
            break;
    if (got == 32 || got < 8)
        return 105;
    if (getuid() == 0 || geteuid() == 0 || getppid() != 1)
        return 106;
    return 0;
}

START_TEST(test_files)
{
    become_user(_i);
    ck_assert_int_eq(exit_of(run(plain(), try_files, NULL)), 0);
}
END_TEST

static int read_given(void *arg)
{
    char path[100];

    snprintf(path, sizeof(path), "%s/in/file", (const char *)arg);
    if (open(path, O_RDONLY | O_CLOEXEC) < 0)
        return 1;
    if (open(path, O_WRONLY | O_CLOEXEC) >= 0)
        return 2;
    snprintf(path, sizeof(path), "%s/out", (const char *)arg);
    return open(path, O_RDONLY | O_CLOEXEC) >= 0 ? 3 : 0;
}

START_TEST(test_given_folder_below_a_closed_one)
{
    struct jail_conf c = plain();
    char dir[] = "/tmp/km-test-XXXXXX", in[64], cmd[200];

    ck_assert_ptr_nonnull(mkdtemp(dir)); /* mode 0700 */
    snprintf(cmd, sizeof(cmd),
             "cd %s && mkdir in && echo x > in/file && echo x > out && "
             "chmod 755 in && chmod 666 in/file",
             dir);
    ck_assert_int_eq(system(cmd), 0);
    snprintf(in, sizeof(in), "%s/in", dir);
    c.read_paths[0] = in;
    ck_assert_int_eq(exit_of(run(c, read_given, dir)), 0);
    snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
    ck_assert_int_eq(system(cmd), 0);
}
END_TEST

static int list_fds(void *arg)
{
    int keep = *(int *)arg, found = 0;

    for (int fd = 3; fd < 1024; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            found = found ? 255 : fd;
    if (fcntl(0, F_GETFD) < 0 || fcntl(1, F_GETFD) < 0 || fcntl(2, F_GETFD) < 0)
        return 254;
    return found == keep ? 0 : 1;
}

START_TEST(test_only_kept_descriptors)
{
    struct jail_conf c = plain();
    int p[2], keep;

    become_user(_i);
    ck_assert_int_eq(pipe(p), 0);
    ck_assert_int_ge(open("/", O_RDONLY | O_DIRECTORY), 0);
    keep = dup2(p[1], 77);
    c.n_keep = 1;
    c.keep[0] = keep;
    ck_assert_int_eq(exit_of(run(c, list_fds, &keep)), 0);
    c.n_keep = 0;
    keep = 0;
    ck_assert_int_eq(exit_of(run(c, list_fds, &keep)), 0);
}
END_TEST

/* ---- the init ---- */

struct counters {
    volatile uint64_t a, b;
    volatile int stop_self;
};

static void *count(void *arg)
{
    struct counters *c = arg;

    for (;;)
        c->b++;
    return NULL;
}

static int count_twice(void *arg)
{
    struct counters *c = arg;
    pthread_t t;

    if (pthread_create(&t, NULL, count, c) != 0)
        return 1;
    for (;;)
        c->a++;
    return 0;
}

/* Stops itself again and again; whoever freezes must not be confused. */
static int stop_often(void *arg)
{
    struct counters *c = arg;

    for (;;) {
        c->a++;
        c->b++;
        raise(SIGSTOP);
    }
    return 0;
}

static void wait_for_growth(volatile uint64_t *n)
{
    uint64_t old = *n;

    for (int i = 0; *n == old && i < 5000; i++)
        usleep(1000);
    ck_assert(*n != old);
}

START_TEST(test_freeze)
{
    struct counters *c = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct jailed j;

    become_user(_i);
    j = start(plain(), count_twice, c);
    ck_assert_msg(j.pid > 0, "%s", j.why);
    for (int turn = 0; turn < 20; turn++) {
        uint64_t a, b;
        wait_for_growth(&c->a);
        wait_for_growth(&c->b);
        ck_assert_msg(runner_freeze(&j.r, &e) == 0, "%s", e.msg);
        a = c->a;
        b = c->b;
        usleep(2000);
        ck_assert_uint_eq(c->a, a);
        ck_assert_uint_eq(c->b, b);
        ck_assert_int_eq(runner_freeze(&j.r, &e), 0); /* again: no change */
        ck_assert_int_eq(runner_thaw(&j.r, &e), 0);
        ck_assert_int_eq(runner_thaw(&j.r, &e), 0);
    }
    runner_kill(&j.r);
    runner_kill(&j.r);
    ck_assert_int_eq(runner_freeze(&j.r, &e), -1);
    ck_assert_int_eq(e.code, ERR_CRASH);

    c->a = 0;
    j = start(plain(), stop_often, c);
    while (c->a == 0)
        usleep(1000);
    for (int turn = 0; turn < 20; turn++) {
        ck_assert_int_eq(runner_freeze(&j.r, &e), 0);
        ck_assert_int_eq(runner_thaw(&j.r, &e), 0);
    }
    runner_kill(&j.r);
}
END_TEST

START_TEST(test_freeze_of_one_who_left)
{
    bool seal = true;
    struct jail_conf c = plain();
    struct jailed j;
    char text[96];

    c.profile = JAIL_EXEC;
    j = start(c, exec_then_seal, &seal);
    for (int i = 0; i < 1000; i++)
        if (runner_freeze(&j.r, &e) < 0 || runner_thaw(&j.r, &e) < 0)
            break;
    ck_assert_int_eq(e.code, ERR_CRASH);
    ck_assert_int_eq(runner_end(&j.r, text, sizeof(text)), ERR_CRASH);
    ck_assert_str_eq(text, "it left with status 2");
    runner_kill(&j.r);
}
END_TEST

/* True when the other end of a pipe closes within seconds. */
static bool closes(int fd)
{
    struct pollfd p = {fd, POLLIN, 0};

    return poll(&p, 1, 5000) == 1 && (p.revents & POLLHUP);
}

START_TEST(test_dies_with_its_maker)
{
    struct jail_conf c = plain();
    struct jailed j;
    int p[2], q[2];
    pid_t maker;

    become_user(_i);
    ck_assert_int_eq(pipe(p), 0);
    c.n_keep = 1;
    c.keep[0] = p[1];
    /* The control socket closes. */
    j = start(c, wait_for_ever_main, NULL);
    close(j.r.ctl);
    ck_assert_int_eq(waitpid(j.pid, NULL, 0), j.pid);
    close(p[1]);
    ck_assert(closes(p[0]));

    /* The maker is killed while somebody else holds the socket. */
    ck_assert_int_eq(pipe(q), 0);
    c.keep[0] = q[1];
    maker = fork();
    if (maker == 0) {
        j = start(c, wait_for_ever_main, NULL);
        if (fork() == 0) {
            close(q[1]);
            usleep(500000);
            _exit(0);
        }
        kill(getpid(), SIGKILL);
    }
    close(q[1]);
    waitpid(maker, NULL, 0);
    ck_assert(closes(q[0]));
}
END_TEST

/* ---- levels ---- */

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    ck_assert_msg(fd >= 0, "%s", path);
    ck_assert_int_eq(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

/* A machine that denies one kind of namespace, as containers do. */
static void forbid(const char *what)
{
    char path[64], map[32], gids[32];

    snprintf(map, sizeof(map), "0 %u 1", geteuid());
    snprintf(gids, sizeof(gids), "0 %u 1", getegid());
    ck_assert_int_eq(unshare(CLONE_NEWUSER), 0);
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", map);
    write_file("/proc/self/gid_map", gids);
    snprintf(path, sizeof(path), "/proc/sys/user/max_%s_namespaces", what);
    write_file(path, "0");
}

/* Root in a container: no new namespaces, but other ids can be taken. */
static void forbid_all(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                 offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWPID, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog p = {ARRAY_LEN(code), code};

    ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p), 0);
}

static int weak_files(void *arg)
{
    bool others = *(char *)arg; /* another id could be taken */
    char dir[64] = "";
    pthread_t t;

    if (!getcwd(dir, sizeof(dir)) || strncmp(dir, "/tmp/km-jail-", 13) != 0)
        return 1;
    snprintf(arg, 64, "%s", dir);
    if (!can_write("x") || can_write("/tmp/km-x") || can_write("/usr/x"))
        return 2;
    if (open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0)
        return 3;
    if (kill(getppid(), SIGTERM) == 0 || errno != EPERM)
        return 4;
    if (fork() != -1 || pthread_create(&t, NULL, thread_of_nothing, NULL))
        return 5;
    return others && (getuid() == 0 || geteuid() == 0) ? 6 : 0;
}

/* A child in a session of its own, after its parent is gone. */
static int escape(void *arg)
{
    pid_t pid = fork();

    if (pid == 0) {
        if (fork() != 0)
            _exit(0);
        setsid();
        *(volatile pid_t *)arg = getpid();
        pause();
    }
    waitpid(pid, NULL, 0);
    while (*(volatile pid_t *)arg == 0)
        usleep(1000);
    return 0;
}

START_TEST(test_weak_machine)
{
    struct jail_conf c = plain();
    char *dir = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct jailed j;

    if (_i == 2) {
        if (geteuid() != 0)
            return;
        forbid_all();
    } else {
        become_user(_i);
        forbid("net");
    }
    j = start(c, wait_for_ever_main, NULL);
    ck_assert_int_lt(j.pid, 0);
    ck_assert_ptr_nonnull(strstr(j.why, "sandbox: namespaces: "));
    runner_kill(&j.r);

    c.require = JAIL_WEAK;
    j = start(c, wait_for_ever_main, NULL);
    ck_assert_msg(j.pid > 0, "%s", j.why);
    ck_assert_int_eq(j.level, JAIL_WEAK);
    ck_assert_ptr_nonnull(strstr(j.why, "net namespace"));
    ck_assert_ptr_null(strstr(j.why, "seccomp"));
    ck_assert_int_eq(runner_freeze(&j.r, &e), 0);
    ck_assert_int_eq(runner_thaw(&j.r, &e), 0);
    runner_kill(&j.r);
    *dir = _i == 2;
    ck_assert_int_eq(exit_of(run(c, weak_files, dir)), 0);
    ck_assert_int_eq(access(dir, F_OK), -1); /* it was removed */

    /* What leaves its group is found all the same. */
    c.profile = JAIL_BUILDER;
    c.max_tasks = 0;
    memset(dir, 0, sizeof(pid_t));
    ck_assert_int_eq(exit_of(run(c, escape, dir)), 0);
    ck_assert_int_eq(kill(*(pid_t *)dir, 0), -1);
}
END_TEST

Suite *run_jail_suite(void)
{
    Suite *s = suite_create("run_jail");
    TCase *t = tcase_create("jail");
    char what[160];

    suite_add_tcase(s, t);
    tcase_set_timeout(t, 60);
    if (jail_probe(what, sizeof(what)) != JAIL_FULL) {
        printf("run_jail: 10 tests skipped (%s)\n", what);
        return s;
    }
    tcase_add_loop_test(t, test_calls_are_denied, 0, 2);
    tcase_add_loop_test(t, test_a_runner_has_threads_only, 0, 2);
    tcase_add_loop_test(t, test_exec_until_sealed, 0, 2);
    tcase_add_loop_test(t, test_files, 0, 2);
    tcase_add_test(t, test_given_folder_below_a_closed_one);
    tcase_add_loop_test(t, test_only_kept_descriptors, 0, 2);
    tcase_add_loop_test(t, test_freeze, 0, 2);
    tcase_add_test(t, test_freeze_of_one_who_left);
    tcase_add_loop_test(t, test_dies_with_its_maker, 0, 2);
    tcase_add_loop_test(t, test_weak_machine, 0, 3);
    return s;
}
