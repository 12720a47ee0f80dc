/* SPDX-License-Identifier: MIT */
/*
 * Arguments of forward that are objects, in parts: which fields they get, and
 * by which class they are made.
 */
#include "base.h"

#include "testgen/objects.h"
#include "testgen/propose.h"

struct val *propose_field(struct arena *a, const struct facts *f,
                          const struct val *state, struct span arg,
                          struct span field, const char **evidence)
{
    const char *key =
        arena_printf(a, "%.*s.%.*s", (int)arg.n, arg.p, (int)field.n, field.p);
    const struct param *known = params_find(&f->fields, span_str(key));
    struct param p = {0};
    if (known)
        p = *known;
    p.name = field;
    p.annotation = (struct span){NULL, 0};
    if (span_is(field, "tensors"))
        p.name = SPAN_LIT("x"); /* the batch itself, not a list */
    struct val *v = propose_input(a, f, state, &p, evidence);
    val_set(a, v, "name", val_str(a, field));
    return v;
}

/* Fields that the constructor of CLS requires; false for those of FIELDS that
 * it does not take. */
static bool class_takes(const struct facts *f, struct span cls,
                        struct spans *fields)
{
    struct facts child = {.mod = f->mod, .entry = pymod_def(f->mod, cls)};
    bool all = child.entry != NULL;
    if (child.entry)
        facts_signature(&child);
    for (size_t i = 0; i < child.init.n; i++) {
        const struct param *p = &child.init.v[i];
        if (!p->has_default && p->kind != PARAM_VAR && p->kind != PARAM_VAR_KW)
            spans_add(fields, p->name);
    }
    for (size_t i = 0; i < f->mod->syms.n && child.entry && !child.init.n;
         i++) { /* a dataclass */
        const struct pysym *s = &f->mod->syms.v[i];
        if (s->scope == child.entry->scope && s->kind == PYSYM_ANNOTATED &&
            s->value_start == s->value_end)
            spans_add(fields, s->name);
    }
    for (size_t i = 0; i < fields->n && child.init.n && !child.has_var_kw; i++)
        all = all && params_find(&child.init, fields->v[i]);
    all = all && fields->n > 0;
    params_release(&child.init);
    params_release(&child.forward);
    params_release(&child.fields);
    arena_release(&child.arena);
    return all;
}

void propose_object(struct arena *a, const struct facts *f, struct val *state,
                    const struct param *p, struct span extra)
{
    struct spans fields = {0};
    const char *ev = "", *how = p->keys.n ? "dict" : "object";
    struct span cls = p->keys.n ? (struct span){NULL, 0} : object_class(f, p);
    param_fields(p, &fields);
    spans_add(&fields, extra);
    if (cls.n && !span_eq(cls, f->entry->name)) {
        size_t own = fields.n;
        if (class_takes(f, cls, &fields))
            how = arena_strdup(a, cls);
        else
            fields.n = own;
    }
    state_set_form(a, state, p->name, how);
    for (size_t i = 0; i < fields.n && i < 16; i++) {
        struct val *v = propose_field(a, f, state, p->name, fields.v[i], &ev);
        val_set(a, v, "ev", val_strz(a, ev));
        state_set_input(
            a, state,
            span_str(arena_printf(a, "%.*s.%.*s", (int)p->name.n, p->name.p,
                                  (int)fields.v[i].n, fields.v[i].p)),
            v);
    }
    array_release(&fields);
}

void propose_argument(struct arena *a, const struct facts *f, struct val *state,
                      const struct param *p)
{
    const char *ev = "";
    struct span cls = p->annotation.n ? object_class(f, p) : p->annotation;
    bool tensor = annotation_has(p->annotation, "Tensor") && !p->keys.n;
    if ((param_is_object(p) && !tensor) ||
        (cls.n && !span_eq(cls, f->entry->name) &&
         !(tensor && f->is_function))) {
        propose_object(a, f, state, p, (struct span){NULL, 0});
        return;
    }
    struct val *v = propose_input(a, f, state, p, &ev);
    val_set(a, v, "ev", val_strz(a, ev));
    state_set_input(a, state, p->name, v);
}

struct val *propose_tensors(struct arena *a, const struct facts *f,
                            const struct val *state)
{
    const struct val *form = val_get(state, "form");
    struct val *s = state_copy(a, state);
    for (size_t i = 0; i < val_len(form); i++) {
        struct span name = form->map.keys[i];
        const struct param *p = params_find(&f->forward, name);
        const char *ev = "";
        if (!p || span_is(val_as_str(form->map.v[i]), "tuple"))
            continue;
        state_drop_input(a, s, name);
        struct val *v = propose_input(a, f, s, p, &ev);
        val_set(a, v, "ev", val_strz(a, ev));
        state_set_input(a, s, name, v);
    }
    return val_equal(s, state) ? NULL : s;
}
