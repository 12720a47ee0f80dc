/* SPDX-License-Identifier: MIT */
/* SPDX expressions, and which of them pass. */
#include "base.h"

#include "harvest/licence.h"

static bool listed(const char *const *v, size_t n, struct span id)
{
    for (size_t i = 0; i < n; i++) {
        struct span pat = span_str(v[i]);
        bool wild = span_ends(pat, "*");
        if (wild)
            pat.n--;
        if (id.n >= pat.n && (wild || id.n == pat.n) &&
            strncasecmp(id.p, pat.p, pat.n) == 0)
            return true;
    }
    return false;
}

static bool one_allowed(const struct licence_rules *r, struct span id)
{
    if (listed(r->deny, r->n_deny, id))
        return false;
    return r->n_allow == 0 || listed(r->allow, r->n_allow, id);
}

/*
 * The grammar: OR of ANDs of IDs, each with an exception or not, or of
 * expressions in brackets. Without RULES all ids pass. What does not fit the
 * grammar is `bad`.
 */
struct reader {
    const struct licence_rules *rules;
    const char *at;
    bool bad;
};

static struct span peek(const struct reader *r)
{
    const char *p = r->at + strspn(r->at, " ");
    size_t n = strcspn(p, " ()");
    return (struct span){p, n > 0 ? n : *p != '\0'};
}

static bool take(struct reader *r, const char *word)
{
    struct span s = peek(r);
    if (s.n != strlen(word) || strncasecmp(s.p, word, s.n) != 0)
        return false;
    r->at = s.p + s.n;
    return true;
}

static bool is_operator(struct span s)
{
    static const char *const words[] = {"AND", "OR", "WITH"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (s.n == strlen(words[i]) && strncasecmp(s.p, words[i], s.n) == 0)
            return true;
    return span_is(s, "(") || span_is(s, ")");
}

static struct span take_id(struct reader *r)
{
    struct span s = peek(r);
    r->bad |= s.n == 0 || is_operator(s) || span_is(s, "NONE") ||
              span_is(s, "NOASSERTION");
    r->at = s.p + s.n;
    return s;
}

/* As deep as SPDX_MAX has brackets. */
static bool read_or(struct reader *r, int depth);

static bool read_one(struct reader *r, int depth)
{
    if (take(r, "(")) {
        bool ok = depth < SPDX_MAX && read_or(r, depth + 1);
        r->bad |= !take(r, ")");
        return ok;
    }
    struct span id = take_id(r);
    if (take(r, "WITH"))
        take_id(r); /* exceptions only permit */
    return !r->rules || one_allowed(r->rules, id);
}

static bool read_and(struct reader *r, int depth)
{
    bool ok = read_one(r, depth);
    while (!r->bad && take(r, "AND"))
        ok &= read_one(r, depth);
    return ok;
}

static bool read_or(struct reader *r, int depth)
{
    bool ok = read_and(r, depth);
    while (!r->bad && take(r, "OR"))
        ok |= read_and(r, depth);
    return ok;
}

bool licence_allowed(const struct licence_rules *rules, const char *expr)
{
    struct reader r = {.rules = rules, .at = expr};
    bool ok = read_or(&r, 0);
    return ok && !r.bad && peek(&r).n == 0;
}

bool licence_is_expression(const char *expr)
{
    return licence_allowed(NULL, expr);
}
