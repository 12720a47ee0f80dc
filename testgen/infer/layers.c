/* SPDX-License-Identifier: MIT */
/* Layers of torch.nn: what they ask of their input, and what they give. */
#include "base.h"

#include "testgen/infer/interp.h"

/* Place of an argument that nobody gives by position. */
#define BY_NAME SIZE_MAX

/* Layers that give a tensor of their input's shape and ask nothing of it. */
static const char *const same_shape[] = {"Identity",    "Dropout",
                                         "Dropout1d",   "Dropout2d",
                                         "Dropout3d",   "AlphaDropout",
                                         "ReLU",        "ReLU6",
                                         "GELU",        "SiLU",
                                         "Sigmoid",     "Tanh",
                                         "LeakyReLU",   "ELU",
                                         "CELU",        "SELU",
                                         "Hardtanh",    "Hardswish",
                                         "Hardsigmoid", "Mish",
                                         "Softplus",    "LogSigmoid",
                                         "PReLU",       "RReLU",
                                         "Softmax",     "LogSoftmax",
                                         "Softmin",     "Softsign",
                                         "Tanhshrink",  "Threshold",
                                         "Hardshrink",  "Softshrink",
                                         "Softmax2d",   "LocalResponseNorm"};

struct aval *layer_new(struct interp *in, struct span kind, struct actuals *c)
{
    struct aval *v = av_new(in->a, AV_MODULE);
    struct module *m = arena_zalloc(in->a, sizeof(*m));
    v->m = m;
    m->layer = kind;
    m->args = c->v;
    m->n_args = c->n;
    m->kw = c->kw;
    if (span_is(kind, "Sequential") || span_is(kind, "ModuleList") ||
        span_is(kind, "ParameterList")) {
        struct aseq given = {.v = c->v, .n = c->n}, *q = &given;
        m->children = arena_zalloc(in->a, sizeof(*m->children));
        if (c->n == 1 && c->v[0]->kind == AV_DICT)
            given = (struct aseq){.v = c->v[0]->dict->v, .n = c->v[0]->dict->n};
        else if (c->n == 1 && c->v[0]->kind != AV_MODULE)
            q = interp_items(in, c->v[0]);
        for (size_t i = 0; q && i < q->n; i++) {
            struct aval *x = q->v[i];
            /* OrderedDict([("name", layer), ...]) */
            if (x->kind == AV_SEQ && x->seq->n == 2)
                x = x->seq->v[1];
            aseq_push(in->a, m->children, x);
        }
    }
    if (span_is(kind, "ModuleDict") && c->n == 1 && c->v[0]->kind == AV_DICT)
        anames_copy(in->a, &m->attrs, c->v[0]->dict);
    return v;
}

static struct aval *arg(const struct module *m, size_t at, const char *name)
{
    struct aval *v = name ? anames_get(&m->kw, span_str(name)) : NULL;
    return v ? v : at < m->n_args ? m->args[at] : NULL;
}

static const struct dim *size_arg(struct interp *in, const struct module *m,
                                  size_t at, const char *name, int64_t dflt)
{
    struct aval *v = arg(m, at, name);
    return v ? whole(v) : dflt ? dim_int(&in->dims, dflt) : NULL;
}

static bool flag(struct interp *in, const struct module *m, size_t at,
                 const char *name)
{
    struct aval *v = arg(m, at, name);
    return v && interp_truth(in, v) == 1;
}

/* The N of "Conv2d", 0: none. */
static int spatial(struct span kind)
{
    return kind.n > 2 && kind.p[kind.n - 1] == 'd' &&
                   kind.p[kind.n - 2] >= '1' && kind.p[kind.n - 2] <= '3'
               ? kind.p[kind.n - 2] - '0'
               : 0;
}

static struct aval *linear(struct interp *in, struct module *m,
                           struct tensor *x)
{
    const struct dim *from = size_arg(in, m, 0, "in_features", 0);
    const struct dim *to = size_arg(in, m, 1, "out_features", 0);
    dim_equal(&in->dims, shape_at(&in->dims, x->s, -1), from);
    return tensor_new(in, shape_last(&in->dims, x->s, to), x);
}

/* Item AT of a number or a tuple of numbers. */
static const struct dim *spread(struct interp *in, const struct aval *v, int at,
                                int64_t dflt)
{
    if (!v || v->kind == AV_NONE)
        return dim_int(&in->dims, dflt);
    if (v->kind == AV_SEQ)
        return (size_t)at < v->seq->n ? whole(v->seq->v[at]) : NULL;
    return whole(v);
}

/* (in - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1 */
static const struct dim *widened(struct interp *in, const struct module *m,
                                 const struct dim *size, int at)
{
    struct dims *s = &in->dims;
    const struct dim *one = dim_int(s, 1);
    const struct dim *k = spread(in, arg(m, 2, "kernel_size"), at, 1);
    const struct dim *st = spread(in, arg(m, 3, "stride"), at, 1);
    const struct dim *p = spread(in, arg(m, 4, "padding"), at, 0);
    const struct dim *o = spread(in, arg(m, 5, "output_padding"), at, 0);
    const struct dim *d = spread(in, arg(m, 8, "dilation"), at, 1);
    const struct dim *x = dim_mul(s, dim_sub(s, size, one), st);
    x = dim_sub(s, x, dim_mul(s, dim_int(s, 2), p));
    x = dim_add(s, x, dim_mul(s, d, dim_sub(s, k, one)));
    return dim_add(s, dim_add(s, x, o), one);
}

static struct aval *convolution(struct interp *in, struct module *m,
                                struct tensor *x, int n)
{
    bool transposed = memmem(m->layer.p, m->layer.n, "Transpose", 9) != NULL;
    const struct dim *from = size_arg(in, m, 0, "in_channels", 0);
    const struct dim *to = size_arg(in, m, 1, "out_channels", 0);
    const struct dim *groups = size_arg(in, m, 6, "groups", 1);
    int64_t one;
    if (!tensor_channels(in, x, n, from))
        return interp_unknown(in);
    if (groups && !(dim_known(&in->dims, groups, &one) && one == 1)) {
        dim_divides(&in->dims, from, groups);
        dim_divides(&in->dims, to, groups);
    }
    int rank = shape_rank(&in->dims, x->s), front = rank - n;
    struct shape *s = shape_fixed(in->a, rank);
    memcpy(s->d, x->s->d, sizeof(s->d));
    s->d[front - 1] = to;
    for (int i = 0; i < n; i++)
        s->d[front + i] =
            transposed
                ? widened(in, m, x->s->d[front + i], i)
                : tensor_window(in, x->s->d[front + i],
                                arg(m, 2, "kernel_size"), arg(m, 3, "stride"),
                                arg(m, 4, "padding"), arg(m, 5, "dilation"), i);
    return tensor_new(in, s, x);
}

static struct aval *pooling(struct interp *in, struct module *m,
                            struct tensor *x, int n)
{
    bool max = span_starts(m->layer, "Max");
    struct aval *kernel = arg(m, 0, "kernel_size");
    struct aval *stride = arg(m, 1, "stride");
    if (!tensor_channels(in, x, n, NULL))
        return interp_unknown(in);
    int rank = shape_rank(&in->dims, x->s);
    struct shape *s = shape_fixed(in->a, rank);
    memcpy(s->d, x->s->d, sizeof(s->d));
    for (int i = rank - n; i < rank; i++)
        s->d[i] =
            tensor_window(in, x->s->d[i], kernel,
                          stride && stride->kind != AV_NONE ? stride : kernel,
                          arg(m, 2, "padding"),
                          max ? arg(m, 3, "dilation") : NULL, i - (rank - n));
    return tensor_new(in, s, x);
}

static struct aval *adaptive(struct interp *in, struct module *m,
                             struct tensor *x, int n)
{
    struct aval *size = arg(m, 0, "output_size");
    if (!tensor_channels(in, x, n, NULL))
        return interp_unknown(in);
    int rank = shape_rank(&in->dims, x->s);
    struct shape *s = shape_fixed(in->a, rank);
    memcpy(s->d, x->s->d, sizeof(s->d));
    for (int i = 0; i < n; i++) {
        const struct aval *one =
            size && size->kind == AV_SEQ
                ? (size_t)i < size->seq->n ? size->seq->v[i] : NULL
                : size;
        if (!one || one->kind != AV_NONE)
            s->d[rank - n + i] = whole(one);
    }
    return tensor_new(in, s, x);
}

static struct aval *norm(struct interp *in, struct module *m, struct tensor *x)
{
    struct aval *shape = arg(m, 0, "normalized_shape");
    if (span_is(m->layer, "RMSNorm") && !shape)
        shape = arg(m, 0, NULL);
    if (shape && shape->kind == AV_SEQ) {
        int k = (int)shape->seq->n;
        for (int i = 0; i < k && i < SHAPE_MAX; i++)
            dim_equal(&in->dims, shape_at(&in->dims, x->s, i - k),
                      whole(shape->seq->v[i]));
    } else {
        dim_equal(&in->dims, shape_at(&in->dims, x->s, -1), whole(shape));
    }
    return tensor_new(in, x->s, x);
}

static struct aval *channel_norm(struct interp *in, struct module *m,
                                 struct tensor *x, int n)
{
    const struct dim *c = size_arg(in, m, 0, "num_features", 0);
    if (span_is(m->layer, "GroupNorm")) {
        c = size_arg(in, m, 1, "num_channels", 0);
        dim_divides(&in->dims, c, size_arg(in, m, 0, "num_groups", 0));
    }
    if (n > 1) {
        if (!tensor_channels(in, x, n, c))
            return interp_unknown(in);
    } else {
        dim_equal(&in->dims, shape_at(&in->dims, x->s, 1), c);
    }
    return tensor_new(in, x->s, x);
}

static struct aval *embedding(struct interp *in, struct module *m,
                              struct tensor *x)
{
    const struct dim *rows = size_arg(in, m, 0, "num_embeddings", 0);
    const struct dim *width = size_arg(in, m, 1, "embedding_dim", 0);
    if (x->input >= 0) {
        struct input_use *u = &in->inputs[x->input];
        u->ids = true;
        if (!u->below || (rows && dim_value(&in->dims, rows) <
                                      dim_value(&in->dims, u->below)))
            u->below = rows;
    }
    int rank = tensor_rank(in, x);
    if (rank < 0 || rank >= SHAPE_MAX)
        return interp_unknown(in);
    struct shape *s = shape_fixed(in->a, rank + 1);
    memcpy(s->d, x->s->d, sizeof(s->d));
    s->d[rank] = width;
    return av_tensor(in->a, s, AD_FLOAT, -1);
}

static struct aval *recurrent(struct interp *in, struct module *m,
                              struct tensor *x)
{
    const struct dim *from = size_arg(in, m, 0, "input_size", 0);
    const struct dim *to = size_arg(in, m, 1, "hidden_size", 0);
    struct aval *out = av_seq(in->a, true);
    if (!shape_fix(&in->dims, x->s, 3) && shape_rank(&in->dims, x->s) != 2)
        return interp_unknown(in);
    if (flag(in, m, BY_NAME, "bidirectional"))
        to = dim_mul(&in->dims, to, dim_int(&in->dims, 2));
    dim_equal(&in->dims, shape_at(&in->dims, x->s, -1), from);
    aseq_push(in->a, out->seq,
              tensor_new(in, shape_last(&in->dims, x->s, to), x));
    if (!span_is(m->layer, "LSTM")) {
        aseq_push(in->a, out->seq,
                  av_tensor(in->a, shape_open(in->a), AD_FLOAT, -1));
        return out;
    }
    struct aval *pair = av_seq(in->a, true);
    for (int i = 0; i < 2; i++)
        aseq_push(in->a, pair->seq,
                  av_tensor(in->a, shape_open(in->a), AD_FLOAT, -1));
    aseq_push(in->a, out->seq, pair);
    return out;
}

static struct aval *attention(struct interp *in, struct module *m,
                              struct actuals *c)
{
    const struct dim *width = size_arg(in, m, 0, "embed_dim", 0);
    static const char *const names[] = {"query", "key", "value"};
    struct aval *out = av_seq(in->a, true);
    dim_divides(&in->dims, width, size_arg(in, m, 1, "num_heads", 0));
    for (size_t i = 0; i < 3; i++) {
        struct tensor *t = tensor_of(actual(c, i, names[i]));
        const struct dim *d = i == 1   ? size_arg(in, m, BY_NAME, "kdim", 0)
                              : i == 2 ? size_arg(in, m, BY_NAME, "vdim", 0)
                                       : NULL;
        if (!t)
            continue;
        shape_fix(&in->dims, t->s, 3);
        dim_equal(&in->dims, shape_at(&in->dims, t->s, -1), d ? d : width);
    }
    struct tensor *q = tensor_of(actual(c, 0, "query"));
    aseq_push(in->a, out->seq,
              q ? tensor_new(in, q->s, q) : interp_unknown(in));
    aseq_push(in->a, out->seq, interp_unknown(in));
    return out;
}

static struct aval *transformer(struct interp *in, struct frame *fr,
                                struct module *m, struct actuals *c)
{
    struct tensor *x = tensor_of(actual(c, 0, NULL));
    if (span_is(m->layer, "TransformerEncoder")) {
        struct aval *layer = arg(m, 0, "encoder_layer");
        return layer ? interp_call(in, fr, layer, c) : interp_unknown(in);
    }
    if (!x)
        return interp_unknown(in);
    const struct dim *width = size_arg(in, m, 0, "d_model", 512);
    dim_divides(&in->dims, width, size_arg(in, m, 1, "nhead", 8));
    shape_fix(&in->dims, x->s, 3);
    dim_equal(&in->dims, shape_at(&in->dims, x->s, -1), width);
    return tensor_new(in, x->s, x);
}

/* A layer that a function of torch does: its arguments follow the input. */
static struct aval *as_function(struct interp *in, const struct module *m,
                                struct aval *x, struct span name)
{
    struct actuals with = {.n = m->n_args + 1, .kw = m->kw};
    with.v = arena_array(in->a, with.n, sizeof(*with.v));
    with.v[0] = x;
    if (m->n_args)
        memcpy(with.v + 1, m->args, m->n_args * sizeof(*with.v));
    struct aval *v = tensor_call(in, name, &with);
    return v ? v : interp_unknown(in);
}

static struct aval *padding(struct interp *in, struct module *m, struct aval *x,
                            int n)
{
    struct aval *pad = arg(m, 0, "padding"), *all = av_seq(in->a, true);
    struct actuals c = {.n = 2};
    struct aval *v[2] = {x, all};
    if (!pad || n == 0)
        return interp_unknown(in);
    for (int i = 0; i < 2 * n; i++)
        aseq_push(in->a, all->seq, av_dim(in->a, spread(in, pad, i, 0)));
    c.v = v;
    return tensor_call(in, SPAN_LIT("pad"), &c);
}

static struct aval *by_kind(struct interp *in, struct module *m, struct aval *v,
                            struct tensor *x)
{
    struct span k = m->layer;
    int n = spatial(k);
    if (span_is(k, "Linear") || span_is(k, "LazyLinear"))
        return linear(in, m, x);
    if (n && (span_starts(k, "Conv")))
        return convolution(in, m, x, n);
    if (span_is(k, "LayerNorm") || span_is(k, "RMSNorm"))
        return norm(in, m, x);
    if (span_is(k, "GroupNorm") || span_is(k, "SyncBatchNorm") ||
        span_starts(k, "BatchNorm") || span_starts(k, "InstanceNorm"))
        return channel_norm(in, m, x, n);
    if (span_is(k, "Embedding"))
        return embedding(in, m, x);
    if (span_is(k, "LSTM") || span_is(k, "GRU") || span_is(k, "RNN"))
        return recurrent(in, m, x);
    if (n && span_starts(k, "Adaptive"))
        return adaptive(in, m, x, n);
    if (n && (span_starts(k, "MaxPool") || span_starts(k, "AvgPool")))
        return pooling(in, m, x, n);
    if (span_ends(k, "Pad1d") || span_ends(k, "Pad2d") || span_ends(k, "Pad3d"))
        return padding(in, m, v, n);
    if (span_is(k, "Flatten")) {
        struct actuals c = {.v = &v, .n = 1};
        return m->n_args || m->kw.n
                   ? as_function(in, m, v, SPAN_LIT("flatten"))
                   : tensor_call(in, SPAN_LIT("flatten_batch"), &c);
    }
    if (span_is(k, "Unflatten"))
        return as_function(in, m, v, SPAN_LIT("unflatten"));
    if (span_is(k, "PixelShuffle"))
        return as_function(in, m, v, SPAN_LIT("pixel_shuffle"));
    if (span_is(k, "PixelUnshuffle"))
        return as_function(in, m, v, SPAN_LIT("pixel_unshuffle"));
    if (span_is(k, "Upsample"))
        return as_function(in, m, v, SPAN_LIT("interpolate"));
    if (span_is(k, "Rearrange") || span_is(k, "Reduce")) {
        struct actuals c = {.n = m->n_args + 1, .kw = m->kw};
        c.v = arena_array(in->a, c.n, sizeof(*c.v));
        c.v[0] = v;
        if (m->n_args)
            memcpy(c.v + 1, m->args, m->n_args * sizeof(*c.v));
        return einops_call(in,
                           *k.p == 'R' && k.n == 6 ? SPAN_LIT("reduce")
                                                   : SPAN_LIT("rearrange"),
                           &c);
    }
    return span_in(k, same_shape, ARRAY_LEN(same_shape))
               ? tensor_new(in, x->s, x)
               : interp_unknown(in);
}

struct aval *layer_call(struct interp *in, struct frame *fr, struct module *m,
                        struct actuals *c)
{
    struct aval *v = actual(c, 0, "input");
    struct tensor *x = tensor_of(v);
    if (!v && c->kw.n)
        x = tensor_of(v = c->kw.v[0]);
    if (span_is(m->layer, "Sequential")) {
        for (size_t i = 0; m->children && i < m->children->n && v; i++) {
            struct actuals one = {.v = &v, .n = 1};
            v = interp_call(in, fr, m->children->v[i], &one);
        }
        return v ? v : interp_unknown(in);
    }
    if (span_is(m->layer, "MultiheadAttention"))
        return attention(in, m, c);
    if (span_starts(m->layer, "Transformer"))
        return transformer(in, fr, m, c);
    return x ? by_kind(in, m, v, x) : interp_unknown(in);
}

/* Name and place of a constructor's argument that is an attribute. */
struct attribute {
    const char *layer, *name;
    size_t at;
};

struct aval *layer_attribute(struct interp *in, struct module *m,
                             struct span name)
{
    static const struct attribute known[] = {
        {"Linear", "in_features", 0},
        {"Linear", "out_features", 1},
        {"Conv", "in_channels", 0},
        {"Conv", "out_channels", 1},
        {"Conv", "kernel_size", 2},
        {"Conv", "stride", 3},
        {"Conv", "padding", 4},
        {"Embedding", "num_embeddings", 0},
        {"Embedding", "embedding_dim", 1},
        {"BatchNorm", "num_features", 0},
        {"MultiheadAttention", "embed_dim", 0},
        {"MultiheadAttention", "num_heads", 1},
        {"LSTM", "hidden_size", 1},
        {"GRU", "hidden_size", 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (span_starts(m->layer, known[i].layer) &&
            span_is(name, known[i].name)) {
            struct aval *v = arg(m, known[i].at, known[i].name);
            return v ? v : interp_unknown(in);
        }
    if (span_is(name, "weight") &&
        (span_is(m->layer, "Linear") || span_is(m->layer, "Embedding"))) {
        struct shape *s = shape_fixed(in->a, 2);
        bool linear = span_is(m->layer, "Linear");
        s->d[0] = whole(arg(m, linear ? 1 : 0, NULL));
        s->d[1] = whole(arg(m, linear ? 0 : 1, NULL));
        return av_tensor(in->a, s, AD_FLOAT, -1);
    }
    if (span_is(name, "weight") || span_is(name, "bias"))
        return interp_unknown(in);
    return NULL;
}
