/* SPDX-License-Identifier: MIT */
/* Changes inside of constructor arguments that are Python expressions. */
#include "base.h"

#include <ctype.h>

#include "testgen/moves.h"
#include "testgen/objects.h"

#define TEXT_MAX 16384

struct change {
    int64_t from, to; /* FROM 0: those of 256 and more become an eighth */
};

static int64_t changed_number(const struct change *c, int64_t v)
{
    if (c->from)
        return v == c->from ? c->to : v;
    return v >= 256 ? v / 8 : v;
}

/* TEXT with the numbers changed; NULL when none is. Digits in names, quotes and
 * fractions stay. */
static const char *with_numbers(struct arena *a, struct span s,
                                const struct change *c)
{
    struct buf b = BUF_INIT(TEXT_MAX);
    bool any = false;
    char quote = 0;
    for (size_t i = 0; i < s.n;) {
        char x = s.p[i], before = i ? s.p[i - 1] : ' ';
        size_t k = i;
        if (quote || x == '\'' || x == '"')
            quote = !quote ? x : x == quote ? 0 : quote;
        while (!quote && k < s.n && k < i + 9 && isdigit((unsigned char)s.p[k]))
            k++;
        bool whole = k > i && !is_word_char(before) && before != '.' &&
                     (k == s.n || (!is_word_char(s.p[k]) && s.p[k] != '.'));
        if (!whole) {
            buf_addc(&b, x);
            i++;
            continue;
        }
        int64_t v = 0;
        for (; i < k; i++)
            v = v * 10 + (s.p[i] - '0');
        any = any || changed_number(c, v) != v;
        buf_printf(&b, "%" PRId64, changed_number(c, v));
    }
    const char *text = any && !b.full ? arena_strdup(a, buf_span(&b)) : NULL;
    buf_release(&b);
    return text;
}

static void change_numbers(struct moves *m, const struct change *c,
                           const char *evidence, bool together, int weight)
{
    struct val *s = state_copy(m->a, m->state);
    bool any = false;
    for (size_t i = 0; i < m->f->init.n; i++) {
        struct span name = m->f->init.v[i].name;
        const struct val *v = state_init(m->state, name);
        const char *text =
            is_expr(v) ? with_numbers(m->a, val_gets(v, "$"), c) : NULL;
        if (!text)
            continue;
        any = true;
        if (together)
            state_set_init(m->a, s, name, expr_val(m->a, text), evidence);
        else
            moves_init(m, name, expr_val(m->a, text), evidence, weight);
    }
    if (any && together)
        array_push(&m->list, ((struct move){s, weight}));
}

void moves_number(struct moves *m, int64_t from, int64_t to, int weight)
{
    struct change c = {from, to};
    if (from > 1 && to > 0)
        change_numbers(m, &c, "sizes in an error", false, weight);
}

void moves_shrink(struct moves *m, int weight)
{
    struct change c = {0, 0};
    change_numbers(m, &c, "default in source, reduced", true, weight);
}

/* ---- attributes ---- */

/* One more member for the NTH plain object of the text. */
static const char *with_member(struct moves *m, struct span text,
                               struct span attr, int nth)
{
    static const char head[] = "SimpleNamespace(";
    const char *p = text.p, *end = text.p + text.n;
    for (;;) {
        p = memmem(p, (size_t)(end - p), head, sizeof(head) - 1);
        if (!p)
            return NULL;
        p += sizeof(head) - 1;
        if (nth-- == 0)
            break;
    }
    struct buf b = BUF_INIT(TEXT_MAX);
    struct span known = object_default(m->f, attr);
    struct val *v = propose_by_name(m->a, m->f, attr);
    buf_addspan(&b, (struct span){text.p, (size_t)(p - text.p)});
    buf_printf(&b, "%.*s=", (int)attr.n, attr.p);
    if (known.n)
        buf_addspan(&b, known);
    else
        py_literal(&b, v ? v : val_int(m->a, 16));
    if (p < end && *p != ')')
        buf_adds(&b, ", ");
    buf_addspan(&b, (struct span){p, (size_t)(end - p)});
    const char *out = b.full ? NULL : arena_strdup(m->a, buf_span(&b));
    buf_release(&b);
    return out;
}

static bool value_is(const struct val *v, struct span kind)
{
    if (span_is(kind, "int"))
        return v->type == VAL_INT;
    if (span_is(kind, "str"))
        return v->type == VAL_STR;
    if (span_is(kind, "list") || span_is(kind, "tuple"))
        return seq_items(v) != NULL;
    struct span text = val_gets(v, "$");
    return is_expr(v) && memmem(text.p, text.n, kind.p, kind.n) != NULL;
}

void moves_attribute(struct moves *m, struct span kind, struct span attr,
                     int weight)
{
    for (size_t i = 0; i < m->f->init.n; i++) {
        const struct param *p = &m->f->init.v[i];
        const struct val *v = state_init(m->state, p->name);
        int w = weight + 2 * moves_named(m, p->name);
        const char *ev = "";
        if (!v || !value_is(v, kind))
            continue;
        if (span_is(kind, "SimpleNamespace")) {
            for (int nth = 0; nth < 4; nth++) {
                const char *text = with_member(m, val_gets(v, "$"), attr, nth);
                if (text)
                    moves_init(m, p->name, expr_val(m->a, text),
                               "asked for in a run", w - nth);
            }
            continue;
        }
        struct param more = *p;
        more.attrs = (struct spans){0};
        for (size_t k = 0; k < p->attrs.n; k++)
            spans_add(&more.attrs, p->attrs.v[k]);
        spans_add(&more.attrs, attr);
        more.uses |= USE_ATTRS;
        struct val *object = object_options(m->a, m->f, &more, &ev);
        if (object)
            moves_init(m, p->name, object, ev, w);
        array_release(&more.attrs);
    }
}

void moves_layers(struct moves *m, int weight)
{
    static const struct {
        const char *name, *rest;
        int widths;
    } layers[] = {{"TransformerEncoderLayer", ", 4, 128, batch_first=True", 1},
                  {"MultiheadAttention", ", 4, batch_first=True", 1},
                  {"Bilinear", "", 3},
                  {"TransformerDecoderLayer", ", 4, 128, batch_first=True", 1},
                  {"GRU", ", batch_first=True", 2}};
    int d = (int)propose_int(m->f, m->state, "d_model",
                             propose_int(m->f, m->state, "dim", PLAN_DIM));
    for (size_t i = 0; i < m->f->init.n; i++) {
        struct span name = m->f->init.v[i].name;
        const struct val *v = state_init(m->state, name);
        bool attention = memmem(name.p, name.n, "att", 3) != NULL;
        bool decoder = memmem(name.p, name.n, "decoder", 7) != NULL;
        if (!v || !value_is(v, SPAN_LIT("torch.nn.Linear(")))
            continue;
        for (int k = 0; k < (int)ARRAY_LEN(layers); k++) {
            int w = weight - k;
            if ((k == 1 && attention) || (k == 3 && decoder))
                w += 6;
            const char *text =
                arena_printf(m->a, "torch.nn.%s(%d", layers[k].name, d);
            for (int times = 1; times < layers[k].widths; times++)
                text = arena_printf(m->a, "%s, %d", text, d);
            text = arena_printf(m->a, "%s%s)", text, layers[k].rest);
            moves_init(m, name, expr_val(m->a, text),
                       "called with more arguments", w);
        }
    }
}
