/* SPDX-License-Identifier: MIT */
/* What a class can do without, when something in its closure cannot be had. */
#include "base.h"

#include "clean/closure.h"
#include "clean/recover.h"

/* Methods that torch.nn.Module itself calls, or whose absence would change
 * what an object does without anybody calling them by name. */
static bool is_hook(struct span name)
{
    static const char *const names[] = {
        "forward",
        "train",
        "eval",
        "extra_repr",
        "apply",
        "to",
        "cuda",
        "cpu",
        "half",
        "float",
        "double",
        "type",
        "state_dict",
        "load_state_dict",
        "parameters",
        "named_parameters",
        "buffers",
        "named_buffers",
        "children",
        "named_children",
        "modules",
        "named_modules",
        "zero_grad",
        "requires_grad_",
        "register_buffer",
        "register_parameter",
        "add_module",
        "get_extra_state",
        "set_extra_state",
        "_apply",
        "_get_name",
        "_load_from_state_dict",
        "_named_members",
        "_save_to_state_dict",
        "_call_impl",
        "_version",
    };

    if (name.n > 4 && span_starts(name, "__") && span_ends(name, "__"))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (span_is(name, names[i]))
            return true;
    return false;
}

/* Decorators that only note, document or check what they decorate. */
static bool only_notes(struct span text)
{
    static const char *const parts[] = {"regist",    "docstring", "deprecat",
                                        "typecheck", "beartype",  "jaxtyp"};

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        size_t n = strlen(parts[i]);

        for (size_t k = 0; k + n <= text.n; k++)
            if (strncasecmp(text.p + k, parts[i], n) == 0)
                return true;
    }
    return false;
}

static bool cut_decorator(struct closure *c, struct cfile *f, uint32_t at,
                          const struct fault *x)
{
    for (size_t i = 0; i < f->m->defs.n; i++) {
        const struct pydef *d = &f->m->defs.v[i];

        if (at < d->start || at >= d->def_start)
            continue;
        for (size_t k = 0; k < d->decorators.n; k++) {
            const struct pydeco *y = &d->decorators.v[k];
            struct dcut cut = {.f = f,
                               .start = y->start,
                               .end = y->end,
                               .code = x->code,
                               .note =
                                   arena_strdup(c->arena, span_str(x->note))};

            if (at < y->start || at >= y->end || !only_notes(y->dotted))
                continue;
            array_push(&c->cuts, cut);
            return true;
        }
    }
    return false;
}

static bool cut_method(struct closure *c, struct cfile *f, uint32_t at,
                       const struct fault *x)
{
    for (size_t i = 0; i < f->m->defs.n; i++) {
        const struct pydef *d = &f->m->defs.v[i];
        struct dcut cut = {.f = f,
                           .start = d->start,
                           .end = d->end,
                           .method = d->name,
                           .code = x->code};

        if (at < d->start || at >= d->end || d->is_class || d->outer < 0 ||
            !f->m->defs.v[d->outer].is_class)
            continue;
        if (is_hook(d->name))
            return false;
        cut.note = arena_strdup(c->arena, span_str(x->note));
        array_push(&c->cuts, cut);
        return true;
    }
    return false;
}

bool recover(struct closure *c, const struct fault *x)
{
    int u = x->unit;
    uint32_t at = x->at;

    while (u >= 0) {
        const struct unit unit = c->units.v[u];
        struct cfile *f = unit.f;
        size_t i = reads_from(f->m, at);
        bool here = i < f->m->reads.n && f->m->reads.v[i].at == at;
        struct dropped d = {f, at, false};

        if (here && (f->m->reads.v[i].flags & PYREAD_ANNOTATION)) {
            array_push(&c->dropped, d);
            return true;
        }
        if (cut_decorator(c, f, at, x) || cut_method(c, f, at, x))
            return true;
        if (unit.mutator) {
            d.at = f->m->stmts.v[unit.stmt].start;
            d.mutator = true;
            array_push(&c->dropped, d);
            return true;
        }
        at = unit.from_at;
        u = unit.from;
    }
    return false;
}

static bool word_char(char ch)
{
    return ch == '_' || (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') ||
           (ch >= 'A' && ch <= 'Z') || (unsigned char)ch >= 0x80;
}

/* Is NAME said anywhere in what is left, but as the name of a method? */
static bool is_mentioned(const struct closure *c, struct span name)
{
    for (size_t i = 0; i < c->units.n; i++) {
        struct cfile *f = c->units.v[i].f;
        const struct pystmt *s = &f->m->stmts.v[c->units.v[i].stmt];
        const char *p = f->m->text.p + s->start;
        const char *end = f->m->text.p + s->end;

        while (p < end &&
               (p = memmem(p, (size_t)(end - p), name.p, name.n)) != NULL) {
            uint32_t at = (uint32_t)(p - f->m->text.p);
            bool word = (at == 0 || !word_char(p[-1])) &&
                        (p + name.n == end || !word_char(p[name.n]));
            bool def = at >= 4 && memcmp(p - 4, "def ", 4) == 0;

            if (word && !def && !closure_is_cut(c, f, at))
                return true;
            p += name.n;
        }
    }
    return false;
}

const struct dcut *recover_check(const struct closure *c)
{
    for (size_t i = 0; i < c->cuts.n; i++)
        if (c->cuts.v[i].method.n > 0 && is_mentioned(c, c->cuts.v[i].method))
            return &c->cuts.v[i];
    return NULL;
}
