/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/tokens.h"

struct level {
    const char *type;
    TSNode node;
    int scope; /* inside of parameters: that of the function, else 0 */
};

struct reader {
    const struct pymod *m;
    struct tokens *t;
    ARRAY(struct level) levels; /* the ancestors */
    unsigned char known[512];   /* by type: 0 = not asked yet */
};

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static bool is_one_of(const char *s, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is(s, list[i]))
            return true;
    return false;
}

/* Is the identifier in FIELD of UP the name of a parameter? */
static bool is_parameter(const struct level *up, const char *field)
{
    static const char *const direct[] = {
        "parameters", "lambda_parameters", "typed_parameter",
        "list_splat_pattern", "dictionary_splat_pattern"};

    if (up->scope <= 0)
        return false;
    if (is_one_of(up->type, direct, ARRAY_LEN(direct)))
        return true;
    return field && is(field, "name") &&
           (is(up->type, "default_parameter") ||
            is(up->type, "typed_default_parameter"));
}

struct span tokens_imported(const struct pysym *s, struct arena *a)
{
    const char *dot;

    if (!s || s->level > 0)
        return (struct span){NULL, 0};
    if (s->kind == PYSYM_FROM)
        return span_str(arena_printf(a, "%.*s.%.*s", (int)s->module.n,
                                     s->module.p, (int)s->member.n,
                                     s->member.p));
    if (s->kind != PYSYM_IMPORT)
        return (struct span){NULL, 0};
    if (s->aliased)
        return s->module;
    dot = s->module.n ? memchr(s->module.p, '.', s->module.n) : NULL;
    return dot ? (struct span){s->module.p, (size_t)(dot - s->module.p)}
               : s->module;
}

static void push(struct reader *r, enum token_kind kind, TSNode n,
                 struct span text)
{
    struct token k = {kind, -1, ts_node_start_byte(n), text};

    array_push(&r->t->seq, k);
}

static void mark(struct reader *r, uint32_t at, const char *what)
{
    struct token k = {TOKEN_MARK, -1, at, span_str(what)};

    array_push(&r->t->seq, k);
}

static void add_name(struct reader *r, TSNode n, struct span name,
                     const struct level *up, const char *field)
{
    const struct pysym *s =
        is_parameter(up, field)
            ? pymod_lookup(r->m, up->scope, name)
            : pymod_lookup_at(r->m, ts_node_start_byte(n), name);
    struct span dotted = tokens_imported(s, &r->t->arena);

    if (dotted.n > 0) {
        push(r, TOKEN_IMPORTED, n, dotted);
        return;
    }
    push(r, TOKEN_NAME, n, name);
    if (s)
        r->t->seq.v[r->t->seq.n - 1].scope = s->scope;
}

/* nn.Module and Module, however imported, are one token. */
static void add_attribute(struct reader *r, TSNode n, struct span name)
{
    struct tokens *t = r->t;
    struct token *k = t->seq.n >= 2 ? &t->seq.v[t->seq.n - 2] : NULL;

    if (!k || k->kind != TOKEN_IMPORTED || !span_is(k[1].text, ".")) {
        push(r, TOKEN_ATTRIBUTE, n, name);
        return;
    }
    k->text = span_str(arena_printf(&t->arena, "%.*s.%.*s", (int)k->text.n,
                                    k->text.p, (int)name.n, name.p));
    t->seq.n--;
}

/* super(Name, self) is super(). */
static void shorten_super(struct tokens *t)
{
    const struct token *k = t->seq.n >= 6 ? &t->seq.v[t->seq.n - 6] : NULL;

    if (k && span_is(k[0].text, "super") && span_is(k[1].text, "(") &&
        k[2].kind == TOKEN_NAME && span_is(k[3].text, ",") &&
        k[4].kind == TOKEN_NAME && span_is(k[5].text, ")")) {
        t->seq.v[t->seq.n - 4] = t->seq.v[t->seq.n - 1];
        t->seq.n -= 3;
    }
}

/* Nodes whose limits follow from brackets and precedence, or from nothing: they
 * are marked, and brackets around them are not written. */
static bool is_grouped(const char *type)
{
    static const char *const types[] = {
        "binary_operator", "unary_operator",   "boolean_operator",
        "not_operator",    "lambda",           "comparison_operator",
        "await",           "named_expression", "conditional_expression",
        "tuple",           "tuple_pattern",    "expression_list",
        "pattern_list"};

    return is_one_of(type, types, ARRAY_LEN(types));
}

static void add_bracket(struct reader *r, TSNode n, struct span text,
                        const struct level *up)
{
    struct tokens *t = r->t;
    const struct token *last = t->seq.n ? &t->seq.v[t->seq.n - 1] : NULL;

    if (memchr(")]}", text.p[0], 3) && last && last->kind == TOKEN_PLAIN &&
        span_is(last->text, ","))
        t->seq.n--;
    if (is(up->type, "parenthesized_expression") || is(up->type, "tuple") ||
        is(up->type, "tuple_pattern"))
        return;
    push(r, TOKEN_PLAIN, n, text);
    if (text.p[0] == ')')
        shorten_super(t);
}

/* A float in one spelling: 1., 1.0 and 1e0. */
static struct span float_text(struct reader *r, struct span text)
{
    char copy[40];
    size_t n = 0;

    for (size_t i = 0; i < text.n && n < sizeof(copy) - 1; i++)
        if (text.p[i] != '_')
            copy[n++] = text.p[i];
    copy[n] = '\0';
    if (text.n >= sizeof(copy) || strchr(copy, 'j') || strchr(copy, 'J'))
        return text;
    return span_str(arena_printf(&r->t->arena, "%.17g.", strtod(copy, NULL)));
}

/* ':' and '->' of annotations. */
static bool is_annotation(const struct level *up, struct span text)
{
    if (span_is(text, "->"))
        return true;
    return span_is(text, ":") && (is(up->type, "typed_parameter") ||
                                  is(up->type, "typed_default_parameter") ||
                                  is(up->type, "assignment"));
}

/* Is the keyword whose argument is at DEPTH - 1 for a function or class of the
 * source's own? */
static bool is_own_keyword(const struct reader *r, uint32_t depth)
{
    TSNode call, function;
    struct span dotted;
    const struct pysym *s;

    if (depth < 3 || !is(r->levels.v[depth - 3].type, "call"))
        return false;
    call = r->levels.v[depth - 3].node;
    function = pynode_field(call, "function");
    dotted = pynode_dotted(r->m->text, function);
    if (span_starts(dotted, "self.")) {
        dotted = (struct span){dotted.p + 5, dotted.n - 5};
        for (size_t i = 0; i < r->m->defs.n; i++)
            if (r->m->defs.v[i].outer >= 0 &&
                span_eq(r->m->defs.v[i].name, dotted))
                return true;
        return false;
    }
    s = dotted.n ? pymod_lookup_at(r->m, ts_node_start_byte(function), dotted)
                 : NULL;
    return s && s->kind != PYSYM_IMPORT && s->kind != PYSYM_FROM;
}

static struct span prefix_of(struct span quote)
{
    size_t n = 0;

    while (n < quote.n && quote.p[n] != '"' && quote.p[n] != '\'')
        n++;
    return (struct span){quote.p, n};
}

static void add_leaf(struct reader *r, TSNode n, const char *type,
                     const struct level *up, const char *field, uint32_t depth)
{
    struct span text = pynode_text(r->m->text, n);

    if (text.n == 0)
        return;
    if (is(type, "identifier")) {
        if (field && is(field, "attribute") && is(up->type, "attribute"))
            add_attribute(r, n, text);
        else if (field && is(field, "name") &&
                 is(up->type, "keyword_argument")) {
            push(r, TOKEN_KEYWORD, n, text);
            if (is_own_keyword(r, depth))
                r->t->seq.v[r->t->seq.n - 1].scope = 0;
        } else {
            add_name(r, n, text, up, field);
        }
    } else if (is(type, "integer")) {
        push(r, TOKEN_NUMBER, n, text);
    } else if (is(type, "float")) {
        push(r, TOKEN_NUMBER, n, float_text(r, text));
    } else if (is(type, "string_start")) {
        struct span prefix = prefix_of(text);

        push(r, TOKEN_STRING, n, prefix.n ? prefix : SPAN_LIT("s"));
    } else if (is(type, "string_content")) {
        push(r, TOKEN_STRING, n, text);
    } else if (!is(type, "string_end") && !is_annotation(up, text)) {
        if (memchr("([{)]}", text.p[0], 6))
            add_bracket(r, n, text, up);
        else
            push(r, TOKEN_PLAIN, n, text);
    }
}

/* Nothing in it counts. */
static bool is_silent(TSNode n, const char *type)
{
    static const char *const whole[] = {"comment",
                                        "import_statement",
                                        "import_from_statement",
                                        "pass_statement",
                                        "future_import_statement",
                                        "line_continuation",
                                        "type"};

    if (is_one_of(type, whole, ARRAY_LEN(whole)))
        return true;
    return is(type, "expression_statement") && ts_node_child_count(n) == 1 &&
           (pynode_is(ts_node_child(n, 0), "string") ||
            pynode_is(ts_node_child(n, 0), "concatenated_string"));
}

/* What is_grouped says, remembered by the number of the node's type: it is
 * asked twice of every node. */
static bool grouped(struct reader *r, TSNode n, const char *type)
{
    TSSymbol s = ts_node_symbol(n);

    if (s >= sizeof(r->known))
        return is_grouped(type);
    if (r->known[s] == 0)
        r->known[s] = is_grouped(type) ? 2 : 1;
    return r->known[s] == 2;
}

static bool enter(void *payload, TSNode n, const char *field, uint32_t depth)
{
    struct reader *r = payload;
    const char *type = ts_node_type(n);
    struct level here = {type, n, 0}, none = {"", n, 0};
    const struct level *up;

    if (is_silent(n, type))
        return false;
    array_reserve(&r->levels, (size_t)depth + 1);
    up = depth > 0 ? &r->levels.v[depth - 1] : &none;
    if (is(up->type, "block") || is(up->type, "module"))
        mark(r, ts_node_start_byte(n), TOKEN_STATEMENT);
    here.scope = up->scope;
    if (is(type, "parameters") || is(type, "lambda_parameters"))
        here.scope = pymod_scope_at(
            r->m, ts_node_start_byte(pynode_field(ts_node_parent(n), "body")));
    else if (is(type, "block"))
        mark(r, ts_node_start_byte(n), TOKEN_BLOCK);
    else if (grouped(r, n, type))
        mark(r, ts_node_start_byte(n), TOKEN_GROUP);
    r->levels.v[depth] = here;
    /* The text of a string is a leaf, whatever escapes are marked in it. */
    if (ts_node_child_count(n) > 0 && !is(type, "string_content"))
        return true;
    add_leaf(r, n, type, up, field, depth);
    return false;
}

static void leave(void *payload, TSNode n, uint32_t depth)
{
    struct reader *r = payload;
    const char *type = ts_node_type(n);

    (void)depth;
    if (is(type, "block"))
        mark(r, ts_node_end_byte(n), TOKEN_BLOCK_END);
    else if (grouped(r, n, type)) {
        /* (a,) is told from (a) by its marks */
        if (r->t->seq.n > 0 &&
            r->t->seq.v[r->t->seq.n - 1].kind == TOKEN_PLAIN &&
            span_is(r->t->seq.v[r->t->seq.n - 1].text, ","))
            r->t->seq.n--;
        mark(r, ts_node_end_byte(n), TOKEN_GROUP_END);
    }
}

void tokens_read(struct tokens *t, const struct pymod *m)
{
    struct reader r = {.m = m, .t = t};
    struct pyvisit v = {enter, leave, &r};

    *t = (struct tokens){.arena = ARENA_INIT};
    pytree_walk(ts_tree_root_node(m->tree.tree), &v);
    array_release(&r.levels);
}

void tokens_release(struct tokens *t)
{
    array_release(&t->seq);
    arena_release(&t->arena);
}

size_t tokens_from(const struct tokens *t, uint32_t at)
{
    size_t lo = 0, hi = t->seq.n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (t->seq.v[mid].at < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

size_t token_number(struct map *numbers, const struct token *k)
{
    char key[160];
    void **number;
    size_t used;

    if ((k->kind != TOKEN_NAME && k->kind != TOKEN_KEYWORD) || k->scope < 0)
        return 0;
    key[0] = (char)('0' + (int)k->kind);
    memcpy(key + 1, &k->scope, sizeof(k->scope));
    used = 1 + sizeof(k->scope);
    memcpy(key + used, k->text.p, MIN(k->text.n, 128u));
    used += MIN(k->text.n, 128u);
    number = map_ref(numbers, (struct span){key, used});
    if (!*number)
        *number = (void *)(uintptr_t)numbers->n;
    return (size_t)(uintptr_t)*number;
}

/* Without printf, whose share of the time shows: once a token. */
static void put_decimal(struct buf *out, size_t n)
{
    char text[24];
    size_t i = sizeof(text);

    do {
        text[--i] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    (void)buf_add(out, text + i, sizeof(text) - i);
}

void token_put(struct buf *out, const struct token *k, size_t number)
{
    (void)buf_addc(out, (char)('A' + (int)k->kind));
    if (number > 0) {
        (void)buf_addc(out, '#');
        put_decimal(out, number);
        (void)buf_addc(out, '.');
        return;
    }
    /* The length keeps fields from running into one another. */
    put_decimal(out, k->text.n);
    (void)buf_addc(out, ':');
    (void)buf_addspan(out, k->text);
}

void tokens_digest(const struct tokens *t, size_t entry, char out[HASH_HEX + 1])
{
    struct sha256 *h = sha256_new();
    struct map numbers = MAP_INIT;
    struct buf text = BUF_INIT((size_t)64 << 20);

    for (size_t i = 0; i < t->seq.n; i++) {
        const struct token *k = &t->seq.v[i];

        token_put(&text, k, token_number(&numbers, k));
    }
    (void)buf_printf(&text, "%zu", entry);
    sha256_add(h, text.p, text.n);
    sha256_hex(h, out);
    sha256_free(h);
    buf_release(&text);
    map_release(&numbers);
}

uint64_t *tokens_plain(const struct tokens *t)
{
    uint64_t *out = xcalloc(t->seq.n + 1, sizeof(*out));

    for (size_t i = 0; i < t->seq.n; i++)
        if (t->seq.v[i].kind != TOKEN_MARK)
            out[i] = hash_fast(t->seq.v[i].text, 0) | 1;
    return out;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

#define MAX_GRAM 64

void tokens_grams(const uint64_t *texts, size_t from, size_t to, unsigned n,
                  struct grams *out)
{
    uint64_t run[2 * MAX_GRAM];
    size_t have = 0, first = out->n, kept = first;

    n = MIN(n, (unsigned)MAX_GRAM);
    for (size_t i = from; i < to; i++) {
        uint64_t h;

        if (texts[i] == 0)
            continue;
        if (have == ARRAY_LEN(run)) {
            memmove(run, run + have - (n - 1), (n - 1) * sizeof(*run));
            have = n - 1;
        }
        run[have++] = texts[i];
        if (have < n)
            continue;
        h = hash_fast(
            (struct span){(const char *)(run + have - n), n * sizeof(*run)}, n);
        array_push(out, (uint32_t)(h >> 32));
    }
    if (out->n - first > 1)
        qsort(out->v + first, out->n - first, sizeof(*out->v), by_value);
    for (size_t i = first; i < out->n; i++)
        if (i == first || out->v[i] != out->v[kept - 1])
            out->v[kept++] = out->v[i];
    out->n = kept;
}
