/* SPDX-License-Identifier: MIT */
/* A process from outside: memory, threads and CPU time, from /proc. */
#ifndef KM_EVALUATE_MEMORY_H
#define KM_EVALUATE_MEMORY_H

#include "base.h"

struct proc_memory {
    int64_t anon, shared, file; /* resident bytes */
    int64_t peak;               /* highest resident since the last reset */
};

/* False when the process is gone. */
bool memory_read(pid_t pid, struct proc_memory *m);
/* Set the peak back to what is resident now; false where the kernel does not
 * allow it. */
bool memory_reset_peak(pid_t pid);

struct proc_usage {
    double cpu_s, delay_s; /* main thread: on a core, waiting for one */
    double others_s;       /* all other threads that are alive */
    int threads;
};

bool usage_read(pid_t pid, bool all_threads, struct proc_usage *u);

#endif
