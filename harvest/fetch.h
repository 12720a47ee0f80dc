/* SPDX-License-Identifier: MIT */
/*
 * Sources that are no local repository: URLs and bundles, cloned bare into the
 * cache by a confined `git`.
 *
 * KM_CACHE/clones/KEY.git, KEY a hash of the source and of how much of it was
 * wanted. A clone is made beside its place and moved there when it is whole,
 * so that what is found there is whole; KEY.lock keeps two runs apart, as
 * long as the one that waits has time. Beside
 * the objects it holds `km-source`, what the source offered then: as long as
 * the source says the same nothing is fetched again, else it is cloned anew.
 *
 * The child reads the system's folders (and what the source names), writes
 * into its own new folder alone, starts no hook, asks nothing, knows no
 * configuration of the user or the system, checks every object, and has a
 * deadline and a limit on the size of a pack. It dies with us, and its helpers
 * with it. It has no namespaces, as it must
 * reach the network: Landlock and seccomp confine it (run/jail.h).
 */
#ifndef KM_FETCH_H
#define KM_FETCH_H

#include "buf.h"
#include "err.h"

#define FETCH_MAX_PATH 4096
#define FETCH_MAX_FILE ((int64_t)16 << 30) /* bytes of a pack */
#define FETCH_SECONDS  1800                /* default deadline */

struct fetch_rules {
    bool whole;     /* all branches, tags and history, not the newest commit */
    bool refresh;   /* ask again for what is there */
    double seconds; /* deadline of a git command, and of the wait for a lock */
};

enum fetch_kind {
    FETCH_LOCAL, /* a folder: nothing to fetch */
    FETCH_URL,   /* https, ssh, git, file, user@host:path */
    FETCH_BUNDLE,
    FETCH_REFUSED /* a URL of another protocol */
};

/* By the look of SOURCE; a bundle is a file ending in ".bundle". */
enum fetch_kind fetch_kind(const char *source);

/* Clone SOURCE, or find its clone: PATH receives the folder. Waits for the
 * child. ERR_UNAVAILABLE (the child failed), ERR_TIMEOUT, ERR_SANDBOX,
 * ERR_TOO_LARGE, ERR_USAGE (FETCH_REFUSED). Messages name no local path. */
int fetch_source(const struct fetch_rules *rules, const char *source,
                 char path[FETCH_MAX_PATH], struct err *e) MUST_USE;

#endif
