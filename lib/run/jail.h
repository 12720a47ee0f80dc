/* SPDX-License-Identifier: MIT */
/*
 * The sandbox of everything that runs foreign code: user, PID, mount, network
 * and IPC namespaces, Landlock, seccomp, rlimits, no new privileges. This file
 * is compiled twice: into librun.a and into km-jail.so, which the Python
 * zygote loads, so that both kinds of runner are jailed by the same code.
 *
 * jail_fork starts two processes: a small init (PID 1 of the new namespace,
 * never runs foreign code, not dumpable) and its only child, the runner, in
 * which the call returns 0. The init obeys one-byte commands on CTL, a
 * SOCK_SEQPACKET socket, and answers each with the same letter once done:
 *   'F' freeze: SIGSTOP to all, answered when every thread is stopped
 *   'T' thaw    'K' kill all with SIGKILL and leave
 * and sends by itself, when the runner ended: 'X' + int32 wait status. When
 * CTL closes it kills all and leaves.
 */
#ifndef KM_RUN_JAIL_H
#define KM_RUN_JAIL_H

#include <stdint.h>
#include <sys/types.h>

enum jail_profile {
    JAIL_RUNNER, /* threads, no processes, no exec after the start */
    JAIL_BUILDER /* may fork and exec (compilers); its own PID namespace */
};

#define JAIL_PATHS 8

struct jail_conf {
    int32_t profile;
    int32_t cpu;          /* pin to this core, -1 = free; cannot be undone */
    int64_t memory;       /* bytes of address space or data, 0 = none */
    int64_t file_size;    /* bytes a file may have */
    int64_t cpu_s;        /* RLIMIT_CPU */
    int32_t n_keep;       /* descriptors that stay open, all others close */
    int32_t keep[8];
    int32_t max_tasks;    /* threads (runner) or processes (builder) */
    int64_t tmp_size;     /* bytes of the private tmpfs: HOME, TMPDIR, /dev/shm */
    const char *read_paths[JAIL_PATHS]; /* readable besides the system's
                                           /usr, /lib*, /bin; NULL-ended */
    int32_t require;      /* lowest level accepted, enum jail_level */
};

/* What could be had. A level below the required one is an error. */
enum jail_level {
    JAIL_NONE = 0,   /* rlimits only */
    JAIL_WEAK = 1,   /* seccomp, Landlock or namespaces missing */
    JAIL_FULL = 2
};

/* Level that this machine gives (probed once by a child); WHAT receives which
 * layers lack, "" when full. */
enum jail_level jail_probe(char *what, size_t cap);
const char *jail_level_name(int level);

/* Returns the init's pid in the caller's namespace (> 0), 0 in the runner, or
 * -errno; WHY (cap bytes) says which step failed. ctl is the init's end of the
 * control socket (it stays open there only). LEVEL receives the level. */
pid_t jail_fork(const struct jail_conf *c, int ctl, int32_t *level, char *why,
                size_t why_cap);

#endif
