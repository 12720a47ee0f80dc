/* SPDX-License-Identifier: MIT */
/*
 * A free function as an entry: its tensors are the arguments of forward, what
 * else it takes those of the constructor. Which parameter is which is told by
 * its annotation, its default, what is done with it, and its name.
 */
#include "base.h"

#include "testgen/facts_walk.h"
#include "testgen/propose.h"

/* Functions of torch all of whose arguments may be tensors. */
static const char *const of_many[] = {"add",
                                      "addmm",
                                      "atan2",
                                      "baddbmm",
                                      "bmm",
                                      "cat",
                                      "cdist",
                                      "concat",
                                      "cross",
                                      "cross_entropy",
                                      "div",
                                      "dot",
                                      "einsum",
                                      "eq",
                                      "index_select",
                                      "linear",
                                      "logaddexp",
                                      "logical_and",
                                      "lerp",
                                      "masked_select",
                                      "logical_or",
                                      "matmul",
                                      "maximum",
                                      "minimum",
                                      "mm",
                                      "mse_loss",
                                      "mul",
                                      "mv",
                                      "outer",
                                      "scaled_dot_product_attention",
                                      "stack",
                                      "sub",
                                      "take_along_dim",
                                      "where",
                                      "grid_sample",
                                      "l1_loss",
                                      "kl_div",
                                      "cosine_similarity",
                                      "embedding",
                                      "gather",
                                      "binary_cross_entropy",
                                      "binary_cross_entropy_with_logits",
                                      "nll_loss",
                                      "smooth_l1_loss",
                                      "solve",
                                      "lstsq",
                                      "searchsorted",
                                      "bucketize"};

/* Functions of torch that take no tensor. */
static const char *const of_none[] = {
    "arange", "device", "empty",   "eye",   "full",     "linspace",
    "ones",   "rand",   "randint", "randn", "randperm", "zeros"};

struct tensors {
    const struct usage *u;
    bool *is; /* by parameter */
};

static void note(struct tensors *t, TSNode n)
{
    const struct params *ps = t->u->ps;
    if (!pynode_is(n, "identifier"))
        return;
    const struct param *p = walk_param(t->u, n);
    if (p)
        t->is[p - ps->v] = true;
}

static void see_call(struct tensors *t, TSNode n)
{
    struct span dotted =
        pynode_dotted(t->u->f->mod->text, pynode_field(n, "function"));
    struct span name = span_last_part(dotted);
    TSNode args = pynode_field(n, "arguments");
    bool torch = span_starts(dotted, "torch.") || span_starts(dotted, "F.") ||
                 span_starts(dotted, "nn.functional.");
    if (!torch || ts_node_is_null(args) || name.n == 0 ||
        (name.p[0] >= 'A' && name.p[0] <= 'Z') ||
        span_in(name, of_none, ARRAY_LEN(of_none)))
        return;
    uint32_t n_args = ts_node_named_child_count(args);
    bool many = span_in(name, of_many, ARRAY_LEN(of_many));
    for (uint32_t i = 0; i < (many ? n_args : MIN(n_args, 1u)) && i < 8; i++) {
        TSNode a = ts_node_named_child(args, i);
        note(t, a);
        for (uint32_t k = 0; (pynode_is(a, "list") || pynode_is(a, "tuple")) &&
                             k < ts_node_named_child_count(a) && k < 8;
             k++)
            note(t, ts_node_named_child(a, k));
    }
}

static bool enter(void *payload, TSNode n, const char *field, uint32_t depth)
{
    struct tensors *t = payload;
    (void)field;
    (void)depth;
    if (pynode_is(n, "call"))
        see_call(t, n);
    if (pynode_is(n, "binary_operator") &&
        span_is(pynode_text(t->u->f->mod->text, pynode_field(n, "operator")),
                "@")) {
        note(t, pynode_field(n, "left"));
        note(t, pynode_field(n, "right"));
    }
    return true;
}

static bool is_literal(struct span s)
{
    char c = s.n ? s.p[0] : '\0';
    return (c >= '0' && c <= '9') || (c && strchr("-.'\"([{", c)) ||
           span_is(s, "True") || span_is(s, "False");
}

/* An annotation that speaks of plain values, and of no tensor. */
static bool is_plain_annotation(struct span s)
{
    static const char *const words[] = {
        "int",   "float",    "bool",  "str",      "Sequence", "Callable",
        "dtype", "device",   "Tuple", "tuple",    "List",     "list",
        "dict",  "Dict",     "Any",   "Module",   "Number",   "Literal",
        "Size",  "Iterable", "Union", "Generator"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (annotation_has(s, words[i]))
            return !annotation_has(s, "Tensor") && !annotation_has(s, "Any");
    return false;
}

/* Something is read of it that every tensor has. */
static bool has_tensor_attribute(const struct param *p)
{
    for (size_t i = 0; i < p->attrs.n; i++) {
        struct span s = p->attrs.v[i];
        size_t n = 0;
        while (n < s.n && s.p[n] != '.')
            n++;
        s.n = n;
        if (s.n && s.p[0] != '_' && is_tensor_attribute(s) &&
            !span_is(s, "index") && !span_is(s, "count") &&
            !span_is(s, "split") && !span_is(s, "name"))
            return true;
    }
    return false;
}

static bool is_plain(const struct facts *f, const struct param *p, bool tensor)
{
    struct arena a = ARENA_INIT;
    bool named;
    if (p->kind == PARAM_VAR_KW)
        return true;
    if (annotation_has(p->annotation, "Tensor") ||
        annotation_has(p->annotation, "LongTensor"))
        return false;
    if (tensor || has_tensor_attribute(p) || p->first.rank ||
        p->first.pattern.n || p->first.ids)
        return false;
    if (is_plain_annotation(p->annotation) ||
        (p->has_default && is_literal(p->dflt)))
        return true;
    if (p->choices.n || (p->uses & (USE_RANGE | USE_CALLED)))
        return true;
    named = propose_by_name(&a, f, p->name) != NULL;
    arena_release(&a);
    return named && !span_is(p->name, "k") && !span_is(p->name, "s") &&
           !span_is(p->name, "bias") && !span_is(p->name, "T");
}

/* A second owner of the lists of P must not release them. */
static struct param without_lists(const struct param *p)
{
    struct param q = *p;
    memset(&q.choices, 0, sizeof(q.choices));
    memset(&q.attrs, 0, sizeof(q.attrs));
    memset(&q.keys, 0, sizeof(q.keys));
    memset(&q.called, 0, sizeof(q.called));
    return q;
}

void function_signature(struct facts *f)
{
    unsigned left = 400;
    struct usage u = {f, NULL, NULL, &f->forward, true, 0, &left};
    walk_signature(f, f->entry, false, &f->forward);
    walk_uses(&u, f->entry);
    bool *is = arena_zalloc(&f->arena, f->forward.n + 1);
    struct tensors t = {&u, is};
    struct pyvisit v = {enter, NULL, &t};
    pytree_walk(pynode_field(f->entry->node, "body"), &v);
    for (size_t i = 0; i < f->forward.n; i++) {
        struct param *p = &f->forward.v[i];
        p->place = (int)i;
        p->plain = is_plain(f, p, is[i]);
        if (annotation_has(p->annotation, "Tensor"))
            p->attrs.n = p->keys.n = 0; /* of a subclass that it may be */
        if (!p->plain)
            continue;
        struct param q = without_lists(p);
        array_push(&f->init, *p);
        q.has_default = true; /* the constructor has it */
        *p = q;
    }
    objects_read(f, f->entry);
}
