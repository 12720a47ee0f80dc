/* SPDX-License-Identifier: MIT */
/* Sources without what does not matter: comments, white space, docstrings. */
#ifndef KM_EVALUATE_NORMAL_H
#define KM_EVALUATE_NORMAL_H

#include "buf.h"

#include <tree_sitter/api.h>

/* Append the tokens under ROOT (a module, or any definition), a line for each
 * statement; identifiers equal to RENAME (may be empty) become "\1". Strings
 * on their own are left out. */
int normal_python(struct buf *out, struct span text, TSNode root,
                  struct span rename);
/* Next token of C from *AT on, comments and white space left out; a newline is
 * a token, operators come byte by byte. False at the end. */
bool normal_c_token(struct span text, size_t *at, struct span *token);
/* Tokens of C: one space between them, preprocessor lines kept as lines. */
int normal_c(struct buf *out, struct span text);

#endif
