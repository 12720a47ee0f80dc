/* SPDX-License-Identifier: MIT */
/*
 * km-evaluate: each revision, followed by its verdict. The parent touches no
 * device: worker processes look at the sources and compile ahead, it asks the
 * store, hands the rest to a judge process and writes what comes back.
 */
#include "base.h"

#include "evaluate/confusion.h"
#include "evaluate/explain.h"
#include "evaluate/feedback.h"
#include "evaluate/kernelbench_run.h"
#include "evaluate/link.h"
#include "evaluate/prepare.h"
#include "evaluate/verdict.h"
#include "io.h"
#include "log.h"
#include "pool.h"
#include "progress.h"
#include "run/jail.h"
#include "stage.h"
#include "store.h"

#include <fcntl.h>

#define TRIES 2

static struct {
    const char *tasks, *compare, *device, *profile, *store, *python;
    bool no_store, weak, explain;
    double budget, timeout;
    int64_t seed, feedback;
} opts = {
    .device = "cpu",
    .profile = "strict",
    .budget = 5,
    .timeout = 600,
    .feedback = FEEDBACK_TEXTS,
};

static const struct opt options[] = {
    {OPT_GROUP, 0, "Evaluation", NULL, NULL, NULL, 0, 0, false},
    {OPT_STR, 't', "tasks", &opts.tasks, "FILE",
     "stream with the tasks (needed)", 0, 0, false},
    {OPT_STR, 0, "compare", &opts.compare, "FILE",
     "judge a run of KernelBench, its eval_results.json or the folder of it, "
     "instead of a stream, and tell on stderr where the results differ",
     0, 0, false},
    {OPT_STR, 0, "device", &opts.device, "NAME",
     "device to judge on; this build has: cpu, cuda (default: cpu)", 0, 0,
     true},
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
    {OPT_INT, 0, "feedback", &opts.feedback, "LEVEL",
     "what the model is told: 0 the outcome, 1 where, 2 figures, 3 the words "
     "of "
     "compilers and exceptions (default: 3)",
     0, FEEDBACK_LEVELS - 1, true},
    {OPT_FLAG, 0, "explain", &opts.explain, NULL,
     "tell each verdict on stderr, on one screen", 0, 0, false},
    {0},
};

struct evaluate {
    struct map tasks; /* id -> struct buf *, packed */
    struct kb_places places;
    struct kb_run *run; /* these three of --compare */
    struct confusion *confusion;
    struct link link;
    struct store *store;
    struct prepare_conf prepare;
    const struct val *languages; /* that the device runs */
    struct arena mem;            /* of languages and what prepare points to */
    int jobs;
    struct pool *pool; /* made with the first revision */
    struct emit *out;
    struct map seen;      /* run and program -> hash of its normal form */
    struct arena verdict; /* of one verdict */
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
        if (opts.compare)
            kb_places_add(&s->places, rec);
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
    s->tasks = s->seen = (struct map)MAP_INIT;
    s->places = (struct kb_places)KB_PLACES_INIT;
    s->mem = s->verdict = (struct arena)ARENA_INIT;
    link_init(&s->link, &c);
    if (!opts.tasks) {
        err_set(e, ERR_USAGE, "no tasks given");
        return err_hint(e, "--tasks FILE, a stream of km-testgen");
    }
    if (load_tasks(s, opts.tasks, env->bare, e))
        return -1;
    if (opts.compare) {
        s->run = kb_run_open(opts.compare, &s->places, e);
        if (!s->run)
            return -1;
        s->confusion = confusion_new(opts.profile);
    }
    if (!opts.no_store && store_open(&s->store, opts.store, "evaluate", e))
        return -1;
    s->jobs = env->jobs;
    s->prepare = (struct prepare_conf){.tasks = &s->tasks,
                                       .store = opts.store,
                                       .no_store = opts.no_store,
                                       .python = opts.python,
                                       .require = c.require};
    return 0;
}

static void evaluate_close(void *state)
{
    struct evaluate *s = state;
    if (!s)
        return;
    if (s->pool)
        pool_free(s->pool);
    link_close(&s->link);
    store_close(s->store);
    for (size_t i = 0; i < s->tasks.n; i++) {
        buf_release(s->tasks.entries[i].value);
        free(s->tasks.entries[i].value);
    }
    map_release(&s->tasks);
    for (size_t i = 0; i < s->seen.n; i++)
        free(s->seen.entries[i].value);
    map_release(&s->seen);
    kb_run_free(s->run);
    kb_places_release(&s->places);
    confusion_free(s->confusion);
    arena_release(&s->mem);
    arena_release(&s->verdict);
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

/* 1 found, 0 not (or damaged: dropped, judged again), -1 error. */
static int from_store(struct evaluate *s, struct arena *a, const char *key,
                      const struct verdict_parts *p, struct val **out,
                      struct err *e)
{
    struct buf b = BUF_INIT(REC_MAX);
    int rc = s->store ? store_get(s->store, "verdict", key, &b, e) : 0;
    if (rc == 1) {
        struct val *body = verdict_read_body(a, buf_span(&b));
        if (body)
            *out = verdict_from_body(a, p, body);
        else
            rc = store_drop(s->store, "verdict", key, e);
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

/* Ask the judge; what was not the candidate's doing is tried once more. BUILT
 * (may be empty) is what CODE compiled ahead. */
static int ask(struct evaluate *s, struct arena *a, struct span task,
               struct span code, struct span built, struct span language,
               struct val **reply, struct err *e)
{
    const struct span parts[] = {task, code, built};
    static const char *const names[] = {"task", "candidate", "built"};
    struct val *m = val_map(a);
    int fds[ARRAY_LEN(parts)], rc = -1;
    size_t n = ARRAY_LEN(parts) - (built.n == 0), have = 0;
    val_set(a, m, "op", val_strz(a, "judge"));
    val_set(a, m, "language", val_str(a, language));
    val_set(a, m, "profile", val_strz(a, opts.profile));
    val_set(a, m, "budget", val_float(a, opts.budget));
    val_set(a, m, "seed", val_int(a, opts.seed));
    while (have < n &&
           (fds[have] = io_memfd(names[have], parts[have], true, e)) >= 0)
        have++;
    for (int i = 0; rc && have == n && i < TRIES; i++) {
        rc = link_call(&s->link, a, m, fds, n, opts.timeout, reply, e);
        if (rc && e->code != ERR_CRASH && e->code != ERR_TIMEOUT &&
            e->code != ERR_INFRASTRUCTURE)
            break;
        if (rc)
            log_info("%s", e->msg);
    }
    while (have)
        close(fds[--have]);
    return rc;
}

static struct val *device_map(struct evaluate *s, struct arena *a,
                              const struct val *judged, struct span compiler)
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
    if (compiler.n)
        val_set(a, m, "compiler", val_str(a, compiler));
    return m;
}

static void set_outcome(struct verdict_parts *p, struct arena *a,
                        enum outcome o, struct span message)
{
    p->outcome = o;
    p->message = arena_strdup(a, message);
}

/* Does the device run candidates of LANGUAGE? */
static bool runs(const struct evaluate *s, struct span language)
{
    for (size_t i = 0; i < val_len(s->languages); i++)
        if (span_eq(val_as_str(val_at(s->languages, i)), language))
            return true;
    return false;
}

/* The verdict on what was prepared. -1: E is the machine's or the task's
 * fault, -2: end of the run. */
static int judge(struct evaluate *s, struct arena *a, struct verdict_parts *p,
                 const struct prepared *ready, struct span task,
                 struct val **out, struct err *e)
{
    const struct val *rev = p->revision;
    struct span language = val_gets(rev, "language");
    bool native = span_is(language, "c");
    struct val *reply;
    int rc;

    p->static_findings = ready->findings;
    p->contract = ready->contract;
    p->built = ready->build == BUILD_DONE                ? 1
               : native || ready->build == BUILD_REFUSED ? 0
                                                         : -1;
    if (!runs(s, language)) {
        set_outcome(p, a, OUTCOME_LOAD_FAILED,
                    SPAN_LIT("the device does not run candidates of this "
                             "language"));
    } else if (ready->forbidden.n) {
        set_outcome(p, a, OUTCOME_REJECTED, ready->forbidden);
    } else if (ready->build == BUILD_REFUSED) {
        set_outcome(p, a, OUTCOME_BUILD_FAILED, ready->message);
    } else if (ready->build == BUILD_FAILED) {
        return err_set(e, ready->code, "%.*s", (int)ready->message.n,
                       ready->message.p);
    } else {
        rc = ask(s, a, task, native ? ready->object : val_gets(rev, "code"),
                 native ? (struct span){"", 0} : ready->object, language,
                 &reply, e);
        if (rc)
            return e->code == ERR_UNAVAILABLE || e->code == ERR_SANDBOX ? -2
                                                                        : -1;
        p->judged = reply;
        /* Where the runner compiles: unless that failed, it is built. */
        if (span_is(val_gets(reply, "outcome"),
                    outcome_name(OUTCOME_BUILD_FAILED)))
            p->built = 0;
        else if (span_is(language, "cuda"))
            p->built = 1;
        p->device = device_map(s, a, reply, ready->compiler);
    }
    *out = verdict_new(a, p);
    return 0;
}

static struct span program_key(struct arena *a, const struct val *rev,
                               const char *field)
{
    struct span run = val_gets(rev, "run"), task = val_gets(rev, "task");
    struct span program = val_gets(rev, field);
    return program.n
               ? span_str(arena_printf(a, "%.*s\n%.*s\n%.*s", (int)task.n,
                                       task.p, (int)run.n, run.n ? run.p : "",
                                       (int)program.n, program.p))
               : (struct span){"", 0};
}

/* Has an earlier revision that is REV's parent the same tokens? */
static bool is_rewrite(struct evaluate *s, struct arena *a,
                       const struct val *rev, const char *normal)
{
    struct span own = program_key(a, rev, "program");
    struct span parent = program_key(a, rev, "parent");
    const char *before = parent.n ? map_get(&s->seen, parent) : NULL;
    bool same = before && strcmp(before, normal) == 0;

    if (own.n && !map_has(&s->seen, own))
        map_put(&s->seen, own, xstrdup(normal));
    return same;
}

/* Not kept in the store: it is not the candidate's alone. */
static void mark_rewrite(struct arena *a, struct val *v)
{
    const struct val *contract = val_get(v, "contract");
    const struct val *codes = val_get(contract, "codes");
    struct val *m, *l = val_list(a);

    if (!contract || contract->type != VAL_MAP)
        return;
    m = val_copy(a, contract);
    for (size_t i = 0; i < val_len(codes); i++)
        val_push(a, l, val_at(codes, i));
    val_push(a, l, val_strz(a, "trivial_rewrite"));
    val_set(a, m, "codes", l);
    val_set(a, m, "ok", val_bool(a, false));
    val_set(a, v, "contract", m);
}

static int make_verdict(struct evaluate *s, struct arena *a,
                        const struct val *rev, int status, struct span bytes,
                        struct val **out, struct err *e)
{
    struct verdict_parts p = {.revision = rev,
                              .device_class = s->prepare.device_class,
                              .options = val_copy(a, s->prepare.options),
                              .feedback = (enum feedback_level)opts.feedback};
    struct buf *task = map_get(&s->tasks, val_gets(rev, "task"));
    struct prepared ready;
    bool rewrite;
    int rc;

    if (!task) {
        *out = verdict_failed(a, &p, ERR_NO_TASK,
                              "the task is not among the given ones");
        return 0;
    }
    if (status || prepare_read(a, bytes, &ready, e)) {
        /* Its source broke the worker that looked at it. */
        *out = verdict_failed(a, &p, e->code, e->msg);
        return 0;
    }
    rewrite = is_rewrite(s, a, rev, ready.normal);
    rc = from_store(s, a, ready.key, &p, out, e);
    if (rc < 0)
        return -2;
    if (rc > 0) {
        if (rewrite)
            mark_rewrite(a, *out);
        return 0;
    }
    rc = judge(s, a, &p, &ready, buf_span(task), out, e);
    if (rc == -2)
        return -2;
    if (rc)
        *out = verdict_failed(
            a, &p, e->code == ERR_BAD_TASK ? ERR_BAD_TASK : ERR_INFRASTRUCTURE,
            e->msg);
    if (to_store(s, a, ready.key, *out, e))
        return -2;
    if (rewrite)
        mark_rewrite(a, *out);
    return 0;
}

/* From the pool, in order of input. */
static int prepared(void *payload, struct span item, int status,
                    struct span bytes, struct err *e)
{
    struct evaluate *s = payload;
    struct arena *a = &s->verdict;
    struct val *rev, *v = NULL;
    size_t used;

    if (status == POOL_PASSED)
        return emit_packed(s->out, item, e);
    arena_reset(a);
    if (val_unpack(a, item, &used, &rev, e) ||
        make_verdict(s, a, rev, status, bytes, &v, e) ||
        emit_rec(s->out, a, rev, e) || emit_rec(s->out, a, v, e))
        return -1;
    if (s->confusion)
        confusion_add(s->confusion, rev, v);
    if (opts.explain)
        explain(stderr, rev, v);
    return 0;
}

static void *start_worker(void *payload)
{
    struct evaluate *s = payload;
    return prepare_start(&s->prepare);
}

/* The judge comes first: its device is part of what a verdict is. */
static int start(struct evaluate *s, struct err *e)
{
    struct pool_ops ops = {.work = prepare_work,
                           .start = start_worker,
                           .result = prepared,
                           .payload = s,
                           .jobs = s->jobs,
                           .cpu_s = 60, /* wall: 600, for builders too */
                           .max_item = 128u << 20};
    if (link_open(&s->link, e))
        return -1;
    s->prepare.device_class =
        arena_strdup(&s->mem, val_gets(s->link.opened, "device_class"));
    s->languages = val_copy(&s->mem, val_get(s->link.opened, "languages"));
    s->prepare.options = option_map(&s->mem);
    s->pool = pool_new(&ops);
    return 0;
}

static int evaluate_process(void *state, struct arena *a, struct val *rec,
                            struct emit *out, struct err *e)
{
    struct evaluate *s = state;
    struct buf b = BUF_INIT(2 * REC_MAX);
    bool mine = span_is(rec_kind(rec), "revision") && rec_ok(rec);
    int rc;

    s->out = out;
    if (!mine && !s->pool)
        return emit_rec(out, a, rec, e);
    if (!s->pool && start(s, e))
        return -2;
    rec_seal(a, rec);
    if (val_pack(&b, rec))
        rc = err_set(e, ERR_TOO_LARGE, "the record is too large");
    else if (mine)
        rc = pool_put(s->pool, buf_span(&b), e) ? -2 : 0;
    else
        rc = pool_pass(s->pool, buf_span(&b), e) ? -2 : 0;
    buf_release(&b);
    return rc;
}

/* ---- a run of KernelBench in place of a stream ---- */

static bool evaluate_makes_input(void)
{
    return opts.compare != NULL;
}

static int evaluate_next(void *state, struct arena *a, struct val **rec,
                         struct err *e UNUSED)
{
    struct evaluate *s = state;
    int rc = kb_run_next(s->run, a, rec);
    if (rc == KM_OK && !rec_ok(*rec))
        confusion_add(s->confusion, *rec, NULL);
    return rc;
}

static void tell_comparison(const struct evaluate *s)
{
    struct buf b = BUF_INIT(128u << 20);
    kb_run_report(s->run, &b);
    confusion_print(s->confusion, &b);
    progress_clear();
    fwrite(b.p, 1, b.n, stderr);
    buf_release(&b);
}

static int evaluate_finish(void *state, struct emit *out, struct err *e)
{
    struct evaluate *s = state;
    s->out = out;
    if (s->pool && pool_drain(s->pool, e))
        return -2;
    if (s->run)
        tell_comparison(s);
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
                        "      km-evaluate --tasks tasks.km > verdicts.km\n"
                        "  km-evaluate --tasks kernelbench.km --compare "
                        "runs/NAME > verdicts.km\n",
        },
    .name = "evaluate",
    .accepts = accepts,
    .holds = true,
    .makes_input = evaluate_makes_input,
    .next = evaluate_next,
    .open = evaluate_open,
    .process = evaluate_process,
    .finish = evaluate_finish,
    .close = evaluate_close,
};

int main(int argc, char **argv)
{
    return stage_main(argc, argv, &stage);
}
