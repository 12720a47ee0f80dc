/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "embed.h"
#include "evaluate/cuda/gpu.h"
#include "evaluate/cuda/passed.h"
#include "mem.h"

EMBED_DECLARE(data_cu);
EMBED_DECLARE(compare_cu);
EMBED_DECLARE(ring_cu);

/* CUdevice_attribute */
#define ATTRIBUTE_CLOCK        13
#define ATTRIBUTE_UNITS        16
#define ATTRIBUTE_MEMORY_CLOCK 36
#define ATTRIBUTE_L2           38
#define ATTRIBUTE_MAJOR        75
#define ATTRIBUTE_MINOR        76
#define ATTRIBUTE_VMM          102 /* virtual memory management */
#define ATTRIBUTE_FDS          103 /* handles as descriptors */

#define STREAM_OWN 1 /* does not wait for the null stream */
/* Blocks for each multiprocessor: enough for all of its threads. */
#define BLOCKS   8
#define ROWS_MAX 65535 /* of a grid */
/* Totals of all blocks, or samples: compare.c. */
#define WORK_SIZE ((size_t)2 << 20)

#define CAPTURE_RELAXED 2

#define TRY(d, call, what)                                                     \
    cuda_check((d)->cu->call, ERR_INFRASTRUCTURE, what, e)

static struct cuda_memory memory_of(const struct gpu *d)
{
    return (struct cuda_memory){.type = CUDA_MEMORY_PINNED,
                                .handles = CUDA_HANDLE_FD,
                                .location = CUDA_ON_DEVICE,
                                .device = d->ordinal};
}

static int describe(struct gpu *d, int device, struct err *e)
{
    int major = 0, minor = 0, l2 = 0, vmm = 0, fds = 0;
    struct cuda_memory m;

    if (TRY(d, device_name(d->name, sizeof(d->name), device), "name of GPU") ||
        TRY(d, device_attribute(&major, ATTRIBUTE_MAJOR, device), "GPU") ||
        TRY(d, device_attribute(&minor, ATTRIBUTE_MINOR, device), "GPU") ||
        TRY(d, device_attribute(&l2, ATTRIBUTE_L2, device), "GPU") ||
        TRY(d, device_attribute(&vmm, ATTRIBUTE_VMM, device), "GPU") ||
        TRY(d, device_attribute(&fds, ATTRIBUTE_FDS, device), "GPU") ||
        TRY(d, device_attribute(&d->units, ATTRIBUTE_UNITS, device), "GPU") ||
        TRY(d, device_attribute(&d->clock, ATTRIBUTE_CLOCK, device), "GPU") ||
        TRY(d,
            device_attribute(&d->memory_clock, ATTRIBUTE_MEMORY_CLOCK, device),
            "GPU") ||
        TRY(d, device_memory(&d->memory, device), "memory of GPU") ||
        TRY(d, driver_version(&d->driver), "version of the driver"))
        return -1;
    if (!vmm || !fds)
        return err_set(e, ERR_UNAVAILABLE,
                       "GPU '%s' cannot share memory by descriptor", d->name);
    d->cc = major * 10 + minor;
    d->l2 = (size_t)l2;
    m = memory_of(d);
    return TRY(d, granularity(&d->granularity, &m, 0), "size of pages");
}

static const struct {
    enum gpu_module module;
    const char *symbol;
} kernels[] = {
#define KERNEL(name, module, symbol) {MODULE_##module, symbol},
#include "evaluate/cuda/kernels.def"
#undef KERNEL
};

static int load_module(struct gpu *d, const struct nvrtc *n, struct span source,
                       const char *name, void **module, struct err *e)
{
    const struct nvrtc_conf conf = {.name = name, .cc = d->cc};
    struct buf code = BUF_INIT(16u << 20);
    int rc = nvrtc_build(n, source, &conf, &code, e);

    if (rc == 0)
        rc = TRY(d, module_load(module, code.p), name);
    buf_release(&code);
    return rc;
}

static int load_kernels(struct gpu *d, const char *python, struct err *e)
{
    const struct nvrtc *n = nvrtc_open(python, e);
    int major = 0, minor = 0;

    if (!n)
        return -1;
    if (n->version(&major, &minor) == 0)
        d->compiler = major * 1000 + minor * 10;
    if (load_module(d, n, EMBED_SPAN(data_cu), "data.cu",
                    &d->modules[MODULE_DATA], e) ||
        load_module(d, n, EMBED_SPAN(compare_cu), "compare.cu",
                    &d->modules[MODULE_COMPARE], e) ||
        load_module(d, n, EMBED_SPAN(ring_cu), "ring.cu",
                    &d->modules[MODULE_RING], e))
        return -1;
    for (int i = 0; i < KERNEL_COUNT; i++)
        if (TRY(d,
                function_get(&d->kernels[i], d->modules[kernels[i].module],
                             kernels[i].symbol),
                kernels[i].symbol))
            return -1;
    return 0;
}

int gpu_start(struct gpu *d, int ordinal, struct err *e)
{
    int n = 0, device = 0;

    *d = (struct gpu){.ordinal = ordinal, .work.fd = -1, .fills.fd = -1};
    d->cu = cuda_driver(e);
    if (!d->cu)
        return -1;
    if (d->cu->device_count(&n) || ordinal < 0 || ordinal >= n)
        return err_set(e, ERR_UNAVAILABLE, "no GPU %d: the driver shows %d",
                       ordinal, n);
    if (TRY(d, device_get(&device, ordinal), "GPU") || describe(d, device, e) ||
        TRY(d, context_retain(&d->context, device), "context of the GPU") ||
        TRY(d, context_set(d->context), "context of the GPU") ||
        TRY(d, stream_create(&d->stream, STREAM_OWN), "stream"))
        return -1;
    return 0;
}

int gpu_open(struct gpu *d, int ordinal, const char *python, struct err *e)
{
    if (gpu_start(d, ordinal, e) || load_kernels(d, python, e))
        return -1;
    return gpu_arena_new(d, WORK_SIZE, false, &d->work, e);
}

void gpu_close(struct gpu *d)
{
    if (!d->cu)
        return;
    gpu_arena_free(d, &d->work);
    gpu_arena_free(d, &d->fills);
    for (size_t i = 0; i < MODULE_COUNT; i++)
        if (d->modules[i])
            d->cu->module_unload(d->modules[i]);
    if (d->stream)
        d->cu->stream_destroy(d->stream);
    if (d->context)
        d->cu->context_release(d->ordinal);
    *d = (struct gpu){0};
}

/* ---- arenas ---- */

/* Give the memory of A->handle addresses, in this process. */
static int map(struct gpu *d, struct gpu_arena *a, struct err *e)
{
    struct cuda_access access = {CUDA_ON_DEVICE, d->ordinal, CUDA_READ_WRITE};

    if (TRY(d, address_reserve(&a->at, a->size, 0, 0, 0), "addresses"))
        return -1;
    if (TRY(d, memory_map(a->at, a->size, 0, a->handle, 0), "arena")) {
        d->cu->address_free(a->at, a->size);
        a->at = 0;
        return -1;
    }
    return TRY(d, memory_access(a->at, a->size, &access, 1), "arena");
}

static size_t rounded(const struct gpu *d, size_t size)
{
    return (MAX(size, (size_t)1) + d->granularity - 1) / d->granularity *
           d->granularity;
}

int gpu_arena_new(struct gpu *d, size_t size, bool shared, struct gpu_arena *a,
                  struct err *e)
{
    struct cuda_memory m = memory_of(d);

    *a = (struct gpu_arena){.fd = -1, .size = rounded(d, size)};
    if (a->size < size)
        return err_set(e, ERR_INFRASTRUCTURE, "an arena of %zu bytes", size);
    if (TRY(d, memory_create(&a->handle, a->size, &m, 0), "arena"))
        return -1;
    if ((shared && TRY(d, memory_export(&a->fd, a->handle, CUDA_HANDLE_FD, 0),
                       "descriptor of an arena")) ||
        map(d, a, e)) {
        gpu_arena_free(d, a);
        return -1;
    }
    return 0;
}

int gpu_arena_import(struct gpu *d, int fd, size_t size, struct gpu_arena *a,
                     struct err *e)
{
    *a = (struct gpu_arena){.fd = -1, .size = rounded(d, size)};
    if (TRY(d, memory_import(&a->handle, (void *)(intptr_t)fd, CUDA_HANDLE_FD),
            "descriptor of an arena"))
        return -1;
    if (map(d, a, e)) {
        gpu_arena_free(d, a);
        return -1;
    }
    return 0;
}

void gpu_arena_free(struct gpu *d, struct gpu_arena *a)
{
    if (a->at) {
        d->cu->memory_unmap(a->at, a->size);
        d->cu->address_free(a->at, a->size);
    }
    if (a->handle)
        d->cu->memory_release(a->handle);
    if (a->fd >= 0)
        close(a->fd);
    *a = (struct gpu_arena){.fd = -1};
}

/* ---- work ---- */

int gpu_wait(struct gpu *d, struct err *e)
{
    return TRY(d, stream_wait(d->stream), "GPU");
}

int gpu_write(struct gpu *d, uint64_t to, const void *from, size_t n,
              struct err *e)
{
    if (TRY(d, copy_in(to, from, n, d->stream), "copy to the GPU"))
        return -1;
    return gpu_wait(d, e);
}

int gpu_read(struct gpu *d, void *to, uint64_t from, size_t n, struct err *e)
{
    if (TRY(d, copy_out(to, from, n, d->stream), "copy from the GPU"))
        return -1;
    return gpu_wait(d, e);
}

int gpu_move(struct gpu *d, uint64_t to, uint64_t from, size_t n, struct err *e)
{
    return TRY(d, copy(to, from, n, d->stream), "copy on the GPU");
}

int gpu_taken(struct gpu *d, int64_t *bytes, struct err *e)
{
    size_t left = 0, all = 0;

    if (TRY(d, memory_info(&left, &all), "memory of the GPU"))
        return -1;
    *bytes = (int64_t)(all - left);
    return 0;
}

int gpu_record(struct gpu *d, int (*body)(struct gpu *, void *, struct err *),
               void *payload, void **graph, struct err *e)
{
    void *recorded = NULL;
    struct err ignored;
    int rc;

    *graph = NULL;
    if (TRY(d, capture_begin(d->stream, CAPTURE_RELAXED), "capture"))
        return -1;
    rc = body(d, payload, e);
    if (cuda_check(d->cu->capture_end(d->stream, &recorded), ERR_INFRASTRUCTURE,
                   "capture", rc ? &ignored : e))
        rc = -1;
    if (!rc)
        rc = TRY(d, graph_make(graph, recorded, 0), "graph");
    if (recorded)
        d->cu->graph_free(recorded);
    return rc;
}

int gpu_replay(struct gpu *d, void *graph, struct err *e)
{
    return TRY(d, graph_launch(graph, d->stream), "graph");
}

void gpu_forget(struct gpu *d, void *graph)
{
    if (graph)
        d->cu->graph_end(graph);
}

size_t gpu_blocks(const struct gpu *d, uint64_t n)
{
    return (size_t)MIN((n + KERNEL_THREADS - 1) / KERNEL_THREADS,
                       (uint64_t)d->units * BLOCKS);
}

int gpu_launch(struct gpu *d, void *kernel, uint64_t n, void **arguments,
               struct err *e)
{
    if (n == 0)
        return 0;
    return TRY(d,
               launch(kernel, (unsigned)gpu_blocks(d, n), 1, 1, KERNEL_THREADS,
                      1, 1, 0, d->stream, arguments, NULL),
               "own kernel");
}

int gpu_rows(struct gpu *d, enum gpu_kernel kernel, uint64_t width, uint64_t n,
             void **arguments, struct err *e)
{
    size_t most = (size_t)d->units * BLOCKS, x, y;

    if (width == 0 || n == 0)
        return 0;
    y = (size_t)MIN(n, (uint64_t)ROWS_MAX);
    x = MIN(gpu_blocks(d, width), MAX(most / MIN(y, most), (size_t)1));
    return TRY(d,
               launch(d->kernels[kernel], (unsigned)x, (unsigned)y, 1,
                      KERNEL_THREADS, 1, 1, 0, d->stream, arguments, NULL),
               "own kernel");
}
