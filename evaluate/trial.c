/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/trial.h"

#include "mem.h"

#include <math.h>
#include <sys/wait.h>

void trial_end(struct trial *t, enum outcome o, const char *message)
{
    if (t->ended)
        return;
    t->ended = true;
    t->outcome = o;
    t->message = message;
}

void trial_finding(struct trial *t, const char *code, enum grade g,
                   const char *text)
{
    finding_add(t->a, t->findings, code, g, "dynamic", 0, text);
    if (g == GRADE_FORBID)
        trial_end(t, OUTCOME_CHEAT, text);
}

/* The candidate's own words: only for people, never for the outcome beyond
 * its class. */
static void told(struct trial *t, const struct val *reply)
{
    char text[240];
    t->where =
        arena_printf(t->a, "%s", mask_text(text, 20, val_gets(reply, "where")));
    t->cls =
        arena_printf(t->a, "%s", mask_text(text, 60, val_gets(reply, "class")));
    t->line = (int)val_geti(reply, "line", 0);
    t->message = arena_printf(
        t->a, "%s", mask_text(text, sizeof(text), val_gets(reply, "message")));
}

static bool says_memory(const struct val *reply)
{
    struct span m = val_gets(reply, "message");
    return span_is(val_gets(reply, "class"), "MemoryError") ||
           (m.p && memmem(m.p, m.n, "allocate memory", 15));
}

int trial_failed(struct trial *t, int rc, struct err *e)
{
    const struct val *reply = t->cand.reply;
    struct span where = val_gets(reply, "where");
    if (t->ended)
        return 0;
    if (rc == 1) {
        told(t, reply);
        t->ended = true;
        t->outcome = says_memory(reply)        ? OUTCOME_MEMORY
                     : span_is(where, "build") ? OUTCOME_BUILD_FAILED
                     : span_is(where, "load") || span_is(where, "construct")
                         ? OUTCOME_LOAD_FAILED
                     : span_is(where, "forward") ? OUTCOME_RUNTIME_ERROR
                                                 : OUTCOME_PROTOCOL;
        return 0;
    }
    switch (e->code) {
    case ERR_TIMEOUT:
        trial_end(t, OUTCOME_TIMEOUT, arena_printf(t->a, "%s", e->msg));
        return 0;
    case ERR_MEMORY:
        trial_end(t, OUTCOME_MEMORY, arena_printf(t->a, "%s", e->msg));
        return 0;
    case ERR_CRASH:
        /* Leaving with a status is a choice, a signal mostly is not. */
        trial_end(t,
                  t->cand.s.r.ended && WIFEXITED(t->cand.s.r.end.status)
                      ? OUTCOME_PROTOCOL
                      : OUTCOME_CRASH,
                  arena_printf(t->a, "%s", e->msg));
        return 0;
    case ERR_PROTOCOL:
        trial_end(t, OUTCOME_PROTOCOL, arena_printf(t->a, "%s", e->msg));
        return 0;
    default:
        e->code = ERR_INFRASTRUCTURE;
        return -1;
    }
}

/* ---- what is looked at after a ring ---- */

static void take_samples(void *payload)
{
    struct trial *t = payload;
    const struct side *d = t->sampled;
    d->ops->gather(d->dev, d->data_region.at, t->samples, t->n_samples);
}

static void write_salts(void *payload)
{
    struct trial *t = payload;
    side_salt(t->sampled);
}

void trial_watch(struct trial *t, struct side *d, size_t n, struct turn *turn)
{
    turn->on_start = d->ops->cpu_clock ? NULL : write_salts;
    t->sampled = d;
    t->n_samples = side_samples(d, t->g, n, t->samples, SAMPLES);
    turn->on_reply = take_samples;
    turn->payload = t;
}

/* Whatever changed between the reply and the freeze was computed after the
 * clock had stopped. */
static void check_samples(struct trial *t)
{
    const struct side *d = t->sampled;
    struct spot now[SAMPLES];
    if (!d->ops->idle(d->dev)) {
        t->busy = true;
        trial_finding(t, "early_done", GRADE_FORBID,
                      "its work went on after it said done");
        return;
    }
    memcpy(now, t->samples, sizeof(now));
    d->ops->gather(d->dev, d->data_region.at, now, t->n_samples);
    for (size_t i = 0; i < t->n_samples; i++)
        if (memcmp(now[i].value, t->samples[i].value, now[i].size)) {
            trial_finding(t, "early_done", GRADE_FORBID,
                          "outputs changed after it said done");
            return;
        }
}

static void check_threads(struct trial *t, const struct turn *turn, bool timed)
{
    /* By the judge's own clock they gain nothing. */
    if (!t->cand.ops->cpu_clock)
        return;
    if (turn->others_s > 20e-6 && timed)
        trial_finding(t, "threads", GRADE_FORBID,
                      "other threads computed during a timed ring");
    else if (turn->threads > t->ref->threads)
        trial_finding(t, "threads", GRADE_SUSPECT, "it keeps other threads");
}

/* Shapes and dtypes that it reports; false when they are wrong. */
static bool check_shapes(struct trial *t)
{
    const struct task *k = &t->ref->task;
    const struct val *outs = val_get(t->cand.reply, "outs");
    struct err e;
    if (val_len(outs) != k->n_out) {
        trial_end(t, OUTCOME_WRONG,
                  arena_printf(t->a, "it returns %zu tensors, not %zu",
                               val_len(outs), k->n_out));
        return false;
    }
    for (size_t i = 0; i < k->n_out; i++) {
        struct tensor x;
        bool known = tensor_parse(&x, val_at(outs, i), &e) == 0;
        if (known && tensor_equal(&x, &k->out[i].t))
            continue;
        trial_end(t, OUTCOME_WRONG,
                  arena_printf(t->a, "output %zu is %s, not %s", i,
                               known ? tensor_text(t->a, &x) : "unsupported",
                               tensor_text(t->a, &k->out[i].t)));
        return false;
    }
    return true;
}

static void check_intact(struct trial *t, size_t n, const struct chain *chain)
{
    struct intact r;

    if (!side_keep(&t->cand, n, chain))
        trial_end(t, OUTCOME_WRONG, "a chained value is missing");
    r = side_intact(&t->cand);
    if (!r.inputs)
        trial_finding(t, "input_mutated", GRADE_FORBID,
                      "it changed an input that the reference leaves alone");
    if (!r.guards) {
        trial_finding(t, "out_of_bounds", GRADE_SUSPECT,
                      "it wrote outside its outputs");
        trial_end(t, OUTCOME_WRONG, "it wrote outside its outputs");
    }
}

static void all_wrong(struct trial *t, const struct ring_plan *p)
{
    for (size_t s = 0; s < t->ring.n; s++) {
        enum config_id as =
            p->count_as == CONFIG_COUNT ? t->ring.config[s] : p->count_as;
        struct compared *c = &t->cells[as][p->mode].c;
        t->cells[as][p->mode].tested = true;
        c->slots++;
        for (int j = 0; j < J_COUNT; j++)
            c->outside[j]++;
    }
}

/* Does what was compared until now pass what the candidate must? */
static bool compare_slot(struct trial *t, const struct ring_plan *p, size_t s)
{
    enum config_id as =
        p->count_as == CONFIG_COUNT ? t->ring.config[s] : p->count_as;
    struct cell *c = &t->cells[as][p->mode];
    uint64_t was[J_COUNT];

    if (!t->ring.usable[s])
        return true;
    memcpy(was, c->c.outside, sizeof(was));
    c->tested = true;
    ring_compare(&t->ring, &t->cand, s, reference_error_of(t->ref, as),
                 t->ref->terms, &c->c);
    /* A chained value need not be one of the configuration's: the
     * judgements that name distributions do not look at it. */
    for (int j = 0; p->chain && j < J_STRICT; j++)
        c->c.outside[j] = was[j];
    return compared_pass(&c->c, t->conf.profile);
}

/* What no rounding explains fails wherever it is; then SOME of the ring's
 * slots, drawn now, in full, and among them the one with exact results. */
static void compare_some(struct trial *t, const struct ring_plan *p,
                         size_t some)
{
    size_t n = t->ring.n, first = (size_t)gen_below(t->g, n);
    bool *alike = xcalloc(n + 1, sizeof(*alike));
    size_t step = n / some;

    ring_alike(&t->ring, &t->cand, alike);
    for (size_t s = 0; s < n; s++) {
        bool drawn = (s + n - first) % n % step == 0 || t->ring.exact_at[s];
        if ((drawn || !alike[s]) && !compare_slot(t, p, s))
            break; /* one is enough */
    }
    free(alike);
}

static void compare_slots(struct trial *t, const struct ring_plan *p)
{
    size_t some = t->cand.ops->strict;

    if (t->ring.n > some) {
        compare_some(t, p, some);
        return;
    }
    for (size_t s = 0; s < t->ring.n; s++)
        compare_slot(t, p, s);
}

/* ---- one ring ---- */

/* The core was taken away during the ring, often enough for caches that had to
 * be filled again (REFILL_S each time) to show. */
#define REFILL_S 300e-6

static bool disturbed(const struct side *d, const struct turn *turn)
{
    if (!d->ops->cpu_clock)
        return turn->delay_s > 0.01 * turn->checked_s;
    int64_t extra = turn->switches - d->s.overhead_switches;
    return turn->delay_s > 0 && (double)extra * REFILL_S > 0.05 * turn->cpu_s;
}

void trial_ready(struct trial *t, struct side *d)
{
    d->ops->chill(d->dev);
    if (!d->ops->idle(d->dev)) {
        t->busy = true;
        trial_finding(t, "busy_device", GRADE_FORBID,
                      "its work went on while it was frozen");
    }
    if (d->ops->cpu_clock)
        side_salt(d);
}

static int ring_candidate(struct trial *t, const struct ring_plan *p,
                          struct turn *turn, struct err *e)
{
    struct side *d = &t->cand;
    int rc;
    if (p->state) {
        rc = side_state_set(d, p->state, e);
        if (rc)
            return trial_failed(t, rc, e);
    }
    ring_load(&t->ring, d);
    side_fill(d, t->g);
    trial_watch(t, d, t->ring.n, turn);
    trial_ready(t, d);
    if (t->ended)
        return 0;
    rc = side_run(d, 0, t->ring.n, p->chain, reference_limit(t->ref, p->n),
                  turn, e);
    if (rc)
        return trial_failed(t, rc, e);
    t->ran = true;
    if (!check_shapes(t)) {
        all_wrong(t, p);
        return 0;
    }
    check_samples(t);
    check_threads(t, turn, p->pair != NULL);
    check_intact(t, t->ring.n, p->chain);
    if (t->ended && t->outcome == OUTCOME_WRONG)
        all_wrong(t, p); /* whatever it passed before */
    return 0;
}

static int ring_reference(struct trial *t, const struct ring_plan *p,
                          struct turn *turn, struct err *e)
{
    struct side *d = &t->ref->f32;
    int rc = 0;
    if (p->state)
        rc = reference_set_state(t->ref, p->state, e);
    if (rc)
        return rc;
    ring_load(&t->ring, d);
    side_fill(d, t->g);
    trial_watch(t, d, t->ring.n, turn);
    trial_ready(t, d);
    if (t->ended)
        return 0;
    rc = side_run(d, 0, t->ring.n, p->chain, reference_limit(t->ref, p->n),
                  turn, e);
    if (reference_failed(rc, d, e))
        return -1;
    if (!p->chain)
        ring_take(&t->ring, d);
    return 0;
}

int trial_ring(struct trial *t, const struct ring_plan *p, struct err *e)
{
    struct turn tc = {0}, tr = {0};
    bool reference_first = p->pair && gen_below(t->g, 2);

    ring_generate(&t->ring, t->g, p->config, p->n, t->rings > 0);
    t->rings++;
    if (reference_first && ring_reference(t, p, &tr, e))
        return -1;
    if (!t->ended && ring_candidate(t, p, &tc, e))
        return -1;
    if (t->ended)
        return 0;
    if (p->pair && !reference_first && ring_reference(t, p, &tr, e))
        return -1;
    if (t->ended)
        return 0;
    if (p->chain && !ring_take_chain(&t->ring, &t->cand, p->chain)) {
        trial_end(t, OUTCOME_WRONG, "a chained output is not finite");
        all_wrong(t, p);
        return 0;
    }
    if (!p->pair || p->chain) {
        if (p->state && reference_set_state(t->ref, p->state, e))
            return -1;
        if (reference_expect(t->ref, &t->ring, t->g, p->exact, e))
            return -1;
    } else if (p->exact != -1 &&
               reference_exact(t->ref, &t->ring, t->g, p->exact, e)) {
        return -1;
    }
    compare_slots(t, p);
    if (t->cand.ops->health(t->cand.dev, e))
        return -1;
    if (p->pair) {
        p->pair->reference_s = side_turn_s(&t->ref->f32, &tr);
        p->pair->candidate_s = side_turn_s(&t->cand, &tc);
        p->pair->disturbed =
            disturbed(&t->ref->f32, &tr) || disturbed(&t->cand, &tc);
    }
    return 0;
}

/* ---- judgements ---- */

bool trial_pass(const struct trial *t, enum judgement j)
{
    bool any = false;
    for (int c = 0; c < CONFIG_COUNT; c++)
        for (int m = 0; m < MODE_COUNT; m++) {
            const struct cell *x = &t->cells[c][m];
            if ((j == J_KERNELBENCH && c != CONFIG_D1) ||
                (j == J_KBV && c > CONFIG_D4) ||
                (j != J_STRICT && m == MODE_TRAIN) || !x->tested)
                continue;
            if (!compared_pass(&x->c, j))
                return false;
            any = true;
        }
    return any;
}

/* ---- steps ---- */

/* Of what there was before it. */
#define HOG_PART 2

bool trial_hogs(struct trial *t)
{
    const struct device_ops *ops = t->cand.ops;
    int64_t now = ops->left(t->cand.dev);

    if (t->left >= 0 && now < t->left / HOG_PART)
        trial_end(t, OUTCOME_MEMORY,
                  "it takes more than half of the device's free memory");
    return t->ended;
}

static int start(struct trial *t, struct err *e)
{
    struct side *d = &t->cand;
    const struct reference *ref = t->ref;
    uint64_t seed = ref->seed;
    int fds[2] = {t->conf.code_fd, t->conf.built_fd};
    size_t unmatched = 0;
    int rc;

    side_init(d, ref->bench->ops, ref->bench->dev, &ref->task, -1);
    if (bench_runner(ref->bench, t->conf.native, d,
                     (int64_t)ref->task.in_stride, e))
        return -1;
    t->memory.base = memory_base(d);
    t->left = d->ops->left(d->dev);
    rc = side_load(d, "candidate", "ModelNew", seed, fds, 1 + (fds[1] >= 0), e);
    if (rc)
        return trial_failed(t, rc, e);
    for (size_t i = 0; i < d->state.n; i++) {
        size_t k = 0;
        while (k < ref->state.n &&
               !(span_eq(ref->state.v[k].name, d->state.v[i].name) &&
                 tensor_equal(&ref->state.v[k].t, &d->state.v[i].t)))
            k++;
        unmatched += k == ref->state.n;
    }
    if (unmatched)
        trial_finding(t, "unmatched_parameters", GRADE_NOTE,
                      "it has parameters that the reference has not: they "
                      "keep what its constructor gave them");
    rc = side_state_set(d, &ref->state, e);
    if (!rc)
        rc = side_place(d, t->g, ref->slots, e);
    if (!rc)
        rc = memory_measure(d, &ref->task, t->g, 2 + gen_below(t->g, 5),
                            reference_limit(ref, 1), &t->memory, e);
    if (rc)
        return trial_failed(t, rc, e);
    t->has_memory = t->ran = true;
    (void)trial_hogs(t);
    return 0;
}

static size_t tested_inputs(const struct reference *ref, enum config_id *list)
{
    size_t n = 0;
    for (int i = 0; i < CONFIG_COUNT; i++)
        if (ref->tested[i] && configs[i].target != TARGET_PARAMS)
            list[n++] = (enum config_id)i;
    return n;
}

/* Two rounds over all configurations, the second jittered. */
static int correctness(struct trial *t, struct err *e)
{
    enum config_id list[CONFIG_COUNT], c[SLOTS_MAX];
    size_t n = tested_inputs(t->ref, list), k = MIN(t->ref->slots, n);
    for (int round = 0; round < 2; round++)
        for (size_t at = 0; at < n; at += k) {
            struct ring_plan p = {
                .config = c,
                .n = MIN(k, n - at),
                .count_as = CONFIG_COUNT,
                .exact = -2,
                .state = t->ref->stateful ? &t->ref->state : NULL,
            };
            for (size_t i = 0; i < p.n; i++)
                c[i] = list[at + i];
            t->rings = (size_t)round;
            if (trial_ring(t, &p, e))
                return -1;
            if (t->ended)
                return 0;
        }
    return 0;
}

/* D7: the same rings with other parameters on both sides. */
static int changed_parameters(struct trial *t, struct err *e)
{
    enum config_id list[CONFIG_COUNT];
    size_t n = tested_inputs(t->ref, list);
    struct state st;
    struct ring_plan p = {
        .config = list,
        .n = MIN(n, t->ref->slots),
        .count_as = CONFIG_D7,
        .exact = -2,
    };
    int rc;
    if (!t->ref->tested[CONFIG_D7])
        return 0;
    st = reference_affine(t->ref, t->g);
    p.state = &st;
    rc = trial_ring(t, &p, e);
    free(st.data);
    if (!rc)
        rc = reference_set_state(t->ref, &t->ref->state, e);
    if (!rc && !t->ended) {
        rc = side_state_set(&t->cand, &t->ref->state, e);
        if (rc)
            rc = trial_failed(t, rc, e);
    }
    return rc;
}

static int reference_mode(struct trial *t, bool train, struct err *e)
{
    struct side *d = &t->ref->f32;
    int rc = reference_failed(side_mode(d, train, e), d, e);
    if (!rc && t->ref->has_f64) {
        d = &t->ref->f64;
        rc = reference_failed(side_mode(d, train, e), d, e);
    }
    return rc;
}

static int train_mode(struct trial *t, struct err *e)
{
    enum config_id c[SLOTS_MAX] = {CONFIG_D1};
    struct ring_plan p = {
        .config = c,
        .n = MIN(t->ref->slots, (size_t)2),
        .mode = MODE_TRAIN,
        .count_as = CONFIG_D1,
        .exact = -2,
        .state = &t->ref->state,
    };
    int rc;
    for (int i = 0; i < CONFIG_COUNT; i++) {
        t->cells[i][MODE_TRAIN].why_not = "train mode is tested on D1 only";
        if (i == CONFIG_D1)
            t->cells[i][MODE_TRAIN].why_not =
                t->conf.native ? "the language has no train mode"
                               : t->ref->no_train;
    }
    if (!t->ref->train || t->conf.native)
        return 0;
    rc = side_mode(&t->cand, true, e);
    if (rc)
        return trial_failed(t, rc, e);
    if (reference_mode(t, true, e))
        return -1;
    rc = trial_ring(t, &p, e);
    if (rc || reference_mode(t, false, e) ||
        reference_set_state(t->ref, &t->ref->state, e))
        return -1;
    if (t->ended)
        return 0;
    rc = side_mode(&t->cand, false, e);
    if (!rc)
        rc = side_state_set(&t->cand, &t->ref->state, e);
    return rc ? trial_failed(t, rc, e) : 0;
}

/* Only D7 fails: weights were packed before they were set. */
static void stale_weights(struct trial *t)
{
    struct cell d7 = t->cells[CONFIG_D7][MODE_EVAL];
    bool others;
    if (!d7.tested || compared_pass(&d7.c, J_STRICT))
        return;
    t->cells[CONFIG_D7][MODE_EVAL].tested = false;
    others = trial_pass(t, J_STRICT);
    t->cells[CONFIG_D7][MODE_EVAL].tested = true;
    if (others)
        trial_finding(t, "stale_weights", GRADE_SUSPECT,
                      "right until parameters change after construction");
}

/* Was it really the candidate's work? With it dead nothing may run. */
static int confirm_busy(struct trial *t, struct err *e)
{
    const struct bench *b = t->ref->bench;

    if (!t->busy)
        return 0;
    side_close(&t->cand);
    if (b->ops->idle(b->dev))
        return 0;
    return err_set(e, ERR_INFRASTRUCTURE, "another program uses the device");
}

int trial_run(struct trial *t, struct reference *ref,
              const struct trial_conf *conf, struct gen *g, struct arena *a,
              struct err *e)
{
    *t = (struct trial){.ref = ref, .conf = *conf, .g = g, .a = a};
    side_init(&t->cand, NULL, NULL, NULL, -1);
    t->findings = val_list(a);
    t->no_chain = ref->no_chain;
    t->eager = ref->eager;
    if (conf->profile != J_STRICT)
        t->no_chain = "only the strict profile chains";
    t->chained = !t->no_chain;
    t->library_share = -1;
    if (ring_init(&t->ring, &ref->f32, ref->slots, e))
        return -1;
    for (int i = 0; i < CONFIG_COUNT; i++)
        t->cells[i][MODE_EVAL].why_not = ref->why_not[i];
    if (ref->degenerate)
        trial_finding(t, "degenerate_task", GRADE_NOTE,
                      "zeros would pass: the task cannot tell");
    if (ref->slow)
        trial_finding(t, "slow_baseline", GRADE_NOTE,
                      "the reference takes over ten times what its products "
                      "and bytes need here: is it set up right?");
    if (trial_alone(t, e) || start(t, e))
        return -1;
    if (!t->ended && correctness(t, e))
        return -1;
    if (!t->ended && changed_parameters(t, e))
        return -1;
    if (!t->ended && train_mode(t, e))
        return -1;
    stale_weights(t);
    if (!t->ended && trial_pass(t, conf->profile) && trial_time(t, e))
        return -1;
    if (!t->ended) {
        t->outcome = trial_pass(t, J_STRICT) ? OUTCOME_OK : OUTCOME_WRONG;
        if (t->timed)
            trial_kernels(t);
    }
    return confirm_busy(t, e);
}

void trial_close(struct trial *t)
{
    side_close(&t->cand);
    ring_release(&t->ring);
    array_release(&t->pairs);
    array_release(&t->empty);
    array_release(&t->own_empty);
}
