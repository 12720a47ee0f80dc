/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "io.h"
#include "rec.h"
#include "trajectories/spill.h"

int spill_open(struct spill *s, struct err *e)
{
    s->size = 0;
    buf_init(&s->packed, REC_MAX);
    s->fd = io_tmpfile(e);
    return s->fd < 0 ? -1 : 0;
}

int spill_put(struct spill *s, const struct val *v, struct spill_ref *out,
              struct err *e)
{
    buf_clear(&s->packed);
    if (val_pack(&s->packed, v) != 0)
        return err_set(e, ERR_TOO_LARGE, "more than %u MiB in one record",
                       REC_MAX >> 20);
    if (io_write_full(s->fd, s->packed.p, s->packed.n, e) != 0)
        return err_wrap(e, "temporary file");
    *out = (struct spill_ref){s->size, (uint32_t)s->packed.n};
    s->size += s->packed.n;
    return 0;
}

int spill_get(struct spill *s, struct spill_ref ref, struct arena *a,
              struct val **out, struct err *e)
{
    char *p = arena_alloc(a, ref.n ? ref.n : 1);
    for (size_t got = 0; got < ref.n;) {
        ssize_t n = pread(s->fd, p + got, ref.n - got, (off_t)(ref.off + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(e, "cannot read the temporary file");
        if (n == 0)
            return err_set(e, ERR_INTERNAL, "temporary file is cut short");
        got += (size_t)n;
    }
    size_t used;
    if (val_unpack(a, (struct span){p, ref.n}, &used, out, e) != 0)
        return err_wrap(e, "temporary file");
    return 0;
}

void spill_close(struct spill *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    buf_release(&s->packed);
}
