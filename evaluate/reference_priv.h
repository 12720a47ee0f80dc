/* SPDX-License-Identifier: MIT */
/* Shared by reference.c and reference_configs.c. */
#ifndef KM_EVALUATE_REFERENCE_PRIV_H
#define KM_EVALUATE_REFERENCE_PRIV_H

#include "evaluate/reference.h"

#define FIRST_S 60.0 /* deadline of a first forward */

/* -1 with CODE and what REPLY says of WHAT that did not succeed. */
int reference_refused(struct err *e, enum err_code code, const char *what,
                      const struct val *reply);
/* Turn RC 1 (the reply said no) into an error. A reference that dies while it
 * is looked at is a bad task too. */
int reference_bad(int rc, const char *what, const struct side *d,
                  struct err *e);
/* Load all of R into D, then run N slots from FIRST on. */
int reference_first(struct side *d, struct gen *g, struct ring *r, size_t first,
                    size_t n, double limit, struct turn *t, struct err *e);
/* Which configurations it survives, the float64 reference (its source again at
 * FD), its error against that, and whether zeros would pass. */
int reference_configs(struct reference *ref, struct gen *g, int fd,
                      struct err *e) MUST_USE;

#endif
