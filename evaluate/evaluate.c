/* SPDX-License-Identifier: MIT */
/*
 * km-evaluate: each revision, followed by its verdict. The parent touches no
 * device: it looks at the source, compiles, asks the store, hands the rest to
 * a judge process and writes what comes back.
 */
#include "base.h"

#include "evaluate/build.h"
#include "evaluate/link.h"
#include "evaluate/static.h"
#include "evaluate/verdict.h"
#include "hash.h"
#include "io.h"
#include "log.h"
#include "map.h"
#include "run/jail.h"
#include "stage.h"
#include "store.h"

#include <fcntl.h>

#define TRIES 2

static struct {
    const char *tasks, *device, *profile, *store, *python;
    bool no_store, weak, explain;
    double budget, timeout;
    int64_t seed;
} opts = {
    .device = "cpu",
    .profile = "strict",
    .budget = 5,
    .timeout = 600,
};

static const struct opt options[] = {
    {OPT_GROUP, 0, "Evaluation", NULL, NULL, NULL, 0, 0, false},
    {OPT_STR, 't', "tasks", &opts.tasks, "FILE",
     "stream with the tasks (needed)", 0, 0, false},
    {OPT_STR, 0, "device", &opts.device, "NAME",
     "device to judge on; this build has: cpu (default: cpu)", 0, 0, true},
    {OPT_CHOICE, 0, "profile", &opts.profile, "strict|kbv|kernelbench",
     "judgement that a candidate must pass to be timed (default: strict)", 0, 0,
     true},
    {OPT_FLOAT, 0, "budget", &opts.budget, "SECONDS",
     "time for the timing of a candidate (default: 5)", 0.1, 600, true},
    {OPT_FLOAT, 0, "timeout", &opts.timeout, "SECONDS",
     "wall time after which a judge is given up (default: 600)", 10, 86400,
     false},
    {OPT_STR, 0, "store", &opts.store, "FILE",
     "verdicts and builds (default: evaluate.sqlite in the cache folder)", 0, 0,
     false},
    {OPT_FLAG, 0, "no-store", &opts.no_store, NULL,
     "judge everything anew and keep nothing", 0, 0, false},
    {OPT_STR, 0, "python", &opts.python, "FILE",
     "interpreter with torch (default: $KM_PYTHON, else the cache's)", 0, 0,
     false},
    {OPT_FLAG, 0, "allow-weak-sandbox", &opts.weak, NULL,
     "run where a layer of the sandbox is missing", 0, 0, false},
    {OPT_INT, 0, "seed", &opts.seed, "N",
     "fixed seed in place of a secret one: for tests of the program, such "
     "verdicts are no evidence (default: secret)",
     1, 0x7fffffff, true},
    {OPT_FLAG, 0, "explain", &opts.explain, NULL,
     "tell each verdict on stderr, in a few lines", 0, 0, false},
    {0},
};

struct evaluate {
    struct map tasks; /* id -> struct buf *, packed */
    struct link link;
    struct store *store;
    struct builder builder;
    struct statics *statics;
};

/* ---- start and end ---- */

static int load_tasks(struct evaluate *s, const char *path, bool bare,
                      struct err *e)
{
    struct arena a = ARENA_INIT;
    struct rec_reader *r;
    struct val *rec;
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

    if (fd < 0)
        return err_sys(e, "cannot open '%s'", path);
    r = rec_reader_new(fd, path, bare);
    while ((rc = rec_read(r, &a, &rec, e)) == 0) {
        struct buf *b;
        if (!span_is(rec_kind(rec), "task") || !rec_ok(rec) ||
            map_has(&s->tasks, rec_id(rec))) {
            arena_reset(&a);
            continue;
        }
        b = xcalloc(1, sizeof(*b));
        buf_init(b, 2 * REC_MAX);
        if (val_pack(b, rec)) {
            free(b);
            rc = err_set(e, ERR_TOO_LARGE, "a task in '%s' is too large", path);
            break;
        }
        map_put(&s->tasks, rec_id(rec), b);
        arena_reset(&a);
    }
    if (rc == KM_END)
        rc = 0;
    rec_reader_free(r);
    arena_release(&a);
    close(fd);
    return rc;
}

static int evaluate_open(void **state, const struct stage_env *env,
                         struct err *e)
{
    struct evaluate *s = xcalloc(1, sizeof(*s));
    struct link_conf c = {.device = opts.device,
                          .python = opts.python,
                          .require = opts.weak ? JAIL_NONE : JAIL_FULL};
    *state = s;
    s->tasks = (struct map)MAP_INIT;
    link_init(&s->link, &c);
    if (!opts.tasks) {
        err_set(e, ERR_USAGE, "no tasks given");
        return err_hint(e, "--tasks FILE, a stream of km-testgen");
    }
    s->statics = statics_new(e);
    if (!s->statics || load_tasks(s, opts.tasks, env->bare, e))
        return -1;
    if (!opts.no_store && store_open(&s->store, opts.store, "evaluate", e))
        return -1;
    s->builder.store = s->store;
    s->builder.require = c.require;
    return 0;
}

static void evaluate_close(void *state)
{
    struct evaluate *s = state;
    if (!s)
        return;
    link_close(&s->link);
    store_close(s->store);
    statics_free(s->statics);
    for (size_t i = 0; i < s->tasks.n; i++) {
        buf_release(s->tasks.entries[i].value);
        free(s->tasks.entries[i].value);
    }
    map_release(&s->tasks);
    free(s);
}

/* ---- one revision ---- */

static struct val *option_map(struct arena *a)
{
    struct val *m = val_map(a);
    val_set(a, m, "profile", val_strz(a, opts.profile));
    val_set(a, m, "budget", val_float(a, opts.budget));
    if (opts.seed)
        val_set(a, m, "seed", val_int(a, opts.seed));
    return m;
}

/* What decides a verdict: another layout of the same tokens gets no second
 * throw of the dice. */
static void store_key(char key[HASH_HEX + 1], const struct verdict_parts *p,
                      struct span normal)
{
    struct sha256 *h = sha256_new();
    struct buf b = BUF_INIT(4096);
    sha256_add_field(h, val_gets(p->revision, "task"));
    sha256_add_field(h, normal);
    sha256_add_field(h, val_gets(p->revision, "language"));
    sha256_add_field(h, span_str(PROTOCOL_VERSION));
    sha256_add_field(h, span_str(p->device_class));
    if (val_pack(&b, p->options) == 0)
        sha256_add_field(h, buf_span(&b));
    sha256_hex(h, key);
    sha256_free(h);
    buf_release(&b);
}

/* 1 found, 0 not, -1 error. */
static int from_store(struct evaluate *s, struct arena *a, const char *key,
                      const struct verdict_parts *p, struct val **out,
                      struct err *e)
{
    struct buf b = BUF_INIT(REC_MAX);
    struct val *body;
    size_t used;
    int rc = s->store ? store_get(s->store, "verdict", key, &b, e) : 0;
    if (rc == 1) {
        rc = val_unpack(a, buf_span(&b), &used, &body, e) ? -1 : 1;
        if (rc == 1)
            *out = verdict_from_body(a, p, val_copy(a, body));
    }
    buf_release(&b);
    return rc;
}

static int to_store(struct evaluate *s, struct arena *a, const char *key,
                    const struct val *v, struct err *e)
{
    struct buf b = BUF_INIT(REC_MAX);
    int rc = 0;
    if (s->store && rec_ok(v)) {
        rc = val_pack(&b, verdict_body(a, v))
                 ? err_set(e, ERR_TOO_LARGE, "a verdict is too large")
                 : store_put(s->store, "verdict", key, buf_span(&b), e);
    }
    buf_release(&b);
    return rc;
}

/* Ask the judge; what was not the candidate's doing is tried once more. */
static int ask(struct evaluate *s, struct arena *a, struct span task,
               struct span code, bool native, struct val **reply, struct err *e)
{
    struct val *m = val_map(a);
    int fds[2] = {-1, -1}, rc = -1;
    val_set(a, m, "op", val_strz(a, "judge"));
    val_set(a, m, "language", val_strz(a, native ? "c" : "torch"));
    val_set(a, m, "profile", val_strz(a, opts.profile));
    val_set(a, m, "budget", val_float(a, opts.budget));
    val_set(a, m, "seed", val_int(a, opts.seed));
    fds[0] = io_memfd("task", task, true, e);
    fds[1] = io_memfd("candidate", code, true, e);
    for (int i = 0; rc && fds[0] >= 0 && fds[1] >= 0 && i < TRIES; i++) {
        rc = link_call(&s->link, a, m, fds, 2, opts.timeout, reply, e);
        if (rc && e->code != ERR_CRASH && e->code != ERR_TIMEOUT &&
            e->code != ERR_INFRASTRUCTURE)
            break;
        if (rc)
            log_info("%s", e->msg);
    }
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    return rc;
}

static struct val *device_map(struct evaluate *s, struct arena *a,
                              const struct val *judged, bool native)
{
    struct val *m = val_map(a);
    const struct val *d = val_get(s->link.opened, "device");
    const struct val *versions = val_get(judged, "versions");
    static const char *const keep[] = {"python", "torch", "triton", "numpy"};
    for (uint32_t i = 0; d && i < d->map.n; i++)
        val_set(a, m, arena_strdup(a, d->map.keys[i]),
                val_copy(a, d->map.v[i]));
    val_set(a, m, "sandbox", val_get(judged, "level"));
    for (size_t i = 0; i < ARRAY_LEN(keep); i++)
        if (val_get(versions, keep[i]))
            val_set(a, m, keep[i], val_get(versions, keep[i]));
    if (native)
        val_set(a, m, "compiler", val_strz(a, s->builder.compiler));
    return m;
}

/* Compile. 0: CODE is the shared object; 1: *OUT is the verdict; -1: E. */
static int build(struct evaluate *s, struct arena *a, struct verdict_parts *p,
                 struct span *code, struct buf *so, struct val **out,
                 struct err *e)
{
    struct buf log = BUF_INIT(4000);
    int rc = build_c(&s->builder, *code, so, &log, e);
    p->built = rc == 0;
    if (rc == 0) {
        *code = buf_span(so);
    } else if (rc == 1) {
        p->outcome = OUTCOME_BUILD_FAILED;
        p->message = arena_strdup(a, val_as_str(val_text(a, buf_span(&log))));
        *out = verdict_new(a, p);
    } else if (e->code == ERR_TIMEOUT || e->code == ERR_MEMORY) {
        p->outcome = OUTCOME_BUILD_FAILED;
        p->message = "the compiler needs too much time or memory";
        *out = verdict_new(a, p);
        rc = 1;
    }
    buf_release(&log);
    return rc;
}

/* -1: E is the machine's or the task's fault, -2: end of the run. */
static int judge(struct evaluate *s, struct arena *a, struct verdict_parts *p,
                 struct span task, struct span code, bool native,
                 struct val **out, struct err *e)
{
    struct buf so = BUF_INIT(64u << 20);
    struct val *reply;
    int rc = 0;
    if (native)
        rc = build(s, a, p, &code, &so, out, e);
    if (rc == 0) {
        rc = ask(s, a, task, code, native, &reply, e);
        if (rc == 0) {
            p->judged = reply;
            p->device = device_map(s, a, reply, native);
            *out = verdict_new(a, p);
        }
    }
    buf_release(&so);
    if (rc == 1)
        return 0;
    if (rc < 0 && (e->code == ERR_UNAVAILABLE || e->code == ERR_SANDBOX) &&
        !(native && !p->built))
        return -2;
    return rc;
}

static int make_verdict(struct evaluate *s, struct arena *a,
                        const struct val *rev, struct val **out, struct err *e)
{
    struct verdict_parts p = {.revision = rev, .built = -1};
    struct span language = val_gets(rev, "language");
    struct span code = val_gets(rev, "code");
    struct buf *task = map_get(&s->tasks, val_gets(rev, "task"));
    struct buf normal = BUF_INIT(2 * REC_MAX);
    bool native = span_is(language, "c");
    char key[HASH_HEX + 1];
    struct static_result st = {0};
    int rc = 0;

    if (link_open(&s->link, e))
        return -2;
    p.device_class = arena_strdup(a, val_gets(s->link.opened, "device_class"));
    p.options = option_map(a);
    if (!task) {
        *out = verdict_failed(a, &p, ERR_NO_TASK,
                              "the task is not among the given ones");
        return 0;
    }
    if (!native && !span_is(language, "torch")) {
        p.outcome = OUTCOME_LOAD_FAILED;
        p.message = "the device does not run candidates of this language";
        *out = verdict_new(a, &p);
        return 0;
    }
    rc = statics_look(s->statics, a, code, native, buf_span(task), &normal, &st,
                      e);
    if (rc)
        goto out;
    p.static_findings = st.findings;
    p.contract = st.contract;
    store_key(key, &p, buf_span(&normal));
    rc = from_store(s, a, key, &p, out, e);
    if (rc) {
        rc = rc > 0 ? 0 : -2;
        goto out;
    }
    if (finding_any(st.findings, GRADE_FORBID)) {
        p.outcome = OUTCOME_REJECTED;
        p.message = st.forbidden;
        *out = verdict_new(a, &p);
    } else {
        rc = judge(s, a, &p, buf_span(task), code, native, out, e);
    }
    if (rc == -1) {
        *out = verdict_failed(
            a, &p, e->code == ERR_BAD_TASK ? ERR_BAD_TASK : ERR_INFRASTRUCTURE,
            e->msg);
        rc = 0;
    }
    if (rc == 0 && to_store(s, a, key, *out, e))
        rc = -2;
out:
    buf_release(&normal);
    return rc;
}

static void explain(const struct val *v)
{
    struct span text = val_gets(v, "feedback"), note = val_gets(v, "note");
    const struct val *f = val_get(v, "findings");
    struct span s = text.n ? text : note;
    char line[600];
    fprintf(stderr, "%.8s %-14.*s %s\n", val_gets(v, "revision").p,
            (int)val_gets(v, "outcome").n, val_gets(v, "outcome").p,
            mask_text(line, sizeof(line), s));
    for (size_t i = 0; i < val_len(f); i++) {
        const struct val *x = val_at(f, i);
        fprintf(stderr, "         %.*s %.*s: %s\n", (int)val_gets(x, "grade").n,
                val_gets(x, "grade").p, (int)val_gets(x, "code").n,
                val_gets(x, "code").p,
                mask_text(line, sizeof(line), val_gets(x, "text")));
    }
}

static int evaluate_process(void *state, struct arena *a, struct val *rec,
                            struct emit *out, struct err *e)
{
    struct evaluate *s = state;
    struct val *v = NULL;
    int rc = make_verdict(s, a, rec, &v, e);
    if (rc)
        return -2;
    if (emit_rec(out, a, rec, e) || emit_rec(out, a, v, e))
        return -2;
    if (opts.explain)
        explain(v);
    return 0;
}

static const char *const accepts[] = {"revision", NULL};

static const struct stage stage = {
    .spec =
        {
            .program = "km-evaluate",
            .synopsis = "--tasks FILE [OPTION]... < REVISIONS > VERDICTS",
            .about = "Judge candidate kernels: each revision comes out "
                     "followed by its verdict.",
            .tables = {options, stage_common_opts, NULL},
            .epilogue = "  km-trajectories import run/ --tasks tasks.km |\n"
                        "      km-evaluate --tasks tasks.km > verdicts.km\n",
        },
    .name = "evaluate",
    .accepts = accepts,
    .open = evaluate_open,
    .process = evaluate_process,
    .close = evaluate_close,
};

int main(int argc, char **argv)
{
    return stage_main(argc, argv, &stage);
}
