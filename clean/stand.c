/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/stand.h"

/* Texts of the code that may name a member, and the shortest one. */
#define MAX_TEXT 40
#define MIN_TEXT 3

static const struct {
    const char *dotted, *code;
} shims[] = {
#define SHIM(dotted, code) {dotted, code},
#include "clean/shim.def"
};

const char *shim_find(struct span dotted)
{
    for (size_t i = 0; i < ARRAY_LEN(shims); i++)
        if (span_is(dotted, shims[i].dotted))
            return shims[i].code;
    return NULL;
}

/* `from torch.nn import Module`: a base for shims. */
static int module_id(const struct closure *c)
{
    return crepo_key_id(c->r, SPAN_LIT("i:torch.nn:Module:Module"));
}

/* The resolved name of T; of the repository's own by its module. */
static struct span full_name(const struct closure *c, const struct target *t)
{
    struct span module;

    if (t->kind == TARGET_BUILTIN)
        return span_str(arena_printf(c->arena, "builtins.%.*s",
                                     (int)t->dotted.n, t->dotted.p));
    if (t->kind != TARGET_SYM)
        return t->dotted;
    module = pyrepo_module_name(c->r->names, t->file->m);
    return span_str(arena_printf(c->arena, "%.*s.%.*s", (int)module.n, module.p,
                                 (int)t->name.n, t->name.p));
}

/* While the source is imported, a stand-in may be assigned, be an argument or a
 * default, or an item of something; it has no items and is no operand. */
static bool handed_around(struct closure *c, struct cfile *f,
                          const struct pyread *x)
{
    struct span text = f->m->text;
    uint32_t i = x->end, k = x->at;
    int stmt;

    while (i < text.n && (text.p[i] == ' ' || text.p[i] == '\t'))
        i++;
    while (k > 0 && (text.p[k - 1] == ' ' || text.p[k - 1] == '\t'))
        k--;
    if ((i == text.n || strchr(",)]}\n=:#;", text.p[i])) &&
        (k == 0 || strchr(",([{\n=:;", text.p[k - 1])))
        return true;
    stmt = pymod_stmt_at(f->m, x->at);
    return (x->flags & PYREAD_DEFERRED) &&
           (stmt < 0 || !f->included[stmt] ||
            !runs_at_import(c, &c->units.v[f->included[stmt] - 1]));
}

bool stand_name(struct closure *c, struct cfile *f, size_t i)
{
    const struct pyread *x = &f->m->reads.v[i];
    const struct target *t = crepo_target(c->r, f, i);
    struct span dotted = full_name(c, t);
    /* a version is compared when the source is imported */
    const char *code = span_is(span_last_part(dotted), "__version__")
                           ? "$N = '0'\n"
                           : shim_find(dotted);
    bool eval = span_is(dotted, "builtins.eval");
    struct entity e = {
        .external = true,
        .required = true,
        .aliased = true,
        .stand = code ? STAND_SHIM : STAND_ABSENT,
        .name = eval ? SPAN_LIT("plain_eval") : span_last_part(dotted),
        .module = dotted,
        .shim = code,
    };
    struct entity base = {
        .external = true,
        .required = true,
        .name = SPAN_LIT("Module"),
        .module = SPAN_LIT("torch.nn"),
        .member = SPAN_LIT("Module"),
    };

    if (t->stand == 0 || (eval && !scan_is_settings(&f->scan, x->at)) ||
        (x->flags & (PYREAD_ANNOTATION | PYREAD_STORE)) ||
        (!code && (closure_uses(c, f, i) || !handed_around(c, f, x))) ||
        (t->kind == TARGET_SYM && closure_symbol(c, t->file, t->name)))
        return false;
    closure_add(c, t->stand, e);
    if (code && strstr(code, "$M"))
        closure_add(c, module_id(c), base);
    return true;
}

bool stand_module(struct closure *c, struct cfile *f, size_t i, int unit)
{
    const struct pyread *x = &f->m->reads.v[i];
    const struct target *t = crepo_target(c->r, f, i);
    struct entity e = {
        .external = true,
        .required = true,
        .aliased = true,
        .stand = STAND_MODULE,
        .f = t->file,
        .name = span_last_part(pyrepo_module_name(c->r->names, t->file->m)),
        .unit = unit,
        .at = x->at,
    };

    /* Its names are bound at the end of the source. */
    if (!(x->flags & PYREAD_DEFERRED) || (x->flags & PYREAD_STORE) ||
        e.name.n == 0)
        return false;
    closure_add(c, t->stand, e);
    return true;
}

uint32_t stand_end(const struct closure *c, struct cfile *f, size_t i)
{
    const struct target *t = crepo_target(c->r, f, i);

    return t->kind == TARGET_EXTERNAL && closure_entity(c, f, i) &&
                   closure_entity(c, f, i)->stand
               ? f->m->reads.v[i].end
               : t->end;
}

/* ---- members of files ---- */

/* TEXT in small letters, without what joins words: "Batch_Norm" is batchnorm.
 * Length, 0 = it is too long or no word. */
static size_t normal(struct span text, char out[MAX_TEXT])
{
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++) {
        char ch = text.p[i];

        if (ch == '_' || ch == '-' || ch == ' ')
            continue;
        if (ch >= 'A' && ch <= 'Z')
            ch = (char)(ch - 'A' + 'a');
        if (n == MAX_TEXT ||
            !((ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9')))
            return 0;
        out[n++] = ch;
    }
    return n;
}

static void collect_texts(const struct closure *c, struct map *texts)
{
    char word[MAX_TEXT];

    for (size_t u = 0; u < c->units.n; u++) {
        const struct cfile *f = c->units.v[u].f;
        const struct pystmt *s = &f->m->stmts.v[c->units.v[u].stmt];
        const struct ranges *r = &f->scan.strings;

        for (size_t i = 0; i < r->n; i++) {
            size_t n;

            if (r->v[i].start < s->start || r->v[i].end > s->end)
                continue;
            n = normal(pymod_text(f->m, r->v[i].start, r->v[i].end), word);
            if (n >= MIN_TEXT)
                map_put(texts, (struct span){word, n}, texts);
        }
    }
}

static bool is_named(const struct map *texts, struct span name)
{
    char word[MAX_TEXT];
    size_t n = normal(name, word);

    for (size_t k = MIN_TEXT; k <= n; k++)
        if (map_has(texts, (struct span){word, k}))
            return true;
    return false;
}

/* What name S of the file G stands for; NONE when it is no definition, or not
 * the binding that counts. */
static struct target member(const struct closure *c, struct cfile *g,
                            const struct pysym *s)
{
    struct target t = {.kind = TARGET_NONE};
    const struct pysym *def;

    if (s->kind == PYSYM_STAR || s->name.p[0] == '_' ||
        pymod_lookup(g->m, 0, s->name) != s)
        return t;
    t = crepo_resolve(c->r, g, 0, s->name);
    def = t.kind == TARGET_SYM ? pymod_lookup(t.file->m, 0, t.name) : NULL;
    if (!def || (def->kind != PYSYM_CLASS && def->kind != PYSYM_FUNCTION))
        t.kind = TARGET_NONE;
    return t;
}

int stand_members(struct closure *c, struct fault *bad)
{
    struct map texts = MAP_INIT;
    int rc = 0;

    for (size_t i = 0; i < c->ents.n && rc == 0; i++) {
        const struct entity e = c->ents.v[i]; /* they move */

        if (e.stand != STAND_MODULE)
            continue;
        if (texts.n == 0)
            collect_texts(c, &texts);
        for (size_t k = 0; k < e.f->m->globals.n && rc == 0; k++) {
            const struct pysym *s = &e.f->m->syms.v[e.f->m->globals.v[k]];
            struct target t;

            if (!is_named(&texts, s->name))
                continue;
            t = member(c, e.f, s);
            if (t.kind == TARGET_SYM && !closure_is_dropped(c, t.file, t.name))
                rc = closure_require(c, t.file, t.name, e.unit, e.at, bad);
        }
    }
    map_release(&texts);
    return rc;
}

/* ---- defaults of data classes ---- */

static int field_id(const struct closure *c)
{
    return crepo_key_id(c->r, SPAN_LIT("i:dataclasses:field:field"));
}

static bool is_dataclass(const struct closure *c, struct cfile *f,
                         const struct pydef *d)
{
    for (size_t k = 0; d->is_class && k < d->decorators.n; k++) {
        uint32_t at = d->decorators.v[k].start;
        size_t i = reads_from(f->m, at);

        if (i < f->m->reads.n && f->m->reads.v[i].at == at &&
            span_is(crepo_target(c->r, f, i)->dotted, "dataclasses.dataclass"))
            return true;
    }
    return false;
}

/* `name: T = Class()` or `name: T = field(default=Class(), ...)` in the class
 * D: the read of Class, or -1 when S is neither. *START: of what is replaced.
 */
static int default_read(const struct cfile *f, const struct pydef *d,
                        const struct pysym *s, uint32_t *start)
{
    static const char call[] = "field(default=";
    struct span v = pymod_text(f->m, s->value_start, s->value_end);
    bool in_field = span_starts(v, call);
    uint32_t at = s->value_start;
    size_t i;

    if (s->kind != PYSYM_ANNOTATED || s->scope != d->scope || v.n < 3)
        return -1;
    if (in_field)
        at += sizeof(call) - 1;
    *start = in_field ? s->value_start + 6 : at;
    i = reads_from(f->m, at);
    if (i == f->m->reads.n || f->m->reads.v[i].at != at ||
        f->m->reads.v[i].bound != 0)
        return -1;
    at = f->m->reads.v[i].end;
    if (at + 2 > s->value_end || memcmp(f->m->text.p + at, "()", 2) != 0 ||
        (in_field
             ? at + 2 == s->value_end || !strchr(",)", f->m->text.p[at + 2])
             : at + 2 != s->value_end))
        return -1;
    return (int)i;
}

/* Calls FN for each such default of statement S of F. */
static void each_default(struct closure *c, struct cfile *f,
                         const struct pystmt *s,
                         void (*fn)(struct closure *c, struct cfile *f,
                                    size_t i, uint32_t start, void *payload),
                         void *payload)
{
    if (s->kind != PYSTMT_CLASS)
        return;
    for (size_t i = 0; i < f->m->defs.n; i++) {
        const struct pydef *d = &f->m->defs.v[i];

        if (d->start < s->start || d->end > s->end || !is_dataclass(c, f, d))
            continue;
        for (size_t k = 0; k < f->m->syms.n; k++) {
            uint32_t start;
            int read = default_read(f, d, &f->m->syms.v[k], &start);

            if (read >= 0 && !closure_is_cut(c, f, start))
                fn(c, f, (size_t)read, start, payload);
        }
    }
}

static void need_field(struct closure *c, struct cfile *f, size_t i,
                       uint32_t start, void *payload)
{
    struct entity e = {
        .external = true,
        .required = true,
        .name = SPAN_LIT("field"),
        .module = SPAN_LIT("dataclasses"),
        .member = SPAN_LIT("field"),
    };

    (void)f;
    (void)i;
    (void)start;
    (void)payload;
    closure_add(c, field_id(c), e);
}

void stand_defaults(struct closure *c, int unit)
{
    struct cfile *f = c->units.v[unit].f;

    each_default(c, f, &f->m->stmts.v[c->units.v[unit].stmt], need_field, NULL);
}

static void edit_default(struct closure *c, struct cfile *f, size_t i,
                         uint32_t start, void *payload)
{
    const struct pyread *x = &f->m->reads.v[i];
    const struct entity *e = closure_entity(c, f, i);
    uint32_t end = e ? stand_end(c, f, i) : x->at;
    struct span head = e ? span_str(e->out) : SPAN_LIT("");
    struct span rest = pymod_text(f->m, end, x->end);
    bool whole = start == x->at;

    edit_add(
        payload, start, x->end + 2,
        span_str(arena_printf(c->arena, "%s%sdefault_factory=%.*s%.*s%s",
                              whole ? closure_by_id(c, field_id(c))->out : "",
                              whole ? "(" : "", (int)head.n, head.p,
                              (int)rest.n, rest.p, whole ? ")" : "")));
}

void stand_edit_defaults(struct closure *c, struct cfile *f,
                         const struct pystmt *s, struct edits *edits)
{
    each_default(c, f, s, edit_default, edits);
}

/* ---- writing ---- */

static int write_shim(const struct closure *c, const struct entity *e,
                      struct buf *out)
{
    int rc = 0;

    for (const char *p = e->shim; *p && rc == 0; p++) {
        if (p[0] == '$' && p[1] == 'N')
            rc = buf_adds(out, e->out);
        else if (p[0] == '$' && p[1] == 'M')
            rc = buf_adds(out, closure_by_id(c, module_id(c))->out);
        else
            rc = buf_addc(out, *p);
        p += p[0] == '$' && (p[1] == 'N' || p[1] == 'M');
    }
    return rc;
}

static int write_module(const struct closure *c, const struct entity *e,
                        struct buf *out)
{
    const struct pymod *m = e->f->m;
    int rc = buf_printf(out, "class %s:\n", e->out);
    bool any = false;

    for (size_t k = 0; k < m->globals.n && rc == 0; k++) {
        const struct pysym *s = &m->syms.v[m->globals.v[k]];
        struct target t = member(c, e->f, s);
        const struct entity *x =
            t.kind == TARGET_SYM ? closure_symbol(c, t.file, t.name) : NULL;

        if (!x || !x->required || !x->out || x->units.n == 0 ||
            (e->out && strcmp(x->out, e->out) == 0))
            continue;
        any = true;
        rc = buf_printf(out, "    %.*s = %s\n", (int)s->name.n, s->name.p,
                        x->out);
    }
    return rc || any ? rc : buf_adds(out, "    pass\n");
}

int stand_write(const struct closure *c, bool last, struct buf *out)
{
    int rc = 0;

    for (size_t i = 0; i < c->ents.n && rc == 0; i++) {
        const struct entity *e = &c->ents.v[i];

        if (!e->stand || (e->stand == STAND_MODULE) != last)
            continue;
        rc = buf_adds(out, last ? "\n\n" : out->n > 0 ? "\n" : "");
        if (rc == 0 && e->stand == STAND_SHIM)
            rc = write_shim(c, e, out);
        else if (rc == 0 && e->stand == STAND_MODULE)
            rc = write_module(c, e, out);
        else if (rc == 0)
            rc = buf_printf(out,
                            "class %s:\n"
                            "    def __new__(cls, *args, **kwargs):\n"
                            "        raise ImportError('%.*s')\n",
                            e->out, (int)e->module.n, e->module.p);
    }
    return rc;
}
