/* SPDX-License-Identifier: MIT */
#ifndef KM_UTF8_H
#define KM_UTF8_H

#include "buf.h"

/* Offset of the first byte that is not valid UTF-8 (surrogates, overlong
 * forms and values above U+10FFFF are invalid), or s.n when all is valid. */
size_t utf8_valid(struct span s);
/* Append S to OUT with each maximal invalid part replaced by U+FFFD; returns
 * the number of replacements, or -1 when OUT is full. */
long utf8_repair(struct buf *out, struct span s);
/* Append one code point as UTF-8 (surrogates as U+FFFD). */
int utf8_add(struct buf *out, uint32_t cp);

#endif
