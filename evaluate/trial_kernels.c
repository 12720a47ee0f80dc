/* SPDX-License-Identifier: MIT */
/*
 * Which kernels a forward runs, and how much of its time is a library's: for
 * the contract. Evidence of grade `process`: the candidate's process tells it,
 * and can lie. A native candidate has nothing but its own kernels.
 */
#include "base.h"

#include "evaluate/trial.h"

#include "evaluate/kernel_name.h"
#include "io.h"
#include "mem.h"

#include <math.h>

#define FORWARDS   8
#define KERNELS    24
#define PROFILE_S  10.0
#define NAME_BYTES 120

static bool is_transfer(struct span name)
{
    return span_starts(name, "Memcpy") || span_starts(name, "Memset");
}

static bool named(const struct val *list, struct span name)
{
    for (size_t i = 0; i < val_len(list); i++)
        if (span_eq(val_gets(val_at(list, i), "name"), name))
            return true;
    return false;
}

/* Are kernels of A and B the same, by name? */
static bool same_names(const struct val *a, const struct val *b)
{
    for (size_t i = 0; i < val_len(a); i++)
        if (!named(b, val_gets(val_at(a, i), "name")))
            return false;
    for (size_t i = 0; i < val_len(b); i++)
        if (!named(a, val_gets(val_at(b, i), "name")))
            return false;
    return val_len(a) > 0;
}

/* What D's process tells, checked: [{name, ns}], at most KERNELS. */
static struct val *told(struct arena *a, const struct val *reply)
{
    const struct val *from = val_get(reply, "kernels");
    struct val *l = val_list(a);
    char text[NAME_BYTES];

    for (size_t i = 0; i < val_len(from) && i < KERNELS; i++) {
        double ns = val_getf(val_at(from, i), "ns", 0);
        struct val *m;
        if (!(ns > 0) || !isfinite(ns))
            continue;
        m = val_map(a);
        mask_text(text, sizeof(text), val_gets(val_at(from, i), "name"));
        val_set(a, m, "name", val_strz(a, arena_printf(a, "%s", text)));
        val_set(a, m, "ns", val_float(a, ns));
        val_push(a, l, m);
    }
    return l;
}

/* The reference in a process of its own: what tells of kernels stays in a
 * process, and costs it time. Nothing that fails here is anyone's fault. */
static void profile_reference(struct reference *ref, struct gen *g)
{
    struct side d;
    struct err e = {0};
    int fd = io_memfd("reference.py", ref->task.source, true, &e), rc = -1;

    ref->kernels = val_list(&ref->mem);
    side_init(&d, ref->bench->ops, ref->bench->dev, &ref->task, -1);
    if (fd >= 0 &&
        !bench_runner(ref->bench, false, &d, (int64_t)ref->task.in_stride, &e))
        rc = side_load(&d, "reference", "Model", ref->seed, &fd, 1, &e);
    if (!rc)
        rc = side_state_set(&d, &ref->state, &e);
    if (!rc)
        rc = side_place(&d, g, 1, &e);
    if (!rc)
        side_fill(&d, g);
    if (!rc)
        rc = side_profile(&d, 1, PROFILE_S, &e);
    if (!rc)
        ref->kernels = told(&ref->mem, d.reply);
    side_close(&d);
    if (fd >= 0)
        close(fd);
}

static struct val *one(struct trial *t, const struct val *k, double all,
                       struct span source, double *library)
{
    struct span name = val_gets(k, "name");
    double ns = val_getf(k, "ns", 0);
    bool own = kernel_is_own(name, source);
    struct val *m = val_map(t->a);

    if (!own && !is_transfer(name))
        *library += ns;
    val_set(t->a, m, "name", val_str(t->a, name));
    val_set(t->a, m, "share", val_float(t->a, ns / all));
    val_set(t->a, m, "own", val_bool(t->a, own));
    return m;
}

static void weigh(struct trial *t, const struct val *kernels,
                  struct span source)
{
    struct val *l = val_list(t->a);
    double all = 0, library = 0;

    for (size_t i = 0; i < val_len(kernels); i++)
        if (!is_transfer(val_gets(val_at(kernels, i), "name")))
            all += val_getf(val_at(kernels, i), "ns", 0);
    if (all <= 0)
        return;
    for (size_t i = 0; i < val_len(kernels); i++)
        val_push(t->a, l, one(t, val_at(kernels, i), all, source, &library));
    t->kernels = l;
    t->library_share = library / all;
    if (!t->ref->kernels)
        profile_reference(t->ref, t->g);
    t->same_kernels = same_names(kernels, t->ref->kernels);
}

void trial_kernels(struct trial *t)
{
    struct buf source = BUF_INIT(32u << 20);
    struct err e = {0};

    t->library_share = -1;
    if (!t->cand.ops || !t->cand.ops->captures || !t->cand.s.open)
        return;
    if (t->conf.native) {
        t->library_share = 0;
        return;
    }
    if (side_profile(&t->cand, MIN(t->ref->slots, (size_t)FORWARDS), PROFILE_S,
                     &e) == 0 &&
        lseek(t->conf.code_fd, 0, SEEK_SET) == 0 &&
        io_read_fd(&source, t->conf.code_fd, &e) == 0)
        weigh(t, told(t->a, t->cand.reply), buf_span(&source));
    buf_release(&source);
}

struct val *trial_contract(const struct trial *t)
{
    struct arena *a = t->a;
    struct val *m = val_map(a);

    val_set(a, m, "library_share",
            t->library_share >= 0 ? val_float(a, t->library_share)
                                  : val_nil(a));
    val_set(a, m, "grade",
            val_strz(a, t->library_share < 0 ? NULL
                        : t->conf.native     ? "device"
                                             : "process"));
    val_set(a, m, "same_kernels", val_bool(a, t->same_kernels));
    val_set(a, m, "kernels", t->kernels ? t->kernels : val_list(a));
    return m;
}
