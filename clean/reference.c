/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/reference.h"

#define MAX_PARAMS 40

/* References that do not compute the same. */
static const char *const others[] = {
    "rotary_embedding", /* takes tables of the very length, and no longer ones
                         */
};

struct param {
    struct span name, value; /* value: its default; empty = none */
};

struct params {
    struct param v[MAX_PARAMS];
    size_t n;
};

static struct span trim(struct span s)
{
    while (s.n > 0 && (unsigned char)s.p[0] <= ' ') {
        s.p++;
        s.n--;
    }
    while (s.n > 0 && (unsigned char)s.p[s.n - 1] <= ' ')
        s.n--;
    return s;
}

/* Is V the same wherever it stands: None, a truth value, a number? */
static bool is_constant(struct span v)
{
    if (span_is(v, "None") || span_is(v, "True") || span_is(v, "False"))
        return true;
    for (size_t i = 0; i < v.n; i++)
        if (!strchr("0123456789.e-", v.p[i]))
            return false;
    return v.n > 0 && v.n < 24;
}

/* "name", "name: T", "name = v", "name: T = v" of which the colon and the sign
 * are at COLON and EQUALS, 0 = none. */
static bool add_param(struct params *p, struct span text, size_t colon,
                      size_t equals)
{
    struct param x = {text, {NULL, 0}};

    if (equals > 0) {
        x.value = trim((struct span){text.p + equals + 1, text.n - equals - 1});
        x.name.n = equals;
    }
    if (colon > 0)
        x.name.n = colon;
    x.name = trim(x.name);
    if (x.name.n == 0) /* behind the last comma */
        return text.n == 0 || trim(text).n == 0;
    for (size_t i = 0; i < x.name.n; i++)
        if (strchr("*/ #\n", x.name.p[i]))
            return false;
    if (p->n == MAX_PARAMS || (equals > 0 && !is_constant(x.value)))
        return false;
    p->v[p->n++] = x;
    return true;
}

/* Parameters of D; false where they are not all plain. */
static bool read_params(const struct pymod *m, const struct pydef *d,
                        struct params *p)
{
    struct span text = pymod_text(m, d->def_start, d->body_start);
    const char *open = memchr(text.p, '(', text.n);
    size_t start, colon = 0, equals = 0;
    int depth = 0;

    p->n = 0;
    if (!open)
        return false;
    start = (size_t)(open - text.p) + 1;
    for (size_t i = start; i < text.n; i++) {
        char ch = text.p[i];

        if (ch == '#' || ch == '"' || ch == '\'')
            return false;
        if (depth == 0 && (ch == ',' || ch == ')')) {
            if (!add_param(p, (struct span){text.p + start, i - start}, colon,
                           equals))
                return false;
            if (ch == ')')
                return true;
            start = i + 1;
            colon = equals = 0;
        } else if (depth == 0 && ch == ':' && colon == 0) {
            colon = i - start;
        } else if (depth == 0 && ch == '=' && equals == 0) {
            equals = i - start;
        }
        depth += (strchr("([{", ch) != NULL) - (strchr(")]}", ch) != NULL);
    }
    return false;
}

static const struct param *find(const struct params *p, struct span name)
{
    for (size_t i = 0; i < p->n; i++)
        if (span_eq(p->v[i].name, name))
            return &p->v[i];
    return NULL;
}

/* The one function NAME_ref of the module, or NAME without an ending of its
 * own and with that. */
static const struct pydef *find_reference(struct closure *c, struct cfile *f,
                                          struct span name)
{
    const char *ref;
    const struct pysym *s;

    if (span_in(name, others, ARRAY_LEN(others)))
        return NULL;
    if (span_ends(name, "_fn"))
        name.n -= 3;
    ref = arena_printf(c->arena, "%.*s_ref", (int)name.n, name.p);
    s = pymod_lookup(f->m, 0, span_str(ref));
    return s && s->kind == PYSYM_FUNCTION && s->earlier < 0 &&
                   f->m->stmts.v[s->stmt].parent < 0
               ? &f->m->defs.v[s->def]
               : NULL;
}

/* Is D plain: called, it runs its body and gives back what that returns?
 * *RETURNS: it returns a value. */
static bool is_plain(const struct cfile *f, const struct pydef *d,
                     bool *returns)
{
    struct span body = pymod_text(f->m, d->body_start, d->end);

    *returns = false;
    for (size_t i = 0; i < f->scan.returns.n; i++)
        *returns |= f->scan.returns.v[i].start >= d->body_start &&
                    f->scan.returns.v[i].end <= d->end &&
                    f->scan.returns.v[i].end > f->scan.returns.v[i].start;
    return d->decorators.n == 0 && !d->is_async &&
           !memmem(body.p, body.n, "yield", 5);
}

/* Does D, of the file M, call the function NAME of it? */
static bool calls(const struct pymod *m, const struct pydef *d,
                  struct span name)
{
    for (size_t i = reads_from(m, d->start);
         i < m->reads.n && m->reads.v[i].at < d->end; i++)
        if (m->reads.v[i].bound == 0 && span_eq(m->reads.v[i].name, name))
            return true;
    return false;
}

/* What takes the place of the function: `$` is the reference's name. */
static const char *make_text(struct closure *c, const struct params *p,
                             const struct params *ref)
{
    const char *head = "", *checks = "", *call = "";

    for (size_t i = 0; i < p->n; i++) {
        struct span name = p->v[i].name, value = p->v[i].value;

        head = arena_printf(c->arena, "%s%s%.*s%s%.*s", head, i ? ", " : "",
                            (int)name.n, name.p, value.n ? "=" : "",
                            (int)value.n, value.n ? value.p : "");
        if (find(ref, name))
            call =
                arena_printf(c->arena, "%s%s%.*s=%.*s", call, *call ? ", " : "",
                             (int)name.n, name.p, (int)name.n, name.p);
        else if (value.n == 0)
            return NULL;
        else
            checks = arena_printf(c->arena,
                                  "%s    if %.*s %s %.*s:\n"
                                  "        raise RuntimeError('left out')\n",
                                  checks, (int)name.n, name.p,
                                  span_is(value, "None") ? "is not" : "!=",
                                  (int)value.n, value.p);
    }
    return arena_printf(c->arena, "(%s):\n%s    return $(%s)\n", head, checks,
                        call);
}

bool reference_cut(struct closure *c, const struct unit *u,
                   const struct fault *x)
{
    const struct pymod *m = u->f->m;
    const struct pystmt *s = &m->stmts.v[u->stmt];
    const struct pysym *y;
    const struct pydef *ref;
    struct params mine, its;
    bool gives, its_gives;
    struct dcut d = {.kind = DCUT_REFERENCE, .f = u->f, .code = x->code};

    if (x->code != ERR_IMPORT_DENIED || s->kind != PYSTMT_FUNCTION ||
        s->n_defs == 0)
        return false;
    y = &m->syms.v[m->globals.v[s->first_def]];
    ref = y->def >= 0 ? find_reference(c, u->f, y->name) : NULL;
    if (!ref || !is_plain(u->f, &m->defs.v[y->def], &gives) ||
        !is_plain(u->f, ref, &its_gives) || gives != its_gives ||
        calls(m, ref, y->name) || !read_params(m, &m->defs.v[y->def], &mine) ||
        !read_params(m, ref, &its))
        return false;
    for (size_t i = 0; i < its.n; i++)
        if (its.v[i].value.n == 0 && !find(&mine, its.v[i].name))
            return false;
    d.text = make_text(c, &mine, &its);
    d.start = s->start;
    d.end = s->end;
    d.name = y->name;
    d.reference = ref->name;
    d.note = arena_strdup(c->arena, span_str(x->note));
    if (d.text)
        array_push(&c->cuts, d);
    return d.text != NULL;
}

int reference_write(const struct closure *c, const struct unit *u,
                    const struct dcut *d, struct buf *out)
{
    const char *at = strchr(d->text, '$');

    return buf_printf(out, "def %s%.*s%s%s",
                      closure_symbol(c, u->f, d->name)->out,
                      (int)(at - d->text), d->text,
                      closure_symbol(c, u->f, d->reference)->out, at + 1);
}
