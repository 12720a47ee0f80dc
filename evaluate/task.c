/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/task.h"

int tensor_parse(struct tensor *t, const struct val *v, struct err *e)
{
    const struct val *shape = val_get(v, "shape");
    size_t numel = 1;
    *t = (struct tensor){0};
    t->dtype = dtype_find(val_gets(v, "dtype"));
    if (t->dtype < 0) {
        char name[40];
        return err_set(e, ERR_PROTOCOL, "dtype '%s' is not supported",
                       mask_text(name, sizeof(name), val_gets(v, "dtype")));
    }
    if (!shape || shape->type != VAL_LIST || shape->list.n > KM_DIMS)
        return err_set(e, ERR_PROTOCOL, "shape is no list of at most %d",
                       KM_DIMS);
    t->ndim = (int)shape->list.n;
    for (int i = 0; i < t->ndim; i++) {
        int64_t d = val_as_int(shape->list.v[i], -1);
        if (d < 0 || __builtin_mul_overflow(numel, (size_t)d, &numel) ||
            numel > TASK_SLOT_MAX)
            return err_set(e, ERR_PROTOCOL, "shape is out of range");
        t->shape[i] = d;
    }
    t->numel = numel;
    t->bytes = numel * dtype_size(t->dtype);
    return 0;
}

bool tensor_equal(const struct tensor *a, const struct tensor *b)
{
    return a->dtype == b->dtype && a->ndim == b->ndim &&
           memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof(a->shape[0])) ==
               0;
}

struct val *tensor_val(struct arena *a, const struct tensor *t, int as)
{
    struct val *m = val_map(a), *shape = val_list(a);
    int dtype = as >= 0 && dtype_is_float(t->dtype) ? as : t->dtype;
    for (int i = 0; i < t->ndim; i++)
        val_push(a, shape, val_int(a, t->shape[i]));
    val_set(a, m, "shape", shape);
    val_set(a, m, "dtype", val_strz(a, dtype_name(dtype)));
    return m;
}

const char *tensor_text(struct arena *a, const struct tensor *t)
{
    char *s = arena_printf(a, "%s[", dtype_name(t->dtype));
    for (int i = 0; i < t->ndim; i++)
        s = arena_printf(a, "%s%s%" PRId64, s, i ? ", " : "", t->shape[i]);
    return arena_printf(a, "%s]", s);
}

/* ---- inputs ---- */

static int bad(struct err *e, const char *what)
{
    return err_set(e, ERR_BAD_TASK, "task: %s", what);
}

static int input_tensor(struct task *t, const struct val *v, bool mutates,
                        struct err *e)
{
    struct span dist = val_gets(v, "dist");
    struct input in = {.mutates = mutates, .lo = 0, .hi = 1};
    if (t->n_in == TASK_TENSORS)
        return bad(e, "more than 64 input tensors");
    if (tensor_parse(&in.t, v, e))
        return err_wrap(e, "task: input %zu", t->n_in);
    if (!dist.p)
        dist = span_str(in.t.dtype == KM_BOOL        ? "bool"
                        : dtype_is_float(in.t.dtype) ? "normal"
                                                     : "int");
    if (span_is(dist, "normal") || span_is(dist, "uniform")) {
        in.dist = span_is(dist, "normal") ? DIST_NORMAL : DIST_UNIFORM;
        if (!dtype_is_float(in.t.dtype))
            return bad(e, "normal or uniform input that is no float");
    } else if (span_is(dist, "int")) {
        in.dist = DIST_INT;
        if (in.t.dtype == KM_BOOL)
            return bad(e, "int input of dtype bool");
    } else if (span_is(dist, "bool")) {
        in.dist = DIST_BOOL;
    } else {
        return bad(e, "unknown distribution of an input");
    }
    in.lo = val_getf(v, "lo", in.lo);
    in.hi = val_getf(v, "hi", in.hi);
    in.p = val_getf(v, "p", 0.5);
    if (!(in.lo <= in.hi) || !(in.p >= 0 && in.p <= 1) ||
        (in.dist == DIST_INT && (in.lo < -0x1p53 || in.hi > 0x1p53)))
        return bad(e, "range of an input is empty");
    if (dtype_is_float(in.t.dtype) && in.dist != DIST_INT)
        t->any_float = true;
    else
        t->any_int = true;
    t->in[t->n_in++] = in;
    return 0;
}

/* Nested lists are bounded by the depth of a record. */
static int input_entry(struct task *t, struct arena *a, const struct val *v,
                       bool mutates, struct val **skeleton, struct err *e)
{
    struct span kind = val_gets(v, "kind");
    struct val *m = val_map(a);
    if (span_is(kind, "tensor")) {
        val_set(a, m, "t", val_int(a, (int64_t)t->n_in));
        if (input_tensor(t, v, mutates, e))
            return -1;
    } else if (span_is(kind, "list")) {
        const struct val *items = val_get(v, "items");
        struct val *l = val_list(a);
        for (size_t i = 0; i < val_len(items); i++) {
            struct val *s;
            if (input_entry(t, a, val_at(items, i), mutates, &s, e))
                return -1;
            val_push(a, l, s);
        }
        val_set(a, m, "l", l);
    } else if (span_is(kind, "none")) {
        val_set(a, m, "v", val_nil(a));
    } else if (span_is(kind, "int") || span_is(kind, "float") ||
               span_is(kind, "bool") || span_is(kind, "str")) {
        struct val *value = val_get(v, "value");
        if (!value)
            return bad(e, "an input has no value");
        /* JSON and other writers may have made 1 out of 1.0. */
        if (span_is(kind, "float") && value->type == VAL_INT)
            value = val_float(a, (double)value->i);
        val_set(a, m, "v", value);
    } else {
        return bad(e, "unknown kind of input");
    }
    *skeleton = m;
    return 0;
}

static bool in_list(const struct val *list, size_t i)
{
    for (size_t k = 0; k < val_len(list); k++)
        if (val_as_int(val_at(list, k), -1) == (int64_t)i)
            return true;
    return false;
}

static int outputs(struct task *t, struct arena *a, const struct val *list,
                   struct err *e)
{
    size_t n = val_len(list);
    if (n > TASK_TENSORS)
        return bad(e, "more than 64 outputs");
    t->out = arena_array(a, n ? n : 1, sizeof(*t->out));
    for (size_t i = 0; i < n; i++) {
        const struct val *v = val_at(list, i);
        struct output *o = &t->out[t->n_out++];
        struct span how = val_gets(v, "compare");
        if (tensor_parse(&o->t, v, e))
            return err_wrap(e, "task: output %zu", i);
        if (!how.p || span_is(how, "close"))
            o->compare = COMPARE_CLOSE;
        else if (span_is(how, "exact"))
            o->compare = COMPARE_EXACT;
        else if (span_is(how, "set"))
            o->compare = COMPARE_SET;
        else
            return bad(e, "unknown way to compare an output");
        if (!dtype_is_float(o->t.dtype) && o->compare == COMPARE_CLOSE)
            o->compare = COMPARE_EXACT;
        t->out_bytes += o->t.bytes;
    }
    return 0;
}

static size_t align_up(size_t n)
{
    return (n + 63) / 64 * 64;
}

static void add_result(struct task *t, struct result r)
{
    r.at = t->res_stride;
    t->res_stride += align_up(r.t->bytes);
    t->res[t->n_res++] = r;
}

static void results(struct task *t, struct arena *a)
{
    t->res = arena_array(a, t->n_in + t->n_out + 1, sizeof(*t->res));
    t->in_at = arena_array(a, t->n_in + 1, sizeof(*t->in_at));
    for (size_t i = 0; i < t->n_in; i++) {
        t->in_bytes += t->in[i].t.bytes;
        t->in_at[i] = t->in_stride;
        t->in_stride += align_up(t->in[i].t.bytes);
    }
    for (size_t i = 0; i < t->n_out; i++)
        add_result(
            t, (struct result){&t->out[i].t, t->out[i].compare, false, i, 0});
    for (size_t i = 0; i < t->n_in; i++)
        if (t->in[i].mutates)
            add_result(t, (struct result){&t->in[i].t,
                                          dtype_is_float(t->in[i].t.dtype)
                                              ? COMPARE_CLOSE
                                              : COMPARE_EXACT,
                                          true, i, 0});
}

static int as_bad_task(struct err *e)
{
    if (e)
        e->code = ERR_BAD_TASK;
    return -1;
}

int task_parse(struct task *t, struct arena *a, const struct val *rec,
               struct err *e)
{
    const struct val *inputs = val_get(rec, "inputs");
    const struct val *mutates = val_get(rec, "mutates");
    bool any_mutated = false;
    *t = (struct task){0};
    t->id = val_gets(rec, "id");
    t->source = val_gets(rec, "source");
    t->init = val_get(rec, "init");
    t->stochastic = val_getb(rec, "stochastic", false);
    if (!t->source.n)
        return bad(e, "no source");
    if (!inputs || inputs->type != VAL_LIST)
        return bad(e, "no inputs");
    if (!t->init)
        t->init = val_list(a);
    if (t->init->type != VAL_LIST)
        return bad(e, "init is no list");
    t->in = arena_array(a, TASK_TENSORS, sizeof(*t->in));
    t->skeleton = val_list(a);
    for (size_t i = 0; i < inputs->list.n; i++) {
        struct val *s;
        bool m = in_list(mutates, i);
        any_mutated |= m;
        if (input_entry(t, a, inputs->list.v[i], m, &s, e))
            return as_bad_task(e);
        val_push(a, t->skeleton, s);
    }
    if (outputs(t, a, val_get(rec, "outputs"), e))
        return as_bad_task(e);
    results(t, a);
    if (!t->n_out && !any_mutated)
        return bad(e, "no output and no written input: nothing to compare");
    if (!t->res_stride)
        return bad(e, "no output has an element: nothing to compare");
    if (t->in_bytes + t->out_bytes > TASK_SLOT_MAX)
        return bad(e, "inputs and outputs above 16 GiB");
    t->flops = (double)MAX(val_geti(rec, "flops", 0), (int64_t)0);
    t->necessary_bytes = val_geti(rec, "bytes", 0);
    if (t->necessary_bytes <= 0)
        t->necessary_bytes = (int64_t)(t->in_bytes + t->out_bytes);
    return 0;
}
