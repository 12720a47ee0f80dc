/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "schema.h"
#include "testgen/task.h"

static bool text_has(struct span s, const char *word)
{
    return memmem(s.p, s.n, word, strlen(word)) != NULL;
}

static int64_t count_of(const struct val *ops, const char *const *names)
{
    int64_t n = 0;
    for (; *names; names++)
        n += val_geti(ops, *names, 0);
    return n;
}

#define COUNT(...) count_of(ops, (const char *const[]){__VA_ARGS__, NULL})

/* Operator family: the heaviest kind of operator that the forward calls. */
static const char *family_of(const struct val *ops, struct span source)
{
    int64_t products = COUNT("bmm", "baddbmm");
    if (text_has(source, "nn.LSTM") || text_has(source, "nn.GRU") ||
        text_has(source, "nn.RNN") || COUNT("mkldnn_rnn_layer"))
        return "recurrent";
    if (COUNT("_scaled_dot_product_flash_attention_for_cpu",
              "_scaled_dot_product_attention_math",
              "scaled_dot_product_attention") ||
        (products >= 2 && COUNT("_softmax")))
        return "attention";
    if (COUNT("convolution", "_convolution", "mkldnn_convolution"))
        return "conv";
    if (COUNT("addmm", "mm", "bmm", "baddbmm", "addmv", "mv", "dot"))
        return "matmul";
    if (COUNT("embedding", "_embedding_bag"))
        return "embedding";
    if (COUNT("nll_loss_forward", "mse_loss", "binary_cross_entropy",
              "smooth_l1_loss", "nll_loss2d_forward", "huber_loss"))
        return "loss";
    if (COUNT("native_layer_norm", "native_group_norm", "native_batch_norm",
              "_native_batch_norm_legit",
              "_native_batch_norm_legit_no_training", "var_mean", "var",
              "linalg_vector_norm", "cudnn_batch_norm", "rsqrt",
              "_fused_rms_norm"))
        return "norm";
    if (COUNT("max_pool2d_with_indices", "avg_pool2d", "_adaptive_avg_pool2d",
              "adaptive_max_pool2d", "avg_pool1d", "max_pool1d", "avg_pool3d",
              "max_pool3d_with_indices"))
        return "pooling";
    if (COUNT("_softmax", "_log_softmax"))
        return "softmax";
    if (COUNT("relu", "gelu", "silu", "sigmoid", "tanh", "leaky_relu", "elu",
              "hardtanh", "hardswish", "mish", "softplus"))
        return "activation";
    if (COUNT("sum", "mean", "amax", "amin", "max", "min", "prod", "cumsum"))
        return "reduction";
    return "elementwise";
}

static const char *difficulty_of(int64_t kernels)
{
    return kernels <= 1    ? "one"
           : kernels <= 6  ? "few"
           : kernels <= 60 ? "block"
                           : "network";
}

static struct val *outputs_of(struct arena *a, const struct val *outs)
{
    struct val *l = val_list(a);
    for (size_t i = 0; i < val_len(outs); i++) {
        struct val *o = val_copy(a, val_at(outs, i));
        if (o->type != VAL_MAP) /* forged by the module */
            continue;
        bool close = span_starts(val_gets(o, "dtype"), "float") ||
                     span_starts(val_gets(o, "dtype"), "bfloat") ||
                     span_starts(val_gets(o, "dtype"), "complex");
        val_set(a, o, "compare", val_strz(a, close ? "close" : "exact"));
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
    val_set(a, t, "entry_kind", val_strz(a, "module"));
    val_set(a, t, "source", val_str(a, source));
    val_set(a, t, "inputs", state_task_inputs(a, f, state));
    val_set(a, t, "init", state_task_init(a, f, state));
    val_set(a, t, "evidence", evidence_of(a, f, state));
    val_set(a, t, "dtype", val_strz(a, "fp32"));
    return t;
}

void task_figures(struct arena *a, struct val *t, const struct val *outs,
                  const struct val *g, const struct val *counted,
                  struct span source)
{
    val_set(a, t, "outputs", outputs_of(a, outs));
    val_set(a, t, "parameters", val_int(a, val_geti(g, "parameters", 0)));
    val_set(a, t, "flops", val_int(a, val_geti(g, "flops", 0)));
    val_set(a, t, "bytes", val_int(a, val_geti(g, "bytes", 0)));
    val_set(a, t, "family",
            val_strz(a, family_of(val_get(counted, "ops"), source)));
    val_set(a, t, "difficulty",
            val_strz(a, difficulty_of(val_geti(counted, "kernels", 0))));
}

/* What a run of STATE was given and gave. */
static struct val *twin(struct arena *a, const struct facts *f,
                        const struct val *state, const struct val *tried,
                        bool init)
{
    struct val *v = val_map(a);
    val_set(a, v, "inputs", state_task_inputs(a, f, state));
    if (init)
        val_set(a, v, "init", state_task_init(a, f, state));
    val_set(a, v, "outputs", outputs_of(a, val_get(tried, "outs")));
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
    val_set(a, t, "small", twin(a, f, found->small, found->small_tried, true));
    for (size_t i = 0; i < val_len(found->odd); i++) {
        const struct val *o = val_at(found->odd, i);
        val_push(a, odd,
                 twin(a, f, val_get(o, "state"), val_get(o, "tried"), false));
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
                 found->small ? found->small_measure : found->measure,
                 f->mod->text);
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
        "checked",    "small",  "odd"};
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
