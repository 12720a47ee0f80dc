/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <ctype.h>

#include "testgen/facts_walk.h"
#include "testgen/objects.h"
#include "testgen/propose.h"

#define OBJECT_DEPTH 3

/* ---- defaults ---- */

/* The text of a literal that begins S: no names but None, True and False. It
 * ends before a comma or bracket that it did not open, or a line end. */
static struct span literal_at(struct span s)
{
    int nested = 0;
    size_t i = 0;
    while (i < s.n && i < 120) {
        char c = s.p[i];
        if (c == '\'' || c == '"') {
            const char *end = memchr(s.p + i + 1, c, s.n - i - 1);
            if (!end || end - s.p > 200)
                return (struct span){NULL, 0};
            i = (size_t)(end - s.p) + 1;
        } else if (isalpha((unsigned char)c) || c == '_') {
            size_t k = i;
            while (k < s.n && is_word_char(s.p[k]))
                k++;
            struct span w = {s.p + i, k - i};
            bool number = i > 0 && isdigit((unsigned char)s.p[i - 1]);
            if (!number && !span_is(w, "None") && !span_is(w, "True") &&
                !span_is(w, "False"))
                return (struct span){NULL, 0};
            i = k;
        } else if (c == '(' || c == '[') {
            if (i > 0 && is_word_char(s.p[i - 1]))
                return (struct span){NULL, 0};
            nested++;
            i++;
        } else if ((c == ')' || c == ']') && nested > 0) {
            nested--;
            i++;
        } else if (isdigit((unsigned char)c) || strchr(".-+ *", c) ||
                   (c == ',' && nested)) {
            i++;
        } else {
            break;
        }
    }
    while (i > 0 && s.p[i - 1] == ' ')
        i--;
    bool ends = i < s.n && strchr(",)\n#", s.p[i]) != NULL;
    return nested == 0 && i > 0 && (ends || i == s.n) ? (struct span){s.p, i}
                                                      : (struct span){NULL, 0};
}

static struct span after_space(struct span s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\n')) {
        s.p++;
        s.n--;
    }
    return s;
}

static struct span rest_of(struct span text, const char *p)
{
    return (struct span){p, text.n - (size_t)(p - text.p)};
}

/* getattr(args, "name", DEFAULT) */
static struct span getattr_default(struct span text, struct span name)
{
    const char *p = text.p, *end = text.p + text.n;
    while ((p = memmem(p, (size_t)(end - p), "getattr(", 8)) != NULL) {
        p += 8;
        struct span s = rest_of(text, p);
        size_t i = 0;
        while (i < s.n && i < 60 && s.p[i] != ',' && s.p[i] != ')')
            i++;
        if (i == s.n || s.p[i] != ',')
            continue;
        s = after_space(rest_of(text, s.p + i + 1));
        if (s.n < name.n + 4 || (s.p[0] != '"' && s.p[0] != '\'') ||
            memcmp(s.p + 1, name.p, name.n) != 0 || s.p[name.n + 1] != s.p[0] ||
            s.p[name.n + 2] != ',')
            continue;
        s = literal_at(after_space(rest_of(text, s.p + name.n + 3)));
        if (s.n)
            return s;
    }
    return (struct span){NULL, 0};
}

/* default=VALUE of the call that begins at S. */
static struct span keyword_default(struct span s)
{
    size_t n = MIN(s.n, 400);
    const char *stop = memmem(s.p + 1, n - (n > 0), "add_argument", 12);
    if (stop)
        n = (size_t)(stop - s.p);
    const char *p = memmem(s.p, n, "default=", 8);
    return p ? literal_at((struct span){p + 8, s.n - (size_t)(p + 8 - s.p)})
             : (struct span){NULL, 0};
}

/* "--name-of-option" of a command line */
static struct span option_default(struct span text, struct span name)
{
    char option[100];
    if (name.n > 90)
        return (struct span){NULL, 0};
    int n = snprintf(option, sizeof(option), "--%.*s", (int)name.n, name.p);
    for (int dashes = 0; dashes < 2; dashes++) {
        const char *p = memmem(text.p, text.n, option, (size_t)n);
        if (p && (p[n] == '"' || p[n] == '\''))
            return keyword_default(rest_of(text, p));
        for (int i = 2; i < n; i++)
            option[i] = option[i] == '_' ? '-' : option[i];
    }
    return (struct span){NULL, 0};
}

/* Of a field of one of the classes that hold options. */
static struct span field_default(const struct facts *f, struct span name)
{
    for (size_t i = 0; i < f->mod->syms.n; i++) {
        const struct pysym *s = &f->mod->syms.v[i];
        if (!span_eq(s->name, name) || s->value_start == s->value_end)
            continue;
        for (size_t k = 0; k < f->classes.n; k++) {
            const struct pydef *d = pymod_def(f->mod, f->classes.v[k]);
            if (!d || d->scope != s->scope)
                continue;
            struct span v = pymod_text(f->mod, s->value_start, s->value_end);
            struct span lit =
                span_starts(v, "field(") ? keyword_default(v) : literal_at(v);
            if (lit.n)
                return lit;
        }
    }
    return (struct span){NULL, 0};
}

struct span object_default(const struct facts *f, struct span name)
{
    struct span s = field_default(f, name);
    if (!s.n)
        s = getattr_default(f->mod->text, name);
    return s.n ? s : option_default(f->mod->text, name);
}

/* ---- configurations ---- */

/* The option-like class of the source that P may stand for. */
static struct span config_class(const struct facts *f, const struct param *p)
{
    for (size_t i = 0; i < f->classes.n; i++)
        if (span_eq(p->annotation, f->classes.v[i]))
            return f->classes.v[i];
    bool named = span_starts(p->name, "config") || span_is(p->name, "cfg") ||
                 span_is(p->name, "args") || span_is(p->name, "opt") ||
                 span_is(p->name, "hparams") || span_is(p->name, "conf") ||
                 span_is(p->name, "params") || span_is(p->name, "options");
    if (named && f->classes.n == 1 && !p->annotation.n)
        return f->classes.v[0];
    return (struct span){NULL, 0};
}

/* CLASS(field=value, ...) for the fields without a default. */
static const char *config_expr(struct arena *a, const struct facts *f,
                               struct span cls)
{
    const struct pydef *d = pymod_def(f->mod, cls);
    struct buf b = BUF_INIT(8192);
    const char *sep = "";
    buf_printf(&b, "%.*s(", (int)cls.n, cls.p);
    for (size_t i = 0; d && i < f->mod->syms.n; i++) {
        const struct pysym *s = &f->mod->syms.v[i];
        if (s->scope != d->scope || s->kind != PYSYM_ANNOTATED ||
            s->value_start != s->value_end)
            continue;
        struct val *v = propose_by_name(a, f, s->name);
        struct span known =
            v ? (struct span){NULL, 0} : option_default(f->mod->text, s->name);
        buf_printf(&b, "%s%.*s=", sep, (int)s->name.n, s->name.p);
        if (known.n ? buf_addspan(&b, known)
                    : py_literal(&b, v ? v : val_int(a, 16)))
            break;
        sep = ", ";
    }
    buf_addc(&b, ')');
    const char *text = arena_strdup(a, buf_span(&b));
    buf_release(&b);
    return text;
}

/* ---- plain objects ---- */

/* Methods of values that options have: the option itself is no object. */
static const char *const text_methods[] = {
    "lower",  "upper",   "split",  "startswith", "endswith", "strip",
    "format", "replace", "rstrip", "lstrip",     "join",     "encode"};
static const char *const table_methods[] = {
    "items", "keys", "values", "get", "update", "pop", "setdefault"};
static const char *const list_methods[] = {"append", "extend", "index",
                                           "insert", "sort",   "copy"};

struct tree {
    struct arena *a;
    const struct facts *f;
    const struct param *p;
    struct buf *out;
};

static bool has_path(const struct spans *list, struct span prefix,
                     struct span name)
{
    for (size_t i = 0; i < list->n; i++) {
        struct span s = list->v[i];
        if (span_begins(s, prefix) &&
            span_eq((struct span){s.p + prefix.n, s.n - prefix.n}, name))
            return true;
    }
    return false;
}

/* First part of a path behind PREFIX ("a." or empty); empty if it is not
 * there. */
static struct span part_of(struct span path, struct span prefix)
{
    size_t n = prefix.n;
    if (path.n <= n || !span_begins(path, prefix))
        return (struct span){NULL, 0};
    while (n < path.n && path.p[n] != '.')
        n++;
    return (struct span){path.p + prefix.n, n - prefix.n};
}

static int add_method(struct buf *out, struct span name)
{
    static const char *const rows[][2] = {{"pad", "1"},
                                          {"eos", "2"},
                                          {"bos", "0"},
                                          {"unk", "3"},
                                          {"to_dict", "{}"},
                                          {"items", "[]"},
                                          {"keys", "[]"},
                                          {"values", "[]"},
                                          {"index", "1"},
                                          {"get", "None"},
                                          {"parameters", "iter(())"},
                                          {"to_container", "{}"}};
    const char *value = "16";
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (span_is(name, rows[i][0]))
            value = rows[i][1];
    return buf_printf(out, "lambda *a, **k: %s", value);
}

static int add_leaf(const struct tree *t, struct span name, struct span path)
{
    struct span known = object_default(t->f, name);
    struct val *v;
    if (known.n && !span_is(known, "None"))
        return buf_addspan(t->out, known);
    for (size_t i = 0; i < t->p->called.n; i++) {
        struct span m = t->p->called.v[i];
        if (m.n <= path.n + 1 || !span_begins(m, path) || m.p[path.n] != '.')
            continue;
        m = (struct span){m.p + path.n + 1, m.n - path.n - 1};
        if (span_in(m, text_methods, ARRAY_LEN(text_methods)))
            return buf_adds(t->out, "'relu'");
        if (span_in(m, table_methods, ARRAY_LEN(table_methods)))
            return buf_adds(t->out, "{}");
        if (span_in(m, list_methods, ARRAY_LEN(list_methods)))
            return buf_adds(t->out, "[]");
    }
    v = propose_by_name(t->a, t->f, name);
    return py_literal(t->out, v ? v : val_int(t->a, 16));
}

static bool is_value_method(struct span s)
{
    return span_in(s, text_methods, ARRAY_LEN(text_methods)) ||
           span_in(s, table_methods, ARRAY_LEN(table_methods)) ||
           span_in(s, list_methods, ARRAY_LEN(list_methods));
}

static bool has_span(const struct spans *list, struct span s)
{
    return has_path(list, (struct span){NULL, 0}, s);
}

/* Something is read from PATH that makes it an object. */
static bool is_inner(const struct param *p, struct span path)
{
    for (size_t i = 0; i < p->attrs.n; i++) {
        struct span s = p->attrs.v[i];
        if (s.n <= path.n + 1 || s.p[path.n] != '.' || !span_begins(s, path))
            continue;
        struct span next = part_of(s, (struct span){s.p, path.n + 1});
        bool tensor = span_is(next, "shape") || span_is(next, "device") ||
                      span_is(next, "dtype") || has_span(&p->called, s);
        if (!is_value_method(next) && !tensor)
            return true;
    }
    return false;
}

static int add_object(const struct tree *t, struct span prefix, int depth);

/* KEY=value or 'KEY': value */
static int add_member(const struct tree *t, struct span prefix,
                      struct span name, bool keyed, int depth)
{
    char text[300];
    int n = snprintf(text, sizeof(text), "%.*s%.*s", (int)MIN(prefix.n, 140),
                     prefix.p ? prefix.p : "", (int)MIN(name.n, 140), name.p);
    struct span path = {text, (size_t)n};
    buf_printf(t->out, keyed ? "'%.*s': " : "%.*s=", (int)name.n, name.p);
    if (has_path(&t->p->called, prefix, name))
        return add_method(t->out, name);
    if (depth < OBJECT_DEPTH && is_inner(t->p, path)) {
        text[n++] = '.';
        return add_object(t, (struct span){text, (size_t)n}, depth + 1);
    }
    return add_leaf(t, name, path);
}

/* The members below PREFIX, each once. Methods, a length or items make it an
 * instance of a class, which SimpleNamespace can not be. */
static int add_object(const struct tree *t, struct span prefix, int depth)
{
    const struct param *p = t->p;
    bool top = prefix.n == 0, table = top && (p->uses & USE_KEYED);
    bool sized = top && !table && (p->uses & (USE_ITERATED | USE_INDEXED));
    const char *sep = "";
    struct spans done = {0};
    buf_adds(t->out, table   ? "{"
                     : sized ? "type('Plain', (), {"
                             : "__import__('types').SimpleNamespace(");
    for (size_t i = 0; i < p->attrs.n; i++) {
        struct span name = part_of(p->attrs.v[i], prefix);
        size_t before = done.n;
        spans_add(&done, name);
        if (done.n == before || (top && span_starts(name, "__")) ||
            (table && is_value_method(name)) ||
            (table && !has_path(&p->keys, prefix, name)))
            continue;
        buf_adds(t->out, sep);
        sep = ", ";
        if (add_member(t, prefix, name, table || sized, depth))
            break;
    }
    array_release(&done);
    if (sized)
        buf_printf(t->out,
                   "%s'__len__': lambda s: 128, '__getitem__': lambda s, i: "
                   "1})()",
                   sep);
    else
        buf_addc(t->out, table ? '}' : ')');
    return t->out->full ? -1 : 0;
}

/* Only methods of texts, lists and tables, or of tensors, are read. */
static bool is_plain_value(const struct param *p)
{
    for (size_t i = 0; i < p->attrs.n; i++) {
        struct span s = part_of(p->attrs.v[i], (struct span){NULL, 0});
        if (!is_value_method(s) && !is_tensor_attribute(s))
            return false;
    }
    return p->keys.n == 0;
}

/* What an embedding is asked for. */
static bool is_embedding(const struct param *p)
{
    for (size_t i = 0; i < p->attrs.n; i++)
        if (span_is(p->attrs.v[i], "embedding_dim") ||
            span_is(p->attrs.v[i], "num_embeddings"))
            return true;
    return false;
}

struct val *object_options(struct arena *a, const struct facts *f,
                           const struct param *p, const char **evidence)
{
    if (!(p->uses & (USE_KEYED | USE_ATTRS)) || !p->attrs.n)
        return NULL;
    if (is_embedding(p)) {
        *evidence = "used as an embedding";
        return expr_val(a, "torch.nn.Embedding(128, 64, padding_idx=1)");
    }
    if (is_plain_value(p))
        return NULL;
    struct span like = {NULL, 0};
    if (f->depth < 3)
        like = object_like(f, p, (struct span){NULL, 0}, 0);
    if (like.n) {
        *evidence = "class in source with the attributes that are read";
        return expr_val(a, object_instance(a, f, like));
    }
    struct buf b = BUF_INIT(16384);
    struct tree t = {a, f, p, &b};
    add_object(&t, (struct span){NULL, 0}, 0);
    struct val *v = expr_val(a, arena_strdup(a, buf_span(&b)));
    buf_release(&b);
    *evidence = "attributes read in source";
    return v;
}

/* ---- instances ---- */

/* Class of the source whose instance P must be: annotated so, or checked by
 * isinstance. */
struct span object_class(const struct facts *f, const struct param *p)
{
    char check[120];
    int n = snprintf(check, sizeof(check), "isinstance(%.*s, ",
                     (int)MIN(p->name.n, 80), p->name.p);
    const char *at = memmem(f->mod->text.p, f->mod->text.n, check, (size_t)n);
    struct span s = p->annotation;
    if (at) {
        at += n;
        s.p = at;
        s.n = 0;
        while (s.n < 200 && !strchr("\n:", at[s.n]) &&
               at + s.n + 1 < f->mod->text.p + f->mod->text.n)
            s.n++;
    }
    for (size_t i = 0; i < s.n;) {
        size_t k = i;
        while (k < s.n && is_word_char(s.p[k]))
            k++;
        struct span word = {s.p + i, k - i};
        if (word.n && facts_has_class(f, word))
            return word;
        i = k + 1;
    }
    return (struct span){NULL, 0};
}

/* CLASS(...) with proposals for what its constructor requires. */
static const char *instance_expr(struct arena *a, const struct facts *f,
                                 struct span cls, int depth)
{
    struct facts child = {
        .mod = f->mod, .classes = f->classes, .depth = f->depth + 1};
    struct buf b = BUF_INIT(8192);
    const char *sep = "", *ev;
    child.entry = pymod_def(f->mod, cls);
    facts_signature(&child);
    buf_printf(&b, "%.*s(", (int)cls.n, cls.p);
    for (size_t i = 0; i < child.init.n && depth < 3 && child.depth < 4; i++) {
        const struct param *p = &child.init.v[i];
        if (p->has_default || p->kind == PARAM_VAR || p->kind == PARAM_VAR_KW)
            continue;
        struct span inner = object_class(&child, p);
        struct val *v =
            inner.n && !span_eq(inner, cls)
                ? expr_val(a, instance_expr(a, &child, inner, depth + 1))
                : propose_init(a, &child, NULL, p, &ev);
        buf_printf(&b, "%s%.*s=", sep, (int)p->name.n, p->name.p);
        py_literal(&b, v);
        sep = ", ";
    }
    buf_addc(&b, ')');
    const char *text = arena_strdup(a, buf_span(&b));
    buf_release(&b);
    params_release(&child.init);
    params_release(&child.forward);
    params_release(&child.fields);
    arena_release(&child.arena);
    return text;
}

const char *object_instance(struct arena *a, const struct facts *f,
                            struct span cls)
{
    return instance_expr(a, f, cls, 0);
}

struct val *object_value(struct arena *a, const struct facts *f,
                         const struct param *p, const char **evidence)
{
    struct span cls = config_class(f, p);
    if (cls.n) {
        *evidence = "config class in source";
        return expr_val(a, config_expr(a, f, cls));
    }
    cls = object_class(f, p);
    if (!cls.n || span_eq(cls, f->entry->name))
        return NULL;
    *evidence = "class in source";
    return expr_val(a, instance_expr(a, f, cls, 0));
}

/* NAME is a method, an attribute of the class or set on self. */
static bool class_has(const struct facts *f, const struct pydef *d,
                      struct span name, int depth)
{
    char text[100];
    int n = snprintf(text, sizeof(text), "%.*s", (int)MIN(name.n, 80), name.p);
    if (pymod_method(f->mod, d, text) || pymod_lookup(f->mod, d->scope, name))
        return true;
    n = snprintf(text, sizeof(text), "self.%.*s", (int)MIN(name.n, 80), name.p);
    struct span body = pymod_text(f->mod, d->body_start, d->end);
    const char *p = body.p, *end = body.p + body.n;
    while ((p = memmem(p, (size_t)(end - p), text, (size_t)n)) != NULL) {
        p += n;
        if (end - p > 3 && (memcmp(p, " = ", 3) == 0 || *p == ':'))
            return true;
    }
    for (size_t i = 0; i < d->bases.n && depth < 6; i++) {
        const struct pydef *b = pymod_def(f->mod, d->bases.v[i].dotted);
        if (b && b->is_class && b != d && class_has(f, b, name, depth + 1))
            return true;
    }
    return false;
}

/* A parameter's name is in the class's, without case and underscores. */
static bool name_is_near(struct span param, struct span cls)
{
    char x[100], y[100];
    size_t n = 0, k = 0;
    for (size_t i = 0; i < param.n && n < 99; i++)
        if (param.p[i] != '_')
            x[n++] = (char)tolower((unsigned char)param.p[i]);
    for (size_t i = 0; i < cls.n && k < 99; i++)
        if (cls.p[i] != '_')
            y[k++] = (char)tolower((unsigned char)cls.p[i]);
    return n > 2 && memmem(y, k, x, n) != NULL;
}

struct span object_like(const struct facts *f, const struct param *p,
                        struct span extra, size_t nth)
{
    for (size_t i = f->mod->defs.n; i > 0; i--) {
        const struct pydef *d = &f->mod->defs.v[i - 1];
        bool all = d->is_class && d->outer < 0 &&
                   !span_eq(d->name, f->entry->name) &&
                   name_is_near(p->name, d->name);
        for (size_t k = 0; k < p->attrs.n && all; k++) {
            struct span s = part_of(p->attrs.v[k], (struct span){NULL, 0});
            all = is_tensor_attribute(s) || class_has(f, d, s, 0);
        }
        if (all && extra.n)
            all = class_has(f, d, extra, 0);
        if (all && nth-- == 0)
            return d->name;
    }
    return (struct span){NULL, 0};
}
