/* SPDX-License-Identifier: MIT */
/* An NVIDIA GPU as a device: arenas that runners map by descriptor, the judge's
 * own kernels, the judge's own clock. */
#include "base.h"

#include "embed.h"
#include "evaluate/cuda/gpu.h"
#include "evaluate/cuda/passed.h"
#include "evaluate/device.h"
#include "mem.h"
#include "proc.h"

EMBED_DECLARE(runner_cuda_py);

/* A kernel of one thread is back within so long unless another context's
 * kernel runs: they share the GPU in slices of more than two milliseconds. */
#define IDLE_S 0.5e-3
#define PROBES 5
/* What is written to while caches last may be faster than memory by less than
 * this. */
#define CACHE_FACTOR 4.0

struct cuda {
    struct gpu gpu;
    char class_name[32];
    double bandwidth;        /* of memory, read and written, bytes a second */
    struct gpu_arena cold;   /* twice the cache */
    struct gpu_arena data;   /* what fill and compare work on */
    struct gpu_arena places; /* of scatter and gather */
    struct err failed;       /* the first failure, code 0 = none */
};

/* Keep the first failure: its cause. */
static void note(struct cuda *c, const struct err *e)
{
    if (!c->failed.code)
        c->failed = *e;
}

static int cuda_health(void *dev, struct err *e)
{
    struct cuda *c = dev;

    if (!c->failed.code)
        return 0;
    *e = c->failed;
    return -1;
}

static void cuda_close(void *dev)
{
    struct cuda *c = dev;

    if (c->gpu.cu) {
        gpu_arena_free(&c->gpu, &c->cold);
        gpu_arena_free(&c->gpu, &c->data);
        gpu_arena_free(&c->gpu, &c->places);
    }
    gpu_close(&c->gpu);
    free(c);
}

/* A at least SIZE bytes large; what it held is gone. */
static int grow(struct cuda *c, struct gpu_arena *a, size_t size, struct err *e)
{
    if (a->at && a->size >= size)
        return 0;
    gpu_arena_free(&c->gpu, a);
    return gpu_arena_new(&c->gpu, size, a, e);
}

/* Best of some copies of half the cold arena to the other half. */
static int measure_bandwidth(struct cuda *c, struct err *e)
{
    enum { TURNS = 5, COPIES = 20 };
    size_t half = c->cold.size / 2;
    double best = 1e9;

    for (int t = 0; t < TURNS; t++) {
        double start = now_s();
        for (int i = 0; i < COPIES; i++)
            if (gpu_move(&c->gpu, c->cold.at, c->cold.at + half, half, e))
                return -1;
        if (gpu_wait(&c->gpu, e))
            return -1;
        best = MIN(best, now_s() - start);
    }
    c->bandwidth = 2.0 * COPIES * (double)half / best;
    return 0;
}

static int cuda_open(void **dev, const char *python, struct err *e)
{
    struct cuda *c = xcalloc(1, sizeof(*c));

    c->cold.fd = c->data.fd = c->places.fd = -1;
    if (gpu_open(&c->gpu, 0, python, e) ||
        grow(c, &c->cold, MAX(2 * c->gpu.l2, (size_t)256 << 20), e) ||
        measure_bandwidth(c, e)) {
        cuda_close(c);
        return -1;
    }
    snprintf(c->class_name, sizeof(c->class_name), "cuda:sm_%d", c->gpu.cc);
    *dev = c;
    return 0;
}

static const char *cuda_class(void *dev)
{
    return ((struct cuda *)dev)->class_name;
}

static void cuda_describe(void *dev, struct arena *a, struct val *map)
{
    const struct cuda *c = dev;
    const struct gpu *g = &c->gpu;

    val_set(a, map, "name", val_text(a, span_str(g->name)));
    val_set(a, map, "driver", val_int(a, g->driver));
    val_set(a, map, "compiler", val_int(a, g->compiler));
    val_set(a, map, "multiprocessors", val_int(a, g->units));
    val_set(a, map, "memory", val_int(a, (int64_t)g->memory));
    val_set(a, map, "cache", val_int(a, (int64_t)g->l2));
    val_set(a, map, "tf32", val_bool(a, true));
}

static struct span cuda_runner_source(void)
{
    return EMBED_SPAN(runner_cuda_py);
}

static void cuda_runner(void *dev, struct runner_conf *conf)
{
    const struct cuda *c = dev;

    conf->role = "probe"; /* runner_source */
    conf->gpu = 1 + c->gpu.ordinal;
    conf->tools = true;
    conf->memory = 0; /* CUDA takes addresses for all memory there is */
}

static bool cuda_chill(void *dev)
{
    struct cuda *c = dev;
    struct err e = {0};
    void *arguments[] = {&c->cold.at};
    size_t half = c->cold.size / 2;
    double best = 1e9;

    if (gpu_move(&c->gpu, c->cold.at, c->cold.at + half, half, &e) ||
        gpu_wait(&c->gpu, &e))
        note(c, &e);
    for (int i = 0; i < PROBES; i++) {
        double start = now_s();
        if (gpu_launch(&c->gpu, c->gpu.kernels[KERNEL_IDLE], 1, arguments,
                       &e) ||
            gpu_wait(&c->gpu, &e))
            note(c, &e);
        best = MIN(best, now_s() - start);
    }
    return best < IDLE_S;
}

static double cuda_bandwidth(void *dev)
{
    return ((struct cuda *)dev)->bandwidth * CACHE_FACTOR;
}

static int64_t cuda_taken(void *dev)
{
    struct cuda *c = dev;
    struct err e = {0};
    int64_t bytes = 0;

    if (gpu_taken(&c->gpu, &bytes, &e))
        note(c, &e);
    return bytes;
}

/* ---- regions: MAP is their struct gpu_arena ---- */

static int cuda_region_new(void *dev, size_t size, struct region *r,
                           struct err *e)
{
    struct cuda *c = dev;
    struct gpu_arena *a = xcalloc(1, sizeof(*a));

    *r = (struct region){.fd = -1};
    if (gpu_arena_new(&c->gpu, size, a, e)) {
        free(a);
        return -1;
    }
    *r = (struct region){.fd = a->fd, .size = a->size, .map = a};
    return 0;
}

static void cuda_region_free(void *dev, struct region *r)
{
    struct cuda *c = dev;

    if (r->map)
        gpu_arena_free(&c->gpu, r->map);
    free(r->map);
    *r = (struct region){.fd = -1};
}

static uint64_t address(const struct region *r, size_t at)
{
    return ((const struct gpu_arena *)r->map)->at + at;
}

static void cuda_write(void *dev, struct region *r, size_t at, const void *p,
                       size_t n)
{
    struct cuda *c = dev;
    struct err e = {0};

    if (n && gpu_write(&c->gpu, address(r, at), p, n, &e))
        note(c, &e);
}

static const void *cuda_view(void *dev, const struct region *r, size_t at,
                             size_t n, void *scratch)
{
    struct cuda *c = dev;
    struct err e = {0};

    if (n && gpu_read(&c->gpu, scratch, address(r, at), n, &e))
        note(c, &e);
    return scratch;
}

_Static_assert(sizeof(struct place) == sizeof(struct spot) &&
                   offsetof(struct place, value) ==
                       offsetof(struct spot, value),
               "struct spot");

/* KERNEL over the N places V of R; what it leaves in V when BACK. */
static int at_places(struct cuda *c, enum gpu_kernel kernel,
                     const struct region *r, const struct spot *v,
                     struct spot *back, size_t n, struct err *e)
{
    uint64_t base = address(r, 0), count = n;
    void *arguments[] = {&base, &c->places.at, &count};

    if (grow(c, &c->places, n * sizeof(*v), e) ||
        gpu_write(&c->gpu, c->places.at, v, n * sizeof(*v), e) ||
        gpu_launch(&c->gpu, c->gpu.kernels[kernel], n, arguments, e))
        return -1;
    return back ? gpu_read(&c->gpu, back, c->places.at, n * sizeof(*v), e)
                : gpu_wait(&c->gpu, e);
}

static void cuda_scatter(void *dev, struct region *r, const struct spot *v,
                         size_t n)
{
    struct err e = {0};

    if (n && at_places(dev, KERNEL_SCATTER, r, v, NULL, n, &e))
        note(dev, &e);
}

static void cuda_gather(void *dev, const struct region *r, struct spot *v,
                        size_t n)
{
    struct err e = {0};

    if (n && at_places(dev, KERNEL_COLLECT, r, v, v, n, &e))
        note(dev, &e);
}

/* ---- data ---- */

static void cuda_fill(void *dev, const struct gen *g, const struct tensor *t,
                      const struct fill *f, void *dst)
{
    struct cuda *c = dev;
    struct err e = {0};

    if (!t->bytes)
        return;
    if (grow(c, &c->data, t->bytes, &e) ||
        gpu_fill(&c->gpu, g, t, f, c->data.at, &e) ||
        gpu_read(&c->gpu, dst, c->data.at, t->bytes, &e))
        note(c, &e);
}

static size_t rounded(size_t n)
{
    return (n + 255) / 256 * 256;
}

static bool cuda_compare(void *dev, const struct comparison *x,
                         struct compared *out)
{
    struct cuda *c = dev;
    size_t n = x->t->bytes, wide = x->t->numel * sizeof(double);
    struct gpu_comparison y = {
        .t = x->t, .how = x->how, .error = x->error, .terms = x->terms};
    struct err e = {0};
    int rc;

    if (x->how == COMPARE_SET || !n)
        return compare_tensor(x, out);
    if (grow(c, &c->data, 2 * rounded(n) + wide, &e))
        goto fail;
    y.candidate = c->data.at;
    y.reference = y.candidate + rounded(n);
    y.exact = x->exact ? y.reference + rounded(n) : 0;
    if (gpu_write(&c->gpu, y.candidate, x->candidate, n, &e) ||
        gpu_write(&c->gpu, y.reference, x->reference, n, &e) ||
        (x->exact && gpu_write(&c->gpu, y.exact, x->exact, wide, &e)))
        goto fail;
    rc = gpu_compare(&c->gpu, &y, out, &e);
    if (rc >= 0)
        return rc == 1;
fail:
    note(c, &e);
    return false;
}

static const char *const languages[] = {"torch", NULL};

const struct device_ops device_cuda = {
    .name = "cuda",
    .languages = languages,
    .captures = true,
    .construct_s = 300,
    .ring_s = 20e-3,
    .ring_bytes = (size_t)256 << 20,
    .precise = 0.005,
    .open = cuda_open,
    .close = cuda_close,
    .class_name = cuda_class,
    .describe = cuda_describe,
    .runner_source = cuda_runner_source,
    .runner = cuda_runner,
    .chill = cuda_chill,
    .peak_bandwidth = cuda_bandwidth,
    .taken = cuda_taken,
    .region_new = cuda_region_new,
    .region_free = cuda_region_free,
    .write = cuda_write,
    .view = cuda_view,
    .scatter = cuda_scatter,
    .gather = cuda_gather,
    .fill = cuda_fill,
    .compare = cuda_compare,
    .health = cuda_health,
};
