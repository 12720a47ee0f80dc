/* SPDX-License-Identifier: MIT */
/*
 * Runners: sandboxed processes that hold foreign code. A torch runner is a
 * fork of the zygote (a Python that has imported torch, single-threaded, and
 * runs nothing foreign itself); a native one is an executable.
 */
#ifndef KM_RUN_RUNNER_H
#define KM_RUN_RUNNER_H

#include "buf.h"
#include "err.h"
#include "run/jail.h"
#include "val.h"

struct zygote;

struct zygote_conf {
    const char *python; /* NULL: KM_PYTHON, then the cache's python */
    int require;        /* enum jail_level for its runners */
    /* Source of another Python main, entered by runners of role "probe":
     * module km_probe, with a function serve(chan); it may import km_runner
     * (runner.py) and is executed once in the zygote. p == NULL: none. */
    struct span probe;
};

/* Path of the Python to run: GIVEN, else KM_PYTHON, else the cache's. Caller
 * frees. NULL: ERR_UNAVAILABLE. */
char *zygote_python(const char *given, struct err *e);
/* Start Python, import torch, wait until ready (60 s). ERR_UNAVAILABLE with a
 * hint when there is no torch. The calling thread must outlive Z: Python dies
 * with it. */
int zygote_start(struct zygote **out, const struct zygote_conf *c,
                 struct err *e) MUST_USE;
/* {python, torch, triton, numpy, level, lacks}; valid while Z lives. `level`
 * is an enum jail_level, `lacks` names the layers that this machine denies. */
const struct val *zygote_about(const struct zygote *z);
void zygote_stop(struct zygote *z);

struct runner {
    int sock;   /* frames; SO_PASSCRED is set */
    int ctl;    /* the init's control socket */
    pid_t init; /* as seen here */
    pid_t pid;  /* of the runner itself, from the hello's credentials */
    int level;  /* enum jail_level reached */
    bool ended; /* the init told that it ended, in END */
    struct jail_end end;
    int64_t cpu_s; /* its limit, 0 = none */
};

/* A runner that is not there: runner_kill does nothing. */
#define RUNNER_NONE                                                            \
    {                                                                          \
        .sock = -1, .ctl = -1                                                  \
    }

struct runner_conf {
    const char *role; /* "evaluate" or "probe": which Python main it enters */
    int cpu;          /* core to pin to, -1 none */
    int64_t memory;   /* bytes of address space: beyond the zygote's own for
                         zygote_fork, in all for runner_exec; arenas count;
                         0 = none */
    int64_t cpu_s;    /* 0 = none */
    double start_s;   /* seconds until hello */
    int gpu;          /* 1 + number of the GPU that it gets; 0 = none */
    bool tools;       /* of zygote_fork: it may start compilers */
    /* Of runner_exec: readable besides the system's; NULL, or NULL-ended. */
    const char *const *read_paths;
};

/* Both return after the runner's hello. On error OUT is RUNNER_NONE.
 * ERR_SANDBOX when the level is below what is required. */
int zygote_fork(struct zygote *z, const struct runner_conf *c,
                struct runner *out, struct err *e) MUST_USE;
/* Start the executable open at EXE_FD (copied into memory: the jail does not
 * see its file) with ARGV in the jail; the frame socket is its descriptor 3.
 * It runs in the profile JAIL_EXEC: it must call jail_seal before it loads
 * foreign code. Environment: HOME and TMPDIR = its private folder, the fixed
 * rest as proc_spawn, and what finds the GPU if it gets one. */
int runner_exec(int exe_fd, const char *const *argv,
                const struct runner_conf *c, int require, struct runner *out,
                struct err *e) MUST_USE;

/* Freeze and thaw, answered by the init; -1 ERR_CRASH when it is gone. */
int runner_freeze(struct runner *r, struct err *e) MUST_USE;
int runner_thaw(struct runner *r, struct err *e) MUST_USE;
/* Kill and reap (when it returns, no process of the runner is alive and its
 * memory is unmapped), close the sockets; idempotent. */
void runner_kill(struct runner *r);
/* After ERR_CRASH: how it ended, as text for people and a code (ERR_MEMORY
 * for SIGKILL by the kernel, ERR_TIMEOUT for the limit of CPU seconds, else
 * ERR_CRASH). Waits a second at most; before runner_kill. */
enum err_code runner_end(struct runner *r, char *text, size_t cap);

/* Run a compiler in a builder jail: ARGV, with FILES laid into its private
 * working folder (plain names without '/'); on success the bytes of OUTPUT (a
 * plain file there) are appended to OUT; messages to LOG.
 * -1: ERR_TIMEOUT, ERR_CRASH, ERR_MEMORY, ERR_SANDBOX, or ERR_PARSE when the
 * compiler itself said no. */
struct build_file {
    const char *name;
    struct span text;
};
int build_run(const char *const *argv, const struct build_file *files,
              size_t n_files, const char *output, double wall_s, int require,
              struct buf *out, struct buf *log, struct err *e) MUST_USE;

#endif
