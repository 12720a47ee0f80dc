/* SPDX-License-Identifier: MIT */
/* The CPU as a device: memfd regions, one core for runners, another for the
 * judge where there is one. */
#include "base.h"

#include "evaluate/device.h"

#include "io.h"
#include "mem.h"
#include "proc.h"

#include <fcntl.h>
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

static bool cpu_chill(void *dev)
{
    struct cpu *c = dev;
    if (c->judge_core != c->runner_core)
        move_to(c->runner_core);
    for (size_t i = 0; i < c->cold_size; i += 64)
        c->cold[i]++;
    if (c->judge_core != c->runner_core)
        move_to(c->judge_core);
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

static int64_t cpu_taken(void *dev UNUSED)
{
    return -1;
}

static int cpu_region_new(void *dev UNUSED, size_t size, struct region *r,
                          struct err *e)
{
    size_t page = 4096;
    size = (size + page - 1) / page * page;
    *r = (struct region){.fd = -1, .size = size ? size : page};
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
    r->map = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
    if (r->map == MAP_FAILED) {
        err_sys(e, "cannot map an arena of %zu bytes", r->size);
        close(r->fd);
        *r = (struct region){.fd = -1};
        return -1;
    }
    return 0;
}

static void cpu_region_free(void *dev UNUSED, struct region *r)
{
    if (r->map)
        munmap(r->map, r->size);
    if (r->fd >= 0)
        close(r->fd);
    *r = (struct region){.fd = -1};
}

static void cpu_write(void *dev UNUSED, struct region *r, size_t at,
                      const void *p, size_t n)
{
    memcpy((char *)r->map + at, p, n);
}

static const void *cpu_view(void *dev UNUSED, const struct region *r, size_t at,
                            size_t n UNUSED, void *scratch UNUSED)
{
    return (const char *)r->map + at;
}

static void cpu_scatter(void *dev UNUSED, struct region *r,
                        const struct spot *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy((char *)r->map + v[i].at, v[i].value, v[i].size);
}

static void cpu_gather(void *dev UNUSED, const struct region *r, struct spot *v,
                       size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(v[i].value, (const char *)r->map + v[i].at, v[i].size);
}

static void cpu_fill(void *dev UNUSED, const struct gen *g,
                     const struct tensor *t, const struct fill *f, void *dst)
{
    gen_fill(g, t, f, dst);
}

static bool cpu_compare(void *dev UNUSED, const struct comparison *c,
                        struct compared *out)
{
    return compare_tensor(c, out);
}

static int cpu_health(void *dev UNUSED, struct err *e UNUSED)
{
    return 0;
}

static const char *const languages[] = {"torch", "c", NULL};

const struct device_ops device_cpu = {
    .name = "cpu",
    .languages = languages,
    .cpu_clock = true,
    .construct_s = 60,
    .ring_s = 2e-3,
    .ring_bytes = (size_t)256 << 20,
    .precise = 0.02,
    .open = cpu_open,
    .close = cpu_close,
    .class_name = cpu_class,
    .describe = cpu_describe,
    .runner = cpu_runner,
    .chill = cpu_chill,
    .peak_bandwidth = cpu_bandwidth,
    .taken = cpu_taken,
    .region_new = cpu_region_new,
    .region_free = cpu_region_free,
    .write = cpu_write,
    .view = cpu_view,
    .scatter = cpu_scatter,
    .gather = cpu_gather,
    .fill = cpu_fill,
    .compare = cpu_compare,
    .health = cpu_health,
};
