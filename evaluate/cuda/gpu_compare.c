/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <math.h>

#include "evaluate/cuda/gpu.h"
#include "evaluate/cuda/passed.h"
#include "mem.h"

_Static_assert(PASS_ULP_BINS == ULP_BINS && PASS_JUDGEMENTS == J_COUNT,
               "the sizes of struct compared");

static void add(struct totals *into, const struct totals *x)
{
    into->sum_sq += x->sum_sq;
    into->max_abs = fmax(into->max_abs, x->max_abs);
    into->max_rel = fmax(into->max_rel, x->max_rel);
    for (int j = 0; j < J_COUNT; j++)
        into->outside[j] += x->outside[j];
    into->nan += x->nan;
    into->inf += x->inf;
    into->bad += x->bad;
    for (int i = 0; i < ULP_BINS; i++)
        into->ulp[i] += x->ulp[i];
}

/* Run KERNEL over P with one more argument EXTRA (or NULL), the blocks' totals
 * added. */
static int run_pass(struct gpu *d, void *kernel, struct pass *p, void *extra,
                    struct totals *out, struct err *e)
{
    size_t blocks = gpu_blocks(d, p->n), size = blocks * sizeof(*out);
    struct totals *part = xcalloc(blocks + 1, sizeof(*part));
    void *arguments[] = {p, extra};
    int rc = -1;

    *out = (struct totals){0};
    p->out = d->work.at;
    if (size > d->work.size) {
        err_set(e, ERR_INTERNAL, "%zu blocks of totals", blocks);
        goto out;
    }
    if (p->n > 0 && (gpu_write(d, p->out, part, size, e) ||
                     gpu_launch(d, kernel, p->n, arguments, e) ||
                     gpu_read(d, part, p->out, size, e)))
        goto out;
    for (size_t i = 0; i < blocks; i++)
        add(out, &part[i]);
    rc = 0;
out:
    free(part);
    return rc;
}

/* s of compare.h. */
static int small_size(struct gpu *d, struct pass *p, double rms, double *s,
                      struct err *e)
{
    uint64_t *at = xcalloc(COMPARE_SAMPLES, sizeof(*at));
    double *v = xcalloc(COMPARE_SAMPLES, sizeof(*v));
    uint64_t n = sample_places(p->n, at), from = d->work.at;
    uint64_t to = from + COMPARE_SAMPLES * sizeof(*at);
    void *arguments[] = {p, &from, &n, &to};
    int rc = -1;

    if (gpu_write(d, from, at, n * sizeof(*at), e) == 0 &&
        gpu_launch(d, d->kernels[KERNEL_GATHER], n, arguments, e) == 0 &&
        gpu_read(d, v, to, n * sizeof(*v), e) == 0) {
        *s = small_of(p->dtype, v, n, rms);
        rc = 0;
    }
    free(at);
    free(v);
    return rc;
}

static void merge(struct compared *into, const struct totals *x, size_t n)
{
    struct compared c = {.elements = n,
                         .nan = x->nan,
                         .inf = x->inf,
                         .max_abs = x->max_abs,
                         .max_rel = x->max_rel,
                         .sum_sq = x->sum_sq};

    memcpy(c.outside, x->outside, sizeof(c.outside));
    memcpy(c.ulp, x->ulp, sizeof(c.ulp));
    compared_merge(into, &c);
}

/* The root mean square of R and, where R is there, the largest errors of the
 * reference; P->s is set. 1, or 0 when something is not finite. */
static int look(struct gpu *d, struct pass *p, double *rms, struct totals *own,
                struct err *e)
{
    struct totals x = {0};

    *own = (struct totals){0};
    if (run_pass(d, d->kernels[KERNEL_SQUARES], p, NULL, &x, e))
        return -1;
    *rms = p->n ? sqrt(x.sum_sq / (double)p->n) : 0;
    if (!isfinite(*rms) || x.bad > 0)
        return 0;
    if (p->n > 0 && small_size(d, p, *rms, &p->s, e))
        return -1;
    if (p->exact && run_pass(d, d->kernels[KERNEL_LARGEST], p, NULL, own, e))
        return -1;
    return 1;
}

int gpu_own_error(struct gpu *d, const struct tensor *t, uint64_t reference,
                  uint64_t exact, struct own_error *out, struct err *e)
{
    struct pass p = {.candidate = reference,
                     .reference = reference,
                     .exact = exact,
                     .n = t->numel,
                     .dtype = t->dtype};
    struct totals own;
    double rms = 0;

    *out = (struct own_error){0};
    if (look(d, &p, &rms, &own, e) < 0)
        return -1;
    out->part = rms > 0 ? own.max_abs / rms : 0;
    out->relative = own.max_rel;
    return 0;
}

int gpu_compare(struct gpu *d, const struct gpu_comparison *c,
                struct compared *out, struct err *e)
{
    const struct tensor *t = c->t;
    struct pass p = {.candidate = c->candidate,
                     .reference = c->reference,
                     .exact = c->exact,
                     .n = t->numel,
                     .dtype = t->dtype};
    struct totals x = {0}, own = {0};
    struct limits l;
    double rms;
    int size = (int)dtype_size(t->dtype), rc;

    if (c->how == COMPARE_SET)
        return err_set(e, ERR_INTERNAL, "sets are compared on the CPU");
    if (c->how == COMPARE_EXACT) {
        if (run_pass(d, d->kernels[KERNEL_EXACT], &p, &size, &x, e))
            return -1;
        merge(out, &x, t->numel);
        return 1;
    }
    if (!dtype_is_float(t->dtype))
        return err_set(e, ERR_INTERNAL, "%s is compared exactly",
                       dtype_name(t->dtype));
    rc = look(d, &p, &rms, &own, e);
    if (rc <= 0)
        return rc;
    l = c->exact ? limits_of(t->dtype, c->tf32, p.s, rms, own.max_abs,
                             own.max_rel, 2, c->terms)
                 : limits_of(t->dtype, c->tf32, p.s, rms, c->error.part * rms,
                             c->error.relative, 3, c->terms);
    p.kb = l.kb;
    p.kbv = l.kbv;
    p.t = l.t;
    p.own = l.own;
    p.own_rel = l.own_rel;
    p.ulps = l.ulps;
    if (run_pass(d, d->kernels[KERNEL_CLOSE], &p, NULL, &x, e))
        return -1;
    merge(out, &x, t->numel);
    return 1;
}
