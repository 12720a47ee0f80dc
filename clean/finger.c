/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/finger.h"
#include "clean/operators.h"

struct view {
    const struct tokens *t;
    size_t from, to; /* of the class */
    struct map own;  /* attributes of self, methods */
};

static bool is_protocol(struct span name)
{
    return span_is(name, "forward") || span_starts(name, "__");
}

/* Is token I the name behind `def`? */
static bool is_defined(const struct view *w, size_t i)
{
    const struct token *k = w->t->seq.v + i;

    return k->kind == TOKEN_NAME && i > w->from && k[-1].kind == TOKEN_PLAIN &&
           span_is(k[-1].text, "def");
}

/* Attributes that the class itself makes: self.NAME = ..., def NAME. */
static void collect_own(struct view *w)
{
    const struct token *k = w->t->seq.v;

    for (size_t i = w->from; i < w->to; i++) {
        bool attribute =
            k[i].kind == TOKEN_ATTRIBUTE && i >= w->from + 2 &&
            span_is(k[i - 2].text, "self") && i + 1 < w->to &&
            k[i + 1].kind == TOKEN_PLAIN &&
            (span_is(k[i + 1].text, "=") || span_is(k[i + 1].text, ","));

        if ((attribute || is_defined(w, i)) && !is_protocol(k[i].text))
            map_put(&w->own, k[i].text, w);
    }
}

static bool is_own(const struct view *w, size_t i)
{
    const struct token *k = &w->t->seq.v[i];

    return (k->kind == TOKEN_ATTRIBUTE || is_defined(w, i)) &&
           map_has(&w->own, k->text);
}

/* A name of the source's own, but for those that Python or torch look for. */
static bool is_free(const struct token *k)
{
    return (k->kind == TOKEN_NAME || k->kind == TOKEN_KEYWORD) &&
           k->scope >= 0 && !is_protocol(k->text);
}

static uint64_t hash_ast(const struct view *w)
{
    struct map numbers = MAP_INIT;
    struct buf text = BUF_INIT((size_t)64 << 20);
    uint64_t h;

    for (size_t i = w->from; i < w->to; i++) {
        const struct token *k = &w->t->seq.v[i];
        struct token own = {TOKEN_NAME, INT_MAX, 0, k->text};
        size_t number = 0;

        if (is_own(w, i))
            number = token_number(&numbers, &own);
        else if (is_free(k))
            number = token_number(&numbers, k);
        token_put(&text, k, number);
    }
    h = hash_fast(buf_span(&text), 1);
    buf_release(&text);
    map_release(&numbers);
    return h;
}

static uint64_t loose(const struct view *w, size_t i)
{
    const struct token *k = &w->t->seq.v[i];

    if (is_own(w, i))
        return 'A';
    if (is_free(k))
        return 'V';
    if (k->kind == TOKEN_NUMBER)
        return 'N';
    if (k->kind == TOKEN_STRING)
        return 'S';
    return hash_fast(k->text, 0);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static uint64_t hash_shape(const struct view *w)
{
    ARRAY(uint64_t) all = {0};
    uint64_t run = 0, pair[2], h;
    bool any = false;

    for (size_t i = w->from; i <= w->to; i++) {
        const struct token *k = &w->t->seq.v[i];

        if (i == w->to || (k->kind == TOKEN_MARK && k->text.p[0] != '(' &&
                           k->text.p[0] != ')')) {
            if (any)
                array_push(&all, run);
            run = 0;
            any = false;
            continue;
        }
        pair[0] = run;
        pair[1] = loose(w, i);
        run = hash_fast((struct span){(const char *)pair, sizeof(pair)}, 2);
        any = true;
    }
    if (all.n > 1)
        qsort(all.v, all.n, sizeof(*all.v), by_value);
    h = hash_fast((struct span){(const char *)all.v, all.n * sizeof(*all.v)},
                  3);
    array_release(&all);
    return h;
}

/* Tokens of super().__init__() at K: each module has them. */
static size_t is_super_init(const struct token *k, size_t left)
{
    static const char *const call[] = {"super",    "(", ")", ".",
                                       "__init__", "(", ")"};

    if (left < ARRAY_LEN(call))
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(call); i++)
        if (!span_is(k[i].text, call[i]))
            return 0;
    return ARRAY_LEN(call);
}

/* Hashes of the tokens for the grams: the body of the class without what every
 * module says. */
static uint64_t *gram_texts(struct finger *f, const struct view *w, size_t body)
{
    uint64_t *plain = xcalloc(w->to - w->from + 1, sizeof(*plain));
    const struct token *k = w->t->seq.v;

    for (size_t i = w->from; i < w->to; i++) {
        if (k[i].kind == TOKEN_MARK)
            continue;
        f->tokens++;
        if (i < body)
            continue;
        i += is_super_init(k + i, w->to - i);
        if (i < w->to && k[i].kind != TOKEN_MARK)
            plain[i - w->from] =
                hash_fast(span_eq(k[i].text, f->name) ? SPAN_LIT("C")
                                                      : k[i].text,
                          0) |
                1;
    }
    return plain;
}

void finger_of(struct finger *f, const struct pymod *m, const struct tokens *t,
               const struct pydef *d, bool entry)
{
    struct view w = {.t = t,
                     .from = tokens_from(t, d->def_start),
                     .to = tokens_from(t, d->end)};
    uint64_t *plain;

    *f = (struct finger){.name = d->name};
    collect_own(&w);
    plain = gram_texts(f, &w, tokens_from(t, d->body_start));
    tokens_grams(plain, 0, w.to - w.from, FINGER_LONG, &f->grams_long);
    tokens_grams(plain, 0, w.to - w.from, FINGER_SHORT, &f->grams_short);
    free(plain);
    f->ast = hash_ast(&w);
    f->shape = hash_shape(&w);
    f->operators = entry ? operators_hash(m, d) : 0;
    map_release(&w.own);
}

void finger_release(struct finger *f)
{
    array_release(&f->grams_long);
    array_release(&f->grams_short);
}
