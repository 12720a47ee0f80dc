/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "log.h"
#include "progress.h"

const char *log_program = "kernelmill";
int log_level = 1;

static void say(const char *level, const char *fmt, va_list ap)
{
    char raw[1200], line[1200];
    int n = vsnprintf(raw, sizeof(raw), fmt, ap);

    if (n < 0)
        return;
    mask_text(line, sizeof(line),
              (struct span){raw, MIN((size_t)n, sizeof(raw) - 1)});
    progress_clear();
    fprintf(stderr, "%s: %s%s\n", log_program, level, line);
}

void log_error(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say("", fmt, ap);
    va_end(ap);
}

void log_warning(const char *fmt, ...)
{
    va_list ap;
    if (log_level < 1)
        return;
    va_start(ap, fmt);
    say("warning: ", fmt, ap);
    va_end(ap);
}

void log_info(const char *fmt, ...)
{
    va_list ap;
    if (log_level < 2)
        return;
    va_start(ap, fmt);
    say("", fmt, ap);
    va_end(ap);
}

void log_err(const struct err *e)
{
    log_error("%s", e->msg[0] ? e->msg : err_code_name(e->code));
    if (e->hint[0])
        fprintf(stderr, "hint: %s\n", e->hint);
}

void die(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say("", fmt, ap);
    va_end(ap);
    exit(EXIT_FATAL);
}

void die_err(const struct err *e)
{
    log_err(e);
    exit(e->code == ERR_USAGE ? EXIT_USAGE : EXIT_FATAL);
}

void die_usage(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say("", fmt, ap);
    va_end(ap);
    fprintf(stderr, "try '%s --help'\n", log_program);
    exit(EXIT_USAGE);
}

void bug(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    say("bug: ", fmt, ap);
    va_end(ap);
    abort();
}
