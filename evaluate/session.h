/* SPDX-License-Identifier: MIT */
/*
 * One runner as the judge holds it: frozen at all times but for the calls
 * below, watched from outside, with a deadline on every call.
 */
#ifndef KM_EVALUATE_SESSION_H
#define KM_EVALUATE_SESSION_H

#include "run/frames.h"
#include "run/runner.h"

struct session {
    struct runner r;
    bool open, native;
    int64_t memory; /* bytes of its own that it may have, 0 = see the jail */
    /* Of an empty call, measured before foreign code */
    double overhead_s, overhead_cpu_s;
    int64_t overhead_switches;
    /* Why the last call failed, when the runner is gone. */
    char end[200];
};

/* One call. Times are the judge's clock and the kernel's word. */
struct turn {
    /* In: called when the reply is here, before the freeze. */
    void (*on_reply)(void *payload);
    /* In: called when the runner is thawed and waits for the request, which the
     * clock counts from; NULL: the request is there before the thaw, and the
     * clock counts that too. With it the judge keeps its core meanwhile. */
    void (*on_start)(void *payload);
    void *payload;
    /* Out */
    double elapsed_s; /* from the start to the reply */
    double checked_s; /* the same, to the end of on_reply */
    double cpu_s;     /* of the whole process, from thaw to freeze */
    double others_s;  /* what of it the main thread did not do */
    double delay_s;   /* until the reply: ready, but without a core */
    int64_t switches; /* how often it got a core */
    int threads;      /* at the end, the main one included */
};

/*
 * Send MSG, thaw, wait for the reply, freeze. LIMIT_S counts the seconds the
 * runner had the core or slept, not those it waited for one. 0: *REPLY is
 * there and ok; 1: it is there and says {ok: false}; -1: ERR_TIMEOUT,
 * ERR_CRASH, ERR_MEMORY, ERR_PROTOCOL (the runner is dead: s->end tells how),
 * ERR_INFRASTRUCTURE (the machine did not let it run). T may be NULL.
 */
int session_call(struct session *s, struct arena *a, const struct val *msg,
                 const int *fds, size_t n_fds, double limit_s,
                 struct val **reply, struct turn *t, struct err *e) MUST_USE;
/* A call that does nothing: its time is what every other costs besides its
 * work. */
int session_empty(struct session *s, struct turn *t, struct err *e) MUST_USE;
/* Freeze the fresh runner R (taken over) and measure an empty call. MEMORY:
 * s->memory, for one whose address space cannot be limited. */
int session_open(struct session *s, const struct runner *r, bool native,
                 int64_t memory, struct err *e) MUST_USE;
void session_close(struct session *s);

#endif
