/* SPDX-License-Identifier: MIT */
/*
 * The sandbox of everything that runs foreign code: user, PID, mount, network
 * and IPC namespaces, Landlock, seccomp, rlimits, no new privileges. These
 * files are compiled twice: into librun.a and into km-jail.so, which the
 * Python zygote loads, so that both kinds of runner are jailed by the same
 * code. They use nothing else of lib/.
 *
 * jail_fork starts two processes: a small init (PID 1 of the new namespace,
 * never runs foreign code, not dumpable) and its only child, the runner, in
 * which the call returns 0. The init obeys one-byte commands on CTL, a
 * SOCK_SEQPACKET socket, and answers each with the same letter once done:
 *   'F' freeze: SIGSTOP to all, answered when every thread is stopped
 *   'T' thaw    'K' kill all with SIGKILL, reap them, answer and leave
 * and sends by itself, when the runner ended, a struct jail_end ('X'); that
 * may come in place of the answer to 'F' or 'T'. When CTL closes, or the
 * caller's thread ends, it kills all and leaves. A runner that continues
 * itself while it is frozen is killed.
 *
 * In the runner: standard input, output and error are /dev/null unless kept;
 * the working directory is its private empty folder, "/tmp" where mounts work
 * (set HOME and TMPDIR to it; files there may be mapped executable); there is
 * no /proc and no /sys. Its session is its own; it dies with the init.
 */
#ifndef KM_RUN_JAIL_H
#define KM_RUN_JAIL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum jail_profile {
    JAIL_RUNNER,  /* threads, no processes, no exec */
    JAIL_EXEC,    /* the same, but may exec until it calls jail_seal */
    JAIL_BUILDER, /* may fork and exec (compilers); its own PID namespace */
    JAIL_FETCH,   /* the same, and reach the network: jail_confine only */
    JAIL_PROFILES
};

#define JAIL_PATHS 8

/* runner.py mirrors this layout. */
struct jail_conf {
    int32_t profile;
    int32_t cpu;       /* pin to this core, -1 = free; cannot be undone */
    int64_t memory;    /* bytes of address space, 0 = none: RUNNER beyond what
                          the caller has mapped, else in all. Every mapping
                          counts, arenas and thread stacks included */
    int64_t file_size; /* bytes a file may have, 0 = none */
    int64_t cpu_s;     /* RLIMIT_CPU, 0 = none */
    int32_t n_keep;    /* descriptors that stay open, all others close */
    int32_t keep[8];
    int32_t max_tasks; /* threads (runner) or processes (builder), 0 = none */
    int64_t tmp_size;  /* bytes of the private tmpfs, 0 = 64 MiB; /dev/shm has
                          as much again */
    const char *read_paths[JAIL_PATHS]; /* readable besides the system's
                                           /usr, /lib*, /bin; NULL-ended */
    int32_t require; /* lowest level accepted, enum jail_level */
    int32_t gpu;     /* 1: the devices of NVIDIA's driver are there */
    /* An artefact: once the runner has ended with status 0 and all processes
     * are dead, the init copies the plain file OUT_NAME of the private folder
     * to OUT_FD, if it has at most OUT_MAX bytes; jail_end.artefact tells.
     * -1 = none. */
    int32_t out_fd;
    const char *out_name;
    int64_t out_max;
};

/* What could be had. A level below the required one is an error. */
enum jail_level {
    JAIL_NONE = 0, /* rlimits only */
    JAIL_WEAK = 1, /* seccomp, Landlock or namespaces missing */
    JAIL_FULL = 2
};

struct jail_end {
    char what;       /* 'X' */
    char artefact;   /* 1 = written to OUT_FD */
    int32_t status;  /* as of waitpid */
    int64_t cpu_ms;  /* user and system, of the runner and what it reaped */
    int64_t max_rss; /* bytes */
};

/* Level that this machine gives (found once by a child); WHAT receives which
 * layers lack, "" when full. */
enum jail_level jail_probe(char *what, size_t cap);
const char *jail_level_name(int level);

/* Returns the init's pid in the caller's namespace (> 0), 0 in the runner, or
 * -errno; WHY (cap bytes) says which step failed, or which layers lack. ctl is
 * the init's end of the control socket (it stays open there and here). LEVEL
 * receives the level. The init is the caller's child: to be reaped, or
 * SIGCHLD ignored. The caller must be single-threaded if the runner is to do
 * more than exec. */
pid_t jail_fork(const struct jail_conf *c, int ctl, int32_t *level, char *why,
                size_t why_cap);

/*
 * For a helper of ours that must reach the network, so that no namespaces can
 * be had: Landlock and seccomp alone, on the calling process and what it
 * starts, for good. It reads the system's folders and C's read_paths, writes
 * below DIR only, and has no socket but those of IPv4 and IPv6 under
 * JAIL_FETCH, none at all under JAIL_BUILDER; only these two fields of C are
 * looked at. 0, or -errno with STEP = what could not be had.
 */
int jail_confine(const struct jail_conf *c, const char *dir, const char **step);

/* In a JAIL_EXEC program, before foreign code: no exec from now on. 0, or -1
 * with errno. */
int jail_seal(void);

#endif
