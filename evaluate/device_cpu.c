/* SPDX-License-Identifier: MIT */
/* The CPU as a device: memfd regions, one core for runners, another for the
 * judge where there is one. */
#include "base.h"

#include "evaluate/device.h"

#include "io.h"
#include "mem.h"
#include "proc.h"

#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <sys/mman.h>

struct cpu {
    int runner_core, judge_core, cores;
    double bandwidth;
    size_t cold_size; /* twice the private caches of a core */
    volatile char *cold;
    char model[80];
};

/* Best of some copies inside the first-level cache: 8 KiB to 8 KiB. Reads and
 * writes both count, so nothing honest can be above it by more than the width
 * of loads over stores (2), which is the margin taken below. */
static double measure_bandwidth(void)
{
    enum { SIZE = 8192, TURNS = 2000 };
    char *a = xmalloc(SIZE), *b = xmalloc(SIZE);
    double best = 1e9;
    memset(a, 1, SIZE);
    for (int r = 0; r < 7; r++) {
        double t = now_s();
        for (int i = 0; i < TURNS; i++) {
            memcpy(b, a, SIZE);
            __asm__ volatile("" : : "r"(b), "r"(a) : "memory");
        }
        best = MIN(best, now_s() - t);
    }
    free(a);
    free(b);
    return 2.0 * 2 * SIZE * TURNS / best;
}

static void read_model(char *out, size_t cap)
{
    FILE *f = fopen("/proc/cpuinfo", "re");
    char line[256];
    snprintf(out, cap, "unknown");
    while (f && fgets(line, sizeof(line), f)) {
        char *v = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !v)
            continue;
        v += strspn(v, ": \t");
        v[strcspn(v, "\n")] = 0;
        mask_text(out, cap, span_str(v));
        break;
    }
    if (f)
        fclose(f);
}

static void cpu_close(void *dev)
{
    struct cpu *c = dev;
    free((void *)c->cold);
    free(c);
}

static void move_to(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    (void)sched_setaffinity(0, sizeof(set), &set);
}

static size_t cpu_ring_bytes(void *dev UNUSED)
{
    return (size_t)256 << 20;
}

static void cpu_chill(void *dev)
{
    struct cpu *c = dev;
    if (c->judge_core != c->runner_core)
        move_to(c->runner_core);
    for (size_t i = 0; i < c->cold_size; i += 64)
        c->cold[i]++;
    if (c->judge_core != c->runner_core)
        move_to(c->judge_core);
}

static bool cpu_idle(void *dev UNUSED)
{
    return true;
}

static int cpu_open(void **dev, const char *python UNUSED, struct err *e)
{
    struct cpu *c = xcalloc(1, sizeof(*c));
    cpu_set_t set, mine;
    long l2;
    if (sched_getaffinity(0, sizeof(set), &set)) {
        free(c);
        return err_sys(e, "cannot read the set of cores");
    }
    c->cores = CPU_COUNT(&set);
    c->judge_core = c->runner_core = -1;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set)) {
            if (c->judge_core < 0)
                c->judge_core = i;
            c->runner_core = i; /* the last: interrupts favour the first */
        }
    c->bandwidth = measure_bandwidth();
    l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    c->cold_size = 2 * (l2 > 0 ? (size_t)l2 : (size_t)1 << 20);
    c->cold = xcalloc(1, c->cold_size);
    CPU_ZERO(&mine);
    CPU_SET(c->judge_core, &mine);
    if (sched_setaffinity(0, sizeof(mine), &mine)) {
        err_sys(e, "cannot pin to core %d", c->judge_core);
        cpu_close(c);
        return -1;
    }
    read_model(c->model, sizeof(c->model));
    *dev = c;
    return 0;
}

static const char *cpu_class(void *dev UNUSED)
{
    return "cpu";
}

static void cpu_describe(void *dev, struct arena *a, struct val *map)
{
    const struct cpu *c = dev;
    val_set(a, map, "name", val_strz(a, c->model));
    val_set(a, map, "cores", val_int(a, c->cores));
    val_set(a, map, "shared_core",
            val_bool(a, c->judge_core == c->runner_core));
}

static void cpu_runner(void *dev, struct runner_conf *c)
{
    c->cpu = ((struct cpu *)dev)->runner_core;
}

static double cpu_bandwidth(void *dev)
{
    return ((struct cpu *)dev)->bandwidth;
}

static int64_t cpu_memory(void *dev UNUSED)
{
    return -1;
}

static void *ptr(place_t at)
{
    return (void *)(uintptr_t)at;
}

static int map_shared(struct region *r, struct err *e)
{
    r->fd = memfd_create("km-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (r->fd < 0)
        return err_sys(e, "cannot create an arena");
    if (ftruncate(r->fd, (off_t)r->size) ||
        fcntl(r->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        err_sys(e, "cannot size an arena of %zu bytes", r->size);
        close(r->fd);
        r->fd = -1;
        return -1;
    }
    return 0;
}

static int cpu_region_new(void *dev UNUSED, size_t size, bool shared,
                          struct region *r, struct err *e)
{
    size_t page = 4096;

    size = (size + page - 1) / page * page;
    *r = (struct region){.fd = -1, .size = size ? size : page};
    if (shared && map_shared(r, e))
        return -1;
    r->own = mmap(NULL, r->size, PROT_READ | PROT_WRITE,
                  shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, r->fd, 0);
    if (r->own == MAP_FAILED) {
        err_sys(e, "cannot map an arena of %zu bytes", r->size);
        if (r->fd >= 0)
            close(r->fd);
        *r = (struct region){.fd = -1};
        return -1;
    }
    r->at = (uintptr_t)r->own;
    return 0;
}

static void cpu_region_free(void *dev UNUSED, struct region *r)
{
    if (r->own)
        munmap(r->own, r->size);
    if (r->fd >= 0)
        close(r->fd);
    *r = (struct region){.fd = -1};
}

static void cpu_write(void *dev UNUSED, place_t to, const void *from, size_t n)
{
    memcpy(ptr(to), from, n);
}

static void cpu_read(void *dev UNUSED, void *to, place_t from, size_t n)
{
    memcpy(to, ptr(from), n);
}

static void cpu_scatter(void *dev UNUSED, place_t base, const struct spot *v,
                        size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(ptr(base + v[i].at), v[i].value, v[i].size);
}

static void cpu_gather(void *dev UNUSED, place_t base, struct spot *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(v[i].value, ptr(base + v[i].at), v[i].size);
}

static void cpu_copy(void *dev UNUSED, struct rows to, struct rows from,
                     size_t width, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(ptr(to.at + i * to.pitch), ptr(from.at + i * from.pitch), width);
}

static void cpu_set(void *dev UNUSED, struct rows to, size_t width, size_t n,
                    uint64_t value, size_t size)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < width; k += size)
            memcpy(ptr(to.at + i * to.pitch + k), &value, size);
}

static void cpu_widen(void *dev UNUSED, place_t to, place_t from, int dtype,
                      size_t numel)
{
    dtype_to_double(dtype, ptr(from), ptr(to), numel);
}

static size_t cpu_differ(void *dev UNUSED, place_t a, place_t b, size_t n)
{
    const uint8_t *x = ptr(a), *y = ptr(b);
    size_t at = 0, step;

    for (; at < n; at += step) {
        step = MIN(n - at, (size_t)4096);
        if (memcmp(x + at, y + at, step))
            break;
    }
    while (at < n && x[at] == y[at])
        at++;
    return at;
}

static void cpu_fill(void *dev UNUSED, const struct gen *g,
                     const struct filling *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        gen_fill(g, v[i].t, &v[i].f, ptr(v[i].to));
}

static bool cpu_compare(void *dev UNUSED, const struct comparison *c,
                        struct compared *out)
{
    return compare_tensor(c, out);
}

static struct own_error cpu_own_error(void *dev UNUSED, const struct tensor *t,
                                      enum compare_kind how, place_t reference,
                                      place_t exact)
{
    return reference_error(t, how, (const void *)(uintptr_t)reference,
                           (const double *)(uintptr_t)exact);
}

static void cpu_finite(void *dev UNUSED, const struct tensor *t, struct rows at,
                       size_t n, bool *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = all_finite(t, ptr(at.at + i * at.pitch));
}

static bool row_alike(const struct tensor *t, const double *x, const double *r)
{
    double sum = 0, rms;

    for (size_t i = 0; i < t->numel; i++)
        sum += r[i] * r[i];
    rms = sqrt(sum / (double)MAX(t->numel, (size_t)1));
    for (size_t i = 0; i < t->numel; i++)
        if (!(fabs(x[i] - r[i]) <= ALIKE * (fabs(r[i]) + rms)))
            return false;
    return true;
}

static void cpu_alike(void *dev UNUSED, const struct tensor *t, struct rows x,
                      struct rows r, size_t n, bool *out)
{
    double *a = xmalloc((t->numel + 1) * sizeof(*a));
    double *b = xmalloc((t->numel + 1) * sizeof(*b));

    for (size_t i = 0; i < n; i++) {
        dtype_to_double(t->dtype, ptr(x.at + i * x.pitch), a, t->numel);
        dtype_to_double(t->dtype, ptr(r.at + i * r.pitch), b, t->numel);
        out[i] = row_alike(t, a, b);
    }
    free(a);
    free(b);
}

static int cpu_health(void *dev UNUSED, struct err *e UNUSED)
{
    return 0;
}

static size_t cpu_slot_max(void *dev UNUSED)
{
    return (size_t)128 << 20;
}

const struct device_ops device_cpu = {
    .name = "cpu",
    .native = "c",
    .cpu_clock = true,
    .slot_max = cpu_slot_max,
    .align = 64,
    .slots = 256,
    .strict = SIZE_MAX,
    .construct_s = 60,
    .ring_s = 2e-3,
    .precise = 0.02,
    .open = cpu_open,
    .close = cpu_close,
    .class_name = cpu_class,
    .describe = cpu_describe,
    .ring_bytes = cpu_ring_bytes,
    .runner = cpu_runner,
    .chill = cpu_chill,
    .idle = cpu_idle,
    .peak_bandwidth = cpu_bandwidth,
    .taken = cpu_memory,
    .left = cpu_memory,
    .region_new = cpu_region_new,
    .region_free = cpu_region_free,
    .write = cpu_write,
    .read = cpu_read,
    .scatter = cpu_scatter,
    .gather = cpu_gather,
    .copy = cpu_copy,
    .set = cpu_set,
    .widen = cpu_widen,
    .differ = cpu_differ,
    .fill = cpu_fill,
    .compare = cpu_compare,
    .own_error = cpu_own_error,
    .finite = cpu_finite,
    .alike = cpu_alike,
    .health = cpu_health,
};
