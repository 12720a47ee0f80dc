/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <math.h>

#include "clean/statics_priv.h"

#define MAX_DEPTH 24
#define MAX_STEPS 600
#define MAX_OPEN  8 /* trees at a time, ten times their text */
#define MAX_ITEMS 64
#define MAX_TEXT  120

void statics_init(struct statics *s, struct pyparser *p, struct arena *a)
{
    *s = (struct statics){
        .names = pyrepo_new_borrowing(), .parser = p, .arena = a};
}

void statics_close(struct statics *s)
{
    for (size_t i = 0; i < s->files.n && s->n_open > 0; i++)
        if (s->files.v[i]->open) {
            pytree_release(&s->files.v[i]->tree);
            s->files.v[i]->open = false;
            s->n_open--;
        }
}

void statics_release(struct statics *s)
{
    statics_close(s);
    for (size_t i = 0; i < s->files.n; i++) {
        map_release(&s->files.v[i]->options);
        free(s->files.v[i]);
    }
    array_release(&s->files);
    map_release(&s->by_path);
    pyrepo_free(s->names);
}

struct sfile *statics_add(struct statics *s, struct pymod *m)
{
    struct sfile *f = xcalloc(1, sizeof(*f));

    f->m = m;
    array_push(&s->files, f);
    map_put(&s->by_path, span_str(m->path), f);
    pyrepo_add(s->names, m);
    return f;
}

TSNode statics_root(struct statics *s, struct sfile *f)
{
    struct err e;

    if (f->m->tree.tree)
        return ts_tree_root_node(f->m->tree.tree);
    if (!f->open && s->n_open < MAX_OPEN &&
        pytree_parse(&f->tree, s->parser, f->m->text, 0, &e) == 0) {
        f->open = true;
        s->n_open++;
    }
    return f->open ? ts_tree_root_node(f->tree.tree) : (TSNode){0};
}

void statics_begin(struct statics *s)
{
    s->steps = MAX_STEPS;
    s->n_busy = 0;
}

TSNode statics_node(struct statics *s, struct sfile *f, uint32_t start,
                    uint32_t end)
{
    TSNode root = statics_root(s, f);

    return ts_node_is_null(root)
               ? root
               : ts_node_named_descendant_for_byte_range(root, start, end);
}

TSNode statics_around(TSNode n, const char *type, int up)
{
    for (; up > 0 && !ts_node_is_null(n); up--, n = pynode_parent(n))
        if (pynode_is(n, type))
            return n;
    return (TSNode){0};
}

const struct val *statics_items(const struct val *v)
{
    if (v && v->type == VAL_MAP)
        v = val_get(v, "tuple");
    return v && v->type == VAL_LIST ? v : NULL;
}

struct val *statics_form(struct question q, const char *key, struct val *v)
{
    struct val *m = val_map(q.s->arena);

    val_set(q.s->arena, m, key, v);
    return m;
}

/* ---- literals ---- */

static struct val *number(struct question q, struct span text)
{
    char digits[64];
    size_t n = 0;
    bool whole = true;
    char *end;

    if (text.n >= sizeof(digits))
        return NULL;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != '_')
            digits[n++] = text.p[i];
    digits[n] = '\0';
    if (n > 1 && digits[0] == '0' && strchr("xXoObB", digits[1]))
        return NULL;
    whole = strspn(digits, "0123456789") == n;
    errno = 0;
    if (whole) {
        long long i = strtoll(digits, &end, 10);

        return errno || *end ? NULL : val_int(q.s->arena, i);
    }
    double d = strtod(digits, &end);
    return *end || !isfinite(d) ? NULL : val_float(q.s->arena, d);
}

/* Without escapes, replacement fields and bytes. */
struct val *statics_text(struct question q, TSNode n)
{
    struct span s = pynode_text(q.f->m->text, n);
    size_t quotes = 1;

    while (s.n > 0 && (*s.p == 'r' || *s.p == 'u')) {
        s.p++;
        s.n--;
    }
    if (s.n > 5 && s.p[0] == s.p[1] && s.p[1] == s.p[2])
        quotes = 3;
    if (s.n < 2 * quotes || (s.p[0] != '"' && s.p[0] != '\''))
        return NULL;
    s = (struct span){s.p + quotes, s.n - 2 * quotes};
    if (s.n > MAX_TEXT || (s.n > 0 && memchr(s.p, '\\', s.n)))
        return NULL;
    return val_text(q.s->arena, s);
}

static bool is_number(const struct val *v)
{
    return v && (v->type == VAL_INT || v->type == VAL_FLOAT);
}

static struct val *int_result(struct question q, char op, int64_t x, int64_t y)
{
    int64_t z = 0;
    bool over = false;

    switch (op) {
    case '+':
        over = __builtin_add_overflow(x, y, &z);
        break;
    case '-':
        over = __builtin_sub_overflow(x, y, &z);
        break;
    case '*':
        over = __builtin_mul_overflow(x, y, &z);
        break;
    case 'f': /* // rounds down */
        over = y == 0 || (y == -1 && x == INT64_MIN);
        if (!over)
            z = x / y - (x % y != 0 && (x < 0) != (y < 0));
        break;
    case '%':
        over = y <= 0;
        if (!over)
            z = (x % y + y) % y;
        break;
    case '^':
        over = y < 0 || y > 62;
        z = 1;
        for (int64_t i = 0; i < y && !over; i++)
            over = __builtin_mul_overflow(z, x, &z);
        break;
    default:
        over = true;
    }
    return over ? NULL : val_int(q.s->arena, z);
}

static struct val *float_result(struct question q, char op, double x, double y)
{
    double z = op == '+'               ? x + y
               : op == '-'             ? x - y
               : op == '*'             ? x * y
               : op == '/' && y != 0.0 ? x / y
               : op == 'f' && y != 0.0 ? floor(x / y)
               : op == '^'             ? pow(x, y)
                                       : NAN;

    return isfinite(z) ? val_float(q.s->arena, z) : NULL;
}

/* [4] * 3, [1] + [2] */
static struct val *sequence_result(struct question q, char op,
                                   const struct val *x, const struct val *y)
{
    const struct val *a = statics_items(x), *b = statics_items(y);
    struct val *l = val_list(q.s->arena);
    int64_t times = 1;

    if (op == '*' && y->type == VAL_INT)
        times = y->i;
    else if (op != '+' || !b || x->type != y->type)
        return NULL;
    if (times < 0 || times > MAX_ITEMS ||
        val_len(a) * (size_t)times + val_len(b) > MAX_ITEMS)
        return NULL;
    for (int64_t k = 0; k < times; k++)
        for (size_t i = 0; i < val_len(a); i++)
            val_push(q.s->arena, l, val_at(a, i));
    for (size_t i = 0; i < val_len(b); i++)
        val_push(q.s->arena, l, val_at(b, i));
    return x->type == VAL_MAP ? statics_form(q, "tuple", l) : l;
}

static struct val *binary(struct question q, TSNode n)
{
    struct span op = pynode_text(q.f->m->text, pynode_field(n, "operator"));
    struct val *x = statics_eval(q, pynode_field(n, "left"));
    struct val *y = x ? statics_eval(q, pynode_field(n, "right")) : NULL;
    char c = span_is(op, "//") ? 'f' : span_is(op, "**") ? '^' : '\0';

    if (!y)
        return NULL;
    if (!c)
        c = op.n == 1 ? op.p[0] : '?';
    if (statics_items(x))
        return sequence_result(q, c, x, y);
    if (!is_number(x) || !is_number(y))
        return NULL;
    if (x->type == VAL_INT && y->type == VAL_INT && c != '/')
        return int_result(q, c, x->i, y->i);
    return float_result(q, c, val_as_float(x, 0), val_as_float(y, 0));
}

static struct val *unary(struct question q, TSNode n)
{
    struct span op = pynode_text(q.f->m->text, pynode_field(n, "operator"));
    struct val *x = statics_eval(q, pynode_field(n, "argument"));

    if (!is_number(x) || span_is(op, "~"))
        return NULL;
    if (!span_is(op, "-"))
        return x;
    if (x->type == VAL_FLOAT)
        return val_float(q.s->arena, -x->f);
    return x->i == INT64_MIN ? NULL : val_int(q.s->arena, -x->i);
}

static struct val *items(struct question q, TSNode n)
{
    struct val *l = val_list(q.s->arena);
    uint32_t count = pynode_count(n);

    if (count > MAX_ITEMS)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        TSNode c = pynode_child(n, i);
        struct val *v;

        if (pynode_is(c, "comment"))
            continue;
        v = statics_eval(q, c);
        if (!v)
            return NULL;
        val_push(q.s->arena, l, v);
    }
    return l;
}

static void put(struct question q, struct val *map, struct span key,
                struct val *v)
{
    if (map->map.n < MAX_ITEMS)
        val_set(q.s->arena, map, arena_strdup(q.s->arena, key), v);
}

/* Copy the entries of a {dict: ...}; false when it is none. */
static bool merge(struct question q, struct val *into, const struct val *v)
{
    const struct val *d = v && v->type == VAL_MAP ? val_get(v, "dict") : NULL;

    for (size_t i = 0; i < val_len(d); i++)
        put(q, into, d->map.keys[i], d->map.v[i]);
    return d != NULL;
}

static struct val *dictionary(struct question q, TSNode n)
{
    struct val *d = val_map(q.s->arena);

    for (uint32_t i = 0; i < pynode_count(n); i++) {
        TSNode c = pynode_child(n, i);
        struct val *key, *v;

        if (i > MAX_ITEMS)
            return NULL;
        if (pynode_is(c, "comment"))
            continue;
        if (pynode_is(c, "dictionary_splat")) {
            if (!merge(q, d, statics_eval(q, pynode_child(c, 0))))
                return NULL;
            continue;
        }
        key = statics_eval(q, pynode_field(c, "key"));
        v = key && key->type == VAL_STR
                ? statics_eval(q, pynode_field(c, "value"))
                : NULL;
        if (!v)
            return NULL;
        put(q, d, key->s, v);
    }
    return statics_form(q, "dict", d);
}

/* ---- calls ---- */

/* The whole of a text of identifiers and dots is the name of a class. */
static bool names_class(struct span dotted)
{
    struct span last = span_last_part(dotted);

    return last.n > 0 && last.n < dotted.n && last.p[0] >= 'A' &&
           last.p[0] <= 'Z';
}

/* list(x), tuple(x), dict(a=1), int(x), float(x) */
static struct val *builtin_call(struct question q, struct span name,
                                struct val *args, struct val *kw)
{
    const struct val *x = val_at(args, 0), *l = statics_items(x);

    if (span_is(name, "dict") && val_len(args) <= 1) {
        struct val *d = val_map(q.s->arena);

        if (x && !merge(q, d, x))
            return NULL;
        for (size_t i = 0; i < kw->map.n; i++)
            put(q, d, kw->map.keys[i], kw->map.v[i]);
        return statics_form(q, "dict", d);
    }
    if (val_len(args) != 1 || val_len(kw) != 0)
        return NULL;
    if (span_is(name, "list") && l)
        return val_copy(q.s->arena, l);
    if (span_is(name, "tuple") && l)
        return statics_form(q, "tuple", val_copy(q.s->arena, l));
    if (span_is(name, "float") && is_number(x))
        return val_float(q.s->arena, val_as_float(x, 0));
    if (span_is(name, "int") && is_number(x) && fabs(val_as_float(x, 0)) < 1e15)
        return val_int(q.s->arena, (int64_t)val_as_float(x, 0));
    return NULL;
}

static bool all_known(const struct val *args, const struct val *kw)
{
    for (size_t i = 0; i < val_len(args); i++)
        if (val_get(val_at(args, i), "unknown"))
            return false;
    for (size_t i = 0; i < val_len(kw); i++)
        if (val_get(kw->map.v[i], "unknown"))
            return false;
    return true;
}

static struct val *call(struct question q, TSNode n)
{
    TSNode function = pynode_field(n, "function");
    struct span dotted = pynode_dotted(q.f->m->text, function);
    struct val *args = val_list(q.s->arena), *kw = val_map(q.s->arena), *made;
    struct val *what = NULL;
    struct pyref ref;

    if (dotted.n == 0)
        return NULL;
    ref = pyrepo_resolve(q.s->names, q.f->m, ts_node_start_byte(function),
                         dotted);
    if (ref.kind == PYREF_EXTERNAL &&
        ((span_starts(ref.dotted, "torch.nn.") && names_class(ref.dotted)) ||
         span_is(ref.dotted, "functools.partial")))
        what = val_text(q.s->arena, ref.dotted);
    else if (ref.kind == PYREF_SYM && ref.rest.n == 0 &&
             (ref.sym->kind == PYSYM_CLASS || ref.sym->kind == PYSYM_FUNCTION))
        what = statics_own_name(q, ref.mod, ref.sym);
    if (!what && ref.kind != PYREF_BUILTIN)
        return NULL;
    if (statics_actuals(q, pynode_field(n, "arguments"), args, kw) ||
        !all_known(args, kw))
        return NULL;
    if (!what)
        return builtin_call(q, dotted, args, kw);
    made = statics_form(q, "call", what);
    val_set(q.s->arena, made, "args", args);
    val_set(q.s->arena, made, "kw", kw);
    return made;
}

/* SEQUENCE[3], MAP["name"] */
static struct val *item(struct question q, TSNode n)
{
    struct val *x = statics_eval(q, pynode_field(n, "value"));
    struct val *k = x ? statics_eval(q, pynode_field(n, "subscript")) : NULL;
    const struct val *l = statics_items(x);
    const struct val *d = x && x->type == VAL_MAP ? val_get(x, "dict") : NULL;

    if (l && k && k->type == VAL_INT) {
        int64_t i = k->i < 0 ? k->i + (int64_t)val_len(l) : k->i;

        return i < 0 ? NULL : val_at(l, (size_t)i);
    }
    for (size_t i = 0; k && k->type == VAL_STR && i < val_len(d); i++)
        if (span_eq(d->map.keys[i], k->s))
            return d->map.v[i];
    return NULL;
}

static struct val *chosen(struct question q, TSNode n)
{
    const struct val *condition = statics_eval(q, pynode_child(n, 1));
    bool yes = val_as_bool(condition, false);

    if (!condition)
        return NULL;
    if (condition->type == VAL_NIL)
        yes = false;
    else if (condition->type != VAL_BOOL)
        return NULL;
    return statics_eval(q, pynode_child(n, yes ? 0 : 2));
}

struct val *statics_eval(struct question q, TSNode n)
{
    struct arena *a = q.s->arena;
    struct span dotted;
    struct val *l;

    if (ts_node_is_null(n) || q.s->steps-- <= 0 || ++q.depth > MAX_DEPTH)
        return NULL;
    if (pynode_is(n, "integer") || pynode_is(n, "float"))
        return number(q, pynode_text(q.f->m->text, n));
    if (pynode_is(n, "true") || pynode_is(n, "false"))
        return val_bool(a, pynode_is(n, "true"));
    if (pynode_is(n, "none"))
        return val_nil(a);
    if (pynode_is(n, "string"))
        return statics_text(q, n);
    if (pynode_is(n, "unary_operator"))
        return unary(q, n);
    if (pynode_is(n, "binary_operator"))
        return binary(q, n);
    if (pynode_is(n, "parenthesized_expression"))
        return statics_eval(q, pynode_child(n, 0));
    if (pynode_is(n, "list"))
        return items(q, n);
    if (pynode_is(n, "tuple") || pynode_is(n, "expression_list")) {
        l = items(q, n);
        return l ? statics_form(q, "tuple", l) : NULL;
    }
    if (pynode_is(n, "dictionary"))
        return dictionary(q, n);
    if (pynode_is(n, "call"))
        return call(q, n);
    if (pynode_is(n, "subscript"))
        return item(q, n);
    if (pynode_is(n, "conditional_expression"))
        return chosen(q, n);
    dotted = pynode_dotted(q.f->m->text, n);
    return dotted.n ? statics_name_value(q, ts_node_start_byte(n), dotted)
                    : NULL;
}

/* V, or that it is not known. */
static struct val *known(struct question q, struct val *v)
{
    return v ? v : statics_form(q, "unknown", val_bool(q.s->arena, true));
}

static int one_argument(struct question q, TSNode c, struct val *args,
                        struct val *kw)
{
    TSNode in = pynode_child(c, 0);

    if (pynode_is(c, "comment"))
        return 0;
    if (pynode_is(c, "keyword_argument")) {
        put(q, kw, pynode_text(q.f->m->text, pynode_field(c, "name")),
            known(q, statics_eval(q, pynode_field(c, "value"))));
    } else if (pynode_is(c, "dictionary_splat")) {
        (void)merge(q, kw, statics_eval(q, in));
    } else if (pynode_is(c, "list_splat")) {
        const struct val *l = statics_items(statics_eval(q, in));

        if (!l)
            return -1;
        for (size_t i = 0; i < val_len(l); i++)
            val_push(q.s->arena, args, val_at(l, i));
    } else {
        val_push(q.s->arena, args, known(q, statics_eval(q, c)));
    }
    return val_len(args) > MAX_ITEMS ? -1 : 0;
}

int statics_actuals(struct question q, TSNode n, struct val *args,
                    struct val *kw)
{
    if (!pynode_is(n, "argument_list") || pynode_count(n) > MAX_ITEMS)
        return -1;
    for (uint32_t i = 0; i < pynode_count(n); i++)
        if (one_argument(q, pynode_child(n, i), args, kw))
            return -1;
    return 0;
}

int statics_arguments(struct statics *s, struct sfile *f, TSNode n,
                      struct val *args, struct val *kw)
{
    struct question q = {s, f, 0};

    return statics_actuals(q, n, args, kw);
}

struct val *statics_value(struct statics *s, struct sfile *f, TSNode n)
{
    struct question q = {s, f, 0};

    return statics_eval(q, n);
}

struct val *statics_name(struct statics *s, struct sfile *f, uint32_t at,
                         struct span dotted)
{
    struct question q = {s, f, 0};

    return dotted.n ? statics_name_value(q, at, dotted) : NULL;
}
