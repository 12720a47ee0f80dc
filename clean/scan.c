/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/scan.h"
#include "clean/secret.h"
#include "py/unsafe.h"

/* CPython's tokenizer takes 200 open brackets and 100 levels of indentation;
 * its compiler recurses, so that deeper trees than these do not compile. */
#define MAX_BRACKETS 190
#define MAX_BLOCKS   95
#define MAX_NODES    1200
/* Bytes of strings side by side that are read. */
#define MAX_JOINED (64u << 10)
/* Bytes of a call that are read back to what is called. */
#define MAX_CALL 4096

/* What the ancestors of the node being visited are. */
struct level {
    const char *type;
    const char *field;
    bool in_import;
    bool guarded;  /* inside a try body that catches ImportError */
    bool optional; /* inside an optional block */
    bool format;   /* inside of braces of a format string */
    bool noted;    /* inside of an annotation */
    bool params;   /* inside the parameters of a function */
    bool function; /* inside the body of a function */
    uint16_t brackets, blocks;
};

struct walk {
    struct scan *s;
    const struct pymod *m;
    const struct policy *policy;
    ARRAY(struct level) levels;
    size_t read; /* next entry of m->reads */
    bool too_deep;
};

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static void find(struct walk *w, uint32_t at, enum err_code code,
                 struct span text)
{
    struct finding f = {at, code, text};

    array_push(&w->s->findings, f);
}

static bool is_read(struct walk *w, uint32_t at)
{
    while (w->read < w->m->reads.n && w->m->reads.v[w->read].at < at)
        w->read++;
    return w->read < w->m->reads.n && w->m->reads.v[w->read].at == at;
}

static bool is_bracket(const char *type)
{
    static const char *const types[] = {
        "parenthesized_expression",
        "argument_list",
        "list",
        "tuple",
        "dictionary",
        "set",
        "subscript",
        "list_comprehension",
        "dictionary_comprehension",
        "set_comprehension",
        "generator_expression",
        "parameters",
        "tuple_pattern",
        "list_pattern",
    };

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (is(type, types[i]))
            return true;
    return false;
}

/* Does the block N end by raising? */
static bool block_raises(TSNode n)
{
    uint32_t i = ts_node_named_child_count(n);

    while (i > 0 && pynode_is(ts_node_named_child(n, i - 1), "comment"))
        i--;
    return i > 0 && pynode_is(ts_node_named_child(n, i - 1), "raise_statement");
}

/* Does the handler N? */
static bool raises(TSNode n)
{
    for (uint32_t i = 0; i < ts_node_named_child_count(n); i++) {
        TSNode b = ts_node_named_child(n, i);

        if (pynode_is(b, "block") && block_raises(b))
            return true;
    }
    return false;
}

/* Does some handler of the try statement N catch one of the errors NAMES, and
 * go on? */
static bool catches(struct walk *w, TSNode n, const char *const *names,
                    size_t n_names)
{
    uint32_t count = ts_node_named_child_count(n);

    for (uint32_t i = 0; i < count; i++) {
        TSNode c = ts_node_named_child(n, i), what;
        struct span text;

        if (!pynode_is(c, "except_clause"))
            continue;
        if (raises(c))
            continue;
        what = ts_node_named_child(c, 0);
        if (ts_node_is_null(what) || pynode_is(what, "block") ||
            pynode_is(what, "comment")) /* `except:  # why` */
            return true;
        text = pynode_text(w->m->text, what);
        for (size_t k = 0; k < n_names; k++)
            if (text.n > 0 &&
                memmem(text.p, text.n, names[k], strlen(names[k])))
                return true;
    }
    return false;
}

/* A string without replacement fields. */
static bool is_plain_string(TSNode n)
{
    if (pynode_is(n, "concatenated_string")) {
        uint32_t count = ts_node_named_child_count(n);

        for (uint32_t i = 0; i < count; i++) {
            TSNode c = ts_node_named_child(n, i);

            if (!pynode_is(c, "comment") && !is_plain_string(c))
                return false;
        }
        return true;
    }
    if (!pynode_is(n, "string"))
        return false;
    for (uint32_t i = 0; i < ts_node_named_child_count(n); i++)
        if (pynode_is(ts_node_named_child(n, i), "interpolation"))
            return false;
    return true;
}

static void add_cut(struct walk *w, enum cut_kind kind, TSNode n)
{
    struct cut c = {
        .kind = kind,
        .start = ts_node_start_byte(n),
        .end = ts_node_end_byte(n),
        .block = -1,
        .live = true,
    };

    if (kind != CUT_COMMENT)
        c.block = scan_block_at(w->s, c.start);
    array_push(&w->s->cuts, c);
}

/* First statement of the body of a function or class: documentation that
 * tools may show, everything else of the kind is a disguised comment. */
static bool is_docstring(struct walk *w, TSNode n)
{
    int b = scan_block_at(w->s, ts_node_start_byte(n));

    return b >= 0 && w->s->blocks.v[b].start == ts_node_start_byte(n);
}

/* `__author__ = ...`: true = left out, in a class where nothing else of the
 * file names it. Elsewhere it rejects what needs it. */
static bool tells_author(struct walk *w, TSNode n)
{
    static const char *const names[] = {"__author__", "__authors__",
                                        "__email__", "__maintainer__",
                                        "__credits__"};
    TSNode c = ts_node_named_child(n, 0), left = pynode_field(c, "left");
    struct span text = w->m->text, name = pynode_text(text, left);
    const char *first;

    if (!pynode_is(c, "assignment") || !pynode_is(left, "identifier") ||
        !span_in(name, names, ARRAY_LEN(names)))
        return false;
    first = memmem(text.p, text.n, name.p, name.n);
    if (first == name.p &&
        !memmem(first + name.n, (size_t)(text.p + text.n - first) - name.n,
                name.p, name.n) &&
        pymod_scope_at(w->m, ts_node_start_byte(n)) > 0) {
        add_cut(w, CUT_DOC, n);
        return true;
    }
    find(w, ts_node_start_byte(n), ERR_SECRET, SPAN_LIT("author"));
    return false;
}

static bool expression_statement(struct walk *w, TSNode n)
{
    TSNode c = ts_node_named_child(n, 0);
    struct span text = w->m->text;

    if (ts_node_is_null(c))
        return true;
    if (is_plain_string(c)) {
        if (w->policy->keep_docstrings && is_docstring(w, n) &&
            !secret_find(pynode_text(text, c), false))
            return true;
        add_cut(w, CUT_DOC, n);
        return false;
    }
    if (pynode_is(c, "call") && ts_node_named_child_count(n) == 1) {
        TSNode f = pynode_field(c, "function");
        struct span dotted = pynode_dotted(text, f);

        if (dotted.n > 0) {
            struct cut *cut;

            add_cut(w, CUT_PRINT, n);
            cut = &w->s->cuts.v[w->s->cuts.n - 1];
            cut->at = ts_node_start_byte(f);
            cut->dotted = dotted;
            cut->live = false;
        }
    }
    return true;
}

/* Content of a plain string literal without escapes, else empty. */
static struct span literal(struct walk *w, TSNode n)
{
    struct span s = {NULL, 0};

    if (!pynode_is(n, "string") || !is_plain_string(n))
        return s;
    for (uint32_t i = 0; i < ts_node_named_child_count(n); i++) {
        TSNode c = ts_node_named_child(n, i);

        if (pynode_is(c, "string_content") && ts_node_named_child_count(c) == 0)
            s = pynode_text(w->m->text, c);
    }
    return s;
}

/* A constant that is written in pieces or with escapes: nobody who means a name
 * writes it so. */
static bool is_disguised(struct walk *w, TSNode n)
{
    if (pynode_is(n, "binary_operator"))
        return is_plain_string(pynode_field(n, "left")) &&
               is_plain_string(pynode_field(n, "right"));
    return is_plain_string(n) && literal(w, n).n == 0;
}

/* dir(module), or CLASSES: the classes of vars(module) */
static void dir_call(struct walk *w, TSNode args, bool classes)
{
    TSNode object = ts_node_named_child(args, 0);
    struct literal_attr l = {
        .asks = !classes,
        .classes = classes,
        .at = ts_node_start_byte(object),
        .dotted = pynode_dotted(w->m->text, object),
    };

    if (l.dotted.n > 0)
        array_push(&w->s->literals, l);
}

/* Does TEXT, of a string or of several that are put together, hold a letter
 * that could be of a name? */
static bool spells_name(struct walk *w, TSNode n, int depth)
{
    TSNode f = pynode_field(n, "function");

    if (pynode_is(n, "string") || pynode_is(n, "concatenated_string")) {
        struct span text = pynode_text(w->m->text, n);

        for (size_t i = 0; i < text.n; i++)
            if (scan_is_name_char(text.p[i]) &&
                !(text.p[i] >= '0' && text.p[i] <= '9'))
                return true;
        return false;
    }
    if (depth == MAX_NODES)
        return true;
    if (pynode_is(n, "binary_operator"))
        return spells_name(w, pynode_field(n, "left"), depth + 1) ||
               spells_name(w, pynode_field(n, "right"), depth + 1);
    if (pynode_is(n, "parenthesized_expression"))
        return spells_name(w, ts_node_named_child(n, 0), depth + 1);
    return pynode_is(f, "attribute") && /* "self.{}".format(x) */
           spells_name(w, pynode_field(f, "object"), depth + 1);
}

/* Is the value of call N called, or an object with attributes? NAME = call
 * counts, too, where NAME is called. */
static bool gives_code(struct walk *w, TSNode n)
{
    TSNode up = ts_node_parent(n), left = pynode_field(up, "left");
    const struct pymod *m = w->m;

    if (pynode_is(up, "call") || pynode_is(up, "attribute"))
        return true;
    if (!pynode_is(up, "assignment") || !pynode_is(left, "identifier"))
        return false;
    for (size_t i = 0; i < m->reads.n; i++)
        if ((m->reads.v[i].flags & PYREAD_CALL) &&
            span_eq(m->reads.v[i].dotted, pynode_text(m->text, left)))
            return true;
    return false;
}

/* eval(X) of a text of settings: one argument, which names nothing, as far as
 * can be seen. */
static void eval_call(struct walk *w, TSNode n, TSNode args)
{
    TSNode x = ts_node_named_child(args, 0);
    static const char *const others[] = {"keyword_argument", "list_splat",
                                         "dictionary_splat", "comment"};

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (pynode_is(x, others[i]))
            return;
    if (!spells_name(w, x, 0) && !gives_code(w, n))
        array_push(&w->s->settings, ts_node_start_byte(n));
}

static void call(struct walk *w, TSNode n)
{
    TSNode f = pynode_field(n, "function");
    TSNode args = pynode_field(n, "arguments");
    struct span name = pynode_dotted(w->m->text, f);
    uint32_t count;

    if (name.n == 0 || !pynode_is(args, "argument_list"))
        return;
    count = ts_node_named_child_count(args);
    if (count == 1 && span_is(name, "dir"))
        dir_call(w, args, false);
    if (count == 1 && span_is(name, "vars") && scan_takes_classes(w->m, n))
        dir_call(w, args, true);
    if (count == 1 && span_is(name, "eval"))
        eval_call(w, n, args);
    if (count >= 2 && (span_is(name, "getattr") || span_is(name, "setattr") ||
                       span_is(name, "delattr") || span_is(name, "hasattr"))) {
        TSNode object = ts_node_named_child(args, 0);
        struct literal_attr l = {
            .at = ts_node_start_byte(object),
            .dotted = pynode_dotted(w->m->text, object),
            .attr = literal(w, ts_node_named_child(args, 1)),
        };

        l.asks = span_is(name, "hasattr");
        if (l.dotted.n > 0)
            array_push(&w->s->literals, l);
        if (is_disguised(w, ts_node_named_child(args, 1)))
            find(w, ts_node_start_byte(f), ERR_UNSAFE, name);
    }
}

/* Is VALUE a call, and not of a class, whose methods are known? */
static bool is_result(struct span value)
{
    static const char *const own[] = {"super", "type", "__class__", "cls"};
    struct span name;
    size_t i = value.n;
    int depth = 0;

    if (i == 0 || value.p[i - 1] != ')')
        return false;
    do {
        i--;
        depth += value.p[i] == ')';
        depth -= value.p[i] == '(';
    } while (i > 0 && depth > 0 && value.n - i < MAX_CALL);
    name = (struct span){value.p + i, 0};
    for (; i > 0 && scan_is_name_char(value.p[i - 1]); i--)
        name = (struct span){name.p - 1, name.n + 1};
    if (span_in(name, own, ARRAY_LEN(own)))
        return false;
    while (name.n > 0 && name.p[0] == '_')
        name = (struct span){name.p + 1, name.n - 1};
    return !(name.n > 0 && name.p[0] >= 'A' && name.p[0] <= 'Z');
}

/* `f(x).save("a")`, or y = f(x) before, where NAME is save: N is the attribute,
 * OBJECT what it is of. */
static void method_of_result(struct walk *w, TSNode n, TSNode object,
                             struct span name)
{
    TSNode up = ts_node_parent(n);
    struct span value = pynode_text(w->m->text, object);
    const struct pysym *s;

    if (!py_unsafe_result(name) || !pynode_is(up, "call") ||
        !ts_node_eq(pynode_field(up, "function"), n) ||
        ts_node_named_child_count(pynode_field(up, "arguments")) == 0)
        return;
    if (pynode_is(object, "identifier")) {
        s = pymod_lookup_at(w->m, ts_node_start_byte(object), value);
        if (!s || s->value_end <= s->value_start)
            return;
        value = pymod_text(w->m, s->value_start, s->value_end);
    } else if (!pynode_is(object, "call")) {
        return;
    }
    if (is_result(value))
        find(w, ts_node_start_byte(n), ERR_UNSAFE, name);
}

/* An attribute N: of an unsafe name; or in (a.b).name, like getattr. */
static void attribute(struct walk *w, TSNode n)
{
    TSNode object = pynode_field(n, "object"), a = pynode_field(n, "attribute");
    struct literal_attr l = {.attr = pynode_text(w->m->text, a)};
    bool inside = false;

    if (py_unsafe_attr(l.attr))
        find(w, ts_node_start_byte(a), ERR_UNSAFE, l.attr);
    while (pynode_is(object, "parenthesized_expression")) {
        object = ts_node_named_child(object, 0);
        inside = true;
    }
    method_of_result(w, n, object, l.attr);
    l.at = ts_node_start_byte(object);
    l.dotted = pynode_dotted(w->m->text, object);
    if (inside && l.dotted.n > 0)
        array_push(&w->s->literals, l);
    if (l.dotted.n == 0 && py_unsafe_module(l.attr))
        find(w, ts_node_start_byte(a), ERR_UNSAFE, l.attr);
}

static void identifier(struct walk *w, TSNode n, const struct level *up,
                       const char *field)
{
    struct binder b = {ts_node_start_byte(n), pynode_text(w->m->text, n)};
    const struct pysym *s;

    if (up->in_import || is_read(w, b.at))
        return;
    if (field && is(field, "attribute") && is(up->type, "attribute"))
        return;
    if (field && is(field, "name") &&
        (is(up->type, "keyword_argument") ||
         is(up->type, "default_parameter") ||
         is(up->type, "typed_default_parameter")))
        return;
    if (is(up->type, "typed_parameter") ||
        (up->params &&
         (is(up->type, "parameters") || is(up->type, "lambda_parameters") ||
          is(up->type, "list_splat_pattern") ||
          is(up->type, "dictionary_splat_pattern"))))
        return;
    if (!pymod_lookup(w->m, 0, b.name))
        return;
    s = pymod_lookup_at(w->m, b.at, b.name);
    if (s && s->scope == 0)
        array_push(&w->s->binders, b);
}

static uint32_t count_statements(TSNode block)
{
    TSTreeCursor c = ts_tree_cursor_new(block);
    uint32_t n = 0;

    if (ts_tree_cursor_goto_first_child(&c)) {
        do {
            TSNode child = ts_tree_cursor_current_node(&c);

            n += ts_node_is_named(child) && !pynode_is(child, "comment");
        } while (ts_tree_cursor_goto_next_sibling(&c));
    }
    ts_tree_cursor_delete(&c);
    return n;
}

/* Is the block N one of several ways that a function can go? */
static void find_branch(TSNode n, TSNode parent, bool caught, struct block *b)
{
    TSNode whole = parent;

    b->chain = b->start;
    if (pynode_is(parent, "except_clause") ||
        pynode_is(parent, "case_clause")) {
        b->branch = true;
    } else if (pynode_is(parent, "try_statement")) {
        b->branch = caught && ts_node_eq(pynode_field(parent, "body"), n);
    } else {
        if (!pynode_is(whole, "if_statement"))
            whole = ts_node_parent(whole);
        if (!pynode_is(whole, "if_statement"))
            return;
        b->branch = true;
        b->chain = ts_node_start_byte(whole);
        for (uint32_t i = 0; i < ts_node_named_child_count(whole); i++)
            b->closed |=
                pynode_is(ts_node_named_child(whole, i), "else_clause");
    }
}

static void open_block(struct walk *w, TSNode n, const struct level *up,
                       struct level *here)
{
    TSNode parent = ts_node_parent(n);
    struct block b = {
        .start = ts_node_start_byte(n),
        .end = ts_node_end_byte(n),
        .n = count_statements(n),
        .parent = scan_block_at(w->s, ts_node_start_byte(n)),
        .raises = block_raises(n),
    };
    static const char *const import_error[] = {
        "ImportError", "ModuleNotFoundError",
        "Exception"}; /* BaseException too */
    static const char *const any_error[] = {"RuntimeError", "Exception"};
    bool caught = false;

    if (here->field && is(here->field, "consequence"))
        b.optional = scan_is_wish(
            pynode_text(w->m->text, pynode_field(parent, "condition")));
    if (up && is(up->type, "try_statement") && here->field &&
        is(here->field, "body")) {
        caught = catches(w, parent, import_error, ARRAY_LEN(import_error));
        b.caught = catches(w, parent, any_error, ARRAY_LEN(any_error));
    }
    b.tried = caught;
    if (here->function)
        find_branch(n, parent, caught, &b);
    array_push(&w->s->blocks, b);
    here->blocks++;
    here->optional |= b.optional;
    here->guarded |= caught;
}

/* "__globals__" as text, alone or in a path or a format, is for getattr and
 * its kin. */
static void name_in_text(struct walk *w, TSNode n)
{
    struct span text = pynode_text(w->m->text, n);

    for (size_t i = 0, k; i < text.n; i = k + 1) {
        struct span word = {text.p + i, 0};

        for (k = i; k < text.n && scan_is_name_char(text.p[k]); k++)
            ;
        word.n = k - i;
        if (word.n > 4 && span_starts(word, "__") && py_unsafe_attr(word))
            find(w, ts_node_start_byte(n), ERR_UNSAFE, word);
    }
}

/* Has the string N the quotes of a format string that it is in? Before Python
 * 3.12 it ends that. */
static bool breaks_format(struct walk *w, TSNode n)
{
    struct span own = pynode_text(w->m->text, ts_node_child(n, 0));
    TSNode p = ts_node_parent(n);

    for (int i = 0; i < MAX_NODES && !ts_node_is_null(p); i++) {
        if (pynode_is(p, "interpolation")) {
            struct span out =
                pynode_text(w->m->text, ts_node_child(ts_node_parent(p), 0));

            while (own.n > 0 && own.p[0] != '"' && own.p[0] != '\'')
                own = (struct span){own.p + 1, own.n - 1};
            while (out.n > 0 && out.p[0] != '"' && out.p[0] != '\'')
                out = (struct span){out.p + 1, out.n - 1};
            return span_eq(own, out);
        }
        if (pynode_is(p, "block"))
            break;
        p = ts_node_parent(p);
    }
    return false;
}

static void string(struct walk *w, TSNode n, const struct level *here)
{
    const char *what = secret_find(pynode_text(w->m->text, n), false);

    if (here->format && breaks_format(w, n))
        find(w, ts_node_start_byte(n), ERR_PARSE,
             SPAN_LIT("syntax of Python 3.12"));
    if (what)
        find(w, ts_node_start_byte(n), ERR_SECRET, span_str(what));
    if (here->noted && !scan_annotation(w->s, w->m, n))
        find(w, ts_node_start_byte(n), ERR_UNSAFE,
             SPAN_LIT("a call in an annotation"));
    name_in_text(w, n);
}

/* A secret that is cut into several strings which stand side by side. */
static void joined_strings(struct walk *w, TSNode n)
{
    struct buf text = BUF_INIT(MAX_JOINED);
    const char *what;
    int rc = 0;

    for (uint32_t i = 0; i < ts_node_named_child_count(n) && rc == 0; i++) {
        TSNode s = ts_node_named_child(n, i);

        for (uint32_t k = 0; k < ts_node_named_child_count(s) && rc == 0; k++) {
            TSNode c = ts_node_named_child(s, k);
            struct span t = pynode_text(w->m->text, c);

            if (pynode_is(c, "string_content"))
                rc = buf_add(&text, t.p, t.n);
        }
    }
    what = secret_find(buf_span(&text), false);
    if (what)
        find(w, ts_node_start_byte(n), ERR_SECRET, span_str(what));
    buf_release(&text);
}

static void import(struct walk *w, TSNode n, struct level *here)
{
    struct nimport im = {
        .start = ts_node_start_byte(n),
        .end = ts_node_end_byte(n),
        .guarded = here->guarded,
        .optional = here->optional,
    };

    here->in_import = true;
    array_push(&w->s->imports, im);
}

/* What a node is by its type; false: do not go inside. */
static bool by_type(struct walk *w, TSNode n, const struct level *up,
                    struct level *here, uint32_t depth)
{
    const char *type = here->type;
    uint32_t at = ts_node_start_byte(n);

    if (is(type, "comment")) {
        add_cut(w, CUT_COMMENT, n);
        return false;
    }
    if (up && is(type, "identifier")) {
        if (scan_folds_to_ascii(pynode_text(w->m->text, n)))
            find(w, at, ERR_UNRESOLVED, pynode_text(w->m->text, n));
        identifier(w, n, up, here->field);
        return false;
    }
    if (is(type, "block")) {
        open_block(w, n, up, here);
    } else if (is(type, "expression_statement")) {
        return !tells_author(w, n) &&
               (depth <= 1 || expression_statement(w, n));
    } else if (is(type, "string")) {
        string(w, n, here);
    } else if (is(type, "concatenated_string")) {
        joined_strings(w, n);
    } else if (is(type, "type")) {
        here->noted = true;
    } else if (is(type, "interpolation")) {
        here->format = true;
    } else if (is(type, "type_alias_statement") ||
               (is(type, "type_parameter") && up &&
                (is(up->type, "function_definition") ||
                 is(up->type, "class_definition")))) {
        find(w, at, ERR_PARSE, SPAN_LIT("syntax of Python 3.12"));
    } else if (is(type, "string_content")) {
        struct range r = {at, ts_node_end_byte(n)};

        array_push(&w->s->strings, r);
        return false;
    } else if (is(type, "return_statement")) {
        TSNode value = ts_node_named_child(n, 0);
        struct range r = {at, at};

        if (!ts_node_is_null(value)) {
            r.start = ts_node_start_byte(value);
            r.end = ts_node_end_byte(value);
        }
        array_push(&w->s->returns, r);
    } else if (is(type, "call")) {
        call(w, n);
    } else if (is(type, "keyword_argument") &&
               span_is(pynode_text(w->m->text, pynode_field(n, "name")),
                       "eval_str")) {
        find(w, at, ERR_UNSAFE, SPAN_LIT("eval_str")); /* of inspect */
    } else if (is(type, "attribute")) {
        attribute(w, n);
    } else if (is(type, "import_statement") ||
               is(type, "import_from_statement")) {
        import(w, n, here);
    } else if (is(type, "function_definition") || is(type, "lambda")) {
        here->guarded = false; /* it runs later, outside of that try */
        here->optional = false;
        here->function = true;
    } else if (is(type, "parameters") || is(type, "lambda_parameters")) {
        here->params = true;
    } else if (is(type, "print_statement") && depth > 1) {
        add_cut(w, CUT_PRINT, n);
        return false;
    } else if (is(type, "exec_statement")) {
        find(w, at, ERR_UNSAFE, SPAN_LIT("exec"));
    } else if (depth == 1 && is(type, "try_statement")) {
        array_push(&w->s->tries, at);
    }
    return true;
}

static bool enter(void *payload, TSNode n, const char *field, uint32_t depth)
{
    struct walk *w = payload;
    const char *type = ts_node_type(n);
    struct level *up = depth ? &w->levels.v[depth - 1] : NULL, here;

    here = up ? *up : (struct level){0};
    here.type = type;
    here.field = field;
    if (is_bracket(type))
        here.brackets++;
    if (depth > MAX_NODES || here.brackets > MAX_BRACKETS ||
        here.blocks > MAX_BLOCKS) {
        if (!w->too_deep)
            find(w, ts_node_start_byte(n), ERR_PARSE,
                 SPAN_LIT("nested too deeply for CPython"));
        w->too_deep = true;
        return false;
    }
    w->too_deep = false;
    if (!by_type(w, n, up, &here, depth))
        return false;
    /* Default values and annotations are inside of `parameters`, but nothing
     * of them is a parameter's name. */
    if (here.params && up && !is(type, "parameters") &&
        !is(type, "lambda_parameters") && !is(type, "list_splat_pattern") &&
        !is(type, "dictionary_splat_pattern"))
        here.params = is(type, "typed_parameter");
    array_reserve(&w->levels, (size_t)depth + 1);
    w->levels.v[depth] = here;
    return true;
}

void scan_file(struct scan *s, const struct pymod *m, const struct policy *p)
{
    struct walk w = {.s = s, .m = m, .policy = p};
    struct pyvisit v = {enter, NULL, &w};

    *s = (struct scan){0};
    pytree_walk(ts_tree_root_node(m->tree.tree), &v);
    array_release(&w.levels);
    for (size_t i = 0; i < m->syms.n; i++) {
        const struct pysym *y = &m->syms.v[i];
        int k;

        if (y->kind != PYSYM_IMPORT && y->kind != PYSYM_FROM &&
            y->kind != PYSYM_STAR)
            continue;
        k = scan_import_at(s, y->start);
        if (k >= 0)
            array_push(&s->imports.v[k].syms, (int)i);
    }
    registrar_scan(s, m);
}
