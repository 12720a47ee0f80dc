/* SPDX-License-Identifier: MIT */
/* What reads are refused, by what their names stand for. */
#include "base.h"

#include "clean/safe.h"
#include "py/unsafe.h"

#define MAX_CALL 400 /* bytes of a call up to its argument */

int fault_set(struct fault *x, enum err_code code, int unit, uint32_t at,
              const struct cfile *f, struct span what, const char *why)
{
    char name[96];

    mask_text(name, sizeof(name), what);
    x->code = code;
    x->unit = unit;
    x->at = at;
    snprintf(x->note, sizeof(x->note), "'%s'%s%s at %.80s:%u", name,
             *why ? ", " : "", why, f->m->path, pymod_line(f->m, at));
    return -1;
}

/* Is X of F what something is held against: isinstance(a, (X, b))? */
static bool only_compared(const struct cfile *f, const struct pyread *x)
{
    static const char *const asks[] = {"isinstance(", "issubclass("};
    const char *p = f->m->text.p;
    int depth = 0;

    for (uint32_t i = x->at; i-- > 0 && x->at - i < MAX_CALL;) {
        depth += (strchr(")]}", p[i]) != NULL) - (strchr("([{", p[i]) != NULL);
        for (size_t k = 0; p[i] == '(' && depth < 0 && k < ARRAY_LEN(asks);
             k++) {
            size_t n = strlen(asks[k]);

            if (i + 1 >= n && memcmp(p + i + 1 - n, asks[k], n) == 0)
                return true;
        }
    }
    return false;
}

bool safe_is_unsafe(const struct cfile *f, const struct pyread *x,
                    const struct target *t)
{
    return t->unsafe ||
           (t->unsafe_call && !(x->flags & PYREAD_ANNOTATION) &&
            ((x->flags & PYREAD_CALL) ||
             !(span_starts(t->dotted, "builtins.") || only_compared(f, x))));
}

static bool starts(struct span text, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (span_starts(text, words[i]))
            return true;
    return false;
}

/* Is X of F only asked whether it is there: `x is None`, `if x:`, `a if x else
 * b`? */
static bool only_tested(const struct cfile *f, const struct pyread *x)
{
    static const char *const none[] = {" is None", " is not None"};
    static const char *const then[] = {":", " else ", " and ", ")"};
    struct span text = f->m->text;
    struct span next = pymod_text(f->m, x->end, (uint32_t)text.n);
    bool asked = x->at >= 3 && (memcmp(text.p + x->at - 3, "if ", 3) == 0 ||
                                memcmp(text.p + x->at - 3, "ot ", 3) == 0);

    return starts(next, none, ARRAY_LEN(none)) ||
           (asked && starts(next, then, ARRAY_LEN(then)));
}

/* Do isinstance and type mean the builtins where X of F is? */
static bool asks_builtins(const struct cfile *f, const struct pyread *x)
{
    return !pymod_lookup_at(f->m, x->at, SPAN_LIT("isinstance")) &&
           !pymod_lookup_at(f->m, x->at, SPAN_LIT("type")) &&
           !pymod_lookup_at(f->m, x->at, SPAN_LIT("vars"));
}

/* Is T, read by X of F, a module as a value, which opens all that is in it to
 * names made at run time? It may be asked for an attribute by its name. */
bool safe_opens(const struct cfile *f, const struct pyread *x,
                const struct target *t)
{
    bool pure = false;
    size_t len;

    if (!py_is_inner_module(t->dotted, &pure) &&
        (t->member.n > 0 || !span_eq(t->dotted, t->module)))
        return false;
    if (policy_renamed(t->dotted, &len) || (x->flags & PYREAD_ANNOTATION) ||
        only_tested(f, x))
        return false;
    for (size_t i = 0; i < f->scan.literals.n; i++) {
        const struct literal_attr *l = &f->scan.literals.v[i];

        if (l->at == x->at &&
            (l->classes ? py_is_class_module(t->dotted) && asks_builtins(f, x)
                        : l->asks || l->attr.n > 0 || pure))
            return false;
    }
    return true;
}

/* What follows of the chain of read R of F behind what its target replaces. */
struct span safe_rest(const struct closure *c, struct cfile *f,
                      const struct pyread *r)
{
    const struct target *t = crepo_target(c->r, f, (size_t)(r - f->m->reads.v));
    size_t parts = 0, n = 0;

    for (uint32_t i = t->end; i < r->end; i++)
        parts += f->m->text.p[i] == '.';
    while (parts > 0 && n < r->dotted.n)
        parts -= r->dotted.p[r->dotted.n - ++n] == '.';
    if (n > 0 && r->dotted.p[r->dotted.n - n] == '.')
        n--;
    return (struct span){r->dotted.p + r->dotted.n - n, n};
}

/* Does import S, read with REST behind it by X of F, open or reach something?
 */
static int one_import(struct closure *c, struct cfile *f,
                      const struct pyread *x, const struct pysym *s, int unit,
                      struct fault *bad)
{
    size_t skip = MIN(x->name.n + 1, x->dotted.n);
    struct span rest = {x->dotted.p + skip, x->dotted.n - skip};
    const struct target *t = crepo_import(c->r, f, s);
    const char *full;

    if (t->kind != TARGET_EXTERNAL || !t->has)
        return 0;
    full = arena_printf(c->arena, "%.*s%s%.*s", (int)t->dotted.n, t->dotted.p,
                        rest.n ? "." : "", (int)rest.n, rest.p);
    if (py_unsafe_find(span_str(full)))
        return fault_set(bad, ERR_UNSAFE, unit, x->at, f, span_str(full), "");
    if (rest.n == 0 && safe_opens(f, x, t))
        return fault_set(bad, ERR_UNSAFE, unit, x->at, f, t->dotted,
                         "a module as a value");
    return 0;
}

/* Is NAME that of a builtin that is refused? */
static bool is_unsafe_builtin(struct span name)
{
    char full[64];

    if (!py_is_builtin(name) || name.n > 40)
        return false;
    snprintf(full, sizeof(full), "builtins.%.*s", (int)name.n, name.p);
    return py_unsafe_find(span_str(full)) != NULL;
}

int safe_local(struct closure *c, struct cfile *f, size_t i, int unit,
               struct fault *bad)
{
    const struct pyread *x = &f->m->reads.v[i];
    const struct pysym *s = pymod_lookup(f->m, x->bound, x->name);

    /* a class's own name may be unbound, and then the builtin is read */
    if (f->m->scopes.v[x->bound].kind == PYSCOPE_CLASS &&
        is_unsafe_builtin(x->name))
        return fault_set(bad, ERR_UNSAFE, unit, x->at, f, x->name,
                         "hidden by a name that may not be bound");
    for (size_t k = x->name.n; k < x->dotted.n; k++) {
        struct span part = {x->dotted.p + k + 1, 0};

        while (k + 1 < x->dotted.n && x->dotted.p[k + 1] != '.')
            part.n += ++k > 0;
        if (py_unsafe_module(part))
            return fault_set(bad, ERR_UNSAFE, unit, x->at, f, x->dotted, "");
    }
    for (int n = 0; s && n < CREPO_BINDINGS; n++) {
        if (sym_is_import(s) && one_import(c, f, x, s, unit, bad))
            return -1;
        s = s->earlier < 0 ? NULL : &f->m->syms.v[s->earlier];
    }
    return 0;
}

/* vars() and locals(), without an argument, give the names of where they are
 * read: at module level and in a class, all imports there. */
int safe_builtin(struct closure *c, struct cfile *f, size_t i, int unit,
                 struct fault *bad)
{
    const struct pyread *x = &f->m->reads.v[i];
    bool opens = !(x->flags & PYREAD_DEFERRED);

    (void)c;
    if (!span_is(x->name, "vars") && !span_is(x->name, "locals"))
        return 0;
    /* vars(x) of a module is refused for the module */
    if (span_is(x->name, "vars") && (x->flags & PYREAD_CALL) &&
        !span_starts(pymod_text(f->m, x->end, (uint32_t)f->m->text.n), "()"))
        return 0;
    for (size_t k = 0; k < f->m->syms.n && !opens; k++)
        opens = f->m->syms.v[k].scope == x->scope &&
                sym_is_import(&f->m->syms.v[k]);
    if (opens)
        return fault_set(bad, ERR_UNSAFE, unit, x->at, f, x->name,
                         "the names of a module");
    return 0;
}

/* A name of the module that an unsafe builtin has, too: is it sure to be bound
 * where it is read, so that the builtin is not meant? */
int safe_shadow(struct closure *c, struct cfile *f, size_t i, int unit,
                struct fault *bad)
{
    const struct pyread *x = &f->m->reads.v[i];
    const struct target *t = crepo_target(c->r, f, i);
    const struct pysym *b[CREPO_BINDINGS];
    const struct pymod *m = t->file->m;
    bool sure = false;
    size_t n;

    if (!is_unsafe_builtin(t->name))
        return 0;
    n = crepo_bindings(t->file, t->name, b);
    for (size_t k = 0; k < m->reads.n; k++) /* del name */
        if ((m->reads.v[k].flags & PYREAD_STORE) && m->reads.v[k].bound == 0 &&
            span_eq(m->reads.v[k].name, t->name))
            n = 0;
    for (size_t k = 0; k < n; k++) {
        const struct pystmt *s = &m->stmts.v[b[k]->stmt];
        bool plain = b[k]->kind == PYSYM_FUNCTION ||
                     b[k]->kind == PYSYM_CLASS || sym_is_import(b[k]) ||
                     b[k]->value_end > b[k]->value_start;

        if (b[k]->kind == PYSYM_TARGET) { /* del, except, a loop */
            sure = false;
            break;
        }
        sure |= plain && s->parent < 0 && !sym_is_remote(m, b[k]) &&
                ((x->flags & PYREAD_DEFERRED) || t->file != f ||
                 b[k]->end <= x->at);
    }
    if (!sure)
        return fault_set(bad, ERR_UNSAFE, unit, x->at, f, t->name,
                         "hidden by a name that may not be bound");
    return 0;
}

/* What a class imports is an attribute of its objects, whatever they are
 * called. */
int safe_class_import(struct closure *c, struct cfile *f, const struct pysym *s,
                      int unit, struct fault *bad)
{
    const struct target *t = crepo_import(c->r, f, s);
    bool pure;

    if (f->m->scopes.v[s->scope].kind != PYSCOPE_CLASS ||
        t->kind != TARGET_EXTERNAL || !t->has)
        return 0;
    if (py_unsafe_find(t->dotted))
        return fault_set(bad, ERR_UNSAFE, unit, s->start, f, t->dotted, "");
    if (t->member.n == 0 || py_is_inner_module(t->dotted, &pure))
        return fault_set(bad, ERR_UNSAFE, unit, s->start, f, t->dotted,
                         "a module as a value");
    return 0;
}

int safe_findings(struct closure *c, int unit, struct fault *bad)
{
    struct cfile *f = c->units.v[unit].f;
    const struct pystmt *s = &f->m->stmts.v[c->units.v[unit].stmt];

    for (size_t i = 0; i < f->scan.findings.n; i++) {
        const struct finding *x = &f->scan.findings.v[i];

        if (x->at >= s->start && x->at < s->end && !closure_is_cut(c, f, x->at))
            return fault_set(bad, x->code, unit, x->at, f, x->text, "");
    }
    for (size_t i = 0; i < f->scan.literals.n; i++) {
        const struct literal_attr *x = &f->scan.literals.v[i];
        struct target t;
        const char *full;

        if (x->at < s->start || x->at >= s->end ||
            (x->attr.n == 0 && !x->called) || closure_is_cut(c, f, x->at))
            continue;
        t = crepo_resolve(c->r, f, x->at, x->dotted);
        if (t.kind != TARGET_EXTERNAL && t.kind != TARGET_BUILTIN)
            continue;
        full = arena_printf(c->arena, "%s%.*s%s%.*s",
                            x->called && t.kind == TARGET_BUILTIN ? "builtins."
                                                                  : "",
                            (int)t.dotted.n, t.dotted.p, x->called ? "" : ".",
                            (int)x->attr.n, x->attr.p);
        if (py_unsafe_find(span_str(full)))
            return fault_set(bad, ERR_UNSAFE, unit, x->at, f,
                             x->called ? t.dotted : span_str(full), "");
    }
    return 0;
}
