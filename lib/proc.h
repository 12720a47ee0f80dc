/* SPDX-License-Identifier: MIT */
/* Children with a deadline, limits and captured output. No sandbox: for that
 * see run/jail.h. */
#ifndef KM_PROC_H
#define KM_PROC_H

#include "buf.h"
#include "err.h"

struct proc_limits {
    double wall_s;     /* 0 = none: then SIGKILL for the whole group */
    double cpu_s;      /* RLIMIT_CPU, rounded up; 0 = none */
    int64_t memory;    /* RLIMIT_AS bytes; 0 = none */
    int64_t file_size; /* RLIMIT_FSIZE bytes; 0 = none */
    /* In the child, last before the program starts: a sandbox that it cannot
     * leave. Not 0 = exit status 125. */
    int (*confine)(void *payload);
    void *payload;
    /* What the child starts dies with the parent too, however that ends, as
     * long as it stays in the group and any of it keeps the descriptor
     * PROC_LEASH, which the child then gets. */
    bool leash;
};

#define PROC_LEASH 9

struct proc_fd {
    int ours, theirs; /* descriptor here, number in the child */
};

struct proc {
    pid_t pid;
    int pidfd;
    int leash; /* our end, -1 = none */
};

#define PROC_NONE ((struct proc){-1, -1, -1})

enum proc_end { PROC_EXIT, PROC_SIGNAL, PROC_TIMEOUT };

struct proc_result {
    enum proc_end end;
    int code;        /* exit status or signal */
    double cpu_s;    /* user + system */
    int64_t max_rss; /* bytes */
};

/* Start ARGV (PATH lookup) in a process group of its own, with only the
 * descriptors of FDS (0, 1, 2 not named are /dev/null), signals reset, dies
 * with the parent. ENVP NULL = a fixed small environment: PATH, HOME, TMPDIR,
 * LANG=C.UTF-8, TZ=UTC, PYTHONHASHSEED=0, KM_*. */
int proc_spawn(struct proc *p, const char *const *argv, const char *const *envp,
               const struct proc_fd *fds, size_t n_fds,
               const struct proc_limits *lim, struct err *e) MUST_USE;
/* Wait up to WALL_S (0 = for ever); past that kill the group: PROC_TIMEOUT. */
int proc_wait(struct proc *p, double wall_s, struct proc_result *r,
              struct err *e) MUST_USE;
void proc_kill(struct proc *p); /* SIGKILL to the group, reaps; idempotent */

/* Run to the end: IN on its stdin, stdout and stderr appended to OUT and LOG
 * (either may be NULL; what exceeds their max is read and dropped). */
int proc_run(const char *const *argv, struct span in, struct buf *out,
             struct buf *log, const struct proc_limits *lim,
             struct proc_result *r, struct err *e) MUST_USE;

double now_s(void); /* CLOCK_MONOTONIC */

#endif
