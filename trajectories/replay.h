/* SPDX-License-Identifier: MIT */
/*
 * Replay of a stored model reply: does it turn the parent's code into the
 * child's? The rules are those of OpenEvolve (openevolve/utils/code_utils.py)
 * as observed on stored runs; older and newer versions differ in details, so
 * a reply counts as exact when one known rule gives the child byte for byte.
 */
#ifndef KM_REPLAY_H
#define KM_REPLAY_H

#include "buf.h"

enum replay {
    REPLAY_ABSENT, /* nothing to replay: no reply, or no parent for a diff */
    REPLAY_EXACT,
    REPLAY_DIFFERS,
    REPLAY_TOO_LARGE /* the work bound was reached before an answer */
};

/* Does REPLY hold at least one whole SEARCH/REPLACE block? */
bool replay_is_diff(struct span reply);

/*
 * PARENT (p == NULL: unknown), REPLY and CHILD are whole texts; LANGUAGE is the
 * tag that the run put after its code fences ("python"). *DIFF says which form
 * the reply has: of the rule that matched, else by its look. Time and memory
 * are bounded whatever the input.
 */
enum replay replay_check(struct span parent, struct span reply,
                         struct span language, struct span child, bool *diff);

/* S without what Python's str.rstrip (or strip) takes for white space. */
struct span replay_rstrip(struct span s);
struct span replay_strip(struct span s);

#endif
