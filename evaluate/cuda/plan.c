/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/cuda/plan.h"

#include "evaluate/cuda/plan_expr.h"

#include <math.h>

#define KERNEL_NAME 256
#define MEMORY_MAX  ((int64_t)1 << 40)

static const char *const verbs[] = {"let", "scratch", "zero", "launch", "init"};

/* ---- statements ---- */

/* End of the line at AT, continued ones with it. */
static size_t line_end(struct span s, size_t at)
{
    for (; at < s.n && s.p[at] != '\n'; at++)
        if (s.p[at] == '\\') {
            size_t to = at + 1;
            if (to < s.n && s.p[to] == '\r')
                to++;
            if (to < s.n && s.p[to] == '\n')
                at = to;
        }
    return at;
}

static int lines_in(struct span s)
{
    int n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == '\n';
    return n;
}

/* Put the kernel's name, up to "<<<", apart. */
static int take_kernel(struct plan_statement *st, struct arena *a,
                       struct err *e)
{
    const char *end = st->rest.n ? memmem(st->rest.p, st->rest.n, "<<<", 3) : 0;
    struct span name = {st->rest.p, end ? (size_t)(end - st->rest.p) : 0};

    while (name.n && (name.p[0] == ' ' || name.p[0] == '\t')) {
        name.p++;
        name.n--;
    }
    while (name.n && (name.p[name.n - 1] == ' ' || name.p[name.n - 1] == '\t'))
        name.n--;
    if (!name.n || name.n > KERNEL_NAME || memchr(name.p, '\0', name.n) ||
        memchr(name.p, '\n', name.n))
        return err_set(e, ERR_PARSE,
                       "line %d: %s what? KERNEL<<<GRID, BLOCK>>>"
                       "(ARGUMENTS) is expected",
                       st->line, verbs[st->verb]);
    st->kernel = arena_strdup(a, name);
    st->rest.n -= (size_t)(end - st->rest.p);
    st->rest.p = end;
    return 0;
}

static int read_statement(struct plan *p, struct arena *a, struct scan *s,
                          int line, struct err *e)
{
    struct plan_statement *st;
    struct span verb = scan_name(s);
    char text[40];
    size_t k = 0;

    if (p->n == PLAN_STATEMENTS)
        return err_set(e, ERR_PARSE, "line %d: more than %d statements", line,
                       PLAN_STATEMENTS);
    while (k < ARRAY_LEN(verbs) && !span_is(verb, verbs[k]))
        k++;
    if (k == ARRAY_LEN(verbs)) {
        err_set(e, ERR_PARSE, "line %d: '#pragma km %s' is unknown", line,
                mask_text(text, sizeof(text), verb));
        return err_hint(e, "let, scratch, zero, launch or init");
    }
    st = &p->v[p->n++];
    *st = (struct plan_statement){
        .verb = (enum plan_verb)k,
        .line = line,
        .rest = arena_span(a, (struct span){s->s.p + s->at, s->s.n - s->at})};
    if (st->verb == PLAN_LAUNCH || st->verb == PLAN_INIT)
        return take_kernel(st, a, e);
    return 0;
}

int plan_read(struct plan *p, struct arena *a, struct span source,
              struct err *e)
{
    bool launches = false;
    int line = 1;

    p->n = 0;
    for (size_t at = 0; at < source.n;) {
        size_t end = line_end(source, at);
        struct scan s = {.s = {source.p + at, end - at}};
        if (scan_take(&s, "#") && span_is(scan_name(&s), "pragma") &&
            span_is(scan_name(&s), "km")) {
            if (read_statement(p, a, &s, line, e))
                return -1;
            launches |= p->v[p->n - 1].verb == PLAN_LAUNCH;
        }
        line += lines_in(s.s) + 1;
        at = end + 1;
    }
    if (launches)
        return 0;
    err_set(e, ERR_PARSE, "the source launches no kernel");
    return err_hint(e, "#pragma km launch KERNEL<<<GRID, BLOCK>>>(ARGUMENTS)");
}

/* ---- binding ---- */

struct binding {
    struct scan scan;
    struct plan_bound *b;
    struct constant constants[PLAN_STATEMENTS];
    struct span scratch[PLAN_STATEMENTS];
    bool init; /* of a statement that runs before there are inputs */
};

/* E of a name that is a tensor. 1: it is not one. */
static int tensor_of(struct binding *x, struct span name,
                     struct plan_named *out)
{
    for (size_t i = 0; i < x->b->n_scratch; i++)
        if (span_eq(x->scratch[i], name)) {
            *out = (struct plan_named){.place = PLAN_BUFFER, .index = i};
            return 0;
        }
    return x->scan.names->find(x->scan.names->payload, name, out) &&
                   !out->number
               ? 0
               : 1;
}

static int is_taken(struct binding *x, struct span name)
{
    struct plan_named t = {0};
    const struct plan_names *names = x->scan.names;
    bool taken = !name.n || names->find(names->payload, name, &t) ||
                 span_is(name, "sm_count");
    char text[40];

    for (size_t i = 0; i < x->scan.n_constants; i++)
        taken |= span_eq(x->constants[i].name, name);
    for (size_t i = 0; i < x->b->n_scratch; i++)
        taken |= span_eq(x->scratch[i], name);
    return taken ? err_set(x->scan.e, ERR_PARSE, "'%s' cannot be a new name",
                           mask_text(text, sizeof(text), name))
                 : 0;
}

static int bind_let(struct binding *x)
{
    struct constant *c = &x->constants[x->scan.n_constants];

    c->name = scan_name(&x->scan);
    if (is_taken(x, c->name) || scan_want(&x->scan, "=") ||
        scan_expr(&x->scan, &c->value))
        return -1;
    x->scan.n_constants++;
    return 0;
}

static int bind_scratch(struct binding *x)
{
    struct span name = scan_name(&x->scan);
    struct number n;

    if (is_taken(x, name) || scan_expr(&x->scan, &n))
        return -1;
    if (n.real || n.i < 0 || n.i > MEMORY_MAX)
        return err_set(x->scan.e, ERR_PARSE,
                       "a scratch takes a whole number of bytes");
    x->scratch[x->b->n_scratch] = name;
    x->b->scratch[x->b->n_scratch++] = n.i;
    return 0;
}

static int bind_zero(struct binding *x, struct plan_step *step)
{
    struct span name = scan_name(&x->scan);
    struct plan_named t = {0};
    char text[40];

    if (tensor_of(x, name, &t) ||
        (t.place != PLAN_OUT && t.place != PLAN_BUFFER))
        return err_set(x->scan.e, ERR_PARSE, "'%s' is no output and no scratch",
                       mask_text(text, sizeof(text), name));
    step->args[0] = (struct plan_arg){ARG_ADDRESS, t.place, t.index, 0, 0};
    step->n_args = 1;
    return 0;
}

static int extent(struct binding *x, uint32_t *out)
{
    struct number n;

    if (scan_expr(&x->scan, &n))
        return -1;
    if (n.real || n.i < 0 || n.i > INT32_MAX)
        return err_set(x->scan.e, ERR_PARSE, "no extent of a launch: %" PRId64,
                       n.i);
    *out = (uint32_t)n.i;
    return 0;
}

/* E, or (E, E[, E]): what begins with a parenthesis may be either. */
static int dimensions(struct binding *x, uint32_t out[3])
{
    struct scan *s = &x->scan;
    size_t start;

    out[0] = out[1] = out[2] = 1;
    scan_blanks(s);
    start = s->at;
    if (scan_take(s, "(")) {
        if (extent(x, &out[0]))
            return -1;
        if (scan_take(s, ",")) {
            if (extent(x, &out[1]) || (scan_take(s, ",") && extent(x, &out[2])))
                return -1;
            return scan_want(s, ")");
        }
        s->at = start;
    }
    return extent(x, &out[0]);
}

/* int(...) and the like: its kind, or 0. */
static int cast_of(struct span name)
{
    static const struct {
        const char *name;
        int kind;
    } casts[] = {{"int", ARG_INT},
                 {"long", ARG_LONG},
                 {"float", ARG_FLOAT},
                 {"double", ARG_DOUBLE}};
    for (size_t i = 0; i < ARRAY_LEN(casts); i++)
        if (span_is(name, casts[i].name))
            return casts[i].kind;
    return 0;
}

static int scalar(struct binding *x, int kind, struct plan_arg *arg)
{
    struct number n;

    if (scan_expr(&x->scan, &n))
        return -1;
    if ((kind == ARG_INT || kind == ARG_LONG) && n.real)
        return err_set(x->scan.e, ERR_PARSE,
                       "a fraction is passed as float(...) or double(...)");
    if (kind == ARG_INT && (n.i < INT32_MIN || n.i > INT32_MAX))
        return err_set(x->scan.e, ERR_PARSE,
                       "%" PRId64 " is no int: pass long(...)", n.i);
    *arg = (struct plan_arg){.i = n.i, .f = n.f};
    arg->kind = (unsigned)kind;
    return 0;
}

static int argument(struct binding *x, struct plan_arg *arg)
{
    struct scan *s = &x->scan;
    struct plan_named t = {0};
    struct span name;
    size_t start;
    int kind;

    scan_blanks(s);
    start = s->at;
    name = scan_name(s);
    kind = name.n ? cast_of(name) : 0;
    if (kind && scan_take(s, "("))
        return scalar(x, kind, arg) || scan_want(s, ")") ? -1 : 0;
    if (name.n && tensor_of(x, name, &t) == 0 && !scan_take(s, ".")) {
        if (x->init && (t.place == PLAN_IN || t.place == PLAN_OUT))
            return err_set(s->e, ERR_PARSE,
                           "init has no inputs and no outputs");
        *arg = (struct plan_arg){ARG_ADDRESS, t.place, t.index, 0, 0};
        return 0;
    }
    s->at = start;
    return scalar(x, ARG_INT, arg);
}

static int bind_launch(struct binding *x, struct plan_step *step)
{
    struct scan *s = &x->scan;

    if (scan_want(s, "<<<") || dimensions(x, step->grid) || scan_want(s, ",") ||
        dimensions(x, step->block) ||
        (scan_take(s, ",") && extent(x, &step->shared)) ||
        scan_want(s, ">>>") || scan_want(s, "("))
        return -1;
    if (scan_take(s, ")"))
        return 0;
    do {
        if (step->n_args == PLAN_ARGS)
            return err_set(s->e, ERR_PARSE, "more than %d arguments",
                           PLAN_ARGS);
        if (argument(x, &step->args[step->n_args++]))
            return -1;
    } while (scan_take(s, ","));
    return scan_want(s, ")");
}

static int bind_statement(struct binding *x, const struct plan *p, size_t i)
{
    const struct plan_statement *st = &p->v[i];
    struct plan_step *step = &x->b->steps[x->b->n_steps];
    int rc;

    x->scan.s = st->rest;
    x->scan.at = 0;
    x->scan.depth = 0;
    x->init = st->verb == PLAN_INIT;
    *step = (struct plan_step){.verb = st->verb, .statement = i};
    switch (st->verb) {
    case PLAN_LET:
        rc = bind_let(x);
        break;
    case PLAN_SCRATCH:
        rc = bind_scratch(x);
        break;
    case PLAN_ZERO:
        rc = bind_zero(x, step);
        x->b->n_steps++;
        break;
    default:
        rc = bind_launch(x, step);
        x->b->n_steps++;
    }
    if (!rc && !scan_end(&x->scan))
        rc = err_set(x->scan.e, ERR_PARSE, "more than a statement");
    return rc ? err_wrap(x->scan.e, "line %d", st->line) : 0;
}

int plan_bind(const struct plan *p, const struct plan_names *names,
              struct plan_bound *b, struct err *e)
{
    struct binding x = {.b = b};

    x.scan.names = names;
    x.scan.constants = x.constants;
    x.scan.e = e;
    b->n_steps = b->n_scratch = 0;
    for (size_t i = 0; i < p->n; i++)
        if (bind_statement(&x, p, i))
            return -1;
    return 0;
}
