/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "export/filter.h"
#include "schema.h"

int filter_kinds(struct filter *f, const char *list)
{
    for (const char *p = list;; p++) {
        size_t n = strcspn(p, ",");
        struct span name = {p, n};
        if (n == 0)
            return -1;
        array_push(&f->kinds, name);
        p += n;
        if (!*p)
            return 0;
    }
}

int filter_states(struct filter *f, const char *list)
{
    static const char *const known[] = {"ok", "rejected", "failed"};
    for (const char *p = list;; p++) {
        size_t n = strcspn(p, ",");
        struct span name = {p, n};
        bool found = false;
        for (size_t i = 0; i < ARRAY_LEN(known); i++)
            found |= span_is(name, known[i]);
        if (!found)
            return -1;
        array_push(&f->states, name);
        p += n;
        if (!*p)
            return 0;
    }
}

int filter_where(struct filter *f, const char *condition)
{
    const char *eq = strchr(condition, '=');
    if (!eq || eq == condition)
        return -1;
    struct condition c = {
        xmemdup0((struct span){condition, (size_t)(eq - condition)}),
        span_str(eq + 1)};
    array_push(&f->where, c);
    return 0;
}

static bool number_equals(double d, struct span text)
{
    char *end, *copy = xmemdup0(text);
    double want = strtod(copy, &end);
    bool same = end != copy && *end == '\0' && want == d;
    free(copy);
    return same;
}

bool filter_equals(const struct val *v, struct span text)
{
    if (!v)
        return text.n == 0;
    switch (v->type) {
    case VAL_NIL:
        return text.n == 0;
    case VAL_BOOL:
        return span_is(text, v->b ? "true" : "false");
    case VAL_STR:
        return span_eq(v->s, text);
    case VAL_INT: {
        char digits[32];
        snprintf(digits, sizeof(digits), "%" PRId64, v->i);
        return span_is(text, digits);
    }
    case VAL_FLOAT:
        return number_equals(v->f, text);
    case VAL_LIST:
        for (size_t i = 0; i < val_len(v); i++)
            if (filter_equals(val_at(v, i), text))
                return true;
        return false;
    case VAL_MAP:
        return false;
    }
    return false;
}

static bool among(const struct span *list, size_t n, struct span s)
{
    for (size_t i = 0; i < n; i++)
        if (span_eq(list[i], s))
            return true;
    return n == 0;
}

bool filter_passes(const struct filter *f, const struct val *rec)
{
    if (!among(f->kinds.v, f->kinds.n, rec_kind(rec)) ||
        !among(f->states.v, f->states.n, val_gets(rec, "state")))
        return false;
    for (size_t i = 0; i < f->where.n; i++)
        if (!filter_equals(val_path(rec, f->where.v[i].field),
                           f->where.v[i].value))
            return false;
    return true;
}

void filter_release(struct filter *f)
{
    for (size_t i = 0; i < f->where.n; i++)
        free(f->where.v[i].field);
    array_release(&f->kinds);
    array_release(&f->states);
    array_release(&f->where);
}
