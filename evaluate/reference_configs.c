/* SPDX-License-Identifier: MIT */
/* The reference under every input configuration, and beside it in float64. */
#include "base.h"

#include "evaluate/reference_priv.h"

#include "mem.h"

#include <math.h>

/* Floating parameters and running statistics. Other buffers may be masks or
 * tables whose values mean something. */
static bool d7_changes(const struct state_item *it)
{
    return dtype_is_float(it->t.dtype) && it->t.numel &&
           (it->param || span_ends(it->name, "running_mean") ||
            span_ends(it->name, "running_var"));
}

static bool applies(const struct reference *ref, enum config_id c,
                    const char **why)
{
    switch (configs[c].target) {
    case TARGET_FLOATS:
        *why = "no floating input";
        /* D1 is the ordinary run of any task. */
        return ref->task.any_float || c == CONFIG_D1;
    case TARGET_INTS:
        *why = "no integer input";
        return ref->task.any_int;
    default:
        *why = "no floating parameter";
        for (size_t i = 0; i < ref->state.n; i++)
            if (d7_changes(&ref->state.v[i]))
                return true;
        return false;
    }
}

struct state reference_affine(const struct reference *ref, struct gen *g)
{
    struct state st = ref->state;
    st.data = xmalloc(st.bytes + 1);
    memcpy(st.data, ref->state.data, st.bytes);
    for (size_t i = 0; i < st.n; i++) {
        const struct state_item *it = &st.v[i];
        if (d7_changes(it))
            gen_affine(g, it->t.dtype, st.data + it->at, it->t.numel);
    }
    return st;
}

/* Configuration C in SLOT, by itself, so that one that raises does not take
 * others with it. */
static int try_config(struct reference *ref, struct gen *g, enum config_id c,
                      size_t slot, struct err *e)
{
    struct side *d = &ref->f32;
    struct state st = {0};
    const char *why;
    char cls[60];
    int rc;

    ref->tested[c] = applies(ref, c, &why);
    if (!ref->tested[c]) {
        snprintf(ref->why_not[c], sizeof(ref->why_not[c]), "%s", why);
        return 0;
    }
    if (configs[c].target == TARGET_PARAMS)
        st = reference_affine(ref, g);
    if (ref->stateful || st.data) {
        rc = reference_bad(side_state_set(d, st.data ? &st : &ref->state, e),
                           "the reference's state cannot be set", d, e);
        free(st.data);
        if (rc)
            return rc;
    }
    rc = side_run(d, slot, 1, NULL, reference_limit(ref, 50), NULL, e);
    if (rc < 0)
        return reference_bad(rc, configs[c].name, d, e);
    if (rc == 1) {
        snprintf(ref->why_not[c], sizeof(ref->why_not[c]),
                 "the reference raises %s",
                 mask_text(cls, sizeof(cls), val_gets(d->reply, "class")));
        ref->tested[c] = false;
    }
    if (configs[c].target != TARGET_PARAMS)
        return 0;
    return reference_bad(side_state_set(d, &ref->state, e),
                         "the reference's state cannot be set", d, e);
}

/* N configurations from FIRST on, in as many slots of R. */
static int try_configs(struct reference *ref, struct gen *g, struct ring *r,
                       int first, size_t n, struct err *e)
{
    struct side *d = &ref->f32;
    enum config_id c[CONFIG_COUNT];
    int rc;

    for (size_t i = 0; i < n; i++)
        c[i] = (enum config_id)(first + (int)i);
    ring_generate(r, g, c, n, false);
    rc = reference_bad(side_place(d, g, n, e),
                       "the reference's inputs cannot be bound", d, e);
    if (rc)
        return rc;
    ring_load(r, d);
    side_fill(d, g);
    side_salt(d);
    for (size_t i = 0; i < n; i++)
        if (try_config(ref, g, c[i], i, e))
            return -1;
    ring_take(r, d);
    for (size_t i = 0; i < n; i++)
        if (ref->tested[c[i]] && !r->usable[i]) {
            snprintf(ref->why_not[c[i]], sizeof(ref->why_not[c[i]]),
                     "the reference is not finite");
            ref->tested[c[i]] = false;
        }
    if (first == CONFIG_D1 && !ref->tested[CONFIG_D1])
        return err_set(e, ERR_BAD_TASK, "the reference fails on D1: %s",
                       ref->why_not[CONFIG_D1]);
    return 0;
}

/* The float64 reference over the slots of R that are WANTED, as many at once
 * as it has places. 0, 1, -1 as session_call. */
static int run_exact(struct side *d, struct ring *r, struct gen *g,
                     const bool *wanted, struct err *e)
{
    size_t s = 0;
    while (s < r->n) {
        size_t slot[CONFIG_COUNT], n = 0;
        for (; s < r->n && n < d->slots; s++)
            if (wanted[s]) {
                ring_load_slot(r, s, d, n);
                slot[n++] = s;
            }
        side_fill(d, g);
        side_salt(d);
        for (size_t i = 0; i < n; i++) {
            int rc = side_run(d, i, 1, NULL, FIRST_S, NULL, e);
            if (rc)
                return rc;
        }
        (void)side_keep(d, n, NULL);
        for (size_t i = 0; i < n; i++)
            ring_take_exact(r, d, slot[i], i);
    }
    return 0;
}

/* How many slots the float64 reference gets; 0: there is no room for it. */
static size_t float64_slots(const struct reference *ref)
{
    const struct side *d = &ref->f64;
    size_t one = side_need(d, 1);
    int64_t left = d->ops->left(d->dev);

    if (left >= 0 && (int64_t)one > left / 4)
        return 0;
    return MAX((size_t)1,
               MIN((size_t)CONFIG_COUNT, d->ops->ring_bytes(d->dev) / one));
}

static void no_float64(struct reference *ref, int rc, struct err *e)
{
    if (rc == 1)
        reference_refused(e, ERR_BAD_TASK, "float64", ref->f64.reply);
    mask_text(ref->no_f64, sizeof(ref->no_f64), span_str(e->msg));
    side_close(&ref->f64);
    ref->has_f64 = false;
}

/* The float64 reference. Whatever fails here only means that there is none. */
static void open_float64(struct reference *ref, struct gen *g, int fd)
{
    struct side *d = &ref->f64;
    struct err e = {0};
    size_t slots;
    int rc = 0;

    if (ref->stateful) {
        snprintf(ref->no_f64, sizeof(ref->no_f64),
                 "a forward changes the state");
        return;
    }
    side_init(d, ref->bench->ops, ref->bench->dev, &ref->task, KM_FLOAT64);
    slots = float64_slots(ref);
    if (!slots)
        rc = err_set(&e, ERR_BAD_TASK, "too large for float64");
    if (!rc)
        rc = bench_runner(ref->bench, false, d, (int64_t)ref->task.in_stride,
                          &e);
    if (!rc)
        rc = side_load(d, "reference", "Model", ref->seed, &fd, 1, &e);
    if (!rc)
        rc = side_cast(d, KM_FLOAT64, &e);
    if (!rc)
        rc = side_state_set(d, &ref->state, &e);
    if (!rc)
        rc = side_place(d, g, slots, &e);
    ref->has_f64 = !rc;
    if (rc)
        no_float64(ref, rc, &e);
}

/* The same over what R holds, and the reference's own error there. */
static void try_float64(struct reference *ref, struct gen *g, struct ring *r)
{
    struct err e = {0};
    bool wanted[CONFIG_COUNT];
    int rc;

    for (size_t i = 0; i < r->n; i++)
        wanted[i] = ref->tested[r->config[i]] &&
                    configs[r->config[i]].target != TARGET_PARAMS;
    rc = run_exact(&ref->f64, r, g, wanted, &e);
    if (!rc && r->config[0] == CONFIG_D1 && !r->exact_at[0])
        rc = err_set(&e, ERR_BAD_TASK, "not finite in float64");
    if (rc) {
        no_float64(ref, rc, &e);
        return;
    }
    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 0; wanted[i] && r->exact_at[i] && k < ref->task.n_res;
             k++)
            reference_error_of(ref, r->config[i])[k] = ring_own_error(r, i, k);
}

/* D7 was not run in float64: the worst of the others stands for it. */
static void worst_error(struct reference *ref)
{
    for (int i = 0; i < CONFIG_COUNT; i++)
        for (size_t k = 0; k < ref->task.n_res; k++) {
            struct own_error *to = &reference_error_of(ref, CONFIG_D7)[k];
            struct own_error o = reference_error_of(ref, (enum config_id)i)[k];
            to->part = fmax(to->part, o.part);
            to->relative = fmax(to->relative, o.relative);
        }
}

/* Would zeros pass in all that R holds? */
static bool only_zeros(const struct reference *ref, const struct ring *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (ref->tested[r->config[i]] &&
            !ring_zero_passes(r, i, reference_error_of(ref, r->config[i]),
                              ref->terms))
            return false;
    return true;
}

/* All configurations, as many at once as there is room for. */
int reference_configs(struct reference *ref, struct gen *g, int fd,
                      struct err *e)
{
    const struct device_ops *ops = ref->bench->ops;
    size_t room = ops->ring_bytes(ref->bench->dev) / side_need(&ref->f32, 1);
    size_t most = MAX((size_t)1, MIN(room, (size_t)CONFIG_COUNT));
    struct ring r;
    int rc;

    rc = ring_init(&r, &ref->f32, most, e);
    open_float64(ref, g, fd);
    ref->degenerate = true;
    for (int i = 0; !rc && i < CONFIG_COUNT; i += (int)most) {
        size_t n = MIN(most, (size_t)(CONFIG_COUNT - i));
        rc = try_configs(ref, g, &r, i, n, e);
        if (!rc && ref->has_f64)
            try_float64(ref, g, &r);
        worst_error(ref);
        if (!rc)
            ref->degenerate = ref->degenerate && only_zeros(ref, &r);
    }
    ring_release(&r);
    return rc;
}

int reference_exact(struct reference *ref, struct ring *r, struct gen *g,
                    int exact, struct err *e)
{
    bool wanted[SLOTS_MAX];
    if (exact == -1 || !ref->has_f64)
        return 0;
    for (size_t s = 0; s < r->n; s++)
        wanted[s] = r->usable[s] && (exact < 0 || (size_t)exact == s);
    return reference_failed(run_exact(&ref->f64, r, g, wanted, e), &ref->f64,
                            e);
}
