/* SPDX-License-Identifier: MIT */
/*
 * The error value. It lives on the caller's stack and is filled by the
 * function that failed; library code never prints and never exits (but for
 * lack of memory). A message is lower case, without a full stop, names first
 * what failed and puts the subject in single quotes; untrusted text in it is
 * masked by err_set itself.
 */
#ifndef KM_ERR_H
#define KM_ERR_H

#include "base.h"

/* Levels returned by functions that work on a stream of records. */
enum {
    KM_OK = 0,
    KM_END = 1,     /* clean end of input */
    KM_RECORD = -1, /* this record failed; the stream can go on */
    KM_DEAD = -2    /* the stream or device is dead */
};

/* The closed list of codes (errcodes.def). They are on the wire as the
 * second half of "stage.code" in a record's `why`. */
enum err_code {
#define ERRCODE(name, wire, state) ERR_##name,
#include "errcodes.def"
#undef ERRCODE
    ERR_COUNT
};

struct err {
    enum err_code code;
    int sys;        /* errno, or 0 */
    char hint[160]; /* what to do next, or "" */
    char msg[480];
};

/* Fill E (may be NULL); return -1 so that `return err_set(...)` reads well.
 * err_sys adds strerror(errno) and keeps errno in E. err_wrap puts a context
 * and ": " in front of what is there. err_hint sets the remedy. */
int err_set(struct err *e, enum err_code code, const char *fmt, ...)
    PRINTF(3, 4);
int err_sys(struct err *e, const char *fmt, ...) PRINTF(2, 3);
int err_wrap(struct err *e, const char *fmt, ...) PRINTF(2, 3);
int err_hint(struct err *e, const char *fmt, ...) PRINTF(2, 3);

/* Wire string of a code, such as "truncated"; and the way back (-1 when no
 * such code exists). */
const char *err_code_name(enum err_code code);
int err_code_find(const char *wire);
/* Default record state of a code: "rejected" or "failed". */
const char *err_code_state(enum err_code code);

/* Copy SRC into DST (capacity CAP, always NUL-terminated), control characters
 * and invalid UTF-8 replaced by '?', cut to CAP-1 bytes. Returns DST. */
char *mask_text(char *dst, size_t cap, struct span src);

#endif
