/* SPDX-License-Identifier: MIT */
/*
 * km-testgen variant: the same task with parameters and floating inputs of
 * another type. Its source is the task's with a tail that casts.
 */
#include "base.h"

#include "log.h"
#include "pool.h"
#include "stage.h"
#include "testgen/commands.h"
#include "testgen/examine.h"

#define ITEM_MAX (20u << 20)

static const char *opt_dtype;
static bool opt_keep;

static const struct opt variant_opts[] = {
    {OPT_GROUP, 0, "Variants", NULL, NULL, NULL, 0, 0, false},
    {OPT_CHOICE, 0, "dtype", &opt_dtype, "bf16|fp16",
     "type of parameters and floating inputs", 0, 0, true},
    {OPT_FLAG, 0, "keep", &opt_keep, NULL,
     "write the tasks themselves too, before their variants", 0, 0, true},
    {0},
};

struct variant {
    struct host host;
    struct pool *pool;
    struct emit *out;
};

/* The name of the type in torch and in task.inputs. */
static const char *long_name(void)
{
    return strcmp(opt_dtype, "bf16") == 0 ? "bfloat16" : "float16";
}

static struct span cast_tail(struct arena *a)
{
    const char *t = long_name();
    return span_str(
        arena_printf(a,
                     "import functools\n\nimport torch\n\n\n"
                     "def cast_to_%s(value):\n"
                     "    if isinstance(value, torch.Tensor) and "
                     "value.is_floating_point():\n"
                     "        return value.to(torch.%s)\n"
                     "    if isinstance(value, (list, tuple)):\n"
                     "        return [cast_to_%s(item) for item in value]\n"
                     "    return value\n\n\n"
                     "def cast_results(function):\n"
                     "    return lambda: cast_to_%s(function())\n\n\n"
                     "def cast_after(construct):\n"
                     "    @functools.wraps(construct)\n"
                     "    def constructed(self, *args, **kwargs):\n"
                     "        construct(self, *args, **kwargs)\n"
                     "        self.to(torch.%s)\n\n"
                     "    return constructed\n\n\n"
                     "Model.__init__ = cast_after(Model.__init__)\n"
                     "get_inputs = cast_results(get_inputs)\n",
                     t, t, t, t, t));
}

static bool is_full_float(struct span dtype)
{
    return span_is(dtype, "float32") || span_is(dtype, "float64");
}

/* The parent's inputs with other floating types: names, ranges and all else
 * stay. */
static void cast_inputs(struct arena *a, struct val *list)
{
    for (size_t i = 0; i < val_len(list); i++) {
        struct val *v = val_at(list, i);
        if (is_full_float(val_gets(v, "dtype")))
            val_set(a, v, "dtype", val_strz(a, long_name()));
        cast_inputs(a, val_get(v, "items"));
    }
}

static bool has_mark(const struct val *rec, const char *mark)
{
    const struct val *why = val_get(rec, "why");
    for (size_t i = 0; i < val_len(why); i++)
        if (span_is(val_as_str(val_at(why, i)), mark))
            return true;
    return false;
}

static void take(struct arena *a, struct val *to, const struct val *from,
                 const char *key)
{
    const struct val *v = val_get(from, key);
    if (v)
        val_set(a, to, key, val_copy(a, v));
}

/* Record of the variant of TASK, of which FOUND was found. */
static struct val *variant_of(struct arena *a, const struct val *task,
                              const struct val *found)
{
    static const char *const kept[] = {"benchmark", "level",     "problem",
                                       "origin",    "cluster",   "init",
                                       "evidence",  "entry_kind"};
    struct val *rec = rec_new(a, "task");
    struct val *inputs = val_copy(a, val_get(task, "inputs"));
    struct span name = val_gets(task, "name"), id = rec_id(task);
    val_set(a, rec, "name",
            val_strf(a, "%.*s-%s", (int)MIN(name.n, 300), name.p ? name.p : "",
                     opt_dtype));
    val_set(a, rec, "variant_of", val_str(a, id));
    cast_inputs(a, inputs);
    /* what a failure is known by */
    take(a, rec, task, "source");
    take(a, rec, task, "init");
    val_set(a, rec, "inputs", inputs);
    examine_fill(a, rec, found);
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        take(a, rec, task, kept[i]);
    val_set(a, rec, "dtype", val_strz(a, opt_dtype));
    if (val_len(inputs))
        val_set(a, rec, "inputs", inputs);
    if (has_mark(rec, "testgen.quality") &&
        !has_mark(task, "testgen.quality")) {
        struct span note = val_gets(found, "note");
        val_set(a, rec, "why", val_list(a));
        rec_fail(a, rec, "testgen", ERR_QUALITY, arena_strdup(a, note));
    }
    return rec;
}

static bool is_taken(const struct val *rec)
{
    return span_is(rec_kind(rec), "task") && rec_ok(rec) &&
           span_is(val_gets(rec, "dtype"), "fp32");
}

static int work(void *state, struct span item, struct buf *out, struct err *e)
{
    struct variant *t = state;
    struct arena a = ARENA_INIT;
    struct val *task, *rec, *found;
    size_t used;
    int rc = -1;
    if (val_unpack(&a, item, &used, &task, e) != 0)
        goto out;
    if (!val_gets(task, "source").n) {
        err_set(e, ERR_SCHEMA, "the task has no source");
        goto out;
    }
    if (examine(&t->host, &a, val_gets(task, "source"), SPAN_LIT("Model"),
                cast_tail(&a), &found, e) < 0)
        goto out;
    rec = variant_of(&a, task, found);
    rc = examine_pack(&a, rec, out, e);
out:
    arena_release(&a);
    return rc;
}

static void *start_worker(void *payload)
{
    struct variant *t = payload;
    host_start(&t->host, true);
    return t;
}

static int result(void *payload, struct span item, int status, struct span out,
                  struct err *e)
{
    struct variant *t = payload;
    struct arena a = ARENA_INIT;
    struct val *rec;
    size_t used;
    int rc;
    if (status == 0)
        return emit_packed(t->out, out, e);
    if (status == POOL_PASSED)
        return emit_packed(t->out, item, e);
    rc = val_unpack(&a, item, &used, &rec, NULL);
    if (rc == 0) {
        rec = variant_of(&a, rec, val_map(&a));
        val_set(&a, rec, "why", val_list(&a));
        rec_fail(&a, rec, "testgen", e->code, e->msg);
        rc = emit_rec(t->out, &a, rec, e);
    }
    arena_release(&a);
    return rc;
}

static int open_stage(void **state, const struct stage_env *env, struct err *e)
{
    struct variant *t = xcalloc(1, sizeof(*t));
    *state = t;
    if (!opt_dtype)
        return err_set(e, ERR_USAGE, "--dtype is missing");
    if (host_open(&t->host, e) < 0)
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
    struct variant *t = state;
    struct buf item = BUF_INIT(ITEM_MAX);
    bool taken = is_taken(rec);
    int rc = 0;
    (void)a;
    t->out = out;
    if (val_pack(&item, rec))
        rc = err_set(e, ERR_TOO_LARGE, "the record is too large");
    if (rc == 0 && (!taken || opt_keep) &&
        pool_pass(t->pool, buf_span(&item), e) < 0)
        rc = KM_DEAD;
    if (rc == 0 && taken && pool_put(t->pool, buf_span(&item), e) < 0)
        rc = KM_DEAD;
    buf_release(&item);
    return rc;
}

static int finish(void *state, struct emit *out, struct err *e)
{
    struct variant *t = state;
    t->out = out;
    return pool_drain(t->pool, e);
}

static void close_stage(void *state)
{
    struct variant *t = state;
    if (!t)
        return;
    if (t->pool)
        pool_free(t->pool);
    host_release(&t->host);
    free(t);
}

static const char *const accepts[] = {"task", NULL};

int variant_main(int argc, char **argv)
{
    static const struct stage stage = {
        .spec = {.program = "km-testgen variant",
                 .synopsis = "--dtype bf16|fp16 [OPTION...] < TASKS > TASKS",
                 .about = "Write each task of float32 as one whose parameters "
                          "and floating inputs are of\nanother type, tried as "
                          "any task is.",
                 .tables = {variant_opts, host_opts, stage_common_opts}},
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
