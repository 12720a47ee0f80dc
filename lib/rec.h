/* SPDX-License-Identifier: MIT */
/*
 * The record stream: msgpack maps (or JSON lines), header first, end last,
 * optionally inside zstd. A record is a struct val of type map.
 *
 *   header: {kind:"header", v:1, program, version, options:{...},
 *            chain:[{program, version, options}...]}   (earlier stages)
 *   end:    {kind:"end", counts:{KIND:{ok,rejected,failed}}, digest:"64 hex"}
 *           digest = SHA-256 of all uncompressed msgpack bytes before it;
 *           absent in JSON lines.
 */
#ifndef KM_REC_H
#define KM_REC_H

#include "val.h"
#include "zio.h"

#define REC_VERSION 1
#define REC_MAX     (16u << 20) /* bytes of one record, packed */

enum rec_format { REC_MSGPACK, REC_JSON };

struct rec_counts;
struct rec_reader;

/* FD and NAME as zsource_new. BARE: JSON lines without header and end are
 * accepted. */
struct rec_reader *rec_reader_new(int fd, const char *name, bool bare);
/* Next record into arena A (text included: nothing borrows from the reader);
 * header and end are not returned but checked. KM_OK, KM_END, KM_RECORD (this
 * one is unacceptable, the stream goes on: JSON only), KM_DEAD. Messages name
 * stream, record number and byte offset. */
int rec_read(struct rec_reader *r, struct arena *a, struct val **out,
             struct err *e) MUST_USE;
/* The header, or NULL (bare); valid until free. Reads it when need be. */
int rec_header(struct rec_reader *r, const struct val **out,
               struct err *e) MUST_USE;
enum rec_format rec_format(const struct rec_reader *r);
uint64_t rec_number(const struct rec_reader *r); /* records returned so far */
void rec_reader_free(struct rec_reader *r);

struct rec_writer;
struct rec_writer *rec_writer_new(int fd, const char *name,
                                  enum rec_format format, int zstd_level);
/* Header for PROGRAM; OPTIONS (a map or NULL) holds those that change the
 * output; UPSTREAM = header of the input or NULL: it becomes the chain. */
int rec_write_header(struct rec_writer *w, const char *program,
                     const struct val *options, const struct val *upstream,
                     struct err *e) MUST_USE;
/* A record must have kind, id, state and why (rec_seal sets them). */
int rec_write(struct rec_writer *w, const struct val *rec,
              struct err *e) MUST_USE;
/* A record that is packed already, as read or made by a worker. */
int rec_write_packed(struct rec_writer *w, struct span packed,
                     struct err *e) MUST_USE;
int rec_flush(struct rec_writer *w, struct err *e) MUST_USE;
int rec_write_end(struct rec_writer *w, struct err *e) MUST_USE;
void rec_writer_free(struct rec_writer *w);

/* Counts by kind and state of what was written, for the summary. */
struct rec_tally {
    uint64_t total, ok, rejected, failed;
};
struct rec_tally rec_written(const struct rec_writer *w);

#endif
