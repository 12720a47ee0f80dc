/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <fcntl.h>
#include <math.h>

#include "export/prompt.h"
#include "export/records.h"
#include "hash.h"
#include "rec.h"
#include "schema.h"

/* ---- tasks ---- */

static void task_add(struct tasks *ts, const struct val *rec)
{
    struct arena *a = &ts->arena;
    const struct val *origin = val_get(rec, "origin");
    struct task *t = arena_zalloc(a, sizeof(*t));
    struct span licence = val_as_str(val_path(origin, "licence.spdx"));
    if (!licence.p)
        licence = val_gets(origin, "licence");
    t->id = arena_span(a, rec_id(rec));
    t->name = arena_span(a, val_gets(rec, "name"));
    t->source = arena_span(a, val_gets(rec, "source"));
    t->cluster = arena_span(a, val_gets(rec, "cluster"));
    t->licence = arena_span(a, licence);
    t->family = arena_span(a, val_gets(rec, "family"));
    t->difficulty = arena_span(a, val_gets(rec, "difficulty"));
    t->benchmark = arena_span(a, val_gets(rec, "benchmark"));
    map_put(&ts->by_id, t->id, t);
}

int tasks_load(struct tasks *ts, const char *path, struct err *e)
{
    struct arena a = ARENA_INIT;
    struct val *rec;
    const struct val *header;
    int got = KM_DEAD;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(e, "cannot open '%s'", path);
    struct rec_reader *r = rec_reader_new(fd, path, true);
    if (rec_header(r, &header, e) != 0)
        goto out;
    ts->header = header ? val_copy(&ts->arena, header) : NULL;
    while ((got = rec_read(r, &a, &rec, e)) == KM_OK) {
        if (span_is(rec_kind(rec), "task") && rec_ok(rec))
            task_add(ts, rec);
        arena_reset(&a);
    }
out:
    rec_reader_free(r);
    arena_release(&a);
    close(fd);
    return got == KM_END ? 0 : -1;
}

void tasks_release(struct tasks *ts)
{
    map_release(&ts->by_id);
    arena_release(&ts->arena);
}

const char *split_of(const struct task *t, double valid_share)
{
    char hex[HASH_HEX + 1];
    struct span key = t->cluster.n ? t->cluster : t->id;
    hash_sha256_hex(hex, key);
    hex[8] = '\0';
    double place = (double)strtoul(hex, NULL, 16) / 4294967296.0;
    return place < valid_share ? "valid" : "train";
}

/* ---- columns ---- */

static void set_span(struct arena *a, struct val *m, const char *key,
                     struct span s)
{
    val_set(a, m, key, val_str(a, s.p ? s : SPAN_LIT("")));
}

static void set_text(struct arena *a, struct val *m, const char *key,
                     const char *s)
{
    set_span(a, m, key, span_str(s));
}

static void set_float(struct arena *a, struct val *m, const char *key, double d)
{
    val_set(a, m, key, val_float(a, d)); /* NAN becomes nil */
}

static void set_int(struct arena *a, struct val *m, const char *key,
                    const struct val *from)
{
    val_set(a, m, key, val_int(a, val_geti(from, key, 0)));
}

static struct val *json_text(struct arena *a, const struct val *v)
{
    struct buf b = BUF_INIT(REC_MAX);
    struct val *out =
        val_json(&b, v) == 0 ? val_str(a, buf_span(&b)) : val_strz(a, "{}");
    buf_release(&b);
    return out;
}

static uint64_t message_bytes(const struct val *messages)
{
    uint64_t n = 0;
    for (size_t i = 0; i < val_len(messages); i++)
        n += val_gets(val_at(messages, i), "content").n;
    return n;
}

static struct val *join(struct arena *a, const struct val *x,
                        const struct val *y)
{
    struct val *out = val_list(a);
    for (size_t i = 0; i < val_len(x); i++)
        val_push(a, out, val_at(x, i));
    for (size_t i = 0; i < val_len(y); i++)
        val_push(a, out, val_at(y, i));
    return out;
}

/* Figures of a parent or child without its code. */
static struct val *without_code(struct arena *a, const struct val *figures)
{
    struct val *m = val_map(a);
    if (!figures || figures->type != VAL_MAP)
        return val_nil(a);
    for (uint32_t i = 0; i < figures->map.n; i++) {
        struct span key = figures->map.keys[i];
        static const char *const bulk[] = {"code", "prompt", "reply"};
        bool drop = false;
        for (size_t k = 0; k < ARRAY_LEN(bulk); k++)
            drop |= span_is(key, bulk[k]);
        if (!drop)
            val_set(a, m, arena_strdup(a, key), figures->map.v[i]);
    }
    return m;
}

static struct val *info(struct arena *a, const struct val *from,
                        const struct task *t)
{
    static const char *const keys[] = {
        "run",    "parent_program", "child_program", "iteration", "flags",
        "replay", "device_class",   "protocol",      "profile",
    };
    struct val *m = val_map(a);
    set_span(a, m, "task_name", t->name);
    set_span(a, m, "family", t->family);
    set_span(a, m, "difficulty", t->difficulty);
    set_span(a, m, "benchmark", t->benchmark);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct val *v = val_get(from, keys[i]);
        if (v)
            val_set(a, m, keys[i], v);
    }
    val_set(a, m, "parent", without_code(a, val_get(from, "parent")));
    if (val_get(from, "child"))
        val_set(a, m, "child", without_code(a, val_get(from, "child")));
    return json_text(a, m);
}

/* Is the recorded prompt with its reply a true example: the reply makes the
 * child? */
static bool recorded_holds(const struct val *from)
{
    return val_len(val_get(from, "prompt")) > 0 &&
           val_gets(from, "reply").n > 0 &&
           span_is(val_gets(from, "replay"), "exact");
}

/* Does a step start from the reference, so that its prompt shows no parent? */
static bool from_reference(const struct val *step)
{
    const struct val *flags = val_get(step, "flags");
    for (size_t i = 0; i < val_len(flags); i++)
        if (span_is(val_as_str(val_at(flags, i)), "first_translation"))
            return true;
    return false;
}

static int step_prompt(struct arena *a, const struct val *step,
                       const struct task *t, const struct record_options *o,
                       struct prompt *out, struct err *e)
{
    if (!o->rendered && recorded_holds(step)) {
        *out = (struct prompt){val_get(step, "prompt"), "recorded"};
        return 0;
    }
    struct span parent = {NULL, 0};
    if (!from_reference(step))
        parent = val_as_str(val_path(step, "parent.code"));
    return prompt_render(a, o->templates, val_gets(step, "language"), t->source,
                         parent, out, e);
}

static bool is_recorded(const struct prompt *p)
{
    return strcmp(p->id, "recorded") == 0;
}

/* How the answer to P is written. */
static const char *answer_form(const struct prompt *p, const struct val *from)
{
    if (!is_recorded(p))
        return "full";
    return span_is(val_gets(from, "reply_kind"), "diff") ? "diff" : "reply";
}

static struct val *answer(struct arena *a, const struct prompt *p,
                          const struct val *from, struct span language,
                          struct span code)
{
    if (is_recorded(p))
        return val_get(from, "reply");
    return prompt_answer(a, language, code);
}

/* ---- sft ---- */

static void set_origin(struct arena *a, struct val *rec, const struct val *step,
                       const struct task *t, const char *split)
{
    set_span(a, rec, "task_id", t->id);
    set_span(a, rec, "run_id", val_gets(step, "run"));
    set_span(a, rec, "parent_id",
             val_as_str(val_path(step, "parent.revision")));
    set_span(a, rec, "child_id", val_as_str(val_path(step, "child.revision")));
    set_span(a, rec, "lang", val_gets(step, "language"));
    set_span(a, rec, "licence", t->licence);
    set_text(a, rec, "split", split);
}

int make_sft(struct arena *a, const struct val *step, const struct task *t,
             const struct record_options *o, struct val **out, struct err *e)
{
    struct prompt p;
    const char *split = split_of(t, o->valid_share);
    const struct val *gain = val_get(step, "gain");
    if (step_prompt(a, step, t, o, &p, e) != 0)
        return -1;
    struct val *rec = rec_new(a, "sft");
    struct val *completion =
        prompt_completion(a, answer(a, &p, step, val_gets(step, "language"),
                                    val_as_str(val_path(step, "child.code"))));
    struct val *meta = val_map(a);
    set_span(a, rec, "step_id", rec_id(step));
    set_text(a, rec, "template_id", p.id);
    set_text(a, rec, "completion_kind", answer_form(&p, step));
    val_set(a, rec, "prompt", p.messages);
    val_set(a, rec, "completion", completion);
    val_set(a, rec, "messages", join(a, p.messages, completion));
    set_origin(a, rec, step, t, split);
    set_span(a, rec, "select_reason", val_gets(step, "select_reason"));
    set_int(a, rec, "iteration", step);
    set_int(a, rec, "depth", step);
    val_set(a, rec, "prompt_bytes",
            val_int(a, (int64_t)message_bytes(p.messages)));
    set_float(a, rec, "gain", val_as_float(gain, NAN));
    set_float(a, rec, "gain_low", val_getf(step, "gain_low", NAN));
    set_float(a, rec, "gain_high", val_getf(step, "gain_high", NAN));
    set_float(a, rec, "speedup_parent", exp(val_as_float(gain, NAN)));
    set_float(a, rec, "speedup_ref",
              val_as_float(val_path(step, "child.ratio"), NAN));
    set_float(a, rec, "mem_ratio",
              val_as_float(val_path(step, "child.memory_ratio"), NAN));
    set_origin(a, meta, step, t, split);
    val_set(a, rec, "metadata", meta);
    val_set(a, rec, "info", info(a, step, t));
    rec_seal(a, rec);
    *out = rec;
    return 0;
}

/* ---- rl_prompt ---- */

static const char *entry_point(struct span language)
{
    return span_is(language, "torch") ? "ModelNew" : "km_forward";
}

static int64_t parent_ns(const struct val *from)
{
    double ns = val_as_float(val_path(from, "parent.ns"), NAN);
    return isfinite(ns) && ns >= 0 && ns < 9e18 ? llround(ns) : 0;
}

int make_rl_prompt(struct arena *a, const struct val *step,
                   const struct task *t, int64_t index,
                   const struct record_options *o, struct val **out,
                   struct err *e)
{
    struct prompt p;
    const char *split = split_of(t, o->valid_share);
    const char *reward = reward_names[o->reward.kind];
    struct span parent = val_as_str(val_path(step, "parent.revision"));
    const char *entry = entry_point(val_gets(step, "language"));
    if (step_prompt(a, step, t, o, &p, e) != 0)
        return -1;
    struct val *rec = rec_new(a, "rl_prompt"), *m;
    set_span(a, rec, "step_id", rec_id(step));
    set_text(a, rec, "template_id", p.id);
    val_set(a, rec, "prompt", p.messages);
    set_text(a, rec, "data_source", "kernelmill");
    set_text(a, rec, "datasource", "kernelmill");
    set_text(a, rec, "ability", "kernel");
    m = val_map(a);
    set_text(a, m, "style", "rule");
    set_span(a, m, "ground_truth", t->source);
    val_set(a, rec, "reward_model", m);
    m = val_map(a);
    val_set(a, m, "index", val_int(a, index));
    set_text(a, m, "split", split);
    set_span(a, m, "task_id", t->id);
    set_span(a, m, "parent_id", parent);
    set_text(a, m, "entry_point", entry);
    val_set(a, rec, "extra_info", m);
    m = val_map(a);
    set_span(a, m, "task_id", t->id);
    set_span(a, m, "parent_id", parent);
    set_text(a, m, "reward", reward);
    set_text(a, m, "answer_format", answer_form(&p, step));
    val_set(a, rec, "label", json_text(a, m));
    m = val_map(a);
    set_span(a, m, "task_id", t->id);
    set_span(a, m, "parent_id", parent);
    set_text(a, m, "rm_type", reward);
    val_set(a, rec, "metadata", m);
    set_span(a, rec, "task_id", t->id);
    set_span(a, rec, "parent_id", parent);
    set_span(a, rec, "lang", val_gets(step, "language"));
    set_span(a, rec, "licence", t->licence);
    set_text(a, rec, "split", split);
    set_span(a, rec, "parent_code", val_as_str(val_path(step, "parent.code")));
    set_text(a, rec, "entry_point", entry);
    set_span(a, rec, "reference_code", t->source);
    val_set(a, rec, "parent_ns", val_int(a, parent_ns(step)));
    val_set(a, rec, "info", info(a, step, t));
    rec_seal(a, rec);
    *out = rec;
    return 0;
}

/* ---- grpo ---- */

struct group {
    const struct val *rec, *children;
    struct prompt prompt;
    struct sample *samples;
    struct group_stats stats;
    struct span language;
    size_t n;
};

/* A recorded prompt that all samples answered, each with a reply that makes
 * its program; else a rendered one. */
static int group_prompt(struct arena *a, struct group *g, const struct task *t,
                        bool is_reference, const struct record_options *o,
                        struct err *e)
{
    struct val *recorded = val_get(g->rec, "prompt");
    bool whole = val_len(recorded) > 0 && !o->rendered;
    for (size_t i = 0; i < g->n && whole; i++)
        whole = val_gets(val_at(g->children, i), "reply").n > 0 &&
                span_is(val_gets(val_at(g->children, i), "replay"), "exact");
    if (whole) {
        g->prompt = (struct prompt){recorded, "recorded"};
        return 0;
    }
    struct span parent = {NULL, 0};
    if (!is_reference)
        parent = val_as_str(val_path(g->rec, "parent.code"));
    return prompt_render(a, o->templates, g->language, t->source, parent,
                         &g->prompt, e);
}

static struct val *sample_val(struct arena *a, const struct group *g, size_t i,
                              const struct record_options *o)
{
    const struct val *child = val_at(g->children, i);
    const struct sample *s = &g->samples[i];
    struct val *m = val_map(a), *rewards = val_map(a);
    struct span code = val_gets(child, "code");
    struct span language = val_gets(child, "language");
    char hex[HASH_HEX + 1];
    if (!language.n)
        language = g->language;
    hash_sha256_hex(hex, code);
    val_set(a, m, "index", val_int(a, (int64_t)i));
    val_set(a, m, "text", answer(a, &g->prompt, child, language, code));
    set_text(a, m, "completion_kind", answer_form(&g->prompt, child));
    set_text(a, m, "child_sha256", hex);
    set_span(a, m, "child_id", val_gets(child, "revision"));
    set_span(a, m, "outcome",
             s->valid ? val_gets(child, "outcome")
                      : SPAN_LIT("infrastructure"));
    double r = s->valid ? reward_of(s, o->reward.kind, &o->reward) : NAN;
    set_float(a, m, "reward", r);
    for (int k = 0; k < REWARDS; k++)
        set_float(a, rewards, reward_names[k],
                  s->valid ? reward_of(s, k, &o->reward) : NAN);
    val_set(a, m, "rewards", rewards);
    set_float(a, m, "advantage", s->valid ? advantage(&g->stats, r) : NAN);
    set_float(a, m, "runtime_ns", val_getf(child, "ns", NAN));
    set_float(a, m, "speedup_parent", s->speedup_parent);
    set_float(a, m, "speedup_ref", s->speedup_ref);
    struct val *own = val_get(child, "prompt");
    val_set(a, m, "prompt", own ? own : val_list(a));
    set_span(a, m, "reply", val_gets(child, "reply"));
    set_span(a, m, "replay", val_gets(child, "replay"));
    return m;
}

static struct val *stats_val(struct arena *a, const struct group *g)
{
    struct val *m = val_map(a);
    set_float(a, m, "mean", g->stats.mean);
    set_float(a, m, "std", g->stats.std);
    set_text(a, m, "std_kind", "sample");
    set_float(a, m, "eps", ADVANTAGE_EPS);
    val_set(a, m, "n_valid", val_int(a, (int64_t)g->stats.n_valid));
    return m;
}

static struct val *grpo_val(struct arena *a, const struct group *g,
                            const struct task *t, bool is_reference,
                            const struct record_options *o)
{
    struct val *rec = rec_new(a, "grpo"), *samples = val_list(a);
    for (size_t i = 0; i < g->n; i++)
        val_push(a, samples, sample_val(a, g, i, o));
    set_span(a, rec, "group_id", rec_id(g->rec));
    set_text(a, rec, "template_id", g->prompt.id);
    set_text(a, rec, "reward", reward_names[o->reward.kind]);
    set_span(a, rec, "group_kind", val_gets(g->rec, "group_kind"));
    val_set(a, rec, "prompt", g->prompt.messages);
    set_span(a, rec, "task_id", t->id);
    set_span(a, rec, "run_id", val_gets(g->rec, "run"));
    set_span(a, rec, "parent_id",
             val_as_str(val_path(g->rec, "parent.revision")));
    set_span(a, rec, "lang", g->language);
    set_span(a, rec, "licence", t->licence);
    set_text(a, rec, "split", split_of(t, o->valid_share));
    set_span(a, rec, "reference_code", t->source);
    set_text(a, rec, "entry_point", entry_point(g->language));
    set_span(a, rec, "parent_code",
             val_as_str(val_path(g->rec, "parent.code")));
    val_set(a, rec, "parent_ns", val_int(a, parent_ns(g->rec)));
    val_set(a, rec, "parent_is_reference", val_bool(a, is_reference));
    val_set(a, rec, "n", val_int(a, (int64_t)g->n));
    val_set(a, rec, "samples", samples);
    val_set(a, rec, "stats", stats_val(a, g));
    set_text(a, rec, "degenerate", g->stats.degenerate);
    val_set(a, rec, "info", info(a, g->rec, t));
    rec_seal(a, rec);
    return rec;
}

int make_grpo(struct arena *a, const struct val *group, const struct task *t,
              const struct record_options *o, struct val **out,
              const char **degenerate, struct err *e)
{
    struct group g = {.rec = group,
                      .children = val_get(group, "children"),
                      .language = val_gets(group, "language")};
    bool is_reference;
    double base =
        reward_base(val_get(group, "parent"), &o->reward, &is_reference);
    g.n = val_len(g.children);
    if (g.n == 0)
        return err_set(e, ERR_SCHEMA, "group without children");
    g.samples = arena_array(a, g.n, sizeof(*g.samples));
    for (size_t i = 0; i < g.n; i++)
        g.samples[i] = sample_of(val_at(g.children, i), base, &o->reward);
    group_stats(&g.stats, g.samples, g.n, &o->reward);
    if (group_prompt(a, &g, t, is_reference, o, e) != 0)
        return -1;
    *degenerate = g.stats.degenerate;
    *out = grpo_val(a, &g, t, is_reference, o);
    return 0;
}
