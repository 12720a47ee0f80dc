/* SPDX-License-Identifier: MIT */
/*
 * LD_PRELOAD library that makes one call fail as a full disk does.
 *
 *   KM_FAIL=write:3   the third write to a file fails, and so does every later
 *                     one (a disk stays full); also fsync, rename, close
 *   KM_FAIL_FD=1      only calls on this descriptor, whatever it is; default:
 *                     all files on a disk, not pipes, memfd, /proc
 *   KM_FAIL_ERRNO=5   default ENOSPC
 *
 * write counts write, writev and pwrite. What stdio writes is not seen (libc
 * calls its own write): programs use io_write_full.
 */
#include "base.h"

#include <dlfcn.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>

static atomic_int calls;

/* A file that takes room on a disk? */
static bool on_disk(int fd)
{
    char link[64], target[16] = "";
    struct stat st;
    struct statfs fs;

    if (fd <= 2 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        fstatfs(fd, &fs) < 0 || fs.f_type == PROC_SUPER_MAGIC)
        return false;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    if (readlink(link, target, sizeof(target) - 1) < 0)
        return false;
    return strncmp(target, "/memfd:", 7) != 0;
}

/* Must the call NAME on FD (-1: none) fail now? Sets errno. */
static bool failing(const char *name, int fd)
{
    const char *spec = getenv("KM_FAIL"), *only = getenv("KM_FAIL_FD");
    const char *number = getenv("KM_FAIL_ERRNO");
    size_t n = strlen(name);

    if (!spec || strncmp(spec, name, n) != 0 || spec[n] != ':')
        return false;
    if (fd >= 0 && (only ? fd != strtol(only, NULL, 10) : !on_disk(fd)))
        return false;
    if (atomic_fetch_add(&calls, 1) + 1 < strtol(spec + n + 1, NULL, 10))
        return false;
    errno = number ? (int)strtol(number, NULL, 10) : ENOSPC;
    return true;
}

/* The next definition of a function, as a pointer of the type of FUNCTION. */
#define NEXT(function) ((__typeof__(&(function)))dlsym(RTLD_NEXT, #function))

ssize_t write(int fd, const void *p, size_t n)
{
    return failing("write", fd) ? -1 : NEXT(write)(fd, p, n);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t offset)
{
    return failing("write", fd) ? -1 : NEXT(pwrite)(fd, p, n, offset);
}

ssize_t writev(int fd, const struct iovec *v, int n)
{
    return failing("write", fd) ? -1 : NEXT(writev)(fd, v, n);
}

int fsync(int fd)
{
    return failing("fsync", fd) ? -1 : NEXT(fsync)(fd);
}

int fdatasync(int fd)
{
    return failing("fsync", fd) ? -1 : NEXT(fdatasync)(fd);
}

int rename(const char *from, const char *to)
{
    return failing("rename", -1) ? -1 : NEXT(rename)(from, to);
}

int close(int fd)
{
    /* The descriptor is gone even where close fails. */
    if (failing("close", fd)) {
        int saved = errno;

        NEXT(close)(fd);
        errno = saved;
        return -1;
    }
    return NEXT(close)(fd);
}
