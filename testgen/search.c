/* SPDX-License-Identifier: MIT */
/*
 * Best-first search over states. What an attempt reached (calls into torch
 * before it failed) is its score, less what the same failure was met before;
 * every failure proposes changes (refine.h), tried in the order of their
 * weight. A process that died costs a fork.
 */
#include "base.h"

#include "testgen/calls.h"
#include "testgen/gate.h"
#include "testgen/infer/infer.h"
#include "testgen/ranges.h"
#include "testgen/refine.h"
#include "testgen/scale.h"
#include "testgen/search_priv.h"
#include "testgen/told.h"

/* Of a module's CPU time, until it runs: what does runs early. Where that is
 * less than so many seconds, a half. */
#define SEARCH_SHARE 0.125
#define SEARCH_S     2.0
#define MAX_DEATHS   4 /* of processes, and overruns of an attempt */
/* Of these: a first state may be as large as its user's. */
#define MAX_EXCUSED 2
#define MAX_REPEATS 20  /* failures of one kind that count against one more */
#define MAX_FIXES   4   /* changes that the gate asks for */
#define MEND_S      4.0 /* CPU seconds of the gate for one of these */
#define MEND_SHARE  0.35

static int64_t score_of(const struct val *reply)
{
    struct span where = val_gets(reply, "where");
    int64_t ops = val_geti(reply, "ops", 0);
    if (val_getb(reply, "died", false))
        return 0;
    if (span_is(where, "construct"))
        return 1000 + MIN(ops, 100000);
    if (span_is(where, "inputs"))
        return 1000000;
    return 2000000 + 2 * MIN(ops, 100000);
}

/* FNV-1a over the line and the message without digits. */
static uint64_t kind_of(const struct val *reply)
{
    struct span text = val_gets(reply, "message");
    uint64_t h = 14695981039346656037u;
    h = (h ^ (uint64_t)val_geti(reply, "line", 0)) * 1099511628211u;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < '0' || text.p[i] > '9')
            h = (h ^ (unsigned char)text.p[i]) * 1099511628211u;
    return h;
}

static int count_kind(const struct search *s, uint64_t kind)
{
    int n = 0;
    for (size_t i = 0; i < s->nodes.n; i++)
        n += s->nodes.v[i].kind == kind;
    return MIN(n, MAX_REPEATS);
}

/* Was this very state tried before? */
static bool seen_before(struct search *s, const struct val *state)
{
    struct buf b = BUF_INIT(1u << 20);
    bool old = val_pack(&b, state) != 0 || map_has(&s->seen, buf_span(&b));
    if (!old)
        map_put(&s->seen, buf_span(&b), s);
    buf_release(&b);
    return old;
}

static void expand(struct search *s, struct node *n)
{
    struct span where = val_gets(n->reply, "where");
    n->moves = (struct moves){.a = s->a,
                              .f = s->f,
                              .state = n->state,
                              .reply = n->reply,
                              .construct = span_is(where, "construct")};
    if (search_overran(n->reply)) {
        struct val *less = scale_smaller_defaults(s->a, s->f, n->state);
        struct val *sized = less ? infer_state(s->a, s->f, less) : NULL;
        if (sized)
            array_push(&n->moves.list, ((struct move){sized, 101}));
        if (less)
            array_push(&n->moves.list, ((struct move){less, 100}));
        moves_shrink(&n->moves, 99);
    }
    refine(&n->moves);
    n->expanded = true;
}

/* Next untried state of the node with the best prospects; NULL at the end. */
static struct val *next_state(struct search *s)
{
    for (;;) {
        struct node *best = NULL;
        int64_t value = INT64_MIN;
        for (size_t i = 0; i < s->nodes.n; i++) {
            struct node *n = &s->nodes.v[i];
            int64_t v = n->score - 6 * (int64_t)n->next - 3 * n->repeats;
            if (n->expanded && n->next >= n->moves.list.n)
                continue;
            if (v >= value) {
                value = v;
                best = n;
            }
        }
        if (!best)
            return NULL;
        if (!best->expanded)
            expand(s, best);
        while (best->next < best->moves.list.n) {
            struct val *state = best->moves.list.v[best->next++].state;
            if (!seen_before(s, state))
                return state;
        }
    }
}

static const struct node *furthest(const struct search *s)
{
    const struct node *best = &s->nodes.v[0];
    for (size_t i = 1; i < s->nodes.n; i++)
        if (s->nodes.v[i].score > best->score)
            best = &s->nodes.v[i];
    return best;
}

/* No attempt succeeded: say how far the best one came. */
static int failed(const struct search *s, struct err *e)
{
    /* none: the time was used up by what ran before */
    static const struct node nothing;
    const struct node *n = s->nodes.n ? furthest(s) : &nothing;
    struct span where = val_gets(n->reply, "where");
    struct span class = val_gets(n->reply, "class");
    struct span text = val_gets(n->reply, "message");
    enum err_code code = ERR_FORWARD;
    if (val_getb(n->reply, "died", false))
        code = search_death(n->reply);
    else if (search_overran(n->reply))
        code = ERR_TIMEOUT;
    else if (span_is(where, "construct"))
        code = ERR_CONSTRUCT;
    return err_set(e, code, "%.*s, line %d: %.*s: %.*s (%d attempts)",
                   (int)where.n, where.p ? where.p : "",
                   (int)val_geti(n->reply, "line", 0), (int)class.n,
                   class.p ? class.p : "", (int)MIN(text.n, 200),
                   text.p ? text.p : "", s->attempts);
}

/* SHARE of the CPU time is not yet used up, and the module behaves. */
static bool goes_on(const struct search *s, double share)
{
    return s->deaths < MAX_DEATHS && s->overruns < MAX_DEATHS &&
           s->cpu + s->fork_cpu < share * s->conf->cpu_s;
}

/* Its constructor alone took too long before. */
static bool overran(const struct search *s, const struct val *state)
{
    for (size_t i = 0; i < s->nodes.n; i++) {
        const struct node *n = &s->nodes.v[i];
        if (search_overran(n->reply) &&
            span_is(val_gets(n->reply, "where"), "construct") &&
            val_equal(val_get(n->state, "init"), val_get(state, "init")))
            return true;
    }
    return false;
}

/* The next one of FIRST that is new, then what failures suggest. */
static struct val *one_more(struct search *s, const struct val *first,
                            size_t *at)
{
    while (*at < val_len(first)) {
        struct val *state = val_at(first, (*at)++);
        if (!overran(s, state) && !seen_before(s, state))
            return state;
    }
    return s->nodes.n ? next_state(s) : NULL;
}

/* STATE ran, with REPLY: its integers over the whole range that it looks up,
 * where that runs too. What is returned was tried last. */
static struct val *over_range(struct search *s, struct val *state,
                              struct val *reply, struct err *e)
{
    struct val *next = ranges_found(s->a, s->f, state, reply);
    if (!next)
        return state;
    if (search_attempt(s, next, &reply, e) < 0)
        return NULL;
    if (val_getb(reply, "ok", false))
        return next;
    return search_attempt(s, state, &reply, e) < 0 ? NULL : state;
}

/* Try states, FIRST and what follows from them, until one runs: it, or NULL
 * with E; E->code NONE = exhausted. */
static struct val *until_it_runs(struct search *s, const struct val *first,
                                 struct err *e)
{
    size_t at = 0;
    int excused = 0;
    double share =
        s->conf->cpu_s * SEARCH_SHARE < SEARCH_S ? 0.5 : SEARCH_SHARE;
    e->code = ERR_NONE;
    while (s->attempts < s->conf->attempts && goes_on(s, share)) {
        size_t before = at;
        struct val *reply, *state = one_more(s, first, &at);
        int overruns = s->overruns, deaths = s->deaths;
        if (!state)
            break;
        if (search_try(s, &state, &reply, e) < 0)
            return NULL;
        if (at > before && excused < MAX_EXCUSED &&
            s->overruns + s->deaths > overruns + deaths) {
            s->overruns = overruns;
            s->deaths = deaths;
            excused++;
        }
        if (val_getb(reply, "ok", false))
            return over_range(s, state, reply, e);
        struct node n = {.state = state,
                         .reply = reply,
                         .score = score_of(reply),
                         .kind = kind_of(reply)};
        n.repeats = count_kind(s, n.kind);
        array_push(&s->nodes, n);
    }
    return NULL;
}

/* Figures of the gate for a state that was just tried; does it pass? */
static bool passes(struct search *s, struct val **figures)
{
    search_call(s, search_request(s, "gate", NULL), MEND_S, figures);
    return val_getb(*figures, "ok", false) &&
           gate_rule(*figures) == GATE_PASSED;
}

/* One proposal of the scaler, tried and measured. */
static int try_size(struct search *s, struct scale *sc, struct val *next,
                    struct err *e)
{
    struct val *tried, *figures;
    if (search_attempt(s, next, &tried, e) < 0)
        return -1;
    if (!val_getb(tried, "ok", false))
        return 0;
    search_call(s, search_request(s, "measure", NULL), 2 * ATTEMPT_S, &figures);
    scale_tell(sc, next, figures);
    return 0;
}

/* Smaller sizes for a module that was just tried and takes too long. */
static int reduce(struct search *s, struct val **state, struct err *e)
{
    struct val *figures;
    struct scale sc;
    search_call(s, search_request(s, "measure", NULL), 2 * ATTEMPT_S, &figures);
    if (!val_getb(figures, "ok", false))
        return 0; /* the gate will say why */
    scale_init(&sc, s->a, s->f, *state, figures);
    for (struct val *next; (next = scale_reduce(&sc));)
        if (try_size(s, &sc, next, e) < 0)
            return -1;
    if (sc.best == *state)
        return 0;
    *state = sc.best;
    return search_attempt(s, *state, &figures, e);
}

/* Larger inputs, as long as estimates of time and memory stay modest. */
static int enlarge(struct search *s, struct val **state, struct err *e)
{
    struct val *reply;
    struct scale sc;
    if (search_attempt(s, *state, &reply, e) < 0)
        return -1;
    search_call(s, search_request(s, "measure", NULL), 2 * ATTEMPT_S, &reply);
    scale_init(&sc, s->a, s->f, *state, reply);
    for (struct val *next; (next = scale_next(&sc));)
        if (try_size(s, &sc, next, e) < 0)
            return -1;
    *state = sc.best;
    return 0;
}

/* Does a smaller input have another chance? */
static bool is_about_module(const struct err *e)
{
    return e->code == ERR_QUALITY || e->code == ERR_FORWARD ||
           e->code == ERR_TIMEOUT || e->code == ERR_MEMORY;
}

/* The larger state, or else the one given, in a fresh process. */
static int enlarge_and_prove(struct search *s, struct val *state,
                             struct found *out, struct err *e)
{
    struct val *large = state;
    int rc;
    if (s->conf->gpu)
        return search_prove(s, state, out, e);
    if (enlarge(s, &large, e) < 0)
        return -1;
    rc = search_prove(s, large, out, e);
    if (rc < 0 && large != state && is_about_module(e))
        rc = search_prove(s, state, out, e);
    return rc;
}

/* STATE was just tried: does it pass? For a GPU that is proven at once, since
 * it would be gated again there. */
static bool mends(struct search *s, struct val *state, struct found *out,
                  struct err *e)
{
    struct val *figures;
    e->code = ERR_NONE;
    if (!s->conf->gpu)
        return passes(s, &figures);
    return search_prove(s, state, out, e) == 0;
}

/*
 * What the gate found may be mended (gate.h): the first idea that passes on
 * small inputs, or NULL (E->code NONE: there is none). For a GPU OUT is what
 * was proven.
 */
static struct val *mend(struct search *s, struct val *state, struct found *out,
                        struct err *e)
{
    struct val *first = s->figures, *tried;
    struct found kept = *out;
    bool more = true;
    e->code = ERR_NONE;
    if (!first || !val_equal(s->gated, state)) {
        if (search_attempt(s, state, &tried, e) < 0)
            return NULL;
        if (!val_getb(tried, "ok", false))
            return NULL;
        if (passes(s, &first))
            return mends(s, state, out, e) ? state : NULL;
        if (!val_getb(first, "ok", false))
            return NULL;
    }
    if (gate_rule(first) == GATE_PASSED)
        return NULL; /* it was no rule of the gate that was broken */
    for (int i = 0; more && i < MAX_FIXES && goes_on(s, MEND_SHARE); i++) {
        struct val *next = gate_mend(s->a, s->f, state, first, i, &more);
        if (!next || val_equal(next, state))
            continue;
        if (search_attempt(s, next, &tried, e) < 0)
            return NULL;
        if (!val_getb(tried, "ok", false))
            continue;
        if (mends(s, next, out, e))
            return next;
        *out = kept;
        if (e->code != ERR_NONE && !is_about_module(e) &&
            e->code != ERR_CRASH && e->code != ERR_TOO_LARGE)
            return NULL;
    }
    e->code = ERR_NONE;
    return NULL;
}

static int loaded(struct search *s, struct err *e)
{
    struct val *reply;
    if (search_load(s, s->source, s->entry, &reply, e) < 0)
        return -1;
    if (!val_getb(reply, "ok", false)) {
        struct span class = val_gets(reply, "class");
        struct span message = val_gets(reply, "message");
        bool died = val_getb(reply, "died", false);
        return err_set(e, died ? search_death(reply) : ERR_NO_PROPOSAL,
                       "the source cannot be loaded: %.*s: %.*s", (int)class.n,
                       class.p ? class.p : "", (int)MIN(message.n, 200),
                       message.p ? message.p : "");
    }
    facts_merge(s->f, &s->f->init, val_get(reply, "init"));
    facts_merge(s->f, &s->f->forward, val_get(reply, "forward"));
    return 0;
}

/* The text that came furthest, for those that learn from it. */
static struct span nearest(const struct search *s)
{
    struct span text = {NULL, 0};
    const struct node *n = s->nodes.n ? furthest(s) : NULL;
    struct buf b = BUF_INIT(8u << 20);
    if (n && span_is(val_gets(n->reply, "where"), "forward") &&
        search_source(&b, s->f, n->state, s->source, s->entry) == 0)
        text = arena_span(s->a, buf_span(&b));
    buf_release(&b);
    return text;
}

/* What is tried first: proposals where seeds leave something open. */
static struct val *beginnings(struct search *s)
{
    struct val *l = val_list(s->a);
    for (size_t i = 0; i < val_len(s->conf->seeds); i++) {
        struct val *state = val_copy(s->a, val_at(s->conf->seeds, i));
        propose_rest(s->a, s->f, state);
        val_push(s->a, l, state);
    }
    if (!s->conf->seeds) {
        calls_states(s->a, s->f, s->conf->calls, true, l);
        struct val *state = propose_state(s->a, s->f);
        struct val *told = told_state(s->a, s->f, state, s->conf->shapes);
        struct val *both = told ? infer_state(s->a, s->f, told) : NULL;
        if (both)
            val_push(s->a, l, both);
        if (told)
            val_push(s->a, l, told);
        struct val *plain = propose_tensors(s->a, s->f, state);
        struct val *sized = infer_state(s->a, s->f, state);
        if (sized)
            val_push(s->a, l, sized);
        val_push(s->a, l, state);
        if (plain)
            val_push(s->a, l, plain);
        else if (val_len(val_get(state, "in")) > 1 &&
                 (plain = propose_other_ranks(s->a, s->f, state)) != NULL)
            val_push(s->a, l, plain);
        calls_states(s->a, s->f, s->conf->calls, false, l);
    }
    return l;
}

/* From FIRST to a state that passes the gate, in OUT; *WIDE as in full_size. */
static int find(struct search *s, const struct val *first, struct found *out,
                struct val **wide, struct err *e)
{
    struct err other = {0};
    struct val *state = until_it_runs(s, first, e);
    int rc;
    *wide = s->wide ? s->wide : state;
    if (!state) {
        if (e->code == ERR_NONE)
            failed(s, e);
        return -1;
    }
    if (reduce(s, &state, e) < 0)
        return -1;
    if (*wide == state)
        *wide = NULL;
    rc = enlarge_and_prove(s, state, out, e);
    if (rc == 0 || !is_about_module(e))
        return rc;
    *wide = NULL;
    state = mend(s, state, out, &other);
    if (state)
        return s->conf->gpu ? 0 : enlarge_and_prove(s, state, out, e);
    if (other.code != ERR_NONE)
        *e = other;
    return -1;
}

/* What a call passes ran but tells nothing: as if there were none. */
static int find_without_calls(struct search *s, struct found *out,
                              struct val **wide, struct err *e)
{
    struct search_conf conf = *s->conf;
    const struct search_conf *kept = s->conf;
    struct err other = *e;
    int rc;
    conf.calls = NULL;
    s->conf = &conf;
    rc = find(s, beginnings(s), out, wide, e);
    s->conf = kept;
    if (rc < 0 && (is_about_module(e) || e->code == ERR_CONSTRUCT))
        *e = other;
    return rc;
}

int search_run(struct found *out, struct arena *a, struct probe *p,
               struct facts *f, struct span source, struct span entry,
               const struct search_conf *c, struct err *e)
{
    struct search s = {.a = a,
                       .p = p,
                       .f = f,
                       .source = source,
                       .entry = entry,
                       .conf = c,
                       .seen = MAP_INIT};
    struct val *first, *wide = NULL;
    int rc = -1;

    memset(out, 0, sizeof(*out));
    p->wall = false;
    if (loaded(&s, e) < 0)
        goto out;
    first = beginnings(&s);
    if (val_len(val_get(val_at(first, 0), "in")) == 0) {
        err_set(e, ERR_NO_PROPOSAL, "forward takes no required argument");
        goto out;
    }
    rc = find(&s, first, out, &wide, e);
    if (rc < 0 && e->code == ERR_QUALITY && c->calls)
        rc = find_without_calls(&s, out, &wide, e);
    if (rc == 0 && c->gpu)
        rc = search_full_size(&s, out, wide, e);
out:
    probe_end(p);
    if (rc < 0 && !out->source.p)
        out->source = nearest(&s);
    out->attempts = s.attempts;
    out->cpu_s = s.cpu + s.fork_cpu;
    for (size_t i = 0; i < s.nodes.n; i++)
        moves_release(&s.nodes.v[i].moves);
    array_release(&s.nodes);
    map_release(&s.seen);
    return rc;
}
