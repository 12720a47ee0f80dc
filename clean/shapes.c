/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/shapes.h"

#define MAX_PARAMS 12
#define MAX_RANK   6
#define MAX_NAME   24
#define MAX_TEXT   (64u << 10) /* of a class that is looked through */

struct told {
    struct arena *a;
    struct span names[MAX_PARAMS];
    size_t n;
    struct val *shapes;
    size_t
        last; /* parameter whose line was seen last without a shape, n: none */
};

static bool is_size(char c)
{
    return is_word_char(c) || strchr("*+-/ ", c) != NULL;
}

/* The shape in the brackets that S begins with, as a list; NULL when they hold
 * something else, such as a type. */
static struct val *bracketed(struct arena *a, struct span s)
{
    struct val *l = val_list(a);
    char close = s.p[0] == '(' ? ')' : ']';
    size_t i = 1, start = 1;
    bool letters = false;
    for (; i < s.n && l->list.n < MAX_RANK + 1u; i++) {
        if (s.p[i] != ',' && s.p[i] != close) {
            if (!is_size(s.p[i]))
                return NULL;
            continue;
        }
        struct span part = {s.p + start, i - start};
        while (part.n && part.p[0] == ' ') {
            part.p++;
            part.n--;
        }
        while (part.n && part.p[part.n - 1] == ' ')
            part.n--;
        bool end = s.p[i] == close;
        if (part.n == 0 && end && l->list.n == 1)
            return letters ? l : NULL; /* (B,) */
        if (part.n == 0 || part.n > MAX_NAME || span_is(part, "*") ||
            span_is(part, "optional") || span_is(part, "default") ||
            span_is(part, "Tensor") || span_is(part, "LongTensor") ||
            memchr(part.p, ' ', part.n))
            return NULL;
        letters |= (part.p[0] | 32) >= 'a' && (part.p[0] | 32) <= 'z';
        val_push(a, l, val_str(a, part));
        start = i + 1;
        if (end)
            return letters && l->list.n >= 2 && l->list.n <= MAX_RANK ? l
                                                                      : NULL;
    }
    return NULL;
}

/* The first shape in S. */
static struct val *shape_in(struct arena *a, struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '(' || s.p[i] == '[') {
            struct val *l = bracketed(a, (struct span){s.p + i, s.n - i});
            if (l)
                return l;
        }
    return NULL;
}

/* What follows WORD in LINE; empty when it is not there as a name. */
static struct span behind_word(struct span line, struct span word)
{
    const char *at = span_find_word(line, word);
    return at ? (struct span){at + word.n,
                              (size_t)(line.p + line.n - at) - word.n}
              : (struct span){NULL, 0};
}

/* One line that people read. */
static void read_line(struct told *t, struct span line)
{
    bool named = false;
    for (size_t i = 0; i < t->n; i++) {
        struct span rest = behind_word(line, t->names[i]);
        if (rest.n == 0)
            continue;
        named = true;
        struct val *l = shape_in(t->a, rest);
        t->last = l ? t->n : i;
        const char *key = arena_strdup(t->a, t->names[i]);
        if (l && !val_get(t->shapes, key))
            val_set(t->a, t->shapes, key, l);
    }
    if (named)
        return;
    /* "- Input: (N, C)" is about the first; else a line that goes on. */
    struct span rest = behind_word(line, SPAN_LIT("Input"));
    size_t about = rest.n ? 0 : t->last;
    struct val *l = about < t->n ? shape_in(t->a, rest.n ? rest : line) : NULL;
    if (!l)
        return;
    t->last = t->n;
    const char *key = arena_strdup(t->a, t->names[about]);
    if (!val_get(t->shapes, key))
        val_set(t->a, t->shapes, key, l);
}

static void read_lines(struct told *t, struct span s)
{
    while (s.n > 0) {
        const char *nl = memchr(s.p, '\n', s.n);
        struct span line = {s.p, nl ? (size_t)(nl - s.p) : s.n};
        read_line(t, line);
        s.p += line.n + (nl != NULL);
        s.n -= line.n + (nl != NULL);
    }
    t->last = t->n;
}

/* Length of the string literal that S begins with; TRIPLE: of three quotes. */
static size_t string_length(struct span s, bool *triple)
{
    char q = s.p[0];
    *triple = s.n >= 3 && s.p[1] == q && s.p[2] == q;
    size_t i = *triple ? 3 : 1;
    while (i < s.n) {
        if (s.p[i] == '\\') {
            i += 2;
            continue;
        }
        if (!*triple && (s.p[i] == q || s.p[i] == '\n'))
            return i + 1;
        if (*triple && s.n - i >= 3 && s.p[i] == q && s.p[i + 1] == q &&
            s.p[i + 2] == q)
            return i + 3;
        i++;
    }
    return s.n;
}

/* Comments and long strings of TEXT. */
static void read_text(struct told *t, struct span text)
{
    for (size_t i = 0; i < text.n;) {
        struct span rest = {text.p + i, text.n - i};
        if (rest.p[0] == '#') {
            const char *nl = memchr(rest.p, '\n', rest.n);
            size_t n = nl ? (size_t)(nl - rest.p) : rest.n;
            read_line(t, (struct span){rest.p, n});
            t->last = t->n;
            i += n;
        } else if (rest.p[0] == '"' || rest.p[0] == '\'') {
            bool triple;
            size_t n = string_length(rest, &triple);
            if (triple && n > 6)
                read_lines(t, (struct span){rest.p + 3, n - 6});
            i += n;
        } else {
            i++;
        }
    }
}

struct val *shapes_told(struct arena *a, const struct pymod *m,
                        const struct pydef *d)
{
    struct told t = {.a = a, .shapes = val_map(a)};
    const struct pydef *f = d->is_class ? pymod_method(m, d, "forward") : d;
    struct span text = pymod_text(m, d->start, d->end);
    if (!f)
        return NULL;
    for (size_t i = 0; i < m->syms.n && t.n < MAX_PARAMS; i++) {
        const struct pysym *s = &m->syms.v[i];
        if (s->kind == PYSYM_PARAM && s->scope == f->scope &&
            !span_is(s->name, "self"))
            t.names[t.n++] = s->name;
    }
    t.last = t.n;
    text.n = MIN(text.n, MAX_TEXT);
    if (t.n > 0)
        read_text(&t, text);
    return val_len(t.shapes) ? t.shapes : NULL;
}
