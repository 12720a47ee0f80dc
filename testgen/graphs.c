/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "testgen/graphs.h"

#include "val.h"

int graphs_mark(struct graphs *g, struct buf *packed, struct err *e)
{
    struct arena a = ARENA_INIT;
    struct val *rec;
    size_t used;
    int rc = val_unpack(&a, buf_span(packed), &used, &rec, e) ? -1 : 0;
    struct span graph = rc == 0 ? val_gets(rec, "graph") : SPAN_LIT("");
    if (graph.n == 0 || !span_is(val_gets(rec, "kind"), "task"))
        goto out;
    struct span cluster = val_gets(rec, "cluster");
    const char *first = map_get(&g->seen, graph);
    if (!first) {
        if (!cluster.n)
            cluster = val_gets(rec, "id");
        map_put(&g->seen, graph, arena_strdup(&g->arena, cluster));
    } else if (!cluster.n) { /* REC is made of PACKED's bytes */
        struct buf marked = BUF_INIT(packed->max);
        val_set(&a, rec, "cluster", val_strz(&a, first));
        if (val_pack(&marked, rec))
            rc = err_set(e, ERR_TOO_LARGE, "the record is too large");
        buf_release(packed);
        *packed = marked;
    }
out:
    arena_release(&a);
    return rc;
}

void graphs_release(struct graphs *g)
{
    map_release(&g->seen);
    arena_release(&g->arena);
}
