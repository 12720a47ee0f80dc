/* SPDX-License-Identifier: MIT */
/* Compilation of candidates, sandboxed and cached by content. */
#ifndef KM_EVALUATE_BUILD_H
#define KM_EVALUATE_BUILD_H

#include "buf.h"
#include "err.h"

struct store;

struct builder {
    struct store *store; /* or NULL */
    int require;         /* enum jail_level */
    char compiler[160];  /* first line of its --version, "" = not asked yet */
    char key[65];        /* of compiler and flags */
};

/*
 * C source to shared object. 0: OUT has it. 1: the compiler refused, LOG says
 * why. -1: ERR_TIMEOUT, ERR_MEMORY (the candidate's doing), else the machine's
 * (ERR_UNAVAILABLE: no compiler).
 */
int build_c(struct builder *b, struct span source, struct buf *out,
            struct buf *log, struct err *e) MUST_USE;

#endif
