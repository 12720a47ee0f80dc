/* SPDX-License-Identifier: MIT */
/*
 * Byte source and sink over a descriptor, with or without zstd. A source
 * finds out by the first four bytes. Windows above 8 MiB are refused (128 MiB
 * of memory otherwise follow from one header).
 */
#ifndef KM_ZIO_H
#define KM_ZIO_H

#include "buf.h"
#include "err.h"

struct zsource;
/* FD stays the caller's. NAME is for messages, copied. */
struct zsource *zsource_new(int fd, const char *name);
/* Up to N bytes; 0 at the clean end; -1 on error, truncation included: the
 * end of input inside a zstd frame is ERR_TRUNCATED. */
ssize_t zsource_read(struct zsource *s, void *p, size_t n, struct err *e);
uint64_t zsource_offset(const struct zsource *s); /* of decoded bytes */
void zsource_free(struct zsource *s);

struct zsink;
/* LEVEL 0 = plain bytes. Frames are cut at FRAME raw bytes or more, only
 * where zsink_boundary was called (0 = one frame). One thread, checksum on,
 * so equal input gives equal bytes. */
struct zsink *zsink_new(int fd, const char *name, int level, size_t frame);
int zsink_write(struct zsink *s, const void *p, size_t n,
                struct err *e) MUST_USE;
int zsink_boundary(struct zsink *s, struct err *e) MUST_USE;
int zsink_flush(struct zsink *s, struct err *e) MUST_USE;
int zsink_finish(struct zsink *s, struct err *e) MUST_USE;
uint64_t zsink_frames(const struct zsink *s);
void zsink_free(struct zsink *s);

#endif
