/* SPDX-License-Identifier: MIT */
/*
 * km-judge: one device, one candidate after another. It loads no foreign code;
 * that runs in the runners it starts. Jobs come as frames on descriptor 3 from
 * km-evaluate and each gets one answer:
 *
 *   {op: "open", device, python, require} + descriptors of km-runner-c and
 *                 km-runner-cuda
 *     -> {ok: true, device_class, languages: [...], device: {...}}
 *   {op: "torch"}   start the zygote now -> {ok: true, versions: {...}}
 *   {op: "judge", language, profile, budget, seed} + task record (msgpack),
 *                 candidate (source or shared object), and what that source has
 *                 compiled ahead, if anything
 *     -> {ok: true, ...fields of trial_verdict} or
 *        {ok: false, code: an error code, message}
 */
#include "base.h"

#include "evaluate/chain.h"
#include "evaluate/trial.h"
#include "io.h"
#include "log.h"
#include "mem.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define SOCK 3

struct judge {
    struct bench bench;
    bool open;
    struct reference *ref; /* of the last task */
    char *ref_id;
    char *bad_id; /* of the last task that was none, and why */
    struct err bad;
    struct gen gen;
};

static void drop_reference(struct judge *j)
{
    reference_close(j->ref);
    free(j->ref_id);
    j->ref = NULL;
    j->ref_id = NULL;
}

static int job_open(struct judge *j, const struct val *msg, int *fds,
                    size_t n_fds, struct arena *a, struct val *reply,
                    struct err *e)
{
    struct span device = val_gets(msg, "device");
    struct span python = val_gets(msg, "python");
    struct val *about = val_map(a), *languages = val_list(a);
    char name[40];

    if (j->open || n_fds < 2)
        return err_set(e, ERR_PROTOCOL, "open: not now");
    j->bench.ops = device_find(mask_text(name, sizeof(name), device), e);
    j->bench.python = python.n ? xmemdup0(python) : NULL;
    if (!j->bench.ops || j->bench.ops->open(&j->bench.dev, j->bench.python, e))
        return -1;
    j->open = true;
    j->bench.require = (int)val_geti(msg, "require", JAIL_FULL);
    j->bench.native =
        fcntl(fds[strcmp(j->bench.ops->native, "c") != 0], F_DUPFD_CLOEXEC, 10);
    val_set(a, reply, "device_class",
            val_strz(a, j->bench.ops->class_name(j->bench.dev)));
    val_push(a, languages, val_strz(a, "torch"));
    val_push(a, languages, val_strz(a, j->bench.ops->native));
    val_set(a, reply, "languages", languages);
    val_set(a, about, "device", val_strz(a, j->bench.ops->name));
    j->bench.ops->describe(j->bench.dev, a, about);
    val_set(a, reply, "device", about);
    return 0;
}

static int job_torch(struct judge *j, struct arena *a, struct val *reply,
                     struct err *e)
{
    if (!j->open)
        return err_set(e, ERR_PROTOCOL, "torch: not open");
    if (bench_zygote(&j->bench, e))
        return -1;
    val_set(a, reply, "versions", val_copy(a, zygote_about(j->bench.zygote)));
    return 0;
}

/* The task record from a descriptor that the parent filled. */
static int read_task(int fd, struct arena *a, struct val **out, struct err *e)
{
    struct buf b = BUF_INIT(32u << 20);
    struct val *v;
    size_t used;
    int rc = -1;
    if (lseek(fd, 0, SEEK_SET) || io_read_fd(&b, fd, e))
        goto done;
    rc = val_unpack(a, buf_span(&b), &used, &v, e);
    if (rc == 0)
        *out = val_copy(a, v); /* text borrows from B */
    else
        rc = err_set(e, ERR_CORRUPT, "the task record is cut");
done:
    buf_release(&b);
    return rc;
}

static int prepare(struct judge *j, const struct val *task, struct err *e)
{
    struct span id = val_gets(task, "id");
    if (j->ref && span_is(id, j->ref_id) && j->ref->f32.s.open &&
        (!j->ref->has_f64 || j->ref->f64.s.open))
        return 0;
    /* To find out may have taken minutes: not for each revision of it. */
    if (j->bad_id && span_is(id, j->bad_id)) {
        *e = j->bad;
        return -1;
    }
    drop_reference(j);
    if (reference_open(&j->ref, &j->bench, task, &j->gen, e) ||
        reference_find_chains(j->ref, &j->gen, e)) {
        drop_reference(j);
        if (e->code == ERR_BAD_TASK) {
            free(j->bad_id);
            j->bad_id = xmemdup0(id);
            j->bad = *e;
        }
        return -1;
    }
    j->ref_id = xmemdup0(id);
    return 0;
}

static int profile_of(struct span name)
{
    for (int i = 0; i < J_COUNT; i++)
        if (span_is(name, judgement_names[i]))
            return i;
    return J_STRICT;
}

static int job_judge(struct judge *j, const struct val *msg, int *fds,
                     size_t n_fds, struct arena *a, struct val *reply,
                     struct err *e)
{
    struct trial_conf c = {
        .native = !span_is(val_gets(msg, "language"), "torch"),
        .profile = (enum judgement)profile_of(val_gets(msg, "profile")),
        .budget_s = val_getf(msg, "budget", 5),
    };
    struct trial t;
    struct val *task = NULL, *v, *torch = val_map(a);
    int rc;

    if (!j->open || n_fds < 2)
        return err_set(e, ERR_PROTOCOL, "judge: not open, or no candidate");
    c.code_fd = fds[1];
    c.built_fd = n_fds > 2 ? fds[2] : -1;
    if (gen_init(&j->gen, (uint64_t)val_geti(msg, "seed", 0), e) ||
        read_task(fds[0], a, &task, e) || job_torch(j, a, torch, e) ||
        prepare(j, task, e))
        return -1;
    rc = trial_run(&t, j->ref, &c, &j->gen, a, e);
    if (!rc) {
        v = trial_verdict(&t);
        for (uint32_t i = 0; i < v->map.n; i++)
            val_set(a, reply, v->map.keys[i].p, v->map.v[i]);
        val_set(a, reply, "level",
                val_strz(a, jail_level_name(j->bench.level)));
        val_set(a, reply, "versions", val_get(torch, "versions"));
    }
    trial_close(&t);
    if (rc)
        drop_reference(j);
    return rc;
}

static void serve(struct judge *j)
{
    for (;;) {
        struct arena a = ARENA_INIT;
        struct val *msg = NULL, *reply = val_map(&a);
        struct err e = {0};
        int fds[FRAME_FDS], rc;
        size_t n = FRAME_FDS;
        struct span op;

        if (frame_recv(SOCK, &a, &msg, fds, &n, NULL, NULL, 0, &e)) {
            arena_release(&a);
            return; /* the parent is gone */
        }
        op = val_gets(msg, "op");
        val_set(&a, reply, "ok", val_bool(&a, true));
        if (span_is(op, "open"))
            rc = job_open(j, msg, fds, n, &a, reply, &e);
        else if (span_is(op, "torch"))
            rc = job_torch(j, &a, reply, &e);
        else if (span_is(op, "judge"))
            rc = job_judge(j, msg, fds, n, &a, reply, &e);
        else
            rc = err_set(&e, ERR_PROTOCOL, "unknown request");
        for (size_t i = 0; i < n; i++)
            close(fds[i]);
        if (rc) {
            reply = val_map(&a);
            val_set(&a, reply, "ok", val_bool(&a, false));
            val_set(&a, reply, "code", val_strz(&a, err_code_name(e.code)));
            val_set(&a, reply, "message", val_text(&a, span_str(e.msg)));
            val_set(&a, reply, "hint", val_text(&a, span_str(e.hint)));
        }
        rc = frame_send(SOCK, reply, NULL, 0, 0, &e);
        arena_release(&a);
        if (rc)
            return;
    }
}

int main(int argc, char **argv UNUSED)
{
    struct judge j = {0};
    struct stat st;

    log_program = "km-judge";
    if (argc > 1 || fstat(SOCK, &st) || !S_ISSOCK(st.st_mode))
        die_usage("is started by km-evaluate");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#if !defined(__SANITIZE_ADDRESS__)
    /* Its memory holds expected outputs and seeds. (The leak checker would have
     * to attach to it.) */
    prctl(PR_SET_DUMPABLE, 0);
#endif
    signal(SIGPIPE, SIG_IGN);
    /* Where it is allowed: on a busy machine every hand-over between judge,
     * init and runner waits for a core. Runners inherit it. */
    (void)setpriority(PRIO_PROCESS, 0, -10);
    serve(&j);
    drop_reference(&j);
    free(j.bad_id);
    bench_close(&j.bench);
    return 0;
}
