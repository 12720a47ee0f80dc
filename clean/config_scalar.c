/* SPDX-License-Identifier: MIT */
/* Scalars of configurations: plain values, references, arithmetic. */
#include "base.h"

#include <math.h>

#include "clean/config_priv.h"

#define MAX_STRING 120
#define MAX_NUMBER 60
#define MAX_EXPR   400
#define MAX_PARTS  16 /* of a path */

#define DIGITS "0123456789"

static void unknown(struct config *c)
{
    (void)!buf_adds(&c->body, "...");
}

void config_string(struct config *c, struct span s)
{
    char quote = memchr(s.p, '\'', s.n) ? '"' : '\'';

    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == '\\' || s.p[i] == quote)
            s.n = MAX_STRING + 1;
    if (s.n > MAX_STRING) {
        unknown(c);
        return;
    }
    (void)!(buf_addc(&c->body, quote) || buf_addspan(&c->body, s) ||
            buf_addc(&c->body, quote));
}

/* ---- numbers ---- */

static void put_int(struct config *c, const char *digits, int base, bool minus)
{
    char *end;
    unsigned long long x;

    errno = 0;
    x = strtoull(digits, &end, base);
    if (errno || *end || x > INT64_MAX)
        unknown(c);
    else
        (void)!buf_printf(&c->body, "%s%llu", minus ? "-" : "", x);
}

static void put_float(struct config *c, double d)
{
    size_t before = c->body.n;

    if (!isfinite(d)) {
        unknown(c);
        return;
    }
    (void)!buf_printf(&c->body, "%.17g", d);
    if (!strpbrk(c->body.p + before, ".e"))
        (void)!buf_adds(&c->body, ".0");
}

static bool only(const char *s, const char *of)
{
    return *s && s[strspn(s, of)] == '\0';
}

/* Write plain scalar S when it is a number. Sexagesimal ones are not known. */
static bool put_number(struct config *c, struct span s)
{
    char text[MAX_NUMBER + 1], *end;
    size_t n = 0;
    bool minus = s.n > 0 && s.p[0] == '-';
    const char *p = text;

    if (s.n == 0 || s.n > MAX_NUMBER || !memchr(DIGITS "+-.", s.p[0], 13) ||
        memchr(s.p, '\0', s.n))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != '_')
            text[n++] = s.p[i];
    text[n] = '\0';
    p += *p == '-' || *p == '+';
    if (*p == '0' && p[1] == 'b' && only(p + 2, "01"))
        put_int(c, p + 2, 2, minus);
    else if (*p == '0' && p[1] == 'x' && only(p + 2, DIGITS "abcdefABCDEF"))
        put_int(c, p + 2, 16, minus);
    else if (*p == '0' && only(p + 1, "01234567"))
        put_int(c, p + 1, 8, minus);
    else if (only(p, DIGITS) && (*p != '0' || !p[1]))
        put_int(c, p, 10, minus);
    else if (strcasecmp(p, ".inf") == 0 || strcasecmp(p, ".nan") == 0 ||
             (only(p, DIGITS ":") && strchr(p, ':')))
        unknown(c);
    else if (only(p, DIGITS ".eE+-") && strpbrk(p, ".eE") &&
             strchr(DIGITS ".", *p) &&
             (*p != '.' || (p[1] && strchr(DIGITS, p[1])))) {
        double d = strtod(text, &end);

        if (*end)
            return false;
        put_float(c, d);
    } else {
        return false;
    }
    return true;
}

static void put_plain(struct config *c, struct span s)
{
    static const char *const none[] = {"", "~", "null", "Null", "NULL"};
    static const char *const yes[] = {"true", "True", "TRUE", "yes", "Yes",
                                      "YES",  "on",   "On",   "ON"};
    static const char *const no[] = {"false", "False", "FALSE", "no", "No",
                                     "NO",    "off",   "Off",   "OFF"};

    if (span_in(s, none, ARRAY_LEN(none)))
        (void)!buf_adds(&c->body, "None");
    else if (span_in(s, yes, ARRAY_LEN(yes)))
        (void)!buf_adds(&c->body, "True");
    else if (span_in(s, no, ARRAY_LEN(no)))
        (void)!buf_adds(&c->body, "False");
    else if (!put_number(c, s))
        config_string(c, s);
}

/* ---- references ---- */

/* The next of the parts of PATH between any of SEPARATORS. */
static struct span next_part(struct span *path, const char *separators)
{
    size_t n = 0;
    struct span part;

    while (path->n > 0 && strchr(separators, *path->p)) {
        path->p++;
        path->n--;
    }
    while (n < path->n && !strchr(separators, path->p[n]))
        n++;
    part = (struct span){path->p, n};
    path->p += n;
    path->n -= n;
    return part;
}

static int list_item(struct config *c, int n, struct span index)
{
    int at = c->t->nodes.v[n].first;
    uint64_t i = 0;

    if (index.n == 0 || index.n > 4)
        return YAML_NONE;
    for (size_t k = 0; k < index.n; k++) {
        if (index.p[k] < '0' || index.p[k] > '9')
            return YAML_NONE;
        i = i * 10 + (uint64_t)(index.p[k] - '0');
    }
    for (; at != YAML_NONE && i > 0 && c->left-- > 0; i--)
        at = c->t->nodes.v[at].next;
    return i > 0 ? YAML_NONE : at;
}

/* The node that PATH leads to from node N. */
static int follow(struct config *c, int n, struct span path,
                  const char *separators)
{
    bool any = false;

    for (int i = 0; i < MAX_PARTS && n != YAML_NONE; i++) {
        struct span part = next_part(&path, separators);

        if (part.n == 0)
            return any ? n : YAML_NONE;
        any = true;
        n = ytree_at(c->t, n);
        if (c->t->nodes.v[n].kind == YNODE_MAP)
            n = config_child(c, n, part);
        else if (c->t->nodes.v[n].kind == YNODE_LIST)
            n = list_item(c, n, part);
        else
            n = YAML_NONE;
    }
    return YAML_NONE;
}

/* The reference at the start of S, of which it takes its bytes. */
static int take_reference(struct config *c, struct span *s)
{
    struct span path = {s->p + 1, 0};
    size_t left = s->n - 1;

    if (c->hyper) {
        const char *end = memchr(path.p, '>', left);

        if (!end)
            return YAML_NONE;
        path.n = (size_t)(end - path.p);
        *s = (struct span){end + 1, left - path.n - 1};
        return follow(c, 0, path, "[]");
    }
    while (path.n < left &&
           (is_word_char(path.p[path.n]) || strchr("#:", path.p[path.n])))
        path.n++;
    *s = (struct span){path.p + path.n, left - path.n};
    return follow(c, 0, path, "#:");
}

static size_t number_length(struct span s)
{
    char text[MAX_NUMBER + 1], *end;
    size_t n = MIN(s.n, MAX_NUMBER);

    memcpy(text, s.p, n);
    text[n] = '\0';
    if (strspn(text, DIGITS ".") == 0)
        return 0; /* neither names nor signs */
    (void)strtod(text, &end);
    n = (size_t)(end - text);
    /* of hexadecimal numbers only the 0 */
    return n > 1 && (text[1] == 'x' || text[1] == 'X') ? 0 : n;
}

/* Write S: numbers and references with operators and brackets between them, so
 * that it is well formed. -1: it is something else. */
static int put_tokens(struct config *c, struct span s)
{
    bool operand = true; /* is the next one */
    int depth = 0;

    while (s.n > 0) {
        size_t n = 1;
        char x = *s.p;

        if (x == ' ') {
            ;
        } else if (operand && x == (c->hyper ? '<' : '@')) {
            int to = take_reference(c, &s);

            if (to == YAML_NONE)
                return -1;
            config_refer(c, to);
            operand = false;
            continue;
        } else if (operand && (n = number_length(s)) > 0) {
            operand = false;
        } else if (operand && x == '(') {
            n = 1;
            depth++;
        } else if (!operand && x == ')' && depth-- > 0) {
            ;
        } else if (!operand && x == ',' && depth > 0) {
            operand = true;
        } else if (!operand && (x == '*' || x == '/')) {
            n = s.n > 1 && s.p[1] == x ? 2 : 1;
            operand = true;
        } else if ((x == '+' || x == '-' || (!operand && x == '%'))) {
            n = 1;
            operand = true;
        } else {
            return -1;
        }
        if (buf_add(&c->body, s.p, n))
            return -1;
        s = (struct span){s.p + n, s.n - n};
    }
    return operand || depth != 0 ? -1 : 0;
}

static void put_expression(struct config *c, struct span s)
{
    size_t before = c->body.n;

    if (s.n <= MAX_EXPR && buf_addc(&c->body, '(') == 0 &&
        put_tokens(c, s) == 0 && buf_addc(&c->body, ')') == 0)
        return;
    buf_setlen(&c->body, before);
    unknown(c);
}

/* ${a.b}, from the top; ${.b}, from the map that node N is in. */
static void put_interpolation(struct config *c, int n, struct span s)
{
    int from = 0;

    if (span_starts(s, "${") && s.p[s.n - 1] == '}') {
        s = (struct span){s.p + 2, s.n - 3};
        if (s.n > 0 && *s.p == '.')
            from = n;
        for (; s.n > 0 && *s.p == '.' && from != YAML_NONE; s.n--, s.p++)
            from = c->t->nodes.v[from].up;
        if (from != YAML_NONE && !memchr(s.p, ':', s.n))
            from = follow(c, from, s, ".[]");
        else
            from = YAML_NONE;
    } else {
        from = YAML_NONE; /* part of a text */
    }
    if (from == YAML_NONE)
        unknown(c);
    else
        config_refer(c, from);
}

void config_scalar(struct config *c, int n)
{
    const struct ynode *x = &c->t->nodes.v[n];
    struct span s = x->text;
    bool text = span_is(x->tag, "tag:yaml.org,2002:str");

    if (memchr(s.p, '\0', s.n) ||
        (x->tag.n > 0 && c->hyper && x->tag.p[0] == '!')) {
        bool known = span_is(x->tag, "!ref") || span_is(x->tag, "!copy") ||
                     span_is(x->tag, "!tuple");

        if (known && !memchr(s.p, '\0', s.n))
            put_expression(c, s);
        else
            unknown(c);
    } else if (x->tag.n > 0 && !span_starts(x->tag, "tag:yaml.org,2002:")) {
        unknown(c);
    } else if (c->hyper && x->plain && span_starts(s, "(") && s.n > 2 &&
               s.p[s.n - 1] == ')') {
        put_expression(c, s);
    } else if (!c->hyper && memmem(s.p, s.n, "${", 2)) {
        put_interpolation(c, n, s);
    } else if (!c->hyper && s.n > 1 && (*s.p == '@' || *s.p == '$')) {
        put_expression(c, *s.p == '$' ? (struct span){s.p + 1, s.n - 1} : s);
    } else if (!c->hyper && s.n > 1 && *s.p == '%') {
        unknown(c);
    } else if (x->plain && !text) {
        put_plain(c, s);
    } else {
        config_string(c, s);
    }
}
