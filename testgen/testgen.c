/* SPDX-License-Identifier: MIT */
/*
 * km-testgen: a task for each module for which arguments and inputs are found
 * that run and pass the quality gate. Here are options, workers and the memo.
 */
#include "base.h"

#include "log.h"
#include "pool.h"
#include "stage.h"
#include "testgen/commands.h"
#include "testgen/graphs.h"
#include "testgen/host.h"
#include "testgen/lessons.h"
#include "testgen/parents.h"
#include "testgen/propose.h"
#include "testgen/task.h"

#define ITEM_MAX (20u << 20) /* a record with its source in it, packed */
/* What a module's record says lies so much deeper in a held task's origin. */
#define TASK_LEVELS 2

static int64_t attempts = 32;
static const char *target = "gpu";

static const struct opt options[] = {
    {OPT_GROUP, 0, "Test generation", NULL, NULL, NULL, 0, 0, false},
    {OPT_INT, 0, "attempts", &attempts, "N",
     "attempts to run one module (default: 32)", 1, 10000, true},
    {OPT_CHOICE, 0, "target", &target, "gpu|cpu",
     "whose speed decides the sizes (default: gpu)", 0, 0, true},
    {0},
};

struct testgen {
    struct host host;
    struct pool *pool;
    struct emit *out;
    struct parents *held;
    struct graphs graphs;
    size_t taken;                     /* records since the last flush */
    const struct val *calls, *shapes; /* of the module at hand, in a worker */
    bool again;                       /* the pool works through second tries */
};

static bool is_for_gpu(void)
{
    return strcmp(target, "gpu") == 0;
}

/* ---- one module, in a worker ---- */

/* The `Model` of the task would shadow a class or function of that name that
 * the source refers to: it is renamed throughout. */
static struct span without_model(struct arena *a, struct facts *f,
                                 struct span source, struct span *entry)
{
    struct buf b = BUF_INIT(source.n * 2 + 64);
    uint32_t from = 0;
    if (!pymod_def(f->mod, SPAN_LIT("Model")))
        return source;
    TSTreeCursor c = ts_tree_cursor_new(ts_tree_root_node(f->mod->tree.tree));
    for (bool more = true; more;) {
        TSNode n = ts_tree_cursor_current_node(&c);
        uint32_t at = ts_node_start_byte(n), end = ts_node_end_byte(n);
        if (pynode_is(n, "identifier") &&
            span_is(pynode_text(f->mod->text, n), "Model")) {
            buf_add(&b, f->mod->text.p + from, at - from);
            buf_adds(&b, "Model_");
            from = end;
        }
        if (ts_tree_cursor_goto_first_child(&c))
            continue;
        while (!(more = ts_tree_cursor_goto_next_sibling(&c)) &&
               ts_tree_cursor_goto_parent(&c))
            ;
    }
    ts_tree_cursor_delete(&c);
    buf_add(&b, f->mod->text.p + from, f->mod->text.n - from);
    struct span out = arena_span(a, buf_span(&b));
    buf_release(&b);
    if (span_is(*entry, "Model"))
        *entry = SPAN_LIT("Model_");
    return out;
}

/* 0 with *CORE, or -1; *TEXT is the task that ran or came nearest. SEEDS: as
 * in struct search_conf. */
static int generate(struct testgen *t, struct arena *a, struct span source,
                    struct span entry, const struct val *seeds,
                    struct val **core, struct span *nearest, struct err *e)
{
    struct facts f = {0};
    struct found found = {0};
    struct buf text = BUF_INIT(8u << 20);
    int rc = -1;

    if (facts_read(&f, t->host.parser, source, entry, e) < 0)
        goto out;
    struct span renamed = without_model(a, &f, source, &entry);
    if (renamed.p != source.p) {
        source = renamed;
        facts_release(&f);
        if (facts_read(&f, t->host.parser, source, entry, e) < 0)
            goto out;
    }
    if (!t->host.torch[0]) {
        struct val *state = propose_state(a, &f);
        if (search_source(&text, &f, state, source, entry)) {
            err_set(e, ERR_TOO_LARGE, "the task's source is too large");
            goto out;
        }
        *core = task_core_unverified(a, &f, state, buf_span(&text));
        rc = 0;
        goto out;
    }
    struct search_conf c = {(int)attempts, host_conf.cpu_s, is_for_gpu(),
                            seeds,         t->calls,        t->shapes};
    rc = search_run(&found, a, &t->host.probe, &f, source, entry, &c, e);
    log_info("%.*s: %d attempts, %.2f s of CPU", (int)entry.n, entry.p,
             found.attempts, found.cpu_s);
    /* others learn from it by running it: what is small serves them */
    *nearest = found.small_source.p ? found.small_source : found.source;
    if (rc == 0)
        *core = task_core(a, &f, &found);
    else
        host_blame(e, t->host.probe.wall);
    host_scrub(e->msg);
out:
    buf_release(&text);
    facts_release(&f);
    return rc;
}

/*
 * With what PARENTS do with it: in its own source, or else in that of the
 * parent whose number *FROM tells (-1: its own).
 */
static int learn(struct testgen *t, struct arena *a, struct span source,
                 struct span entry, const struct val *parents,
                 struct val **core, int *from, struct err *e)
{
    struct facts f = {0};
    struct val *own = val_list(a), *foreign[PARENTS_EACH] = {0};
    struct span nearest;
    size_t n = MIN(val_len(parents), PARENTS_EACH);
    int rc = facts_read(&f, t->host.parser, source, entry, e);

    *from = -1;
    err_set(e, ERR_NO_PROPOSAL, "nothing to learn");
    for (size_t i = 0; i < n && rc == 0; i++) {
        foreign[i] = val_list(a);
        rc = lesson_ask(a, &t->host.probe, val_at(parents, i), entry, &f, own,
                        foreign[i], e);
    }
    facts_release(&f);
    if (rc < 0)
        return -1;
    if (val_len(own) &&
        generate(t, a, source, entry, own, core, &nearest, e) == 0)
        return 0;
    for (size_t i = 0; i < n; i++) {
        struct span text =
            val_gets(val_path(val_at(parents, i), "rec"), "source");
        *from = (int)i;
        if (val_len(foreign[i]) &&
            generate(t, a, text, entry, foreign[i], core, &nearest, e) == 0)
            return 0;
        if (!host_is_verdict(e))
            return -1;
    }
    return -1;
}

/*
 * {core}, with `from` when the source is a parent's and `task` when there is a
 * smaller text, or {code, note}, with `task` when something came near; from the
 * store or by work. PARENTS: NULL at
 * the first try. -1: this machine's fault.
 */
static int result_for(struct testgen *t, struct arena *a, struct span source,
                      struct span entry, const struct val *parents,
                      struct val **out, struct err *e)
{
    char key[HASH_HEX + 1], limits[40];
    struct val *core = NULL;
    struct span nearest = {NULL, 0};
    struct buf lesson = BUF_INIT(ITEM_MAX);
    int rc, from = -1;

    if ((parents && val_pack(&lesson, parents)) ||
        (t->calls && val_pack(&lesson, t->calls)) ||
        (t->shapes && val_pack(&lesson, t->shapes)))
        return err_set(e, ERR_TOO_LARGE, "the parents are too large");
    snprintf(limits, sizeof(limits), TESTGEN_VERSION " %" PRId64 " %s",
             attempts, target);
    const struct span parts[] = {
        span_str(limits), entry, source, buf_span(&lesson), {NULL, 0}};
    host_key(&t->host, parts, key);
    buf_release(&lesson);
    *out = host_recall(&t->host, a, key);
    if (*out)
        return 0;
    *out = val_map(a);
    rc = parents ? learn(t, a, source, entry, parents, &core, &from, e)
                 : generate(t, a, source, entry, NULL, &core, &nearest, e);
    if (rc == 0) {
        val_set(a, *out, "core", core);
        if (from >= 0)
            val_set(a, *out, "from", val_int(a, from));
        if (nearest.p && !span_eq(nearest, val_gets(core, "source")))
            val_set(a, *out, "task", val_str(a, nearest));
    } else if (!host_is_verdict(e)) {
        return -1;
    } else {
        val_set(a, *out, "code", val_strz(a, err_code_name(e->code)));
        val_set(a, *out, "note", val_text(a, span_str(e->msg)));
        if (nearest.p)
            val_set(a, *out, "task", val_str(a, nearest));
    }
    host_remember(&t->host, key, *out);
    return 0;
}

/* The source is PARENT's: so are its parts, and the parent is one of them. */
static void inherit_parts(struct arena *a, struct val *rec,
                          const struct val *parent)
{
    static const char *const keys[] = {"path", "name", "licence"};
    const struct val *parts = val_get(parent, "inlined");
    struct val *list = val_list(a), *part = val_map(a);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (val_get(parent, keys[i]))
            val_set(a, part, keys[i], val_get(parent, keys[i]));
    val_push(a, list, part);
    for (size_t i = 0; i < val_len(parts); i++)
        if (!span_eq(val_gets(val_at(parts, i), "path"),
                     val_gets(rec, "path")) ||
            !span_eq(val_gets(val_at(parts, i), "name"), val_gets(rec, "name")))
            val_push(a, list, val_at(parts, i));
    val_set(a, rec, "inlined", list);
}

/* The record that RESULT makes of REC. */
static struct val *record_of(struct arena *a, struct val *rec,
                             const struct val *parents,
                             const struct val *result)
{
    const struct val *core = val_get(result, "core");
    int64_t from = val_geti(result, "from", -1);
    if (from >= 0)
        inherit_parts(a, rec, val_get(val_at(parents, (size_t)from), "rec"));
    if (core) {
        rec = task_record(a, rec, core);
        if (!val_getb(core, "verified", false))
            rec_why(a, rec, "testgen", ERR_UNVERIFIED);
    } else {
        struct span code = val_gets(result, "code");
        struct span note = val_gets(result, "note");
        int c = err_code_find(arena_strdup(a, code));
        rec_fail(a, rec, "testgen", c < 0 ? ERR_INTERNAL : c,
                 arena_strdup(a, note));
    }
    rec_seal(a, rec);
    return rec;
}

/* ITEM: a module, or what parents_lesson made. OUT: what parents_hold wants;
 * nothing when a second try finds nothing. */
static int work(void *state, struct span item, struct buf *out, struct err *e)
{
    struct testgen *t = state;
    struct arena a = ARENA_INIT;
    struct val *rec, *result, *reply = val_map(&a);
    size_t used;
    int rc = -1;

    if (val_unpack(&a, item, &used, &rec, e) != 0)
        goto out;
    const struct val *parents = val_get(rec, "parents");
    if (parents)
        rec = val_get(rec, "rec");
    struct span source = val_gets(rec, "source"),
                entry = val_gets(rec, "entry");
    if (!source.p || !entry.p) {
        err_set(e, ERR_SCHEMA, "the module has no source: km-clean makes it");
        goto out;
    }
    if (!val_bounded(rec, TASK_LEVELS)) {
        err_set(e, ERR_TOO_LARGE, "nested too deep for a task");
        goto out;
    }
    t->calls = parents ? NULL : val_get(rec, "calls");
    t->shapes = parents ? NULL : val_get(rec, "shapes");
    if (result_for(t, &a, source, entry, parents, &result, e) < 0)
        goto out;
    rc = 0;
    const struct val *core = val_get(result, "core");
    if (parents && !core)
        goto out;
    val_set(&a, reply, "rec", record_of(&a, rec, parents, result));
    struct val *task = val_get(result, "task");
    if (!task && core)
        task = val_get(core, "source");
    if (task)
        val_set(&a, reply, "task", task);
    if (val_pack(out, reply))
        rc = err_set(e, ERR_TOO_LARGE, "the record is too large");
out:
    arena_release(&a);
    return rc;
}

static void *start_worker(void *payload)
{
    struct testgen *t = payload;
    host_start(&t->host, is_for_gpu());
    return t;
}

/* ---- the stage ---- */

/* A second try is done: what it found takes the place of the failure. */
static int second_result(struct testgen *t, struct span item, int status,
                         struct span out, struct err *e)
{
    struct arena a = ARENA_INIT;
    struct val *lesson;
    size_t used;
    int rc = 0;
    if (status == 0 && out.n) {
        rc = val_unpack(&a, item, &used, &lesson, e) ? -1 : 0;
        if (rc == 0)
            rc = parents_replace(t->held, (size_t)val_geti(lesson, "index", 0),
                                 out, e);
    }
    arena_release(&a);
    return rc;
}

static int result(void *payload, struct span item, int status, struct span out,
                  struct err *e)
{
    struct testgen *t = payload;
    struct arena a = ARENA_INIT;
    struct buf packed = BUF_INIT(ITEM_MAX);
    struct val *rec, *reply = val_map(&a);
    size_t used;
    int rc;

    if (t->again) {
        rc = second_result(t, item, status, out, e);
    } else if (status == 0) {
        rc = parents_hold(t->held, item, out, e);
    } else if (status == POOL_PASSED) {
        rc = parents_hold(t->held, item, SPAN_LIT(""), e);
    } else {
        rc = val_unpack(&a, item, &used, &rec, NULL);
        if (rc == 0) {
            rec_fail(&a, rec, "testgen", e->code, e->msg);
            rec_seal(&a, rec);
            val_set(&a, reply, "rec", rec);
            if (val_pack(&packed, reply) == 0)
                rc = parents_hold(t->held, item, buf_span(&packed), e);
            else if (val_pack(&packed, rec) == 0) /* too deep for a reply */
                rc = parents_hold(t->held, buf_span(&packed), SPAN_LIT(""), e);
            else
                rc = err_set(e, ERR_TOO_LARGE, "the record is too large");
        }
    }
    buf_release(&packed);
    arena_release(&a);
    return rc;
}

/* All that is held: second tries where they can learn, then out in order. */
static int flush(struct testgen *t, struct err *e)
{
    struct buf b = BUF_INIT(ITEM_MAX);
    int rc = pool_drain(t->pool, e);
    t->again = true;
    for (size_t i = 0; rc == 0 && i < parents_count(t->held); i++) {
        rc = t->host.torch[0] ? parents_lesson(t->held, i, &b, e) : 0;
        if (rc == 0 && b.n)
            rc = pool_put(t->pool, buf_span(&b), e);
    }
    if (rc == 0)
        rc = pool_drain(t->pool, e);
    t->again = false;
    for (size_t i = 0; rc == 0 && i < parents_count(t->held); i++) {
        rc = parents_final(t->held, i, &b, e);
        if (rc == 0)
            rc = graphs_mark(&t->graphs, &b, e);
        if (rc == 0)
            rc = emit_packed(t->out, buf_span(&b), e);
    }
    if (rc == 0)
        rc = parents_clear(t->held, e);
    buf_release(&b);
    return rc;
}

static int open_stage(void **state, const struct stage_env *env, struct err *e)
{
    struct testgen *t = xcalloc(1, sizeof(*t));
    *state = t;
    t->held = parents_new(e);
    if (!t->held || host_open(&t->host, e) < 0)
        return -1;
    struct pool_ops ops = {.work = work,
                           .start = start_worker,
                           .result = result,
                           .payload = t,
                           .jobs = env->jobs,
                           .max_item = ITEM_MAX};
    t->pool = pool_new(&ops);
    return 0;
}

static int process(void *state, struct arena *a, struct val *rec,
                   struct emit *out, struct err *e)
{
    struct testgen *t = state;
    struct buf item = BUF_INIT(ITEM_MAX);
    int rc;
    (void)a;
    t->out = out;
    if (val_pack(&item, rec))
        rc = err_set(e, ERR_TOO_LARGE, "the record is too large");
    else if (span_is(rec_kind(rec), "module") && rec_ok(rec))
        rc = pool_put(t->pool, buf_span(&item), e) < 0 ? KM_DEAD : 0;
    else
        rc = pool_pass(t->pool, buf_span(&item), e) < 0 ? KM_DEAD : 0;
    buf_release(&item);
    t->taken++;
    bool border = t->taken >= PARENTS_BATCH && span_is(rec_kind(rec), "repo");
    if (rc == 0 && (border || t->taken >= PARENTS_MAX)) {
        rc = flush(t, e) < 0 ? KM_DEAD : 0;
        t->taken = 0;
    }
    return rc;
}

static int finish(void *state, struct emit *out, struct err *e)
{
    struct testgen *t = state;
    t->out = out;
    return flush(t, e);
}

static void close_stage(void *state)
{
    struct testgen *t = state;
    if (!t)
        return;
    if (t->pool)
        pool_free(t->pool);
    parents_free(t->held);
    graphs_release(&t->graphs);
    host_release(&t->host);
    free(t);
}

static const char *const accepts[] = {"module", NULL};

int testgen_main(int argc, char **argv)
{
    static const struct stage stage = {
        .spec = {.program = "km-testgen",
                 .synopsis = "[OPTION...] < MODULES > TASKS\n"
                             "       km-testgen import DIR|FILE... > TASKS\n"
                             "       km-testgen variant --dtype bf16|fp16 "
                             "< TASKS > TASKS",
                 .about = "Find constructor arguments and inputs with which "
                          "modules run, check that what they\ncompute is worth "
                          "testing, and write them as tasks.",
                 .tables = {options, host_opts, stage_common_opts},
                 .epilogue = "'km-testgen COMMAND --help' lists a command's "
                             "options."},
        .name = "testgen",
        .accepts = accepts,
        .holds = true,
        .open = open_stage,
        .process = process,
        .finish = finish,
        .close = close_stage,
    };
    return stage_main(argc, argv, &stage);
}
