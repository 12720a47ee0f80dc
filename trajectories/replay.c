/* SPDX-License-Identifier: MIT */
/*
 * Applies stored replies: SEARCH/REPLACE blocks line by line, or the first
 * fenced block as the whole program. No regular expressions: the patterns in
 * question are four fixed texts.
 */
#include "base.h"

#include "array.h"
#include "trajectories/replay.h"

/* Bounds on hostile input; real replies need a thousandth of them. */
#define MAX_LINES 2000000u
#define MAX_WORK  (400u * 1000 * 1000)

static const char OPEN[] = "<<<<<<< SEARCH\n";
static const char MIDDLE[] = "=======\n";
static const char CLOSE[] = ">>>>>>> REPLACE";

typedef ARRAY(struct span) lines_t;

struct block {
    struct span search, replace;
};

/* Length of the white space that ends (or, FRONT, starts) S: 0 = none. */
static size_t space_at(struct span s, bool front)
{
    static const char *const wide[] = {
        "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\xa8",
        "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80",
    };
    if (s.n == 0)
        return 0;
    unsigned char c = (unsigned char)(front ? s.p[0] : s.p[s.n - 1]);
    if (c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31))
        return 1;
    if (c < 0x80)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(wide); i++)
        if (front ? span_starts(s, wide[i]) : span_ends(s, wide[i]))
            return strlen(wide[i]);
    /* U+2000 to U+200A */
    if (s.n >= 3) {
        const unsigned char *p =
            (const unsigned char *)(front ? s.p : s.p + s.n - 3);
        if (p[0] == 0xe2 && p[1] == 0x80 && p[2] >= 0x80 && p[2] <= 0x8a)
            return 3;
    }
    return 0;
}

struct span replay_rstrip(struct span s)
{
    for (size_t n; (n = space_at(s, false)) > 0;)
        s.n -= n;
    return s;
}

struct span replay_strip(struct span s)
{
    for (size_t n; (n = space_at(s, true)) > 0;) {
        s.p += n;
        s.n -= n;
    }
    return replay_rstrip(s);
}

static const char *find(struct span s, const char *needle)
{
    return s.n ? memmem(s.p, s.n, needle, strlen(needle)) : NULL;
}

static struct span after(struct span s, const char *p)
{
    return (struct span){p, (size_t)(s.p + s.n - p)};
}

/* Next block of REPLY, which then starts behind it. Each part ends at the
 * first following mark, as a non-greedy pattern does. */
static bool next_block(struct span *reply, struct block *out)
{
    const char *open = find(*reply, OPEN);
    if (!open)
        return false;
    struct span rest = after(*reply, open + sizeof(OPEN) - 1);
    const char *middle = find(rest, MIDDLE);
    if (!middle)
        return false;
    out->search = (struct span){rest.p, (size_t)(middle - rest.p)};
    rest = after(rest, middle + sizeof(MIDDLE) - 1);
    const char *close = find(rest, CLOSE);
    if (!close)
        return false;
    out->replace = (struct span){rest.p, (size_t)(close - rest.p)};
    *reply = after(rest, close + sizeof(CLOSE) - 1);
    out->search = replay_rstrip(out->search);
    out->replace = replay_rstrip(out->replace);
    return true;
}

bool replay_is_diff(struct span reply)
{
    struct block b;
    return next_block(&reply, &b);
}

static bool split(lines_t *out, struct span s)
{
    out->n = 0;
    for (;;) {
        if (out->n >= MAX_LINES)
            return false;
        const char *nl = s.n ? memchr(s.p, '\n', s.n) : NULL;
        struct span line = {s.p, nl ? (size_t)(nl - s.p) : s.n};
        array_push(out, line);
        if (!nl)
            return true;
        s = after(s, nl + 1);
    }
}

/* First place of NEEDLE in HAY, -1 = none, -2 = too much work. LOOSE ignores
 * white space at line ends. */
static long find_lines(const lines_t *hay, const lines_t *needle, bool loose,
                       size_t *work)
{
    for (size_t i = 0; i + needle->n <= hay->n; i++) {
        size_t k = 0;
        for (; k < needle->n; k++) {
            struct span a = hay->v[i + k], b = needle->v[k];
            *work += 1 + (a.n == b.n || loose ? MIN(a.n, b.n) / 32 : 0);
            if (*work > MAX_WORK)
                return -2;
            if (loose) {
                a = replay_rstrip(a);
                b = replay_rstrip(b);
            }
            if (!span_eq(a, b))
                break;
        }
        if (k == needle->n)
            return (long)i;
    }
    return -1;
}

static void splice(lines_t *lines, size_t at, size_t drop, const lines_t *in)
{
    size_t tail = lines->n - at - drop;
    array_reserve(lines, lines->n - drop + in->n);
    memmove(lines->v + at + in->n, lines->v + at + drop,
            tail * sizeof(*lines->v));
    memcpy(lines->v + at, in->v, in->n * sizeof(*lines->v));
    lines->n = at + in->n + tail;
}

/* Do LINES joined by line feeds equal TEXT? */
static bool joined_equals(const lines_t *lines, struct span text)
{
    size_t at = 0;
    for (size_t i = 0; i < lines->n; i++) {
        struct span l = lines->v[i];
        if (i > 0) {
            if (at >= text.n || text.p[at] != '\n')
                return false;
            at++;
        }
        if (l.n > text.n - at || (l.n && memcmp(text.p + at, l.p, l.n)))
            return false;
        at += l.n;
    }
    return at == text.n;
}

/* Blocks in order, each at its first match; one without a match is skipped,
 * as the search program does without a word. LOOSE: when the exact text is
 * absent, white space at line ends is ignored (newer versions). */
static enum replay check_diff(struct span parent, struct span reply,
                              struct span child, bool loose)
{
    lines_t lines = {0}, search = {0}, replace = {0};
    enum replay r = REPLAY_TOO_LARGE;
    size_t work = 0;
    struct block b;
    if (!split(&lines, parent))
        goto out;
    while (next_block(&reply, &b)) {
        if (!split(&search, b.search) || !split(&replace, b.replace))
            goto out;
        long at = find_lines(&lines, &search, false, &work);
        if (at == -1 && loose)
            at = find_lines(&lines, &search, true, &work);
        if (at == -2)
            goto out;
        if (at == -1)
            continue;
        work += lines.n / 8 + replace.n;
        if (work > MAX_WORK || lines.n + replace.n > MAX_LINES)
            goto out;
        splice(&lines, (size_t)at, search.n, &replace);
    }
    r = joined_equals(&lines, child) ? REPLAY_EXACT : REPLAY_DIFFERS;
out:
    array_release(&lines);
    array_release(&search);
    array_release(&replace);
    return r;
}

/* Text between the first FENCE and the next three backquotes. */
static bool fenced(struct span reply, const char *fence, struct span *out)
{
    const char *open = find(reply, fence);
    if (!open)
        return false;
    struct span rest = after(reply, open + strlen(fence));
    const char *close = find(rest, "```");
    if (!close)
        return false;
    *out = replay_strip((struct span){rest.p, (size_t)(close - rest.p)});
    return true;
}

/* The block fenced with the run's language, else the first of any fence (a
 * language tag then stays in its first line), else the whole reply. */
static bool check_full(struct span reply, struct span language,
                       struct span child)
{
    char fence[64];
    struct span code;
    if (language.n > 0 && language.n < sizeof(fence) - 8) {
        snprintf(fence, sizeof(fence), "```%.*s\n", (int)language.n,
                 language.p);
        if (fenced(reply, fence, &code))
            return span_eq(code, child);
    }
    if (fenced(reply, "```", &code))
        return span_eq(code, child);
    return span_eq(reply, child);
}

enum replay replay_check(struct span parent, struct span reply,
                         struct span language, struct span child, bool *diff)
{
    *diff = replay_is_diff(reply);
    if (!reply.p || reply.n == 0)
        return REPLAY_ABSENT;
    enum replay r = REPLAY_ABSENT;
    if (*diff && parent.p) {
        r = check_diff(parent, reply, child, false);
        if (r == REPLAY_DIFFERS)
            r = check_diff(parent, reply, child, true);
        if (r == REPLAY_EXACT)
            return r;
    }
    if (check_full(reply, language, child)) {
        *diff = false;
        return REPLAY_EXACT;
    }
    return *diff ? r : REPLAY_DIFFERS;
}
