/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/cuda/plan_expr.h"

#include <math.h>

#define DEPTH 32

static int fail(struct scan *p, const char *what)
{
    char near[24];
    struct span rest = {p->s.p + p->at, p->s.n - p->at};
    rest.n = MIN(rest.n, (size_t)16);
    return err_set(p->e, ERR_PARSE, "%s at '%s'", what,
                   mask_text(near, sizeof(near), rest));
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char peek(const struct scan *p, size_t ahead)
{
    return p->at + ahead < p->s.n ? p->s.p[p->at + ahead] : '\0';
}

void scan_blanks(struct scan *p)
{
    for (;; p->at++) {
        char c = peek(p, 0);
        if (c == '\\' && (peek(p, 1) == '\n' || peek(p, 1) == '\r'))
            continue;
        if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
            return;
    }
}

bool scan_end(struct scan *p)
{
    scan_blanks(p);
    return p->at >= p->s.n;
}

bool scan_take(struct scan *p, const char *text)
{
    size_t n = strlen(text);
    scan_blanks(p);
    if (p->s.n - p->at < n || memcmp(p->s.p + p->at, text, n))
        return false;
    p->at += n;
    return true;
}

int scan_want(struct scan *p, const char *text)
{
    char what[40];
    if (scan_take(p, text))
        return 0;
    snprintf(what, sizeof(what), "'%s' is missing", text);
    return fail(p, what);
}

static size_t word(const struct scan *p, size_t from)
{
    size_t n = from;
    while (is_letter(peek(p, n)) || is_digit(peek(p, n)))
        n++;
    return n - from;
}

static bool is_member(struct span s)
{
    return span_is(s, "shape") || span_is(s, "numel") || span_is(s, "ndim");
}

struct span scan_name(struct scan *p)
{
    struct span s;
    size_t n;

    scan_blanks(p);
    s.p = p->s.p + p->at;
    s.n = 0;
    if (peek(p, 0) == '"') {
        const char *end = memchr(s.p + 1, '"', p->s.n - p->at - 1);
        if (!end)
            return s;
        s.p++;
        s.n = (size_t)(end - s.p);
        p->at += s.n + 2;
        return s;
    }
    if (!is_letter(peek(p, 0)))
        return s;
    n = word(p, 0);
    while (peek(p, n) == '.' && word(p, n + 1)) {
        size_t more = word(p, n + 1);
        if (is_member((struct span){s.p + n + 1, more}))
            break;
        n += 1 + more;
    }
    s.n = n;
    p->at += n;
    return s;
}

static struct number whole(int64_t i)
{
    return (struct number){.i = i, .f = (double)i};
}

static struct number real(double f)
{
    return (struct number){.real = true, .f = f};
}

/* L OP R by C's rules, without its undefined cases. */
static int combine(struct scan *p, char op, struct number l, struct number r,
                   struct number *out)
{
    bool bad = false;
    int64_t i = 0;

    if (l.real || r.real) {
        double f = op == '+'   ? l.f + r.f
                   : op == '-' ? l.f - r.f
                   : op == '*' ? l.f * r.f
                   : op == '/' ? l.f / r.f
                               : fmod(l.f, r.f);
        if (!isfinite(f))
            return fail(p, "a number that is not finite");
        *out = real(f);
        return 0;
    }
    switch (op) {
    case '+':
        bad = __builtin_add_overflow(l.i, r.i, &i);
        break;
    case '-':
        bad = __builtin_sub_overflow(l.i, r.i, &i);
        break;
    case '*':
        bad = __builtin_mul_overflow(l.i, r.i, &i);
        break;
    default:
        if (r.i == 0)
            return fail(p, "a division by zero");
        bad = l.i == INT64_MIN && r.i == -1;
        if (!bad)
            i = op == '/' ? l.i / r.i : l.i % r.i;
    }
    if (bad)
        return fail(p, "a number too large");
    *out = whole(i);
    return 0;
}

static int literal(struct scan *p, struct number *out)
{
    char text[40] = "";
    size_t n = 0;
    bool fraction = false;
    char *end;

    while (n + 1 < sizeof(text)) {
        char c = peek(p, n);
        bool sign = (c == '+' || c == '-') && n &&
                    (text[n - 1] == 'e' || text[n - 1] == 'E');
        if (!is_digit(c) && c != '.' && c != 'e' && c != 'E' && !sign)
            break;
        fraction |= !is_digit(c);
        text[n++] = c;
    }
    text[n] = '\0';
    errno = 0;
    if (fraction)
        *out = real(strtod(text, &end));
    else
        *out = whole(strtoll(text, &end, 10));
    if (errno || *end || !isfinite(out->f) || is_letter(peek(p, n)))
        return fail(p, "a number that cannot be read");
    p->at += n;
    return 0;
}

/* Behind the '(' of one of these functions. */
static int function(struct scan *p, struct span name, struct number *out)
{
    struct number a, b;

    if (scan_expr(p, &a))
        return -1;
    if (span_is(name, "sqrt")) {
        if (a.f < 0)
            return fail(p, "a root of a negative number");
        *out = real(sqrt(a.f));
        return scan_want(p, ")");
    }
    if (scan_want(p, ",") || scan_expr(p, &b) || scan_want(p, ")"))
        return -1;
    if (span_is(name, "min") || span_is(name, "max")) {
        bool less = a.real || b.real ? a.f < b.f : a.i < b.i;
        *out = less == span_is(name, "min") ? a : b;
        return 0;
    }
    if (a.real || b.real || a.i < 0 || b.i <= 0)
        return fail(p, "ceil_div takes whole numbers above zero");
    *out = whole(a.i / b.i + (a.i % b.i != 0));
    return 0;
}

static int member(struct scan *p, const struct plan_named *t,
                  struct number *out)
{
    struct number i;

    if (scan_take(p, "numel")) {
        *out = whole(t->numel);
        return 0;
    }
    if (scan_take(p, "ndim")) {
        *out = whole(t->ndim);
        return 0;
    }
    if (!scan_take(p, "shape"))
        return fail(p, "a tensor has .shape[i], .numel and .ndim only");
    if (scan_want(p, "[") || scan_expr(p, &i) || scan_want(p, "]"))
        return -1;
    if (i.real || i.i < -t->ndim || i.i >= t->ndim)
        return fail(p, "no such dimension");
    *out = whole(t->shape[i.i < 0 ? i.i + t->ndim : i.i]);
    return 0;
}

static int named(struct scan *p, struct span name, struct number *out)
{
    static const char *const functions[] = {"min", "max", "ceil_div", "sqrt"};
    struct plan_named t = {0};
    char text[48];

    if (span_in(name, functions, ARRAY_LEN(functions)) && scan_take(p, "("))
        return function(p, name, out);
    for (size_t i = 0; i < p->n_constants; i++)
        if (span_eq(p->constants[i].name, name)) {
            *out = p->constants[i].value;
            return 0;
        }
    if (span_is(name, "sm_count")) {
        *out = whole(p->names->sm_count);
        return 0;
    }
    if (!p->names->find(p->names->payload, name, &t))
        return err_set(p->e, ERR_PARSE, "nothing is called '%s'",
                       mask_text(text, sizeof(text), name));
    if (t.number) {
        *out = t.real ? real(t.f) : whole(t.i);
        return 0;
    }
    if (scan_take(p, "."))
        return member(p, &t, out);
    return err_set(p->e, ERR_PARSE, "'%s' is a tensor, not a number",
                   mask_text(text, sizeof(text), name));
}

static int primary(struct scan *p, struct number *out)
{
    struct span name;
    int rc;

    scan_blanks(p);
    if (is_digit(peek(p, 0)) || (peek(p, 0) == '.' && is_digit(peek(p, 1))))
        return literal(p, out);
    if (scan_take(p, "-")) {
        if (++p->depth > DEPTH)
            return fail(p, "an expression nested too deep");
        rc = primary(p, out);
        p->depth--;
        return rc ? -1 : combine(p, '-', whole(0), *out, out);
    }
    if (scan_take(p, "("))
        return scan_expr(p, out) || scan_want(p, ")") ? -1 : 0;
    name = scan_name(p);
    if (!name.n)
        return fail(p, "a number or a name is missing");
    return named(p, name, out);
}

static int product(struct scan *p, struct number *out)
{
    struct number r;

    if (primary(p, out))
        return -1;
    for (;;) {
        char op = scan_take(p, "*")   ? '*'
                  : scan_take(p, "/") ? '/'
                  : scan_take(p, "%") ? '%'
                                      : '\0';
        if (!op)
            return 0;
        if (primary(p, &r) || combine(p, op, *out, r, out))
            return -1;
    }
}

int scan_expr(struct scan *p, struct number *out)
{
    struct number r;

    if (++p->depth > DEPTH)
        return fail(p, "an expression nested too deep");
    if (product(p, out))
        return -1;
    for (;;) {
        char op = scan_take(p, "+") ? '+' : scan_take(p, "-") ? '-' : '\0';
        if (!op)
            break;
        if (product(p, &r) || combine(p, op, *out, r, out))
            return -1;
    }
    p->depth--;
    return 0;
}
