/* SPDX-License-Identifier: MIT */
/* Data of many tensors at once: a launch for each kind of them. */
#include "base.h"

#include "evaluate/cuda/gpu.h"
#include "evaluate/cuda/passed.h"
#include "mem.h"

_Static_assert((int)FILL_NORMAL == DATA_NORMAL &&
                   (int)FILL_UNIFORM == DATA_UNIFORM &&
                   (int)FILL_INTS == DATA_INTS &&
                   (int)FILL_BOOLS == DATA_BOOLS &&
                   (int)FILL_STRUCTURE == DATA_STRUCTURE &&
                   DATA_SPIKES == SPIKES_MAX,
               "struct fill");

static struct data data_of(const struct gen *g, const struct filling *x)
{
    const struct tensor *t = x->t;
    const struct fill *f = &x->f;
    uint64_t last = t->ndim ? (uint64_t)t->shape[t->ndim - 1] : 1;
    struct data d = {.to = x->to,
                     .n = t->numel,
                     .stream = f->stream,
                     .key = {g->key[0], g->key[1]},
                     .dtype = t->dtype,
                     .kind = (int)f->kind,
                     .lo = f->lo,
                     .hi = f->hi,
                     .p = f->p,
                     .factor = f->factor,
                     .bounds = f->bounds,
                     .level = f->level,
                     .slope_last = f->slope_last,
                     .slope_first = f->slope_first,
                     .last = last,
                     .rows = last ? t->numel / last : 0,
                     .flat = f->flat,
                     .flat_end = f->flat_end};

    if (f->kind == FILL_STRUCTURE)
        d.n_spikes = (int)f->n_spikes;
    for (int i = 0; i < d.n_spikes; i++) {
        d.spike_at[i] = f->spike_at[i];
        d.spike[i] = f->spike[i];
    }
    return d;
}

static enum gpu_kernel kernel_of(const struct filling *x)
{
    switch (x->f.kind) {
    case FILL_INTS:
        return KERNEL_INTEGERS;
    case FILL_BOOLS:
    case FILL_UNIFORM:
        return KERNEL_UNIFORMS;
    default:
        return KERNEL_NORMALS;
    }
}

int gpu_fill(struct gpu *d, const struct gen *g, const struct filling *v,
             size_t n, struct err *e)
{
    static const enum gpu_kernel kernels[] = {KERNEL_NORMALS, KERNEL_UNIFORMS,
                                              KERNEL_INTEGERS};
    struct data *all = xcalloc(n + 1, sizeof(*all));
    uint64_t widest[ARRAY_LEN(kernels)] = {0}, count[ARRAY_LEN(kernels)] = {0};
    uint64_t at, total = 0, spikes = 0;
    int rc = -1;

    for (size_t k = 0; k < ARRAY_LEN(kernels); k++)
        for (size_t i = 0; i < n; i++) {
            if (!v[i].t->bytes || kernel_of(&v[i]) != kernels[k])
                continue;
            all[total] = data_of(g, &v[i]);
            spikes += (uint64_t)all[total++].n_spikes;
            count[k]++;
            widest[k] = MAX(widest[k], (uint64_t)v[i].t->numel);
        }
    if (d->fills.size < total * sizeof(*all)) {
        gpu_arena_free(d, &d->fills);
        if (gpu_arena_new(d, total * sizeof(*all), false, &d->fills, e))
            goto out;
    }
    at = d->fills.at;
    if (total && gpu_write(d, at, all, total * sizeof(*all), e))
        goto out;
    for (size_t k = 0; k < ARRAY_LEN(kernels); k++) {
        void *arguments[] = {&at, &count[k]};
        uint64_t units = widest[k] / (kernels[k] == KERNEL_INTEGERS ? 2 : 4);
        if (count[k] &&
            gpu_rows(d, kernels[k], units + 1, count[k], arguments, e))
            goto out;
        at += count[k] * sizeof(*all);
    }
    at = d->fills.at;
    if (spikes) {
        void *arguments[] = {&at, &total};
        if (gpu_launch(d, d->kernels[KERNEL_SPIKES], total, arguments, e))
            goto out;
    }
    rc = 0;
out:
    free(all);
    return rc;
}
