/* SPDX-License-Identifier: MIT */
/* What a scan found, by offset, and what of its names needs a list. */
#include "base.h"

#include "clean/scan.h"

/* Is N the call isinstance(NAME, type), or an `and` that begins with one? */
static bool asks_type(const struct pymod *m, TSNode n, struct span name)
{
    TSNode args;

    for (int i = 0; i < 8 && pynode_is(n, "boolean_operator"); i++) {
        if (!span_is(pynode_text(m->text, pynode_field(n, "operator")), "and"))
            return false;
        n = pynode_field(n, "left");
    }
    args = pynode_field(n, "arguments");
    return pynode_is(n, "call") &&
           span_is(pynode_text(m->text, pynode_field(n, "function")),
                   "isinstance") &&
           ts_node_named_child_count(args) == 2 &&
           span_eq(pynode_text(m->text, ts_node_named_child(args, 0)), name) &&
           span_is(pynode_text(m->text, ts_node_named_child(args, 1)), "type");
}

bool scan_takes_classes(const struct pymod *m, TSNode n)
{
    TSNode values = ts_node_parent(n), all = ts_node_parent(values);
    TSNode clause = ts_node_parent(all), whole = ts_node_parent(clause);
    TSNode left = pynode_field(clause, "left"), test;
    struct span name = pynode_text(m->text, left);

    if (!pynode_is(values, "attribute") ||
        !span_is(pynode_text(m->text, pynode_field(values, "attribute")),
                 "values") ||
        !pynode_is(all, "call") || !pynode_is(clause, "for_in_clause") ||
        !ts_node_eq(pynode_field(clause, "right"), all) ||
        !pynode_is(left, "identifier") ||
        !span_eq(pynode_text(m->text, pynode_field(whole, "body")), name))
        return false;
    test = ts_node_next_named_sibling(clause);
    return pynode_is(test, "if_clause") &&
           asks_type(m, ts_node_named_child(test, 0), name);
}

bool scan_is_name_char(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

static bool may_start(char c)
{
    return scan_is_name_char(c) && !(c >= '0' && c <= '9');
}

bool scan_annotation(struct scan *s, const struct pymod *m, TSNode n)
{
    struct span text = pynode_text(m->text, n);
    uint32_t start = ts_node_start_byte(n);
    bool call = memchr(text.p, '(', text.n) != NULL;

    for (size_t i = 0; i + 1 < text.n; i++) /* letters by their number */
        if (text.p[i] == '\\' && strchr("xuUN01234567\r\n", text.p[i + 1]))
            return false;
    if (call && (pynode_is(ts_node_parent(n), "concatenated_string") ||
                 memchr(text.p, '{', text.n)))
        return false;
    for (size_t i = 0, k, end; call && i < text.n; i = k + 1) {
        struct literal_attr l = {.called = true, .at = start};

        for (k = i; k < text.n && may_start(text.p[i]) &&
                    (scan_is_name_char(text.p[k]) || text.p[k] == '.');
             k++)
            ;
        for (end = k; end < text.n && strchr(" )", text.p[end]); end++)
            ;
        if (k == i || end == text.n || text.p[end] != '(')
            continue;
        l.dotted = (struct span){text.p + i, k - i};
        array_push(&s->literals, l);
    }
    return true;
}

static bool has_part(struct span text, const char *part)
{
    size_t n = strlen(part);

    for (size_t i = 0; i + n <= text.n; i++)
        if (strncasecmp(text.p + i, part, n) == 0)
            return true;
    return false;
}

/* A name that says whether a package is there: has_apex, HAS_FLASH. As an
 * attribute it says what a model has. */
static bool says_has(struct span text)
{
    for (size_t i = 0; i + 4 <= text.n; i++)
        if (strncasecmp(text.p + i, "has_", 4) == 0 &&
            (i == 0 || strchr(" (_", text.p[i - 1])))
            return true;
    return false;
}

bool scan_is_wish(struct span condition)
{
    static const char *const wishes[] = {
        "pretrained", "weights",    "checkpoint", "ckpt",
        "download",   "_available", "available_", "verbose",
        "debug",      "plot",       "visualize",  "find_spec",
    };
    static const char *const others[] = {
        "not ", "is None", "False", "==", "!=", " or ", "<", ">"};

    if (condition.n == 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (memmem(condition.p, condition.n, others[i], strlen(others[i])) &&
            !memmem(condition.p, condition.n, "is not None", 11))
            return false;
    for (size_t i = 0; i < ARRAY_LEN(wishes); i++)
        if (has_part(condition, wishes[i]))
            return true;
    return says_has(condition);
}

/* Python reads identifiers in normal form NFKC, in which a full-width, raised
 * or mathematical letter is the plain one: the name is another than what stands
 * there. */
bool scan_folds_to_ascii(struct span name)
{
    /* letters and digits whose NFKC has ASCII in it, by block */
    static const struct {
        uint32_t first, last;
    } blocks[] = {
        {0x00aa, 0x00aa},   {0x00ba, 0x00ba},   {0x0132, 0x0133},
        {0x013f, 0x0140},   {0x0149, 0x0149},   {0x017f, 0x017f},
        {0x01c4, 0x01cc},   {0x01f1, 0x01f3},   {0x02b0, 0x02b0},
        {0x02b2, 0x02b3},   {0x02b7, 0x02b8},   {0x02e1, 0x02e3},
        {0x1d2c, 0x1d2c},   {0x1d2e, 0x1d2e},   {0x1d30, 0x1d31},
        {0x1d33, 0x1d3a},   {0x1d3c, 0x1d3c},   {0x1d3e, 0x1d43},
        {0x1d47, 0x1d49},   {0x1d4d, 0x1d4d},   {0x1d4f, 0x1d50},
        {0x1d52, 0x1d52},   {0x1d56, 0x1d58},   {0x1d5b, 0x1d5b},
        {0x1d62, 0x1d65},   {0x1d9c, 0x1d9c},   {0x1da0, 0x1da0},
        {0x1dbb, 0x1dbb},   {0x1e9a, 0x1e9a},   {0x2071, 0x207f},
        {0x2090, 0x2093},   {0x2095, 0x209c},   {0x2102, 0x2102},
        {0x210a, 0x210e},   {0x2110, 0x2115},   {0x2119, 0x2124},
        {0x2128, 0x212a},   {0x212c, 0x212d},   {0x212f, 0x2131},
        {0x2133, 0x2134},   {0x2139, 0x2139},   {0x2145, 0x2149},
        {0x2160, 0x217f},   {0x2c7c, 0x2c7d},   {0xa7f2, 0xa7f4},
        {0xfb00, 0xfb06},   {0xfe33, 0xfe34},   {0xfe4d, 0xfe4f},
        {0xff10, 0xff5a},   {0x107a5, 0x107a5}, {0x1d400, 0x1d6a3},
        {0x1d7ce, 0x1d7ff}, {0x1fbf0, 0x1fbf9},
    };

    for (size_t i = 0; i < name.n;) {
        unsigned char b = (unsigned char)name.p[i++];
        uint32_t c = b < 0xe0 ? b & 0x1f : b < 0xf0 ? b & 0x0f : b & 0x07;

        while (i < name.n && ((unsigned char)name.p[i] & 0xc0) == 0x80)
            c = c << 6 | ((unsigned char)name.p[i++] & 0x3f);
        for (size_t k = 0; b >= 0x80 && k < ARRAY_LEN(blocks); k++)
            if (c >= blocks[k].first && c <= blocks[k].last)
                return true;
    }
    return false;
}

void scan_release(struct scan *s)
{
    for (size_t i = 0; i < s->imports.n; i++)
        array_release(&s->imports.v[i].syms);
    array_release(&s->cuts);
    array_release(&s->blocks);
    array_release(&s->findings);
    array_release(&s->imports);
    array_release(&s->literals);
    array_release(&s->binders);
    array_release(&s->tries);
    array_release(&s->strings);
    array_release(&s->returns);
    array_release(&s->settings);
    free(s->registrars);
}

const struct range *ranges_find(const struct ranges *r, uint32_t at)
{
    size_t lo = 0, hi = r->n;

    while (lo < hi) { /* first range that starts behind AT */
        size_t mid = lo + (hi - lo) / 2;

        if (r->v[mid].start <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > 0 && at < r->v[lo - 1].end ? &r->v[lo - 1] : NULL;
}

int scan_block_at(const struct scan *s, uint32_t offset)
{
    size_t lo = 0, hi = s->blocks.n;

    while (lo < hi) { /* first block that starts behind OFFSET */
        size_t mid = lo + (hi - lo) / 2;

        if (s->blocks.v[mid].start <= offset)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (int b = (int)lo - 1; b >= 0; b = s->blocks.v[b].parent)
        if (offset < s->blocks.v[b].end)
            return b;
    return -1;
}

size_t scan_imports_from(const struct scan *s, uint32_t at)
{
    size_t lo = 0, hi = s->imports.n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (s->imports.v[mid].start < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

int scan_import_at(const struct scan *s, uint32_t start)
{
    size_t lo = scan_imports_from(s, start);

    if (lo < s->imports.n && s->imports.v[lo].start == start)
        return (int)lo;
    return -1;
}

bool scan_is_try(const struct scan *s, uint32_t start)
{
    for (size_t i = 0; i < s->tries.n; i++)
        if (s->tries.v[i] == start)
            return true;
    return false;
}

bool scan_is_settings(const struct scan *s, uint32_t at)
{
    for (size_t i = 0; i < s->settings.n; i++)
        if (s->settings.v[i] == at)
            return true;
    return false;
}
