/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/kernel_name.h"

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (c >= '0' && c <= '9');
}

/* "softmax" of "void ns::softmax<float, 4>(float const*, int)". */
struct span kernel_base(struct span name)
{
    size_t end = 0, start;

    if (span_starts(name, "void "))
        name = (struct span){name.p + 5, name.n - 5};
    while (end < name.n && name.p[end] != '<' && name.p[end] != '(')
        end++;
    while (end > 0 && !is_word(name.p[end - 1]))
        end--;
    start = end;
    while (start > 0 && is_word(name.p[start - 1]))
        start--;
    return (struct span){name.p + start, end - start};
}

bool kernel_is_own(struct span name, struct span source)
{
    struct span base = kernel_base(name);
    size_t at = 0;

    /* A library's, whatever the source calls its own. */
    if (base.n < 2 || memmem(name.p, name.n, "at::native::", 12) ||
        memmem(name.p, name.n, "cutlass::", 9) ||
        memmem(name.p, name.n, "cudnn::", 7))
        return false;
    while (at < source.n) {
        const char *hit = memmem(source.p + at, source.n - at, base.p, base.n);
        if (!hit)
            return false;
        at = (size_t)(hit - source.p) + base.n;
        if ((hit == source.p || !is_word(hit[-1])) &&
            (at == source.n || !is_word(source.p[at])))
            return true;
    }
    return false;
}
