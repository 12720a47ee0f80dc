/* SPDX-License-Identifier: MIT */
/* What a class can do without, when something in its closure cannot be had. */
#include "base.h"

#include "clean/closure.h"
#include "clean/recover.h"
#include "clean/reference.h"

/* Methods that torch.nn.Module itself calls, or whose absence would change
 * what an object does without anybody calling them by name. */
bool recover_is_hook(struct span name)
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
    return span_in(name, names, ARRAY_LEN(names));
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

/* The next word of the name at *P, "log" of "log_once" and of "logOnce", in
 * small letters; 0 = none. */
static size_t next_word(struct span *p, char word[16])
{
    size_t n = 0;

    while (p->n > 0 && p->p[0] == '_')
        *p = (struct span){p->p + 1, p->n - 1};
    while (p->n > 0 && p->p[0] != '_') {
        bool upper = p->p[0] >= 'A' && p->p[0] <= 'Z';

        if (n > 0 && upper && !(p->p[-1] >= 'A' && p->p[-1] <= 'Z'))
            break;
        if (n < 15)
            word[n++] = (char)(upper ? p->p[0] - 'A' + 'a' : p->p[0]);
        *p = (struct span){p->p + 1, p->n - 1};
    }
    word[n] = '\0';
    return n;
}

static bool is_one_of(const char *word, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/* A function that only says something, by the words of its name, or a method of
 * what does. `log_prior.add_(x)` and `x.log_()` compute. */
static bool reports(struct span dotted)
{
    static const char *const says[] = {"warn",  "warning", "warnings",
                                       "print", "debug",   "deprecate"};
    static const char *const first[] = {"log", "logs"};
    static const char *const who[] = {"logger", "logging", "warnings"};
    char word[16];

    while (dotted.n > 0) {
        const char *dot = memchr(dotted.p, '.', dotted.n);
        struct span part = {dotted.p,
                            dot ? (size_t)(dot - dotted.p) : dotted.n};
        struct span left = part;
        bool last = !dot;

        if (last && span_ends(part, "_"))
            return false;
        if (last && span_is(part, "requires_backends"))
            return true;
        for (int k = 0; next_word(&left, word) > 0; k++)
            if (last ? is_one_of(word, says, ARRAY_LEN(says)) ||
                           (k == 0 && is_one_of(word, first, ARRAY_LEN(first)))
                     : is_one_of(word, who, ARRAY_LEN(who)))
                return true;
        dotted.n -= part.n + !last;
        dotted.p += part.n + !last;
    }
    return false;
}

/* self.register_buffer(...), x.register_hook(...): it is part of what the
 * object is. */
static bool registers_own(struct span dotted)
{
    static const char *const parts[] = {"hook", "buffer", "param", "module"};

    return memchr(dotted.p, '.', dotted.n) &&
           has_any(dotted, parts, ARRAY_LEN(parts));
}

/* Of those the ones that neither making nor running an object calls. */
static bool is_side_hook(struct span name)
{
    static const char *const names[] = {
        "extra_repr",
        "state_dict",
        "load_state_dict",
        "get_extra_state",
        "set_extra_state",
        "_load_from_state_dict",
        "_save_to_state_dict",
        "__repr__",
        "__str__",
        "__getstate__",
        "__setstate__",
        "__reduce__",
        "__reduce_ex__",
        "__copy__",
        "__deepcopy__",
        "__del__",
        "__dir__",
    };

    return span_in(name, names, ARRAY_LEN(names));
}

static struct dcut *cut(struct closure *c, enum dcut_kind kind, struct cfile *f,
                        uint32_t start, uint32_t end, struct span name,
                        const struct fault *x)
{
    struct dcut d = {
        .kind = kind,
        .f = f,
        .start = start,
        .end = end,
        .name = name,
        .text = "raise RuntimeError('left out')",
        .code = x->code,
        .note = arena_strdup(c->arena, span_str(x->note)),
    };

    array_push(&c->cuts, d);
    return &c->cuts.v[c->cuts.n - 1];
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
            at < y->end &&
            ((only_notes(y->dotted) && !registers_own(y->dotted)) ||
             reports(y->dotted)))
            return cut(c, DCUT_STATEMENT, f, y->start, y->end, y->dotted, x);
    }
    return false;
}

/*
 * Names that the block binds, that are read outside of it and bound nowhere
 * else: they would become names of the module. Those of functions go as
 * assignments of None to *TEXT, when that is asked for; true when others are
 * left.
 */
static bool binds_for_others(struct closure *c, const struct pymod *m,
                             const struct block *b, const char **text)
{
    const char *names = "";
    bool left = false;

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

            if (x->bound != s->scope || !span_eq(x->name, s->name) ||
                (x->at >= b->start && x->at < b->end))
                continue;
            left |= m->scopes.v[s->scope].kind != PYSCOPE_FUNCTION;
            names = arena_printf(c->arena, "%s%.*s = ", names, (int)s->name.n,
                                 s->name.p);
            break;
        }
    }
    if (text && *names)
        *text = arena_printf(c->arena, "%sNone; %s", names, *text);
    return left || (!text && *names);
}

static bool cut_block(struct closure *c, struct cfile *f, uint32_t at,
                      const struct fault *x)
{
    for (int b = scan_block_at(&f->scan, at); b >= 0;
         b = f->scan.blocks.v[b].parent)
        if (f->scan.blocks.v[b].optional &&
            !binds_for_others(c, f->m, &f->scan.blocks.v[b], NULL))
            return cut(c, DCUT_BLOCK, f, f->scan.blocks.v[b].start,
                       f->scan.blocks.v[b].end, SPAN_LIT("an optional block"),
                       x);
    return false;
}

/* Is B the last way of its if statement that is left and leads on? */
static bool last_way(const struct closure *c, const struct cfile *f,
                     const struct block *b)
{
    for (size_t i = 0; i < f->scan.blocks.n && b->closed; i++) {
        const struct block *y = &f->scan.blocks.v[i];

        if (y != b && y->closed && y->chain == b->chain &&
            y->start >= b->chain && !y->raises &&
            !closure_is_cut(c, f, y->start))
            return false;
    }
    return b->closed;
}

/* Would block B of unit U, left out, raise while the source is imported: does
 * it stand in a function that runs then, and in no try? */
static bool raises_at_import(struct closure *c, const struct unit *u,
                             const struct block *b)
{
    const struct pymod *m = u->f->m;
    int scope = pymod_scope_at(m, b->start);

    if (m->scopes.v[scope].parent != 0) /* of a function in it, or a method */
        return false;
    for (int i = (int)(b - u->f->scan.blocks.v); i >= 0;
         i = u->f->scan.blocks.v[i].parent)
        if (u->f->scan.blocks.v[i].tried)
            return false;
    return runs_at_import(c, u);
}

/* The definition whose body holds AT, of a class's own functions. */
static const struct pydef *method_at(const struct cfile *f, uint32_t at)
{
    for (size_t i = 0; i < f->m->defs.n; i++) {
        const struct pydef *d = &f->m->defs.v[i];

        if (at >= d->start && at < d->end && !d->is_class && d->outer >= 0 &&
            f->m->defs.v[d->outer].is_class)
            return d;
    }
    return NULL;
}

/* Does B stand in a try of a method that goes on when B raises? What is
 * computed then is not what B would have. Functions ask so for what is
 * installed. */
static bool is_caught(const struct cfile *f, const struct block *b)
{
    if (!method_at(f, b->start))
        return false;
    for (int i = (int)(b - f->scan.blocks.v); i >= 0;
         i = f->scan.blocks.v[i].parent)
        if (f->scan.blocks.v[i].caught)
            return true;
    return false;
}

/* One of several ways that a function can go: where it is gone, it raises, so
 * that what is computed is right or nothing. */
static bool cut_branch(struct closure *c, const struct unit *u, uint32_t at,
                       const struct fault *x)
{
    struct cfile *f = u->f;

    for (int i = scan_block_at(&f->scan, at); i >= 0;
         i = f->scan.blocks.v[i].parent) {
        const struct block *b = &f->scan.blocks.v[i];
        const char *text = x->code == ERR_IMPORT_DENIED
                               ? "raise ImportError('left out')"
                               : "raise RuntimeError('left out')";

        if (!b->branch || last_way(c, f, b) ||
            (x->code != ERR_IMPORT_DENIED && is_caught(f, b)) ||
            binds_for_others(c, f->m, b, &text) || raises_at_import(c, u, b))
            continue;
        cut(c, DCUT_BLOCK, f, b->start, b->end, SPAN_LIT("a branch"), x)->text =
            text;
        return true;
    }
    return false;
}

/* Does the word at AT, of N bytes, ask an object or a class body for something
 * of that name? Not a parameter, a keyword of a call, a local name, or a value
 * of a model's settings. */
bool recover_asks_for(const struct cfile *f, uint32_t at, size_t n)
{
    static const char settings[] = "hparams.";
    const struct pymod *m = f->m;
    const struct range *text = ranges_find(&f->scan.strings, at);
    size_t i;

    /* Within a longer text it is talked about and not used. */
    if (text)
        return text->end - text->start == n;
    if (at > 0 && m->text.p[at - 1] == '.')
        return at < sizeof(settings) ||
               memcmp(m->text.p + at + 1 - sizeof(settings), settings,
                      sizeof(settings) - 1) != 0;
    i = reads_from(m, at);
    return i < m->reads.n && m->reads.v[i].at == at &&
           m->scopes.v[m->reads.v[i].bound].kind != PYSCOPE_FUNCTION;
}

/* Where something of NAME is asked for in what is left. */
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
            bool word = (at == 0 || !is_word_char(p[-1])) &&
                        (p + name.n == end || !is_word_char(p[name.n]));

            if (word && recover_asks_for(f, at, name.n) &&
                !closure_is_cut(c, f, at)) {
                *unit = (int)i;
                *where = at;
                return true;
            }
            p += name.n;
        }
    }
    return false;
}

void recover_cut_method(struct closure *c, struct cfile *f,
                        const struct pydef *d, const struct fault *x)
{
    cut(c, DCUT_METHOD, f, d->start, d->end, d->name, x);
}

bool recover_has_base(struct closure *c, struct cfile *f, const struct pydef *d,
                      bool any, int *left)
{
    static const char *const plain[] = {"object", "torch.nn.Module",
                                        "torch.nn.modules.Module",
                                        "torch.nn.modules.module.Module"};
    static const char *const functions[] = {"torch.autograd.Function",
                                            "torch.autograd.function.Function"};

    for (size_t k = 0; k < d->bases.n; k++) {
        const struct pybase *b = &d->bases.v[k];
        size_t i = reads_from(f->m, b->start);
        const struct target *t;
        const struct pysym *s;

        if (--*left < 0)
            return true;
        if (b->keyword.n > 0 || i == f->m->reads.n ||
            f->m->reads.v[i].at != b->start) {
            if (any)
                return true;
            continue;
        }
        t = crepo_target(c->r, f, i);
        s = t->kind == TARGET_SYM ? pymod_lookup(t->file->m, 0, t->name) : NULL;
        if (s && s->kind == PYSYM_CLASS &&
            recover_has_base(c, t->file, &t->file->m->defs.v[s->def], any,
                             left))
            return true;
        if ((s && s->kind == PYSYM_CLASS) ||
            span_in(t->dotted, plain, ARRAY_LEN(plain)))
            continue;
        if (any || (t->kind == TARGET_EXTERNAL &&
                    !span_in(t->dotted, functions, ARRAY_LEN(functions)) &&
                    (span_starts(t->dotted, "torch.") ||
                     span_starts(t->dotted, "torchmetrics."))))
            return true;
    }
    return false;
}

/* The body of the method D of F raises. */
static bool cut_body_of(struct closure *c, struct cfile *f,
                        const struct pydef *d, uint32_t at,
                        const struct fault *x)
{
    int b = at >= d->body_start ? scan_block_at(&f->scan, d->body_start) : -1;

    if (b < 0)
        return false;
    cut(c, DCUT_RAISE, f, f->scan.blocks.v[b].start, f->scan.blocks.v[b].end,
        d->name, x);
    return true;
}

/* A method; with UNNAMED only when nothing so far names it. */
static bool cut_method(struct closure *c, struct cfile *f, uint32_t at,
                       const struct fault *x, bool unnamed)
{
    const struct pydef *d = method_at(f, at);
    uint32_t where;
    int unit, left = RECOVER_MAX_BASES;

    if (!d || recover_is_hook(d->name) ||
        (unnamed && find_mention(c, d->name, &unit, &where)))
        return false;
    if (recover_has_base(c, f, &f->m->defs.v[d->outer], false, &left))
        return !unnamed && !find_mention(c, d->name, &unit, &where) &&
               cut_body_of(c, f, d, at, x);
    recover_cut_method(c, f, d, x);
    return true;
}

static bool cut_side_hook(struct closure *c, struct cfile *f, uint32_t at,
                          const struct fault *x)
{
    const struct pydef *d = method_at(f, at);

    return d && is_side_hook(d->name) && cut_body_of(c, f, d, at, x);
}

/* A function or class that is only handed around by what needs it. */
static bool cut_uncalled(struct closure *c, const struct unit *u,
                         const struct fault *x)
{
    const struct pymod *m = u->f->m;
    const struct pystmt *s = &m->stmts.v[u->stmt];
    struct cfile *g;
    size_t i;

    if (u->from < 0 || u->mutator || s->n_defs == 0 ||
        (s->kind != PYSTMT_FUNCTION && s->kind != PYSTMT_CLASS))
        return false;
    g = c->units.v[u->from].f;
    i = reads_from(g->m, u->from_at);
    if (i == g->m->reads.n || g->m->reads.v[i].at != u->from_at ||
        closure_uses(c, g, i))
        return false;
    /* a default value of a function that runs then is used then */
    if (!(g->m->reads.v[i].flags & PYREAD_DEFERRED) &&
        runs_at_import(c, &c->units.v[u->from]))
        return false;
    cut(c, DCUT_UNCALLED, u->f, s->start, s->end,
        m->syms.v[m->globals.v[s->first_def]].name, x);
    return true;
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

/* Is unit U here only because a text names it (stand_members)? */
static bool is_member(struct closure *c, const struct unit *u)
{
    struct cfile *g = u->from < 0 ? NULL : c->units.v[u->from].f;
    size_t i = g ? reads_from(g->m, u->from_at) : 0;

    return g && i < g->m->reads.n && g->m->reads.v[i].at == u->from_at &&
           crepo_target(c->r, g, i)->kind == TARGET_MODULE;
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

        /* functools.singledispatch evaluates what stays as text */
        if (here && (f->m->reads.v[i].flags & PYREAD_ANNOTATION) &&
            !(x->code == ERR_UNSAFE &&
              (f->m->reads.v[i].flags & PYREAD_CALL))) {
            array_push(&c->dropped, d);
            return true;
        }
        if (cut_decorator(c, f, at, x) || cut_statement(c, f, at, x) ||
            cut_block(c, f, at, x) || cut_body(c, &unit, x) ||
            reference_cut(c, &unit, x) || cut_method(c, f, at, x, true) ||
            cut_branch(c, &unit, at, x) || cut_method(c, f, at, x, false) ||
            cut_side_hook(c, f, at, x) ||
            (!is_member(c, &unit) && cut_uncalled(c, &unit, x)))
            return true;
        if (unit.mutator || is_member(c, &unit)) {
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
