/* SPDX-License-Identifier: MIT */
/*
 * LD_PRELOAD library that makes one call fail as a full disk does.
 *
 *   KM_FAIL=write:3   the third write or writev from here on fails, and so
 *                     does every later one (a disk stays full)
 *   KM_FAIL=fsync:1   also rename, close
 *   KM_FAIL_FD=1      only calls on this descriptor; default: all above 2
 *   KM_FAIL_ERRNO=5   default ENOSPC
 *
 * write:N also counts pwrite and what stdio writes by fflush or fclose is
 * not seen (libc calls its own write): programs use io_write_full.
 */
#include "base.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/uio.h>

static atomic_int calls;

/* Must the call NAME on FD (-1: none) fail now? Sets errno. */
static bool failing(const char *name, int fd)
{
    const char *spec = getenv("KM_FAIL"), *only = getenv("KM_FAIL_FD");
    const char *number = getenv("KM_FAIL_ERRNO");
    size_t n = strlen(name);

    if (!spec || strncmp(spec, name, n) != 0 || spec[n] != ':')
        return false;
    if (fd >= 0 && (only ? fd != strtol(only, NULL, 10) : fd <= 2))
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
