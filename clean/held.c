/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/held.h"
#include "io.h"
#include "mem.h"
#include "zio.h"

/* Fast: the file is read once and thrown away. */
#define HELD_LEVEL 1

struct held {
    int fd;
    struct zsink *sink;
    struct zsource *source;
};

struct held *held_new(struct err *e)
{
    int fd = io_tmpfile(e);
    struct held *h;

    if (fd < 0)
        return NULL;
    h = xcalloc(1, sizeof(*h));
    h->fd = fd;
    h->sink = zsink_new(fd, "temporary file", HELD_LEVEL, 0);
    return h;
}

int held_put(struct held *h, char tag, struct span packed, struct err *e)
{
    char head[5] = {tag};
    uint32_t n = (uint32_t)packed.n;

    memcpy(head + 1, &n, sizeof(n)); /* read by this process only */
    return zsink_write(h->sink, head, sizeof(head), e) ||
                   zsink_write(h->sink, packed.p, packed.n, e) ||
                   zsink_boundary(h->sink, e)
               ? -1
               : 0;
}

int held_rewind(struct held *h, struct err *e)
{
    if (zsink_finish(h->sink, e))
        return -1;
    if (lseek(h->fd, 0, SEEK_SET) != 0)
        return err_sys(e, "cannot read the temporary file");
    h->source = zsource_new(h->fd, "temporary file");
    return 0;
}

static ssize_t read_full(struct held *h, void *p, size_t n, struct err *e)
{
    size_t got = 0;

    while (got < n) {
        ssize_t r = zsource_read(h->source, (char *)p + got, n - got, e);

        if (r < 0)
            return -1;
        if (r == 0)
            break;
        got += (size_t)r;
    }
    return (ssize_t)got;
}

int held_get(struct held *h, char *tag, struct buf *out, struct err *e)
{
    char head[5];
    ssize_t got = read_full(h, head, sizeof(head), e);
    uint32_t n;
    char *p;

    if (got <= 0)
        return (int)got;
    memcpy(&n, head + 1, sizeof(n));
    *tag = head[0];
    buf_clear(out);
    p = buf_reserve(out, n);
    if (got < (ssize_t)sizeof(head) || !p ||
        (got = read_full(h, p, n, e)) != (ssize_t)n)
        return got < 0 ? -1
                       : err_set(e, ERR_INTERNAL,
                                 "the temporary file is cut short");
    buf_setlen(out, n);
    return 1;
}

void held_free(struct held *h)
{
    if (!h)
        return;
    zsink_free(h->sink);
    zsource_free(h->source);
    close(h->fd);
    free(h);
}
