/* SPDX-License-Identifier: MIT */
/* Any bytes as a record stream: read all, write what was read, read that
 * again: it must be the same. */
#include "base.h"

#include <sys/mman.h>

#include "io.h"
#include "rec.h"
#include "schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_stream(struct span bytes, bool bare, struct rec_writer *w)
{
    struct err e;
    struct arena a = ARENA_INIT;
    struct val *v;
    int fd = io_memfd("fuzz", bytes, false, &e), rc;
    struct rec_reader *r = rec_reader_new(fd, "fuzz", bare);

    while ((rc = rec_read(r, &a, &v, &e)) == KM_OK || rc == KM_RECORD) {
        if (rc == KM_OK && w) {
            (void)!schema_check(&a, v, &e);
            rec_seal(&a, v);
            if (rec_write(w, v, &e) < 0)
                break;
        }
        arena_reset(&a);
    }
    rec_reader_free(r);
    arena_release(&a);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e;
    struct buf b = BUF_INIT(64u << 20);
    int fd = memfd_create("out", MFD_CLOEXEC);
    struct rec_writer *w =
        rec_writer_new(fd, "out", size & 1 ? REC_JSON : REC_MSGPACK, 0);

    if (rec_write_header(w, "fuzz", NULL, NULL, &e) < 0)
        abort();
    read_stream((struct span){(const char *)data, size}, size & 2, w);
    if (rec_write_end(w, &e) < 0)
        abort();
    rec_writer_free(w);
    lseek(fd, 0, SEEK_SET);
    if (io_read_fd(&b, fd, &e) < 0)
        abort();
    read_stream(buf_span(&b), false, NULL);
    buf_release(&b);
    close(fd);
    return 0;
}
