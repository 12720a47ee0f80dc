/* SPDX-License-Identifier: MIT */
/* What the readers of licences share. */
#ifndef KM_LICENCE_PRIV_H
#define KM_LICENCE_PRIV_H

#include "buf.h"
#include "harvest/licence.h"

#define LICENCE_MAX_TEXT (256u << 10) /* bytes of a text that are looked at */

/*
 * Append the words of S in lower case, one blank between them and at both ends:
 * comment marks, quotes, line breaks and punctuation are gone, but for a '.'
 * between digits ("2.0").
 */
void licence_words(struct buf *out, struct span s);
/* Do the words W limit the use? KNOWN: they are of a licence, which may name
 * the GPLs to say what it is compatible with. */
bool licence_limits(const struct buf *w, bool known);

#endif
