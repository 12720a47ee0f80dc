/* SPDX-License-Identifier: MIT */
/* The timed part of a trial: placements, pairs, when to stop. */
#include "base.h"

#include "evaluate/chain.h"
#include "evaluate/trial.h"

#include "mem.h"
#include "proc.h"

#include <math.h>

#define PLACEMENTS     5 /* at least */
#define PLACEMENTS_MAX 40
#define PAIRS_MAX      15  /* of one placement */
#define WARM_MAX       256 /* forwards of one warm-up */
#define SURPRISING     20.0
#define ALONE_RINGS    15
#define ALONE_MARGIN   1.02
/* What is above is corrected, but says nothing against the candidate: caches
 * are shared, and forwards of a few microseconds are noisy on a busy machine.
 */
#define SLOWED 0.5

/* Configurations for N slots: all tested ones in a random rotation. */
static void mixed(struct trial *t, enum config_id *c, size_t n)
{
    int list[CONFIG_COUNT];
    size_t k = 0;
    for (int i = 0; i < CONFIG_COUNT; i++)
        if (t->ref->tested[i] && configs[i].target != TARGET_PARAMS)
            list[k++] = i;
    for (size_t i = 0; i < n; i++) {
        if (i % k == 0)
            gen_shuffle(t->g, list, k);
        c[i] = (enum config_id)list[i % k];
    }
}

static const struct chain *draw_chain(struct trial *t)
{
    size_t n = t->ref->n_chains;
    return t->chained ? &t->ref->chains[gen_below(t->g, n)] : NULL;
}

/* Bind at a new place and run forwards on decoy data: a number of calls that is
 * not known before. Where there are thousands of slots a few are enough. */
static int settle(struct trial *t, struct side *d, size_t turns, struct err *e)
{
    enum config_id c[SLOTS_MAX];
    int rc = side_place(d, t->g, t->ref->slots, e);
    if (rc)
        return rc;
    mixed(t, c, t->ref->slots);
    ring_generate(&t->ring, t->g, c, t->ref->slots, true);
    ring_load(&t->ring, d);
    side_fill(d, t->g);
    side_salt(d);
    for (size_t i = 0; !rc && i < turns; i++)
        rc = side_run(d, 0,
                      1 + gen_below(t->g, MIN(t->ref->slots, (size_t)WARM_MAX)),
                      NULL, reference_limit(t->ref, t->ref->slots), NULL, e);
    return rc;
}

static int settle_reference(struct trial *t, size_t turns, struct err *e)
{
    struct side *d = &t->ref->f32;
    return reference_failed(settle(t, d, turns, e), d, e);
}

/* Are rings captured, so far as is known? */
static bool captures(const struct trial *t)
{
    return t->ref->f32.ops->captures && !t->eager;
}

/* A first replay uploads what was captured: not on anybody's time. What the
 * slots hold by now is a decoy. */
static int replay(struct trial *t, struct side *d, const struct chain *chain,
                  struct err *e)
{
    int rc = 0;
    for (uint64_t i = 1 + gen_below(t->g, 3); !rc && i; i--)
        rc = side_run(d, 0, t->ref->slots, chain,
                      reference_limit(t->ref, t->ref->slots), NULL, e);
    return rc;
}

/* Capture the placed reference with CHAIN, or be eager. */
static int capture_reference(struct trial *t, const struct chain *chain,
                             struct err *e)
{
    if (!captures(t))
        return 0;
    if (reference_capture(t->ref, chain, e)) {
        e->code = ERR_INFRASTRUCTURE;
        return -1;
    }
    t->eager = t->ref->eager;
    if (!captures(t))
        return 0;
    return reference_failed(replay(t, &t->ref->f32, chain, e), &t->ref->f32, e);
}

static int capture_candidate(struct trial *t, const struct chain *chain,
                             struct err *e)
{
    size_t n = t->ref->slots;
    int rc;
    if (!captures(t))
        return 0;
    /* Where the reference's results are copied, as views are, the copy is a
     * part of what both do. */
    rc = side_capture(&t->cand, n, chain, t->ref->f32.places != NULL,
                      reference_limit(t->ref, 10 * n), e);
    if (rc == 1) {
        t->eager = "the candidate cannot be captured";
        t->ref->f32.captured = 0; /* called like the candidate from now on */
        return 0;
    }
    if (!rc)
        rc = replay(t, &t->cand, chain, e);
    return rc ? trial_failed(t, rc, e) : 0;
}

static int take_empty(struct trial *t, struct err *e)
{
    struct turn turn = {0};
    trial_watch(t, &t->ref->f32, t->ref->slots, &turn);
    t->ref->bench->ops->chill(t->ref->bench->dev);
    if (session_empty(&t->ref->f32.s, &turn, e)) {
        e->code = ERR_INFRASTRUCTURE;
        return -1;
    }
    array_push(&t->empty, side_turn_s(&t->ref->f32, &turn));
    if (!t->conf.native || t->ref->f32.ops->cpu_clock || !t->cand.s.open)
        return 0;
    turn = (struct turn){0};
    trial_watch(t, &t->cand, t->ref->slots, &turn);
    t->ref->bench->ops->chill(t->ref->bench->dev);
    if (session_empty(&t->cand.s, &turn, e))
        return trial_failed(t, -1, e);
    array_push(&t->own_empty, side_turn_s(&t->cand, &turn));
    return 0;
}

static double median_of(const double *from, size_t n)
{
    double *v = xmalloc(n * sizeof(*v)), m;
    memcpy(v, from, n * sizeof(*v));
    m = timing_median(v, n);
    free(v);
    return m;
}

static double overhead(struct trial *t)
{
    return median_of(t->empty.v, t->empty.n);
}

/* A native runner's is smaller than that of a Python one. Either it was
 * measured before it loaded anything, or it cannot gain by being slow. */
static double own_overhead(struct trial *t)
{
    double reference = overhead(t);
    if (!t->conf.native)
        return reference;
    if (t->ref->f32.ops->cpu_clock)
        return side_overhead_s(&t->cand);
    return t->own_empty.n
               ? fmin(reference, median_of(t->own_empty.v, t->own_empty.n))
               : reference;
}

/* One forward of a ring that took TURN_S. What chaining adds is not the
 * forward's; it is known where rings are captured. */
static double forward_ns(const struct trial *t, double turn_s,
                         double overhead_s)
{
    const struct bench *b = t->ref->bench;
    size_t n = t->ref->slots;
    double s = forward_s(turn_s, overhead_s, n);

    if (t->chained && captures(t) && b->ops->link_s)
        s = fmax(s / 4,
                 s - b->ops->link_s(b->dev) * (double)(n - 1) / (double)n);
    return 1e9 * s;
}

/* From rings to forwards, with the overhead as it is known now. */
static bool ratio(struct trial *t)
{
    double reference = overhead(t), candidate = own_overhead(t);
    for (size_t i = 0; i < t->pairs.n; i++) {
        struct pair *p = &t->pairs.v[i];
        p->reference_ns = forward_ns(t, p->reference_s, reference);
        p->candidate_ns = forward_ns(t, p->candidate_s, candidate);
    }
    return timing_ratio(t->pairs.v, t->pairs.n, &t->ratio);
}

/* The reference by itself, before a process of the candidate exists. */
int trial_alone(struct trial *t, struct err *e)
{
    struct side *d = &t->ref->f32;
    double v[ALONE_RINGS], start = now_s(), ring;
    size_t n = 0;
    const struct chain *chain = draw_chain(t);

    if (settle_reference(t, 2, e) || capture_reference(t, chain, e))
        return -1;
    t->alone_eager = !captures(t);
    while (n < ALONE_RINGS && (n < 3 || now_s() - start < 1)) {
        struct turn turn = {0};
        enum config_id c[SLOTS_MAX];
        mixed(t, c, t->ref->slots);
        ring_generate(&t->ring, t->g, c, t->ref->slots, true);
        ring_load(&t->ring, d);
        side_fill(d, t->g);
        if (bench_shadow(t->ref->bench, e))
            return -1;
        d->ops->chill(d->dev);
        if (!d->ops->idle(d->dev))
            return err_set(e, ERR_INFRASTRUCTURE,
                           "another program uses the device");
        trial_watch(t, d, t->ring.n, &turn);
        if (d->ops->cpu_clock)
            side_salt(d);
        if (reference_failed(
                side_run(d, 0, t->ring.n, captures(t) ? chain : draw_chain(t),
                         reference_limit(t->ref, t->ring.n), &turn, e),
                d, e))
            return -1;
        v[n++] = side_turn_s(d, &turn);
        if (take_empty(t, e))
            return -1;
    }
    ring = timing_median(v, n); /* sorts */
    t->alone_ns = forward_ns(t, ring, overhead(t));
    /* Three standard errors of that median, from the quartile range. */
    t->alone_margin = ALONE_MARGIN + 3 * (v[n - 1 - n / 4] - v[n / 4]) / ring /
                                         sqrt((double)n);
    return 0;
}

static int placement(struct trial *t, int index, double share_s, struct err *e)
{
    size_t warm = 1 + gen_below(t->g, 3), pairs = PAIRS_MAX;
    double start = now_s();
    const struct chain *chain = draw_chain(t);
    int rc;

    if (trial_hogs(t) || settle_reference(t, warm, e))
        return t->ended ? 0 : -1;
    rc = settle(t, &t->cand, warm, e);
    if (rc)
        return trial_failed(t, rc, e);
    if (capture_reference(t, chain, e) || capture_candidate(t, chain, e))
        return -1;
    for (size_t i = 0; i < pairs && !t->ended; i++) {
        enum config_id c[SLOTS_MAX];
        struct pair pair = {.placement = index};
        struct ring_plan p = {
            .config = c,
            .n = t->ref->slots,
            .count_as = CONFIG_COUNT,
            .exact = (int)gen_below(t->g, t->ref->slots),
            .chain = captures(t) ? chain : draw_chain(t),
            .pair = &pair,
            .state = t->ref->stateful ? &t->ref->state : NULL,
        };
        mixed(t, c, p.n);
        if (trial_ring(t, &p, e))
            return -1;
        if (t->ended)
            break;
        if (take_empty(t, e))
            return -1;
        array_push(&t->pairs, pair);
        if (now_s() - start > share_s)
            break;
    }
    return 0;
}

/*
 * Before any time counts: is what a replay leaves right? A kernel launched on
 * another stream than the one that is captured is missing from it. Both sides
 * run eagerly then.
 */
static int try_capture(struct trial *t, struct err *e)
{
    enum config_id c[SLOTS_MAX];
    const struct chain *chain = draw_chain(t);
    struct ring_plan p = {
        .config = c,
        .n = t->ref->slots,
        .count_as = CONFIG_COUNT,
        .exact = -1,
        .chain = chain,
        .state = t->ref->stateful ? &t->ref->state : NULL,
    };
    struct cell saved[CONFIG_COUNT][MODE_COUNT];
    int rc;

    if (!captures(t))
        return 0;
    rc = settle(t, &t->cand, 2, e);
    if (rc)
        return trial_failed(t, rc, e);
    if (settle_reference(t, 1, e) || capture_reference(t, chain, e) ||
        capture_candidate(t, chain, e))
        return -1;
    if (t->ended || !captures(t))
        return 0;
    memcpy(saved, t->cells, sizeof(saved));
    mixed(t, c, p.n);
    rc = trial_ring(t, &p, e);
    if (!rc && !trial_pass(t, t->conf.profile) &&
        (!t->ended || t->outcome == OUTCOME_WRONG)) {
        t->eager = "a replay of the candidate is wrong";
        t->ended = false;
        t->message = NULL;
        memcpy(t->cells, saved, sizeof(saved));
    }
    return rc;
}

/* Necessary bytes over the best bandwidth of the machine. Outputs only: they
 * are written by any right candidate, while inputs may honestly be skipped. */
static void check_floor(struct trial *t)
{
    const struct bench *b = t->ref->bench;
    double floor_ns =
        (double)t->ref->task.out_bytes / b->ops->peak_bandwidth(b->dev) * 1e9;
    if (t->ratio.candidate_ns < floor_ns)
        trial_finding(t, "below_floor", GRADE_FORBID,
                      "faster than memory can be written");
}

/*
 * The reference must not count as slower than it is without the candidate. It
 * was timed before the candidate existed; where it seems slower since, it is
 * timed again with the candidate dead, so that a machine that became slower is
 * not taken for a candidate that slows the other side.
 */
static int check_alone(struct trial *t, struct err *e)
{
    double before = t->alone_ns, margin = t->alone_margin, f;
    bool like = t->alone_eager == !captures(t);
    if (!t->timed || (like && before * margin >= t->ratio.reference_ns))
        return 0;
    side_close(&t->cand);
    if (trial_alone(t, e))
        return -1;
    if (like) {
        t->alone_ns = fmax(t->alone_ns, before);
        t->alone_margin = fmax(t->alone_margin, margin);
    }
    f = t->alone_ns * t->alone_margin / t->ratio.reference_ns;
    if (f >= 1)
        return 0;
    t->ratio.ratio *= f;
    t->ratio.low *= f;
    t->ratio.high *= f;
    t->ratio.reference_ns *= f;
    if (f < SLOWED)
        trial_finding(t, "slows_reference", GRADE_SUSPECT,
                      "the reference is slower while it is alive");
    return 0;
}

int trial_time(struct trial *t, struct err *e)
{
    double start = now_s(), budget = t->conf.budget_s;
    double share = budget / (PLACEMENTS + 1);
    int n = 0, least = PLACEMENTS;

    t->stop = "budget";
    if (try_capture(t, e))
        return -1;
    if (t->ended)
        return 0;
    while (n < PLACEMENTS_MAX) {
        if (placement(t, n, share, e))
            return -1;
        if (t->ended)
            return 0;
        n++;
        if (!trial_pass(t, t->conf.profile))
            return 0; /* wrong after all: no time */
        if (n < least)
            continue;
        t->timed = ratio(t);
        if (t->timed && t->ratio.ratio > SURPRISING && !t->remeasured) {
            t->remeasured = true;
            least = n + PLACEMENTS;
            start = now_s();
            continue;
        }
        if (t->timed && t->ratio.placements >= PLACEMENTS &&
            log(t->ratio.high / t->ratio.low) / 2 <
                t->ref->bench->ops->precise) {
            t->stop = "precise";
            break;
        }
        if (now_s() - start > budget)
            break;
    }
    if (!t->timed) {
        /* The core was taken away in nearly every ring: all pairs count then,
         * the time waited is known and was taken off. */
        for (size_t i = 0; i < t->pairs.n; i++)
            t->pairs.v[i].disturbed = false;
        t->timed = ratio(t);
        t->stop = "disturbed";
    }
    if (check_alone(t, e))
        return -1;
    check_floor(t);
    return 0;
}
