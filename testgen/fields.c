/* SPDX-License-Identifier: MIT */
/*
 * Arguments of forward that are objects: which attributes and keys are read,
 * and what is done with each.
 */
#include "base.h"

#include "testgen/facts_walk.h"

static const char *const tensor_attributes =
#include "testgen/tensor.def"
    ;

bool is_tensor_attribute(struct span name)
{
    const char *p = tensor_attributes;
    if (name.n == 0 || name.p[0] == '_' || span_ends(name, "_"))
        return true;
    while ((p = memmem(p, strlen(p), name.p, name.n)) != NULL) {
        if (p[name.n] == ' ' && (p == tensor_attributes || p[-1] == ' '))
            return true;
        p++;
    }
    return false;
}

static bool holds(const struct spans *list, struct span s)
{
    for (size_t i = 0; i < list->n; i++)
        if (span_eq(list->v[i], s))
            return true;
    return false;
}

void param_fields(const struct param *p, struct spans *out)
{
    for (size_t i = 0; i < p->keys.n; i++)
        spans_add(out, p->keys.v[i]);
    for (size_t i = 0; i < p->attrs.n && !p->keys.n; i++) {
        struct span s = p->attrs.v[i];
        if (!memchr(s.p, '.', s.n) && !is_tensor_attribute(s) &&
            !holds(&p->called, s))
            spans_add(out, s);
    }
}

bool param_is_object(const struct param *p)
{
    struct spans fields = {0};
    param_fields(p, &fields);
    bool some = fields.n > 0;
    array_release(&fields);
    return some && p->kind != PARAM_VAR && p->kind != PARAM_VAR_KW;
}

/* x = data.x and x, y = data.x, data.y: other names of fields. */
struct aliases {
    struct usage *u;
    struct params list; /* `annotation` is the field's name */
};

static void add_alias(struct aliases *a, TSNode left, TSNode right)
{
    struct param *field =
        pynode_is(right, "identifier") ? NULL : walk_param(a->u, right);
    struct param p = {.name = pynode_text(a->u->f->mod->text, left)};
    if (!field || !pynode_is(left, "identifier") ||
        params_find(&a->list, p.name) || a->list.n >= 64)
        return;
    p.annotation = field->name;
    array_push(&a->list, p);
}

static bool enter_alias(void *payload, TSNode n, const char *field,
                        uint32_t depth)
{
    struct aliases *a = payload;
    (void)field;
    (void)depth;
    if (!pynode_is(n, "assignment"))
        return true;
    TSNode left = pynode_field(n, "left"), right = pynode_field(n, "right");
    uint32_t count = ts_node_is_null(right) ? 0
                     : pynode_is(right, "expression_list")
                         ? ts_node_named_child_count(right)
                         : 0;
    if (ts_node_is_null(right))
        return true;
    if (!count)
        add_alias(a, left, right);
    for (uint32_t i = 0; i < count && i < ts_node_named_child_count(left); i++)
        add_alias(a, ts_node_named_child(left, i),
                  ts_node_named_child(right, i));
    return true;
}

void objects_read(struct facts *f, const struct pydef *forward)
{
    unsigned left = 64;
    const struct pydef *cls = f->is_function ? NULL : f->entry;
    struct usage u = {f, cls, cls, &f->fields, true, 0, &left};
    struct aliases al = {.u = &u};
    struct pyvisit v = {enter_alias, NULL, &al};
    for (size_t i = 0; i < f->forward.n; i++) {
        struct spans names = {0};
        struct span arg = f->forward.v[i].name;
        if (param_is_object(&f->forward.v[i]))
            param_fields(&f->forward.v[i], &names);
        for (size_t k = 0; k < names.n && f->fields.n < 64; k++) {
            struct param p = {0};
            p.name =
                span_str(arena_printf(&f->arena, "%.*s.%.*s", (int)arg.n, arg.p,
                                      (int)names.v[k].n, names.v[k].p));
            array_push(&f->fields, p);
        }
        array_release(&names);
    }
    if (!f->fields.n)
        return;
    walk_uses(&u, forward);
    pytree_walk(pynode_field(forward->node, "body"), &v);
    u.ps = &al.list;
    walk_uses(&u, forward);
    for (size_t i = 0; i < al.list.n; i++) {
        struct param *p = params_find(&f->fields, al.list.v[i].annotation);
        if (p && !p->first.rank && !p->first.layer.n && !p->first.pattern.n)
            p->first = al.list.v[i].first;
        if (p)
            p->uses |= al.list.v[i].uses;
    }
    params_release(&al.list);
}
