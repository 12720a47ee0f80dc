/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "io.h"
#include "mem.h"

ssize_t io_read_full(int fd, void *p, size_t n, struct err *e)
{
    size_t done = 0;

    while (done < n) {
        ssize_t k = read(fd, (char *)p + done, n - done);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return err_sys(e, "cannot read");
        if (k == 0)
            break;
        done += (size_t)k;
    }
    return (ssize_t)done;
}

int io_write_full(int fd, const void *p, size_t n, struct err *e)
{
    size_t done = 0;

    while (done < n) {
        ssize_t k = write(fd, (const char *)p + done, n - done);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return err_sys(e, "cannot write");
        done += (size_t)k;
    }
    return 0;
}

int io_read_fd(struct buf *out, int fd, struct err *e)
{
    for (;;) {
        size_t room = MIN((size_t)65536, out->max - out->n);
        char extra, *to;
        ssize_t k;

        if (room == 0) {
            k = io_read_full(fd, &extra, 1, e);
            if (k < 0)
                return -1;
            if (k == 0)
                return 0;
            return err_set(e, ERR_TOO_LARGE, "larger than %zu bytes", out->max);
        }
        to = buf_reserve(out, room);
        k = io_read_full(fd, to, room, e);
        if (k < 0)
            return -1;
        buf_setlen(out, out->n + (size_t)k);
        if ((size_t)k < room)
            return 0;
    }
}

int io_read_file(struct buf *out, const char *path, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

    if (fd < 0)
        return err_sys(e, "cannot open '%s'", path);
    rc = io_read_fd(out, fd, e);
    close(fd);
    return rc < 0 ? err_wrap(e, "'%s'", path) : 0;
}

int io_memfd(const char *name, struct span s, bool seal, struct err *e)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return err_sys(e, "cannot create memory file");
    if (io_write_full(fd, s.p, s.n, e) < 0 || lseek(fd, 0, SEEK_SET) < 0 ||
        (seal &&
         fcntl(fd, F_ADD_SEALS,
               F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)) {
        err_sys(e, "cannot fill memory file");
        close(fd);
        return -1;
    }
    return fd;
}

int io_tmpfile(struct err *e)
{
    const char *dir = getenv("TMPDIR");
    int fd;

    if (!dir || !*dir)
        dir = "/tmp";
    fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) { /* a file system without O_TMPFILE */
        char *path = xasprintf("%s/km-XXXXXX", dir);

        fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0)
            unlink(path);
        free(path);
    }
    if (fd < 0)
        err_sys(e, "cannot make a temporary file in '%s'", dir);
    return fd;
}

int io_mkdirs(const char *path, struct err *e)
{
    char *p = xstrdup(path);
    int rc = 0;

    for (char *s = *p ? p + 1 : p; rc == 0; s++) {
        char c = *s;
        if (c != '/' && c != '\0')
            continue;
        *s = '\0';
        if (mkdir(p, 0777) < 0 && errno != EEXIST)
            rc = err_sys(e, "cannot create folder '%s'", p);
        *s = c;
        if (c == '\0')
            break;
    }
    free(p);
    return rc;
}

/* A pipe or device is written as it is: to put a file in its place would
 * destroy it. */
static int open_special(struct outfile *f, const char *path, struct err *e)
{
    f->part = NULL;
    f->fd = open(path, O_WRONLY | O_CLOEXEC);
    if (f->fd < 0) {
        f->path = NULL;
        return err_sys(e, "cannot write '%s'", path);
    }
    f->path = xstrdup(path);
    return 0;
}

int outfile_open(struct outfile *f, const char *path, struct err *e)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat a, b;

    if (stat(path, &a) == 0 && !S_ISREG(a.st_mode))
        return open_special(f, path, e);
    f->path = xstrdup(path);
    f->part = xasprintf("%s.part", path);
    for (;;) {
        f->fd = open(f->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (f->fd < 0) {
            err_sys(e, "cannot create '%s'", f->part);
            goto fail;
        }
        /* Not flock: workers would hold it for a moment longer when this
         * process is killed, and the next run would find it taken. */
        if (fcntl(f->fd, F_SETLK, &whole) < 0) {
            err_set(e, ERR_SYS, "'%s' is being written by another process",
                    f->part);
            err_hint(e, "wait for it, or choose another output");
            close(f->fd);
            goto fail;
        }
        /* the holder before us may have renamed it away meanwhile */
        if (fstat(f->fd, &a) == 0 && stat(f->part, &b) == 0 &&
            a.st_ino == b.st_ino && a.st_dev == b.st_dev)
            break;
        close(f->fd);
    }
    if (ftruncate(f->fd, 0) < 0) {
        err_sys(e, "cannot empty '%s'", f->part);
        close(f->fd);
        goto fail;
    }
    return 0;
fail:
    free(f->path);
    free(f->part);
    *f = (struct outfile){-1, NULL, NULL};
    return -1;
}

static int sync_folder(const char *path, struct err *e)
{
    const char *slash = strrchr(path, '/');
    char *dir = !slash ? xstrdup(".")
                : slash == path
                    ? xstrdup("/")
                    : xmemdup0((struct span){path, (size_t)(slash - path)});
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;

    /* some file systems cannot sync a folder: EINVAL is no failure */
    if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
        rc = err_sys(e, "cannot sync folder '%s'", dir);
    if (fd >= 0)
        close(fd);
    free(dir);
    return rc;
}

int outfile_commit(struct outfile *f, struct err *e)
{
    int rc = 0;

    if (fsync(f->fd) < 0 && errno != EINVAL)
        rc = err_sys(e, "cannot sync '%s'", f->part ? f->part : f->path);
    else if (f->part && rename(f->part, f->path) < 0)
        rc = err_sys(e, "cannot rename '%s'", f->part);
    if (rc < 0) {
        outfile_abort(f);
        return -1;
    }
    if (f->part)
        rc = sync_folder(f->path, e);
    close(f->fd);
    free(f->path);
    free(f->part);
    *f = (struct outfile){-1, NULL, NULL};
    return rc;
}

void outfile_abort(struct outfile *f)
{
    if (f->part)
        unlink(f->part);
    if (f->path && f->fd >= 0)
        close(f->fd);
    free(f->path);
    free(f->part);
    *f = (struct outfile){-1, NULL, NULL};
}

int outfile_write(const char *path, struct span s, struct err *e)
{
    struct outfile f;

    if (outfile_open(&f, path, e) < 0)
        return -1;
    if (io_write_full(f.fd, s.p, s.n, e) < 0) {
        err_wrap(e, "'%s'", path);
        outfile_abort(&f);
        return -1;
    }
    return outfile_commit(&f, e);
}

char *io_cache_dir(const char *sub, struct err *e)
{
    const char *km = getenv("KM_CACHE"), *xdg = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    char *base, *path;

    if (km && *km)
        base = xstrdup(km);
    else if (xdg && *xdg == '/')
        base = xasprintf("%s/kernelmill", xdg);
    else if (home && *home)
        base = xasprintf("%s/.cache/kernelmill", home);
    else {
        err_set(e, ERR_SYS,
                "no cache folder: neither KM_CACHE nor HOME is set");
        err_hint(e, "set KM_CACHE to a folder that can be written");
        return NULL;
    }
    path = sub ? xasprintf("%s/%s", base, sub) : xstrdup(base);
    free(base);
    if (io_mkdirs(path, e) < 0) {
        free(path);
        return NULL;
    }
    return path;
}
