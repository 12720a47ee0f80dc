/* SPDX-License-Identifier: MIT */
/* What a program must do before it opens anything. */
#ifndef KM_START_H
#define KM_START_H

#include "base.h"

struct started {
    bool stdin_closed, stdout_closed;
};

/* A missing standard descriptor would be taken by the next open(), and
 * messages would go into a data file: put /dev/null there. A reader that left
 * is an error of write(), not a signal. */
struct started program_start(void);

#endif
