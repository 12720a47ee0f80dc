/* SPDX-License-Identifier: MIT */
/* Any bytes as a notebook: the text is UTF-8, its cells are where it says, and
 * it keeps every line of the cells' code. */
#include "base.h"

#include "harvest/notebook.h"
#include "log.h"
#include "py/pytree.h"
#include "utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Does line NUMBER of TEXT begin with "# %% ["? */
static bool is_mark(struct span text, uint32_t number)
{
    const char *p = text.p, *end = text.p + text.n;
    for (uint32_t i = 1; i < number && p; i++) {
        p = memchr(p, '\n', (size_t)(end - p));
        p = p ? p + 1 : NULL;
    }
    return p && span_starts((struct span){p, (size_t)(end - p)}, "# %% [");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf text = BUF_INIT(PY_MAX_SOURCE);
    struct nbcells cells = {0};
    struct err e = {0};
    int rc = notebook_source(&text, &cells,
                             (struct span){(const char *)data, size}, &e);
    if (rc != 0 && (!e.msg[0] || text.n != 0))
        bug("no reason, or text without success");
    if (utf8_valid(buf_span(&text)) < text.n)
        bug("text is not UTF-8");
    for (size_t i = 0; rc == 0 && i < cells.n; i++) {
        if (i < 50 && !is_mark(buf_span(&text), cells.v[i].line))
            bug("cell %zu is not at line %u", i, cells.v[i].line);
        if (notebook_cell(&cells, cells.v[i].line) != cells.v[i].number)
            bug("line %u is not in cell %u", cells.v[i].line,
                cells.v[i].number);
    }
    array_release(&cells);
    buf_release(&text);
    return 0;
}
