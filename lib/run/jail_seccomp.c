/* SPDX-License-Identifier: MIT */
/*
 * System call filters. The default is to allow: PyTorch, BLAS, Triton, glibc
 * and compilers change the harmless calls they use with every release, and a
 * list of all of those would fail honest candidates. Denied is whatever
 * reaches another process, the kernel's privileged or rarely audited sides,
 * the network, memory that no rlimit counts, the schedule, or a way to act
 * while frozen. Calls newer than those reviewed here do not exist (ENOSYS):
 * libraries then take their older way.
 */
#include "base.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "jail_priv.h"

/* Last call reviewed (set_mempolicy_home_node, Linux 5.17); the numbers above
 * 424 are the same on all architectures. */
#define NEWEST 450

#define MAX_INSNS 1024

struct filter {
    bool ready;
    unsigned short n;
    struct sock_filter code[MAX_INSNS];
};

static struct filter filters[JAIL_PROFILES][2];

/* Every profile. */
static const char *const denied[] = {
    /* other processes; memory written from outside while frozen */
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise",
    "process_mrelease", "kcmp", "pidfd_open", "pidfd_getfd",
    "pidfd_send_signal", "move_pages", "migrate_pages",
    /* the schedule: cores and priorities are the parent's */
    "sched_setaffinity", "sched_setscheduler", "sched_setparam",
    "sched_setattr", "setpriority", "ioprio_set",
    /* work of the kernel that goes on while we are stopped */
    "io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup",
    "io_submit", "timer_create", "mq_open", "mq_unlink", "mq_notify",
    "mq_timedsend", "mq_timedreceive", "userfaultfd",
    /* memory that neither RLIMIT_AS nor the tmpfs limit counts; Triton and
     * torch need plain files only */
    "memfd_create", "memfd_secret", "shmget", "shmat", "shmctl", "shmdt",
    "semget", "semctl", "semop", "semtimedop", "msgget", "msgctl", "msgsnd",
    "msgrcv",
    /* namespaces and mounts */
    "unshare", "setns", "mount", "umount", "umount2", "pivot_root", "chroot",
    "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "fspick",
    "mount_setattr", "name_to_handle_at", "open_by_handle_at",
    /* the kernel itself */
    "bpf", "perf_event_open", "keyctl", "add_key", "request_key", "init_module",
    "finit_module", "delete_module", "create_module", "get_kernel_syms",
    "query_module", "kexec_load", "kexec_file_load", "reboot", "acct", "swapon",
    "swapoff", "quotactl", "quotactl_fd", "syslog", "settimeofday",
    "clock_settime", "clock_adjtime", "clock_adjtime64", "clock_settime64",
    "adjtimex", "stime", "iopl", "ioperm", "modify_ldt", "vm86", "vm86old",
    "lookup_dcookie", "nfsservctl", "vhangup", "sethostname", "setdomainname",
    "uselib", "ustat", "sysfs", "_sysctl", "personality", "sync", "syncfs",
    "fanotify_init", "fanotify_mark", "vmsplice", NULL};

/* Network; the one socket a runner has is connected already. */
static const char *const network[] = {"socket",  "socketpair", "bind",
                                      "listen",  "accept",     "accept4",
                                      "connect", NULL};
/* CUDA makes itself a local socket when it starts. One that nobody can be
 * reached by, nor reach anybody with: the rest of NETWORK. */
static const char *const reaching[] = {"accept", "accept4", "connect", NULL};
static const char *const listening[] = {"listen", "accept", "accept4", NULL};

/* Runners: no processes. clone is looked at by its flags. */
static const char *const no_processes[] = {"fork", "vfork", NULL};
static const char *const no_exec[] = {"execve", "execveat", NULL};

static int deny(scmp_filter_ctx f, const char *name, int error)
{
    int nr = seccomp_syscall_resolve_name(name);
    int r;

    if (nr == __NR_SCMP_ERROR)
        return 0; /* a call of another architecture, or beyond NEWEST */
    r = seccomp_rule_add(f, SCMP_ACT_ERRNO((uint16_t)error), nr, 0);
    return r == -EDOM ? 0 : r;
}

static int deny_list(scmp_filter_ctx f, const char *const *names)
{
    int r = 0;

    for (; *names && r == 0; names++)
        r = deny(f, *names, EPERM);
    return r;
}

/* Deny NAME when (argument ARG & MASK) == VALUE. */
static int deny_if(scmp_filter_ctx f, const char *name, unsigned arg,
                   uint64_t mask, uint64_t value)
{
    return seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM),
                            seccomp_syscall_resolve_name(name), 1,
                            SCMP_CMP64(arg, SCMP_CMP_MASKED_EQ, mask, value));
}

/* No sockets but IPv4 and IPv6: local ones reach the services of this machine,
 * such as an agent that holds keys. Pairs reach nobody. */
static int deny_local(scmp_filter_ctx f)
{
    int nr = SCMP_SYS(socket), r = deny_list(f, listening);
    uint32_t no = SCMP_ACT_ERRNO(EAFNOSUPPORT);

    if (r == 0)
        r = seccomp_rule_add(f, no, nr, 1, SCMP_A0_64(SCMP_CMP_LT, AF_INET));
    if (r == 0)
        r = seccomp_rule_add(f, no, nr, 1, SCMP_A0_64(SCMP_CMP_GT, AF_INET6));
    for (uint64_t k = AF_INET + 1; k < AF_INET6 && r == 0; k++)
        r = seccomp_rule_add(f, no, nr, 1, SCMP_A0_64(SCMP_CMP_EQ, k));
    return r;
}

static int deny_reaching(scmp_filter_ctx f)
{
    int r = deny_list(f, reaching);

    return r < 0 ? r
                 : seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket),
                                    1, SCMP_A0_64(SCMP_CMP_NE, AF_UNIX));
}

static int add_rules(scmp_filter_ctx f, int profile, bool gpu)
{
    /* A timer, a lease or a message on a descriptor could send SIGCONT and so
     * wake what is frozen (F_SETSIG and its owners), or push input into a
     * terminal. Commands are ints: the upper half is the caller's noise. */
    static const int fcntls[] = {F_SETSIG, F_SETOWN, F_SETOWN_EX, F_NOTIFY,
                                 F_SETLEASE};
    static const unsigned long ioctls[] = {FIOASYNC, FIOSETOWN, SIOCSPGRP,
                                           TIOCSTI, TIOCLINUX};
    static const unsigned long spaces[] = {
        CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNS,     CLONE_NEWNET,
        CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP, CLONE_PARENT};
    static const struct {
        const char *name;
        unsigned arg;
    } senders[] = {{"kill", 1},
                   {"tkill", 1},
                   {"tgkill", 2},
                   {"rt_sigqueueinfo", 1},
                   {"rt_tgsigqueueinfo", 2}};
    uint64_t low = 0xffffffff;
    int r = deny_list(f, denied);

    if (r == 0)
        r = profile == JAIL_FETCH ? deny_local(f)
            : gpu                 ? deny_reaching(f)
                                  : deny_list(f, network);
    for (size_t i = 0; i < ARRAY_LEN(fcntls) && r == 0; i++)
        r = deny_if(f, "fcntl", 1, low, (uint64_t)fcntls[i]);
    for (size_t i = 0; i < ARRAY_LEN(ioctls) && r == 0; i++)
        r = deny_if(f, "ioctl", 1, low, ioctls[i]);
    /* Limits of others; our own hard ones cannot be raised anyway. */
    if (r == 0)
        r = seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prlimit64), 1,
                             SCMP_A0_64(SCMP_CMP_NE, 0));
    /* clone3 passes its flags in memory, which a filter cannot see; glibc
     * falls back to clone. */
    if (r == 0)
        r = deny(f, "clone3", ENOSYS);
    if (r == 0 && (profile == JAIL_BUILDER || profile == JAIL_FETCH)) {
        for (size_t i = 0; i < ARRAY_LEN(spaces) && r == 0; i++)
            r = deny_if(f, "clone", 0, spaces[i], spaces[i]);
        return r;
    }
    if (r == 0)
        r = deny_list(f, no_processes);
    if (r == 0)
        r = deny_if(f, "clone", 0, CLONE_THREAD, 0);
    /* Two ways to keep a stop from ever being complete: to continue oneself
     * in the middle of it, and to wait for a thread as vfork does. */
    if (r == 0)
        r = deny_if(f, "clone", 0, CLONE_VFORK, CLONE_VFORK);
    for (size_t i = 0; i < ARRAY_LEN(senders) && r == 0; i++)
        r = deny_if(f, senders[i].name, senders[i].arg, low, SIGCONT);
    if (r == 0 && profile == JAIL_RUNNER)
        r = deny_list(f, no_exec);
    return r;
}

int jail_filter_prepare(int profile, bool gpu)
{
    struct filter *flt = &filters[profile][gpu];
    scmp_filter_ctx f = NULL;
    int fd = -1, r = -ENOMEM;
    ssize_t n;

    if (flt->ready)
        return 0;
    f = seccomp_init(SCMP_ACT_ALLOW);
    if (!f)
        goto out;
    /* A binary tree: the depth, not the length, is what a call costs. */
    (void)seccomp_attr_set(f, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    r = add_rules(f, profile, gpu);
    if (r < 0)
        goto out;
    fd = memfd_create("km-filter", MFD_CLOEXEC);
    if (fd < 0) {
        r = -errno;
        goto out;
    }
    r = seccomp_export_bpf(f, fd);
    if (r < 0)
        goto out;
    n = pread(fd, flt->code, sizeof(flt->code), 0);
    r = -E2BIG;
    if (n <= 0 || (size_t)n >= sizeof(flt->code) ||
        (size_t)n % sizeof(flt->code[0]))
        goto out;
    flt->n = (unsigned short)((size_t)n / sizeof(flt->code[0]));
    flt->ready = true;
    r = 0;
out:
    if (fd >= 0)
        close(fd);
    if (f)
        seccomp_release(f);
    return r;
}

static int load(struct sock_filter *code, size_t n)
{
    struct sock_fprog p = {(unsigned short)n, code};

    /* Without SPEC_ALLOW older kernels would slow down all that runs here. */
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                SECCOMP_FILTER_FLAG_SPEC_ALLOW, &p) == 0)
        return 0;
    if (errno == EINVAL &&
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) == 0)
        return 0;
    return -errno;
}

#define LOAD_NR                                                                \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define IF_EQ(nr, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, (skip))
#define FAIL(error)     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int jail_filter_install(int profile, bool gpu, bool own_pids)
{
    /* libseccomp cannot say "all numbers above". */
    struct sock_filter newer[] = {
        LOAD_NR, BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, NEWEST, 0, 1),
        FAIL(ENOSYS), ALLOW};
    struct sock_filter signals[] = {
        LOAD_NR,     IF_EQ(SYS_kill, 1),
        FAIL(EPERM), IF_EQ(SYS_tkill, 1),
        FAIL(EPERM), IF_EQ(SYS_tgkill, 1),
        FAIL(EPERM), IF_EQ(SYS_rt_sigqueueinfo, 1),
        FAIL(EPERM), IF_EQ(SYS_rt_tgsigqueueinfo, 1),
        FAIL(EPERM), ALLOW};
    struct filter *flt = &filters[profile][gpu];
    int r;

    if (!flt->ready)
        return -ENOSYS;
    r = load(newer, ARRAY_LEN(newer));
    if (r == 0 && !own_pids && profile != JAIL_BUILDER && profile != JAIL_FETCH)
        r = load(signals, ARRAY_LEN(signals));
    if (r == 0)
        r = load(flt->code, flt->n);
    return r;
}

int jail_confine(const struct jail_conf *c, const char *dir, const char **step)
{
    int r;

    *step = "privileges";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -errno;
    *step = "Landlock";
    r = jail_landlock(c, dir, false, c->profile == JAIL_FETCH);
    if (r < 0)
        return r;
    *step = "seccomp";
    r = jail_filter_prepare(c->profile, false);
    return r < 0 ? r : jail_filter_install(c->profile, false, false);
}

int jail_seal(void)
{
    struct sock_filter code[] = {LOAD_NR,     IF_EQ(SYS_execve, 1),
                                 FAIL(EPERM), IF_EQ(SYS_execveat, 1),
                                 FAIL(EPERM), ALLOW};
    int r;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    r = load(code, ARRAY_LEN(code));
    if (r < 0) {
        errno = -r;
        return -1;
    }
    return 0;
}
