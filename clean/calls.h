/* SPDX-License-Identifier: MIT */
/*
 * Where a repository makes its modules, with what arguments, and what it then
 * gives to them, as far as that can be seen without running anything
 * (statics.h, inputs.h). It goes into the record as `calls`, docs/records.md.
 */
#ifndef KM_CLEAN_CALLS_H
#define KM_CLEAN_CALLS_H

#include "clean/closure.h"

struct calls;
struct calls *calls_new(struct pyparser *p);
void calls_free(struct calls *x);
/* A file that no module needs. One that cannot be read has no calls. */
void calls_add(struct calls *x, struct span path, struct span source);
/* Calls of the class QUAL of file PATH are wanted. */
void calls_want(struct calls *x, struct span path, struct span qual);
/* Look through the files of R and those added; all of them are there. */
void calls_read(struct calls *x, const struct crepo *r);
/* The field `calls` of the class QUAL of PATH, in C's arena: what they name is
 * called as in the source that C became. NULL when there are none. */
struct val *calls_of(struct calls *x, const struct closure *c, struct span path,
                     struct span qual);

#endif
