/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "proc.h"
#include "progress.h"

static struct {
    bool on, shown;
    const char *program;
    double start, last;
} state;

void progress_start(enum progress_mode mode, const char *program)
{
    /* a background job must not scribble over the user's terminal */
    state.on = mode == PROGRESS_ALWAYS ||
               (mode == PROGRESS_AUTO && isatty(STDERR_FILENO) &&
                tcgetpgrp(STDERR_FILENO) == getpgrp());
    state.program = program;
    state.start = now_s();
    state.last = 0;
}

void progress_update(uint64_t done, const char *fmt, ...)
{
    char text[160];
    double now;
    va_list ap;

    if (!state.on)
        return;
    now = now_s();
    if (now - state.start < 2 || now - state.last < 0.2)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    fprintf(stderr, "\r\033[K%s: %" PRIu64 " %s, %.0f s", state.program, done,
            text, now - state.start);
    fflush(stderr);
    state.last = now;
    state.shown = true;
}

void progress_clear(void)
{
    if (!state.shown)
        return;
    fputs("\r\033[K", stderr);
    state.shown = false;
}
