/* SPDX-License-Identifier: MIT */
/* Names: of licence files, and of licences in package metadata. */
#include "base.h"

#include "buf.h"
#include "harvest/licence.h"

static bool lower(char out[64], struct span s)
{
    if (s.n >= 64)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        out[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    out[s.n] = '\0';
    return true;
}

static bool cut(struct span *s, const char *end)
{
    if (!span_ends(*s, end))
        return false;
    s->n -= strlen(end);
    return true;
}

/* Cut what S, a name in lower case, ends in; the plainer the higher. */
static int cut_ending(struct span *s)
{
    if (cut(s, ".md"))
        return 3;
    return cut(s, ".txt") ? 2 : cut(s, ".rst") ? 1 : 4;
}

/* What S, a file name in lower case without its ending, says beside the word
 * licence: "mit" of "license-mit" and "mit_license"; n = 0: nothing. */
static struct span qualifier(struct span s)
{
    static const char *const words[] = {"license", "licence"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t n = strlen(words[i]);
        if (s.n < n + 2)
            continue;
        if (span_starts(s, words[i]) && strchr("-_.", s.p[n]))
            return (struct span){s.p + n + 1, s.n - n - 1};
        if (span_ends(s, words[i]) && strchr("-_", s.p[s.n - n - 1]))
            return (struct span){s.p, s.n - n - 1};
    }
    return (struct span){s.p, 0};
}

/* Licences of these say nothing of the code. */
static const char *const other_things[] = {
    "model",   "models",        "weights", "checkpoints", "data",
    "dataset", "docs",          "doc",     "content",     "datasets",
    "fonts",   "documentation", "images",  "assets"};

int licence_file_rank(struct span name)
{
    char text[64];
    if (!lower(text, name))
        return 0;
    struct span s = span_str(text);
    int bonus = cut_ending(&s);
    if (span_is(s, "license") || span_is(s, "licence"))
        return 90 + bonus;
    if (span_is(s, "unlicense") || span_is(s, "license-code"))
        return 80 + bonus;
    if (span_is(s, "copying.lesser") || span_is(s, "license.lesser"))
        return 70 + bonus;
    if (span_is(s, "copying"))
        return 60 + bonus;
    if (span_ends(s, ".py") || span_ends(s, ".html") || span_ends(s, ".json"))
        return 0;
    struct span what = qualifier(s);
    if (what.n > 0)
        return span_in(what, other_things, ARRAY_LEN(other_things)) ? 0
               : what.p > s.p                                       ? 40 + bonus
                              : 30 + bonus;
    return span_is(s, "copyright") ? 10 + bonus : 0;
}

bool licence_is_notice(int rank)
{
    return rank > 10 && rank < 20;
}

static bool is_number(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((s.p[i] < '0' || s.p[i] > '9') && !(i == 0 && s.p[i] == 'v'))
            return false;
    return true;
}

bool licence_names(struct span name, const char *spdx)
{
    static const char *const more[] = {"clause", "only", "or", "later"};
    char text[64], id[64];
    if (!lower(text, name) || !lower(id, span_str(spdx)))
        return false;
    struct span s = span_str(text);
    cut_ending(&s);
    s = qualifier(s);
    id[strcspn(id, "-")] = '\0';
    if (!span_starts(s, id))
        return false;
    s = (struct span){s.p + strlen(id), s.n - strlen(id)};
    while (s.n > 0) {
        size_t n = 0;
        while (n < s.n && !strchr("-_.", s.p[n]))
            n++;
        struct span word = {s.p, n};
        if (!is_number(word) && !span_in(word, more, ARRAY_LEN(more)))
            return false;
        n += n < s.n;
        s = (struct span){s.p + n, s.n - n};
    }
    return true;
}

static const struct {
    const char *name, *spdx;
} names[] = {
    {"mit", "MIT"},
    {"mit license", "MIT"},
    {"the mit license", "MIT"},
    {"apache", "Apache-2.0"},
    {"apache 2.0", "Apache-2.0"},
    {"apache-2.0", "Apache-2.0"},
    {"apache 2", "Apache-2.0"},
    {"apache license 2.0", "Apache-2.0"},
    {"apache license, version 2.0", "Apache-2.0"},
    {"apache 2.0 license", "Apache-2.0"},
    {"apache software license", "Apache-2.0"},
    {"bsd-3-clause", "BSD-3-Clause"},
    {"bsd 3-clause", "BSD-3-Clause"},
    {"bsd 3-clause license", "BSD-3-Clause"},
    {"bsd-2-clause", "BSD-2-Clause"},
    {"isc", "ISC"},
    {"isc license", "ISC"},
    {"mpl-2.0", "MPL-2.0"},
    {"mpl 2.0", "MPL-2.0"},
    {"mozilla public license 2.0 (mpl 2.0)", "MPL-2.0"},
    {"gpl-3.0", "GPL-3.0-only"},
    {"gplv3", "GPL-3.0-only"},
    {"gnu general public license v3 (gplv3)", "GPL-3.0-only"},
    {"gpl-2.0", "GPL-2.0-only"},
    {"gplv2", "GPL-2.0-only"},
    {"gnu general public license v3 or later (gplv3+)", "GPL-3.0-or-later"},
    {"gnu general public license v2 (gplv2)", "GPL-2.0-only"},
    {"gnu general public license v2 or later (gplv2+)", "GPL-2.0-or-later"},
    {"gnu affero general public license v3", "AGPL-3.0-only"},
    {"gnu affero general public license v3 or later (agplv3+)",
     "AGPL-3.0-or-later"},
    {"gnu lesser general public license v3 (lgplv3)", "LGPL-3.0-only"},
    {"gnu lesser general public license v3 or later (lgplv3+)",
     "LGPL-3.0-or-later"},
    {"lgpl-3.0", "LGPL-3.0-only"},
    {"agpl-3.0", "AGPL-3.0-only"},
    {"unlicense", "Unlicense"},
    {"cc0-1.0", "CC0-1.0"},
};

/* The licence that LINE names after KEY: license = "MIT", License: MIT,
 * 'License :: OSI Approved :: MIT License'. */
static bool line_names(char spdx[SPDX_MAX], struct span line)
{
    char text[64];
    static const char osi[] = "License :: OSI Approved :: ";
    const char *end = line.p + line.n;
    const char *p =
        line.n ? memmem(line.p, line.n, osi, sizeof(osi) - 1) : NULL;
    if (p) {
        p += sizeof(osi) - 1;
    } else {
        size_t i = 0;
        while (i < line.n && (line.p[i] == ' ' || line.p[i] == '\t'))
            i++;
        if (line.n - i < 8 || strncasecmp(line.p + i, "license", 7) != 0)
            return false;
        p = line.p + i + 7;
        while (p < end && *p == ' ')
            p++;
        if (p == end || (*p != '=' && *p != ':'))
            return false;
        p++;
        while (p < end && strchr(" \t{\"'", *p))
            p++;
        if (end - p > 4 && strncmp(p, "text", 4) == 0) {
            p += 4;
            while (p < end && strchr(" =\"'", *p))
                p++;
        }
    }
    size_t n = 0;
    while (p + n < end && !strchr("\"'\r}", p[n]))
        n++;
    while (n > 0 && p[n - 1] == ' ')
        n--;
    if (!lower(text, (struct span){p, n}))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(text, names[i].name) == 0) {
            snprintf(spdx, SPDX_MAX, "%s", names[i].spdx);
            return true;
        }
    }
    return false;
}

void licence_metadata(char spdx[SPDX_MAX], struct span text)
{
    char one[SPDX_MAX];
    spdx[0] = '\0';
    text.n = MIN(text.n, (size_t)64 << 10);
    while (text.n > 0) {
        const char *nl = memchr(text.p, '\n', text.n);
        size_t n = nl ? (size_t)(nl - text.p) : text.n;
        if (line_names(one, (struct span){text.p, n})) {
            if (spdx[0] && strcmp(spdx, one) != 0) {
                spdx[0] = '\0'; /* together, or one of them: nobody says */
                return;
            }
            memcpy(spdx, one, SPDX_MAX);
        }
        n += nl != NULL;
        text = (struct span){text.p + n, text.n - n};
    }
}
