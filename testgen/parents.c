/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <unistd.h>

#include "array.h"
#include "io.h"
#include "log.h"
#include "map.h"
#include "rec.h"
#include "schema.h"
#include "testgen/parents.h"

#define RECORD_MAX (24u << 20)

/* Bytes of the temporary file. */
struct extent {
    off_t at;
    size_t n;
};

struct held {
    struct extent item, out, again;
    bool wants; /* a module for which nothing was found */
    bool ran;   /* its task is one */
};

/* Modules, by number, whose source holds a given class. */
struct holders {
    uint32_t *v;
    size_t n, cap;
};

struct parents {
    int fd;
    off_t end;
    ARRAY(struct held) list;
    struct map by_part; /* "repo\0path\0name" -> struct holders */
};

struct parents *parents_new(struct err *e)
{
    struct parents *p;
    int fd = io_tmpfile(e);
    if (fd < 0)
        return NULL;
    p = xcalloc(1, sizeof(*p));
    p->fd = fd;
    p->by_part = (struct map)MAP_INIT;
    return p;
}

static void forget(struct parents *p)
{
    for (size_t i = 0; i < p->by_part.n; i++) {
        struct holders *h = p->by_part.entries[i].value;
        array_release(h);
        free(h);
    }
    map_release(&p->by_part);
    p->by_part = (struct map)MAP_INIT;
    p->list.n = 0;
    p->end = 0;
}

void parents_free(struct parents *p)
{
    if (!p)
        return;
    forget(p);
    array_release(&p->list);
    close(p->fd);
    free(p);
}

int parents_clear(struct parents *p, struct err *e)
{
    forget(p);
    return ftruncate(p->fd, 0) == 0
               ? 0
               : err_sys(e, "cannot empty the temporary file");
}

size_t parents_count(const struct parents *p)
{
    return p->list.n;
}

static int put(struct parents *p, struct span s, struct extent *x,
               struct err *e)
{
    size_t done = 0;
    *x = (struct extent){p->end, s.n};
    while (done < s.n) {
        ssize_t n = pwrite(p->fd, s.p + done, s.n - done, p->end + done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_sys(e, "cannot write the temporary file");
        done += (size_t)n;
    }
    p->end += (off_t)s.n;
    return 0;
}

static int get(const struct parents *p, struct extent x, struct buf *out,
               struct err *e)
{
    size_t done = 0;
    char *to = buf_reserve(out, x.n);
    if (!to)
        return err_set(e, ERR_TOO_LARGE, "the records are too large");
    while (done < x.n) {
        ssize_t n = pread(p->fd, to + done, x.n - done, x.at + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return err_sys(e, "cannot read the temporary file");
        done += (size_t)n;
    }
    buf_setlen(out, x.n);
    return 0;
}

/* One held value, in A. */
static int load(const struct parents *p, struct extent x, struct arena *a,
                struct val **out, struct err *e)
{
    struct buf b = BUF_INIT(RECORD_MAX);
    size_t used;
    int rc = get(p, x, &b, e);
    if (rc == 0)
        rc = val_unpack(a, arena_span(a, buf_span(&b)), &used, out, e);
    buf_release(&b);
    return rc == 0 ? 0 : -1;
}

static struct span key_of(struct arena *a, const struct val *rec,
                          const struct val *part)
{
    struct span repo = val_gets(rec, "repo"), path = val_gets(part, "path"),
                name = val_gets(part, "name");
    struct buf b = BUF_INIT(1u << 16);
    buf_addspan(&b, repo);
    buf_addc(&b, '\0');
    buf_addspan(&b, path);
    buf_addc(&b, '\0');
    buf_addspan(&b, name);
    struct span s = arena_span(a, buf_span(&b));
    buf_release(&b);
    return s;
}

/* Its parts are what it can teach about. */
static void index_parts(struct parents *p, struct arena *a,
                        const struct val *rec, size_t index)
{
    const struct val *parts = val_get(rec, "inlined");
    for (size_t i = 0; i < val_len(parts); i++) {
        void **place = map_ref(&p->by_part, key_of(a, rec, val_at(parts, i)));
        if (!*place)
            *place = xcalloc(1, sizeof(struct holders));
        struct holders *h = *place;
        array_push(h, (uint32_t)index);
    }
}

int parents_hold(struct parents *p, struct span item, struct span out,
                 struct err *e)
{
    struct arena a = ARENA_INIT;
    struct held h = {0};
    struct val *rec, *result;
    size_t used;
    int rc = -1;

    if (put(p, item, &h.item, e) < 0 || put(p, out, &h.out, e) < 0)
        goto done;
    if (out.n) {
        if (val_unpack(&a, item, &used, &rec, e) != 0 ||
            val_unpack(&a, out, &used, &result, e) != 0)
            goto done;
        h.ran = rec_ok(val_get(result, "rec"));
        h.wants = !h.ran;
        if (val_gets(result, "task").p)
            index_parts(p, &a, rec, p->list.n);
    }
    array_push(&p->list, h);
    rc = 0;
done:
    arena_release(&a);
    return rc;
}

int parents_replace(struct parents *p, size_t index, struct span out,
                    struct err *e)
{
    return put(p, out, &p->list.v[index].again, e);
}

/* Those that ran before those that did not, the shortest records first; the
 * number stands last, so that the order is total. */
static bool teaches_better(const struct parents *p, uint32_t x, uint32_t y)
{
    const struct held *a = &p->list.v[x], *b = &p->list.v[y];
    if (a->ran != b->ran)
        return a->ran;
    if (a->out.n != b->out.n)
        return a->out.n < b->out.n;
    return x < y;
}

static size_t best_holders(const struct parents *p, const struct holders *h,
                           uint32_t best[PARENTS_EACH])
{
    size_t n = 0;
    for (size_t i = 0; i < h->n; i++) {
        size_t at = n;
        while (at > 0 && teaches_better(p, h->v[i], best[at - 1]))
            at--;
        if (at >= PARENTS_EACH)
            continue;
        for (size_t k = MIN(n, PARENTS_EACH - 1); k > at; k--)
            best[k] = best[k - 1];
        best[at] = h->v[i];
        n = MIN(n + 1, PARENTS_EACH);
    }
    return n;
}

int parents_lesson(struct parents *p, size_t index, struct buf *out,
                   struct err *e)
{
    struct arena a = ARENA_INIT;
    uint32_t best[PARENTS_EACH];
    struct val *rec, *parent, *result, *list, *lesson;
    int rc = -1;

    buf_clear(out);
    if (!p->list.v[index].wants) {
        rc = 0;
        goto done;
    }
    if (load(p, p->list.v[index].item, &a, &rec, e) < 0)
        goto done;
    const struct holders *h = map_get(&p->by_part, key_of(&a, rec, rec));
    size_t n = h ? best_holders(p, h, best) : 0;
    rc = 0;
    if (n == 0)
        goto done;
    list = val_list(&a);
    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = load(p, p->list.v[best[i]].item, &a, &parent, e);
        if (rc == 0)
            rc = load(p, p->list.v[best[i]].out, &a, &result, e);
        if (rc < 0)
            break;
        struct val *one = val_map(&a);
        val_set(&a, one, "rec", parent);
        val_set(&a, one, "task", val_get(result, "task"));
        val_push(&a, list, one);
    }
    lesson = val_map(&a);
    val_set(&a, lesson, "rec", rec);
    val_set(&a, lesson, "index", val_int(&a, (int64_t)index));
    val_set(&a, lesson, "parents", list);
    if (rc == 0 && val_pack(out, lesson))
        buf_clear(out); /* too large to teach: it stays as it is */
done:
    arena_release(&a);
    return rc;
}

int parents_final(struct parents *p, size_t index, struct buf *out,
                  struct err *e)
{
    const struct held *h = &p->list.v[index];
    struct arena a = ARENA_INIT;
    struct val *result;
    int rc;

    buf_clear(out);
    if (!h->out.n) {
        rc = get(p, h->item, out, e);
    } else {
        rc = load(p, h->again.n ? h->again : h->out, &a, &result, e);
        if (rc == 0 && val_pack(out, val_get(result, "rec")))
            rc = err_set(e, ERR_TOO_LARGE, "the record is too large");
    }
    arena_release(&a);
    return rc;
}
