/* SPDX-License-Identifier: MIT */
/* The step and group records. */
#include "base.h"

#include <math.h>

#include "trajectories/select.h"

#define STAGE "trajectories"
/* Of the revisions in a step or group, so that the record stays in bounds. */
#define MAX_BULK (REC_MAX - (1u << 20))

static const char *const mode_names[MODES] = {"sft", "rl"};

static void set_span(struct arena *a, struct val *map, const char *key,
                     struct span s)
{
    if (s.n > 0)
        val_set(a, map, key, val_str(a, s));
}

/* Program and figures of C; with its code when REC is given. */
static struct val *figures(struct arena *a, const struct candidate *c,
                           const struct val *rec)
{
    struct val *m = val_map(a);
    val_set(a, m, "program", val_str(a, c->program));
    val_set(a, m, "revision", val_str(a, c->id));
    if (rec)
        set_span(a, m, "code", val_gets(rec, "code"));
    if (!c->judged)
        return m;
    val_set(a, m, "outcome", val_str(a, c->outcome));
    val_set(a, m, "correct", val_bool(a, c->correct));
    val_set(a, m, "honest", val_bool(a, c->honest));
    val_set(a, m, "contract_ok", val_bool(a, c->contract_ok));
    if (c->timed) {
        val_set(a, m, "reference_ns", val_float(a, c->reference_ns));
        val_set(a, m, "ns", val_float(a, c->ns));
        val_set(a, m, "ratio", val_float(a, c->ratio));
        val_set(a, m, "ratio_low", val_float(a, c->low));
        val_set(a, m, "ratio_high", val_float(a, c->high));
    }
    if (c->memory_peak >= 0)
        val_set(a, m, "memory_peak", val_int(a, c->memory_peak));
    if (isfinite(c->memory_ratio))
        val_set(a, m, "memory_ratio", val_float(a, c->memory_ratio));
    return m;
}

static void set_context(struct select *s, struct arena *a, struct val *rec,
                        const struct candidate *c)
{
    set_span(a, rec, "device_class", c->device);
    set_span(a, rec, "protocol", c->protocol);
    val_set(a, rec, "profile", val_strz(a, s->o.profile));
}

static void copy(struct arena *a, struct val *to, const struct val *from,
                 const char *key)
{
    struct val *v = val_get(from, key);
    if (v && v->type != VAL_NIL)
        val_set(a, to, key, v);
}

static void set_flags(struct arena *a, struct val *step,
                      const struct candidate *c, const struct val *rec)
{
    struct val *flags = val_list(a);
    const struct val *seen = val_get(rec, "flags");
    for (size_t i = 0; i < val_len(seen); i++)
        val_push(a, flags, val_at(seen, i));
    if (c->first)
        val_push(a, flags, val_strz(a, "first_translation"));
    if (span_is(val_gets(rec, "replay"), "differs"))
        val_push(a, flags, val_strz(a, "replay_differs"));
    val_set(a, step, "flags", flags);
}

static void set_gain(struct arena *a, struct val *step,
                     const struct candidate *c)
{
    double half = 1.96 * c->gain_sigma;
    if (!c->has_gain)
        return;
    val_set(a, step, "gain", val_float(a, c->gain));
    val_set(a, step, "gain_low", val_float(a, c->gain - half));
    val_set(a, step, "gain_high", val_float(a, c->gain + half));
}

static const char *reason(const struct candidate *c, int mode)
{
    if (mode == MODE_RL)
        return "new best of its run";
    return c->first ? "first correct" : "faster than its parent";
}

/* The step of C, in MODE, sealed. */
static int make_step(struct select *s, struct arena *a, struct candidate *c,
                     int mode, struct val **out, struct err *e)
{
    struct val *rec = NULL, *parent = NULL, *step = rec_new(a, "step");
    struct decision d = c->decided[mode];
    if (d.code == ERR_NONE && c->up && c->rec.n + c->up->rec.n > MAX_BULK)
        d = (struct decision){ERR_TOO_LARGE, "with its parent"};
    bool kept = c->seen && d.code == ERR_NONE;
    if (c->seen && spill_get(&s->spill, c->rec, a, &rec, e) != 0)
        return -2;
    if (kept && c->up && spill_get(&s->spill, c->up->rec, a, &parent, e) != 0)
        return -2;
    val_set(a, step, "task", val_str(a, c->task));
    set_span(a, step, "run", c->run);
    val_set(a, step, "parent", c->up ? figures(a, c->up, parent) : val_nil(a));
    val_set(a, step, "child", figures(a, c, kept ? rec : NULL));
    set_span(a, step, "parent_program", c->parent);
    /* A verdict alone names no program; its revision keeps records apart. */
    val_set(a, step, "child_program", val_str(a, c->seen ? c->program : c->id));
    val_set(a, step, "mode", val_strz(a, mode_names[mode]));
    copy(a, step, rec, "language");
    if (kept) {
        copy(a, step, rec, "prompt");
        copy(a, step, rec, "reply");
    }
    copy(a, step, rec, "reply_kind");
    copy(a, step, rec, "replay");
    set_gain(a, step, c);
    if (c->seen && c->depth >= 0)
        val_set(a, step, "depth", val_int(a, c->depth));
    copy(a, step, rec, "iteration");
    set_flags(a, step, c, rec);
    set_context(s, a, step, c);
    if (kept)
        val_set(a, step, "select_reason", val_strz(a, reason(c, mode)));
    rec_seal(a, step);
    if (d.code != ERR_NONE)
        rec_fail(a, step, STAGE, d.code, d.note);
    *out = step;
    return 0;
}

int select_write_steps(struct select *s, struct emit *out, struct err *e)
{
    struct arena a = ARENA_INIT;
    struct val *step;
    int status = 0;
    for (size_t i = 0; i < s->all.n && status == 0; i++)
        for (int mode = 0; mode < MODES && status == 0; mode++) {
            if (!s->o.modes[mode])
                continue;
            arena_reset(&a);
            status = make_step(s, &a, s->all.v[i], mode, &step, e);
            if (status == 0)
                status = emit_rec(out, &a, step, e);
        }
    arena_release(&a);
    return status;
}

/* ---- groups ---- */

struct members {
    ARRAY(struct candidate *) list;
};

/* The first member that was measured, else the first. */
static struct candidate *leader(const struct members *m)
{
    for (size_t i = 0; i < m->list.n; i++)
        if (!m->list.v[i]->infrastructure && !m->list.v[i]->mixed)
            return m->list.v[i];
    return m->list.v[0];
}

/* Leave out what was measured elsewhere than the parent, or than the first
 * where that is the reference: a group never mixes devices or protocols.
 * Returns how many went; when all would go, all stay, and judge_group refuses
 * them. */
static size_t leave_out(const struct select *s, struct members *m)
{
    const struct candidate *lead = leader(m), *p = lead->up;
    struct span context =
        p && select_usable(s, p, NULL) ? p->context : lead->context;
    ARRAY(struct candidate *) kept = {0};
    for (size_t i = 0; i < m->list.n; i++) {
        struct candidate *c = m->list.v[i];
        if (!c->mixed && span_eq(c->judged_task, c->task) &&
            (c->infrastructure || span_eq(c->context, context)))
            array_push(&kept, c);
    }
    size_t gone = kept.n ? m->list.n - kept.n : 0;
    if (gone) {
        memcpy(m->list.v, kept.v, kept.n * sizeof(*kept.v));
        m->list.n = kept.n;
    }
    array_release(&kept);
    return gone;
}

/* Why the group cannot be used: ERR_NONE when it can. */
static struct decision judge_group(struct select *s, const struct members *m)
{
    struct candidate *c = leader(m), *p = c->up;
    const char *why = NULL;
    uint64_t bulk = p ? p->rec.n : 0;
    for (size_t i = 0; i < m->list.n; i++)
        bulk += m->list.v[i]->rec.n;
    if (c->parent.n > 0 && !p)
        return (struct decision){ERR_NO_PARENT,
                                 "the parent is not among the candidates"};
    bool usable = p && select_usable(s, p, &why);
    /* What a run starts from may be the reference itself (judge.c). */
    if (p && !usable && p->parent.n > 0)
        return (struct decision){ERR_NO_PARENT,
                                 arena_printf(&s->arena, "the parent %s", why)};
    if (c->mixed || !span_eq(c->judged_task, c->task) ||
        (usable && !span_eq(p->context, c->context)))
        return (struct decision){ERR_CONFLICT,
                                 "measured elsewhere than the parent"};
    if (bulk > MAX_BULK)
        return (struct decision){ERR_TOO_LARGE, NULL};
    return (struct decision){ERR_NONE, NULL};
}

static struct val *member(struct arena *a, const struct candidate *c,
                          struct val *rec)
{
    static const char *const keys[] = {"prompt", "reply",     "reply_kind",
                                       "replay", "iteration", "model"};
    struct val *m = figures(a, c, rec);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        copy(a, m, rec, keys[i]);
    val_set(a, m, "verdict", val_str(a, c->verdict));
    return m;
}

/* Are the prompts of all members the same? Then they go to the group. */
static bool share_prompt(struct arena *a, struct val *group, struct val *list)
{
    struct val *first = val_get(val_at(list, 0), "prompt");
    if (val_len(first) == 0)
        return false;
    for (size_t i = 1; i < val_len(list); i++)
        if (!val_equal(first, val_get(val_at(list, i), "prompt")))
            return false;
    for (size_t i = 0; i < val_len(list); i++)
        val_del(val_at(list, i), "prompt");
    val_set(a, group, "prompt", first);
    return true;
}

static int make_group(struct select *s, struct arena *a, struct members *m,
                      struct val **out, struct err *e)
{
    size_t gone = leave_out(s, m);
    struct candidate *c = leader(m), *p = c->up;
    struct decision d = judge_group(s, m);
    struct val *group = rec_new(a, "group"), *list = val_list(a), *rec = NULL;
    val_set(a, group, "task", val_str(a, c->task));
    set_span(a, group, "run", c->run);
    set_span(a, group, "parent_program", c->parent);
    if (d.code == ERR_NONE && p &&
        spill_get(&s->spill, p->rec, a, &rec, e) != 0)
        return -2;
    val_set(a, group, "parent", p ? figures(a, p, rec) : val_nil(a));
    val_set(a, group, "group_kind", val_strz(a, "same_parent"));
    if (rec)
        copy(a, group, rec, "language");
    for (size_t i = 0; i < m->list.n && d.code == ERR_NONE; i++) {
        if (spill_get(&s->spill, m->list.v[i]->rec, a, &rec, e) != 0)
            return -2;
        copy(a, group, rec, "language");
        val_push(a, list, member(a, m->list.v[i], rec));
    }
    if (share_prompt(a, group, list))
        val_set(a, group, "group_kind", val_strz(a, "same_prompt"));
    if (d.code == ERR_NONE)
        val_set(a, group, "children", list);
    val_set(a, group, "size", val_int(a, (int64_t)m->list.n));
    if (gone)
        val_set(a, group, "left_out", val_int(a, (int64_t)gone));
    set_context(s, a, group, c);
    rec_seal(a, group);
    if (d.code != ERR_NONE)
        rec_fail(a, group, STAGE, d.code, d.note);
    *out = group;
    return 0;
}

int select_write_groups(struct select *s, struct emit *out, struct err *e)
{
    struct map groups = MAP_INIT; /* in the order of their first members */
    struct arena a = ARENA_INIT;
    struct val *group;
    int status = 0;
    for (size_t i = 0; i < s->all.n; i++) {
        struct candidate *c = s->all.v[i];
        struct span key[] = {c->task, c->run, c->parent};
        if (!c->seen || !c->judged || c->depth < 0)
            continue;
        void **slot = map_ref(&groups, join_key(&s->arena, key, 3));
        if (!*slot)
            *slot = arena_zalloc(&s->arena, sizeof(struct members));
        struct members *m = *slot;
        array_push(&m->list, c);
    }
    for (size_t i = 0; i < groups.n; i++) {
        struct members *m = groups.entries[i].value;
        /* The program that a run starts from is no sample of a model. */
        bool seed = m->list.n == 1 && m->list.v[0]->parent.n == 0;
        arena_reset(&a);
        if (status == 0 && !seed) {
            status = make_group(s, &a, m, &group, e);
            if (status == 0)
                status = emit_rec(out, &a, group, e);
        }
        array_release(&m->list);
    }
    arena_release(&a);
    map_release(&groups);
    return status;
}
