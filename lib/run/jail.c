/* SPDX-License-Identifier: MIT */
/* The jail: its two processes and how they come to be. See jail.h. */
#include "base.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "jail_priv.h"

#define INNER_ID 1000
/* Outer ids of runners when root: a range that no one hands out. */
#define OUTER_FIRST 60600
#define OUTER_COUNT 580

#define SPACES                                                                 \
    (CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)
#define SPACE_LAYERS (LAYER_PID | LAYER_MOUNT | LAYER_NET | LAYER_IPC)

/* First message of a new jail to its maker. */
struct report {
    int32_t error; /* -errno, 0 = the runner is about to return */
    int32_t have;  /* layers */
    char step[48];
};

static const struct {
    int bit;
    const char *name;
} layers[] = {{LAYER_USER, "user namespace"}, {LAYER_PID, "pid namespace"},
              {LAYER_MOUNT, "mounts"},        {LAYER_NET, "net namespace"},
              {LAYER_IPC, "ipc namespace"},   {LAYER_LANDLOCK, "landlock"},
              {LAYER_SECCOMP, "seccomp"}};

static int level_of(int have)
{
    return have == LAYER_ALL ? JAIL_FULL : have ? JAIL_WEAK : JAIL_NONE;
}

static void name_lacks(int have, char *why, size_t cap)
{
    size_t at = 0;

    if (cap == 0)
        return;
    why[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(layers); i++) {
        if ((have & layers[i].bit) || at + 1 >= cap)
            continue;
        int n = snprintf(why + at, cap - at, "%s%s", at ? ", " : "no ",
                         layers[i].name);
        at += n > 0 ? (size_t)n : 0;
    }
}

const char *jail_level_name(int level)
{
    return level == JAIL_FULL ? "full" : level == JAIL_WEAK ? "weak" : "none";
}

/* ---- both new processes: only system calls from here on ---- */

/* PR_SET_PDEATHSIG is cleared by a change of ids, hence more than once. */
static void die_with_parent(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

static void drop_capabilities(void)
{
    struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct d[2] = {{0, 0, 0}, {0, 0, 0}};

    for (int cap = 0; cap <= 63; cap++)
        if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
            break;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    syscall(SYS_capset, &h, d);
}

static int reset_signals(void)
{
    struct sigaction dfl = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int s = 1; s < NSIG; s++)
        sigaction(s, &dfl, NULL);
    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL);
}

static int compare_ints(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

void jail_close_others(const int *keep, int n)
{
    int sorted[12], next = 0;

    n = MIN(n, (int)ARRAY_LEN(sorted));
    memcpy(sorted, keep, (size_t)n * sizeof(int));
    qsort(sorted, (size_t)n, sizeof(int), compare_ints);
    for (int i = 0; i < n; i++) {
        if (sorted[i] < next)
            continue;
        if (sorted[i] > next)
            close_range((unsigned)next, (unsigned)sorted[i] - 1, 0);
        next = sorted[i] + 1;
    }
    close_range((unsigned)next, ~0u, 0);
}

/* When memory runs out, foreign code goes before anything else. */
static void offer_to_oom(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)!write(fd, "1000", 4);
    close(fd);
}

static void send_report(const struct jail_birth *b, int error)
{
    struct report r = {error, b->have, ""};

    snprintf(r.step, sizeof(r.step), "%s", b->step ? b->step : "");
    (void)send(b->sync, &r, sizeof(r), MSG_NOSIGNAL);
}

static void fail_setup(const struct jail_birth *b, int error) NORETURN;
static void fail_setup(const struct jail_birth *b, int error)
{
    send_report(b, error);
    _exit(1);
}

/* Ask the maker, which is outside of our user namespace, for its maps. */
static int get_maps(struct jail_birth *b)
{
    char c = 'M';

    if (send(b->sync, &c, 1, MSG_NOSIGNAL) != 1 || recv(b->sync, &c, 1, 0) != 1)
        return -EPIPE;
    return c == 'm' ? 0 : -EPERM;
}

/* Can ID look into the paths of the jail as they are? -1 on error. */
static int paths_readable(const struct jail_birth *b, uid_t id)
{
    bool readable = true;

    if (setegid(id) < 0 || seteuid(id) < 0)
        return -1;
    for (int i = 0; i < JAIL_PATHS && b->c->read_paths[i]; i++)
        readable = readable && faccessat(AT_FDCWD, b->c->read_paths[i], R_OK,
                                         AT_EACCESS) == 0;
    return seteuid(0) < 0 || setegid(0) < 0 ? -1 : readable;
}

/* Root takes another id, in a user namespace of the runner's own, so that its
 * limit of tasks counts only itself. Without mounts of ours root stays what it
 * is, less its capabilities, where another id could not read the paths. */
static int change_ids(struct jail_birth *b)
{
    uid_t id = b->outer;

    if (!(b->have & LAYER_MOUNT)) {
        int readable = paths_readable(b, id);
        if (readable <= 0)
            return readable < 0 ? -EPERM : 0;
        if (chown(b->dir, id, id) < 0)
            return -errno;
    }
    if (unshare(CLONE_NEWUSER) == 0) {
        if (get_maps(b) < 0)
            return -EPERM;
        b->user = true;
        id = INNER_ID;
    }
    if (setgroups(0, NULL) < 0 || setresgid(id, id, id) < 0 ||
        setresuid(id, id, id) < 0)
        return -errno;
    return 0;
}

/* Give up ids and capabilities. */
static int become_nobody(struct jail_birth *b)
{
    int r = 0;

    b->step = "change of ids";
    if (b->root && !b->user)
        r = change_ids(b);
    if (r < 0)
        return r;
    if (b->user)
        b->have |= LAYER_USER;
    drop_capabilities();
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    die_with_parent();
    return 0;
}

/* Where mounts do not work: a folder that the init removes at the end. */
static int make_dir(struct jail_birth *b)
{
    snprintf(b->dir, sizeof(b->dir), "/tmp/km-jail-XXXXXX");
    if (!mkdtemp(b->dir))
        return -errno;
    return chdir(b->dir) < 0 ? -errno : 0;
}

static int set_limit(int what, int64_t soft, int64_t hard)
{
    struct rlimit r = {(rlim_t)soft, (rlim_t)hard};

    return setrlimit((__rlimit_resource_t)what, &r) < 0 ? -errno : 0;
}

/* Before Linux 5.14 tasks were counted for each user of the machine, and the
 * processes of someone who is not root would count against the runner. */
static bool tasks_countable(const struct jail_birth *b)
{
    struct utsname u;
    int major = 0, minor = 0;

    if (b->root)
        return geteuid() != 0;
    return b->user && uname(&u) == 0 &&
           sscanf(u.release, "%d.%d", &major, &minor) == 2 &&
           (major > 5 || (major == 5 && minor >= 14));
}

static int set_limits(const struct jail_birth *b)
{
    const struct jail_conf *c = b->c;
    int files = c->profile == JAIL_BUILDER ? 1024 : 256;
    int r = set_limit(RLIMIT_CORE, 0, 0);

    if (r == 0)
        r = set_limit(RLIMIT_NOFILE, files, files);
    if (r == 0)
        r = set_limit(RLIMIT_MEMLOCK, 0, 0);
    if (r == 0)
        r = set_limit(RLIMIT_MSGQUEUE, 0, 0);
    if (r == 0 && c->file_size > 0)
        r = set_limit(RLIMIT_FSIZE, c->file_size, c->file_size);
    /* SIGXCPU tells the reason, SIGKILL a second later is for who ignores
     * it. */
    if (r == 0 && c->cpu_s > 0)
        r = set_limit(RLIMIT_CPU, c->cpu_s, c->cpu_s + 1);
    if (r == 0 && c->memory > 0) {
        int64_t base = c->profile == JAIL_RUNNER ? b->mapped : 0;
        r = set_limit(RLIMIT_AS, base + c->memory, base + c->memory);
    }
    if (r == 0 && c->max_tasks > 0 && tasks_countable(b))
        r = set_limit(RLIMIT_NPROC, c->max_tasks + 1, c->max_tasks + 1);
    return r;
}

static int null_stdio(const struct jail_conf *c)
{
    for (int fd = 0; fd < 3; fd++) {
        bool kept = false;
        for (int i = 0; i < c->n_keep; i++)
            kept = kept || c->keep[i] == fd;
        if (kept)
            continue;
        close(fd);
        /* The lowest free number is FD: those below are open. */
        if (open("/dev/null", O_RDWR) != fd)
            return -EBADF;
    }
    return 0;
}

/* The runner, from its fork to the return of jail_fork. */
static int enter_runner(struct jail_birth *b)
{
    const struct jail_conf *c = b->c;
    int keep[10], n = 0, r;

    die_with_parent();
    setsid();
    reset_signals();
    /* Unlike the init it may be looked at from outside: memory is measured
     * there, and who is not root could not. */
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    for (int i = 0; i < MIN(c->n_keep, 8); i++)
        keep[n++] = c->keep[i];
    keep[n++] = b->sync;
    jail_close_others(keep, n);
    b->step = "standard descriptors";
    r = null_stdio(c);
    if (r == 0 && c->cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((unsigned)c->cpu, &set);
        b->step = "core";
        if (sched_setaffinity(0, sizeof(set), &set) < 0)
            r = -errno;
    }
    if (r == 0) {
        b->step = "limits";
        r = set_limits(b);
    }
    if (r < 0)
        return r;
    b->step = "no new privileges";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -errno;
    if (jail_landlock(c, b->dir, b->have & LAYER_MOUNT, false) == 0)
        b->have |= LAYER_LANDLOCK;
    if (jail_filter_install(c->profile, c->gpu, b->have & LAYER_PID) == 0)
        b->have |= LAYER_SECCOMP;
    b->step = "level";
    if (level_of(b->have) < c->require)
        return -EPERM;
    send_report(b, 0);
    close(b->sync);
    return 0;
}

/* ---- how they come to be ---- */

/* The new process: becomes the init; returns 0 in the runner only. */
static int new_process(struct jail_birth *b)
{
    sigset_t child;
    pid_t runner;
    int r = 0, sigs;

    die_with_parent();
    setsid();
    reset_signals();
    umask(022);
    offer_to_oom();
    if (b->user && get_maps(b) < 0)
        _exit(1);
    if (b->spaces) {
        b->have |= SPACE_LAYERS;
        snprintf(b->dir, sizeof(b->dir), "/tmp");
        r = jail_root(b->c, b->user ? INNER_ID : b->outer, &b->step);
        if (r < 0)
            b->have &= ~LAYER_MOUNT;
    } else {
        r = -b->denied;
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    }
    if (r < 0 && b->c->require < JAIL_FULL) {
        b->step = "private folder";
        r = make_dir(b);
    }
    if (r == 0)
        r = become_nobody(b);
    if (r < 0)
        fail_setup(b, r);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    sigs = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    b->step = "fork of the runner";
    if (sigs < 0)
        fail_setup(b, -errno);
    /* glibc's fork, unlike the raw clone that made us: handlers that torch
     * and OpenMP have registered run in the runner. */
    runner = fork();
    if (runner < 0)
        fail_setup(b, -errno);
    if (runner > 0)
        jail_init(b, runner, sigs);
    r = enter_runner(b);
    if (r < 0)
        fail_setup(b, r);
    return 0;
}

/* ---- the caller ---- */

/* May this process give others the ids of the runners? */
static bool ids_free(void)
{
    FILE *f;
    unsigned long in, out, n;
    bool found = false;

    if (geteuid() != 0)
        return false;
    f = fopen("/proc/self/uid_map", "re");
    if (!f)
        return false;
    while (!found && fscanf(f, "%lu %lu %lu", &in, &out, &n) == 3)
        found = in <= OUTER_FIRST && in + n >= OUTER_FIRST + OUTER_COUNT;
    fclose(f);
    return found;
}

static int64_t address_space(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    long pages = 0;

    if (!f)
        return 0;
    if (fscanf(f, "%ld", &pages) != 1)
        pages = 0;
    fclose(f);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

static int write_proc(pid_t pid, const char *name, const char *text)
{
    char path[64];
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    n = write(fd, text, strlen(text));
    close(fd);
    return n == (ssize_t)strlen(text) ? 0 : -EPERM;
}

static int write_maps(pid_t pid, const struct jail_birth *b)
{
    char uids[64], gids[64];
    int r;

    snprintf(uids, sizeof(uids), "%d %u 1\n", INNER_ID,
             b->root ? b->outer : geteuid());
    snprintf(gids, sizeof(gids), "%d %u 1\n", INNER_ID,
             b->root ? b->outer : getegid());
    r = b->root ? 0 : write_proc(pid, "setgroups", "deny");
    if (r == 0)
        r = write_proc(pid, "uid_map", uids);
    if (r == 0)
        r = write_proc(pid, "gid_map", gids);
    return r;
}

/* Serve the new process until its report. 0, or -errno. */
static int await_report(pid_t pid, const struct jail_birth *b, int sync,
                        struct report *rep)
{
    char bytes[sizeof(*rep)];

    for (;;) {
        ssize_t n = recv(sync, bytes, sizeof(bytes), 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 1) {
            char answer = write_maps(pid, b) == 0 ? 'm' : 'x';
            (void)send(sync, &answer, 1, MSG_NOSIGNAL);
            continue;
        }
        if (n != (ssize_t)sizeof(*rep))
            return -EPIPE;
        memcpy(rep, bytes, sizeof(*rep));
        rep->step[sizeof(rep->step) - 1] = '\0';
        return rep->error;
    }
}

/* fork with namespaces. The child's stack is ours, copied. */
static pid_t raw_clone(int flags)
{
    return (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
}

pid_t jail_fork(const struct jail_conf *c, int ctl, int32_t *level, char *why,
                size_t why_cap)
{
    static unsigned count;
    struct jail_birth b = {.c = c, .ctl = ctl, .root = ids_free()};
    struct report rep = {0};
    int sync[2], r;
    pid_t pid;

    snprintf(why, why_cap, "wrong use");
    if (c->profile < 0 || c->profile >= JAIL_FETCH || c->n_keep < 0 ||
        c->n_keep > 8)
        return -EINVAL;
    (void)jail_filter_prepare(c->profile,
                              c->gpu); /* missing: seen at install */
    b.mapped = address_space();
    b.outer =
        b.root ? OUTER_FIRST + ((unsigned)getpid() * 37 + count++) % OUTER_COUNT
               : geteuid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sync) < 0)
        return -errno;

    /* Root builds its mounts with real privileges, since a runner's own user
     * may not even look into the folders that are bound. */
    b.sync = sync[1];
    b.step = "namespaces";
    b.spaces = true;
    b.user = !b.root;
    pid = raw_clone(SPACES | (b.user ? CLONE_NEWUSER : 0));
    if (pid < 0 && !b.user) {
        b.user = true;
        b.root = false;
        pid = raw_clone(SPACES | CLONE_NEWUSER);
        if (pid < 0)
            b.root = ids_free();
    }
    if (pid < 0) {
        b.user = b.spaces = false;
        b.denied = errno;
        pid = raw_clone(0);
    }
    if (pid == 0) {
        close(sync[0]);
        return new_process(&b) == 0 ? 0 : -EPERM;
    }
    r = pid < 0 ? -errno : 0;
    close(sync[1]);
    if (r == 0)
        r = await_report(pid, &b, sync[0], &rep);
    close(sync[0]);
    if (level)
        *level = level_of(rep.have);
    if (r == 0) {
        name_lacks(rep.have, why, why_cap);
        return pid;
    }
    if (pid > 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0); /* ECHILD where SIGCHLD is ignored */
    }
    if (strcmp(rep.step, "level") == 0) {
        char lacks[160];
        name_lacks(rep.have, lacks, sizeof(lacks));
        snprintf(why, why_cap, "sandbox is only %s (%s)",
                 jail_level_name(level_of(rep.have)), lacks);
    } else {
        snprintf(why, why_cap, "sandbox: %s: %s",
                 rep.step[0] ? rep.step : "its process died", strerror(-r));
    }
    return r;
}

enum jail_level jail_probe(char *what, size_t cap)
{
    static int known = -1;
    static char lacks[160];
    struct jail_conf c = {.cpu = -1, .out_fd = -1};
    int ctl[2];
    int32_t level = JAIL_NONE;
    pid_t pid;

    if (known < 0 &&
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ctl) == 0) {
        pid = jail_fork(&c, ctl[1], &level, lacks, sizeof(lacks));
        if (pid == 0)
            _exit(0);
        close(ctl[1]);
        close(ctl[0]);
        if (pid > 0)
            waitpid(pid, NULL, 0);
        known = pid > 0 ? level : JAIL_NONE;
    }
    snprintf(what, cap, "%s", lacks);
    return known < 0 ? JAIL_NONE : (enum jail_level)known;
}
