/* SPDX-License-Identifier: MIT */
/*
 * Messages of programs on stderr. Only programs (and stage.c) call these;
 * the library itself returns struct err.
 */
#ifndef KM_LOG_H
#define KM_LOG_H

#include "err.h"

/* Exit codes, the same in every program. */
enum {
    EXIT_DONE = 0,   /* finished; records may carry errors */
    EXIT_FATAL = 1,  /* the output is not complete */
    EXIT_USAGE = 2,  /* wrong use */
    EXIT_RECORDS = 3 /* finished, some record failed, --strict was given */
};

extern const char *log_program; /* set by stage_main / opt_parse */
extern int log_level;           /* 0 quiet, 1 normal, 2 verbose */

void log_error(const char *fmt, ...) PRINTF(1, 2);
void log_warning(const char *fmt, ...) PRINTF(1, 2);
void log_info(const char *fmt, ...) PRINTF(1, 2); /* only with -v */
/* "PROGRAM: MSG" and, when there is one, "hint: ..." on its own line. */
void log_err(const struct err *e);
void die(const char *fmt, ...) PRINTF(1, 2) NORETURN; /* exit 1 */
void die_err(const struct err *e) NORETURN; /* exit 1, or 2 for ERR_USAGE */
void die_usage(const char *fmt, ...) PRINTF(1, 2) NORETURN; /* exit 2 */
void bug(const char *fmt, ...) PRINTF(1, 2) NORETURN;       /* abort */

#endif
