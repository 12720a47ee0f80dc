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

/* Of the memory for a ring's data; the judge holds it six times. */
#define RING_PART 16

struct cuda {
    struct gpu gpu;
    char class_name[32];
    struct gpu_figures figures;
    double peaks[PEAK_COUNT]; /* of products, operations a second */
    double bandwidth;         /* of memory, read and written, bytes a second */
    struct gpu_arena cold;    /* twice the cache */
    struct gpu_arena places;  /* of scatter and gather; what rows count */
    int64_t own;              /* bytes of all regions */
    struct err failed;        /* the first failure, code 0 = none */
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
    return gpu_arena_new(&c->gpu, size, false, a, e);
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

    c->cold.fd = c->places.fd = -1;
    if (gpu_open(&c->gpu, 0, python, e) ||
        grow(c, &c->cold,
             MAX(2 * c->gpu.l2, MAX(PEAK_BYTES, (size_t)256 << 20)), e) ||
        measure_bandwidth(c, e) || gpu_calibrate(&c->gpu, &c->figures, e)) {
        cuda_close(c);
        return -1;
    }
    gpu_peaks(&c->gpu, python, c->cold.at, c->peaks);
    snprintf(c->class_name, sizeof(c->class_name), "cuda:sm_%d", c->gpu.cc);
    *dev = c;
    return 0;
}

static const char *const peak_names[PEAK_COUNT] = {[PEAK_FP32] = "flops_fp32",
                                                   [PEAK_TF32] = "flops_tf32",
                                                   [PEAK_BF16] = "flops_bf16",
                                                   [PEAK_FP16] = "flops_fp16"};

static double cuda_peak_products(void *dev, int dtype)
{
    const struct cuda *c = dev;

    return dtype == KM_FLOAT32    ? c->peaks[PEAK_TF32]
           : dtype == KM_BFLOAT16 ? c->peaks[PEAK_BF16]
           : dtype == KM_FLOAT16  ? c->peaks[PEAK_FP16]
                                  : 0;
}

static double cuda_memory_bandwidth(void *dev)
{
    return ((struct cuda *)dev)->bandwidth;
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
    val_set(a, map, "max_clock_khz", val_int(a, g->clock));
    val_set(a, map, "max_memory_clock_khz", val_int(a, g->memory_clock));
    val_set(a, map, "bandwidth", val_float(a, c->bandwidth));
    for (int i = 0; i < PEAK_COUNT; i++)
        val_set(a, map, peak_names[i],
                c->peaks[i] > 0 ? val_float(a, c->peaks[i]) : val_nil(a));
    val_set(a, map, "node_ns", val_float(a, 1e9 * c->figures.node));
    val_set(a, map, "link_ns", val_float(a, 1e9 * c->figures.link));
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

static void cuda_chill(void *dev)
{
    struct cuda *c = dev;
    struct err e = {0};
    size_t half = c->cold.size / 2;

    if (gpu_move(&c->gpu, c->cold.at, c->cold.at + half, half, &e) ||
        gpu_wait(&c->gpu, &e))
        note(c, &e);
}

static bool cuda_idle(void *dev)
{
    struct cuda *c = dev;
    struct err e = {0};
    void *arguments[] = {&c->cold.at};
    double best = 1e9;

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

static double cuda_link(void *dev)
{
    return ((struct cuda *)dev)->figures.link;
}

static int64_t cuda_taken(void *dev)
{
    struct cuda *c = dev;
    struct err e = {0};
    int64_t bytes = 0;

    if (gpu_taken(&c->gpu, &bytes, &e))
        note(c, &e);
    return bytes - c->own;
}

static size_t cuda_ring_bytes(void *dev)
{
    return ((struct cuda *)dev)->gpu.memory / RING_PART;
}

/* One slot is held some nine times when there is but one. */
static size_t cuda_slot_max(void *dev)
{
    return ((struct cuda *)dev)->gpu.memory / 11;
}

static int64_t cuda_left(void *dev)
{
    struct cuda *c = dev;
    return (int64_t)c->gpu.memory - cuda_taken(dev);
}

/* ---- regions ---- */

static int cuda_region_new(void *dev, size_t size, bool shared,
                           struct region *r, struct err *e)
{
    struct cuda *c = dev;
    struct gpu_arena *a = xcalloc(1, sizeof(*a));

    *r = (struct region){.fd = -1};
    if (gpu_arena_new(&c->gpu, size, shared, a, e)) {
        free(a);
        return -1;
    }
    *r = (struct region){.fd = a->fd, .size = a->size, .at = a->at, .own = a};
    c->own += (int64_t)a->size;
    return 0;
}

static void cuda_region_free(void *dev, struct region *r)
{
    struct cuda *c = dev;
    struct err e = {0};

    if (r->own) {
        if (gpu_wait(&c->gpu, &e))
            note(c, &e);
        gpu_arena_free(&c->gpu, r->own);
        c->own -= (int64_t)r->size;
    }
    free(r->own);
    *r = (struct region){.fd = -1};
}

static void cuda_write(void *dev, place_t to, const void *from, size_t n)
{
    struct cuda *c = dev;
    struct err e = {0};

    if (n && gpu_write(&c->gpu, to, from, n, &e))
        note(c, &e);
}

static void cuda_read(void *dev, void *to, place_t from, size_t n)
{
    struct cuda *c = dev;
    struct err e = {0};

    if (n && gpu_read(&c->gpu, to, from, n, &e))
        note(c, &e);
}

_Static_assert(sizeof(struct place) == sizeof(struct spot) &&
                   offsetof(struct place, value) ==
                       offsetof(struct spot, value),
               "struct spot");

/* KERNEL over the N places V from BASE on; what it leaves in V to BACK. */
static int at_places(struct cuda *c, enum gpu_kernel kernel, place_t base,
                     const struct spot *v, struct spot *back, size_t n,
                     struct err *e)
{
    uint64_t count = n;
    void *arguments[] = {&base, &c->places.at, &count};
    size_t size = n * sizeof(*v);

    /* Also for none: what was queued before is done then. */
    if (n && (grow(c, &c->places, size, e) ||
              gpu_write(&c->gpu, c->places.at, v, size, e) ||
              gpu_launch(&c->gpu, c->gpu.kernels[kernel], n, arguments, e)))
        return -1;
    return back && n ? gpu_read(&c->gpu, back, c->places.at, size, e)
                     : gpu_wait(&c->gpu, e);
}

static void cuda_scatter(void *dev, place_t base, const struct spot *v,
                         size_t n)
{
    struct err e = {0};

    if (at_places(dev, KERNEL_SCATTER, base, v, NULL, n, &e))
        note(dev, &e);
}

static void cuda_gather(void *dev, place_t base, struct spot *v, size_t n)
{
    struct err e = {0};

    if (at_places(dev, KERNEL_COLLECT, base, v, v, n, &e))
        note(dev, &e);
}

static struct strip strip_of(struct rows r)
{
    return (struct strip){.at = r.at, .pitch = r.pitch};
}

static struct strip strip_at(place_t base, place_t places)
{
    return (struct strip){.at = base, .places = places};
}

static void copy_strips(struct cuda *c, struct strip to, struct strip from,
                        size_t width, size_t n)
{
    uint64_t w = width, count = n;
    void *arguments[] = {&to, &from, &w, &count};
    struct err e = {0};

    if (width && gpu_rows(&c->gpu, KERNEL_COPY, w / 16 + 1, n, arguments, &e))
        note(c, &e);
}

static void cuda_copy(void *dev, struct rows to, struct rows from, size_t width,
                      size_t n)
{
    copy_strips(dev, strip_of(to), strip_of(from), width, n);
}

static void cuda_copy_places(void *dev, struct rows to, place_t base,
                             place_t places, size_t width, size_t n)
{
    copy_strips(dev, strip_of(to), strip_at(base, places), width, n);
}

static void set_strip(struct cuda *c, struct strip to, size_t width, size_t n,
                      uint64_t value, size_t size)
{
    uint64_t w = width, count = n, each = size;
    void *arguments[] = {&to, &w, &count, &value, &each};
    struct err e = {0};

    if (gpu_rows(&c->gpu, KERNEL_SET, w / size, n, arguments, &e))
        note(c, &e);
}

static void cuda_set(void *dev, struct rows to, size_t width, size_t n,
                     uint64_t value, size_t size)
{
    set_strip(dev, strip_of(to), width, n, value, size);
}

static void cuda_set_places(void *dev, place_t base, place_t places,
                            size_t width, size_t n, uint64_t value, size_t size)
{
    set_strip(dev, strip_at(base, places), width, n, value, size);
}

static void cuda_widen(void *dev, place_t to, place_t from, int dtype,
                       size_t numel)
{
    struct cuda *c = dev;
    uint64_t n = numel;
    void *arguments[] = {&to, &from, &dtype, &n};
    struct err e = {0};

    if (gpu_launch(&c->gpu, c->gpu.kernels[KERNEL_WIDEN], n, arguments, &e))
        note(c, &e);
}

static size_t cuda_differ(void *dev, place_t a, place_t b, size_t n)
{
    struct cuda *c = dev;
    uint64_t count = n, least = n;
    void *arguments[] = {&a, &b, &count, &c->places.at};
    struct err e = {0};

    if (n && (grow(c, &c->places, sizeof(least), &e) ||
              gpu_write(&c->gpu, c->places.at, &least, sizeof(least), &e) ||
              gpu_launch(&c->gpu, c->gpu.kernels[KERNEL_DIFFER], n / 16 + 1,
                         arguments, &e) ||
              gpu_read(&c->gpu, &least, c->places.at, sizeof(least), &e)))
        note(c, &e);
    return (size_t)least;
}

/* ---- data ---- */

static void cuda_fill(void *dev, const struct gen *g, const struct filling *v,
                      size_t n)
{
    struct cuda *c = dev;
    struct err e = {0};

    if (gpu_fill(&c->gpu, g, v, n, &e))
        note(c, &e);
}

static place_t place_of(const void *p)
{
    return (place_t)(uintptr_t)p;
}

/* Rows are sorted there. */
static bool compare_on_cpu(struct cuda *c, const struct comparison *x,
                           struct compared *out)
{
    size_t n = x->t->bytes, wide = x->t->numel * sizeof(double);
    void *candidate = xmalloc(n + 1), *reference = xmalloc(n + 1);
    double *exact = x->exact ? xmalloc(wide + 1) : NULL;
    struct comparison y = *x;
    bool done;

    cuda_read(c, candidate, place_of(x->candidate), n);
    cuda_read(c, reference, place_of(x->reference), n);
    if (exact)
        cuda_read(c, exact, place_of(x->exact), wide);
    y.candidate = candidate;
    y.reference = reference;
    y.exact = exact;
    done = compare_tensor(&y, out);
    free(candidate);
    free(reference);
    free(exact);
    return done;
}

static bool cuda_compare(void *dev, const struct comparison *x,
                         struct compared *out)
{
    struct cuda *c = dev;
    struct gpu_comparison y = {.t = x->t,
                               .tf32 = x->tf32,
                               .how = x->how,
                               .candidate = place_of(x->candidate),
                               .reference = place_of(x->reference),
                               .exact = place_of(x->exact),
                               .error = x->error,
                               .terms = x->terms};
    struct err e = {0};
    int rc;

    if (x->how == COMPARE_SET)
        return compare_on_cpu(c, x, out);
    rc = gpu_compare(&c->gpu, &y, out, &e);
    if (rc < 0)
        note(c, &e);
    return rc == 1;
}

static struct own_error cuda_own_error(void *dev, const struct tensor *t,
                                       enum compare_kind how, place_t reference,
                                       place_t exact)
{
    struct own_error o = {0};
    struct err e = {0};

    if (how == COMPARE_SET) { /* rows are sorted */
        void *r = xmalloc(t->bytes + 1);
        double *x = xmalloc((t->numel + 1) * sizeof(*x));
        cuda_read(dev, r, reference, t->bytes);
        cuda_read(dev, x, exact, t->numel * sizeof(*x));
        o = reference_error(t, how, r, x);
        free(r);
        free(x);
    } else if (gpu_own_error(&((struct cuda *)dev)->gpu, t, reference, exact,
                             &o, &e)) {
        note(dev, &e);
    }
    return o;
}

/* What rows have counted, in OUT of N. With R, how much of X is apart from it,
 * else how much of X is not finite. */
static int count_rows(struct cuda *c, const struct tensor *t, struct rows x,
                      const struct rows *r, size_t n, struct row *out,
                      struct err *e)
{
    uint64_t numel = t->numel, count = n;
    double part = ALIKE;
    int dtype = t->dtype;
    struct strip strip = strip_of(x), other = {0};
    void *first[] = {&strip, &dtype, &numel, &count, &c->places.at};
    void *second[] = {&strip, &other, &dtype,       &numel,
                      &count, &part,  &c->places.at};
    size_t size = n * sizeof(*out);

    if (grow(c, &c->places, size, e) ||
        gpu_write(&c->gpu, c->places.at, out, size, e))
        return -1;
    if (r) {
        other = strip_of(*r);
        first[0] = &other;
        if (gpu_rows(&c->gpu, KERNEL_ROW_SQUARES, numel, n, first, e) ||
            gpu_rows(&c->gpu, KERNEL_ROW_APART, numel, n, second, e))
            return -1;
    } else if (gpu_rows(&c->gpu, KERNEL_ROW_SQUARES, numel, n, first, e)) {
        return -1;
    }
    return gpu_read(&c->gpu, out, c->places.at, size, e);
}

static void look_at_rows(struct cuda *c, const struct tensor *t, struct rows x,
                         const struct rows *r, size_t n, bool *out)
{
    struct row *counted = xcalloc(n + 1, sizeof(*counted));
    struct err e = {0};

    if (n && t->numel && count_rows(c, t, x, r, n, counted, &e))
        note(c, &e);
    for (size_t i = 0; i < n; i++)
        out[i] = counted[i].bad == 0;
    free(counted);
}

static void cuda_finite(void *dev, const struct tensor *t, struct rows at,
                        size_t n, bool *out)
{
    if (dtype_is_float(t->dtype))
        look_at_rows(dev, t, at, NULL, n, out);
    else
        memset(out, 1, n * sizeof(*out));
}

static void cuda_alike(void *dev, const struct tensor *t, struct rows x,
                       struct rows r, size_t n, bool *out)
{
    look_at_rows(dev, t, x, &r, n, out);
}

const struct device_ops device_cuda = {
    .name = "cuda",
    .native = "cuda",
    .captures = true,
    .slot_max = cuda_slot_max,
    .align = 512,
    .slots = 4096,
    .strict = 16,
    .construct_s = 300,
    .ring_s = 20e-3,
    .precise = 0.005,
    .open = cuda_open,
    .close = cuda_close,
    .class_name = cuda_class,
    .describe = cuda_describe,
    .ring_bytes = cuda_ring_bytes,
    .runner_source = cuda_runner_source,
    .runner = cuda_runner,
    .chill = cuda_chill,
    .idle = cuda_idle,
    .peak_bandwidth = cuda_bandwidth,
    .peak_products = cuda_peak_products,
    .bandwidth = cuda_memory_bandwidth,
    .link_s = cuda_link,
    .taken = cuda_taken,
    .left = cuda_left,
    .region_new = cuda_region_new,
    .region_free = cuda_region_free,
    .write = cuda_write,
    .read = cuda_read,
    .scatter = cuda_scatter,
    .gather = cuda_gather,
    .copy = cuda_copy,
    .set = cuda_set,
    .copy_places = cuda_copy_places,
    .set_places = cuda_set_places,
    .widen = cuda_widen,
    .differ = cuda_differ,
    .fill = cuda_fill,
    .compare = cuda_compare,
    .own_error = cuda_own_error,
    .finite = cuda_finite,
    .alike = cuda_alike,
    .health = cuda_health,
};
