/* SPDX-License-Identifier: MIT */
/*
 * What a README says of its project's own licence: in a section on licences, in
 * a sentence about the project, in a badge. A README names many other projects
 * with their licences, so before the licence's name a sentence may hold but the
 * words listed here.
 */
#include "base.h"

#include "harvest/licence_priv.h"

/* Names as words; of two that fit the longer is meant. */
static const struct {
    const char *name, *spdx;
} names[] = {
    {"mit", "MIT"},
    {"mit license", "MIT"},
    {"mit licence", "MIT"},
    {"mit licensed", "MIT"},
    {"choosealicense com licenses mit", "MIT"},
    {"opensource org licenses mit", "MIT"},
    {"apache 2", "Apache-2.0"},
    {"apache 2.0", "Apache-2.0"},
    {"apache2", "Apache-2.0"},
    {"apache v2", "Apache-2.0"},
    {"apache v2.0", "Apache-2.0"},
    {"apache version 2.0", "Apache-2.0"},
    {"apache license 2.0", "Apache-2.0"},
    {"apache license v2.0", "Apache-2.0"},
    {"apache license version 2.0", "Apache-2.0"},
    {"apache software license 2.0", "Apache-2.0"},
    {"bsd 3 clause", "BSD-3-Clause"},
    {"3 clause bsd", "BSD-3-Clause"},
    {"bsd 2 clause", "BSD-2-Clause"},
    {"2 clause bsd", "BSD-2-Clause"},
    {"isc license", "ISC"},
    {"mpl 2.0", "MPL-2.0"},
    {"mozilla public license 2.0", "MPL-2.0"},
    {"mozilla public license version 2.0", "MPL-2.0"},
    {"unlicense", "Unlicense"},
    {"cc0 1.0", "CC0-1.0"},
    {"cc by 4.0", "CC-BY-4.0"},
    {"cc by sa 4.0", "CC-BY-SA-4.0"},
    {"gpl 3.0", "GPL-3.0-only"},
    {"gpl v3", "GPL-3.0-only"},
    {"gplv3", "GPL-3.0-only"},
    {"gnu general public license v3", "GPL-3.0-only"},
    {"gnu general public license v3.0", "GPL-3.0-only"},
    {"gnu general public license version 3", "GPL-3.0-only"},
    {"gpl 2.0", "GPL-2.0-only"},
    {"gpl v2", "GPL-2.0-only"},
    {"gplv2", "GPL-2.0-only"},
    {"gnu general public license v2", "GPL-2.0-only"},
    {"lgpl 3.0", "LGPL-3.0-only"},
    {"lgplv3", "LGPL-3.0-only"},
    {"lgpl 2.1", "LGPL-2.1-only"},
    {"agpl 3.0", "AGPL-3.0-only"},
    {"agplv3", "AGPL-3.0-only"},
    {"gnu affero general public license v3", "AGPL-3.0-only"},
    {"gnu affero general public license v3.0", "AGPL-3.0-only"},
};

/* What the project is called, and what else may stand before the name. */
static const char *const own[] = {
    "project",   "repository", "repo",           "code",    "codebase",
    "software",  "package",    "library",        "program", "toolkit",
    "framework", "work",       "implementation", "tool"};
static const char *const fillers[] = {
    "is",       "are",       "has",         "been",       "released",
    "licensed", "available", "distributed", "published",  "provided",
    "made",     "open",      "sourced",     "source",     "license",
    "licence",  "licenses",  "licensing",   "under",      "the",
    "terms",    "of",        "and",         "conditions", "a",
    "an",       "all",       "our",         "we",         "release",
    "it",       "its",       "this",        "in",         "permissive",
    "free",     "freely",    "entire",      "whole",      "contents",
    "content",  "here",      "governed",    "by",         "covered",
    "subject",  "to",        "http",        "https",      "everything",
    "on",       "using",     "standard",    "s"};
/* Things beside the code that have licences, in headings and subjects. */
static const char *const things[] = {
    "model",        "models",      "data",  "dataset",  "datasets",
    "weights",      "checkpoint",  "third", "party",    "dependencies",
    "dependency",   "contributor", "other", "upstream", "pretrained",
    "checkpoints",  "documents",   "docs",  "images",   "files",
    "documentation"};
static const char *const doubts[] = {"except", "unless", "excluding", "not",
                                     "but",    "dual",   "either"};
/* What may follow "MIT", which is also a university. */
static const char *const after_mit[] = {"https", "http", "see", "check", "for"};

struct readme {
    char spdx[SPDX_MAX]; /* the one that was claimed, "" = none yet */
    bool doubt;          /* another one, or with exceptions */
    int section;         /* level of the heading on licences, 0 = outside */
    bool aside;          /* below it, under a heading on other things */
    bool first;          /* no sentence of the section was read */
    bool list;           /* the paragraph is an item of a list */
    bool any_heading;
    struct buf title; /* words of the first heading, up to a ':' or so */
    struct buf para;  /* the paragraph so far */
    struct buf w;     /* words of the sentence */
};

/* The word at P, which ends with the next blank. */
static struct span word_at(const char *p)
{
    return (struct span){p, strcspn(p, " ")};
}

#define WORD_IN(w, list) span_in(w, list, ARRAY_LEN(list))

/* Licence whose name begins at P; *N = bytes of it. NULL = none. */
static const char *name_at(const char *p, size_t *n)
{
    const char *spdx = NULL;
    *n = 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        size_t len = strlen(names[i].name);
        if (len > *n && strncmp(p, names[i].name, len) == 0 && p[len] == ' ') {
            *n = len;
            spdx = names[i].spdx;
        }
    }
    if (spdx && *n == strlen("mit") && p[*n + 1] &&
        !WORD_IN(word_at(p + *n + 1), after_mit))
        return NULL;
    return spdx;
}

static void claim(struct readme *r, const char *spdx)
{
    if (r->spdx[0] && strcmp(r->spdx, spdx) != 0)
        r->doubt = true;
    snprintf(r->spdx, SPDX_MAX, "%s", spdx);
}

static bool any_word(const char *p, const char *const *list, size_t n)
{
    for (; *p; p += strcspn(p, " "), p += *p == ' ')
        if (span_in(word_at(p), list, n))
            return true;
    return false;
}

/* Past "NAME is " at the start of a section: the project, by whatever name it
 * goes; P where there is no such thing. */
static const char *skip_subject(const char *p)
{
    const char *q = p;
    for (int i = 0; i < 4 && *q; i++) {
        struct span w = word_at(q);
        if (i > 0 && (span_is(w, "is") || span_is(w, "are")))
            return q;
        if (WORD_IN(w, things))
            return p;
        q = w.p + w.n + (w.p[w.n] == ' ');
    }
    return p;
}

/* What the words R->w say. */
static void read_words(struct readme *r)
{
    static const char *const starts[] = {"license", "licence"};
    bool inside = r->section > 0 && !r->aside, mine = inside;
    const char *p = r->w.p + 1, *spdx = NULL;
    size_t n = 0;
    if (r->w.n < 2 || (r->list && !inside))
        return;
    if (r->title.n > 2 && strncmp(r->w.p, r->title.p, r->title.n) == 0) {
        p = r->w.p + r->title.n;
        mine = true;
    } else if (inside && r->first) {
        p = skip_subject(p);
    }
    mine |= WORD_IN(word_at(p), starts);
    r->first = false;
    bool fits = true;
    for (; *p && !(spdx = name_at(p, &n)); p += strcspn(p, " ") + 1) {
        struct span w = word_at(p);
        mine |= WORD_IN(w, own);
        fits &= WORD_IN(w, own) || WORD_IN(w, fillers);
    }
    if (!spdx || !mine || (!fits && !inside))
        return;
    /* In a section on licences one that is another's, or a part's, leaves it
     * open which is whose. */
    if (fits)
        claim(r, spdx);
    else
        r->doubt = true;
    for (p += n + 1; *p; p += strcspn(p, " ") + 1)
        if ((spdx = name_at(p, &n)) != NULL)
            claim(r, spdx);
    r->doubt |= any_word(r->w.p + 1, doubts, ARRAY_LEN(doubts));
}

/* Words of S without what stands in <>. */
static void plain_words(struct buf *out, struct span s)
{
    struct buf text = BUF_INIT(LICENCE_MAX_TEXT);
    bool tag = false;
    for (size_t i = 0; i < s.n; i++) {
        tag |=
            s.p[i] == '<' && i + 1 < s.n && strchr("/abcdefhipsu", s.p[i + 1]);
        if (!tag)
            buf_addc(&text, s.p[i]);
        tag &= s.p[i] != '>';
    }
    buf_clear(out);
    licence_words(out, buf_span(&text));
    buf_release(&text);
}

/* Read the sentences of the paragraph. */
static void end_paragraph(struct readme *r)
{
    struct span s = buf_span(&r->para);
    size_t from = 0;
    for (size_t i = 0; i < s.n; i++) {
        bool last = i + 1 == s.n;
        if (!last && !(strchr(".!?;", s.p[i]) && s.p[i + 1] == ' '))
            continue;
        plain_words(&r->w, (struct span){s.p + from, i + 1 - from});
        read_words(r);
        from = i + 1;
    }
    buf_clear(&r->para);
    r->list = false;
}

/* A heading of LEVEL, 1 = the highest. */
static void read_heading(struct readme *r, struct span text, int level)
{
    static const char *const subjects[] = {"license", "licence", "licenses",
                                           "licences", "licensing"};
    end_paragraph(r);
    if (!r->any_heading) {
        size_t n = 0;
        while (n < text.n && !strchr(":|(", text.p[n]) &&
               !span_starts((struct span){text.p + n, text.n - n}, " - "))
            n++;
        plain_words(&r->title, (struct span){text.p, n});
        r->any_heading = true;
    }
    plain_words(&r->w, text);
    bool other = any_word(r->w.p + 1, things, ARRAY_LEN(things));
    if (r->section > 0 && level > r->section) {
        r->aside = other;
    } else {
        bool on = any_word(r->w.p + 1, subjects, ARRAY_LEN(subjects));
        r->section = on && !other ? level : 0;
        r->aside = false;
    }
    if (r->section > 0 && !r->aside)
        read_words(r); /* "MIT License" */
    r->first = true;
}

/* ---- badges ---- */

/* Past one part of a badge's path, as its words into OUT: '-' ends it, "--" is
 * one, '_' and "%20" are blanks. */
static struct span badge_part(struct span s, struct buf *out)
{
    struct buf text = BUF_INIT(256);
    size_t i = 0;
    while (i < s.n && !strchr(" ?)\"'/", s.p[i])) {
        struct span rest = {s.p + i, s.n - i};
        bool dash = span_starts(rest, "--");
        if (s.p[i] == '-' && !dash)
            break;
        bool blank = span_starts(rest, "%20");
        buf_addc(&text, blank || s.p[i] == '_' ? ' ' : s.p[i]);
        i += blank ? 3 : dash ? 2 : 1;
    }
    buf_clear(out);
    licence_words(out, buf_span(&text));
    buf_release(&text);
    i += i < s.n && s.p[i] == '-';
    return (struct span){s.p + i, s.n - i};
}

static void read_badges(struct readme *r, struct span line)
{
    static const char place[] = "img.shields.io/badge/";
    const char *at;
    while (line.n > 0 &&
           (at = memmem(line.p, line.n, place, strlen(place))) != NULL) {
        at += strlen(place);
        line = (struct span){at, (size_t)(line.p + line.n - at)};
        line = badge_part(line, &r->w);
        struct span label = buf_span(&r->w);
        if (!span_is(label, " license ") && !span_is(label, " licence ") &&
            !span_is(label, " code license "))
            continue;
        size_t n;
        line = badge_part(line, &r->w);
        const char *spdx = r->w.n > 1 ? name_at(r->w.p + 1, &n) : NULL;
        if (spdx && n + 2 == r->w.n)
            claim(r, spdx);
    }
}

/* ---- lines ---- */

static struct span take_line(struct span *rest)
{
    const char *nl = memchr(rest->p, '\n', rest->n);
    size_t n = nl ? (size_t)(nl - rest->p) : rest->n;
    struct span line = {rest->p, n};
    n += nl != NULL;
    *rest = (struct span){rest->p + n, rest->n - n};
    while (line.n > 0 && strchr(" \t\r", line.p[line.n - 1]))
        line.n--;
    return line;
}

/* Level of the heading that this line underlines, 0 = it does not. */
static int underlines(struct span s)
{
    if (s.n < 3 || !strchr("=-~^*", s.p[0]))
        return 0;
    for (size_t i = 1; i < s.n; i++)
        if (s.p[i] != s.p[0])
            return 0;
    return s.p[0] == '=' ? 1 : s.p[0] == '-' ? 2 : 3;
}

/* Level of the heading that S is by itself; TEXT receives its text. */
static int heads(struct span s, struct span *text)
{
    size_t n = 0;
    while (n < s.n && s.p[n] == '#')
        n++;
    *text = (struct span){s.p + n, s.n - n};
    if (n > 0)
        return (int)MIN(n, (size_t)6);
    if (s.n > 3 && strncasecmp(s.p, "<h", 2) == 0 && s.p[2] > '0' &&
        s.p[2] < '7')
        return s.p[2] - '0';
    return s.n > 4 && span_starts(s, "**") && span_ends(s, "**") ? 6 : 0;
}

static void read_line(struct readme *r, struct span line, struct span next)
{
    struct span s = line, text;
    while (s.n > 0 && strchr(" \t>", s.p[0]))
        s = (struct span){s.p + 1, s.n - 1};
    read_badges(r, s);
    int level = heads(s, &text);
    if (level == 0 && r->para.n == 0)
        level = s.n > 0 && !underlines(s) ? underlines(next) : 0;
    if (level > 0) {
        read_heading(r, text, level);
        return;
    }
    bool item = s.n > 1 && strchr("-*+", s.p[0]) && s.p[1] == ' ';
    if (s.n == 0 || item || s.p[0] == '|' || underlines(s))
        end_paragraph(r);
    if (s.n == 0 || s.p[0] == '|' || underlines(s))
        return;
    r->list |= item;
    buf_addspan(&r->para, s);
    buf_addc(&r->para, ' ');
}

static void read_lines(struct readme *r, struct span text)
{
    struct span rest = text;
    bool code = false, front = false;
    for (size_t i = 0; rest.n > 0; i++) {
        struct span line = take_line(&rest), after = rest;
        struct span next = rest.n > 0 ? take_line(&after) : rest;
        if (span_is(line, "---") && (i == 0 || front)) {
            front = i == 0; /* "license: mit" among what GitHub hides */
            continue;
        }
        bool fence = span_starts(line, "```") || span_starts(line, "~~~");
        code ^= fence;
        if (code || fence)
            continue;
        read_line(r, line, front ? (struct span){line.p, 0} : next);
        if (front)
            end_paragraph(r);
    }
    end_paragraph(r);
}

void licence_readme(char spdx[SPDX_MAX], struct span text)
{
    struct readme r = {.section = 0};
    struct buf all = BUF_INIT(LICENCE_MAX_TEXT + 16);
    text.n = MIN(text.n, LICENCE_MAX_TEXT);
    buf_init(&r.title, LICENCE_MAX_TEXT + 16);
    buf_init(&r.para, LICENCE_MAX_TEXT + 16);
    buf_init(&r.w, LICENCE_MAX_TEXT + 16);
    read_lines(&r, text);
    licence_words(&all, text);
    bool copyleft =
        strstr(r.spdx, "GPL") || span_starts(span_str(r.spdx), "CC");
    bool limits = !copyleft && licence_limits(&all, true);
    snprintf(spdx, SPDX_MAX, "%s", r.doubt || limits ? "" : r.spdx);
    buf_release(&all);
    buf_release(&r.title);
    buf_release(&r.para);
    buf_release(&r.w);
}
