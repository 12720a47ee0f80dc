/* SPDX-License-Identifier: MIT */
/* km-trajectories select: revisions and verdicts in, steps and groups out. */
#include "base.h"

#include <math.h>

#include "log.h"
#include "trajectories/commands.h"
#include "trajectories/select.h"

static const char *opt_tasks, *opt_device;
static const char *opt_mode = "both", *opt_profile = "strict";
static bool opt_ignore_contract, opt_keep_seeds;
static double opt_min_gain;
static int64_t opt_top_k, opt_per_task;

static const struct opt options[] = {
    {OPT_STR, 0, "tasks", &opt_tasks, "FILE",
     "stream of tasks: steps of other tasks fail", 0, 0, false},
    {OPT_CHOICE, 0, "mode", &opt_mode, "both|sft|rl",
     "sft: all good steps; rl: best steps only (both)", 0, 0, true},
    {OPT_CHOICE, 0, "profile", &opt_profile, "strict|kbv|kernelbench",
     "judgement that makes a program correct (strict)", 0, 0, true},
    {OPT_FLAG, 0, "ignore-contract", &opt_ignore_contract, NULL,
     "keep programs that run the reference's or library code", 0, 0, true},
    {OPT_FLAG, 0, "keep-seeds", &opt_keep_seeds, NULL,
     "keep the programs that runs began with as first steps", 0, 0, true},
    {OPT_FLOAT, 0, "min-gain", &opt_min_gain, "SHARE",
     "later steps must be faster by this, 0.05 = 5 % (0)", 0, 1000, true},
    {OPT_INT, 0, "top-k", &opt_top_k, "N",
     "rl: best N steps of a run and task (0 = all)", 0, 1e9, true},
    {OPT_INT, 0, "per-task", &opt_per_task, "N",
     "best N steps of a task in each mode (0 = all)", 0, 1e9, true},
    {OPT_STR, 0, "device", &opt_device, "CLASS",
     "only verdicts of this device class", 0, 0, true},
    {0, 0, NULL, NULL, NULL, NULL, 0, 0, false},
};

static int select_open(void **state, const struct stage_env *env, struct err *e)
{
    static struct select s;
    (void)env;
    s = (struct select){.o = {.profile = opt_profile,
                              .device = opt_device,
                              .ignore_contract = opt_ignore_contract,
                              .keep_seeds = opt_keep_seeds,
                              .min_gain = opt_min_gain,
                              .top_k = opt_top_k,
                              .per_task = opt_per_task},
                        .tasks = TASKSET_INIT,
                        .spill = {.fd = -1}};
    s.o.modes[MODE_SFT] = strcmp(opt_mode, "rl") != 0;
    s.o.modes[MODE_RL] = strcmp(opt_mode, "sft") != 0;
    *state = &s;
    if (opt_tasks && taskset_load(&s.tasks, opt_tasks, e) != 0)
        return -1;
    return spill_open(&s.spill, e);
}

static void select_close(void *state)
{
    struct select *s = state;
    if (!s) /* the input was refused before the stage was opened */
        return;
    spill_close(&s->spill);
    map_release(&s->by_id);
    map_release(&s->by_program);
    array_release(&s->all);
    taskset_release(&s->tasks);
    arena_release(&s->arena);
}

/* The candidate of a revision's id, made when it is new. */
static struct candidate *candidate(struct select *s, struct span id)
{
    void **slot = map_ref(&s->by_id, id);
    if (!*slot) {
        struct candidate *c = arena_zalloc(&s->arena, sizeof(*c));
        c->id = arena_span(&s->arena, id);
        c->memory_peak = -1;
        c->memory_ratio = NAN;
        *slot = c;
        array_push(&s->all, c);
    }
    return *slot;
}

static struct span keep(struct select *s, const struct val *rec,
                        const char *key)
{
    struct span v = val_gets(rec, key);
    return v.n ? arena_span(&s->arena, v) : (struct span){NULL, 0};
}

static int take_revision(struct select *s, struct arena *a,
                         const struct val *rec, struct err *e)
{
    struct candidate *c = candidate(s, rec_id(rec));
    if (c->seen) {
        s->repeated++;
        return 0;
    }
    c->seen = true;
    c->task = keep(s, rec, "task");
    c->run = keep(s, rec, "run");
    c->program = keep(s, rec, "program");
    if (!c->program.n) /* a revision need not come from a run */
        c->program = c->id;
    c->parent = keep(s, rec, "parent");
    c->iteration = val_geti(rec, "iteration", 0);
    const struct val *flags = val_get(rec, "flags");
    for (size_t i = 0; i < val_len(flags); i++)
        c->seed |= span_is(val_as_str(val_at(flags, i)), "seed");
    struct buf code = BUF_INIT(REC_MAX);
    select_squeeze(&code, val_gets(rec, "code"));
    int status = spill_put(&s->spill, rec, &c->rec, e);
    if (status == 0)
        status = spill_put(&s->spill, val_str(a, buf_span(&code)), &c->code, e);
    buf_release(&code);
    return status == 0 ? 0 : -2;
}

/* What must be the same for two measurements to be compared. */
static struct span context_of(struct select *s, const struct val *rec)
{
    struct buf packed = BUF_INIT(1u << 20);
    const struct val *o = val_get(rec, "options");
    if (o && val_pack(&packed, o) != 0)
        buf_clear(&packed);
    struct span parts[] = {val_gets(rec, "device_class"),
                           val_gets(rec, "protocol"), val_gets(rec, "against"),
                           buf_span(&packed)};
    struct span key = join_key(&s->arena, parts, ARRAY_LEN(parts));
    buf_release(&packed);
    return key;
}

static void take_time(struct candidate *c, const struct val *t)
{
    c->ratio = val_getf(t, "ratio", NAN);
    c->low = val_getf(t, "ratio_low", NAN);
    c->high = val_getf(t, "ratio_high", NAN);
    c->reference_ns = val_getf(t, "reference_ns", NAN);
    c->ns = val_getf(t, "candidate_ns", NAN);
    c->timed = c->low > 0 && c->ratio >= c->low && c->high >= c->ratio &&
               isfinite(c->high);
    if (!c->timed)
        return;
    c->log_ratio = log(c->ratio);
    c->sigma = (log(c->high) - log(c->low)) / 2 / 1.96;
}

static void take_verdict(struct select *s, const struct val *rec)
{
    if (s->o.device && !span_is(val_gets(rec, "device_class"), s->o.device)) {
        s->other_device++;
        return;
    }
    struct candidate *c = candidate(s, val_gets(rec, "revision"));
    struct span context = context_of(s, rec);
    if (c->judged && !c->infrastructure) {
        /* A failed one, or a second one of the same kind, says nothing new. */
        if (!rec_ok(rec) || span_eq(context, c->context))
            s->repeated++;
        else
            c->mixed = true;
        return;
    }
    c->judged = true;
    c->infrastructure = !rec_ok(rec);
    c->context = context;
    c->device = keep(s, rec, "device_class");
    c->protocol = keep(s, rec, "protocol");
    c->verdict = arena_span(&s->arena, rec_id(rec));
    c->outcome = keep(s, rec, "outcome");
    if (!c->outcome.n)
        c->outcome =
            c->infrastructure ? SPAN_LIT("infrastructure") : SPAN_LIT("");
    c->judged_task = keep(s, rec, "task");
    if (!c->seen)
        c->task = c->judged_task;
    c->honest = val_getb(rec, "honest", false);
    c->correct = val_getb(val_get(rec, "pass"), s->o.profile, false);
    c->contract_ok = val_getb(val_get(rec, "contract"), "ok", true);
    const struct val *m = val_get(rec, "memory");
    c->memory_peak = val_as_int(val_path(m, "candidate.peak"), -1);
    c->memory_ratio = val_getf(m, "ratio", NAN);
    take_time(c, val_get(rec, "time"));
}

/* Rejected revisions travel on as they are: no step is made of them. */
static int select_process(void *state, struct arena *a, struct val *rec,
                          struct emit *out, struct err *e)
{
    bool verdict = span_is(rec_kind(rec), "verdict");
    if (!verdict && !(span_is(rec_kind(rec), "revision") && rec_ok(rec)))
        return emit_rec(out, a, rec, e);
    if (!verdict)
        return take_revision(state, a, rec, e);
    if (val_gets(rec, "revision").n == 0)
        return err_set(e, ERR_BROKEN_INPUT, "verdict without a revision");
    take_verdict(state, rec);
    return 0;
}

static int select_finish(void *state, struct emit *out, struct err *e)
{
    struct select *s = state;
    if (select_judge(s, e) != 0)
        return -2;
    if (s->repeated)
        log_info("%" PRIu64 " repeated records left out", s->repeated);
    if (s->other_device)
        log_info("%" PRIu64 " verdicts of other devices left out",
                 s->other_device);
    if (select_write_steps(s, out, e) != 0)
        return -2;
    return select_write_groups(s, out, e) == 0 ? 0 : -2;
}

int select_main(int argc, char **argv)
{
    static const char *const accepts[] = {"revision", "verdict", NULL};
    static const struct stage stage = {
        .spec = {.program = "km-trajectories select",
                 .synopsis = "[options] < VERDICTS",
                 .about = "Keep the steps worth learning from: read revision "
                          "and verdict records,\nwrite step and group "
                          "records.",
                 .tables = {options, stage_common_opts}},
        .name = "trajectories",
        .accepts = accepts,
        .holds = true,
        .open = select_open,
        .process = select_process,
        .finish = select_finish,
        .close = select_close,
    };
    return stage_main(argc, argv, &stage);
}
