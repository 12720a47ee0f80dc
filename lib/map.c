/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "hash.h"
#include "map.h"

static size_t probe(const struct map *m, struct span key)
{
    size_t mask = m->n_slots - 1;
    size_t i = (size_t)hash_fast(key, 0) & mask;

    while (m->slots[i] && !span_eq(m->entries[m->slots[i] - 1].key, key))
        i = (i + 1) & mask;
    return i;
}

static void grow(struct map *m)
{
    size_t n = m->n_slots ? m->n_slots * 2 : 16;

    free(m->slots);
    m->slots = xcalloc(n, sizeof(*m->slots));
    m->n_slots = n;
    for (size_t i = 0; i < m->n; i++)
        m->slots[probe(m, m->entries[i].key)] = (uint32_t)i + 1;
}

void *map_get(const struct map *m, struct span key)
{
    uint32_t at;

    if (!m->n)
        return NULL;
    at = m->slots[probe(m, key)];
    return at ? m->entries[at - 1].value : NULL;
}

bool map_has(const struct map *m, struct span key)
{
    return m->n && m->slots[probe(m, key)] != 0;
}

void **map_ref(struct map *m, struct span key)
{
    size_t i;

    if ((m->n + 1) * 4 > m->n_slots * 3)
        grow(m);
    i = probe(m, key);
    if (!m->slots[i]) {
        if (m->n == m->cap) {
            m->cap = m->cap ? m->cap * 2 : 8;
            m->entries = xreallocarray(m->entries, m->cap, sizeof(*m->entries));
        }
        m->entries[m->n].key = arena_span(&m->keys, key);
        m->entries[m->n].value = NULL;
        m->slots[i] = (uint32_t)++m->n;
    }
    return &m->entries[m->slots[i] - 1].value;
}

void *map_put(struct map *m, struct span key, void *value)
{
    void **ref = map_ref(m, key);
    void *old = *ref;
    *ref = value;
    return old;
}

void map_release(struct map *m)
{
    free(m->entries);
    free(m->slots);
    arena_release(&m->keys);
    *m = (struct map)MAP_INIT;
}
