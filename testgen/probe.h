/* SPDX-License-Identifier: MIT */
/*
 * One module in a jailed fork of the zygote, where it is built and run
 * (lib/run/probe.py is the other side).
 */
#ifndef TESTGEN_PROBE_H
#define TESTGEN_PROBE_H

#include "run/runner.h"
#include "val.h"

struct probe_conf {
    const char *python; /* NULL: KM_PYTHON, then the cache's */
    int require;        /* enum jail_level */
    double cpu_s;       /* CPU seconds of one fork */
    int64_t memory;     /* bytes beyond the zygote's own */
    bool meta;          /* prepare the zygote for the meta device */
};

struct probe {
    struct probe_conf conf;
    struct zygote *zygote; /* started by the first probe_load */
    struct runner runner;
    bool alive;
    bool wall; /* a limit on wall-clock time was hit: not to be memoised */
};

void probe_init(struct probe *p, const struct probe_conf *c);
void probe_release(struct probe *p);
int probe_start(struct probe *p, struct err *e) MUST_USE;

/*
 * A fresh fork that loads SOURCE and looks for class ENTRY. A source that
 * cannot be loaded is no error: the reply says {ok: false, ...}. -1 is a fault
 * of this machine (no torch, no sandbox).
 */
int probe_load(struct probe *p, struct arena *a, struct span source,
               struct span entry, struct val **reply, struct err *e) MUST_USE;
/*
 * One request to the module loaded last; MSG gets cpu_s. When the process
 * ends or hangs, the reply is {ok: false, died: true, where, class, message}
 * with class "timeout", "memory" or "crash", and the probe is dead until the
 * next probe_load.
 */
void probe_call(struct probe *p, struct arena *a, struct val *msg, double cpu_s,
                struct val **reply);
void probe_end(struct probe *p); /* kill the fork */

#endif
