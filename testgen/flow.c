/* SPDX-License-Identifier: MIT */
/*
 * Where the arguments of forward go first: layers, einops patterns and
 * unpackings of shapes tell ranks and sizes.
 */
#include "base.h"

#include "testgen/facts_walk.h"

/* ---- shapes of forward's arguments ---- */

static bool first_known(const struct first_use *u)
{
    return u->rank || u->layer.n || u->pattern.n;
}

/* b, c, h, w = x.shape, or x.size() */
void flow_shape(const struct usage *u, TSNode n)
{
    TSNode left = pynode_field(n, "left"), right = pynode_field(n, "right");
    if (!pynode_is(left, "pattern_list") && !pynode_is(left, "tuple_pattern"))
        return;
    if (pynode_is(right, "call"))
        right = pynode_field(right, "function");
    if (!pynode_is(right, "attribute"))
        return;
    struct param *p = walk_param(u, pynode_field(right, "object"));
    struct span attr =
        pynode_text(u->f->mod->text, pynode_field(right, "attribute"));
    if (!p || first_known(&p->first) ||
        (!span_is(attr, "shape") && !span_is(attr, "size")))
        return;
    int count = (int)ts_node_named_child_count(left);
    for (uint32_t i = 0; i < ts_node_named_child_count(left); i++)
        if (pynode_is(ts_node_named_child(left, i), "list_splat_pattern"))
            count = -(int)(ts_node_named_child_count(left) - 1);
    p->first.rank = count;
}

/* Rank and left side of an einops pattern. */
static void from_pattern(struct first_use *out, struct span pattern)
{
    int rank = 0, nested = 0;
    bool dots = false, word = false;
    size_t i;
    for (i = 0; i < pattern.n; i++) {
        char c = pattern.p[i];
        if (c == '-' && i + 1 < pattern.n && pattern.p[i + 1] == '>')
            break;
        if (c == ',')
            return;
        if (c == '(') {
            rank += nested++ == 0;
            word = false;
        } else if (c == ')') {
            nested--;
        } else if (c == '.') {
            dots = true;
        } else if (c == ' ') {
            word = false;
        } else if (!word) {
            word = true;
            rank += nested == 0;
        }
    }
    if (i == pattern.n || rank == 0)
        return;
    out->pattern = (struct span){pattern.p, i};
    out->rank = dots ? -rank : rank;
}

static int rank_of_layer(struct span name)
{
    if (span_ends(name, "1d"))
        return 3;
    if (span_ends(name, "2d"))
        return 4;
    if (span_ends(name, "3d"))
        return 5;
    if (span_is(name, "LSTM") || span_is(name, "GRU") || span_is(name, "RNN") ||
        span_is(name, "MultiheadAttention") || span_starts(name, "Transformer"))
        return 3;
    if (span_is(name, "PixelShuffle") || span_is(name, "Upsample") ||
        span_is(name, "PixelUnshuffle"))
        return 4;
    if (span_ends(name, "Cell"))
        return 2;
    return 0;
}

static void from_expression(const struct facts *f, TSNode value,
                            struct first_use *out, int depth);

/* return nn.Sequential(...) of a function of the source */
struct returned {
    const struct facts *f;
    TSNode call;
    bool found;
};

static bool enter_return(void *payload, TSNode n, const char *field,
                         uint32_t depth)
{
    struct returned *r = payload;
    (void)field;
    if (pynode_is(n, "return_statement") && !r->found &&
        ts_node_named_child_count(n) > 0) {
        r->call = ts_node_named_child(n, 0);
        r->found = true;
    }
    return !(depth > 0 && (pynode_is(n, "function_definition") ||
                           pynode_is(n, "class_definition")));
}

static void from_definition(const struct facts *f, const struct pydef *d,
                            struct first_use *out, int depth)
{
    if (!d->is_class) {
        struct returned r = {.f = f};
        struct pyvisit v = {enter_return, NULL, &r};
        pytree_walk(d->node, &v);
        if (r.found)
            from_expression(f, r.call, out, depth + 1);
        return;
    }
    const struct pydef *m = walk_method(f, d, "forward", 0);
    struct params ps = {0};
    if (!m)
        return;
    unsigned left = 16;
    struct usage u = {f, d, d, &ps, true, depth + 1, &left};
    walk_signature(f, m, true, &ps);
    walk_uses(&u, m);
    if (ps.n > 0) {
        *out = ps.v[0].first;
        out->size = (struct span){NULL, 0};
    }
    params_release(&ps);
}

/* What the call VALUE builds says about the argument that goes into it. */
static void from_expression(const struct facts *f, TSNode value,
                            struct first_use *out, int depth)
{
    if (depth > FOLLOW_DEPTH || !pynode_is(value, "call"))
        return;
    TSNode args = pynode_field(value, "arguments");
    struct span dotted =
        pynode_dotted(f->mod->text, pynode_field(value, "function"));
    struct span name = span_last_part(dotted);
    TSNode first = ts_node_named_child(args, 0);
    const struct pydef *d = dotted.n ? pymod_def(f->mod, dotted) : NULL;

    if (d) {
        from_definition(f, d, out, depth);
    } else if (span_is(name, "Sequential")) {
        for (uint32_t i = 0; i < ts_node_named_child_count(args) && i < 4; i++)
            if (!first_known(out))
                from_expression(f, ts_node_named_child(args, i), out,
                                depth + 1);
    } else if (span_is(name, "Rearrange") || span_is(name, "Reduce")) {
        from_pattern(out, walk_string(f, first));
    } else if (span_is(name, "Embedding")) {
        out->layer = name;
        out->size = pynode_text(f->mod->text, first);
        out->ids = true;
    } else if (rank_of_layer(name) || span_is(name, "Linear") ||
               span_is(name, "LayerNorm") || span_is(name, "RMSNorm")) {
        out->layer = name;
        out->rank = rank_of_layer(name);
        if (pynode_is(first, "keyword_argument"))
            first = pynode_field(first, "value");
        out->size = pynode_text(f->mod->text, first);
    }
}

/* self.NAME = VALUE in the class. */
struct built {
    const struct facts *f;
    struct span name;
    TSNode value;
    bool found;
};

static bool enter_built(void *payload, TSNode n, const char *field,
                        uint32_t depth)
{
    struct built *b = payload;
    (void)field;
    (void)depth;
    if (pynode_is(n, "assignment") && !b->found &&
        walk_is_member(b->f, pynode_field(n, "left"), b->name)) {
        b->value = pynode_field(n, "right");
        b->found = !ts_node_is_null(b->value);
    }
    return true;
}

TSNode flow_built(const struct facts *f, const struct pydef *cls,
                  struct span name)
{
    struct built b = {.f = f, .name = name};
    struct pyvisit v = {enter_built, NULL, &b};
    pytree_walk(cls->node, &v);
    return b.value;
}

void flow_call(const struct usage *u, TSNode n)
{
    TSNode callee = pynode_field(n, "function");
    TSNode args = pynode_field(n, "arguments");
    struct span dotted = pynode_dotted(u->f->mod->text, callee);
    struct span last = span_last_part(dotted);

    if (pynode_is(callee, "attribute")) {
        struct param *p = walk_param(u, pynode_field(callee, "object"));
        if (p && !first_known(&p->first) && span_is(last, "permute") &&
            ts_node_named_child_count(args) >= 3)
            p->first.rank = (int)ts_node_named_child_count(args);
    }
    if (ts_node_is_null(args) || ts_node_named_child_count(args) == 0)
        return;
    struct param *p = walk_param(u, ts_node_named_child(args, 0));
    if (!p || first_known(&p->first))
        return;
    if (span_is(last, "rearrange") || span_is(last, "reduce") ||
        span_is(last, "repeat")) {
        if (ts_node_named_child_count(args) > 1)
            from_pattern(&p->first,
                         walk_string(u->f, ts_node_named_child(args, 1)));
    } else if (u->cls && span_starts(dotted, "self.") &&
               last.n + 5 == dotted.n) {
        TSNode value = flow_built(u->f, u->cls, last);
        if (!ts_node_is_null(value))
            from_expression(u->f, value, &p->first, u->depth);
    } else if (span_starts(last, "conv") || span_ends(last, "pool2d") ||
               span_ends(last, "pool1d")) {
        p->first.rank = rank_of_layer(last);
    }
}
