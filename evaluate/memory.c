/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/memory.h"

#include <fcntl.h>
#include <time.h>

static ssize_t slurp(const char *path, char *out, size_t cap)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;
    if (fd >= 0) {
        n = read(fd, out, cap - 1);
        close(fd);
    }
    out[n > 0 ? n : 0] = 0;
    return n;
}

static int64_t field(const char *text, const char *name)
{
    const char *p = strstr(text, name);
    return p ? strtoll(p + strlen(name), NULL, 10) * 1024 : 0;
}

bool memory_read(pid_t pid, struct proc_memory *m)
{
    char path[64], text[4096];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    *m = (struct proc_memory){0};
    if (slurp(path, text, sizeof(text)) <= 0)
        return false;
    m->anon = field(text, "\nRssAnon:");
    m->file = field(text, "\nRssFile:");
    m->shared = field(text, "\nRssShmem:");
    m->peak = field(text, "\nVmHWM:");
    return true;
}

bool memory_reset_peak(pid_t pid)
{
    char path[64];
    int fd;
    bool ok;
    snprintf(path, sizeof(path), "/proc/%d/clear_refs", (int)pid);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ok = write(fd, "5", 1) == 1;
    close(fd);
    return ok;
}

bool usage_read(pid_t pid, struct proc_usage *u)
{
    char path[96], text[128];
    unsigned long long run, delay, switches;
    struct timespec t;
    clockid_t clock;
    *u = (struct proc_usage){0};
    snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid,
             (int)pid);
    if (slurp(path, text, sizeof(text)) <= 0 ||
        sscanf(text, "%llu %llu %llu", &run, &delay, &switches) != 3 ||
        clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
        return false;
    u->main_s = (double)run * 1e-9;
    u->delay_s = (double)delay * 1e-9;
    u->switches = (int64_t)switches;
    u->process_s = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
    return true;
}

bool usage_read_stopped(pid_t pid, struct proc_usage *u)
{
    enum { TRIES = 1000, PAUSE_NS = 20000 };
    struct proc_usage before;
    if (!usage_read(pid, u))
        return false;
    /* Its clock is read after the account: one that stands still from one
     * reading to the next says that nothing ran while the second account was
     * read. */
    for (int i = 0; i < TRIES; i++) {
        before = *u;
        if (!usage_read(pid, u))
            return false;
        if (u->process_s == before.process_s)
            break;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    return true;
}

int usage_threads(pid_t pid)
{
    char path[64], text[4096], *p;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    if (slurp(path, text, sizeof(text)) <= 0)
        return 0;
    p = strstr(text, "\nThreads:");
    return p ? (int)strtol(p + 9, NULL, 10) : 0;
}
