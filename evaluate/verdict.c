/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/verdict.h"

/* ---- feedback ---- */

/* Text for the model that wrote the candidate. It names the class of a failure
 * and shapes; no seed, no value, no expected output, and not which hidden
 * inputs failed beyond what their kind must tell. */
static struct val *wrong_text(struct arena *a, const struct val *v)
{
    const struct val *cells = val_get(v, "correct");
    struct span message = val_gets(val_get(v, "detail"), "message");
    bool d1 = true, others = true, train = true, d7 = true, nan = false;
    double worst = 0;
    if (message.n)
        return val_strf(a, "Wrong: %.*s.", (int)message.n, message.p);
    for (size_t i = 0; i < val_len(cells); i++) {
        const struct val *c = val_at(cells, i);
        bool ok = val_getb(val_get(c, "pass"), "strict", true);
        if (!val_getb(c, "tested", false) || ok)
            continue;
        if (span_is(val_gets(c, "mode"), "train"))
            train = false;
        else if (span_is(val_gets(c, "config"), "D1"))
            d1 = false;
        else if (span_is(val_gets(c, "config"), "D7"))
            d7 = false;
        else
            others = false;
        nan |= val_geti(c, "nan", 0) > 0;
        worst = MAX(worst, val_getf(c, "outside", 0));
    }
    return val_strf(
        a,
        "Wrong: %s%s; up to %.1f %% of the elements are outside the "
        "tolerance.",
        !d1       ? "results differ from the reference on ordinary inputs"
        : !others ? "right on ordinary inputs, but not on inputs of other "
                    "scale, sign or structure"
        : !d7     ? "right until the parameters are changed after construction"
        : !train  ? "right in eval mode, but not in train mode"
                  : "results differ from the reference",
        nan ? " (NaN among them)" : "", 100 * worst);
}

static struct val *error_text(struct arena *a, const char *what,
                              const struct val *v)
{
    const struct val *d = val_get(v, "detail");
    struct span cls = val_gets(d, "class"), msg = val_gets(d, "message");
    int64_t line = val_geti(d, "line", 0);
    char at[40] = "";
    if (line > 0)
        snprintf(at, sizeof(at), " (line %" PRId64 ")", line);
    return val_strf(a, "%s%s: %.*s%s%.*s.", what, at, (int)cls.n,
                    cls.p ? cls.p : "", cls.n && msg.n ? ": " : "", (int)msg.n,
                    msg.p ? msg.p : "");
}

static struct val *ok_text(struct arena *a, const struct val *v)
{
    const struct val *t = val_get(v, "time");
    double r = val_getf(t, "ratio", 0);
    if (!t || t->type != VAL_MAP)
        return val_strz(a, "Correct.");
    return val_strf(a,
                    "Correct. %.2f times as fast as the reference (%.2f to "
                    "%.2f).",
                    r, val_getf(t, "ratio_low", 0),
                    val_getf(t, "ratio_high", 0));
}

static struct val *feedback(struct arena *a, const struct val *v)
{
    struct span msg = val_gets(val_get(v, "detail"), "message");
    switch (outcome_find(val_gets(v, "outcome"))) {
    case OUTCOME_OK:
        return ok_text(a, v);
    case OUTCOME_WRONG:
        return wrong_text(a, v);
    case OUTCOME_BUILD_FAILED:
        return error_text(a, "It does not compile", v);
    case OUTCOME_LOAD_FAILED:
        return error_text(a, "It cannot be loaded", v);
    case OUTCOME_RUNTIME_ERROR:
        return error_text(a, "Forward raises", v);
    case OUTCOME_TIMEOUT:
        return val_strz(a, "It takes too long.");
    case OUTCOME_CRASH:
        return error_text(a, "It crashes", v);
    case OUTCOME_MEMORY:
        return val_strz(a, "It needs too much memory.");
    case OUTCOME_PROTOCOL:
        return error_text(a, "It left or disturbed its process", v);
    case OUTCOME_CHEAT:
    case OUTCOME_REJECTED:
        return val_strf(a, "Rejected: %.*s.", (int)msg.n, msg.p ? msg.p : "");
    default:
        return val_nil(a);
    }
}

/* ---- records ---- */

static struct val *fresh(struct arena *a, const struct verdict_parts *p)
{
    struct val *v = rec_new(a, "verdict");
    val_set(a, v, "task", val_str(a, val_gets(p->revision, "task")));
    val_set(a, v, "revision", val_str(a, rec_id(p->revision)));
    val_set(a, v, "against", val_strz(a, "reference"));
    val_set(a, v, "protocol", val_strz(a, PROTOCOL_VERSION));
    val_set(a, v, "device_class", val_strz(a, p->device_class));
    val_set(a, v, "options", p->options);
    return v;
}

static struct val *no_pass(struct arena *a, bool known)
{
    struct val *m = val_map(a);
    static const char *const names[] = {"kernelbench", "kbv", "strict"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        val_set(a, m, names[i], known ? val_bool(a, false) : val_nil(a));
    return m;
}

static struct val *all_findings(struct arena *a, const struct verdict_parts *p)
{
    struct val *l = val_list(a);
    const struct val *dynamic = val_get(p->judged, "findings");
    for (size_t i = 0; i < val_len(p->static_findings); i++)
        val_push(a, l, val_at(p->static_findings, i));
    for (size_t i = 0; i < val_len(dynamic); i++)
        val_push(a, l, val_at(dynamic, i));
    return l;
}

static void take(struct arena *a, struct val *v, const struct val *from,
                 const char *key)
{
    struct val *x = val_get(from, key);
    val_set(a, v, key, x ? x : val_nil(a));
}

struct val *verdict_new(struct arena *a, const struct verdict_parts *p)
{
    struct val *v = fresh(a, p), *d;
    const struct val *j = p->judged;
    struct val *findings = all_findings(a, p);

    val_set(a, v, "outcome",
            j ? val_get(j, "outcome") : val_strz(a, outcome_name(p->outcome)));
    val_set(a, v, "built",
            p->built < 0 ? val_nil(a) : val_bool(a, p->built != 0));
    val_set(a, v, "ran", val_bool(a, val_getb(j, "ran", false)));
    val_set(a, v, "pass", j ? val_get(j, "pass") : no_pass(a, true));
    take(a, v, j, "correct");
    val_set(a, v, "honest", val_bool(a, !finding_any(findings, GRADE_FORBID)));
    val_set(a, v, "findings", findings);
    val_set(a, v, "contract", p->contract ? p->contract : val_nil(a));
    take(a, v, j, "time");
    take(a, v, j, "memory");
    val_set(a, v, "device", p->device ? p->device : val_nil(a));
    d = val_get(j, "detail");
    if (!d) {
        d = val_map(a);
        val_set(a, d, "message", val_strz(a, p->message));
    }
    val_set(a, v, "detail", d);
    take(a, v, j, "reference");
    val_set(a, v, "feedback", feedback(a, v));
    return v;
}

struct val *verdict_failed(struct arena *a, const struct verdict_parts *p,
                           enum err_code code, const char *note)
{
    struct val *v = fresh(a, p);
    val_set(a, v, "outcome", val_strz(a, outcome_name(OUTCOME_INFRASTRUCTURE)));
    val_set(a, v, "pass", no_pass(a, false));
    val_set(a, v, "honest", val_nil(a));
    rec_fail(a, v, "evaluate", code, note);
    return v;
}

static const char *const own[] = {"kind",     "id",           "task",
                                  "revision", "against",      "protocol",
                                  "options",  "device_class", NULL};

static bool is_own(struct span key)
{
    for (int i = 0; own[i]; i++)
        if (span_is(key, own[i]))
            return true;
    return false;
}

struct val *verdict_body(struct arena *a, const struct val *verdict)
{
    struct val *m = val_map(a);
    for (uint32_t i = 0; i < verdict->map.n; i++)
        if (!is_own(verdict->map.keys[i]))
            val_set(a, m, verdict->map.keys[i].p, verdict->map.v[i]);
    return m;
}

struct val *verdict_from_body(struct arena *a, const struct verdict_parts *p,
                              const struct val *body)
{
    struct val *v = fresh(a, p);
    for (size_t i = 0; i < val_len(body); i++)
        val_set(a, v, arena_strdup(a, body->map.keys[i]), body->map.v[i]);
    return v;
}

struct val *verdict_read_body(struct arena *a, struct span bytes)
{
    static const char *const named[] = {"task", "revision", "protocol",
                                        "device_class"};
    struct val *body, *v = rec_new(a, "verdict");
    size_t used;

    if (val_unpack(a, bytes, &used, &body, NULL) || body->type != VAL_MAP)
        return NULL;
    body = val_copy(a, body);
    for (size_t i = 0; i < ARRAY_LEN(named); i++)
        val_set(a, v, named[i], val_strz(a, ""));
    for (uint32_t i = 0; i < body->map.n; i++)
        val_set(a, v, arena_strdup(a, body->map.keys[i]), body->map.v[i]);
    return schema_check(a, v, NULL) || !rec_ok(v) ? NULL : body;
}
