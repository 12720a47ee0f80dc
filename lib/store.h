/* SPDX-License-Identifier: MIT */
/*
 * Content-addressed store of results that cost something (test runs,
 * verdicts, builds): SQLite, WAL, one file in the cache folder, any number of
 * processes. A key is a SHA-256 over what the result depends on.
 */
#ifndef KM_STORE_H
#define KM_STORE_H

#include "buf.h"
#include "err.h"

struct store;
/* PATH NULL = "NAME.sqlite" in the cache folder. */
int store_open(struct store **out, const char *path, const char *name,
               struct err *e) MUST_USE;
/* 1 = found and appended to OUT, 0 = absent, -1 = error. */
int store_get(struct store *s, const char *kind, const char *key,
              struct buf *out, struct err *e) MUST_USE;
/* First writer wins: an existing value is kept, so that what was once served
 * stays the same. */
int store_put(struct store *s, const char *kind, const char *key,
              struct span value, struct err *e) MUST_USE;
/* Forget a value that its reader found damaged. */
int store_drop(struct store *s, const char *kind, const char *key,
               struct err *e) MUST_USE;
void store_close(struct store *s);

#endif
