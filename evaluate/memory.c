/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/memory.h"

#include <dirent.h>
#include <fcntl.h>

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

static bool schedstat(const char *path, double *run, double *delay)
{
    char text[128];
    unsigned long long a, b;
    if (slurp(path, text, sizeof(text)) <= 0 ||
        sscanf(text, "%llu %llu", &a, &b) != 2)
        return false;
    *run = (double)a * 1e-9;
    *delay = (double)b * 1e-9;
    return true;
}

bool usage_read(pid_t pid, bool all_threads, struct proc_usage *u)
{
    char path[96];
    struct dirent *d;
    DIR *dir;
    *u = (struct proc_usage){.threads = 1};
    snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid,
             (int)pid);
    if (!schedstat(path, &u->cpu_s, &u->delay_s))
        return false;
    if (!all_threads)
        return true;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    dir = opendir(path);
    if (!dir)
        return false;
    u->threads = 0;
    while ((d = readdir(dir))) {
        double run, delay;
        long tid = strtol(d->d_name, NULL, 10);
        if (tid <= 0)
            continue;
        u->threads++;
        if (tid == pid)
            continue;
        snprintf(path, sizeof(path), "/proc/%d/task/%ld/schedstat", (int)pid,
                 tid);
        if (schedstat(path, &run, &delay))
            u->others_s += run;
    }
    closedir(dir);
    return true;
}
