/* SPDX-License-Identifier: MIT */
/*
 * Stand-ins: what the source has in the place of a name of a package that is
 * not on the list, or of a file of the repository that is used as a value.
 */
#ifndef KM_CLEAN_STAND_H
#define KM_CLEAN_STAND_H

#include "clean/edit.h"
#include "clean/recover.h"

enum {
    STAND_NONE,
    STAND_ABSENT, /* a class of which there are no objects: raises when called
                   */
    STAND_SHIM,   /* code of shim.def */
    STAND_MODULE  /* a class that has names of a file */
};

/* Code of shim.def for the resolved name DOTTED, or NULL. */
const char *shim_find(struct span dotted);

/* Read I of F is of a package that is not on the list, or of something that
 * shim.def has: may and does something stand for it? */
bool stand_name(struct closure *c, struct cfile *f, size_t i);
/* Read I of F is of the file T->file itself. */
bool stand_module(struct closure *c, struct cfile *f, size_t i, int unit);
/* Take the names into the closure that the files among the stand-ins need:
 * those with which a text of the code begins. 0 or -1. */
int stand_members(struct closure *c, struct fault *bad);
/* `name: T = Class()` in a data class is refused by CPython since 3.11, where
 * Class has no hash: it becomes field(default_factory=Class), whose name UNIT
 * needs then; the edits of statement S of F. */
void stand_defaults(struct closure *c, int unit);
void stand_edit_defaults(struct closure *c, struct cfile *f,
                         const struct pystmt *s, struct edits *edits);
/* End of what is replaced of read I of F. */
uint32_t stand_end(const struct closure *c, struct cfile *f, size_t i);
/* Append the code of those that come before (LAST: behind) all statements. */
int stand_write(const struct closure *c, bool last, struct buf *out) MUST_USE;

#endif
