/* SPDX-License-Identifier: MIT */
/*
 * A short text for the outline of a file: what no outline depends on is taken
 * out before it is parsed, since nearly all time is the parser's. Inside
 * lib/py.
 *
 * Out go the bodies and parameters of functions that hold no class, no import,
 * no global statement and nothing of Python 2 (their names are of no use
 * outside), and wherever a name can't be bound in it: the inside of comments,
 * of brackets and of strings. Each piece leaves "xx" behind, which is a body, a
 * parameter, an argument, an item, or text, so the structure stays, and a gap
 * lies between the two letters, where no node begins or ends. In 17,102 real
 * files seven eighths of the text went, and no outline changed.
 *
 * A scanner of ours finds the pieces. It knows strings, comments, brackets,
 * continued lines and indentation as the grammar sees them, and where it is not
 * sure (unbalanced brackets, odd indentation, backticks, quotes nested in an
 * f-string, ...) nothing is taken out at all.
 */
#ifndef KM_PY_SKIM_H
#define KM_PY_SKIM_H

#include "array.h"
#include "buf.h"

struct pygap {
    uint32_t at;      /* offset in the short text */
    uint32_t skipped; /* bytes left out up to there, this gap included */
};

struct pyskim {
    struct span text; /* owned, with a NUL behind it */
    ARRAY(struct pygap) gaps;
};

/* True: OUT is filled, to be released with pyskim_release. False: TEXT
 * (decoded, at most PY_MAX_SOURCE) is to be parsed as it is, there is nothing
 * to release.
 */
bool pyskim_make(struct pyskim *out, struct span text);
/* Offset in the whole text of the border of a node at AT in the short one. */
uint32_t pyskim_offset(const struct pyskim *s, uint32_t at);
void pyskim_release(struct pyskim *s);

#endif
