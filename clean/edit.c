/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/edit.h"

void edit_add(struct edits *e, uint32_t start, uint32_t end, struct span text)
{
    struct edit x = {start, end, text};

    array_push(e, x);
}

/* First byte of the line that holds AT. */
static uint32_t line_start(struct span text, uint32_t at)
{
    while (at > 0 && text.p[at - 1] != '\n')
        at--;
    return at;
}

static bool only_space(struct span text, uint32_t start, uint32_t end)
{
    for (; start < end; start++)
        if (text.p[start] != ' ' && text.p[start] != '\t' &&
            text.p[start] != '\f')
            return false;
    return true;
}

/* End of the line (its newline) behind END when only space and a comment
 * follow, else 0. */
static uint32_t free_line_end(struct span text, uint32_t end)
{
    while (end < text.n &&
           (text.p[end] == ' ' || text.p[end] == '\t' || text.p[end] == '\f'))
        end++;
    if (end < text.n && text.p[end] == '#')
        while (end < text.n && text.p[end] != '\n')
            end++;
    if (end == text.n || text.p[end] == '\n')
        return end;
    return 0;
}

/* Does the line that ends at NL, or the first before it that holds more than a
 * comment, hold nothing, or open a block? */
static bool gap_before(struct span text, uint32_t nl)
{
    for (;;) {
        uint32_t ls = line_start(text, nl), i = ls;

        while (i < nl && (text.p[i] == ' ' || text.p[i] == '\t'))
            i++;
        if (i == nl || text.p[nl - 1] == ':')
            return true;
        if (text.p[i] != '#' || ls == 0)
            return false;
        nl = ls - 1;
    }
}

/* Whole lines go with the newline before them: a unit's first line is never
 * removed but for its decorators, and those end before its last one. An empty
 * line behind goes too where there would be two of them. */
static void remove_lines(struct edits *e, struct span text, uint32_t start,
                         uint32_t end)
{
    uint32_t ls = line_start(text, start), next = end + 1;

    while (next < text.n && (text.p[next] == ' ' || text.p[next] == '\t'))
        next++;
    if (ls > 0 && next < text.n && text.p[next] == '\n' &&
        gap_before(text, ls - 1))
        end = next;
    edit_add(e, ls > 0 ? ls - 1 : 0, end, (struct span){NULL, 0});
}

void edit_remove(struct edits *e, struct span text, uint32_t start,
                 uint32_t end)
{
    uint32_t ls = line_start(text, start), le = free_line_end(text, end);

    if (le > 0 && only_space(text, ls, start))
        remove_lines(e, text, start, le);
    else
        edit_add(e, start, end, SPAN_LIT("pass"));
}

void edit_remove_comment(struct edits *e, struct span text, uint32_t start,
                         uint32_t end)
{
    uint32_t ls = line_start(text, start);

    if (only_space(text, ls, start)) {
        remove_lines(e, text, start, end);
        return;
    }
    while (start > ls &&
           (text.p[start - 1] == ' ' || text.p[start - 1] == '\t'))
        start--;
    edit_add(e, start, end, (struct span){NULL, 0});
}

static int by_place(const void *a, const void *b)
{
    const struct edit *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return 0;
}

int edit_apply(struct edits *e, struct span text, uint32_t start, uint32_t end,
               struct buf *out)
{
    uint32_t pos = start;

    if (e->n > 1)
        qsort(e->v, e->n, sizeof(*e->v), by_place);
    for (size_t i = 0; i < e->n; i++) {
        const struct edit *x = &e->v[i];

        if (x->end <= pos && !(x->start == x->end && x->start == pos))
            continue;
        if (x->start >= end)
            break;
        if (x->start > pos && buf_add(out, text.p + pos, x->start - pos) != 0)
            return -1;
        if (buf_addspan(out, x->text) != 0)
            return -1;
        pos = MIN(x->end, end);
    }
    if (pos < end)
        return buf_add(out, text.p + pos, end - pos);
    return 0;
}
