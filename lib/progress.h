/* SPDX-License-Identifier: MIT */
/* One line on stderr that is rewritten at most five times a second, only on
 * a terminal and after two seconds; and the closing summary line. */
#ifndef KM_PROGRESS_H
#define KM_PROGRESS_H

#include "base.h"

enum progress_mode { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

void progress_start(enum progress_mode mode, const char *program);
void progress_update(uint64_t done, const char *fmt, ...) PRINTF(2, 3);
void progress_clear(void); /* before another message goes to stderr */

#endif
