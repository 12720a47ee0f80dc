/* SPDX-License-Identifier: MIT */
/* The allocator of runners on a GPU, which Python loads with the jail. */
#ifndef KM_RUN_RUNNER_ARENA_H
#define KM_RUN_RUNNER_ARENA_H

#include <stdint.h>
#include <sys/types.h>

/* SIZE bytes of the GPU at AT from now on; what was handed out before must not
 * be used any more. */
void km_arena_set(uint64_t at, uint64_t size);
/* As torch calls them. NULL: no memory left. */
void *km_arena_alloc(ssize_t size, int device, void *stream);
void km_arena_free(void *p, ssize_t size, int device, void *stream);

#endif
