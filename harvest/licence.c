/* SPDX-License-Identifier: MIT */
/* Licences by the sentences that make them. */
#include "base.h"

#include "harvest/licence_priv.h"

#define MAX_HEADER (8u << 10) /* of a source file */
#define TAG_LINES  40

void licence_words(struct buf *out, struct span s)
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

static bool ends_so(const struct buf *w, size_t n, const char *word)
{
    size_t k = strlen(word);
    return n >= k + 1 && memcmp(w->p + n - k, word, k) == 0 &&
           w->p[n - k - 1] == ' ';
}

/* Is one of LIST among the N words before AT? */
static bool has_before(const struct buf *w, const char *at, int n,
                       const char *const *list, size_t n_list)
{
    size_t end = (size_t)(at - w->p);
    for (; n > 0 && end > 0; n--) {
        for (size_t i = 0; i < n_list; i++)
            if (ends_so(w, end, list[i]))
                return true;
        while (end > 0 && w->p[end - 1] != ' ')
            end--;
        end -= end > 0;
    }
    return false;
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

bool licence_limits(const struct buf *w, bool known)
{
    for (size_t i = 0; i < ARRAY_LEN(limits); i++)
        if (has(w, limits[i]) && !(known && strstr(limits[i], "gnu ")))
            return true;
    return false;
}

struct hits {
    struct {
        const char *spdx, *at;
    } v[16];
    size_t n;
    bool denied; /* "not licensed under" one of them */
};

static const char *const denials[] = {
    "not",  "never",  "longer", "neither", "isnt", "arent",   "wasnt", "nor",
    "dont", "doesnt", "cant",   "cannot",  "wont", "without", "werent"};

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
        h->denied |= has_before(w, at, 3, denials, ARRAY_LEN(denials));
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
    if (h->denied)
        return true;
    for (size_t i = 0; i < h->n; i++)
        if (strstr(h->v[i].spdx, "GPL") || strncmp(h->v[i].spdx, "CC", 2) == 0)
            return false;
    return licence_limits(w, h->n > 0);
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

/* What W, the words of a text, says: as licence_text. */
static int said_by(char spdx[SPDX_MAX], const struct buf *w)
{
    struct hits h = {.n = 0};
    spdx[0] = '\0';
    collect_all(&h, w);
    if (limited(&h, w))
        return 2;
    join(spdx, &h);
    return h.n == 0 ? 0 : spdx[0] ? 1 : 2;
}

int licence_text(char spdx[SPDX_MAX], struct span text)
{
    struct buf w = BUF_INIT(LICENCE_MAX_TEXT + 16);
    text.n = MIN(text.n, LICENCE_MAX_TEXT);
    licence_words(&w, text);
    int said = said_by(spdx, &w);
    buf_release(&w);
    return said;
}

/* ---- source files ---- */

static bool spdx_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' ||
           c == '(' || c == ')' || c == ' ';
}

/* Add the value of an SPDX tag in LINE to SPDX: several hold together. Returns
 * 0 = there is none, 1, 2 = it names no licence or is no expression. */
static int add_tag(char spdx[SPDX_MAX], struct span line)
{
    static const char tag[] = "SPDX-License-Identifier:";
    const char *p =
        line.n ? memmem(line.p, line.n, tag, sizeof(tag) - 1) : NULL;
    char old[SPDX_MAX], one[SPDX_MAX];
    if (!p)
        return 0;
    const char *end = line.p + line.n;
    p += sizeof(tag) - 1;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    size_t n = 0;
    while (p + n < end && spdx_char(p[n]))
        n++;
    bool more = p + n < end && strchr("/,;&|:_", p[n]);
    while (n > 0 && p[n - 1] == ' ')
        n--;
    if (n == 0 && p < end && strchr("\"'", *p))
        return 0; /* code that speaks of the tag */
    if (n == 0 || n >= SPDX_MAX || more)
        return 2;
    memcpy(one, p, n);
    one[n] = '\0';
    if (!licence_is_expression(one))
        return 2;
    if (!spdx[0] || strcmp(spdx, one) == 0) {
        memcpy(spdx, one, n + 1);
        return 1;
    }
    memcpy(old, spdx, SPDX_MAX);
    bool left = strstr(old, " OR ") && old[0] != '(',
         right = strstr(one, " OR ");
    int k = snprintf(spdx, SPDX_MAX, "%s%s%s AND %s%s%s", left ? "(" : "", old,
                     left ? ")" : "", right ? "(" : "", one, right ? ")" : "");
    return k > 0 && k < SPDX_MAX ? 1 : 2;
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
        int said = add_tag(spdx, take_line(&rest));
        *tag |= said != 0;
        if (said == 2) {
            spdx[0] = '\0';
            return 2;
        }
    }
    if (*tag)
        return 1;
    struct buf text = BUF_INIT(MAX_HEADER + 4096), w = BUF_INIT(MAX_HEADER * 2);
    header_text(&text, source);
    licence_words(&w, buf_span(&text));
    int rc = said_by(spdx, &w);
    buf_release(&text);
    buf_release(&w);
    return rc;
}
