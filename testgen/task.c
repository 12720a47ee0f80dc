/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "schema.h"
#include "testgen/ops.h"
#include "testgen/task.h"

static const char *difficulty_of(int64_t kernels)
{
    return kernels <= 1    ? "one"
           : kernels <= 6  ? "few"
           : kernels <= 60 ? "block"
                           : "network";
}

static bool in_list(const struct val *list, size_t i)
{
    for (size_t k = 0; k < val_len(list); k++)
        if (val_as_int(val_at(list, k), -1) == (int64_t)i)
            return true;
    return false;
}

/* COUNTED: figures of a forward, which tell what has no order. */
static struct val *outputs_of(struct arena *a, const struct val *outs,
                              const struct val *counted)
{
    const struct val *unordered = val_get(counted, "unordered");
    struct val *l = val_list(a);
    for (size_t i = 0; i < val_len(outs); i++) {
        struct val *o = val_copy(a, val_at(outs, i));
        if (o->type != VAL_MAP) /* forged by the module */
            continue;
        bool close = span_starts(val_gets(o, "dtype"), "float") ||
                     span_starts(val_gets(o, "dtype"), "bfloat") ||
                     span_starts(val_gets(o, "dtype"), "complex");
        val_set(a, o, "compare",
                val_strz(a, in_list(unordered, i) ? "set"
                            : close               ? "close"
                                                  : "exact"));
        val_push(a, l, o);
    }
    return l;
}

static struct val *evidence_of(struct arena *a, const struct facts *f,
                               const struct val *state)
{
    const struct val *init = val_get(state, "init");
    struct val *l = val_list(a);
    for (size_t i = 0; i < val_len(init); i++) {
        struct span k = init->map.keys[i];
        struct span ev = val_gets(init->map.v[i], "ev");
        val_push(a, l,
                 val_strf(a, "init %.*s: %.*s", (int)k.n, k.p, (int)ev.n,
                          ev.p ? ev.p : ""));
    }
    if (val_getb(state, "redraw", false))
        val_push(a, l,
                 val_strz(a, "init: parameters that start at zero are "
                             "redrawn"));
    struct span keys[64];
    size_t n = state_order(f, state, keys, 64);
    for (size_t i = 0; i < n; i++) {
        struct span k = keys[i];
        const struct val *v = state_input(state, k);
        struct span ev = val_gets(v, "ev");
        if (v)
            val_push(a, l,
                     val_strf(a, "input %.*s: %.*s", (int)k.n, k.p, (int)ev.n,
                              ev.p ? ev.p : "error in a run"));
    }
    return l;
}

static struct val *core_base(struct arena *a, const struct facts *f,
                             const struct val *state, struct span source)
{
    struct val *t = val_map(a);
    val_set(a, t, "entry_kind",
            val_strz(a, f->is_function ? "function" : "module"));
    val_set(a, t, "source", val_str(a, source));
    val_set(a, t, "inputs", state_task_inputs(a, f, state));
    val_set(a, t, "init", state_task_init(a, f, state));
    val_set(a, t, "evidence", evidence_of(a, f, state));
    val_set(a, t, "dtype", val_strz(a, "fp32"));
    return t;
}

void task_figures(struct arena *a, struct val *t, const struct val *outs,
                  const struct val *g, const struct val *counted)
{
    const struct val *ops = val_get(counted, "ops");
    val_set(a, t, "outputs", outputs_of(a, outs, counted));
    val_set(a, t, "parameters", val_int(a, val_geti(g, "parameters", 0)));
    val_set(a, t, "flops", val_int(a, val_geti(g, "flops", 0)));
    val_set(a, t, "bytes", val_int(a, val_geti(g, "bytes", 0)));
    val_set(a, t, "family", val_strz(a, ops_family(ops)));
    val_set(a, t, "difficulty",
            val_strz(a, difficulty_of(val_geti(counted, "kernels", 0))));
    val_set(a, t, "ops", ops_tags(a, ops));
    if (val_get(counted, "graph"))
        val_set(a, t, "graph", val_copy(a, val_get(counted, "graph")));
}

/* What a run of STATE was given and gave. */
static struct val *twin(struct arena *a, const struct facts *f,
                        const struct val *state, const struct val *tried,
                        const struct val *counted, bool init)
{
    struct val *v = val_map(a);
    val_set(a, v, "inputs", state_task_inputs(a, f, state));
    if (init)
        val_set(a, v, "init", state_task_init(a, f, state));
    val_set(a, v, "outputs", outputs_of(a, val_get(tried, "outs"), counted));
    return v;
}

/* The sizes beside those of the source. */
static void set_twins(struct arena *a, struct val *t, const struct facts *f,
                      const struct found *found)
{
    struct val *odd = val_list(a);
    val_set(a, t, "checked", val_strz(a, found->on_meta ? "meta" : "cpu"));
    if (!found->small)
        return;
    val_set(a, t, "small",
            twin(a, f, found->small, found->small_tried, found->small_measure,
                 true));
    for (size_t i = 0; i < val_len(found->odd); i++) {
        const struct val *o = val_at(found->odd, i);
        val_push(a, odd,
                 twin(a, f, val_get(o, "state"), val_get(o, "tried"),
                      found->small_measure, false));
    }
    val_set(a, t, "odd", odd);
}

struct val *task_core(struct arena *a, const struct facts *f,
                      const struct found *found)
{
    struct val *t = core_base(a, f, found->state, found->source);
    val_set(a, t, "mutates",
            found->mutates ? val_copy(a, found->mutates) : val_list(a));
    val_set(a, t, "verified", val_bool(a, true));
    val_set(a, t, "stochastic", val_bool(a, found->stochastic));
    task_figures(a, t, val_get(found->tried, "outs"), found->measure,
                 found->small ? found->small_measure : found->measure);
    set_twins(a, t, f, found);
    return t;
}

struct val *task_core_unverified(struct arena *a, const struct facts *f,
                                 const struct val *state, struct span source)
{
    struct val *t = core_base(a, f, state, source);
    val_set(a, t, "outputs", val_list(a));
    val_set(a, t, "verified", val_bool(a, false));
    return t;
}

static void take(struct arena *a, struct val *to, const char *key,
                 const struct val *from, const char *name)
{
    const struct val *v = val_get(from, name);
    if (v)
        val_set(a, to, key, val_copy(a, v));
}

struct val *task_record(struct arena *a, const struct val *module,
                        const struct val *core)
{
    static const char *const keys[] = {
        "entry_kind", "source", "inputs",   "init",     "outputs",
        "mutates",    "dtype",  "verified", "evidence", "stochastic",
        "parameters", "flops",  "bytes",    "family",   "difficulty",
        "ops",        "graph",  "checked",  "small",    "odd"};
    struct val *t = rec_new(a, "task"), *o = val_map(a);
    take(a, t, "name", module, "entry");
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        take(a, t, keys[i], core, keys[i]);
    take(a, o, "repo", module, "repo");
    take(a, o, "commit", module, "commit");
    take(a, o, "path", module, "path");
    take(a, o, "name", module, "name");
    take(a, o, "module", module, "id");
    take(a, o, "licence", module, "licence");
    take(a, o, "parts", module, "inlined");
    val_set(a, t, "origin", o);
    take(a, t, "cluster", module, "cluster");
    return t;
}
