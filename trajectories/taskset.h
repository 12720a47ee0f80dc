/* SPDX-License-Identifier: MIT */
/* The tasks of a --tasks stream, by id and by name. */
#ifndef KM_TASKSET_H
#define KM_TASKSET_H

#include "err.h"
#include "map.h"

struct taskset {
    bool loaded;
    struct map ids;   /* id -> id text in the arena */
    struct map names; /* name -> id text; "" = the name of several tasks */
    struct arena arena;
};

#define TASKSET_INIT                                                           \
    {                                                                          \
        false, MAP_INIT, MAP_INIT, ARENA_INIT                                  \
    }

/* Read the stream in file PATH; only tasks with state ok count. */
int taskset_load(struct taskset *t, const char *path, struct err *e) MUST_USE;
/* Id of the task that HINT (an id or a name) names, borrowed from T. Without
 * a stream any id is taken as it is, and no name is known. p == NULL with
 * ERR_NO_TASK when there is none. */
struct span taskset_find(const struct taskset *t, struct span hint,
                         struct err *e);
void taskset_release(struct taskset *t);

#endif
