/* SPDX-License-Identifier: MIT */
/* The text of a state that runs, proven in a fresh process, and sizes for a GPU
 * beside a small twin that passed the gate. */
#include "base.h"

#include "log.h"
#include "testgen/gate.h"
#include "testgen/grow.h"
#include "testgen/ranges.h"
#include "testgen/reply.h"
#include "testgen/scale.h"
#include "testgen/search_priv.h"

/* A full size is computed here when its forward and the drawing of its
 * parameters and inputs may take so long on one core, by count. */
#define FULL_MS      100.0
#define FULL_S       4.0 /* CPU seconds, many times what that is */
#define FULL_MEMORY  ((int64_t)1 << 30)
#define DRAWN_PER_MS 1e5

int search_source(struct buf *out, const struct facts *f,
                  const struct val *state, struct span source,
                  struct span entry)
{
    buf_addspan(out, source);
    buf_adds(out, "\n\n");
    if (state_model_text(out, f, state, entry))
        return -1;
    buf_adds(out, "\n\n");
    return state_inputs_text(out, f, state);
}

/* Kinds of numbers that a task may give back (docs/records.md). */
static int check_outputs(const struct val *tried, struct err *e)
{
    static const char *const known[] = {"float32",  "float64", "float16",
                                        "bfloat16", "int64",   "int32",
                                        "uint8",    "bool"};
    const struct val *outs = val_get(tried, "outs");
    for (size_t i = 0; i < val_len(outs); i++) {
        struct span dtype = val_gets(val_at(outs, i), "dtype");
        bool found = false;
        for (size_t k = 0; k < ARRAY_LEN(known); k++)
            found = found || span_is(dtype, known[k]);
        if (!found)
            return err_set(e, ERR_QUALITY, "an output of type %.*s",
                           (int)dtype.n, dtype.p ? dtype.p : "");
    }
    return 0;
}

/* Run the text that STATE gives, by OP, in a fresh process. Integers whose
 * range turns out to be another at this size get it, if it runs with that. TEXT
 * is in the arena; what ran last is in *STATE and *REPLY. */
static int run_text(struct search *s, const char *op, double cpu_s,
                    struct val **state, struct span *text, struct val **reply,
                    struct err *e)
{
    struct val *first = *state, *next;
    for (int i = 0; i < 3; i++) {
        struct buf b = BUF_INIT(8u << 20);
        int full = search_source(&b, s->f, *state, s->source, s->entry);
        *text = arena_span(s->a, buf_span(&b));
        buf_release(&b);
        if (full)
            return err_set(e, ERR_TOO_LARGE, "the task's source is too large");
        if (search_load(s, *text, SPAN_LIT("Model"), reply, e) < 0)
            return -1;
        if (val_getb(*reply, "ok", false))
            search_call(s, search_request(s, op, NULL), cpu_s, reply);
        bool ok = val_getb(*reply, "ok", false);
        next = i == 0 && ok    ? ranges_found(s->a, s->f, first, *reply)
               : i == 1 && !ok ? first
                               : NULL;
        if (!next)
            break;
        *state = next;
    }
    return 0;
}

/* The text that is emitted, in a fresh process: run, measured and gated. */
int search_prove(struct search *s, struct val *state, struct found *out,
                 struct err *e)
{
    struct val *reply = NULL, *inputs;

    if (run_text(s, "try", 2 * ATTEMPT_S, &state, &out->source, &reply, e) < 0)
        return -1;
    out->tried = reply;
    if (val_getb(reply, "ok", false))
        search_call(s, search_request(s, "measure", NULL), 4 * ATTEMPT_S,
                    &reply);
    out->measure = reply;
    if (val_getb(reply, "ok", false))
        search_call(s, search_request(s, "gate", NULL), s->conf->cpu_s, &reply);
    if (!val_getb(reply, "ok", false)) {
        struct span class = val_gets(reply, "class");
        struct span message = val_gets(reply, "message");
        bool died = val_getb(reply, "died", false);
        err_set(e, died ? search_death(reply) : ERR_FORWARD,
                "in a fresh process: %.*s: %.*s", (int)class.n,
                class.p ? class.p : "", (int)MIN(message.n, 200),
                message.p ? message.p : "");
        return -1;
    }
    s->gated = state;
    s->figures = reply;
    out->state = state;
    out->stochastic = val_getb(reply, "seeded", false);
    out->mutates = val_get(reply, "mutates");
    inputs = state_task_inputs(s->a, s->f, state);
    if (!reply_mutates_sound(out->mutates, val_len(inputs)))
        return err_set(e, ERR_FORWARD, "the answer is none of the probe's");
    if (check_outputs(out->tried, e) < 0)
        return -1;
    return gate_check(reply, inputs, e);
}

/* STATE as MSG's texts; its model is the one that is loaded where it has the
 * same constructor's arguments. */
static struct val *with_inputs(struct search *s, const char *op,
                               const struct val *state, const struct val *as)
{
    struct val *msg = search_request(s, op, state);
    if (val_equal(val_get(state, "init"), val_get(as, "init")))
        val_del(msg, "model");
    return msg;
}

struct sizer {
    struct search *s;
    const struct val *small; /* loaded */
    bool shapes;             /* else it is computed */
    bool over;               /* the last one overran */
};

static int run_size(void *payload, const struct val *state,
                    struct val **figures, struct err *e)
{
    struct sizer *z = payload;
    struct search *s = z->s;
    /* The state itself may be what ends it; what is larger overruns too. */
    if (!s->p->alive || z->over) {
        *figures = val_map(s->a);
        return 0;
    }
    (void)e;
    s->attempts++;
    search_call(s,
                with_inputs(s, z->shapes ? "shapes" : "try", state, z->small),
                z->shapes ? FULL_S : ATTEMPT_S, figures);
    z->over = search_overran(*figures);
    if (log_level > 2)
        search_tell(s, state, *figures);
    if (!z->shapes && val_getb(*figures, "ok", false))
        search_call(s, search_request(s, "measure", NULL), 2 * ATTEMPT_S,
                    figures);
    return 0;
}

/* Shapes beside those of the small twin, each of them run. */
static void try_odd(struct search *s, struct found *out)
{
    out->odd = val_list(s->a);
    for (int i = 0; i < GROW_ODD && val_len(out->odd) < 2 && s->p->alive; i++) {
        struct val *reply, *state = grow_odd(s->a, out->small, i);
        if (!state || !s->p->alive)
            continue;
        s->attempts++;
        search_call(s, with_inputs(s, "try", state, out->small), ATTEMPT_S,
                    &reply);
        if (!val_getb(reply, "ok", false))
            continue;
        struct val *one = val_map(s->a);
        val_set(s->a, one, "state", state);
        val_set(s->a, one, "tried", reply);
        val_push(s->a, out->odd, one);
    }
}

/* The text of STATE, whose FIGURES are known, in a fresh process: computed
 * where that does not take long, else on shapes alone. 0 when it runs. */
static int prove_full(struct search *s, struct val *state, struct val *figures,
                      struct found *out, struct err *e)
{
    struct val *reply = NULL;
    struct span text;
    double drawn =
        val_getf(figures, "parameters", 0) + val_getf(figures, "slot", 0) / 4;
    bool light = scale_estimate_ms(figures) + drawn / DRAWN_PER_MS <= FULL_MS &&
                 scale_memory(figures) <= FULL_MEMORY;

    if (run_text(s, light ? "try" : "shapes", FULL_S, &state, &text, &reply,
                 e) < 0)
        return -1;
    if (!val_getb(reply, "ok", false) || check_outputs(reply, e) < 0)
        return 1;
    out->source = text;
    out->state = state;
    out->tried = reply;
    out->measure = figures;
    out->on_meta = !light;
    return 0;
}

/* Do FIGURES, of shapes alone, tell the outputs that were computed? */
static bool as_computed(const struct val *figures, const struct val *tried)
{
    return val_getb(figures, "ok", false) &&
           val_equal(val_get(figures, "outs"), val_get(tried, "outs"));
}

/* OUT->state passed the gate and is loaded: it becomes the small twin of a
 * larger one. WIDE: as grow_run's OTHER. */
int search_full_size(struct search *s, struct found *out, struct val *wide,
                     struct err *e)
{
    struct sizer z = {s, out->state, true, false};
    struct grow g = {.a = s->a,
                     .f = s->f,
                     .budget = &budget_gpu,
                     .run = run_size,
                     .payload = &z,
                     .best = out->state};
    out->small = out->state;
    out->small_tried = out->tried;
    out->small_measure = out->measure;
    out->small_source = out->source;
    try_odd(s, out);
    if (!s->p->alive)
        return 0;
    if (run_size(&z, out->small, &g.figures, e) < 0)
        return -1;
    if (!as_computed(g.figures, out->small_tried)) {
        z.shapes = z.over = false;
        g.budget = &budget_cpu;
        g.figures = out->measure;
        wide = NULL;
    }
    if (grow_run(&g, wide, e) < 0)
        return -1;
    if (g.best == out->small)
        return 0;
    return prove_full(s, g.best, g.figures, out, e) < 0 ? -1 : 0;
}
