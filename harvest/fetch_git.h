/* SPDX-License-Identifier: MIT */
/* The confined git of fetch.c. */
#ifndef KM_FETCH_GIT_H
#define KM_FETCH_GIT_H

#include "harvest/fetch.h"

struct fetch_child {
    const char *source; /* URL, or absolute path of a bundle */
    bool bundle;
    const char *dir; /* its own folder, the only one it writes to */
    double seconds;  /* for each command */
    struct buf out;  /* what the last command printed */
};

/* Write the configuration into DIR. */
int fetch_git_prepare(struct fetch_child *c, struct err *e) MUST_USE;
/* References of the source into OUT: HEAD, or with ALL every one. */
int fetch_git_list(struct fetch_child *c, bool all, struct err *e) MUST_USE;
/* Clone bare to TO, below DIR; without ALL the newest commit of HEAD alone. */
int fetch_git_clone(struct fetch_child *c, bool all, const char *to,
                    struct err *e) MUST_USE;

#endif
