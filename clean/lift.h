/* SPDX-License-Identifier: MIT */
/*
 * Classes defined inside of functions. One that takes nothing from a call of
 * the function around it is moved out, with the local imports, definitions and
 * plain values that it reads, into a file of its own beside the one it is from.
 */
#ifndef KM_CLEAN_LIFT_H
#define KM_CLEAN_LIFT_H

#include "clean/repo.h"

/*
 * The file, owned by R, that has the class D of F, which is local to a
 * function, at its module level; its other names are those of F. NULL with *WHY
 * (in A, or constant) when the class depends on a call, or cannot be read.
 */
struct cfile *lift_class(struct crepo *r, struct pyparser *p, struct arena *a,
                         struct cfile *f, const struct pydef *d,
                         const char **why);

#endif
