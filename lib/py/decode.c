/* SPDX-License-Identifier: MIT */
/* Bytes of a Python file to UTF-8 text with LF line ends (PEP 263). */
#include "base.h"

#include "py/pytree.h"
#include "utf8.h"

#include <iconv.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\f';
}

static bool is_name_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z') || c == '-' || c == '_' || c == '.';
}

/* Next line of S from *AT, without its end. */
static struct span next_line(struct span s, size_t *at)
{
    size_t start = *at, i = start;
    while (i < s.n && s.p[i] != '\n' && s.p[i] != '\r')
        i++;
    *at = i;
    if (*at < s.n && s.p[*at] == '\r')
        ++*at;
    if (*at < s.n && s.p[*at] == '\n' && (*at == i || s.p[i] == '\r'))
        ++*at;
    return (struct span){s.p + start, i - start};
}

/* The name after "coding:" or "coding=" of a comment line, else empty. */
static struct span coding_of(struct span line)
{
    struct span none = {NULL, 0};
    size_t i = 0;
    while (i < line.n && is_blank(line.p[i]))
        i++;
    if (i == line.n || line.p[i] != '#')
        return none;
    for (; i + 7 < line.n; i++) {
        if (memcmp(line.p + i, "coding", 6) != 0 ||
            (line.p[i + 6] != ':' && line.p[i + 6] != '='))
            continue;
        size_t a = i + 7;
        while (a < line.n && is_blank(line.p[a]))
            a++;
        size_t b = a;
        while (b < line.n && is_name_char(line.p[b]))
            b++;
        if (b > a)
            return (struct span){line.p + a, b - a};
    }
    return none;
}

/* Coding line: in the first line, or the second when the first is blank or a
 * comment. */
static struct span find_coding(struct span s)
{
    size_t at = 0;
    for (int i = 0; i < 2 && at < s.n; i++) {
        struct span line = next_line(s, &at);
        struct span name = coding_of(line);
        if (name.n > 0)
            return name;
        size_t k = 0;
        while (k < line.n && is_blank(line.p[k]))
            k++;
        if (k < line.n && line.p[k] != '#')
            break;
    }
    return (struct span){NULL, 0};
}

/* Python's names that iconv lacks or understands otherwise. Python's
 * "latin-1" is ISO 8859-1, not Windows' superset. */
static const struct {
    const char *python, *iconv;
} aliases[] = {
    {"latin-1", "ISO-8859-1"},
    {"latin", "ISO-8859-1"},
    {"l1", "ISO-8859-1"},
    {"iso-latin-1", "ISO-8859-1"},
    {"latin-9", "ISO-8859-15"},
    {"ascii", "US-ASCII"},
    {"shift-jis", "SHIFT_JIS"},
    {"sjis", "SHIFT_JIS"},
    {"cp936", "GBK"},
    {"gb2312", "GB2312"},
    {"gbk", "GBK"},
    {"gb18030", "GB18030"},
    {"euc-kr", "EUC-KR"},
    {"cp949", "CP949"},
    {"big5", "BIG5"},
    {"windows-1252", "CP1252"},
};

/* Lower case with '_' as '-'; "" when the name is too long to be one. */
static void normalise(char out[32], struct span name)
{
    size_t i = 0;
    if (name.n < 32) {
        for (; i < name.n; i++) {
            char c = name.p[i];
            out[i] = c == '_'                 ? '-'
                     : (c >= 'A' && c <= 'Z') ? (char)(c + 32)
                                              : c;
        }
    }
    out[i] = '\0';
}

static bool means_utf8(const char *name)
{
    return strcmp(name, "utf-8") == 0 || strcmp(name, "utf8") == 0 ||
           strncmp(name, "utf-8-", 6) == 0;
}

static int convert(struct buf *out, struct span s, const char *name,
                   struct err *e)
{
    const char *code = name;
    for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
        if (strcmp(aliases[i].python, name) == 0)
            code = aliases[i].iconv;
    /* A source is read by ASCII rules: wide codes cannot be meant. */
    iconv_t cd = strncmp(name, "utf", 3) == 0 || strncmp(name, "ucs", 3) == 0
                     ? (iconv_t)-1
                     : iconv_open("UTF-8", code);
    if (cd == (iconv_t)-1)
        return err_set(e, ERR_ENCODING, "unknown encoding '%s'", name);
    char *in = (char *)(uintptr_t)s.p; /* iconv does not write there */
    size_t left = s.n;
    int rc = 0;
    while (rc == 0) {
        char *to = buf_reserve(out, MIN(left * 3 + 16, out->max - out->n));
        size_t room = to ? MIN(left * 3 + 16, out->max - out->n) : 0;
        size_t before = room;
        size_t r = iconv(cd, &in, &left, &to, &room);
        buf_setlen(out, out->n + (before - room));
        if (r != (size_t)-1)
            break;
        if (errno == E2BIG && before > room)
            continue;
        rc = errno == E2BIG
                 ? err_set(e, ERR_TOO_LARGE, "source too large")
                 : err_set(e, ERR_ENCODING, "byte %zu is not valid in '%s'",
                           (size_t)(in - s.p), name);
    }
    iconv_close(cd);
    return rc;
}

/* CRLF and CR to LF in B from offset FROM on, in place. */
static void unify_lines(struct buf *b, size_t from)
{
    if (b->n == from || !memchr(b->p + from, '\r', b->n - from))
        return;
    size_t to = from;
    for (size_t i = from; i < b->n; i++) {
        char c = b->p[i];
        if (c == '\r') {
            if (i + 1 < b->n && b->p[i + 1] == '\n')
                continue;
            c = '\n';
        }
        b->p[to++] = c;
    }
    if (b->n > from)
        buf_setlen(b, to);
}

int py_decode(struct buf *out, struct span raw, struct err *e)
{
    if (raw.n > PY_MAX_SOURCE)
        return err_set(e, ERR_TOO_LARGE, "source of %zu bytes is over %u",
                       raw.n, PY_MAX_SOURCE);
    const char *nul = raw.n ? memchr(raw.p, '\0', raw.n) : NULL;
    if (nul)
        return err_set(e, ERR_ENCODING, "NUL byte at offset %zu",
                       (size_t)(nul - raw.p));
    if (span_starts(raw, "\xef\xbb\xbf"))
        raw = (struct span){raw.p + 3, raw.n - 3};
    size_t from = out->n;
    char name[32];
    struct span coding = find_coding(raw);
    normalise(name, coding);
    if (coding.n > 0 && !name[0])
        return err_set(e, ERR_ENCODING, "unknown encoding");
    if (!name[0] || means_utf8(name)) {
        size_t bad = utf8_valid(raw);
        if (bad < raw.n)
            return err_set(e, ERR_ENCODING, "not UTF-8 at offset %zu", bad);
        if (buf_addspan(out, raw) != 0)
            return err_set(e, ERR_TOO_LARGE, "source too large");
    } else if (convert(out, raw, name, e) != 0) {
        buf_setlen(out, from);
        return -1;
    }
    unify_lines(out, from);
    return 0;
}
