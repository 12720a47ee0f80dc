/* SPDX-License-Identifier: MIT */
/* The repositories of one run: operands and list file, and their names. */
#ifndef KM_TARGETS_H
#define KM_TARGETS_H

#include "harvest/harvest.h"

struct targets {
    ARRAY(struct target) v;
    struct arena arena; /* of the paths */
};

void targets_add(struct targets *t, struct span path, struct span name);
/* Lines `PATH [NAME]`; '#' starts a comment line. */
int targets_read(struct targets *t, const char *file, struct err *e) MUST_USE;
/* Open each, find its commit, settle the names; what fails is noted in the
 * target. JOBS workers. */
int targets_probe(struct targets *t, const char *rev, int jobs,
                  struct err *e) MUST_USE;
void targets_release(struct targets *t);

#endif
