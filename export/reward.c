/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <math.h>

#include "export/reward.h"

/* As in the selection: noise is 2 % or three standard deviations. */
#define NOISE_FLOOR 0.02
#define NOISE_SIGMA 3.0

const char *const reward_names[REWARDS] = {"parent_speedup", "clipped", "log"};

static bool earns(const struct val *figures, const struct reward_options *o)
{
    double ratio = val_getf(figures, "ratio", NAN);
    return val_getb(figures, "correct", false) &&
           val_getb(figures, "honest", false) &&
           (o->ignore_contract || val_getb(figures, "contract_ok", true)) &&
           isfinite(ratio) && ratio > 0;
}

double reward_base(const struct val *parent, const struct reward_options *o,
                   bool *is_reference)
{
    *is_reference = !earns(parent, o);
    return *is_reference ? 1.0 : val_getf(parent, "ratio", 1.0);
}

struct sample sample_of(const struct val *child, double base,
                        const struct reward_options *o)
{
    struct sample s = {
        .valid = true, .speedup_parent = NAN, .speedup_ref = NAN};
    double ratio = val_getf(child, "ratio", NAN);
    double low = val_getf(child, "ratio_low", NAN);
    double high = val_getf(child, "ratio_high", NAN);
    bool good =
        val_getb(child, "correct", false) && val_getb(child, "honest", false);
    s.earns = earns(child, o);
    /* Judged well and yet not timed: not the candidate's fault. Nor are times
     * so far apart that no number holds their ratio. */
    s.valid = !span_is(val_gets(child, "outcome"), "infrastructure") &&
              (!good || isfinite(ratio / base));
    if (isfinite(ratio) && ratio > 0) {
        s.speedup_ref = ratio;
        s.speedup_parent = ratio / base;
    }
    if (low > 0 && high >= low)
        s.sigma = (log(high) - log(low)) / 2 / 1.96;
    return s;
}

double reward_of(const struct sample *s, enum reward_kind kind,
                 const struct reward_options *o)
{
    if (!s->earns)
        return kind == REWARD_LOG ? o->log_floor : 0.0;
    double v = s->speedup_parent;
    if (kind == REWARD_CLIPPED)
        return fmin(v, o->clip);
    return kind == REWARD_LOG ? fmax(log(v), o->log_floor) : v;
}

static const char *degenerate(const struct sample *samples, size_t n,
                              const struct group_stats *g)
{
    double low = INFINITY, high = -INFINITY, sigma = 0;
    size_t earning = 0;
    if (g->n_valid < 2)
        return "singleton";
    for (size_t i = 0; i < n; i++) {
        if (!samples[i].valid || !samples[i].earns)
            continue;
        earning++;
        low = fmin(low, log(samples[i].speedup_ref));
        high = fmax(high, log(samples[i].speedup_ref));
        sigma = fmax(sigma, samples[i].sigma);
    }
    if (earning == 0)
        return "all_fail";
    if (g->std == 0)
        return "all_equal";
    double noise = fmax(log1p(NOISE_FLOOR), NOISE_SIGMA * M_SQRT2 * sigma);
    return earning == g->n_valid && high - low <= noise ? "within_noise" : "";
}

void group_stats(struct group_stats *out, const struct sample *samples,
                 size_t n, const struct reward_options *o)
{
    double sum = 0, squares = 0;
    *out = (struct group_stats){.n = n, .mean = NAN, .std = NAN};
    for (size_t i = 0; i < n; i++)
        if (samples[i].valid) {
            out->n_valid++;
            sum += reward_of(&samples[i], o->kind, o);
        }
    if (out->n_valid > 0)
        out->mean = sum / (double)out->n_valid;
    for (size_t i = 0; i < n; i++)
        if (samples[i].valid) {
            double d = reward_of(&samples[i], o->kind, o) - out->mean;
            squares += d * d;
        }
    if (out->n_valid > 1)
        out->std = sqrt(squares / (double)(out->n_valid - 1));
    out->degenerate = degenerate(samples, n, out);
}

double advantage(const struct group_stats *g, double reward)
{
    if (!isfinite(g->std))
        return 0;
    return (reward - g->mean) / (g->std + ADVANTAGE_EPS);
}
