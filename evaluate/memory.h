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
    double process_s; /* CPU time of all its threads, ended ones included */
    double main_s;    /* of the main thread */
    double delay_s;   /* the main thread was ready and had no core */
    int64_t switches; /* how often the main thread got a core */
};

/* By the kernel's account, in nanoseconds; false when the process is gone. */
bool usage_read(pid_t pid, struct proc_usage *u);
/* The same of a process that was stopped, once it has left its core: the
 * kernel reports the stop a moment before, and until then the clock of the
 * process counts what the account of the main thread does not yet show. */
bool usage_read_stopped(pid_t pid, struct proc_usage *u);
/* Threads alive; 0 when the process is gone. */
int usage_threads(pid_t pid);

#endif
