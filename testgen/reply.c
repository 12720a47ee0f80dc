/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <math.h>

#include "testgen/reply.h"

#define MAX_RANK  64
#define MAX_ITEMS 4096
#define MAX_TEXT  200
#define MAX_DEPTH 8
#define MAX_CPU_S 1e6

typedef bool check(const struct val *v);

static bool is_flag(const struct val *v)
{
    return v->type == VAL_BOOL;
}

static bool is_text(const struct val *v)
{
    return v->type == VAL_STR;
}

static bool is_name(const struct val *v)
{
    return v->type == VAL_STR && v->s.n <= MAX_TEXT;
}

static bool is_number(const struct val *v)
{
    return v->type == VAL_INT || v->type == VAL_FLOAT;
}

static bool is_count(const struct val *v)
{
    return v->type == VAL_INT && v->i >= 0 && v->i <= REPLY_MAX;
}

static bool is_time(const struct val *v)
{
    double s = v->type == VAL_FLOAT ? v->f : v->type == VAL_INT ? v->i : -1;
    return isfinite(s) && s >= 0 && s <= MAX_CPU_S;
}

static bool each(const struct val *v, check *of, size_t most)
{
    if (v->type != VAL_LIST || v->list.n > most)
        return false;
    for (size_t i = 0; i < v->list.n; i++)
        if (!of(v->list.v[i]))
            return false;
    return true;
}

static bool is_counts(const struct val *v)
{
    return each(v, is_count, MAX_ITEMS);
}

static bool is_items(const struct val *v)
{
    return each(v, is_counts, MAX_ITEMS);
}

static bool is_names(const struct val *v)
{
    return each(v, is_text, MAX_ITEMS);
}

static bool is_shape(const struct val *v)
{
    return each(v, is_count, MAX_RANK);
}

/* 16 hex digits */
static bool is_hash(const struct val *v)
{
    if (v->type != VAL_STR || v->s.n != 16)
        return false;
    for (size_t i = 0; i < v->s.n; i++)
        if (!memchr("0123456789abcdef", v->s.p[i], 16))
            return false;
    return true;
}

static bool is_ops(const struct val *v)
{
    if (v->type != VAL_MAP || v->map.n > MAX_ITEMS)
        return false;
    for (size_t i = 0; i < v->map.n; i++)
        if (!is_count(v->map.v[i]) || v->map.v[i]->i == 0)
            return false;
    return true;
}

static bool is_limits(const struct val *v)
{
    if (v->type != VAL_MAP)
        return false;
    for (size_t i = 0; i < v->map.n; i++)
        if (!is_count(v->map.v[i]))
            return false;
    return true;
}

/* {shape, dtype} */
static bool is_output(const struct val *v)
{
    const struct val *shape = val_get(v, "shape"), *dtype = val_get(v, "dtype");
    return shape && dtype && val_len(v) == 2 && is_shape(shape) &&
           is_name(dtype);
}

static bool is_outputs(const struct val *v)
{
    return each(v, is_output, MAX_ITEMS);
}

struct field {
    const char *key;
    check *form;
};

static bool fields_sound(const struct val *map, const struct field *fields,
                         size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct val *v = val_get(map, fields[i].key);
        if (v && !fields[i].form(v))
            return false;
    }
    return true;
}

/* What a reply to OP has in any case, unless it is a failure. */
static bool is_complete(const struct val *reply, struct span op)
{
    static const struct {
        const char *op, *keys[12];
    } table[] = {
        {"try", {"outs", "limits"}},
        {"measure",
         {"flops", "moved", "kernels", "largest", "bytes", "slot", "parameters",
          "unordered", "ops", "graph"}},
        {"shapes",
         {"flops", "moved", "kernels", "largest", "bytes", "slot", "parameters",
          "unordered", "ops", "outs", "limits"}},
        {"examine",
         {"flops", "moved", "kernels", "bytes", "parameters", "unordered",
          "ops", "outs", "inputs", "mutates", "held"}},
        {"gate",
         {"uninitialised", "deterministic", "seeded", "hidden", "finite",
          "identity", "mutates"}},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        for (size_t k = 0; span_is(op, table[i].op) && table[i].keys[k]; k++)
            if (!val_get(reply, table[i].keys[k]))
                return false;
    return true;
}

bool reply_sound(const struct val *reply, struct span op)
{
    static const struct field fields[] = {
        {"bytes", is_count},        {"constant", is_counts},
        {"cpu", is_time},           {"deterministic", is_flag},
        {"deviation", is_number},   {"finite", is_flag},
        {"flops", is_count},        {"graph", is_hash},
        {"held", is_count},         {"hidden", is_text},
        {"identity", is_flag},      {"kernels", is_count},
        {"largest", is_count},      {"limits", is_limits},
        {"moved", is_count},        {"mutates", is_counts},
        {"outs", is_outputs},       {"parameters", is_count},
        {"relative", is_number},    {"scalar", is_flag},
        {"seeded", is_flag},        {"sized", is_flag},
        {"slot", is_count},         {"spread", is_number},
        {"train", is_text},         {"uninitialised", is_names},
        {"unordered", is_counts},   {"unused_inputs", is_counts},
        {"unused_items", is_items}, {"unused_parameters", is_names},
    };
    const struct val *ok = val_get(reply, "ok"), *ops = val_get(reply, "ops");
    if (!ok || !is_flag(ok) || !fields_sound(reply, fields, ARRAY_LEN(fields)))
        return false;
    /* calls so far, or operators by name */
    if (ops && !is_count(ops) && !is_ops(ops))
        return false;
    if (val_get(reply, "flops") && ops && !is_ops(ops))
        return false;
    return val_as_bool(ok, false)
               ? is_complete(reply, op)
               : (val_gets(reply, "where").n && val_gets(reply, "class").n);
}

static bool inputs_sound(const struct val *list, int depth)
{
    static const struct field fields[] = {
        {"kind", is_name},      {"name", is_name},  {"shape", is_shape},
        {"dtype", is_name},     {"dist", is_name},  {"lo", is_number},
        {"hi", is_number},      {"made", is_names}, {"known", is_flag},
        {"structure", is_name},
    };
    if (!list || list->type != VAL_LIST || list->list.n > MAX_ITEMS ||
        depth > MAX_DEPTH)
        return false;
    for (size_t i = 0; i < list->list.n; i++) {
        const struct val *v = list->list.v[i], *items = val_get(v, "items");
        struct span kind = val_gets(v, "kind");
        if (!kind.p || !fields_sound(v, fields, ARRAY_LEN(fields)))
            return false;
        if (span_is(kind, "tensor") &&
            (!val_get(v, "shape") || !val_get(v, "dtype")))
            return false;
        if (span_is(kind, "list") ? !inputs_sound(items, depth + 1)
                                  : items != NULL)
            return false;
    }
    return true;
}

bool reply_inputs_sound(const struct val *list)
{
    return inputs_sound(list, 0);
}

bool reply_mutates_sound(const struct val *mutates, size_t n)
{
    for (size_t i = 0; i < val_len(mutates); i++)
        if ((uint64_t)val_as_int(val_at(mutates, i), -1) >= n)
            return false;
    return true;
}
