/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/session.h"

#include "evaluate/memory.h"
#include "evaluate/timing.h"
#include "proc.h"

#include <math.h>
#include <poll.h>

/* A runner that stays ready but gets no core for this many times its limit is
 * the machine's fault, and nobody's verdict. */
#define WALL_FACTOR 10
#define SLICE_S     0.25
#define SPIN_S      0.1

/* The runner is dead or will be: say how, and in which class. */
static int session_end(struct session *s, enum err_code code, struct err *e)
{
    char text[160] = "";
    if (code == ERR_CRASH)
        code = runner_end(&s->r, text, sizeof(text));
    mask_text(s->end, sizeof(s->end), span_str(text[0] ? text : e->msg));
    session_close(s);
    return err_set(e, code, "%s", s->end);
}

/* What its main thread waited for the core, less the time that threads of its
 * own kept it: they all share one. */
static double waited_s(const struct proc_usage *before,
                       const struct proc_usage *now)
{
    double others =
        (now->process_s - now->main_s) - (before->process_s - before->main_s);
    return MAX(0.0, now->delay_s - before->delay_s - MAX(0.0, others));
}

/* Wait for the reply in slices, so that the charge can be looked at. */
static int wait_reply(struct session *s, struct arena *a, double start,
                      double limit_s, const struct proc_usage *before,
                      struct val **reply, double *at, struct err *e)
{
    for (;;) {
        struct proc_usage u;
        struct proc_memory m;
        double now = now_s(), waited;
        double next = MIN(now + SLICE_S, start + MAX(limit_s, 0.001));
        pid_t pid = 0;
        if (frame_recv(s->r.sock, a, reply, NULL, NULL, &pid, at,
                       MAX(next, now + 0.001), e) == 0) {
            if (pid != s->r.pid)
                return err_set(e, ERR_PROTOCOL,
                               "a reply came from another process");
            return 0;
        }
        if (e->code != ERR_TIMEOUT)
            return -1;
        now = now_s();
        waited = usage_read(s->r.pid, &u) ? waited_s(before, &u) : 0;
        if (s->memory && memory_read(s->r.pid, &m) &&
            m.anon + m.shared > s->memory)
            return err_set(e, ERR_MEMORY, "it takes more than %" PRId64 " MiB",
                           s->memory >> 20);
        if (now - start - waited > limit_s)
            return err_set(e, ERR_TIMEOUT, "no answer within %.0f s",
                           ceil(limit_s));
        if (now - start > limit_s * WALL_FACTOR + 10)
            return err_set(e, ERR_INFRASTRUCTURE,
                           "the runner got no core for %.0f s", now - start);
    }
}

/* Until something is there or DEADLINE, without giving up the core: to be
 * woken takes as long as some rings. */
static void await(int sock, double deadline)
{
    struct pollfd p = {sock, POLLIN, 0};
    while (poll(&p, 1, 0) == 0 && now_s() < deadline)
        ;
}

int session_call(struct session *s, struct arena *a, const struct val *msg,
                 const int *fds, size_t n_fds, double limit_s,
                 struct val **reply, struct turn *t, struct err *e)
{
    struct proc_usage before = {0}, at_reply = {0}, after = {0};
    struct turn none = {0};
    double start = 0, at = 0;

    if (!t)
        t = &none;
    if (!s->open)
        return err_set(e, ERR_CRASH, "%s", s->end);
    usage_read_stopped(s->r.pid, &before);
    if (t->on_start) {
        if (runner_thaw(&s->r, e))
            return session_end(s, ERR_CRASH, e);
        t->on_start(t->payload);
        start = now_s();
    }
    if (frame_send(s->r.sock, msg, fds, n_fds, now_s() + 5, e))
        return session_end(s, e->code, e);
    if (!t->on_start) {
        start = now_s();
        if (runner_thaw(&s->r, e))
            return session_end(s, ERR_CRASH, e);
    } else {
        await(s->r.sock, start + MIN(limit_s, SPIN_S));
    }
    if (wait_reply(s, a, start, limit_s, &before, reply, &at, e)) {
        if (e->code == ERR_INFRASTRUCTURE) {
            session_close(s);
            return -1;
        }
        return session_end(s, e->code, e);
    }
    if (t->on_reply)
        t->on_reply(t->payload);
    t->checked_s = now_s() - start;
    /* Now: being stopped costs it another wait for the core. */
    if (!usage_read(s->r.pid, &at_reply))
        at_reply = before;
    if (runner_freeze(&s->r, e))
        return session_end(s, ERR_CRASH, e);
    if (!usage_read_stopped(s->r.pid, &after))
        after = before;
    t->elapsed_s = at - start;
    t->delay_s = MIN(t->elapsed_s, at_reply.delay_s - before.delay_s);
    t->cpu_s = after.process_s - before.process_s;
    t->others_s = MAX(0.0, t->cpu_s - (after.main_s - before.main_s));
    t->switches = after.switches - before.switches;
    t->threads = usage_threads(s->r.pid);
    return val_getb(*reply, "ok", false) ? 0 : 1;
}

int session_empty(struct session *s, struct turn *t, struct err *e)
{
    struct arena a = ARENA_INIT;
    struct val *reply, *msg = val_map(&a);
    int rc;
    val_set(&a, msg, "op", val_strz(&a, "mode"));
    val_set(&a, msg, "train", val_bool(&a, false));
    rc = session_call(s, &a, msg, NULL, 0, 10, &reply, t, e);
    if (rc == 1) {
        char text[200];
        rc = err_set(e, ERR_PROTOCOL, "the runner refused an empty call: %s",
                     mask_text(text, sizeof(text), val_gets(reply, "message")));
    }
    arena_release(&a);
    return rc;
}

int session_open(struct session *s, const struct runner *r, bool native,
                 int64_t memory, struct err *e)
{
    enum { TURNS = 15 };
    double v[TURNS], cpu[TURNS];

    *s = (struct session){
        .r = *r, .open = true, .native = native, .memory = memory};
    if (runner_freeze(&s->r, e)) {
        session_end(s, ERR_CRASH, e);
        return -1;
    }
    for (int i = 0; i < TURNS; i++) {
        struct turn t = {0};
        if (session_empty(s, &t, e)) {
            session_close(s);
            return -1;
        }
        v[i] = t.elapsed_s - t.delay_s;
        cpu[i] = t.cpu_s;
        s->overhead_switches = MAX(s->overhead_switches, t.switches);
    }
    s->overhead_s = timing_median(v, TURNS);
    s->overhead_cpu_s = timing_median(cpu, TURNS);
    return 0;
}

void session_close(struct session *s)
{
    if (s->open)
        runner_kill(&s->r);
    s->open = false;
}
