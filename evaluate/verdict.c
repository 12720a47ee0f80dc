/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/verdict.h"

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

/* What the source says, and which kernels ran. */
static struct val *contract(struct arena *a, const struct verdict_parts *p)
{
    static const char *const fields[] = {"library_share", "kernels"};
    const struct val *ran = val_get(p->judged, "kernels"), *codes;
    struct val *m, *all = val_list(a);

    if (!p->contract)
        return val_nil(a);
    m = val_copy(a, p->contract);
    codes = val_get(p->contract, "codes");
    for (size_t i = 0; i < val_len(codes); i++)
        val_push(a, all, val_at(codes, i));
    if (val_getb(ran, "same_kernels", false))
        val_push(a, all, val_strz(a, "same_kernels"));
    val_set(a, m, "codes", all);
    if (val_gets(ran, "grade").n)
        val_set(a, m, "grade", val_get(ran, "grade"));
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        val_set(a, m, fields[i],
                val_get(ran, fields[i]) ? val_get(ran, fields[i]) : val_nil(a));
    return m;
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
    val_set(a, v, "contract", contract(a, p));
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
    val_set(a, v, "feedback", feedback(a, v, p->feedback));
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

static const char *const own[] = {
    "kind",     "id",      "task",         "revision", "against",
    "protocol", "options", "device_class", "feedback", NULL};

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
    val_set(a, v, "feedback", feedback(a, v, p->feedback));
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
