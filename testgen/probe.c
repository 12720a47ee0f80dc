/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "embed.h"
#include "io.h"
#include "proc.h"
#include "run/frames.h"
#include "testgen/probe.h"
#include "testgen/reply.h"

EMBED_DECLARE(probe_py);
EMBED_DECLARE(gate_py);
EMBED_DECLARE(watch_py);
EMBED_DECLARE(counts_py);
EMBED_DECLARE(examine_py);

/* Wall-clock seconds that one CPU second may take on a loaded machine. */
#define WALL_PER_CPU 20.0
#define START_S      60.0

void probe_init(struct probe *p, const struct probe_conf *c)
{
    memset(p, 0, sizeof(*p));
    p->conf = *c;
    p->runner = (struct runner)RUNNER_NONE;
}

void probe_end(struct probe *p)
{
    if (p->alive)
        runner_kill(&p->runner);
    p->alive = false;
}

void probe_release(struct probe *p)
{
    probe_end(p);
    zygote_stop(p->zygote);
    p->zygote = NULL;
}

/* km_probe is one Python module in five files. */
int probe_start(struct probe *p, struct err *e)
{
    if (p->zygote)
        return 0;
    struct buf text = BUF_INIT(1u << 20);
    buf_addspan(&text, EMBED_SPAN(probe_py));
    buf_addc(&text, '\n');
    buf_addspan(&text, EMBED_SPAN(gate_py));
    buf_addc(&text, '\n');
    buf_addspan(&text, EMBED_SPAN(watch_py));
    buf_addc(&text, '\n');
    buf_addspan(&text, EMBED_SPAN(counts_py));
    buf_addc(&text, '\n');
    buf_addspan(&text, EMBED_SPAN(examine_py));
    if (p->conf.meta)
        buf_adds(&text, "\nwarm()\nprepare_shapes()\n");
    struct zygote_conf c = {.python = p->conf.python,
                            .require = p->conf.require,
                            .probe = buf_span(&text)};
    int rc = zygote_start(&p->zygote, &c, e);
    buf_release(&text);
    return rc;
}

/* The process is gone or did not answer in time. */
static struct val *obituary(struct probe *p, struct arena *a,
                            const struct val *msg, const struct err *cause)
{
    struct val *r = val_map(a);
    struct span op = val_gets(msg, "op");
    char text[200] = "";
    enum err_code code = cause->code;

    if (code == ERR_CRASH)
        code = runner_end(&p->runner, text, sizeof(text));
    else
        p->wall = p->wall || code == ERR_TIMEOUT;
    probe_end(p);
    val_set(a, r, "ok", val_bool(a, false));
    val_set(a, r, "died", val_bool(a, true));
    val_set(a, r, "where",
            span_is(op, "load") ? val_strz(a, "load") : val_strz(a, "forward"));
    val_set(a, r, "class", val_strz(a, err_code_name(code)));
    val_set(a, r, "message",
            val_text(a, span_str(text[0] ? text : cause->msg)));
    return r;
}

/* Sets *REPLY to the answer, or to what is to be said instead of one. */
static void ask(struct probe *p, struct arena *a, struct val *msg, int *fd,
                double cpu_s, struct val **reply)
{
    struct err e = {0};
    if (!p->alive)
        err_set(&e, ERR_CRASH, "the process is gone");
    else if (frame_call(p->runner.sock, a, msg, fd, fd ? 1 : 0,
                        now_s() + cpu_s * WALL_PER_CPU + 5, reply, &e) == 0) {
        if (reply_sound(*reply, val_gets(msg, "op")))
            return;
        err_set(&e, ERR_PROTOCOL, "the answer is none of the probe's");
    }
    *reply = obituary(p, a, msg, &e);
}

void probe_call(struct probe *p, struct arena *a, struct val *msg, double cpu_s,
                struct val **reply)
{
    val_set(a, msg, "cpu_s", val_float(a, cpu_s));
    ask(p, a, msg, NULL, cpu_s, reply);
}

/* A zygote that is gone, or whose answer came too late to be told from the
 * next one, is started anew, once. */
static int fork_probe(struct probe *p, const struct runner_conf *c,
                      struct err *e)
{
    for (int i = 0;; i++) {
        if (probe_start(p, e) < 0)
            return -1;
        if (zygote_fork(p->zygote, c, &p->runner, e) == 0)
            return 0;
        zygote_stop(p->zygote);
        p->zygote = NULL;
        if (i > 0 || (e->code != ERR_CRASH && e->code != ERR_TIMEOUT)) {
            p->wall = true;
            return -1;
        }
    }
}

int probe_load(struct probe *p, struct arena *a, struct span source,
               struct span entry, struct val **reply, struct err *e)
{
    struct runner_conf c = {.role = "probe",
                            .cpu = -1,
                            .memory = p->conf.memory,
                            .cpu_s = (int64_t)p->conf.cpu_s + 1,
                            .start_s = START_S};
    struct val *msg = val_map(a);
    int fd, rc;

    probe_end(p);
    fd = io_memfd("module", source, true, e);
    if (fd < 0)
        return -1;
    rc = fork_probe(p, &c, e);
    if (rc < 0) {
        close(fd);
        return -1;
    }
    p->alive = true;
    val_set(a, msg, "op", val_strz(a, "load"));
    val_set(a, msg, "entry", val_str(a, entry));
    val_set(a, msg, "threads", val_int(a, 1));
    val_set(a, msg, "cpu_s", val_float(a, p->conf.cpu_s));
    ask(p, a, msg, &fd, p->conf.cpu_s, reply);
    close(fd);
    return 0;
}
