/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "utf8.h"

/* Length of the valid sequence at S, or 0 with *BAD = bytes of the maximal
 * invalid part (Unicode 15, table 3-7). */
static size_t sequence(const unsigned char *s, size_t n, size_t *bad)
{
    unsigned char lo = 0x80, hi = 0xbf;
    size_t want;

    *bad = 1;
    if (s[0] < 0x80)
        return 1;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    want = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (s[0] == 0xe0)
        lo = 0xa0;
    else if (s[0] == 0xed)
        hi = 0x9f;
    else if (s[0] == 0xf0)
        lo = 0x90;
    else if (s[0] == 0xf4)
        hi = 0x8f;
    for (size_t i = 1; i < want; i++) {
        if (i >= n || s[i] < lo || s[i] > hi) {
            *bad = i;
            return 0;
        }
        lo = 0x80;
        hi = 0xbf;
    }
    return want;
}

size_t utf8_valid(struct span s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    size_t i = 0, bad;

    while (i < s.n) {
        size_t len;
        /* eight ASCII bytes at once */
        while (s.n - i >= 8) {
            uint64_t w;
            memcpy(&w, p + i, 8);
            if (w & UINT64_C(0x8080808080808080))
                break;
            i += 8;
        }
        if (i == s.n)
            break;
        len = sequence(p + i, s.n - i, &bad);
        if (!len)
            return i;
        i += len;
    }
    return s.n;
}

int utf8_add(struct buf *out, uint32_t cp)
{
    char b[4];
    size_t n;

    if (cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
        cp = 0xfffd;
    if (cp < 0x80) {
        b[0] = (char)cp;
        n = 1;
    } else if (cp < 0x800) {
        b[0] = (char)(0xc0 | cp >> 6);
        b[1] = (char)(0x80 | (cp & 63));
        n = 2;
    } else if (cp < 0x10000) {
        b[0] = (char)(0xe0 | cp >> 12);
        b[1] = (char)(0x80 | (cp >> 6 & 63));
        b[2] = (char)(0x80 | (cp & 63));
        n = 3;
    } else {
        b[0] = (char)(0xf0 | cp >> 18);
        b[1] = (char)(0x80 | (cp >> 12 & 63));
        b[2] = (char)(0x80 | (cp >> 6 & 63));
        b[3] = (char)(0x80 | (cp & 63));
        n = 4;
    }
    return buf_add(out, b, n);
}

long utf8_repair(struct buf *out, struct span s)
{
    long count = 0;

    while (s.n) {
        size_t good = utf8_valid(s), bad = 0;

        if (buf_add(out, s.p, good) < 0)
            return -1;
        s.p += good;
        s.n -= good;
        if (!s.n)
            break;
        sequence((const unsigned char *)s.p, s.n, &bad);
        if (utf8_add(out, 0xfffd) < 0)
            return -1;
        s.p += bad;
        s.n -= bad;
        count++;
    }
    return count;
}
