/* SPDX-License-Identifier: MIT */
/* Tasks that do the same operators on the same: one cluster. */
#ifndef TESTGEN_GRAPHS_H
#define TESTGEN_GRAPHS_H

#include "buf.h"
#include "err.h"
#include "map.h"

/* About 150 bytes for each graph that was met. */
struct graphs {
    struct map seen; /* graph to the text of its cluster */
    struct arena arena;
};

#define GRAPHS_INIT                                                            \
    {                                                                          \
        MAP_INIT, ARENA_INIT                                                   \
    }

/* PACKED, a record on its way out: a task without cluster gets that of the
 * first one with its graph (that one's id where it had none); called in the
 * order of the stream. All other records stay as they are. */
int graphs_mark(struct graphs *g, struct buf *packed, struct err *e) MUST_USE;
void graphs_release(struct graphs *g);

#endif
