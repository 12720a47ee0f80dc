/* SPDX-License-Identifier: MIT */
/*
 * Hash map from bytes to a pointer. Keys are copied into the map. Iteration
 * is in order of insertion, so that nothing depends on hash values.
 */
#ifndef KM_MAP_H
#define KM_MAP_H

#include "mem.h"

struct map_entry {
    struct span key;
    void *value;
};

struct map {
    struct map_entry *entries; /* n of them, in order of insertion */
    size_t n, cap;
    uint32_t *slots; /* index + 1 into entries, 0 = free */
    size_t n_slots;
    struct arena keys;
};

#define MAP_INIT                                                               \
    {                                                                          \
        NULL, 0, 0, NULL, 0, ARENA_INIT                                        \
    }

/* NULL when absent. */
void *map_get(const struct map *m, struct span key);
bool map_has(const struct map *m, struct span key);
/* Insert or replace; returns the old value or NULL. */
void *map_put(struct map *m, struct span key, void *value);
/* Place of the value, inserted as NULL when absent; valid until the next
 * insertion. */
void **map_ref(struct map *m, struct span key);
void map_release(struct map *m); /* not the values */

#endif
