/* SPDX-License-Identifier: MIT */
/* Whole reads and writes, and files that appear complete or not at all. */
#ifndef KM_IO_H
#define KM_IO_H

#include "buf.h"
#include "err.h"

/* Read until N bytes or end of file; number of bytes, or -1. */
ssize_t io_read_full(int fd, void *p, size_t n, struct err *e);
int io_write_full(int fd, const void *p, size_t n, struct err *e) MUST_USE;
/* Append a whole file to OUT (bounded by out->max). */
int io_read_file(struct buf *out, const char *path, struct err *e) MUST_USE;
int io_read_fd(struct buf *out, int fd, struct err *e) MUST_USE;
/* memfd with these bytes, sealed against change when SEAL; -1 on error. */
int io_memfd(const char *name, struct span s, bool seal, struct err *e);
/* Temporary file without a name in TMPDIR (/tmp), open for reading and writing;
 * -1 on error. */
int io_tmpfile(struct err *e);
int io_mkdirs(const char *path, struct err *e) MUST_USE; /* mkdir -p */

/* Output file: written to "PATH.part" (locked, so that two runs cannot write
 * the same one), then fsync, rename, fsync of the folder. What is there and is
 * no regular file, a pipe or device, is written straight; `part` is NULL. */
struct outfile {
    int fd;
    char *path, *part;
};
int outfile_open(struct outfile *f, const char *path, struct err *e) MUST_USE;
int outfile_commit(struct outfile *f, struct err *e) MUST_USE;
void outfile_abort(struct outfile *f); /* removes the part; harmless twice */
/* Whole small file in one call. */
int outfile_write(const char *path, struct span s, struct err *e) MUST_USE;

/* Cache folder: KM_CACHE, else $XDG_CACHE_HOME/kernelmill, else
 * ~/.cache/kernelmill, made when absent, with "/SUB" appended when SUB is
 * not NULL. Caller frees. NULL on error. */
char *io_cache_dir(const char *sub, struct err *e);

#endif
