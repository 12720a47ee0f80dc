/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/feedback.h"

#include "evaluate/outcome.h"

#include <ctype.h>

#define TEXT_MAX 4096

/* S without values: every number that has a fraction or an exponent is "#". */
static struct span hide_values(struct arena *a, struct span s)
{
    char *out = arena_alloc(a, s.n + 1);
    size_t n = 0, i = 0;

    while (i < s.n && n < TEXT_MAX) {
        size_t end = i;
        bool value = false;
        if (!isdigit((unsigned char)s.p[i]) ||
            (i > 0 &&
             (isalnum((unsigned char)s.p[i - 1]) || s.p[i - 1] == '_'))) {
            out[n++] = s.p[i++];
            continue;
        }
        while (end < s.n &&
               (isalnum((unsigned char)s.p[end]) || s.p[end] == '.' ||
                ((s.p[end] == '-' || s.p[end] == '+') &&
                 (s.p[end - 1] == 'e' || s.p[end - 1] == 'E'))))
            end++;
        for (size_t k = i; k + 1 < end; k++)
            value |= (s.p[k] == '.' && isdigit((unsigned char)s.p[k + 1])) ||
                     s.p[k] == 'e' || s.p[k] == 'E';
        if (value) {
            out[n++] = '#';
            i = end;
        }
        while (i < end && n < TEXT_MAX)
            out[n++] = s.p[i++];
    }
    return (struct span){out, n};
}

/* What failed among the cells, from what is told first. */
struct failed {
    bool d1, others, d7, train, nan;
    double worst; /* share of elements outside */
};

static struct failed look(const struct val *cells)
{
    struct failed f = {0};

    for (size_t i = 0; i < val_len(cells); i++) {
        const struct val *c = val_at(cells, i);
        struct span config = val_gets(c, "config");
        if (!val_getb(c, "tested", false) ||
            val_getb(val_get(c, "pass"), "strict", true))
            continue;
        if (span_is(val_gets(c, "mode"), "train"))
            f.train = true;
        else if (span_is(config, "D1"))
            f.d1 = true;
        else if (span_is(config, "D7"))
            f.d7 = true;
        else
            f.others = true;
        f.nan |= val_geti(c, "nan", 0) > 0;
        f.worst = MAX(f.worst, val_getf(c, "outside", 0));
    }
    return f;
}

static struct val *wrong_text(struct arena *a, const struct val *v,
                              enum feedback_level level)
{
    struct failed f = look(val_get(v, "correct"));
    struct span message = val_gets(val_get(v, "detail"), "message");
    const char *where = f.d1 ? "results differ from the reference on ordinary "
                               "inputs"
                        : f.others ? "right on ordinary inputs, but not on "
                                     "inputs of other scale, sign or structure"
                        : f.d7 ? "right until the parameters are changed after "
                                 "construction"
                        : f.train ? "right in eval mode, but not in train mode"
                                  : "results differ from the reference";

    if (level < FEEDBACK_PLACE)
        return val_strz(a, "Wrong.");
    if (message.n)
        return val_strf(a, "Wrong: %.*s.", (int)message.n, message.p);
    if (level < FEEDBACK_FIGURES)
        return val_strf(a, "Wrong: %s%s.", where,
                        f.nan ? " (NaN among them)" : "");
    return val_strf(a,
                    "Wrong: %s%s; up to %.1f %% of the elements are outside "
                    "the tolerance.",
                    where, f.nan ? " (NaN among them)" : "", 100 * f.worst);
}

static struct val *error_text(struct arena *a, const char *what,
                              const struct val *v, enum feedback_level level)
{
    const struct val *d = val_get(v, "detail");
    struct span cls = val_gets(d, "class");
    struct span msg = hide_values(a, val_gets(d, "message"));
    int64_t line = val_geti(d, "line", 0);
    char at[40] = "";

    if (level < FEEDBACK_PLACE || (level < FEEDBACK_TEXTS && !cls.n && !line))
        return val_strf(a, "%s.", what);
    if (level < FEEDBACK_TEXTS)
        msg.n = 0;
    if (line > 0)
        snprintf(at, sizeof(at), " (line %" PRId64 ")", line);
    return val_strf(a, "%s%s%s%.*s%s%.*s.", what, at,
                    cls.n || msg.n ? ": " : "", (int)cls.n, cls.p ? cls.p : "",
                    cls.n && msg.n ? ": " : "", (int)msg.n, msg.p ? msg.p : "");
}

static struct val *ok_text(struct arena *a, const struct val *v,
                           enum feedback_level level)
{
    const struct val *t = val_get(v, "time");

    if (level < FEEDBACK_FIGURES || !t || t->type != VAL_MAP)
        return val_strz(a, "Correct.");
    return val_strf(a,
                    "Correct. %.2f times as fast as the reference (%.2f to "
                    "%.2f).",
                    val_getf(t, "ratio", 0), val_getf(t, "ratio_low", 0),
                    val_getf(t, "ratio_high", 0));
}

struct val *feedback(struct arena *a, const struct val *v,
                     enum feedback_level level)
{
    struct span msg = val_gets(val_get(v, "detail"), "message");

    switch (outcome_find(val_gets(v, "outcome"))) {
    case OUTCOME_OK:
        return ok_text(a, v, level);
    case OUTCOME_WRONG:
        return wrong_text(a, v, level);
    case OUTCOME_BUILD_FAILED:
        return error_text(a, "It does not compile", v, level);
    case OUTCOME_LOAD_FAILED:
        return error_text(a, "It cannot be loaded", v, level);
    case OUTCOME_RUNTIME_ERROR:
        return error_text(a, "Forward raises", v, level);
    case OUTCOME_TIMEOUT:
        return val_strz(a, "It takes too long.");
    case OUTCOME_CRASH:
        return error_text(a, "It crashes", v, level);
    case OUTCOME_MEMORY:
        return val_strz(a, "It needs too much memory.");
    case OUTCOME_PROTOCOL:
        return error_text(a, "It left or disturbed its process", v, level);
    case OUTCOME_CHEAT:
    case OUTCOME_REJECTED:
        if (level < FEEDBACK_PLACE)
            return val_strz(a, "Rejected.");
        return val_strf(a, "Rejected: %.*s.", (int)msg.n, msg.p ? msg.p : "");
    default:
        return val_nil(a);
    }
}
