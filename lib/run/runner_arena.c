/* SPDX-License-Identifier: MIT */
/*
 * For torch as CUDAPluggableAllocator calls it: memory of an arena that the
 * judge made, so that it can read a result where the candidate computed it.
 * What does not fit comes from the driver, and is copied then. Torch asks for
 * segments and keeps them: there are few calls, under a lock of its own.
 */
#include "base.h"

#include <dlfcn.h>
#include <pthread.h>

#include "run/runner_arena.h"

#define ALIGN  ((uint64_t)512)
#define PIECES 4096

/* Free pieces, by place; none touches another. */
static struct piece {
    uint64_t at, size;
} pieces[PIECES];
static size_t n_pieces;
static uint64_t base, end;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int driver_call(const char *name, void *a, uint64_t b, size_t n_args)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *f = lib ? dlsym(lib, name) : NULL;

    if (!f)
        return -1;
    return n_args == 2 ? ((int (*)(void *, size_t))f)(a, b)
                       : ((int (*)(uint64_t))f)(b);
}

void km_arena_set(uint64_t at, uint64_t size)
{
    pthread_mutex_lock(&lock);
    base = at;
    end = at + size;
    pieces[0] = (struct piece){at, size};
    n_pieces = size ? 1 : 0;
    pthread_mutex_unlock(&lock);
}

void *km_arena_alloc(ssize_t size, int device UNUSED, void *stream UNUSED)
{
    uint64_t want = ((uint64_t)MAX(size, 1) + ALIGN - 1) / ALIGN * ALIGN;
    uint64_t at = 0;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_pieces && !at; i++) {
        struct piece *p = &pieces[i];
        if (p->size < want)
            continue;
        at = p->at;
        p->at += want;
        p->size -= want;
        if (!p->size) {
            memmove(p, p + 1, (n_pieces - i - 1) * sizeof(*p));
            n_pieces--;
        }
    }
    pthread_mutex_unlock(&lock);
    if (!at && driver_call("cuMemAlloc_v2", &at, want, 2))
        at = 0;
    return (void *)(uintptr_t)at;
}

/* Insert a piece at I and join it with its neighbours. */
static void put_back(size_t i, uint64_t at, uint64_t size)
{
    bool before = i > 0 && pieces[i - 1].at + pieces[i - 1].size == at;
    bool after = i < n_pieces && at + size == pieces[i].at;

    if (before) {
        pieces[i - 1].size += size;
        if (!after)
            return;
        pieces[i - 1].size += pieces[i].size;
        memmove(&pieces[i], &pieces[i + 1],
                (n_pieces - i - 1) * sizeof(*pieces));
        n_pieces--;
    } else if (after) {
        pieces[i].at = at;
        pieces[i].size += size;
    } else if (n_pieces < PIECES) {
        memmove(&pieces[i + 1], &pieces[i], (n_pieces - i) * sizeof(*pieces));
        pieces[i] = (struct piece){at, size};
        n_pieces++;
    } /* else it is lost until the next arena */
}

void km_arena_free(void *p, ssize_t size, int device UNUSED,
                   void *stream UNUSED)
{
    uint64_t at = (uintptr_t)p, n, i = 0;

    if (!at)
        return;
    n = ((uint64_t)MAX(size, 1) + ALIGN - 1) / ALIGN * ALIGN;
    pthread_mutex_lock(&lock);
    if (at >= base && at < end) {
        while (i < n_pieces && pieces[i].at < at)
            i++;
        put_back(i, at, n);
        at = 0;
    }
    pthread_mutex_unlock(&lock);
    if (at)
        (void)driver_call("cuMemFree_v2", NULL, at, 1);
}
