/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/operators.h"

#define MAX_TEXT  8192
#define MAX_DEPTH 8 /* of layers in containers */

struct layer {
    struct span name; /* attribute of self */
    TSNode call;      /* what was assigned */
};

struct ops {
    const struct pymod *m;
    struct arena arena;
    ARRAY(struct layer) layers;
    struct buf *out;
    bool foreign; /* something else than torch is called */
};

static bool is(TSNode n, const char *type)
{
    return pynode_is(n, type);
}

/* Whole dotted name of a function through its import, or empty. */
static struct span resolved(struct ops *o, TSNode function)
{
    struct span dotted = pynode_dotted(o->m->text, function), head = dotted;
    const char *dot = dotted.n ? memchr(dotted.p, '.', dotted.n) : NULL;
    const struct pysym *s;
    struct span import;

    if (dotted.n == 0)
        return dotted;
    if (dot)
        head.n = (size_t)(dot - dotted.p);
    s = pymod_lookup_at(o->m, ts_node_start_byte(function), head);
    import = tokens_imported(s, &o->arena);
    if (import.n == 0)
        return (struct span){NULL, 0};
    return span_str(arena_printf(&o->arena, "%.*s%.*s", (int)import.n, import.p,
                                 (int)(dotted.n - head.n), dotted.p + head.n));
}

static bool is_torch(struct span dotted)
{
    return span_starts(dotted, "torch.");
}

/* "torch.nn.LeakyReLU", "leaky_relu" -> "leakyrelu" */
static void add_name(struct buf *out, struct span dotted)
{
    const char *dot = dotted.n ? memrchr(dotted.p, '.', dotted.n) : NULL;
    size_t i = dot ? (size_t)(dot + 1 - dotted.p) : 0;

    for (; i < dotted.n; i++) {
        char c = dotted.p[i];

        if (c != '_')
            (void)buf_addc(out, c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c);
    }
}

/* Numbers, words like True, and tuples of them, without white space. */
static bool add_literal(struct ops *o, TSNode n)
{
    struct span text = pynode_text(o->m->text, n);

    if (!is(n, "integer") && !is(n, "float") && !is(n, "true") &&
        !is(n, "false") && !is(n, "none") && !is(n, "string") &&
        !is(n, "unary_operator") && !is(n, "tuple") && !is(n, "list"))
        return false;
    if (text.n > 64)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if ((is(n, "tuple") || is(n, "list") || is(n, "unary_operator")) &&
            !memchr("0123456789.,-()[] e\n", c, 20))
            return false;
    }
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != ' ' && text.p[i] != '\n')
            (void)buf_addc(o->out, text.p[i] == '"' ? '\'' : text.p[i]);
    return true;
}

static void add_args(struct ops *o, TSNode args, bool layer)
{
    uint32_t n = ts_node_named_child_count(args);
    bool first = true;

    (void)buf_addc(o->out, '(');
    for (uint32_t i = 0; i < n; i++) {
        TSNode a = ts_node_named_child(args, i);
        TSNode value = is(a, "keyword_argument") ? pynode_field(a, "value") : a;
        size_t before = o->out->n;

        if (is(a, "comment"))
            continue;
        if (is(a, "keyword_argument")) {
            struct span key = pynode_text(o->m->text, pynode_field(a, "name"));

            if (span_is(key, "inplace"))
                continue;
            if (!first)
                (void)buf_addc(o->out, ',');
            (void)buf_addspan(o->out, key);
            (void)buf_addc(o->out, '=');
            if (!add_literal(o, value))
                (void)buf_addc(o->out, '?');
        } else {
            if (!first)
                (void)buf_addc(o->out, ',');
            /* The tensors of a call are no arguments in this sense. */
            if (!add_literal(o, value)) {
                buf_setlen(o->out, before);
                if (!layer)
                    continue;
                (void)buf_adds(o->out, first ? "?" : ",?");
            }
        }
        first = false;
    }
    (void)buf_adds(o->out, ");");
}

/* A layer as it was made; a container is its parts. */
static void add_layer(struct ops *o, TSNode call, int depth)
{
    struct span dotted = resolved(o, pynode_field(call, "function"));
    TSNode args = pynode_field(call, "arguments");

    if (!is_torch(dotted) || depth > MAX_DEPTH) {
        o->foreign = true;
        return;
    }
    if (!span_ends(dotted, ".Sequential")) {
        add_name(o->out, dotted);
        add_args(o, args, true);
        return;
    }
    for (uint32_t i = 0; i < ts_node_named_child_count(args); i++) {
        TSNode part = ts_node_named_child(args, i);

        if (is(part, "call"))
            add_layer(o, part, depth + 1);
        else if (!is(part, "comment"))
            o->foreign = true;
    }
}

/* Tensor methods that compute nothing. */
static bool is_idle(struct span name)
{
    static const char *const idle[] = {"size", "dim", "contiguous", "numel",
                                       "item"};

    return span_in(name, idle, ARRAY_LEN(idle));
}

static void add_self(struct ops *o, struct span name)
{
    for (size_t i = 0; i < o->layers.n; i++)
        if (span_eq(o->layers.v[i].name, name)) {
            add_layer(o, o->layers.v[i].call, 0);
            return;
        }
    o->foreign = true;
}

static void add_call(struct ops *o, TSNode call)
{
    TSNode function = pynode_field(call, "function");
    TSNode args = pynode_field(call, "arguments");
    struct span dotted = pynode_dotted(o->m->text, function), torch;

    if (span_starts(dotted, "self.") &&
        !memchr(dotted.p + 5, '.', dotted.n - 5)) {
        add_self(o, (struct span){dotted.p + 5, dotted.n - 5});
        return;
    }
    torch = resolved(o, function);
    if (is_torch(torch)) {
        add_name(o->out, torch);
        add_args(o, args, false);
    } else if (torch.n > 0) {
        o->foreign = true;
    } else if (is(function, "attribute")) {
        struct span name =
            pynode_text(o->m->text, pynode_field(function, "attribute"));

        if (is_idle(name))
            return;
        add_name(o->out, name);
        add_args(o, args, false);
    } else if (pymod_lookup_at(o->m, ts_node_start_byte(function), dotted) ||
               dotted.n == 0) {
        o->foreign = true;
    }
}

static bool enter_forward(void *payload, TSNode n, const char *field,
                          uint32_t depth)
{
    struct ops *o = payload;

    (void)field;
    (void)depth;
    if (is(n, "for_statement") || is(n, "while_statement") ||
        is(n, "if_statement") || is(n, "conditional_expression")) {
        add_name(o->out, span_str(ts_node_type(n)));
        (void)buf_addc(o->out, ';');
    }
    return !o->foreign && !is(n, "parameters") && !is(n, "type");
}

static void leave_forward(void *payload, TSNode n, uint32_t depth)
{
    struct ops *o = payload;

    (void)depth;
    if (o->foreign)
        return;
    if (is(n, "call"))
        add_call(o, n);
    if (is(n, "binary_operator") || is(n, "augmented_assignment")) {
        struct span op = pynode_text(o->m->text, pynode_field(n, "operator"));

        if (op.n > 1 && op.p[op.n - 1] == '=')
            op.n--;
        (void)buf_addspan(o->out, op);
        (void)buf_addc(o->out, ';');
    }
}

/* self.NAME = CALL */
static bool enter_init(void *payload, TSNode n, const char *field,
                       uint32_t depth)
{
    struct ops *o = payload;
    struct span left;
    TSNode right;

    (void)field;
    (void)depth;
    if (!is(n, "assignment"))
        return true;
    left = pynode_dotted(o->m->text, pynode_field(n, "left"));
    right = pynode_field(n, "right");
    if (span_starts(left, "self.") && is(right, "call")) {
        struct layer l = {{left.p + 5, left.n - 5}, right};

        array_push(&o->layers, l);
    }
    return true;
}

void operators_text(const struct pymod *m, const struct pydef *d,
                    struct buf *out)
{
    const struct pydef *init =
        d->is_class ? pymod_method(m, d, "__init__") : NULL;
    const struct pydef *forward =
        d->is_class ? pymod_method(m, d, "forward") : d;
    struct ops o = {.m = m, .arena = ARENA_INIT, .out = out};
    struct pyvisit layers = {enter_init, NULL, &o};
    struct pyvisit calls = {enter_forward, leave_forward, &o};
    size_t before = out->n;

    if (forward) {
        if (init)
            pytree_walk(init->node, &layers);
        pytree_walk(forward->node, &calls);
    }
    if (o.foreign || out->full)
        buf_setlen(out, before);
    array_release(&o.layers);
    arena_release(&o.arena);
}

uint64_t operators_hash(const struct pymod *m, const struct pydef *d)
{
    struct buf text = BUF_INIT(MAX_TEXT);
    uint64_t h = 0;

    operators_text(m, d, &text);
    if (text.n > 0)
        h = hash_fast(buf_span(&text), 0);
    buf_release(&text);
    return h;
}
