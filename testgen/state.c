/* SPDX-License-Identifier: MIT */
/*
 * States and the Python text made of them. The text that is tried is the text
 * that is emitted.
 */
#include "base.h"

#include "testgen/state.h"

#define MAX_RANK 8

struct val *state_new(struct arena *a)
{
    struct val *s = val_map(a);
    val_set(a, s, "init", val_map(a));
    val_set(a, s, "in", val_map(a));
    return s;
}

struct val *state_copy(struct arena *a, const struct val *state)
{
    return val_copy(a, state);
}

const struct val *state_init(const struct val *state, struct span name)
{
    const struct val *init = val_get(state, "init");
    for (size_t i = 0; i < val_len(init); i++)
        if (span_eq(init->map.keys[i], name))
            return val_get(init->map.v[i], "v");
    return NULL;
}

void state_set_init(struct arena *a, struct val *state, struct span name,
                    struct val *value, const char *evidence)
{
    struct val *init = val_get(state, "init");
    const char *key = arena_strdup(a, name);
    if (!value) {
        val_del(init, key);
        return;
    }
    struct val *entry = val_map(a);
    val_set(a, entry, "v", value);
    val_set(a, entry, "ev", val_strz(a, evidence));
    val_set(a, init, key, entry);
}

struct val *state_input(const struct val *state, struct span name)
{
    const struct val *in = val_get(state, "in");
    for (size_t i = 0; i < val_len(in); i++)
        if (span_eq(in->map.keys[i], name))
            return in->map.v[i];
    return NULL;
}

void state_set_input(struct arena *a, struct val *state, struct span name,
                     struct val *input)
{
    struct val *in = val_get(state, "in");
    const char *key = arena_strdup(a, name);
    if (input)
        val_set(a, in, key, input);
    else
        val_del(in, key);
}

struct span state_form(const struct val *state, struct span name)
{
    const struct val *form = val_get(state, "form");
    for (size_t i = 0; i < val_len(form); i++)
        if (span_eq(form->map.keys[i], name))
            return val_as_str(form->map.v[i]);
    return (struct span){NULL, 0};
}

bool state_has_form(const struct val *state, struct span how)
{
    const struct val *form = val_get(state, "form");
    for (size_t i = 0; i < val_len(form); i++)
        if (span_eq(val_as_str(form->map.v[i]), how))
            return true;
    return false;
}

void state_set_form(struct arena *a, struct val *state, struct span name,
                    const char *how)
{
    if (!val_get(state, "form"))
        val_set(a, state, "form", val_map(a));
    val_set(a, val_get(state, "form"), arena_strdup(a, name), val_strz(a, how));
}

struct span key_argument(struct span key)
{
    const char *dot = memchr(key.p, '.', key.n);
    return (struct span){key.p, dot ? (size_t)(dot - key.p) : 0};
}

struct span key_field(struct span key)
{
    size_t n = key_argument(key).n;
    return n ? (struct span){key.p + n + 1, key.n - n - 1} : key;
}

static bool is_part(struct span key, struct span name)
{
    return span_eq(key_argument(key), name);
}

bool state_passes(const struct val *state, struct span name)
{
    const struct val *in = val_get(state, "in");
    for (size_t i = 0; i < val_len(in); i++)
        if (span_eq(in->map.keys[i], name) || is_part(in->map.keys[i], name))
            return true;
    return false;
}

void state_drop_input(struct arena *a, struct val *state, struct span name)
{
    struct val *in = val_get(state, "in");
    for (size_t i = val_len(in); i > 0; i--)
        if (span_eq(in->map.keys[i - 1], name) ||
            is_part(in->map.keys[i - 1], name))
            state_set_input(a, state, in->map.keys[i - 1], NULL);
    if (state_form(state, name).n)
        val_del(val_get(state, "form"), arena_strdup(a, name));
}

size_t state_order(const struct facts *f, const struct val *state,
                   struct span *keys, size_t cap)
{
    const struct val *in = val_get(state, "in");
    size_t n = 0;
    for (size_t i = 0; i < f->forward.n; i++)
        for (size_t k = 0; k < val_len(in); k++)
            if (n < cap && (span_eq(in->map.keys[k], f->forward.v[i].name) ||
                            is_part(in->map.keys[k], f->forward.v[i].name)))
                keys[n++] = in->map.keys[k];
    return n;
}

struct val *expr_val(struct arena *a, const char *text)
{
    struct val *v = val_map(a);
    val_set(a, v, "$", val_strz(a, text));
    return v;
}

bool is_expr(const struct val *v)
{
    return v && v->type == VAL_MAP && val_gets(v, "$").p;
}

struct val *tuple_val(struct arena *a, struct val *list)
{
    struct val *v = val_map(a);
    val_set(a, v, "()", list);
    return v;
}

const struct val *seq_items(const struct val *v)
{
    if (v && v->type == VAL_MAP)
        v = val_get(v, "()");
    return v && v->type == VAL_LIST ? v : NULL;
}

/* ---- inputs ---- */

static struct val *shape_val(struct arena *a, const int64_t *shape, size_t rank)
{
    struct val *l = val_list(a);
    for (size_t i = 0; i < rank; i++)
        val_push(a, l, val_int(a, shape[i]));
    return l;
}

struct val *input_tensor(struct arena *a, struct span name,
                         const int64_t *shape, size_t rank)
{
    struct val *v = val_map(a);
    val_set(a, v, "name", val_str(a, name));
    val_set(a, v, "kind", val_strz(a, "tensor"));
    val_set(a, v, "shape", shape_val(a, shape, rank));
    val_set(a, v, "dtype", val_strz(a, "float32"));
    val_set(a, v, "dist", val_strz(a, "normal"));
    return v;
}

struct val *input_ids(struct arena *a, struct span name, const int64_t *shape,
                      size_t rank, int64_t hi)
{
    struct val *v = input_tensor(a, name, shape, rank);
    val_set(a, v, "dtype", val_strz(a, "int64"));
    val_set(a, v, "dist", val_strz(a, "int"));
    val_set(a, v, "lo", val_int(a, 0));
    val_set(a, v, "hi", val_int(a, hi));
    return v;
}

struct val *input_mask(struct arena *a, struct span name, const int64_t *shape,
                       size_t rank)
{
    struct val *v = input_tensor(a, name, shape, rank);
    val_set(a, v, "dtype", val_strz(a, "bool"));
    val_set(a, v, "dist", val_strz(a, "bool"));
    val_set(a, v, "p", val_float(a, 0.75));
    return v;
}

struct val *input_value(struct arena *a, struct span name, struct val *value)
{
    static const char *const kinds[] = {
        [VAL_NIL] = "none",    [VAL_BOOL] = "bool", [VAL_INT] = "int",
        [VAL_FLOAT] = "float", [VAL_STR] = "str",   [VAL_LIST] = "list"};
    struct val *v = val_map(a);
    val_set(a, v, "name", val_str(a, name));
    val_set(a, v, "kind", val_strz(a, kinds[value->type]));
    if (value->type == VAL_LIST)
        val_set(a, v, "items", value);
    else if (value->type != VAL_NIL)
        val_set(a, v, "value", value);
    return v;
}

struct val *input_reshaped(struct arena *a, const struct val *input,
                           const int64_t *shape, size_t rank)
{
    struct val *v = val_copy(a, input);
    val_set(a, v, "shape", shape_val(a, shape, rank));
    return v;
}

bool input_is_tensor(const struct val *input)
{
    return span_is(val_gets(input, "kind"), "tensor");
}

size_t input_shape(const struct val *input, int64_t *shape, size_t cap)
{
    const struct val *l = val_get(input, "shape");
    size_t n = MIN(val_len(l), cap);
    for (size_t i = 0; i < n; i++)
        shape[i] = val_as_int(val_at(l, i), 1);
    return n;
}

static int64_t input_elements(const struct val *input)
{
    int64_t shape[MAX_RANK], n = 1;
    const struct val *items = val_get(input, "items");
    if (items) {
        n = 0;
        for (size_t i = 0; i < val_len(items); i++)
            n += input_elements(val_at(items, i));
        return n;
    }
    if (!input_is_tensor(input))
        return 0;
    size_t rank = input_shape(input, shape, MAX_RANK);
    for (size_t i = 0; i < rank; i++)
        if (__builtin_mul_overflow(n, shape[i], &n))
            return INT64_MAX / 64;
    return n;
}

int64_t state_elements(const struct val *state)
{
    const struct val *in = val_get(state, "in");
    int64_t n = 0;
    for (size_t i = 0; i < val_len(in); i++)
        n += input_elements(in->map.v[i]);
    return n;
}

/* ---- Python text ---- */

static int py_string(struct buf *out, struct span s)
{
    buf_addc(out, '\'');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '\'' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c < 32 || c == 127)
            buf_printf(out, "\\x%02x", c);
        else
            buf_addc(out, (char)c);
    }
    return buf_addc(out, '\'');
}

static int py_literal_at(struct buf *out, const struct val *v, int depth)
{
    if (is_expr(v))
        return buf_addspan(out, val_gets(v, "$"));
    switch (v->type) {
    case VAL_NIL:
        return buf_adds(out, "None");
    case VAL_BOOL:
        return buf_adds(out, v->b ? "True" : "False");
    case VAL_INT:
        return buf_printf(out, "%" PRId64, v->i);
    case VAL_FLOAT:
        return val_json(out, v);
    case VAL_STR:
        return py_string(out, v->s);
    default:
        break;
    }
    const char *marks = v->type == VAL_MAP ? "{}" : "[]";
    const struct val *tuple = v->type == VAL_MAP ? val_get(v, "()") : NULL;
    if (tuple) {
        v = tuple;
        marks = "()";
    }
    bool map = v->type == VAL_MAP;
    buf_addc(out, marks[0]);
    for (size_t i = 0; i < val_len(v) && depth < VAL_DEPTH; i++) {
        if (i)
            buf_adds(out, ", ");
        if (map) {
            py_string(out, v->map.keys[i]);
            buf_adds(out, ": ");
        }
        if (py_literal_at(out, map ? v->map.v[i] : v->list.v[i], depth + 1))
            return -1;
    }
    if (tuple && val_len(v) == 1)
        buf_addc(out, ',');
    return buf_addc(out, marks[1]);
}

int py_literal(struct buf *out, const struct val *v)
{
    return py_literal_at(out, v, 0);
}

static bool holds_expr(const struct val *v)
{
    if (is_expr(v) || v->type == VAL_MAP)
        return true;
    for (size_t i = 0; v->type == VAL_LIST && i < v->list.n; i++)
        if (holds_expr(v->list.v[i]))
            return true;
    return false;
}

static const struct val *given_value(const struct val *given, struct span name)
{
    for (size_t k = 0; k < val_len(given); k++)
        if (span_eq(given->map.keys[k], name))
            return given->map.v[k];
    return NULL;
}

/* Constructor arguments in order until one is left out or can only go by
 * keyword. */
static bool inits_in_order(const struct params *ps, const struct val *given)
{
    bool gap = false;
    for (size_t i = 0; i < ps->n; i++) {
        const struct param *p = &ps->v[i];
        const struct val *v = given_value(given, p->name);
        if (!v)
            gap = gap || p->kind != PARAM_VAR;
        else if (gap || p->kind == PARAM_KW || p->kind == PARAM_VAR_KW ||
                 holds_expr(val_get(v, "v")))
            return false;
    }
    return true;
}

static bool inputs_in_order(const struct params *ps, const struct val *state)
{
    bool gap = false;
    if (val_len(val_get(state, "form")) || val_getb(state, "unwrap", false))
        return false;
    for (size_t i = 0; i < ps->n; i++) {
        const struct param *p = &ps->v[i];
        if (!state_input(state, p->name))
            gap = gap || p->kind != PARAM_VAR;
        else if (gap || p->kind == PARAM_KW || p->kind == PARAM_VAR_KW)
            return false;
    }
    return true;
}

static int add_init_list(struct buf *out, const struct params *ps,
                         const struct val *given)
{
    buf_adds(out, "self");
    for (size_t i = 0; i < ps->n; i++) {
        const struct val *v = given_value(given, ps->v[i].name);
        if (v && !holds_expr(val_get(v, "v"))) {
            buf_adds(out, ", ");
            buf_addspan(out, ps->v[i].name);
        }
    }
    return out->full ? -1 : 0;
}

static int add_init_call(struct buf *out, const struct params *ps,
                         const struct val *given)
{
    const char *sep = "";
    bool gap = false;
    for (size_t i = 0; i < ps->n; i++) {
        const struct param *p = &ps->v[i];
        const struct val *v = given_value(given, p->name);
        if (!v) {
            gap = gap || p->kind != PARAM_VAR;
            continue;
        }
        buf_adds(out, sep);
        sep = ", ";
        if (p->kind == PARAM_POS || p->kind == PARAM_KW) {
            buf_addspan(out, p->name);
            buf_addc(out, '=');
        }
        if (holds_expr(val_get(v, "v")))
            py_literal(out, val_get(v, "v"));
        else
            buf_addspan(out, p->name);
    }
    return out->full ? -1 : 0;
}

/* The parameter of Model's forward for KEY: the name of the field, behind that
 * of the argument where it is not the only one. */
static int add_input_name(struct buf *out, const struct facts *f,
                          const struct val *state, struct span key)
{
    const struct val *in = val_get(state, "in");
    struct span argument = key_argument(key), field = key_field(key);
    bool clash = argument.n && params_find(&f->forward, field);
    for (size_t i = 0; i < val_len(in) && argument.n && !clash; i++)
        clash = !span_eq(in->map.keys[i], key) &&
                span_eq(key_field(in->map.keys[i]), field);
    if (clash) {
        buf_addspan(out, argument);
        buf_addc(out, '_');
    }
    return buf_addspan(out, field);
}

static int add_input_list(struct buf *out, const struct facts *f,
                          const struct val *state)
{
    struct span keys[64];
    size_t n = state_order(f, state, keys, 64);
    buf_adds(out, "self");
    for (size_t i = 0; i < n; i++) {
        buf_adds(out, ", ");
        add_input_name(out, f, state, keys[i]);
    }
    return out->full ? -1 : 0;
}

/* What forward gets as argument NAME. */
static int add_argument(struct buf *out, const struct facts *f,
                        const struct val *state, struct span name)
{
    const struct val *in = val_get(state, "in");
    struct span how = state_form(state, name);
    const char *sep = "";
    bool dict = span_is(how, "dict");
    if (span_is(how, "tuple"))
        return buf_printf(out, "tuple(%.*s)", (int)name.n, name.p);
    if (!how.n)
        return buf_addspan(out, name);
    if (dict)
        buf_addc(out, '{');
    else if (span_is(how, "object"))
        buf_adds(out, "__import__('types').SimpleNamespace(");
    else
        buf_printf(out, "%.*s(", (int)how.n, how.p);
    for (size_t i = 0; i < val_len(in); i++) {
        struct span key = in->map.keys[i], field = key_field(key);
        if (!is_part(key, name))
            continue;
        buf_printf(out, dict ? "%s'%.*s': " : "%s%.*s=", sep, (int)field.n,
                   field.p);
        add_input_name(out, f, state, key);
        sep = ", ";
    }
    return buf_addc(out, dict ? '}' : ')');
}

static int add_forward_call(struct buf *out, const struct facts *f,
                            const struct val *state)
{
    const char *sep = "";
    bool gap = false;
    for (size_t i = 0; i < f->forward.n; i++) {
        const struct param *p = &f->forward.v[i];
        if (!state_passes(state, p->name)) {
            gap = gap || p->kind != PARAM_VAR;
            continue;
        }
        buf_adds(out, sep);
        sep = ", ";
        if ((gap && p->kind == PARAM_POS) || p->kind == PARAM_KW) {
            buf_addspan(out, p->name);
            buf_addc(out, '=');
        }
        add_argument(out, f, state, p->name);
    }
    return out->full ? -1 : 0;
}

/* Argument P of a function: an input, or what the constructor keeps. */
static void add_function_argument(struct buf *out, const struct facts *f,
                                  const struct val *state,
                                  const struct param *p)
{
    const struct val *kept = state_init(state, p->name);
    if (state_passes(state, p->name))
        add_argument(out, f, state, p->name);
    else if (holds_expr(kept))
        py_literal(out, kept);
    else
        buf_printf(out, "self.%.*s", (int)p->name.n, p->name.p);
}

/* ENTRY(...) with all that STATE gives. */
static void add_function_call(struct buf *out, const struct facts *f,
                              const struct val *state, struct span entry)
{
    const char *sep = "";
    bool gap = false;
    buf_addspan(out, entry);
    buf_addc(out, '(');
    for (size_t i = 0; i < f->forward.n; i++) {
        const struct param *p = &f->forward.v[i];
        if (!state_passes(state, p->name) && !state_init(state, p->name)) {
            gap = gap || p->kind != PARAM_VAR;
            continue;
        }
        buf_adds(out, sep);
        sep = ", ";
        if ((gap && p->kind == PARAM_POS) || p->kind == PARAM_KW)
            buf_printf(out, "%.*s=", (int)p->name.n, p->name.p);
        if (p->kind == PARAM_VAR && state_input(state, p->name) &&
            !input_is_tensor(state_input(state, p->name)))
            buf_addc(out, '*');
        add_function_argument(out, f, state, p);
    }
    buf_addc(out, ')');
}

/* A module around a function: it keeps what is no input. */
static void add_function_model(struct buf *out, const struct facts *f,
                               const struct val *state, struct span entry)
{
    const struct val *init = val_get(state, "init");
    bool unwrap = val_getb(state, "unwrap", false);
    bool kept = false;
    buf_adds(out, "import torch\n\n\nclass Model(torch.nn.Module):\n");
    for (size_t i = 0; i < f->init.n; i++) {
        struct span name = f->init.v[i].name;
        const struct val *v = state_init(state, name);
        if (!v || holds_expr(v))
            continue;
        if (!kept) {
            buf_adds(out, "    def __init__(");
            add_init_list(out, &f->init, init);
            buf_adds(out, "):\n        super().__init__()\n");
        }
        kept = true;
        buf_printf(out, "        self.%.*s = %.*s\n", (int)name.n, name.p,
                   (int)name.n, name.p);
    }
    buf_adds(out, kept ? "\n    def forward(" : "    def forward(");
    add_input_list(out, f, state);
    buf_adds(out, unwrap ? "):\n        out = " : "):\n        return ");
    add_function_call(out, f, state, entry);
    buf_adds(out, unwrap ? "\n        return [v for v in vars(out).values() if "
                           "isinstance(v, torch.Tensor)]\n"
                         : "\n");
}

static int add_get_init(struct buf *out, const struct facts *f,
                        const struct val *state)
{
    struct arena a = ARENA_INIT;
    buf_adds(out, "\n\ndef get_init_inputs():\n    return ");
    int r = py_literal(out, state_task_init(&a, f, state));
    arena_release(&a);
    buf_addc(out, '\n');
    return r || out->full ? -1 : 0;
}

int state_model_text(struct buf *out, const struct facts *f,
                     const struct val *state, struct span entry)
{
    if (f->is_function) {
        add_function_model(out, f, state, entry);
        return add_get_init(out, f, state);
    }
    const struct val *init = val_get(state, "init");
    bool unwrap = val_getb(state, "unwrap", false);
    bool redraw = val_getb(state, "redraw", false);
    bool plain_init = inits_in_order(&f->init, init) && !redraw;
    bool plain_forward = inputs_in_order(&f->forward, state);

    buf_adds(out, "import torch\n\n\nclass Model(");
    buf_addspan(out, entry);
    buf_adds(out, "):\n");
    if (!plain_init) {
        buf_adds(out, "    def __init__(");
        add_init_list(out, &f->init, init);
        buf_adds(out, "):\n        super().__init__(");
        add_init_call(out, &f->init, init);
        buf_adds(out, ")\n");
    }
    if (redraw)
        buf_adds(out, "        for p in self.parameters():\n"
                      "            if p.is_floating_point() and "
                      "bool((p.abs() < 1e-3).all()):\n"
                      "                torch.nn.init.normal_(p, std=0.2)\n");
    if (!plain_forward) {
        buf_adds(out, plain_init ? "    def forward(" : "\n    def forward(");
        add_input_list(out, f, state);
        buf_adds(out, unwrap ? "):\n        out = super().forward("
                             : "):\n        return super().forward(");
        add_forward_call(out, f, state);
        buf_adds(out, ")\n");
        if (unwrap)
            buf_adds(out, "        return [v for v in vars(out).values() if "
                          "isinstance(v, torch.Tensor)]\n");
    }
    if (plain_init && plain_forward)
        buf_adds(out, "    pass\n");
    return add_get_init(out, f, state);
}

static int add_shape(struct buf *out, const struct val *input)
{
    const struct val *l = val_get(input, "shape");
    buf_addc(out, '(');
    for (size_t i = 0; i < val_len(l); i++)
        buf_printf(out, "%s%" PRId64, i ? ", " : "",
                   val_as_int(val_at(l, i), 1));
    return buf_adds(out, val_len(l) == 1 ? ",)" : ")");
}

static int add_tensor(struct buf *out, const struct val *input)
{
    struct span dist = val_gets(input, "dist");
    struct span dtype = val_gets(input, "dtype");
    if (span_is(dist, "int")) {
        buf_printf(out, "torch.randint(%" PRId64 ", %" PRId64 ", ",
                   val_geti(input, "lo", 0), val_geti(input, "hi", 0) + 1);
        add_shape(out, input);
        if (!span_is(dtype, "int64"))
            buf_printf(out, ", dtype=torch.%.*s", (int)dtype.n, dtype.p);
        return buf_addc(out, ')');
    }
    if (span_is(dist, "bool")) {
        buf_adds(out, "torch.rand");
        add_shape(out, input);
        return buf_printf(out, " < %g", val_getf(input, "p", 0.5));
    }
    buf_adds(out, span_is(dist, "uniform") ? "torch.rand(" : "torch.randn(");
    add_shape(out, input);
    if (!span_is(dtype, "float32"))
        buf_printf(out, ", dtype=torch.%.*s", (int)dtype.n, dtype.p);
    buf_addc(out, ')');
    double lo = val_getf(input, "lo", 0), hi = val_getf(input, "hi", 1);
    if (span_is(dist, "uniform") && (lo != 0 || hi != 1))
        buf_printf(out, " * %g + %g", hi - lo, lo);
    return out->full ? -1 : 0;
}

static int add_input(struct buf *out, const struct val *input)
{
    const struct val *items = val_get(input, "items");
    if (input_is_tensor(input))
        return add_tensor(out, input);
    if (!items) {
        const struct val *v = val_get(input, "value");
        return v ? py_literal(out, v) : buf_adds(out, "None");
    }
    buf_addc(out, '[');
    for (size_t i = 0; i < val_len(items); i++) {
        if (i)
            buf_adds(out, ", ");
        if (add_input(out, val_at(items, i)))
            return -1;
    }
    return buf_addc(out, ']');
}

int state_inputs_text(struct buf *out, const struct facts *f,
                      const struct val *state)
{
    struct arena a = ARENA_INIT;
    const struct val *list = state_task_inputs(&a, f, state);
    buf_adds(out, "def get_inputs():\n    return [");
    for (size_t i = 0; i < val_len(list); i++) {
        if (i)
            buf_adds(out, ",\n            ");
        add_input(out, val_at(list, i));
    }
    buf_adds(out, "]\n");
    arena_release(&a);
    return out->full ? -1 : 0;
}

struct val *state_task_init(struct arena *a, const struct facts *f,
                            const struct val *state)
{
    struct val *list = val_list(a);
    for (size_t i = 0; i < f->init.n; i++) {
        const struct val *v = state_init(state, f->init.v[i].name);
        if (v && !holds_expr(v))
            val_push(a, list, val_copy(a, v));
    }
    return list;
}

struct val *state_task_inputs(struct arena *a, const struct facts *f,
                              const struct val *state)
{
    struct val *list = val_list(a);
    struct span keys[64];
    size_t n = state_order(f, state, keys, 64);
    for (size_t i = 0; i < n; i++) {
        struct val *v = val_copy(a, state_input(state, keys[i]));
        struct buf name = BUF_INIT(512);
        add_input_name(&name, f, state, keys[i]);
        val_set(a, v, "name", val_str(a, buf_span(&name)));
        buf_release(&name);
        val_push(a, list, v);
    }
    return list;
}
