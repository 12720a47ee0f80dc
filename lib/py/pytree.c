/* SPDX-License-Identifier: MIT */
/* tree-sitter behind struct err, and walks that do not recurse. */
#include "base.h"

#include "mem.h"
#include "py/kinds.h"
#include "py/pytree.h"

/* Longer chains of attributes are no dotted names. */
#define MAX_CHAIN 64

struct pyparser {
    TSParser *ts;
    uint32_t n_kinds;
    uint8_t *kinds; /* by symbol */
    bool *expressions;
};

/* Nodes that hold nothing but expressions. */
static const char *const expressions[] = {
    "argument_list",
    "attribute",
    "await",
    "binary_operator",
    "boolean_operator",
    "call",
    "comparison_operator",
    "concatenated_string",
    "conditional_expression",
    "dictionary",
    "dictionary_comprehension",
    "dictionary_splat",
    "expression_list",
    "generator_expression",
    "lambda",
    "list",
    "list_comprehension",
    "not_operator",
    "pair",
    "parenthesized_expression",
    "set",
    "set_comprehension",
    "slice",
    "string",
    "subscript",
    "tuple",
    "type",
    "unary_operator",
    "yield",
};

static const char *const kind_names[K_count] = {
    NULL,
#define KIND(name) #name,
#include "py/kinds.def"
#undef KIND
};

static void fill_kinds(struct pyparser *p, const TSLanguage *lang)
{
    p->n_kinds = ts_language_symbol_count(lang);
    p->kinds = xcalloc(p->n_kinds, 1);
    p->expressions = xcalloc(p->n_kinds, sizeof(bool));
    for (uint32_t s = 0; s < p->n_kinds; s++) {
        if (ts_language_symbol_type(lang, (TSSymbol)s) != TSSymbolTypeRegular)
            continue;
        const char *name = ts_language_symbol_name(lang, (TSSymbol)s);
        for (int k = 1; name && k < K_count; k++)
            if (strcmp(name, kind_names[k]) == 0)
                p->kinds[s] = (uint8_t)k;
        for (size_t i = 0; name && i < ARRAY_LEN(expressions); i++)
            p->expressions[s] |= strcmp(name, expressions[i]) == 0;
    }
}

struct pyparser *pyparser_new(struct err *e)
{
    return pyparser_for(tree_sitter_python(), e);
}

struct pyparser *pyparser_for(const TSLanguage *lang, struct err *e)
{
    struct pyparser *p = xcalloc(1, sizeof(*p));
    pyparser_set_memory();
    p->ts = ts_parser_new();
    if (!ts_parser_set_language(p->ts, lang)) {
        err_set(e, ERR_VERSION,
                "the Python grammar has ABI %u, the tree-sitter library "
                "takes %u to %u",
                ts_language_version(lang),
                TREE_SITTER_MIN_COMPATIBLE_LANGUAGE_VERSION,
                TREE_SITTER_LANGUAGE_VERSION);
        err_hint(e, "build with the pinned grammar (pipelines/setup.sh)");
        pyparser_free(p);
        return NULL;
    }
    fill_kinds(p, lang);
    return p;
}

void pyparser_free(struct pyparser *p)
{
    if (!p)
        return;
    ts_parser_delete(p->ts);
    free(p->kinds);
    free(p->expressions);
    free(p);
}

enum pykind pyparser_kind(const struct pyparser *p, TSNode n)
{
    TSSymbol s = ts_node_symbol(n);
    if (s == (TSSymbol)-1)
        return K_ERROR;
    return s < p->n_kinds && ts_node_is_named(n) ? (enum pykind)p->kinds[s]
                                                 : K_none;
}

bool pyparser_is_expression(const struct pyparser *p, TSNode n)
{
    TSSymbol s = ts_node_symbol(n);
    return s < p->n_kinds && p->expressions[s];
}

/* Only the way to the first fault is walked. */
static bool find_error(void *payload, TSNode n, const char *field,
                       uint32_t depth)
{
    uint32_t *line = payload;
    (void)field;
    (void)depth;
    if (*line || !ts_node_has_error(n))
        return false;
    if (ts_node_is_missing(n) || ts_node_symbol(n) == (TSSymbol)-1)
        *line = pynode_line(n);
    return *line == 0;
}

int pytree_parse(struct pytree *t, struct pyparser *p, struct span text,
                 uint64_t timeout_us, struct err *e)
{
    *t = (struct pytree){.text = text};
    if (text.n > PY_MAX_SOURCE)
        return err_set(e, ERR_TOO_LARGE, "source of %zu bytes is over %u",
                       text.n, PY_MAX_SOURCE);
    ts_parser_set_timeout_micros(p->ts, timeout_us ? timeout_us : PY_PARSE_US);
    t->tree = ts_parser_parse_string(p->ts, NULL, text.p ? text.p : "",
                                     (uint32_t)text.n);
    if (!t->tree) {
        ts_parser_reset(p->ts);
        return err_set(e, ERR_TIMEOUT, "parser ran out of time");
    }
    struct pyvisit v = {find_error, NULL, &t->error_line};
    pytree_walk(ts_tree_root_node(t->tree), &v);
    return 0;
}

void pytree_release(struct pytree *t)
{
    if (t->tree)
        ts_tree_delete(t->tree);
    t->tree = NULL;
}

struct span pynode_text(struct span text, TSNode n)
{
    if (ts_node_is_null(n))
        return (struct span){NULL, 0};
    uint32_t a = ts_node_start_byte(n), b = ts_node_end_byte(n);
    if (a > b || b > text.n)
        return (struct span){NULL, 0};
    return (struct span){text.p + a, b - a};
}

bool pynode_is(TSNode n, const char *type)
{
    return !ts_node_is_null(n) && strcmp(ts_node_type(n), type) == 0;
}

/* Number of a field: the library looks through all names each time. FIELD is a
 * literal, so its place tells the few that there are apart. */
static TSFieldId field_id(const char *field)
{
    static struct {
        const char *name;
        TSFieldId id;
    } known[64];
    size_t i = ((uintptr_t)field >> 2) % ARRAY_LEN(known);
    if (known[i].name != field) {
        known[i].name = field;
        known[i].id = ts_language_field_id_for_name(tree_sitter_python(), field,
                                                    (uint32_t)strlen(field));
    }
    return known[i].id;
}

TSNode pynode_field(TSNode n, const char *field)
{
    if (ts_node_is_null(n))
        return n;
    return ts_node_child_by_field_id(n, field_id(field));
}

TSNode pynode_child(TSNode n, uint32_t i)
{
    return ts_node_is_null(n) ? n : ts_node_named_child(n, i);
}

uint32_t pynode_count(TSNode n)
{
    return ts_node_is_null(n) ? 0 : ts_node_named_child_count(n);
}

TSNode pynode_parent(TSNode n)
{
    return ts_node_is_null(n) ? n : ts_node_parent(n);
}

uint32_t pynode_end(TSNode n)
{
    return ts_node_is_null(n) ? 0 : ts_node_end_byte(n);
}

uint32_t pynode_line(TSNode n)
{
    return ts_node_is_null(n) ? 0 : ts_node_start_point(n).row + 1;
}

uint32_t pynode_end_line(TSNode n)
{
    if (ts_node_is_null(n))
        return 0;
    TSPoint end = ts_node_end_point(n);
    bool empty = ts_node_end_byte(n) == ts_node_start_byte(n);
    return end.column == 0 && !empty ? end.row : end.row + 1;
}

struct span pynode_dotted(struct span text, TSNode n)
{
    TSNode at = n;
    for (int i = 0; i < MAX_CHAIN && pynode_is(at, "attribute"); i++)
        at = ts_node_child(at, 0);
    if (!pynode_is(at, "identifier"))
        return (struct span){NULL, 0};
    struct span s = pynode_text(text, n);
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || s.p[i] == '\\' || s.p[i] == '#')
            return (struct span){NULL, 0};
    return s;
}

void pytree_walk(TSNode root, const struct pyvisit *v)
{
    TSTreeCursor c = ts_tree_cursor_new(root);
    uint32_t depth = 0;
    bool more = true;
    while (more) {
        TSNode n = ts_tree_cursor_current_node(&c);
        const char *field =
            depth ? ts_tree_cursor_current_field_name(&c) : NULL;
        bool entered = v->enter(v->payload, n, field, depth);
        if (entered && ts_tree_cursor_goto_first_child(&c)) {
            depth++;
            continue;
        }
        if (entered && v->leave)
            v->leave(v->payload, n, depth);
        /* Up until there is something to the right. */
        while (more && (depth == 0 || !ts_tree_cursor_goto_next_sibling(&c))) {
            if (depth == 0 || !ts_tree_cursor_goto_parent(&c)) {
                more = false;
            } else {
                depth--;
                if (v->leave)
                    v->leave(v->payload, ts_tree_cursor_current_node(&c),
                             depth);
            }
        }
    }
    ts_tree_cursor_delete(&c);
}
