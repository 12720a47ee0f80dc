/* SPDX-License-Identifier: MIT */
/*
 * The rules of the selection. Gain of a step is log(t_parent / t_child),
 * from the ratios of both to the same reference, each measured interleaved
 * with it, so the reference's time cancels. It counts only beyond noise: the
 * larger of 2 % and three standard deviations, which follow from the ratios'
 * 95 % intervals (half width of the logarithm / 1.96).
 */
#include "base.h"

#include <ctype.h>
#include <math.h>

#include "trajectories/select.h"

#define NOISE_FLOOR 0.02
#define NOISE_SIGMA 3.0

/* ---- order and descent ---- */

static int span_cmp(struct span a, struct span b)
{
    size_t n = MIN(a.n, b.n);
    int c = n ? memcmp(a.p, b.p, n) : 0;
    return c ? c : (a.n > b.n) - (a.n < b.n);
}

static int candidate_cmp(const void *pa, const void *pb)
{
    const struct candidate *a = *(struct candidate *const *)pa;
    const struct candidate *b = *(struct candidate *const *)pb;
    int c = span_cmp(a->run, b->run);
    if (!c)
        c = span_cmp(a->task, b->task);
    if (!c)
        c = (a->iteration > b->iteration) - (a->iteration < b->iteration);
    if (!c)
        c = span_cmp(a->program, b->program);
    return c ? c : span_cmp(a->id, b->id);
}

static bool same_run(const struct candidate *a, const struct candidate *b)
{
    return span_eq(a->run, b->run) && span_eq(a->task, b->task);
}

struct span join_key(struct arena *a, const struct span *parts, size_t n)
{
    size_t total = n;
    for (size_t i = 0; i < n; i++)
        total += parts[i].n;
    char *key = arena_alloc(a, total), *p = key;
    for (size_t i = 0; i < n; i++) {
        if (parts[i].n)
            memcpy(p, parts[i].p, parts[i].n);
        p += parts[i].n;
        *p++ = '\0';
    }
    return (struct span){key, total};
}

static void find_parents(struct select *s)
{
    for (size_t i = 0; i < s->all.n; i++) {
        struct candidate *c = s->all.v[i];
        struct span key[] = {c->task, c->run, c->program};
        if (!c->seen)
            continue;
        void **slot = map_ref(&s->by_program, join_key(&s->arena, key, 3));
        if (!*slot)
            *slot = c;
    }
    for (size_t i = 0; i < s->all.n; i++) {
        struct candidate *c = s->all.v[i];
        struct span key[] = {c->task, c->run, c->parent};
        if (c->parent.n > 0)
            c->up = map_get(&s->by_program, join_key(&s->arena, key, 3));
    }
}

/* Number of ancestors, without recursion; -1 for lines that never end. */
static void find_depths(struct select *s)
{
    enum { UNSEEN = -3, WALKING = -2, ENDLESS = -1 };
    ARRAY(struct candidate *) walk = {0};
    for (size_t i = 0; i < s->all.n; i++)
        s->all.v[i]->depth = UNSEEN;
    for (size_t i = 0; i < s->all.n; i++) {
        struct candidate *c = s->all.v[i];
        walk.n = 0;
        while (c && c->depth == UNSEEN) {
            c->depth = WALKING;
            array_push(&walk, c);
            c = c->up;
        }
        int64_t depth = !c ? -1 : c->depth;
        bool endless = c && depth < 0;
        for (size_t k = walk.n; k-- > 0;)
            walk.v[k]->depth = endless ? ENDLESS : ++depth;
    }
    array_release(&walk);
}

/* ---- rules ---- */

bool select_usable(const struct select *s, const struct candidate *c,
                   const char **why)
{
    const char *text = NULL;
    if (!c->judged || c->infrastructure)
        text = "has no verdict";
    else if (c->mixed)
        text = "has verdicts of several devices or protocols";
    else if (!span_eq(c->judged_task, c->task))
        text = "has a verdict for another task";
    else if (!c->honest)
        text = "is not honest";
    else if (!c->correct)
        text = "is not correct";
    else if (!c->contract_ok && !s->o.ignore_contract)
        text = "fails the contract";
    else if (!c->timed)
        text = "was not timed";
    if (why)
        *why = text;
    return text == NULL;
}

static struct decision drop(enum err_code code, const char *note)
{
    return (struct decision){code, note};
}

/* For the note: a build that failed and a wrong result are both incorrect. */
static const char *outcome(struct select *s, const struct candidate *c)
{
    return arena_printf(&s->arena, "outcome '%.*s'",
                        (int)MIN(c->outcome.n, 40u),
                        c->outcome.p ? c->outcome.p : "");
}

/* What does not depend on the parent. */
static struct decision judge_child(struct select *s, const struct candidate *c)
{
    if (!c->seen)
        return drop(ERR_BROKEN_INPUT,
                    "verdict of a revision that is not there");
    if (s->tasks.loaded && !taskset_find(&s->tasks, c->task, NULL).p)
        return drop(ERR_NO_TASK, NULL);
    if (c->seed && !s->o.keep_seeds)
        return drop(ERR_SEED, "the run began with it (--keep-seeds)");
    if (!c->judged)
        return drop(ERR_NO_VERDICT, NULL);
    if (!span_eq(c->judged_task, c->task))
        return drop(ERR_CONFLICT, "its verdict is for another task");
    if (c->mixed)
        return drop(ERR_CONFLICT,
                    "verdicts of several devices or protocols, use --device");
    if (c->infrastructure)
        return drop(ERR_INFRASTRUCTURE, NULL);
    if (!c->honest)
        return drop(ERR_DISHONEST, outcome(s, c));
    if (!c->correct)
        return drop(ERR_INCORRECT, outcome(s, c));
    if (!c->contract_ok && !s->o.ignore_contract)
        return drop(ERR_CONTRACT, NULL);
    if (c->depth < 0)
        return drop(ERR_CONFLICT, "its line of parents never ends");
    return drop(ERR_NONE, NULL);
}

/* Sets first, has_gain, gain and gain_sigma. */
static struct decision judge_step(struct select *s, struct candidate *c)
{
    struct candidate *p = c->up;
    const char *why;
    if (c->parent.n == 0) {
        c->first = true;
        return drop(ERR_NONE, NULL);
    }
    if (!p)
        return drop(ERR_NO_PARENT, "its parent is not among the candidates");
    if (!select_usable(s, p, &why)) {
        /* What a run starts from is often the reference itself. */
        c->first = p->parent.n == 0;
        return c->first ? drop(ERR_NONE, NULL)
                        : drop(ERR_NO_PARENT,
                               arena_printf(&s->arena, "its parent %s", why));
    }
    if (!span_eq(c->context, p->context))
        return drop(ERR_CONFLICT,
                    "measured on another device or protocol than its parent");
    if (!c->timed)
        return drop(ERR_NO_VERDICT, "it was not timed");
    c->has_gain = true;
    c->gain = c->log_ratio - p->log_ratio;
    c->gain_sigma = hypot(c->sigma, p->sigma);
    double noise = fmax(log1p(NOISE_FLOOR), NOISE_SIGMA * c->gain_sigma);
    if (fabs(c->gain) <= noise)
        return drop(ERR_WITHIN_NOISE, NULL);
    if (c->gain < 0)
        return drop(ERR_SMALL_GAIN, "slower than its parent");
    if (c->gain < log1p(s->o.min_gain))
        return drop(ERR_SMALL_GAIN, NULL);
    return drop(ERR_NONE, NULL);
}

/* ---- leaks ---- */

void select_squeeze(struct buf *out, struct span s)
{
    char *to = buf_reserve(out, s.n);
    size_t n = out->n;
    if (!to)
        return;
    for (size_t i = 0; i < s.n; i++)
        if (!isspace((unsigned char)s.p[i]))
            out->p[n++] = s.p[i];
    buf_setlen(out, n);
}

/* Does TEXT hold the code of C, white space aside? 1, 0, or -1 with E. */
static int holds(struct select *s, const struct buf *text,
                 const struct candidate *c, struct err *e)
{
    struct arena a = ARENA_INIT;
    struct val *code;
    int r = spill_get(&s->spill, c->code, &a, &code, e);
    struct span part = val_as_str(r == 0 ? code : NULL);
    if (r == 0 && part.n > 0)
        r = memmem(text->p, text->n, part.p, part.n) != NULL;
    arena_release(&a);
    return r;
}

/* A prompt that shows the child, or a program of the run that is as fast,
 * teaches to copy. FIRST and N: the candidates of the run. */
static int judge_leak(struct select *s, struct candidate *c, size_t first,
                      size_t n, struct decision *d, struct err *e)
{
    struct arena a = ARENA_INIT;
    struct buf prompt = BUF_INIT(REC_MAX);
    struct val *rec;
    int found = spill_get(&s->spill, c->rec, &a, &rec, e);
    const struct val *list = found == 0 ? val_get(rec, "prompt") : NULL;
    if (val_len(list) == 0)
        goto out;
    for (size_t i = 0; i < val_len(list); i++)
        select_squeeze(&prompt, val_gets(val_at(list, i), "content"));
    found = holds(s, &prompt, c, e);
    if (found == 1)
        *d = drop(ERR_LEAK, "the prompt holds its code");
    for (size_t i = first; i < first + n && c->timed && found == 0; i++) {
        const struct candidate *o = s->all.v[i];
        if (o == c || o == c->up || o->iteration > c->iteration ||
            !select_usable(s, o, NULL) || !span_eq(o->context, c->context) ||
            o->ratio < c->ratio)
            continue;
        found = holds(s, &prompt, o, e);
        if (found == 1)
            *d = drop(ERR_LEAK,
                      arena_printf(&s->arena,
                                   "the prompt holds '%.*s', which is as fast",
                                   (int)o->program.n, o->program.p));
    }
out:
    arena_release(&a);
    buf_release(&prompt);
    return found < 0 ? -1 : 0;
}

/* ---- best steps and caps ---- */

/* In the order of iterations: who is faster than all before? */
static void find_bests(struct select *s, size_t first, size_t n)
{
    ARRAY(struct candidate *) bests = {0}; /* one for each context */
    for (size_t i = first; i < first + n; i++) {
        struct candidate *c = s->all.v[i];
        size_t k = 0;
        if (!c->seen || !select_usable(s, c, NULL))
            continue;
        while (k < bests.n && !span_eq(bests.v[k]->context, c->context))
            k++;
        if (k == bests.n) {
            array_push(&bests, c);
            c->new_best = true;
        } else if (c->ratio > bests.v[k]->ratio) {
            bests.v[k] = c;
            c->new_best = true;
        }
    }
    array_release(&bests);
}

static double worth(const struct candidate *c)
{
    return c->first ? (c->timed ? c->log_ratio : -INFINITY) : c->gain;
}

static int worth_cmp(const void *pa, const void *pb)
{
    const struct candidate *a = *(struct candidate *const *)pa;
    const struct candidate *b = *(struct candidate *const *)pb;
    double x = worth(a), y = worth(b);
    return x != y ? (x < y) - (x > y) : span_cmp(a->id, b->id);
}

/* Of the kept ones among LIST keep the MOST worth, drop the others. */
static void cap(struct candidate **list, size_t n, int mode, int64_t most,
                const char *note)
{
    ARRAY(struct candidate *) kept = {0};
    for (size_t i = 0; i < n; i++)
        if (list[i]->decided[mode].code == ERR_NONE)
            array_push(&kept, list[i]);
    if (kept.n > 1)
        qsort(kept.v, kept.n, sizeof(*kept.v), worth_cmp);
    for (size_t i = (size_t)most; i < kept.n; i++)
        kept.v[i]->decided[mode] = drop(ERR_CAPPED, note);
    array_release(&kept);
}

static int task_cmp(const void *pa, const void *pb)
{
    const struct candidate *a = *(struct candidate *const *)pa;
    const struct candidate *b = *(struct candidate *const *)pb;
    int c = span_cmp(a->task, b->task);
    return c ? c : span_cmp(a->id, b->id);
}

static void cap_tasks(struct select *s)
{
    struct candidate **list = xcalloc(s->all.n + 1, sizeof(*list));
    for (size_t i = 0; i < s->all.n; i++)
        list[i] = s->all.v[i];
    qsort(list, s->all.n, sizeof(*list), task_cmp);
    for (size_t i = 0, n; i < s->all.n; i += n) {
        for (n = 1;
             i + n < s->all.n && span_eq(list[i]->task, list[i + n]->task);)
            n++;
        for (int mode = 0; mode < MODES; mode++)
            cap(list + i, n, mode, s->o.per_task,
                "more than --per-task of its task");
    }
    free(list);
}

static int judge_run(struct select *s, size_t first, size_t n, struct err *e)
{
    find_bests(s, first, n);
    for (size_t i = first; i < first + n; i++) {
        struct candidate *c = s->all.v[i];
        struct decision d = judge_child(s, c);
        if (d.code == ERR_NONE)
            d = judge_step(s, c);
        if (d.code == ERR_NONE && judge_leak(s, c, first, n, &d, e) != 0)
            return -1;
        c->decided[MODE_SFT] = c->decided[MODE_RL] = d;
        if (d.code != ERR_NONE)
            continue;
        if (c->first)
            c->decided[MODE_RL] =
                drop(ERR_NO_PARENT, "a step from the reference");
        else if (!c->new_best)
            c->decided[MODE_RL] = drop(ERR_NOT_BEST, "no new best of its run");
    }
    if (s->o.top_k > 0)
        cap(s->all.v + first, n, MODE_RL, s->o.top_k,
            "not among the --top-k of its run");
    return 0;
}

int select_judge(struct select *s, struct err *e)
{
    if (s->all.n == 0)
        return 0;
    qsort(s->all.v, s->all.n, sizeof(*s->all.v), candidate_cmp);
    find_parents(s);
    find_depths(s);
    for (size_t i = 0, n; i < s->all.n; i += n) {
        for (n = 1; i + n < s->all.n && same_run(s->all.v[i], s->all.v[i + n]);)
            n++;
        if (judge_run(s, i, n, e) != 0)
            return -1;
    }
    if (s->o.per_task > 0)
        cap_tasks(s);
    return 0;
}
