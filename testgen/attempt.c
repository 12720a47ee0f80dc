/* SPDX-License-Identifier: MIT */
/* One state of a search in its process: computed, or on shapes alone. */
#include "base.h"

#include "log.h"
#include "testgen/ranges.h"
#include "testgen/scale.h"
#include "testgen/search_priv.h"

/* CPU seconds of one that looks for what runs: beyond, shapes alone tell. */
#define SEARCH_ATTEMPT_S 0.5
#define COMPUTED_MS      1000.0 /* by count: above, nothing is computed */
#define WIDE             1e6    /* elements of inputs */
#define TEXT_MAX         (48u << 10)

bool search_overran(const struct val *reply)
{
    return span_is(val_gets(reply, "class"), "Deadline");
}

enum err_code search_death(const struct val *reply)
{
    struct span class = val_gets(reply, "class");
    return span_is(class, "timeout")  ? ERR_TIMEOUT
           : span_is(class, "memory") ? ERR_MEMORY
                                      : ERR_CRASH;
}

/* One request, its CPU time and its deaths counted. */
void search_call(struct search *s, struct val *msg, double cpu_s,
                 struct val **reply)
{
    double before = s->fork_cpu;
    probe_call(s->p, s->a, msg, cpu_s, reply);
    if (log_level > 2)
        fprintf(stderr, "%.*s: %.3f s\n", (int)val_gets(msg, "op").n,
                val_gets(msg, "op").p, val_getf(*reply, "cpu", 0) - before);
    if (val_getb(*reply, "died", false))
        s->deaths++;
    if (search_overran(*reply))
        s->overruns++;
    s->fork_cpu = val_getf(*reply, "cpu", s->fork_cpu);
}

/* A fresh process for SOURCE. */
int search_load(struct search *s, struct span source, struct span entry,
                struct val **reply, struct err *e)
{
    s->cpu += s->fork_cpu;
    s->fork_cpu = 0;
    if (probe_load(s->p, s->a, source, entry, reply, e) < 0)
        return -1;
    s->fork_cpu = val_getf(*reply, "cpu", 0);
    if (log_level > 2)
        fprintf(stderr, "load: %.3f s\n", s->fork_cpu);
    return 0;
}

struct val *search_request(struct search *s, const char *op,
                           const struct val *state)
{
    struct val *msg = val_map(s->a);
    struct buf model = BUF_INIT(TEXT_MAX / 2), inputs = BUF_INIT(TEXT_MAX / 2);
    val_set(s->a, msg, "op", val_strz(s->a, op));
    if (state) {
        int full = state_model_text(&model, s->f, state, s->entry) |
                   state_inputs_text(&inputs, s->f, state);
        val_set(s->a, msg, "model",
                full ? val_nil(s->a) : val_str(s->a, buf_span(&model)));
        val_set(s->a, msg, "inputs", val_str(s->a, buf_span(&inputs)));
    }
    buf_release(&model);
    buf_release(&inputs);
    return msg;
}

/* Fork anew when the last process died. */
static int revive(struct search *s, struct err *e)
{
    struct val *reply;
    if (s->p->alive)
        return 0;
    if (search_load(s, s->source, s->entry, &reply, e) < 0)
        return -1;
    return 0;
}

/* One line about one attempt, for -vv. */
void search_tell(const struct search *s, const struct val *state,
                 const struct val *reply)
{
    struct buf b = BUF_INIT(1u << 20);
    if (val_json(&b, state) || buf_adds(&b, " -> ") || val_json(&b, reply))
        buf_adds(&b, "...");
    fprintf(stderr, "attempt %d: %s\n", s->attempts, b.p);
    buf_release(&b);
}

static int attempt_within(struct search *s, const char *op, double cpu_s,
                          const struct val *state, struct val **reply,
                          struct err *e)
{
    struct val *msg;
    if (revive(s, e) < 0)
        return -1;
    s->attempts++;
    msg = search_request(s, op, state);
    val_set(s->a, msg, "light", val_bool(s->a, true));
    search_call(s, msg, cpu_s, reply);
    if (log_level > 2)
        search_tell(s, state, *reply);
    return 0;
}

int search_attempt(struct search *s, const struct val *state,
                   struct val **reply, struct err *e)
{
    return attempt_within(s, "try", ATTEMPT_S, state, reply, e);
}

static bool has(struct span text, const char *part)
{
    return text.n && memmem(text.p, text.n, part, strlen(part)) != NULL;
}

/* Not for its time or memory, but as the device of shapes alone has it. */
static bool wants_data(const struct val *reply)
{
    struct span text = val_gets(reply, "message");
    return search_overran(reply) || val_getb(reply, "died", false) ||
           span_is(val_gets(reply, "class"), "NotImplementedError") ||
           has(text, "meta") || has(text, "Meta") || has(text, "device") ||
           has(text, " operators");
}

/* Elements of all tensors in V and its items. */
static double elements(const struct val *v)
{
    const struct val *items = val_get(v, "items"), *shape = val_get(v, "shape");
    double sum = 0, n = input_is_tensor(v) ? 1 : 0;

    for (size_t i = 0; i < val_len(items); i++)
        sum += elements(val_at(items, i));
    for (size_t i = 0; i < val_len(shape); i++)
        n *= (double)val_as_int(val_at(shape, i), 1);
    return sum + n;
}

/* One operator on so much may take longer than any deadline that waits for its
 * end. */
static bool is_wide(const struct val *state)
{
    const struct val *in = val_get(state, "in");
    double n = 0;

    for (size_t i = 0; i < val_len(in); i++)
        n += elements(in->map.v[i]);
    return n > WIDE;
}

/* Larger than what is computed here. */
static bool too_large(const struct val *reply)
{
    return search_overran(reply) ||
           (val_getb(reply, "died", false) &&
            search_death(reply) != ERR_CRASH) ||
           has(val_gets(reply, "message"), "can't allocate memory");
}

static struct val *too_slow(struct arena *a)
{
    struct val *r = val_map(a);

    val_set(a, r, "ok", val_bool(a, false));
    val_set(a, r, "where", val_strz(a, "forward"));
    val_set(a, r, "class", val_strz(a, "Deadline"));
    val_set(a, r, "message", val_strz(a, "by count one forward takes seconds"));
    return r;
}

/* STATE ran on shapes with FIGURES: what is smaller and is computed in time.
 * *STATE and *REPLY are what was tried last. */
static int reduce_on_shapes(struct search *s, struct val **state,
                            struct val *figures, struct val **reply,
                            struct err *e)
{
    struct val *tried;
    struct scale sc;
    scale_init(&sc, s->a, s->f, *state, figures);
    for (struct val *next; (next = scale_reduce(&sc));) {
        if (attempt_within(s, "shapes", ATTEMPT_S, next, &tried, e) < 0)
            return -1;
        scale_tell(&sc, next, tried);
    }
    s->wide = *state;
    *state = sc.best;
    if (scale_estimate_ms(sc.figures) > COMPUTED_MS) {
        *reply = too_slow(s->a);
        return 0;
    }
    tried = ranges_found(s->a, s->f, sc.best, sc.figures);
    if (tried) /* a smaller table has fewer places */
        *state = tried;
    return search_attempt(s, *state, reply, e);
}

/* One attempt of the search, computed or on shapes. */
int search_try(struct search *s, struct val **state, struct val **reply,
               struct err *e)
{
    int overruns = s->overruns, deaths = s->deaths;
    bool before = s->shapes, wide = is_wide(*state), died = false;
    struct val *figures;

    if (!s->conf->gpu)
        return search_attempt(s, *state, reply, e);
    if (!before && !wide) {
        if (attempt_within(s, "try", SEARCH_ATTEMPT_S, *state, reply, e) < 0)
            return -1;
        if (!too_large(*reply))
            return 0;
        died = val_getb(*reply, "died", false);
    }
    if (attempt_within(s, "shapes", ATTEMPT_S, *state, &figures, e) < 0)
        return -1;
    if (before || !wide)
        s->shapes = !wants_data(figures);
    if (wants_data(figures)) /* it tells nothing: all of its time, then */
        return died ? 0 : search_attempt(s, *state, reply, e);
    s->overruns = overruns;
    s->deaths = deaths;
    if (!val_getb(figures, "ok", false)) {
        *reply = figures;
        return 0;
    }
    return reduce_on_shapes(s, state, figures, reply, e);
}
