/* SPDX-License-Identifier: MIT */
/* Bindings: names, imports, decorators, bases, __all__; and which binding a
 * read means. */
#include "base.h"

#include "hash.h"
#include "py/scope.h"

/* Longer chains of attributes are no dotted names. */
#define MAX_CHAIN 64

static char is_global[1], is_nonlocal[1];

/* Key "SCOPE:NAME". Of a name longer than any real one the start and a
 * checksum. */
static struct span key_of(char out[128], int scope, struct span name)
{
    int n = snprintf(out, 128, "%d:", scope);
    size_t take = MIN(name.n, (size_t)64);
    if (take)
        memcpy(out + n, name.p, take);
    n += (int)take;
    if (take < name.n)
        n += snprintf(out + n, 128 - (size_t)n, "/%016" PRIx64,
                      hash_fast(name, 0));
    return (struct span){out, (size_t)n};
}

int pymod_binding(const struct map *which, int scope, struct span name)
{
    char tmp[128];
    return (int)(intptr_t)map_get(which, key_of(tmp, scope, name)) - 1;
}

struct span build_dotted(struct build *b, TSNode n)
{
    struct span s = pynode_dotted(b->text, n);
    if (s.n > 0)
        return s;
    struct span part[MAX_CHAIN];
    int k = 0;
    TSNode at = n;
    for (; k + 1 < MAX_CHAIN && pynode_is(at, "attribute"); k++) {
        part[k] = pynode_text(b->text, pynode_field(at, "attribute"));
        at = ts_node_child(at, 0);
    }
    if (!pynode_is(at, "identifier"))
        return (struct span){NULL, 0};
    part[k++] = pynode_text(b->text, at);
    size_t total = 0;
    for (int i = 0; i < k; i++)
        total += part[i].n + 1;
    char *p = arena_alloc(&b->m->arena, total);
    size_t used = 0;
    for (int i = k - 1; i >= 0; i--) {
        memcpy(p + used, part[i].p, part[i].n);
        used += part[i].n;
        if (i > 0)
            p[used++] = '.';
    }
    return (struct span){p, used};
}

int build_bind(struct build *b, const struct frame *f, enum pysym_kind kind,
               int scope, struct span name)
{
    char tmp[128];
    struct pymod *m = b->m;
    if (name.n == 0)
        return -1;
    struct span key = key_of(tmp, scope, name);
    char *declared = map_get(&b->declared, key);
    if (declared == is_nonlocal)
        return -1;
    if (declared == is_global) {
        scope = 0;
        key = key_of(tmp, scope, name);
    }
    int index = (int)m->syms.n;
    void **last = map_ref(&m->last, key);
    struct pysym s = {
        .kind = kind,
        .name = name,
        .scope = scope,
        .earlier = (int)(intptr_t)*last - 1,
        .def = -1,
        .stmt = f->stmt,
        .start = f->start,
        .end = f->end,
        .value_start = f->vstart,
        .value_end = f->vend,
        .unpacked = f->unpacked,
    };
    if (!*last)
        map_put(&m->first, key, (void *)(intptr_t)(index + 1));
    *map_ref(&m->last, key) = (void *)(intptr_t)(index + 1);
    array_push(&m->syms, s);
    if (scope == 0)
        array_push(&m->globals, index);
    return index;
}

void build_declare(struct build *b, const struct frame *f, TSNode n,
                   bool global)
{
    char tmp[128];
    TSTreeCursor c = ts_tree_cursor_new(n);
    if (ts_tree_cursor_goto_first_child(&c)) {
        do {
            TSNode child = ts_tree_cursor_current_node(&c);
            if (pynode_is(child, "identifier") && f->scope != 0)
                map_put(&b->declared,
                        key_of(tmp, f->scope, pynode_text(b->text, child)),
                        global ? is_global : is_nonlocal);
        } while (ts_tree_cursor_goto_next_sibling(&c));
    }
    ts_tree_cursor_delete(&c);
}

/* Text of a dotted_name, white space and comments between its parts removed. */
static struct span module_text(struct build *b, TSNode n)
{
    struct span raw = pynode_text(b->text, n);
    size_t i = 0;
    while (i < raw.n && (unsigned char)raw.p[i] > ' ' && raw.p[i] != '\\')
        i++;
    if (i == raw.n)
        return raw;
    char *p = arena_alloc(&b->m->arena, raw.n);
    size_t used = 0;
    TSTreeCursor c = ts_tree_cursor_new(n);
    if (ts_tree_cursor_goto_first_child(&c)) {
        do {
            struct span part =
                pynode_text(b->text, ts_tree_cursor_current_node(&c));
            if (part.n == 0 || part.p[0] == '#' || part.p[0] == '\\')
                continue;
            memcpy(p + used, part.p, part.n);
            used += part.n;
        } while (ts_tree_cursor_goto_next_sibling(&c));
    }
    ts_tree_cursor_delete(&c);
    return (struct span){p, used};
}

/* Level and module of a `from` clause. */
static struct span from_module(struct build *b, TSNode n, int *level)
{
    *level = 0;
    if (!pynode_is(n, "relative_import"))
        return module_text(b, n);
    struct span module = {NULL, 0};
    TSTreeCursor c = ts_tree_cursor_new(n);
    if (ts_tree_cursor_goto_first_child(&c)) {
        do {
            TSNode child = ts_tree_cursor_current_node(&c);
            struct span s = pynode_text(b->text, child);
            if (pynode_is(child, "import_prefix")) {
                for (size_t i = 0; i < s.n; i++)
                    *level += s.p[i] == '.';
            } else if (pynode_is(child, "dotted_name")) {
                module = module_text(b, child);
            }
        } while (ts_tree_cursor_goto_next_sibling(&c));
    }
    ts_tree_cursor_delete(&c);
    return module;
}

static void import_one(struct build *b, const struct frame *f, TSNode n,
                       bool from, int level, struct span module)
{
    TSNode name = n;
    struct span alias = {NULL, 0};
    if (pynode_is(n, "aliased_import")) {
        name = pynode_field(n, "name");
        alias = pynode_text(b->text, pynode_field(n, "alias"));
    }
    struct span text = module_text(b, name), bound = text;
    if (!from) {
        const char *dot = text.n ? memchr(text.p, '.', text.n) : NULL;
        if (dot)
            bound.n = (size_t)(dot - text.p);
    }
    int i = build_bind(b, f, from ? PYSYM_FROM : PYSYM_IMPORT, f->scope,
                       alias.n ? alias : bound);
    if (i < 0)
        return;
    struct pysym *s = &b->m->syms.v[i];
    s->aliased = alias.n > 0;
    s->level = level;
    s->module = from ? module : text;
    if (from)
        s->member = text;
}

void build_import(struct build *b, const struct frame *f, TSNode n,
                  enum pykind kind)
{
    bool from = kind != K_import_statement;
    int level = 0;
    struct span module = {NULL, 0};
    if (kind == K_future_import_statement)
        module = SPAN_LIT("__future__");
    else if (from)
        module = from_module(b, pynode_field(n, "module_name"), &level);
    TSTreeCursor c = ts_tree_cursor_new(n);
    if (ts_tree_cursor_goto_first_child(&c)) {
        do {
            TSNode child = ts_tree_cursor_current_node(&c);
            const char *field = ts_tree_cursor_current_field_name(&c);
            if (field && strcmp(field, "name") == 0) {
                import_one(b, f, child, from, level, module);
                if (kind == K_future_import_statement &&
                    span_is(pynode_text(b->text, child), "annotations"))
                    b->m->future_annotations = true;
            } else if (pynode_is(child, "wildcard_import")) {
                int i = build_bind(b, f, PYSYM_STAR, f->scope, SPAN_LIT("*"));
                if (i >= 0) {
                    b->m->syms.v[i].level = level;
                    b->m->syms.v[i].module = module;
                    b->m->has_star |= f->scope == 0;
                }
            }
        } while (ts_tree_cursor_goto_next_sibling(&c));
    }
    ts_tree_cursor_delete(&c);
}

void build_decorators(struct build *b, struct pydef *d, TSNode decorated)
{
    TSTreeCursor c = ts_tree_cursor_new(decorated);
    if (ts_tree_cursor_goto_first_child(&c)) {
        do {
            TSNode child = ts_tree_cursor_current_node(&c);
            if (!pynode_is(child, "decorator"))
                continue;
            TSNode x = ts_node_named_child(child, 0);
            if (ts_node_is_null(x))
                continue;
            struct pydeco deco = {.start = ts_node_start_byte(x),
                                  .end = ts_node_end_byte(x)};
            deco.called = pynode_is(x, "call");
            deco.dotted =
                build_dotted(b, deco.called ? pynode_field(x, "function") : x);
            array_push(&d->decorators, deco);
        } while (ts_tree_cursor_goto_next_sibling(&c));
    }
    ts_tree_cursor_delete(&c);
}

void build_bases(struct build *b, struct pydef *d, TSNode superclasses)
{
    if (ts_node_is_null(superclasses))
        return;
    TSTreeCursor c = ts_tree_cursor_new(superclasses);
    if (ts_tree_cursor_goto_first_child(&c)) {
        do {
            TSNode x = ts_tree_cursor_current_node(&c);
            if (!ts_node_is_named(x) || ts_node_is_extra(x))
                continue;
            struct pybase base = {.start = 0};
            if (pynode_is(x, "keyword_argument")) {
                base.keyword = pynode_text(b->text, pynode_field(x, "name"));
                x = pynode_field(x, "value");
            }
            base.start = ts_node_start_byte(x);
            base.end = ts_node_end_byte(x);
            if (pynode_is(x, "subscript"))
                x = pynode_field(x, "value");
            else if (pynode_is(x, "call"))
                x = pynode_field(x, "function");
            base.dotted = build_dotted(b, x);
            array_push(&d->bases, base);
        } while (ts_tree_cursor_goto_next_sibling(&c));
    }
    ts_tree_cursor_delete(&c);
}

/* Content of a plain string literal; false for anything else. */
static bool plain_string(struct build *b, TSNode n, struct span *out)
{
    if (!pynode_is(n, "string"))
        return false;
    *out = (struct span){NULL, 0};
    struct span open = pynode_text(b->text, ts_node_child(n, 0));
    if (open.n == 0 || memchr(open.p, 'f', open.n) ||
        memchr(open.p, 'F', open.n))
        return false;
    if (ts_node_child_count(n) != 3)
        return false;
    *out = pynode_text(b->text, ts_node_child(n, 1));
    return !memchr(out->p, '\\', out->n);
}

void build_all(struct build *b, TSNode value, bool reset)
{
    struct pymod *m = b->m;
    if (reset) {
        m->all.n = 0;
        m->has_all = true;
        b->all_unclear = false;
    }
    struct span s;
    if (!pynode_is(value, "list") && !pynode_is(value, "tuple") &&
        !pynode_is(value, "expression_list")) {
        b->all_unclear = true;
        return;
    }
    TSTreeCursor c = ts_tree_cursor_new(value);
    if (ts_tree_cursor_goto_first_child(&c)) {
        do {
            TSNode x = ts_tree_cursor_current_node(&c);
            if (!ts_node_is_named(x) || ts_node_is_extra(x))
                continue;
            if (plain_string(b, x, &s))
                array_push(&m->all, s);
            else
                b->all_unclear = true;
        } while (ts_tree_cursor_goto_next_sibling(&c));
    }
    ts_tree_cursor_delete(&c);
}

void build_all_call(struct build *b, TSNode call)
{
    struct span f = pynode_text(b->text, pynode_field(call, "function"));
    TSNode arg = ts_node_named_child(pynode_field(call, "arguments"), 0);
    struct span s;
    if (span_is(f, "__all__.append") && plain_string(b, arg, &s))
        array_push(&b->m->all, s);
    else if (span_is(f, "__all__.extend") && !ts_node_is_null(arg))
        build_all(b, arg, false);
    else
        b->all_unclear = true;
}

/* In a class body a name counts as the class's only once it was bound there:
 * `dim = dim` reads the name outside. */
static bool bound_before(const struct pymod *m, int scope, struct span name,
                         uint32_t at)
{
    int i = pymod_binding(&m->first, scope, name);
    if (i < 0)
        return false;
    const struct pysym *s = &m->syms.v[i];
    if (s->kind == PYSYM_FUNCTION || s->kind == PYSYM_CLASS)
        return s->end <= at;
    if (s->value_end > s->value_start)
        return at >= s->value_end;
    return s->name.p < m->text.p + at;
}

void build_resolve(struct build *b)
{
    struct pymod *m = b->m;
    char tmp[128];
    for (size_t i = 0; i < m->reads.n; i++) {
        struct pyread *r = &m->reads.v[i];
        r->bound = 0;
        for (int s = r->scope; s > 0; s = m->scopes.v[s].parent) {
            const struct pyscope *scope = &m->scopes.v[s];
            if (map_get(&b->declared, key_of(tmp, s, r->name)) == is_global)
                break;
            bool visible =
                scope->kind != PYSCOPE_CLASS ||
                (s == r->scope && bound_before(m, s, r->name, r->at));
            if (visible && pymod_binding(&m->last, s, r->name) >= 0) {
                r->bound = s;
                break;
            }
        }
    }
}
