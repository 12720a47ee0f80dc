/* SPDX-License-Identifier: MIT */
/* The parent's end of a judge process: started when needed, killed when it
 * overruns, started again when it died. */
#ifndef KM_EVALUATE_LINK_H
#define KM_EVALUATE_LINK_H

#include "proc.h"
#include "val.h"

struct link_conf {
    const char *device; /* name, as device_find knows it */
    const char *python; /* or NULL */
    int require;        /* enum jail_level */
};

struct link {
    struct link_conf conf;
    struct proc p;
    int sock; /* -1: not running */
    struct arena mem;
    const struct val *opened; /* its answer to "open" */
};

void link_init(struct link *l, const struct link_conf *c);
void link_close(struct link *l);
/* Start the judge unless it runs. ERR_UNAVAILABLE: no such device. */
int link_open(struct link *l, struct err *e) MUST_USE;
/* One request; waits up to WALL_S. The judge's {ok: false} becomes an error of
 * its code. ERR_CRASH and ERR_TIMEOUT: the judge is gone, the next call starts
 * another. */
int link_call(struct link *l, struct arena *a, const struct val *msg,
              const int *fds, size_t n, double wall_s, struct val **reply,
              struct err *e) MUST_USE;

#endif
