/* SPDX-License-Identifier: MIT */
/* Licences by the sentences that make them. */
#include "base.h"

#include "buf.h"
#include "harvest/licence.h"

#define MAX_TEXT   (256u << 10) /* of a licence file that is looked at */
#define MAX_HEADER (8u << 10)   /* of a source file */
#define TAG_LINES  40

/*
 * Words of S in lower case, one blank between them and at both ends: comment
 * marks, quotes, line breaks and punctuation are gone, but for a '.' between
 * digits ("2.0").
 */
static void words(struct buf *out, struct span s)
{
    buf_addc(out, ' ');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        bool digit = c >= '0' && c <= '9';
        bool point = c == '.' && i > 0 && i + 1 < s.n && s.p[i - 1] >= '0' &&
                     s.p[i - 1] <= '9' && s.p[i + 1] >= '0' &&
                     s.p[i + 1] <= '9';
        if (c >= 'A' && c <= 'Z')
            c = (unsigned char)(c + 32);
        if ((c >= 'a' && c <= 'z') || digit || point || c >= 0x80)
            buf_addc(out, (char)c);
        else if (out->p[out->n - 1] != ' ' && c != '\'')
            buf_addc(out, ' ');
    }
    if (out->n > 1 && out->p[out->n - 1] != ' ')
        buf_addc(out, ' ');
}

/* Does W hold the words PHRASE, as whole words? */
static const char *has(const struct buf *w, const char *phrase)
{
    size_t n = strlen(phrase);
    const char *p = w->p, *end = w->p + w->n;
    while ((p = memmem(p, (size_t)(end - p), phrase, n)) != NULL) {
        if (p > w->p && p[-1] == ' ' && p + n < end && p[n] == ' ')
            return p;
        p++;
    }
    return NULL;
}

struct rule {
    const char *spdx;
    const char *all[3]; /* phrases that must be there */
    const char *none;   /* and one that must not */
};

#define MIT_GRANT                                                              \
    "permission is hereby granted free of charge to any person obtaining a "   \
    "copy of this software"
#define MIT_KEEP "the above copyright notice and this permission notice"
#define BSD_GRANT                                                              \
    "redistribution and use in source and binary forms with or without "       \
    "modification are permitted"
#define BSD_NAME   "endorse or promote products derived from this software"
#define BSD_PATENT "no express or implied licenses to any party s patent"
#define BSD_ADVERT "all advertising materials mentioning features"
#define ISC_GRANT                                                              \
    "permission to use copy modify and or distribute this software for any "   \
    "purpose with or without fee is hereby granted"
#define ISC_GRANT2                                                             \
    "permission to use copy modify and distribute this software for any "      \
    "purpose with or without fee is hereby granted"
#define ISC_KEEP "provided that the above copyright notice"

/* Texts. The first phrase gives the place, by which several are ordered. */
static const struct rule texts[] = {
    {"MIT", {MIT_GRANT, MIT_KEEP}, NULL},
    {"MIT-0", {MIT_GRANT}, MIT_KEEP},
    {"Apache-2.0",
     {"apache license version 2.0",
      "terms and conditions for use reproduction and distribution"},
     NULL},
    {"BSD-4-Clause", {BSD_GRANT, BSD_ADVERT}, NULL},
    {"BSD-3-Clause-Clear", {BSD_GRANT, BSD_NAME, "patent rights"}, BSD_ADVERT},
    {"BSD-3-Clause", {BSD_GRANT, BSD_NAME}, "patent rights"},
    {"BSD-2-Clause", {BSD_GRANT}, BSD_NAME},
    {"ISC", {ISC_GRANT, ISC_KEEP}, NULL},
    {"ISC", {ISC_GRANT2, ISC_KEEP}, NULL},
    {"0BSD", {ISC_GRANT}, ISC_KEEP},
    {"GPL-3.0-only",
     {"gnu general public license version 3 29 june 2007"},
     NULL},
    {"GPL-2.0-only", {"gnu general public license version 2 june 1991"}, NULL},
    {"LGPL-3.0-only",
     {"gnu lesser general public license version 3 29 june 2007"},
     NULL},
    {"LGPL-2.1-only",
     {"gnu lesser general public license version 2.1 february 1999"},
     NULL},
    {"AGPL-3.0-only",
     {"gnu affero general public license version 3 19 november 2007"},
     NULL},
    {"MPL-2.0", {"mozilla public license version 2.0"}, NULL},
    {"EPL-2.0", {"eclipse public license v 2.0"}, NULL},
    {"Unlicense",
     {"this is free and unencumbered software released into the public "
      "domain"},
     NULL},
    {"CC0-1.0", {"cc0 1.0 universal"}, NULL},
    {"CC-BY-4.0", {"attribution 4.0 international"}, NULL},
    {"CC-BY-SA-4.0", {"attribution sharealike 4.0 international"}, NULL},
    {"CC-BY-NC-4.0", {"attribution noncommercial 4.0 international"}, NULL},
    {"CC-BY-NC-SA-4.0",
     {"attribution noncommercial sharealike 4.0 international"},
     NULL},
    {"CC-BY-NC-ND-4.0",
     {"attribution noncommercial noderivatives 4.0 international"},
     NULL},
    {"Zlib",
     {"in no event will the authors be held liable for any damages arising "
      "from the use of this software",
      "altered source versions must be plainly marked as such"},
     NULL},
    {"BSL-1.0", {"boost software license version 1.0"}, NULL},
    {"WTFPL", {"do what the fuck you want to public license"}, NULL},
    {"MulanPSL-2.0", {"mulan permissive software license version 2"}, NULL},
    {"Artistic-2.0", {"the artistic license 2.0"}, NULL},
};

/* Notices at the top of a source file. */
static const struct rule notices[] = {
    {"Apache-2.0", {"licensed under the apache license version 2.0"}, NULL},
    {"Apache-2.0", {"under the apache 2.0 license"}, NULL},
    {"Apache-2.0", {"under apache license 2.0"}, NULL},
    {"MIT", {"licensed under the mit license"}, NULL},
    {"MIT", {"released under the mit license"}, NULL},
    {"MIT", {"distributed under the mit license"}, NULL},
    {"MIT", {"licensed under mit license"}, NULL},
    {"BSD-3-Clause", {"under the bsd 3 clause license"}, NULL},
    {"BSD-2-Clause", {"under the bsd 2 clause license"}, NULL},
    {"GPL-3.0-or-later",
     {"gnu general public license as published by the free software "
      "foundation",
      "either version 3 of the license or at your option any later version"},
     NULL},
    {"GPL-2.0-or-later",
     {"gnu general public license as published by the free software "
      "foundation",
      "either version 2 of the license or at your option any later version"},
     NULL},
    {"GPL-3.0-only", {"under the gnu general public license v3"}, NULL},
    {"GPL-2.0-only", {"under the gnu general public license v2"}, NULL},
    {"MPL-2.0", {"mozilla public license v 2.0"}, NULL},
};

/* Words that limit the use, or send one elsewhere for the terms. */
static const char *const limits[] = {
    "non commercial",
    "noncommercial",
    "commons clause",
    "research purposes only",
    "research use only",
    "academic use only",
    "academic purposes only",
    "community license agreement",
    "nvidia source code license",
    "openrail",
    "responsible ai",
    "acceptable use policy",
    "without an express license agreement",
    "commercial use is prohibited",
    "not for commercial use",
    "cc by nc",
    "cc by nc sa",
    "gnu general public license",
    "gnu affero general public license",
    "gnu lesser general public license",
};

struct hits {
    struct {
        const char *spdx, *at;
    } v[16];
    size_t n;
};

static void collect(struct hits *h, const struct buf *w,
                    const struct rule *rules, size_t n_rules)
{
    for (size_t i = 0; i < n_rules; i++) {
        const struct rule *r = &rules[i];
        const char *at = has(w, r->all[0]);
        bool ok = at && (!r->none || !has(w, r->none));
        for (size_t k = 1; ok && k < ARRAY_LEN(r->all) && r->all[k]; k++)
            ok = has(w, r->all[k]) != NULL;
        for (size_t k = 0; ok && k < h->n; k++)
            ok = strcmp(h->v[k].spdx, r->spdx) != 0;
        if (!ok || h->n == ARRAY_LEN(h->v))
            continue;
        size_t k = h->n++;
        for (; k > 0 && h->v[k - 1].at > at; k--)
            h->v[k] = h->v[k - 1];
        h->v[k].spdx = r->spdx;
        h->v[k].at = at;
    }
}

/* Texts, and notices beside them: a file under one licence that holds code
 * under another says both. The GPLs end with the notice that is to be used. */
static void collect_all(struct hits *h, const struct buf *w)
{
    collect(h, w, texts, ARRAY_LEN(texts));
    for (size_t i = 0; i < h->n; i++)
        if (strstr(h->v[i].spdx, "GPL"))
            return;
    collect(h, w, notices, ARRAY_LEN(notices));
}

/* Copyleft and Creative Commons texts speak of non-commercial use without
 * meaning to limit it, or have it in their id. */
static bool limited(const struct hits *h, const struct buf *w)
{
    for (size_t i = 0; i < h->n; i++)
        if (strstr(h->v[i].spdx, "GPL") || strncmp(h->v[i].spdx, "CC", 2) == 0)
            return false;
    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        /* The GPLs stand last in the list; other licences name them when they
         * say what they are compatible with. */
        if (has(w, limits[i]) && (h->n == 0 || !strstr(limits[i], "gnu ")))
            return true;
    return false;
}

static void join(char spdx[SPDX_MAX], const struct hits *h)
{
    size_t n = 0;
    spdx[0] = '\0';
    for (size_t i = 0; i < h->n; i++) {
        int k = snprintf(spdx + n, SPDX_MAX - n, "%s%s", i ? " AND " : "",
                         h->v[i].spdx);
        if (k < 0 || (size_t)k >= SPDX_MAX - n) {
            spdx[0] = '\0'; /* no half answers */
            return;
        }
        n += (size_t)k;
    }
}

void licence_text(char spdx[SPDX_MAX], struct span text)
{
    struct buf w = BUF_INIT(MAX_TEXT + 16);
    struct hits h = {.n = 0};
    text.n = MIN(text.n, MAX_TEXT);
    words(&w, text);
    collect_all(&h, &w);
    if (limited(&h, &w))
        h.n = 0;
    join(spdx, &h);
    buf_release(&w);
}

/* What a README says of a licence, when nothing else does. */
static const struct rule claims[] = {
    {"MIT", {"available under the mit license"}, NULL},
    {"MIT", {"released under mit license"}, NULL},
    {"MIT", {"distributed under mit license"}, NULL},
    {"MIT", {"is mit licensed"}, NULL},
    {"MIT", {"is under the mit license"}, NULL},
    {"MIT", {"license mit license"}, NULL},
    {"Apache-2.0", {"under the apache license version 2.0"}, NULL},
    {"Apache-2.0", {"is apache 2.0 licensed"}, NULL},
    {"BSD-3-Clause", {"under the 3 clause bsd license"}, NULL},
    {"BSD-3-Clause", {"under a bsd 3 clause license"}, NULL},
};

void licence_readme(char spdx[SPDX_MAX], struct span text)
{
    struct buf w = BUF_INIT(MAX_TEXT + 16);
    struct hits h = {.n = 0};
    spdx[0] = '\0';
    text.n = MIN(text.n, MAX_TEXT);
    words(&w, text);
    collect(&h, &w, notices, ARRAY_LEN(notices));
    collect(&h, &w, claims, ARRAY_LEN(claims));
    /* Of two, one is that of a part, or of something else. */
    if (h.n == 1 && !limited(&h, &w))
        join(spdx, &h);
    buf_release(&w);
}

/* ---- source files ---- */

static bool spdx_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' ||
           c == '(' || c == ')' || c == ' ';
}

/* Value of an SPDX tag in LINE; false when there is none. */
static bool tag_value(char spdx[SPDX_MAX], struct span line)
{
    static const char tag[] = "SPDX-License-Identifier:";
    const char *p =
        line.n ? memmem(line.p, line.n, tag, sizeof(tag) - 1) : NULL;
    if (!p)
        return false;
    const char *end = line.p + line.n;
    p += sizeof(tag) - 1;
    while (p < end && *p == ' ')
        p++;
    size_t n = 0;
    while (p + n < end && spdx_char(p[n]))
        n++;
    while (n > 0 && p[n - 1] == ' ')
        n--;
    if (n == 0 || n >= SPDX_MAX)
        return false;
    memcpy(spdx, p, n);
    spdx[n] = '\0';
    return true;
}

static struct span take_line(struct span *rest)
{
    const char *nl = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
    size_t n = nl ? (size_t)(nl - rest->p) : rest->n;
    struct span line = {rest->p, n};
    n += nl != NULL;
    *rest = (struct span){rest->p + n, rest->n - n};
    return line;
}

/* Leading comments and docstring of SOURCE. */
static void header_text(struct buf *out, struct span source)
{
    struct span rest = source;
    const char *quote = NULL;
    while (rest.n > 0 && out->n < MAX_HEADER) {
        struct span line = take_line(&rest);
        size_t i = 0;
        while (i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'))
            i++;
        struct span s = {line.p + i, line.n - i};
        if (!quote) {
            if (s.n > 1 && (s.p[0] == 'r' || s.p[0] == 'R'))
                s = (struct span){s.p + 1, s.n - 1};
            quote = span_starts(s, "\"\"\"") ? "\"\"\""
                    : span_starts(s, "'''")  ? "'''"
                                             : NULL;
            if (!quote && s.n > 0 && s.p[0] != '#')
                return;
            if (quote)
                s = (struct span){s.p + 3, s.n - 3};
        }
        if (buf_addspan(out, s) != 0 || buf_addc(out, '\n') != 0)
            return;
        if (quote && s.n > 0 && memmem(s.p, s.n, quote, 3))
            quote = NULL;
    }
}

int licence_header(char spdx[SPDX_MAX], bool *tag, struct span source)
{
    struct span rest = source;
    spdx[0] = '\0';
    *tag = false;
    for (int i = 0; i < TAG_LINES && rest.n > 0; i++) {
        if (tag_value(spdx, take_line(&rest))) {
            *tag = true;
            return 1;
        }
    }
    struct buf text = BUF_INIT(MAX_HEADER + 4096), w = BUF_INIT(MAX_HEADER * 2);
    struct hits h = {.n = 0};
    header_text(&text, source);
    words(&w, buf_span(&text));
    collect_all(&h, &w);
    int rc = limited(&h, &w) ? 2 : h.n > 0;
    if (rc == 1)
        join(spdx, &h);
    buf_release(&text);
    buf_release(&w);
    return rc;
}

/* ---- rules ---- */

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

bool licence_allowed(const struct licence_rules *rules, const char *expr)
{
    /* OR binds weaker than AND; brackets only group what AND joins anyway, so
     * an expression with both operators and brackets is read strictly: all of
     * it must be allowed. */
    bool strict = strpbrk(expr, "()") && strstr(expr, " AND ");
    bool any = false, all = true, some = false;
    const char *p = expr;
    while (*p) {
        size_t skip = strspn(p, " ()"), n = strcspn(p + skip, " ()");
        struct span word = {p + skip, n};
        p += skip + n;
        if (n == 0)
            break;
        if (span_is(word, "OR")) {
            if (!strict) {
                any |= all;
                all = true;
            }
        } else if (span_is(word, "WITH")) {
            skip = strspn(p, " ()");
            p += skip + strcspn(p + skip, " ()"); /* exceptions only permit */
        } else if (!span_is(word, "AND")) {
            all = all && one_allowed(rules, word);
            some = true;
        }
    }
    return some && (any || all);
}
