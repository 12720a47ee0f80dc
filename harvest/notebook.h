/* SPDX-License-Identifier: MIT */
/* The Python of a Jupyter notebook (nbformat 3 and 4). */
#ifndef KM_NOTEBOOK_H
#define KM_NOTEBOOK_H

#include "array.h"
#include "buf.h"
#include "err.h"

#define NOTEBOOK_MAX (16u << 20) /* bytes of a notebook, pictures and all */

/* Where a code cell begins in the text. */
struct nbcell {
    uint32_t line;   /* 1-based, of the comment line before its code */
    uint32_t number; /* 1-based, among all cells of the notebook */
};

struct nbcells {
    struct nbcell *v;
    size_t n, cap;
};

/*
 * Append the code cells of RAW to OUT, in order, each behind a line
 * "# %% [NUMBER]" and with the lines it has. What IPython reads and Python
 * does not (% and ! commands, ? questions) becomes an empty line, or "pass"
 * where it is indented; so does a cell under another language's %% command (one
 * that is written to a .py file is Python) and one that ends inside a bracket
 * or string, as it would swallow the next.
 * Without a code cell nothing is appended. ERR_PARSE (no notebook, or one of
 * another language), ERR_TOO_LARGE. Caller releases CELLS with array_release.
 */
int notebook_source(struct buf *out, struct nbcells *cells, struct span raw,
                    struct err *e) MUST_USE;
/* Number of the cell that holds LINE, 0 = none. */
uint32_t notebook_cell(const struct nbcells *cells, uint32_t line);

#endif
