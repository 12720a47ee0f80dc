/* SPDX-License-Identifier: MIT */
/* The scanner that takes out of a file what its outline does not need. */
#include "base.h"

#include "py/pymod.h"
#include "py/skim.h"

#define MAX_BRACKETS 200
#define MAX_INDENT   1000
/* Shorter gaps are not worth one. */
#define MIN_GAP 4

/* [start, end) of the whole text becomes "xx". */
struct cut {
    uint32_t start, end;
};

/* A function whose body is open. */
struct fn {
    size_t level;     /* number of indents in its body */
    size_t first_cut; /* of its header */
    uint32_t params_start, params_end;
    uint32_t body_start;
    bool keep;
};

/* What stands before the cursor. */
enum token {
    TOKEN_OTHER,
    TOKEN_BINARY, /* an operator behind a value, which wants another */
    TOKEN_WORD,
    TOKEN_STRING,
    TOKEN_VALUE
};

enum line_kind { LINE_SIMPLE, LINE_COMPOUND, LINE_DEF };

struct skim {
    struct span text;
    uint32_t at;   /* everything before is scanned */
    uint32_t code; /* end of the last token that is no comment */
    ARRAY(struct cut) cuts;
    ARRAY(struct fn) fns;
    ARRAY(uint32_t) indents; /* of the open blocks */
    /* of the logical line */
    enum line_kind kind;
    bool cuts_ok;     /* no name is bound in its brackets */
    bool odd;         /* in the header of a function: it must stay */
    size_t first_cut; /* of the line */
    uint32_t open;    /* after the outermost bracket that is open */
    bool walrus;      /* in that bracket */
    uint32_t colon;   /* after the first ':' outside brackets, 0 = none */
    uint32_t params_start, params_end;
    enum token last;  /* of the line: the one before */
    struct span word; /* where that is a word */
    int depth;
    char brackets[MAX_BRACKETS];
    bool unsure;
};

static char look(const struct skim *s, uint32_t at)
{
    return at < s->text.n ? s->text.p[at] : '\0';
}

static uint32_t skip_blanks(const struct skim *s, uint32_t at)
{
    while (look(s, at) == ' ' || look(s, at) == '\t')
        at++;
    return at;
}

static void cut(struct skim *s, uint32_t start, uint32_t end)
{
    struct cut c = {start, end};
    if (end >= start + 2 + MIN_GAP)
        array_push(&s->cuts, c);
}

static void keep_all(struct skim *s)
{
    s->odd = true;
    for (size_t i = s->fns.n; i > 0 && !s->fns.v[i - 1].keep; i--)
        s->fns.v[i - 1].keep = true;
}

static void skip_comment(struct skim *s)
{
    const char *p = s->text.p + s->at;
    const char *end = memchr(p, '\n', s->text.n - s->at);
    uint32_t stop = end ? (uint32_t)(end - s->text.p) : (uint32_t)s->text.n;
    cut(s, s->at + 1, stop);
    s->at = stop;
}

/* Does the quote before the cursor end its string? */
static bool closes(struct skim *s, char quote, bool triple)
{
    if (!triple)
        return true;
    if (look(s, s->at) != quote || look(s, s->at + 1) != quote)
        return false;
    s->at += 2;
    return true;
}

/* A string without fields; the cursor is behind its opening quotes. */
static void skip_plain(struct skim *s, char quote, bool triple)
{
    while (s->at < s->text.n) {
        char c = s->text.p[s->at++];
        if (c == '\\') {
            s->at++;
        } else if (c == '\n' && !triple) {
            break;
        } else if (c == quote && closes(s, quote, triple)) {
            return;
        }
    }
    s->unsure = true;
}

/* A string of one line inside of a field, in the quotes C. */
static bool skip_inner(struct skim *s, char c, char quote, bool triple)
{
    if (!triple && c == quote)
        return false;
    if (look(s, s->at) == c && look(s, s->at + 1) == c)
        return false;
    while (s->at < s->text.n) {
        char d = s->text.p[s->at++];
        if (d == c)
            return true;
        if (d == '\n' || d == '\\' || d == quote)
            return false;
    }
    return false;
}

/* The rest of a replacement field behind its '{'. */
static bool skip_field(struct skim *s, char quote, bool triple)
{
    int depth = 1;
    while (s->at < s->text.n) {
        char c = s->text.p[s->at++];
        if (c == '{') {
            depth++;
        } else if (c == '}') {
            if (--depth == 0)
                return true;
        } else if (c == '"' || c == '\'') {
            if (!skip_inner(s, c, quote, triple))
                return false;
        } else if (c == '\\' || (c == '\n' && !triple) ||
                   (c == '#' && s->text.p[s->at - 2] != ':')) {
            return false;
        }
    }
    return false;
}

static void skip_format(struct skim *s, char quote, bool triple)
{
    while (s->at < s->text.n) {
        char c = s->text.p[s->at++];
        if (c == '\\') {
            if (look(s, s->at) != '{' && look(s, s->at) != '}')
                s->at++;
        } else if (c == '{' || c == '}') {
            if (look(s, s->at) == c)
                s->at++;
            else if (c == '}' || !skip_field(s, quote, triple))
                break;
        } else if (c == '\n' && !triple) {
            break;
        } else if (c == quote && closes(s, quote, triple)) {
            return;
        }
    }
    s->unsure = true;
}

/* A string with PREFIX, its first quote at the cursor. */
static void skip_string(struct skim *s, struct span prefix)
{
    char quote = s->text.p[s->at];
    bool format = false, triple;
    for (size_t i = 0; i < prefix.n; i++)
        format |= prefix.p[i] == 'f' || prefix.p[i] == 'F';
    triple = look(s, s->at + 1) == quote && look(s, s->at + 2) == quote;
    s->at += triple ? 3 : 1;
    if (format) {
        skip_format(s, quote, triple);
        return;
    }
    uint32_t start = s->at, n = triple ? 3 : 1;
    skip_plain(s, quote, triple);
    if (!s->unsure && s->depth == 0 && s->cuts_ok)
        cut(s, start, s->at - n);
}

static bool is_prefix(struct span w)
{
    for (size_t i = 0; i < w.n; i++)
        if (!strchr("fFrRbBuU", w.p[i]))
            return false;
    return true;
}

/* A word that may stand between two values or before one: keywords, those of
 * old and of new Python among them. */
static bool is_keyword(struct span w)
{
    static const char *const values[] = {"False", "None", "True"};
    static const char *const others[] = {"case", "exec", "match", "print",
                                         "type"};
    return py_is_keyword(w) ? !span_in(w, values, ARRAY_LEN(values))
                            : span_in(w, others, ARRAY_LEN(others));
}

/*
 * A value, W if it is a word, follows what was last. Side by side two values
 * are an error, and the commonest: a text that is no Python, a keyword of
 * another language, a comma left out. The grammar shall say what becomes of it.
 */
static void see_value(struct skim *s, enum token kind, struct span w)
{
    if (s->last > TOKEN_BINARY &&
        !(s->last == TOKEN_STRING && kind == s->last)) {
        bool word = s->last == TOKEN_WORD && is_keyword(s->word);
        s->unsure |= !word && !(kind == TOKEN_WORD && is_keyword(w));
    }
    s->last = kind;
    s->word = w;
}

/* Words that begin a line in whose brackets and strings more may be told than
 * values. */
static bool is_compound(struct span w)
{
    static const char *const words[] = {
        "if",     "elif",   "else", "try",     "except", "finally",
        "while",  "for",    "with", "match",   "case",   "class",
        "del",    "import", "from", "type",    "global", "async",
        "lambda", "print",  "exec", "nonlocal"};
    return w.n <= 8 && span_in(w, words, ARRAY_LEN(words));
}

/* A print or exec statement has no bracket after the word; where the word is a
 * value, something follows that begins no expression. */
static bool is_python2(const struct skim *s)
{
    uint32_t at = skip_blanks(s, s->at);
    char c = look(s, at);
    if (c == '.')
        return look(s, at + 1) >= '0' && look(s, at + 1) <= '9';
    return c != '\0' && !strchr("(),=:;\n]}", c);
}

static void first_word(struct skim *s, struct span w)
{
    static const struct span def = {"def", 3};
    if (span_is(w, "async")) {
        uint32_t at = skip_blanks(s, s->at);
        struct span rest = {s->text.p + at, s->text.n - at};
        if (span_starts(rest, def.p) && !is_word_char(look(s, at + 3))) {
            s->at = at + 3;
            s->word = w = def;
        }
    }
    if (span_is(w, "def")) {
        s->kind = LINE_DEF;
        s->cuts_ok = false;
    } else if (is_compound(w)) {
        s->kind = LINE_COMPOUND;
        s->cuts_ok = false;
    }
}

static void see_word(struct skim *s, bool first)
{
    uint32_t start = s->at;
    while (s->at < s->text.n && is_word_char(s->text.p[s->at])) {
        unsigned char c = (unsigned char)s->text.p[s->at++];
        /* Letters of two bytes are; of the others some are blanks. */
        if (c >= 0xe0 || c == 0xc2)
            s->unsure = true;
    }
    struct span w = {s->text.p + start, s->at - start};
    char next = look(s, s->at);
    if ((next == '"' || next == '\'') && is_prefix(w)) {
        see_value(s, TOKEN_STRING, w);
        skip_string(s, w);
        return;
    }
    see_value(s, TOKEN_WORD, w);
    if (first)
        first_word(s, w);
    if (w.n < 4 || w.n > 7)
        return;
    if (span_is(w, "class") || span_is(w, "import") || span_is(w, "global")) {
        keep_all(s);
    } else if (span_is(w, "__all__")) {
        s->cuts_ok = false;
    } else if (span_is(w, "print") || span_is(w, "exec")) {
        if (is_python2(s)) {
            keep_all(s);
            s->cuts_ok = false;
            s->walrus = true;
        }
    } else if (s->kind == LINE_DEF && span_is(w, "lambda") && s->depth == 0) {
        s->unsure = true; /* its ':' is not the header's */
    }
}

static void open_bracket(struct skim *s, char c)
{
    if (s->depth == MAX_BRACKETS) {
        s->unsure = true;
        return;
    }
    s->brackets[s->depth++] = c == '(' ? ')' : c == '[' ? ']' : '}';
    if (s->depth == 1) {
        s->open = s->at;
        s->walrus = false;
    }
}

static void close_bracket(struct skim *s, char c)
{
    if (s->depth == 0 || s->brackets[s->depth - 1] != c) {
        s->unsure = true;
        return;
    }
    if (--s->depth > 0)
        return;
    uint32_t end = s->at - 1;
    if (s->kind == LINE_DEF && c == ')' && !s->params_end && !s->colon) {
        s->params_start = s->open;
        s->params_end = end;
    }
    if (!s->cuts_ok || s->walrus)
        return;
    /* Comments inside of it were taken out by themselves. */
    while (s->cuts.n > s->first_cut &&
           s->cuts.v[s->cuts.n - 1].start >= s->open)
        s->cuts.n--;
    cut(s, s->open, end);
}

/* What was cut of this line may be a target: all but the comments, of which
 * none is before the '=' outside brackets. */
static void see_equals(struct skim *s)
{
    if (look(s, s->at) == '=')
        s->at++;
    else if (s->depth == 0)
        s->cuts.n = s->first_cut;
}

/* Something that a binary operator can't stand before. */
static void see_end(struct skim *s)
{
    s->unsure |= s->last == TOKEN_BINARY;
    s->last = TOKEN_OTHER;
}

/* One of those that are no sign and no star; its first character is C. */
static void see_binary(struct skim *s, char c)
{
    char next = look(s, s->at);
    bool twice = (c == '<' || c == '>' || c == '/') && next == c;
    s->at += twice;
    if (c == '=')
        see_equals(s);
    else if (look(s, s->at) == '=' || (c == '<' && next == '>'))
        s->at++;
    else
        s->unsure |= c == '!';
    bool comma = s->last == TOKEN_OTHER; /* def f(a, /) */
    s->unsure |= s->last == TOKEN_BINARY;
    s->last = comma ? TOKEN_OTHER : TOKEN_BINARY;
}

static void see_other(struct skim *s, char c)
{
    char next = look(s, s->at);
    switch (c) {
    case '(':
    case '[':
    case '{':
        if (c == '{')
            see_value(s, TOKEN_VALUE, (struct span){NULL, 0});
        s->last = TOKEN_OTHER;
        open_bracket(s, c);
        break;
    case ')':
    case ']':
    case '}':
        see_end(s);
        s->last = TOKEN_VALUE;
        close_bracket(s, c);
        break;
    case '=':
    case '<':
    case '>':
    case '!':
    case '/':
    case '%':
    case '&':
    case '|':
    case '^':
        see_binary(s, c);
        break;
    case ':':
        see_end(s);
        if (next == '=') {
            s->at++;
            s->walrus = true;
            if (s->depth == 0) {
                s->cuts_ok = false;
                s->cuts.n = s->first_cut;
            }
        } else if (s->depth == 0 && !s->colon) {
            s->colon = s->at;
        }
        break;
    case ',':
        see_end(s);
        break;
    case ';':
        see_end(s);
        s->unsure |= s->depth > 0;
        s->cuts_ok = false;
        break;
    default:
        s->unsure |= c == '\0' || !strchr("+-*~@.", c);
        s->last = TOKEN_OTHER;
        s->at += c == '-' && next == '>';
        break;
    }
}

/* One logical line from its first token up to its end. */
static void scan_line(struct skim *s)
{
    bool first = true;
    s->kind = LINE_SIMPLE;
    s->cuts_ok = true;
    s->odd = false;
    s->first_cut = s->cuts.n;
    s->colon = s->params_start = s->params_end = 0;
    s->depth = 0;
    s->last = TOKEN_OTHER;
    while (s->at < s->text.n && !s->unsure) {
        char c = s->text.p[s->at];
        if (c == ' ' || c == '\t') {
            s->at++;
            continue;
        }
        if (c == '\n') {
            if (s->depth == 0)
                break;
            s->at++;
            continue;
        }
        if (c == '#') {
            skip_comment(s);
            continue;
        }
        if (c == '\\') {
            s->unsure |= first || look(s, s->at + 1) != '\n';
            s->at += 2;
            continue;
        }
        if (c >= '0' && c <= '9') {
            see_value(s, TOKEN_VALUE, (struct span){NULL, 0});
            while (is_word_char(look(s, s->at)) || look(s, s->at) == '.')
                s->at++;
        } else if (is_word_char(c)) {
            see_word(s, first);
        } else if (c == '"' || c == '\'') {
            see_value(s, TOKEN_STRING, (struct span){NULL, 0});
            skip_string(s, (struct span){NULL, 0});
        } else {
            s->at++;
            see_other(s, c);
        }
        s->code = s->at;
        first = false;
    }
    see_end(s);
    s->unsure |= s->depth > 0;
}

/* The innermost function is over: its last statement ended at s->code. */
static void close_fn(struct skim *s)
{
    struct fn f = s->fns.v[--s->fns.n];
    if (f.keep)
        return;
    ARRAY(struct cut) rest = {0};
    size_t keep = f.first_cut;
    for (size_t i = keep; i < s->cuts.n; i++) {
        struct cut c = s->cuts.v[i];
        bool in_params = c.start < f.params_end;
        bool in_body = c.start >= f.body_start && c.start < s->code;
        if (!in_params && !in_body)
            array_push(&rest, c);
    }
    s->cuts.n = keep;
    cut(s, f.params_start, f.params_end);
    size_t i = 0;
    for (; i < rest.n && rest.v[i].start < f.body_start; i++)
        array_push(&s->cuts, rest.v[i]);
    cut(s, f.body_start, s->code);
    for (; i < rest.n; i++)
        array_push(&s->cuts, rest.v[i]);
    array_release(&rest);
}

/* A line begins with INDENT: close and open blocks. */
static void indent_to(struct skim *s, uint32_t indent, bool opens)
{
    uint32_t top = s->indents.v[s->indents.n - 1];
    if (opens) {
        s->unsure |= indent <= top;
        array_push(&s->indents, indent);
        return;
    }
    while (s->indents.v[s->indents.n - 1] > indent)
        s->indents.n--;
    s->unsure |= s->indents.v[s->indents.n - 1] != indent;
    while (s->fns.n > 0 && s->fns.v[s->fns.n - 1].level > s->indents.n)
        close_fn(s);
}

/* After a line: does a block follow? */
static bool end_line(struct skim *s)
{
    bool opens = s->code > 0 && s->text.p[s->code - 1] == ':';
    if (s->kind != LINE_DEF)
        return opens;
    if (!s->colon || !s->params_end) {
        s->unsure = true;
        return false;
    }
    struct fn f = {.level = s->indents.n + 1,
                   .first_cut = s->first_cut,
                   .params_start = s->params_start,
                   .params_end = s->params_end,
                   .keep = s->odd};
    array_push(&s->fns, f);
    if (s->colon == s->code)
        return true;
    uint32_t at = skip_blanks(s, s->colon);
    s->unsure |= look(s, at) == '\\' || opens;
    s->fns.v[s->fns.n - 1].body_start = at;
    close_fn(s);
    return false;
}

static void scan(struct skim *s)
{
    bool opens = false;
    array_push(&s->indents, 0);
    while (s->at < s->text.n && !s->unsure) {
        uint32_t indent = 0;
        for (char c; (c = look(s, s->at)) == ' ' || c == '\t'; s->at++)
            indent += c == ' ' ? 1 : 8;
        char c = look(s, s->at);
        if (c == '\n') {
            s->at++;
            continue;
        }
        if (c == '#') {
            skip_comment(s);
            continue;
        }
        if (s->at == s->text.n)
            break;
        if (indent > MAX_INDENT) {
            s->unsure = true;
            break;
        }
        indent_to(s, indent, opens);
        if (opens && s->fns.n > 0 && s->fns.v[s->fns.n - 1].body_start == 0)
            s->fns.v[s->fns.n - 1].body_start = s->at;
        scan_line(s);
        if (!s->unsure)
            opens = end_line(s);
    }
    s->unsure |= opens;
    while (s->fns.n > 0 && !s->unsure)
        close_fn(s);
}

static void build(struct pyskim *out, const struct skim *s)
{
    char *text = xmalloc(s->text.n + 1);
    uint32_t from = 0, n = 0;
    for (size_t i = 0; i < s->cuts.n; i++) {
        struct cut c = s->cuts.v[i];
        memcpy(text + n, s->text.p + from, c.start - from);
        n += c.start - from;
        memcpy(text + n, "xx", 2);
        struct pygap gap = {n + 1, c.end - (n + 2)};
        array_push(&out->gaps, gap);
        n += 2;
        from = c.end;
    }
    memcpy(text + n, s->text.p + from, s->text.n - from);
    n += (uint32_t)s->text.n - from;
    text[n] = '\0';
    out->text = (struct span){text, n};
}

bool pyskim_make(struct pyskim *out, struct span text)
{
    struct skim s = {.text = text};
    *out = (struct pyskim){.text = {NULL, 0}};
    scan(&s);
    bool ok = !s.unsure && s.cuts.n > 0;
    if (ok)
        build(out, &s);
    array_release(&s.cuts);
    array_release(&s.fns);
    array_release(&s.indents);
    return ok;
}

uint32_t pyskim_offset(const struct pyskim *s, uint32_t at)
{
    size_t lo = 0, hi = s->gaps.n;
    while (lo < hi) { /* gaps at or before AT */
        size_t mid = (lo + hi) / 2;
        if (s->gaps.v[mid].at <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > 0 ? at + s->gaps.v[lo - 1].skipped : at;
}

void pyskim_release(struct pyskim *s)
{
    free((char *)(uintptr_t)s->text.p);
    array_release(&s->gaps);
    s->text = (struct span){NULL, 0};
}
