/* SPDX-License-Identifier: MIT */
/* What a standalone source may import (allow.def and --allow), and the rest
 * that the options ask for. */
#ifndef KM_CLEAN_POLICY_H
#define KM_CLEAN_POLICY_H

#include "base.h"

struct minhash;
struct benchmark;

struct policy {
    const char *const *allow; /* further packages, from --allow */
    size_t n_allow;
    bool keep_docstrings;
    bool kernelbench;              /* the entry is called Model */
    const struct minhash *minhash; /* NULL = duplicates are not looked for */
    const struct benchmark *benchmark; /* NULL = nor copies of benchmarks */
};

/* Is the top-level package of DOTTED allowed? */
bool policy_allows(const struct policy *p, struct span dotted);

/* Where the package DOTTED is in has another name: returns that package's
 * dotted name, else NULL. The rest of DOTTED, behind *TOP_LEN, follows it as it
 * is. */
const char *policy_renamed(struct span dotted, size_t *top_len);

/* Did an allowed package have DOTTED once, and has it no more? */
bool policy_absent(struct span dotted);

/* Is there such a package, under this or another name? */
bool policy_has(const struct policy *p, struct span dotted);

/* Does a call of DOTTED as a statement only report or tidy up? */
bool policy_silent(struct span dotted);

#endif
