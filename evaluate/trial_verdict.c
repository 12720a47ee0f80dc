/* SPDX-License-Identifier: MIT */
/* What a trial found, as fields of a verdict record (docs/records.md). */
#include "base.h"

#include "evaluate/trial.h"

#include <math.h>

static struct val *passes(struct arena *a, const struct compared *c)
{
    struct val *m = val_map(a);
    for (int j = 0; j < J_COUNT; j++)
        val_set(a, m, judgement_names[j],
                val_bool(a, compared_pass(c, (enum judgement)j)));
    return m;
}

static struct val *ulps(struct arena *a, const struct compared *c)
{
    struct val *l = val_list(a);
    size_t n = ULP_BINS;
    while (n && !c->ulp[n - 1])
        n--;
    for (size_t i = 0; i < n; i++)
        val_push(a, l, val_int(a, (int64_t)c->ulp[i]));
    return l;
}

static struct val *cell_val(struct arena *a, const char *config, int mode,
                            const struct cell *c)
{
    struct val *m = val_map(a);
    double n = (double)c->c.elements;
    val_set(a, m, "config", val_strz(a, config));
    val_set(a, m, "mode", val_strz(a, mode == MODE_TRAIN ? "train" : "eval"));
    val_set(a, m, "tested", val_bool(a, c->tested));
    val_set(a, m, "why_not",
            c->tested
                ? val_nil(a)
                : val_strz(a, c->why_not && c->why_not[0] ? c->why_not
                                                          : "not reached"));
    if (!c->tested)
        return m;
    val_set(a, m, "slots", val_int(a, (int64_t)c->c.slots));
    val_set(a, m, "pass", passes(a, &c->c));
    val_set(a, m, "max_abs", val_float(a, c->c.max_abs));
    val_set(a, m, "max_rel", val_float(a, c->c.max_rel));
    val_set(a, m, "rms", val_float(a, n > 0 ? sqrt(c->c.sum_sq / n) : 0));
    val_set(a, m, "outside",
            val_float(a, n > 0 ? (double)c->c.outside[J_STRICT] / n : 1));
    val_set(a, m, "nan", val_int(a, (int64_t)c->c.nan));
    val_set(a, m, "inf", val_int(a, (int64_t)c->c.inf));
    val_set(a, m, "ulp", ulps(a, &c->c));
    return m;
}

static struct val *correct(const struct trial *t)
{
    struct arena *a = t->a;
    struct val *l = val_list(a);
    for (int i = 0; i < CONFIG_COUNT; i++)
        val_push(
            a, l,
            cell_val(a, configs[i].name, MODE_EVAL, &t->cells[i][MODE_EVAL]));
    val_push(a, l,
             cell_val(a, configs[CONFIG_D1].name, MODE_TRAIN,
                      &t->cells[CONFIG_D1][MODE_TRAIN]));
    return l;
}

static struct val *time_val(const struct trial *t)
{
    struct arena *a = t->a;
    struct val *m;
    const struct ratio *r = &t->ratio;
    if (!t->timed)
        return val_nil(a);
    m = val_map(a);
    val_set(
        a, m, "method",
        val_strz(a, t->ref->f32.ops->captures && !t->eager ? "graph" : "ring"));
    val_set(a, m, "eager", val_strz(a, t->eager));
    val_set(a, m, "reference_ns", val_float(a, r->reference_ns));
    val_set(a, m, "candidate_ns", val_float(a, r->candidate_ns));
    val_set(a, m, "ratio", val_float(a, r->ratio));
    val_set(a, m, "ratio_low", val_float(a, r->low));
    val_set(a, m, "ratio_high", val_float(a, r->high));
    val_set(a, m, "pairs", val_int(a, (int64_t)r->used));
    val_set(a, m, "dropped", val_int(a, (int64_t)r->dropped));
    val_set(a, m, "placements", val_int(a, (int64_t)r->placements));
    val_set(a, m, "slots", val_int(a, (int64_t)t->ref->slots));
    val_set(a, m, "reference_spread", val_float(a, r->reference_spread));
    val_set(a, m, "candidate_spread", val_float(a, r->candidate_spread));
    val_set(a, m, "stop", val_strz(a, t->stop));
    val_set(a, m, "chained", val_bool(a, t->chained));
    val_set(a, m, "no_chain", val_strz(a, t->no_chain));
    val_set(a, m, "remeasured", val_bool(a, t->remeasured));
    val_set(a, m, "alone_ns", val_float(a, t->alone_ns));
    return m;
}

static struct val *figures(struct arena *a, const struct memory_figures *f)
{
    struct val *m = val_map(a);
    val_set(a, m, "resident", val_int(a, f->resident));
    val_set(a, m, "peak", val_int(a, f->peak));
    val_set(a, m, "first_peak", val_int(a, f->first_peak));
    val_set(a, m, "steady", val_int(a, f->steady));
    return m;
}

static struct val *memory_val(const struct trial *t)
{
    struct arena *a = t->a;
    struct val *m;
    if (!t->has_memory)
        return val_nil(a);
    m = val_map(a);
    val_set(a, m, "reference", figures(a, &t->ref->memory));
    val_set(a, m, "candidate", figures(a, &t->memory));
    val_set(a, m, "ratio",
            t->memory.peak > 0 ? val_float(a, (double)t->ref->memory.peak /
                                                  (double)t->memory.peak)
                               : val_nil(a));
    return m;
}

/* A candidate that never answered passes nothing; one that was stopped passes
 * what it passed before only if no cheat was seen. */
static struct val *pass_val(const struct trial *t)
{
    struct arena *a = t->a;
    struct val *m = val_map(a);
    bool void_ = t->outcome != OUTCOME_OK && t->outcome != OUTCOME_WRONG;
    for (int j = 0; j < J_COUNT; j++)
        val_set(a, m, judgement_names[j],
                val_bool(a, !void_ && trial_pass(t, (enum judgement)j)));
    return m;
}

struct val *trial_verdict(const struct trial *t)
{
    struct arena *a = t->a;
    struct val *m = val_map(a), *d;
    val_set(a, m, "outcome", val_strz(a, outcome_name(t->outcome)));
    val_set(a, m, "ran", val_bool(a, t->ran));
    val_set(a, m, "pass", pass_val(t));
    val_set(a, m, "correct", correct(t));
    val_set(a, m, "findings", t->findings);
    val_set(a, m, "time", time_val(t));
    val_set(a, m, "memory", memory_val(t));
    d = val_map(a);
    val_set(a, d, "where", val_strz(a, t->where));
    val_set(a, d, "class", val_strz(a, t->cls));
    val_set(a, d, "message", val_strz(a, t->message));
    val_set(a, d, "line", t->line > 0 ? val_int(a, t->line) : val_nil(a));
    val_set(a, m, "detail", d);
    d = val_map(a);
    val_set(a, d, "tf32", val_bool(a, t->ref->task.tf32));
    val_set(a, d, "float64", val_bool(a, t->ref->has_f64));
    val_set(a, d, "no_float64",
            t->ref->has_f64 ? val_nil(a) : val_strz(a, t->ref->no_f64));
    val_set(a, m, "reference", d);
    val_set(a, m, "kernels", trial_contract(t));
    return m;
}
