/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "harvest/notebook.h"
#include "py/pytree.h"
#include "utf8.h"
#include "val.h"

/* ---- where in the code a line begins ---- */

/* State of Python's text between two lines. */
struct lexer {
    int depth;   /* open brackets */
    char quote;  /* of an open string of three, 0 = none */
    bool joined; /* the line before ends in a backslash */
    char last;   /* last byte of the line that is neither blank nor comment */
};

static bool at_statement(const struct lexer *x)
{
    return x->depth == 0 && !x->quote && !x->joined;
}

static bool is_triple(struct span s, size_t i, char q)
{
    return i + 2 < s.n && s.p[i] == q && s.p[i + 1] == q && s.p[i + 2] == q;
}

/* Past a string of one line that begins at I; its end when it has none. */
static size_t skip_string(struct span s, size_t i)
{
    char q = s.p[i++];
    for (; i < s.n && s.p[i] != q; i++)
        if (s.p[i] == '\\')
            i++;
    return MIN(i + 1, s.n);
}

static void read_line(struct lexer *x, struct span s)
{
    size_t i = 0;
    x->joined = false;
    x->last = 0;
    while (i < s.n) {
        char c = s.p[i];
        if (x->quote) {
            x->last = 'q';
            if (c == '\\') {
                i += 2;
            } else if (is_triple(s, i, x->quote)) {
                x->quote = 0;
                i += 3;
            } else {
                i++;
            }
            continue;
        }
        if (c == '#')
            return;
        if (c == '\\' && i + 1 == s.n) {
            x->joined = true;
            return;
        }
        if (c == '"' || c == '\'') {
            bool triple = is_triple(s, i, c);
            x->quote = triple ? c : 0;
            i = triple ? i + 3 : skip_string(s, i);
            x->last = 'q';
            continue;
        }
        if (c == '(' || c == '[' || c == '{')
            x->depth++;
        else if ((c == ')' || c == ']' || c == '}') && x->depth > 0)
            x->depth--;
        if (c != ' ' && c != '\t')
            x->last = c;
        i++;
    }
}

/* ---- what is IPython's ---- */

static size_t indent_of(struct span s)
{
    size_t i = 0;
    while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\t'))
        i++;
    return i;
}

/* "name = !ls", "a, b = %time f()". */
static bool assigns_magic(struct span s)
{
    size_t i = 0;
    while (i < s.n && s.p[i] != '=' && s.p[i] != '#' && s.p[i] != '(' &&
           s.p[i] != '"' && s.p[i] != '\'')
        i++;
    if (i == 0 || i == s.n || s.p[i] != '=' || strchr("=!<>%", s.p[i - 1]))
        return false;
    i++;
    while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\t'))
        i++;
    return i < s.n && (s.p[i] == '!' || s.p[i] == '%');
}

/* Is the line S, at the start of a statement, none of Python's? */
static bool is_magic(struct span s)
{
    struct lexer x = {0};
    size_t i = indent_of(s);
    struct span t = {s.p + i, s.n - i};
    if (t.n == 0 || t.p[0] == '#')
        return false;
    if (strchr("%!?", t.p[0]) || assigns_magic(t))
        return true;
    read_line(&x, t);
    return x.last == '?';
}

/* The word of LINE at *I, behind blanks; *I moves past it. */
static struct span next_word(struct span line, size_t *i)
{
    while (*i < line.n && (line.p[*i] == ' ' || line.p[*i] == '\t'))
        (*i)++;
    size_t from = *i;
    while (*i < line.n && (unsigned char)line.p[*i] > ' ')
        (*i)++;
    return (struct span){line.p + from, *i - from};
}

/* Does LINE, behind %%writefile at I, name a Python file? */
static bool names_python(struct span line, size_t i)
{
    struct span last = {line.p, 0}, word;
    while ((word = next_word(line, &i)).n > 0)
        last = word;
    if (last.n > 1 && strchr("\"'", last.p[0]) &&
        last.p[last.n - 1] == last.p[0])
        last = (struct span){last.p + 1, last.n - 2};
    return span_ends(last, ".py");
}

/* Of cells that begin so all but the first line is Python: it is run, or
 * written to a file that others import. */
static bool is_python_cell(struct span line)
{
    static const char *const run[] = {"time",   "timeit",  "capture", "prun",
                                      "python", "python3", "python2", "debug",
                                      "memit",  "mprun"};
    static const char *const file[] = {"file", "writefile"};
    size_t i = 2;
    struct span name = next_word(line, &i);
    if (span_in(name, file, ARRAY_LEN(file)))
        return names_python(line, i);
    return line.n > 2 && line.p[2] > ' ' && span_in(name, run, ARRAY_LEN(run));
}

static struct span take_line(struct span *rest)
{
    const char *nl = memchr(rest->p, '\n', rest->n);
    size_t n = nl ? (size_t)(nl - rest->p) : rest->n;
    struct span line = {rest->p, n};
    n += nl != NULL;
    *rest = (struct span){rest->p + n, rest->n - n};
    return line;
}

static void blank(struct buf *out, struct span line)
{
    size_t n = indent_of(line);
    if (n > 0 && n < line.n) {
        buf_add(out, line.p, n);
        buf_adds(out, "pass");
    }
    buf_addc(out, '\n');
}

/* Append the code of one cell, line for line. */
static void add_cell(struct buf *out, struct span code)
{
    size_t from = out->n;
    struct lexer x = {0};
    struct span rest = code, after = code, first = take_line(&after);
    bool goes_on = false;
    while (rest.n > 0 && indent_of(first) == first.n) {
        buf_addc(out, '\n'); /* IPython begins behind them */
        rest = after;
        first = take_line(&after);
    }
    bool other = span_starts(first, "%%");
    if (other && is_python_cell(first)) {
        buf_addc(out, '\n');
        rest = after;
        other = false;
    }
    while (rest.n > 0) {
        struct span line = take_line(&rest);
        bool more = goes_on;
        bool magic = more || (at_statement(&x) && is_magic(line));
        goes_on = magic && span_ends(line, "\\");
        if (other || more) {
            buf_addc(out, '\n');
        } else if (magic) {
            blank(out, line);
        } else {
            read_line(&x, line);
            buf_addspan(out, line);
            buf_addc(out, '\n');
        }
    }
    if (at_statement(&x))
        return;
    /* Not whole: its lines stay, empty. */
    size_t n = 0;
    for (size_t i = from; i < out->n; i++)
        n += out->p[i] == '\n';
    buf_setlen(out, from);
    for (size_t i = 0; i < n; i++)
        buf_addc(out, '\n');
}

/* ---- without what the cells printed ---- */

/* End of the string whose opening quote is at I; s.n if there is none. */
static size_t string_end(struct span s, size_t i)
{
    for (i++; i < s.n; i++) {
        const char *q = memchr(s.p + i, '"', s.n - i);
        size_t back = 0;
        if (!q)
            return s.n;
        i = (size_t)(q - s.p);
        while (s.p[i - 1 - back] == '\\')
            back++;
        if (back % 2 == 0)
            return i + 1;
    }
    return s.n;
}

static size_t skip_blanks(struct span s, size_t i)
{
    while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\n' || s.p[i] == '\t' ||
                       s.p[i] == '\r'))
        i++;
    return i;
}

/* End of the list or object that begins at I; s.n if it has none. */
static size_t value_end(struct span s, size_t i)
{
    size_t depth = 0;
    while (i < s.n) {
        char c = s.p[i];
        if (c == '"') {
            i = string_end(s, i);
            continue;
        }
        i++;
        if (c == '[' || c == '{')
            depth++;
        else if ((c == ']' || c == '}') && --depth == 0)
            return i;
    }
    return s.n;
}

/* RAW with null for the outputs, which are most of a notebook: pictures. A
 * string before a ':' is a key, wherever it stands. */
static void drop_outputs(struct buf *out, struct span raw)
{
    size_t from = 0, i = 0;
    while (i < raw.n) {
        const char *q = memchr(raw.p + i, '"', raw.n - i);
        if (!q)
            break;
        size_t start = (size_t)(q - raw.p), end = string_end(raw, start);
        struct span key = {q, end - start};
        i = end;
        if (!span_is(key, "\"outputs\"") && !span_is(key, "\"attachments\""))
            continue;
        size_t at = skip_blanks(raw, end);
        if (at == raw.n || raw.p[at] != ':')
            continue;
        at = skip_blanks(raw, at + 1);
        if (at == raw.n || (raw.p[at] != '[' && raw.p[at] != '{'))
            continue;
        i = value_end(raw, at);
        buf_add(out, raw.p + from, at - from);
        buf_adds(out, "null");
        from = i;
    }
    buf_add(out, raw.p + from, raw.n - from);
}

/* ---- the notebook ---- */

/* A list of texts or one text, with LF line ends. */
static void join_text(struct buf *out, const struct val *v)
{
    if (!v)
        return;
    bool list = v->type == VAL_LIST;
    for (uint32_t i = 0; list ? i < v->list.n : i < 1; i++) {
        const struct val *t = list ? v->list.v[i] : v;
        struct span s = t->type == VAL_STR ? t->s : SPAN_LIT("");
        for (size_t k = 0; k < s.n; k++) {
            bool crlf = s.p[k] == '\r' && k + 1 < s.n && s.p[k + 1] == '\n';
            if (!crlf)
                buf_addc(out, s.p[k] == '\r' ? '\n' : s.p[k]);
        }
    }
}

static bool is_python(const struct val *book)
{
    const struct val *meta = val_get(book, "metadata");
    struct span a = val_gets(val_get(meta, "kernelspec"), "language");
    struct span b = val_gets(val_get(meta, "language_info"), "name");
    struct span said = b.n > 0 ? b : a;
    return said.n == 0 || span_starts(said, "python") ||
           span_starts(said, "ipython");
}

struct book {
    struct buf *out;
    struct nbcells *cells;
    struct buf code; /* of one cell */
    uint32_t line, number;
};

static void add_cells(struct book *b, const struct val *list)
{
    for (uint32_t i = 0; list && list->type == VAL_LIST && i < list->list.n;
         i++) {
        const struct val *cell = list->list.v[i];
        b->number++;
        if (!span_is(val_gets(cell, "cell_type"), "code"))
            continue;
        const struct val *text = val_get(cell, "source");
        buf_clear(&b->code);
        join_text(&b->code, text ? text : val_get(cell, "input"));
        struct nbcell at = {b->line, b->number};
        size_t from = b->out->n;
        array_push(b->cells, at);
        buf_printf(b->out, "# %%%% [%u]\n", b->number);
        add_cell(b->out, buf_span(&b->code));
        for (size_t k = from; k < b->out->n; k++)
            b->line += b->out->p[k] == '\n';
    }
}

int notebook_source(struct buf *out, struct nbcells *cells, struct span raw,
                    struct err *e)
{
    struct arena a = ARENA_INIT;
    struct val *book = NULL;
    struct book b = {.out = out, .cells = cells, .line = 1};
    struct buf less = BUF_INIT((size_t)NOTEBOOK_MAX + 16);
    size_t from = out->n;
    int rc = -1;
    buf_init(&b.code, PY_MAX_SOURCE);
    if (raw.n > NOTEBOOK_MAX) {
        err_set(e, ERR_TOO_LARGE, "notebook of %zu bytes is over %u", raw.n,
                NOTEBOOK_MAX);
        goto out;
    }
    drop_outputs(&less, raw);
    /* What is wrong shall be told by its place in the whole. */
    if (val_parse_json(&a, buf_span(&less), VAL_JSON_LENIENT, &book, e) != 0 &&
        val_parse_json(&a, raw, VAL_JSON_LENIENT, &book, e) != 0) {
        err_wrap(e, "notebook");
        e->code = ERR_PARSE;
        goto out;
    }
    if (book->type != VAL_MAP || !is_python(book)) {
        err_set(e, ERR_PARSE,
                book->type != VAL_MAP ? "no notebook"
                                      : "notebook of another language");
        goto out;
    }
    add_cells(&b, val_get(book, "cells"));
    const struct val *sheets = val_get(book, "worksheets");
    for (uint32_t i = 0;
         sheets && sheets->type == VAL_LIST && i < sheets->list.n; i++)
        add_cells(&b, val_get(sheets->list.v[i], "cells"));
    if (out->full || b.code.full) {
        err_set(e, ERR_TOO_LARGE, "code cells of more than %zu bytes",
                MIN(out->max, b.code.max));
        goto out;
    }
    if (memchr(out->p + from, '\0', out->n - from)) {
        err_set(e, ERR_ENCODING, "NUL byte in a code cell");
        goto out;
    }
    rc = 0;
out:
    if (rc != 0)
        buf_setlen(out, from);
    buf_release(&b.code);
    buf_release(&less);
    arena_release(&a);
    return rc;
}

uint32_t notebook_cell(const struct nbcells *cells, uint32_t line)
{
    uint32_t number = 0;
    for (size_t i = 0; i < cells->n && cells->v[i].line <= line; i++)
        number = cells->v[i].number;
    return number;
}
