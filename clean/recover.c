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

static bool has_any(struct span text, const char *const *parts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(parts[i]);

        for (size_t k = 0; k + len <= text.n; k++)
            if (strncasecmp(text.p + k, parts[i], len) == 0)
                return true;
    }
    return false;
}

/* Decorators that only note, document or check what they decorate. */
static bool only_notes(struct span text)
{
    static const char *const parts[] = {"regist",    "docstring", "deprecat",
                                        "typecheck", "beartype",  "jaxtyp"};

    return has_any(text, parts, ARRAY_LEN(parts));
}

/* Functions that only say something. */
static bool reports(struct span text)
{
    static const char *const parts[] = {"warn", "log", "print", "debug",
                                        "requires_backends"};

    return has_any(text, parts, ARRAY_LEN(parts));
}

static bool cut(struct closure *c, enum dcut_kind kind, struct cfile *f,
                uint32_t start, uint32_t end, struct span name,
                const struct fault *x)
{
    struct dcut d = {
        .kind = kind,
        .f = f,
        .start = start,
        .end = end,
        .name = name,
        .code = x->code,
        .note = arena_strdup(c->arena, span_str(x->note)),
    };

    array_push(&c->cuts, d);
    return true;
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

            if (at >= y->start && at < y->end && only_notes(y->dotted))
                return cut(c, DCUT_DECORATOR, f, y->start, y->end, y->dotted,
                           x);
        }
    }
    return false;
}

/* deprecate(...), log_once(...) as statements. */
static bool cut_statement(struct closure *c, struct cfile *f, uint32_t at,
                          const struct fault *x)
{
    for (size_t i = 0; i < f->scan.cuts.n; i++) {
        const struct cut *y = &f->scan.cuts.v[i];

        if (y->kind == CUT_PRINT && y->dotted.n > 0 && at >= y->start &&
            at < y->end && (only_notes(y->dotted) || reports(y->dotted)))
            return cut(c, DCUT_STATEMENT, f, y->start, y->end, y->dotted, x);
    }
    return false;
}

/* Does the block bind a local name that is read outside of it and bound nowhere
 * else? */
static bool binds_for_others(const struct pymod *m, const struct block *b)
{
    for (size_t i = 0; i < m->syms.n; i++) {
        const struct pysym *s = &m->syms.v[i];
        const struct pysym *t = pymod_lookup(m, s->scope, s->name);
        bool elsewhere = false;

        if (s->start < b->start || s->start >= b->end)
            continue;
        if (m->scopes.v[s->scope].start >= b->start &&
            m->scopes.v[s->scope].end <= b->end)
            continue; /* of a function inside of the block */
        for (; t; t = t->earlier < 0 ? NULL : &m->syms.v[t->earlier])
            elsewhere |= t->start < b->start || t->start >= b->end;
        for (size_t k = 0; !elsewhere && k < m->reads.n; k++) {
            const struct pyread *x = &m->reads.v[k];

            if (x->bound == s->scope && span_eq(x->name, s->name) &&
                (x->at < b->start || x->at >= b->end))
                return true;
        }
    }
    return false;
}

static bool cut_block(struct closure *c, struct cfile *f, uint32_t at,
                      const struct fault *x)
{
    for (int b = scan_block_at(&f->scan, at); b >= 0;
         b = f->scan.blocks.v[b].parent)
        if (f->scan.blocks.v[b].optional &&
            !binds_for_others(f->m, &f->scan.blocks.v[b]))
            return cut(c, DCUT_BLOCK, f, f->scan.blocks.v[b].start,
                       f->scan.blocks.v[b].end, SPAN_LIT("block"), x);
    return false;
}

static bool cut_method(struct closure *c, struct cfile *f, uint32_t at,
                       const struct fault *x)
{
    for (size_t i = 0; i < f->m->defs.n; i++) {
        const struct pydef *d = &f->m->defs.v[i];

        if (at < d->start || at >= d->end || d->is_class || d->outer < 0 ||
            !f->m->defs.v[d->outer].is_class)
            continue;
        return !is_hook(d->name) &&
               cut(c, DCUT_METHOD, f, d->start, d->end, d->name, x);
    }
    return false;
}

/* is_apex_available(): what is not on the list is not there. */
static bool cut_body(struct closure *c, const struct unit *u,
                     const struct fault *x)
{
    const struct pymod *m = u->f->m;
    const struct pystmt *s = &m->stmts.v[u->stmt];
    struct span name;

    if (s->kind != PYSTMT_FUNCTION || s->n_defs == 0)
        return false;
    name = m->syms.v[m->globals.v[s->first_def]].name;
    return span_starts(name, "is_") && span_ends(name, "_available") &&
           name.n > 13 && cut(c, DCUT_BODY, u->f, s->start, s->end, name, x);
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
        if (cut_decorator(c, f, at, x) || cut_statement(c, f, at, x) ||
            cut_block(c, f, at, x) || cut_method(c, f, at, x) ||
            cut_body(c, &unit, x))
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

/* Where NAME is said in what is left, but as the name of a method. */
static bool find_mention(const struct closure *c, struct span name, int *unit,
                         uint32_t *where)
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
            const struct range *text = ranges_find(&f->scan.strings, at);

            /* Within a longer text it is talked about and not used. */
            if (text && text->end - text->start != name.n)
                def = true;
            if (word && !def && !closure_is_cut(c, f, at)) {
                *unit = (int)i;
                *where = at;
                return true;
            }
            p += name.n;
        }
    }
    return false;
}

bool recover_check(const struct closure *c, struct fault *x)
{
    for (size_t i = 0; i < c->cuts.n; i++) {
        const struct dcut *d = &c->cuts.v[i];

        if (d->kind != DCUT_METHOD ||
            !find_mention(c, d->name, &x->unit, &x->at))
            continue;
        x->code = d->code;
        snprintf(x->note, sizeof(x->note), "%s", d->note);
        return true;
    }
    return false;
}
