/* SPDX-License-Identifier: MIT */
/*
 * One walk over the tree of a file that finds statements, scopes, bindings,
 * definitions and reads. What a node means depends on where it stands, so
 * each level of the walk has a frame that its children inherit.
 */
#include "base.h"

#include "py/scope.h"

static bool field_is(const char *field, const char *name)
{
    return field && strcmp(field, name) == 0;
}

static bool is_comprehension(enum pykind k)
{
    return k == K_list_comprehension || k == K_set_comprehension ||
           k == K_dictionary_comprehension || k == K_generator_expression;
}

static int open_scope(struct build *b, struct frame *f, enum pyscope_kind kind,
                      int def, TSNode n)
{
    struct pyscope s = {
        .kind = kind,
        .parent = f->scope,
        .def = def,
        .start = ts_node_start_byte(n),
        .end = ts_node_end_byte(n),
    };
    if (++f->depth > PY_MAX_DEPTH)
        b->too_deep = true;
    array_push(&b->m->scopes, s);
    return (int)b->m->scopes.n - 1;
}

static void add_read(struct build *b, const struct frame *f, TSNode n,
                     struct span dotted, bool called)
{
    struct pyread r = {
        .dotted = dotted,
        .at = ts_node_start_byte(n),
        .end = ts_node_end_byte(n),
        .flags = f->flags | (called ? PYREAD_CALL : 0u),
        .scope = f->scope,
    };
    const char *dot = memchr(dotted.p, '.', dotted.n);
    r.name = (struct span){b->text.p + r.at,
                           dot ? (size_t)(dot - dotted.p) : dotted.n};
    array_push(&b->m->reads, r);
}

static enum pystmt_kind stmt_kind(struct build *b, TSNode n, enum pykind k)
{
    switch (k) {
    case K_import_statement:
    case K_import_from_statement:
    case K_future_import_statement:
        return PYSTMT_IMPORT;
    case K_function_definition:
        return PYSTMT_FUNCTION;
    case K_class_definition:
        return PYSTMT_CLASS;
    case K_decorated_definition:
        return pynode_is(pynode_field(n, "definition"), "class_definition")
                   ? PYSTMT_CLASS
                   : PYSTMT_FUNCTION;
    case K_type_alias_statement:
        return PYSTMT_ASSIGN;
    case K_if_statement:
    case K_try_statement:
    case K_with_statement:
    case K_for_statement:
    case K_while_statement:
    case K_match_statement:
        return PYSTMT_COMPOUND;
    case K_expression_statement: {
        enum pykind c = pyparser_kind(b->p, ts_node_named_child(n, 0));
        if (c == K_assignment || c == K_augmented_assignment)
            return PYSTMT_ASSIGN;
        bool doc = (c == K_string || c == K_concatenated_string) &&
                   ts_node_named_child_count(n) == 1;
        return doc ? PYSTMT_DOC : PYSTMT_EXPR;
    }
    default:
        return PYSTMT_OTHER;
    }
}

/* Condition of an if statement: __name__ == "__main__", TYPE_CHECKING. */
static void look_at_condition(struct build *b, TSNode n, struct pystmt *s)
{
    struct span c = pynode_text(b->text, pynode_field(n, "condition"));
    if (c.p && c.n < 64) {
        bool name = memmem(c.p, c.n, "__name__", 8) != NULL;
        bool is = memmem(c.p, c.n, "==", 2) != NULL;
        s->is_main |= name && is && memmem(c.p, c.n, "__main__", 8) != NULL;
    }
    s->type_checking |=
        span_ends(c, "TYPE_CHECKING") && (c.n == 13 || c.p[c.n - 14] == '.');
}

static void open_stmt(struct build *b, struct frame *f, TSNode n)
{
    struct pymod *m = b->m;
    struct pystmt s = {
        .kind = stmt_kind(b, n, f->kind),
        .parent = f->stmt,
        .start = f->start,
        .end = f->end,
        .line = pynode_line(n),
        .end_line = pynode_end_line(n),
        .first_def = (int)m->globals.n,
        .has_error = ts_node_has_error(n),
        .is_main = f->is_main,
        .type_checking = f->type_checking,
    };
    if (f->kind == K_if_statement)
        look_at_condition(b, n, &s);
    int index = (int)m->stmts.n;
    s.top = s.parent < 0 ? index : m->stmts.v[s.parent].top;
    f->is_main = s.is_main;
    f->type_checking = s.type_checking;
    f->own_stmt = f->stmt = index;
    array_push(&m->stmts, s);
}

static void open_def(struct build *b, struct frame *f, TSNode n,
                     const struct frame *parent)
{
    struct pymod *m = b->m;
    bool decorated = parent->kind == K_decorated_definition;
    bool is_class = f->kind == K_class_definition;
    struct pydef d = {
        .is_class = is_class,
        .name = pynode_text(b->text, pynode_field(n, "name")),
        .outer = f->def,
        .stmt = f->stmt,
        .start = decorated ? f->start : ts_node_start_byte(n),
        .end = ts_node_end_byte(n),
        .def_start = ts_node_start_byte(n),
        .line = pynode_line(decorated ? parent->node : n),
        .end_line = pynode_end_line(n),
        .node = n,
        .has_error = ts_node_has_error(n),
    };
    d.is_async = !is_class && span_starts(pynode_text(b->text, n), "async");
    TSNode body = pynode_field(n, "body");
    d.body_start = ts_node_is_null(body) ? d.end : ts_node_start_byte(body);
    const struct pydef *outer = f->def >= 0 ? &m->defs.v[f->def] : NULL;
    d.qual = d.name;
    if (outer)
        d.qual = span_str(arena_printf(
            &m->arena, "%.*s%s.%.*s", (int)outer->qual.n, outer->qual.p,
            outer->is_class ? "" : ".<locals>", (int)d.name.n, d.name.p));
    struct frame at = *f;
    at.start = d.start;
    at.end = d.end;
    at.vstart = at.vend = 0;
    at.unpacked = false;
    d.sym = build_bind(b, &at, is_class ? PYSYM_CLASS : PYSYM_FUNCTION,
                       f->scope, d.name);
    int index = (int)m->defs.n;
    if (d.sym >= 0)
        m->syms.v[d.sym].def = index;
    if (!ts_node_is_null(pynode_field(n, "type_parameters")))
        f->scope = open_scope(b, f, PYSCOPE_FUNCTION, -1, n);
    f->own_def = index;
    f->own_scope = open_scope(b, f, is_class ? PYSCOPE_CLASS : PYSCOPE_FUNCTION,
                              index, ts_node_is_null(body) ? n : body);
    d.scope = f->own_scope;
    if (is_class)
        build_bases(b, &d, pynode_field(n, "superclasses"));
    if (decorated)
        build_decorators(b, &d, parent->node);
    array_push(&m->defs, d);
}

/* What the place in PARENT makes of a child; false: nothing to see there. */
static bool by_place(struct build *b, const struct frame *parent,
                     struct frame *f, const char *field)
{
    switch (parent->kind) {
    case K_function_definition:
    case K_lambda:
    case K_class_definition:
        if (field_is(field, "name"))
            return false;
        if (field_is(field, "parameters")) {
            f->mode = M_PARAM;
            f->bind_scope = parent->own_scope;
        } else if (field_is(field, "type_parameters")) {
            f->mode = M_TYPEPARAM;
        } else if (field_is(field, "return_type")) {
            f->flags |= PYREAD_ANNOTATION;
        } else if (field_is(field, "body")) {
            f->scope = parent->own_scope;
            f->flags &= PYREAD_DEFERRED;
            if (parent->kind != K_class_definition)
                f->flags |= PYREAD_DEFERRED;
            if (parent->own_def >= 0)
                f->def = parent->own_def;
        }
        break;
    case K_decorator:
        f->flags |= PYREAD_DECORATOR;
        break;
    case K_typed_parameter:
    case K_typed_default_parameter:
    case K_default_parameter:
        if (field_is(field, "type"))
            f->flags |= PYREAD_ANNOTATION;
        if (field_is(field, "type") || field_is(field, "value"))
            f->mode = M_READ;
        break;
    case K_for_statement:
    case K_for_in_clause:
        if (field_is(field, "left")) {
            f->mode = M_BIND;
            f->sym_kind = PYSYM_TARGET;
            f->bind_scope = f->scope;
            f->vstart = f->vend = 0;
        } else if (field_is(field, "right") && parent->outer_scope >= 0) {
            f->scope = parent->outer_scope;
        }
        break;
    case K_assignment:
    case K_augmented_assignment:
        if (field_is(field, "left")) {
            f->mode = M_BIND;
            f->bind_scope = f->scope;
        } else if (field_is(field, "type")) {
            f->flags |= PYREAD_ANNOTATION;
        }
        break;
    case K_type_alias_statement:
        if (field_is(field, "left")) {
            f->mode = M_BIND;
            f->sym_kind = PYSYM_ASSIGN;
            f->bind_scope = f->scope;
        } else {
            f->flags |= PYREAD_ANNOTATION | PYREAD_DEFERRED;
        }
        break;
    case K_named_expression:
        if (field_is(field, "name")) {
            f->mode = M_BIND;
            f->sym_kind = PYSYM_TARGET;
            f->bind_scope = f->scope;
            while (b->m->scopes.v[f->bind_scope].comprehension)
                f->bind_scope = b->m->scopes.v[f->bind_scope].parent;
        }
        break;
    case K_as_pattern_target:
        f->mode = M_BIND;
        f->sym_kind = PYSYM_TARGET;
        f->bind_scope = f->scope;
        f->vstart = f->vend = 0;
        break;
    case K_subscript:
        if (!field_is(field, "value"))
            f->flags &= ~(unsigned)PYREAD_STORE;
        else if (parent->mode == M_BIND)
            f->flags |= PYREAD_STORE;
        f->mode = M_READ;
        break;
    case K_attribute:
        if (field_is(field, "attribute"))
            return false;
        if (parent->mode == M_BIND)
            f->flags |= PYREAD_STORE;
        f->mode = M_READ;
        break;
    case K_call:
        f->flags &= ~(unsigned)PYREAD_STORE;
        break;
    case K_delete_statement:
        f->flags |= PYREAD_STORE;
        break;
    case K_keyword_argument:
        return !field_is(field, "name");
    case K_keyword_pattern:
    case K_member_type:
        return f->kind != K_identifier;
    case K_case_clause:
        if (f->kind == K_case_pattern)
            f->mode = M_PATTERN;
        break;
    case K_constrained_type:
    case K_generic_type:
        if (parent->mode == M_BIND && f->kind == K_type_parameter)
            return false;
        break;
    default:
        if (is_comprehension(parent->kind)) {
            f->scope = parent->own_scope;
            bool first = f->kind == K_for_in_clause && parent->first_clause;
            f->outer_scope = first ? parent->scope : -1;
        }
        break;
    }
    return true;
}

/* A name by itself; always a leaf. */
static void see_identifier(struct build *b, const struct frame *parent,
                           struct frame *f, TSNode n, const char *field)
{
    struct span name = pynode_text(b->text, n);
    if (name.n == 0) /* put in by error recovery */
        return;
    switch (f->mode) {
    case M_READ:
        add_read(b, f, n, name,
                 parent->kind == K_call && field_is(field, "function"));
        break;
    case M_BIND:
        build_bind(b, f, f->sym_kind, f->bind_scope, name);
        if (f->sym_kind == PYSYM_AUGMENTED)
            add_read(b, f, n, name, false);
        break;
    case M_PARAM:
        build_bind(b, f, PYSYM_PARAM, f->bind_scope, name);
        break;
    case M_PATTERN:
        if (!span_is(name, "_"))
            build_bind(b, f, PYSYM_TARGET, f->scope, name);
        break;
    case M_TYPEPARAM:
        build_bind(b, f, PYSYM_TARGET, f->scope, name);
        break;
    }
}

static void open_assignment(struct build *b, const struct frame *parent,
                            struct frame *f, TSNode n)
{
    bool aug = f->kind == K_augmented_assignment;
    TSNode type = pynode_field(n, "type"), right = pynode_field(n, "right");
    TSNode left = pynode_field(n, "left");
    bool chained = parent->kind == K_assignment; /* a = b = v: v is known */
    while (!chained && pynode_is(right, "assignment"))
        right = pynode_field(right, "right");
    f->sym_kind = aug                      ? PYSYM_AUGMENTED
                  : !ts_node_is_null(type) ? PYSYM_ANNOTATED
                                           : PYSYM_ASSIGN;
    if (!chained)
        f->vstart = f->vend = 0;
    if (!chained && !ts_node_is_null(right)) {
        f->vstart = ts_node_start_byte(right);
        f->vend = ts_node_end_byte(right);
    }
    f->unpacked = false;
    if (f->scope == 0 && span_is(pynode_text(b->text, left), "__all__"))
        build_all(b, right, !aug);
}

/* Nodes whose own kind matters; false: do not go inside. */
static bool by_kind(struct build *b, const struct frame *parent,
                    struct frame *f, TSNode n, const char *field)
{
    struct span dotted;
    switch (f->kind) {
    case K_comment:
        return false;
    case K_identifier:
        see_identifier(b, parent, f, n, field);
        return false;
    case K_attribute:
        /* Inside a chain that is no dotted name: nor is this part of it. */
        if (parent->kind == K_attribute)
            return true;
        dotted = build_dotted(b, n);
        if (dotted.n == 0)
            return true;
        if (f->mode == M_BIND)
            f->flags |= PYREAD_STORE;
        add_read(b, f, n, dotted,
                 parent->kind == K_call && field_is(field, "function"));
        return false;
    case K_dotted_name:
        if (f->mode == M_PATTERN && parent->kind != K_class_pattern &&
            ts_node_named_child_count(n) == 1)
            return true;
        dotted = pynode_text(b->text, n);
        if (dotted.n > 0)
            add_read(b, f, n, dotted, false);
        return false;
    case K_function_definition:
    case K_class_definition:
        open_def(b, f, n, parent);
        break;
    case K_lambda:
        f->own_scope = open_scope(b, f, PYSCOPE_FUNCTION, -1, n);
        break;
    case K_assignment:
    case K_augmented_assignment:
        open_assignment(b, parent, f, n);
        break;
    case K_tuple:
    case K_list:
    case K_pattern_list:
    case K_tuple_pattern:
    case K_list_pattern:
        f->unpacked = true;
        break;
    case K_global_statement:
    case K_nonlocal_statement:
        build_declare(b, f, n, f->kind == K_global_statement);
        return false;
    case K_import_statement:
    case K_import_from_statement:
    case K_future_import_statement:
        build_import(b, f, n, f->kind);
        return false;
    case K_call:
        if (f->scope == 0 && parent->kind == K_expression_statement &&
            span_starts(pynode_text(b->text, n), "__all__."))
            build_all_call(b, n);
        f->mode = M_READ;
        break;
    default:
        if (is_comprehension(f->kind)) {
            f->own_scope = open_scope(b, f, PYSCOPE_FUNCTION, -1, n);
            b->m->scopes.v[f->own_scope].comprehension = true;
            f->first_clause = true;
        }
        break;
    }
    return true;
}

/* print, exec and backticks make the definitions around them Python 2. */
static void mark_python2(struct build *b, const struct frame *f, TSNode n)
{
    bool old =
        f->kind == K_print_statement || f->kind == K_exec_statement ||
        (f->kind == K_string && span_starts(pynode_text(b->text, n), "`"));
    if (!old)
        return;
    if (!b->m->python2_line)
        b->m->python2_line = pynode_line(n);
    for (int d = f->def; d >= 0 && !b->m->defs.v[d].python2;
         d = b->m->defs.v[d].outer)
        b->m->defs.v[d].python2 = true;
}

static void close_stmt(struct build *b, const struct frame *f)
{
    struct pymod *m = b->m;
    if (f->own_stmt >= 0)
        m->stmts.v[f->own_stmt].n_defs =
            (int)m->globals.n - m->stmts.v[f->own_stmt].first_def;
}

static bool build_enter(void *payload, TSNode n, const char *field,
                        uint32_t depth)
{
    struct build *b = payload;
    if (b->too_deep)
        return false;
    array_reserve(&b->frames, (size_t)depth + 1);
    struct frame *f = &b->frames.v[depth];
    if (depth == 0) {
        *f = (struct frame){.kind = K_module, .def = -1, .stmt = -1};
        f->own_scope = f->own_def = f->own_stmt = f->outer_scope = -1;
        return true;
    }
    if (!ts_node_is_named(n))
        return false;
    struct frame *parent = f - 1;
    enum pykind kind = pyparser_kind(b->p, n);
    *f = *parent;
    f->kind = kind;
    f->node = n;
    f->own_scope = f->own_def = f->own_stmt = f->outer_scope = -1;
    f->first_clause = false;
    bool ok = by_place(b, parent, f, field);
    if (parent->first_clause && kind == K_for_in_clause)
        parent->first_clause = false;
    if (!ok)
        return false;
    bool in_body = parent->kind == K_module || parent->kind == K_block;
    bool extra = ts_node_is_extra(n) && kind != K_ERROR;
    if (in_body && !extra && kind != K_case_clause) {
        f->start = ts_node_start_byte(n);
        f->end = ts_node_end_byte(n);
        f->mode = M_READ;
        f->vstart = f->vend = 0;
        f->unpacked = false;
        if (f->scope == 0)
            open_stmt(b, f, n);
    }
    mark_python2(b, f, n);
    bool inside = by_kind(b, parent, f, n, field);
    if (inside && b->outline && f->mode == M_READ &&
        pyparser_is_expression(b->p, n))
        inside = false;
    if (inside)
        return true;
    close_stmt(b, f);
    return false;
}

static void build_leave(void *payload, TSNode n, uint32_t depth)
{
    struct build *b = payload;
    if (b->too_deep)
        return;
    close_stmt(b, &b->frames.v[depth]);
    (void)n;
}

static int by_start(const void *a, const void *b, void *payload)
{
    const struct pymod *m = payload;
    int x = *(const int *)a, y = *(const int *)b;
    uint32_t p = m->scopes.v[x].start, q = m->scopes.v[y].start;
    return p != q ? (p > q) - (p < q) : (x > y) - (x < y);
}

int pymod_build(struct pymod *m, const struct pyparser *p, struct span text,
                bool outline, struct err *e)
{
    struct build b = {
        .m = m, .p = p, .text = text, .declared = MAP_INIT, .outline = outline};
    struct pyscope top = {.kind = PYSCOPE_MODULE,
                          .parent = -1,
                          .def = -1,
                          .end = (uint32_t)text.n};
    array_push(&m->scopes, top);
    struct pyvisit v = {build_enter, build_leave, &b};
    pytree_walk(ts_tree_root_node(m->tree.tree), &v);
    int rc = 0;
    if (b.too_deep)
        rc = err_set(e, ERR_PARSE, "scopes nested more than %d deep",
                     PY_MAX_DEPTH);
    else if (!outline)
        build_resolve(&b);
    for (size_t i = 0; i < m->scopes.n; i++)
        array_push(&m->scopes_by_start, (int)i);
    qsort_r(m->scopes_by_start.v, m->scopes_by_start.n, sizeof(int), by_start,
            m);
    if (b.all_unclear)
        m->has_all = false;
    array_release(&b.frames);
    map_release(&b.declared);
    return rc;
}
