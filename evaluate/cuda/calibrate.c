/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/cuda/gpu.h"
#include "proc.h"

#define NODES 2000
#define TURNS 7

/* NODES kernels of one thread, each followed by a copy of one element or not.
 */
static int nodes(struct gpu *d, void *payload, struct err *e)
{
    const bool *links = payload;
    uint64_t at = d->work.at;
    void *arguments[] = {&at};

    for (int i = 0; i < NODES; i++)
        if (gpu_launch(d, d->kernels[KERNEL_IDLE], 1, arguments, e) ||
            (*links && gpu_move(d, at + 512, at + 256, 4, e)))
            return -1;
    return 0;
}

/* Seconds for one of the nodes, the best of some turns. */
static int measure(struct gpu *d, bool links, double *out, struct err *e)
{
    void *graph = NULL;
    double best = 1e9;
    int rc = gpu_record(d, nodes, &links, &graph, e);

    for (int i = 0; !rc && i < TURNS; i++) {
        double start = now_s();
        rc = gpu_replay(d, graph, e) || gpu_wait(d, e) ? -1 : 0;
        best = MIN(best, now_s() - start);
    }
    gpu_forget(d, graph);
    *out = best / NODES;
    return rc;
}

int gpu_calibrate(struct gpu *d, struct gpu_figures *out, struct err *e)
{
    double linked;

    if (measure(d, false, &out->node, e) || measure(d, true, &linked, e))
        return -1;
    out->link = MAX(0.0, linked - out->node);
    return 0;
}
