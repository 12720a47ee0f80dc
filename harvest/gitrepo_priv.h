/* SPDX-License-Identifier: MIT */
/* Shared by gitrepo.c and githistory.c. */
#ifndef KM_GITREPO_PRIV_H
#define KM_GITREPO_PRIV_H

#include "harvest/gitrepo.h"

#include <git2.h>

struct gitrepo {
    git_repository *git;
    git_odb *odb;
};

/* Look up an object that libgit2 reads as a whole. A few kilobytes can unpack
 * to gigabytes, so the size is asked first. 0 or -1. */
int gitrepo_lookup(struct gitrepo *r, const git_oid *oid, git_object_t want,
                   git_object **out);

#endif
