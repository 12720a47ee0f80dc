/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <fcntl.h>

#include "rec.h"
#include "schema.h"
#include "trajectories/taskset.h"

static void add(struct taskset *t, const struct val *rec)
{
    struct span name = val_gets(rec, "name");
    const char *id = arena_strdup(&t->arena, rec_id(rec));
    map_put(&t->ids, rec_id(rec), (void *)id);
    if (name.n == 0)
        return;
    const char *other = map_get(&t->names, name);
    if (other && strcmp(other, id) != 0)
        id = "";
    map_put(&t->names, name, (void *)id);
}

int taskset_load(struct taskset *t, const char *path, struct err *e)
{
    struct arena a = ARENA_INIT;
    struct rec_reader *r = NULL;
    struct val *rec;
    int status = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(e, "cannot open '%s'", path);
    r = rec_reader_new(fd, path, true);
    for (;;) {
        arena_reset(&a);
        int got = rec_read(r, &a, &rec, e);
        if (got == KM_END)
            break;
        if (got != KM_OK)
            goto out;
        if (span_is(rec_kind(rec), "task") && rec_ok(rec))
            add(t, rec);
    }
    t->loaded = true;
    status = 0;
out:
    rec_reader_free(r);
    arena_release(&a);
    close(fd);
    return status;
}

static bool is_id(struct span s)
{
    if (s.n != ID_HEX)
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= '0' && s.p[i] <= '9') ||
              (s.p[i] >= 'a' && s.p[i] <= 'f')))
            return false;
    return true;
}

struct span taskset_find(const struct taskset *t, struct span hint,
                         struct err *e)
{
    struct span none = {NULL, 0};
    if (hint.n == 0) {
        err_set(e, ERR_NO_TASK, "no task is named");
        return none;
    }
    if (!t->loaded && is_id(hint))
        return hint;
    const char *id = map_get(&t->ids, hint);
    if (!id)
        id = map_get(&t->names, hint);
    if (id && *id)
        return span_str(id);
    if (id)
        err_set(e, ERR_NO_TASK, "several tasks have the name '%.*s'",
                (int)MIN(hint.n, 100u), hint.p);
    else
        err_set(e, ERR_NO_TASK, "no task '%.*s'%s", (int)MIN(hint.n, 100u),
                hint.p, t->loaded ? "" : " (a name needs a --tasks stream)");
    return none;
}

void taskset_release(struct taskset *t)
{
    map_release(&t->ids);
    map_release(&t->names);
    arena_release(&t->arena);
    t->loaded = false;
}
