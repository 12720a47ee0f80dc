/* SPDX-License-Identifier: MIT */
/*
 * km-export: steps and groups in, a data set folder out. It is the end of the
 * pipe: it prints no records.
 */
#include "base.h"

#include <fcntl.h>

#include "export/dataset.h"
#include "export/prompt.h"
#include "export/records.h"
#include "export/start.h"
#include "log.h"
#include "opt.h"
#include "schema.h"

static const char *opt_input, *opt_tasks, *opt_out, *opt_verify;
static const char *opt_templates, *opt_prompts = "auto";
static const char *opt_reward = "parent_speedup";
static double opt_valid, opt_clip = 3, opt_log_floor = -1;
static int64_t opt_shard_size = 256 << 20;
static bool opt_jsonl, opt_force, opt_bare, opt_strict, opt_quiet;
static bool opt_ignore_contract;
static int opt_verbose;

static const struct opt options[] = {
    {OPT_STR, 0, "out", &opt_out, "DIR", "folder of the data set", 0, 0, false},
    {OPT_STR, 0, "tasks", &opt_tasks, "FILE",
     "stream of the tasks that the steps are about", 0, 0, false},
    {OPT_STR, 0, "verify", &opt_verify, "DIR",
     "check a data set against its manifest, write nothing", 0, 0, false},
    {OPT_CHOICE, 0, "prompts", &opt_prompts, "auto|rendered",
     "auto: recorded ones where the reply makes the child (auto)", 0, 0, true},
    {OPT_STR, 0, "templates", &opt_templates, "DIR",
     "prompt templates in place of the built-in ones", 0, 0, false},
    {OPT_CHOICE, 0, "reward", &opt_reward, "parent_speedup|clipped|log",
     "reward of the groups (parent_speedup)", 0, 0, true},
    {OPT_FLOAT, 0, "reward-clip", &opt_clip, "X",
     "highest value of the reward 'clipped' (3)", 0, 1e6, true},
    {OPT_FLOAT, 0, "reward-floor", &opt_log_floor, "X",
     "value of the reward 'log' for what earns nothing (-1)", -1e6, 0, true},
    {OPT_FLAG, 0, "ignore-contract", &opt_ignore_contract, NULL,
     "reward programs that run the reference's or library code", 0, 0, true},
    {OPT_FLOAT, 0, "valid-share", &opt_valid, "SHARE",
     "problems that go to the validation split (0)", 0, 1, true},
    {OPT_SIZE, 0, "shard-size", &opt_shard_size, "SIZE",
     "uncompressed bytes of a shard (256M)", 1, 1e12, true},
    {OPT_FLAG, 0, "jsonl", &opt_jsonl, NULL,
     "also write the records as JSON lines", 0, 0, true},
    {OPT_FLAG, 0, "force", &opt_force, NULL,
     "write into a folder that holds other things", 0, 0, false},
    {OPT_GROUP, 0, "Input and messages", NULL, NULL, NULL, 0, 0, false},
    {OPT_STR, 'i', "input", &opt_input, "FILE",
     "read this stream (default: stdin)", 0, 0, false},
    {OPT_FLAG, 0, "bare", &opt_bare, NULL,
     "accept JSON lines without header and end", 0, 0, false},
    {OPT_FLAG, 0, "strict", &opt_strict, NULL,
     "exit 3 when a record could not be exported", 0, 0, false},
    {OPT_FLAG, 'q', "quiet", &opt_quiet, NULL, "only errors on stderr", 0, 0,
     false},
    {OPT_COUNT, 'v', "verbose", &opt_verbose, NULL,
     "more on stderr, and the summary also off a terminal", 0, 0, false},
    {0, 0, NULL, NULL, NULL, NULL, 0, 0, false},
};

static const struct opt_spec spec = {
    .program = "km-export",
    .synopsis = "--tasks FILE --out DIR < STEPS\n       km-export --verify DIR",
    .about = "Write the training data set of step and group records: shards "
             "of sft,\nrl_prompt and grpo records, and a manifest.",
    .tables = {options},
};

/* Counters by name, in order of the names' first appearance. */
struct tally {
    struct map map;
    struct arena arena;
};

static void tally_add(struct tally *t, const char *name)
{
    void **slot = map_ref(&t->map, span_str(name));
    if (!*slot)
        *slot = arena_zalloc(&t->arena, sizeof(int64_t));
    ++*(int64_t *)*slot;
}

static int64_t tally_get(const struct tally *t, const char *name)
{
    const int64_t *n = map_get(&t->map, span_str(name));
    return n ? *n : 0;
}

static int entry_cmp(const void *pa, const void *pb)
{
    const struct map_entry *a = pa, *b = pb;
    size_t n = MIN(a->key.n, b->key.n);
    int c = memcmp(a->key.p, b->key.p, n);
    return c ? c : (a->key.n > b->key.n) - (a->key.n < b->key.n);
}

/* As a map, sorted by name. */
static struct val *tally_val(struct arena *a, const struct tally *t)
{
    struct val *m = val_map(a);
    size_t bytes = t->map.n * sizeof(struct map_entry);
    struct map_entry *list = arena_alloc(a, bytes + 1);
    if (bytes)
        memcpy(list, t->map.entries, bytes);
    qsort(list, t->map.n, sizeof(*list), entry_cmp);
    for (size_t i = 0; i < t->map.n; i++)
        val_set(a, m, arena_strdup(a, list[i].key),
                val_int(a, *(int64_t *)list[i].value));
    return m;
}

static void tally_release(struct tally *t)
{
    map_release(&t->map);
    arena_release(&t->arena);
}

struct export
{
    struct dataset data;
    struct tasks tasks;
    struct record_options o;
    struct rec_reader *in;
    const struct val *header; /* of the input */
    struct tally records;     /* "sft.train" */
    struct tally input;       /* "step.rejected" */
    struct tally why;         /* "step.trajectories.incorrect" */
    struct tally groups;      /* degenerate ones */
    uint64_t read, failed;
};

static void count_input(struct export *x, const struct val *rec)
{
    struct span kind = rec_kind(rec), state = val_gets(rec, "state");
    const struct val *why = val_get(rec, "why");
    char name[256], head[65], tail[101];
    /* masked: a cut inside a character would not be JSON */
    mask_text(head, sizeof(head), kind);
    snprintf(name, sizeof(name), "%s.%s", head, mask_text(tail, 17, state));
    tally_add(&x->input, name);
    for (size_t i = 0; i < val_len(why); i++) {
        struct span w = val_as_str(val_at(why, i));
        snprintf(name, sizeof(name), "%s.%s", head,
                 mask_text(tail, sizeof(tail), w));
        tally_add(&x->why, name);
    }
}

static int put(struct export *x, struct arena *a, const char *kind,
               struct val *rec, const struct task *t, struct err *e)
{
    const char *split = split_of(t, x->o.valid_share);
    char name[64];
    if (schema_check(a, rec, e) != 0 ||
        dataset_put(&x->data, kind, split, rec, e) != 0)
        return -1;
    snprintf(name, sizeof(name), "%s.%s", kind, split);
    tally_add(&x->records, name);
    return 0;
}

/* One step or group; -1: this one cannot be exported. */
static int export_one(struct export *x, struct arena *a, struct val *rec,
                      struct err *e)
{
    const char *degenerate;
    struct val *out;
    struct span id = val_gets(rec, "task");
    if (schema_check(a, rec, e) != 0)
        return -1;
    const struct task *t = id.p ? map_get(&x->tasks.by_id, id) : NULL;
    if (!t)
        return err_set(e, ERR_NO_TASK, "no task '%.*s' in --tasks",
                       (int)MIN(id.n, 64u), id.p ? id.p : "");
    if (span_is(rec_kind(rec), "group")) {
        if (make_grpo(a, rec, t, &x->o, &out, &degenerate, e) != 0 ||
            put(x, a, "grpo", out, t, e) != 0)
            return -1;
        tally_add(&x->groups, *degenerate ? degenerate : "usable");
        return 0;
    }
    if (span_is(val_gets(rec, "mode"), "sft"))
        return make_sft(a, rec, t, &x->o, &out, e) == 0
                   ? put(x, a, "sft", out, t, e)
                   : -1;
    char name[64];
    snprintf(name, sizeof(name), "rl_prompt.%s", split_of(t, x->o.valid_share));
    return make_rl_prompt(a, rec, t, tally_get(&x->records, name), &x->o, &out,
                          e) == 0
               ? put(x, a, "rl_prompt", out, t, e)
               : -1;
}

/* A record alone is at fault, not the disk. */
static bool costs_one_record(enum err_code code)
{
    return code == ERR_SCHEMA || code == ERR_NO_TASK || code == ERR_TOO_LARGE ||
           code == ERR_UNAVAILABLE;
}

static int export_all(struct export *x, struct err *e)
{
    struct arena a = ARENA_INIT;
    struct val *rec;
    int got, status = 0;
    while (status == 0 && (got = rec_read(x->in, &a, &rec, e)) != KM_END) {
        if (got == KM_RECORD) {
            x->failed++;
            log_err(e);
            arena_reset(&a);
            continue;
        }
        if (got != KM_OK) {
            status = -1;
            break;
        }
        x->read++;
        count_input(x, rec);
        bool ours =
            span_is(rec_kind(rec), "step") || span_is(rec_kind(rec), "group");
        if (ours && rec_ok(rec) && export_one(x, &a, rec, e) != 0) {
            struct span id = rec_id(rec);
            char name[64];
            if (!costs_one_record(e->code)) {
                status = -1;
                break;
            }
            snprintf(name, sizeof(name), "export.%s", err_code_name(e->code));
            tally_add(&x->why, name);
            x->failed++;
            log_warning("%.*s: %s", (int)MIN(id.n, (size_t)ID_HEX),
                        id.p ? id.p : "", e->msg);
        }
        arena_reset(&a);
    }
    arena_release(&a);
    return status;
}

static struct val *header_val(struct arena *a, const struct val *header)
{
    static const char *const keys[] = {"program", "version", "options",
                                       "chain"};
    struct val *m = val_map(a);
    if (!header)
        return val_nil(a);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct val *v = val_get(header, keys[i]);
        if (v)
            val_set(a, m, keys[i], v);
    }
    return m;
}

static struct val *manifest(struct arena *a, const struct export *x)
{
    struct val *m = val_map(a);
    struct val *shards = val_list(a), *jsonl = val_list(a);
    for (size_t i = 0; i < x->data.shards.n; i++)
        val_push(a, shards, shard_val(a, &x->data.shards.v[i]));
    for (size_t i = 0; i < x->data.jsonl.n; i++)
        val_push(a, jsonl, shard_val(a, &x->data.jsonl.v[i]));
    val_set(a, m, "format", val_strz(a, DATASET_FORMAT));
    val_set(a, m, "version", val_int(a, DATASET_VERSION));
    val_set(a, m, "schema", val_int(a, REC_VERSION));
    val_set(a, m, "program", val_strz(a, "km-export"));
    val_set(a, m, "program_version", val_strz(a, KM_VERSION));
    val_set(a, m, "options", opt_record(a, &spec));
    val_set(a, m, "input", header_val(a, x->header));
    val_set(a, m, "tasks", header_val(a, x->tasks.header));
    val_set(a, m, "split_rule",
            val_strz(a, "sha256 of the task's cluster (else id): first 32 "
                        "bits / 2^32 below valid-share = valid"));
    val_set(a, m, "records", tally_val(a, &x->records));
    val_set(a, m, "groups", tally_val(a, &x->groups));
    val_set(a, m, "input_records", tally_val(a, &x->input));
    val_set(a, m, "why", tally_val(a, &x->why));
    val_set(a, m, "shards", shards);
    val_set(a, m, "jsonl", jsonl);
    return m;
}

static int run(struct export *x, struct err *e)
{
    struct arena a = ARENA_INIT;
    struct dataset_options o = {
        .shard_size = opt_shard_size, .jsonl = opt_jsonl, .force = opt_force};
    int status = -1;
    if (opt_templates && access(opt_templates, X_OK) != 0) {
        err_sys(e, "cannot open folder '%s'", opt_templates);
        goto out;
    }
    if (rec_header(x->in, &x->header, e) != 0 ||
        tasks_load(&x->tasks, opt_tasks, e) != 0)
        goto out;
    o.options = opt_record(&a, &spec);
    o.upstream = x->header;
    if (dataset_open(&x->data, opt_out, &o, e) == 0 && export_all(x, e) == 0 &&
        dataset_finish(&x->data, e) == 0)
        status = dataset_commit(&x->data, manifest(&a, x), e);
    dataset_release(&x->data);
out:
    arena_release(&a);
    return status;
}

static void summary(const struct export *x)
{
    if (opt_quiet || (!isatty(STDERR_FILENO) && !opt_verbose))
        return;
    fprintf(stderr, "km-export: in %" PRIu64, x->read);
    for (size_t i = 0; i < x->records.map.n; i++)
        fprintf(stderr, ", %.*s %" PRId64, (int)x->records.map.entries[i].key.n,
                x->records.map.entries[i].key.p,
                *(int64_t *)x->records.map.entries[i].value);
    fprintf(stderr, ", failed %" PRIu64 "\n", x->failed);
}

static int verify(void)
{
    struct err e = {0};
    uint64_t shards, records;
    if (dataset_verify(opt_verify, &shards, &records, &e) != 0)
        die_err(&e);
    printf("OK: %" PRIu64 " shards, %" PRIu64 " records\n", shards, records);
    if (fflush(stdout) != 0)
        die("cannot write stdout");
    return EXIT_DONE;
}

static enum reward_kind reward_kind(void)
{
    for (int k = 0; k < REWARDS; k++)
        if (strcmp(opt_reward, reward_names[k]) == 0)
            return k;
    bug("reward '%s'", opt_reward);
}

int main(int argc, char **argv)
{
    static struct export x;
    struct err e = {0};
    int fd = STDIN_FILENO;
    struct started started = program_start();
    int at = opt_parse(&spec, argc, argv);
    log_level = opt_quiet ? 0 : 1 + opt_verbose;
    if (at < argc)
        die_usage("unexpected operand '%s'", argv[at]);
    if (opt_verify && started.stdout_closed)
        die("stdout is closed");
    if (opt_verify)
        return verify();
    if (!opt_out || !opt_tasks)
        die_usage("--tasks and --out are needed (or --verify)");
    if (opt_input && strcmp(opt_input, "-") != 0)
        fd = open(opt_input, O_RDONLY | O_CLOEXEC);
    else if (started.stdin_closed)
        die("stdin is closed");
    else if (isatty(fd))
        die_usage("stdin is a terminal: give a stream with -i FILE or a pipe");
    if (fd < 0)
        die("cannot open '%s': %s", opt_input, strerror(errno));
    x.o = (struct record_options){
        .templates = opt_templates,
        .rendered = strcmp(opt_prompts, "rendered") == 0,
        .valid_share = opt_valid,
        .reward = {reward_kind(), opt_clip, opt_log_floor,
                   opt_ignore_contract}};
    x.in = rec_reader_new(fd, opt_input ? opt_input : "stdin", opt_bare);
    int status = run(&x, &e);
    if (status != 0)
        log_err(&e);
    else
        summary(&x);
    rec_reader_free(x.in);
    tasks_release(&x.tasks);
    tally_release(&x.records);
    tally_release(&x.input);
    tally_release(&x.why);
    tally_release(&x.groups);
    prompt_release();
    if (status != 0)
        return e.code == ERR_USAGE ? EXIT_USAGE : EXIT_FATAL;
    return opt_strict && x.failed ? EXIT_RECORDS : EXIT_DONE;
}
