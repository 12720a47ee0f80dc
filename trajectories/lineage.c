/* SPDX-License-Identifier: MIT */
/* Union of the versions of a run's programs, and their lines of descent. */
#include "base.h"

#include "hash.h"
#include "log.h"
#include "trajectories/lineage.h"
#include "trajectories/replay.h"

/* Messages about broken input of one run; all of it is in the records. */
#define MAX_WARNINGS 5

int lineage_open(struct lineage *l, struct err *e)
{
    memset(l, 0, sizeof(*l));
    return spill_open(&l->spill, e);
}

void lineage_close(struct lineage *l)
{
    spill_close(&l->spill);
    map_release(&l->index);
    array_release(&l->nodes);
    arena_release(&l->arena);
}

static struct span node_key(struct arena *a, struct span run,
                            struct span program)
{
    char *p = arena_alloc(a, run.n + 1 + program.n);
    if (run.n)
        memcpy(p, run.p, run.n);
    p[run.n] = '\0';
    if (program.n)
        memcpy(p + run.n + 1, program.p, program.n);
    return (struct span){p, run.n + 1 + program.n};
}

static struct node *node_find(const struct lineage *l, struct span run,
                              struct span program)
{
    struct arena a = ARENA_INIT;
    struct node *n = map_get(&l->index, node_key(&a, run, program));
    arena_release(&a);
    return n;
}

bool lineage_has(const struct lineage *l, struct span run, struct span program)
{
    return node_find(l, run, program) != NULL;
}

static struct node *node_new(struct lineage *l, struct span run,
                             struct span program)
{
    struct node *n = arena_zalloc(&l->arena, sizeof(*n));
    n->run = arena_span(&l->arena, run);
    n->program = arena_span(&l->arena, program);
    array_push(&l->nodes, n);
    return n;
}

int lineage_put(struct lineage *l, const struct val *rec, bool migrant,
                const char *where, struct err *e)
{
    struct span run = val_gets(rec, "run"), program = val_gets(rec, "program");
    struct span parent = val_gets(rec, "parent");
    struct span code = val_gets(rec, "code");
    char digest[HASH_HEX + 1] = "";
    if (code.n > 0)
        hash_sha256_hex(digest, code);
    digest[ID_HEX] = '\0';
    struct spill_ref ref;
    if (spill_put(&l->spill, rec, &ref, e) != 0) {
        if (e->code != ERR_TOO_LARGE && l->dead.code == ERR_NONE)
            l->dead = *e;
        return -1;
    }
    struct node *n = node_find(l, run, program);
    if (n && n->fail == ERR_NONE && strcmp(n->code, digest) != 0) {
        /* The same id for other code: keep the older one as a record of its
         * own that says so. */
        struct node *old = node_new(l, run, program);
        struct span o_run = old->run, o_program = old->program;
        *old = *n;
        old->run = o_run;
        old->program = o_program;
        old->fail = ERR_CONFLICT;
        old->note = arena_printf(&l->arena, "other code than in %s", where);
        log_warning("program '%.*s': %s has other code than an earlier file",
                    (int)MIN(program.n, 100u), program.p, where);
    }
    if (!n) {
        n = node_new(l, run, program);
        map_put(&l->index, node_key(&l->arena, run, program), n);
    }
    n->parent =
        parent.n ? arena_span(&l->arena, parent) : (struct span){NULL, 0};
    n->iteration = val_geti(rec, "iteration", 0);
    memcpy(n->code, digest, sizeof(n->code));
    n->prompted =
        val_len(val_get(rec, "prompt")) > 0 || val_gets(rec, "reply").n > 0;
    n->migrant = migrant;
    n->fail = ERR_NONE;
    n->note = NULL;
    n->rec = ref;
    return 0;
}

void lineage_broken(struct lineage *l, struct span run, struct span program,
                    enum err_code code, const char *note)
{
    if (l->warned++ < MAX_WARNINGS)
        log_warning("%s", note);
    if (lineage_has(l, run, program))
        return;
    struct node *n = node_new(l, run, program);
    map_put(&l->index, node_key(&l->arena, run, program), n);
    n->fail = code;
    n->note = arena_strdup(&l->arena, span_str(note));
}

/* ---- order and descent ---- */

static int span_cmp(struct span a, struct span b)
{
    size_t n = MIN(a.n, b.n);
    int c = n ? memcmp(a.p, b.p, n) : 0;
    return c ? c : (a.n > b.n) - (a.n < b.n);
}

static int node_cmp(const void *pa, const void *pb)
{
    const struct node *a = *(struct node *const *)pa;
    const struct node *b = *(struct node *const *)pb;
    int c = span_cmp(a->run, b->run);
    if (!c)
        c = (a->iteration > b->iteration) - (a->iteration < b->iteration);
    if (!c)
        c = span_cmp(a->program, b->program);
    if (!c) /* versions of one program */
        c = strcmp(a->code, b->code);
    return c;
}

/* A copy stands for the program whose code it has: mark what it copies. */
static void find_copies(struct lineage *l)
{
    struct map by_code = MAP_INIT; /* run, NUL, code -> first node with it */
    for (size_t i = 0; i < l->nodes.n; i++) {
        struct node *n = l->nodes.v[i];
        if (n->parent.p)
            n->parent_node = node_find(l, n->run, n->parent);
        if (n->fail != ERR_NONE || !n->code[0])
            continue;
        struct node *p = n->parent_node;
        if (p && p != n && p->fail == ERR_NONE && strcmp(p->code, n->code) == 0)
            n->same = p;
        if (n->migrant || n->same)
            continue; /* never the original */
        void **slot =
            map_ref(&by_code, node_key(&l->arena, n->run, span_str(n->code)));
        if (*slot)
            n->duplicate = true;
        else
            *slot = n;
    }
    for (size_t i = 0; i < l->nodes.n; i++) {
        struct node *n = l->nodes.v[i];
        if (n->migrant && !n->same && n->fail == ERR_NONE && n->code[0])
            n->same = map_get(&by_code,
                              node_key(&l->arena, n->run, span_str(n->code)));
    }
    map_release(&by_code);
}

/* Copies that name one another in a circle would all be dropped: the first
 * of them stays. Every chain of `same` is then shortened to its end. */
static void resolve_copies(struct lineage *l)
{
    for (size_t i = 0; i < l->nodes.n; i++) {
        struct node *slow = l->nodes.v[i], *fast = slow;
        while (fast && fast->same) {
            slow = slow->same;
            fast = fast->same->same;
            if (slow == fast)
                break;
        }
        if (fast && fast->same) { /* slow is on a circle */
            struct node *first = slow;
            for (struct node *n = slow->same; n != slow; n = n->same)
                if (node_cmp(&n, &first) < 0)
                    first = n;
            first->same = NULL;
        }
        struct node *n = l->nodes.v[i], *end = n;
        while (end->same)
            end = end->same;
        while (n->same && n->same != end) {
            struct node *next = n->same;
            n->same = end;
            n = next;
        }
    }
}

static struct node *original(struct node *n)
{
    return n && n->same ? n->same : n;
}

/* Mark the nodes whose line of parents runs into a circle. */
static void find_cycles(struct lineage *l)
{
    enum { UNSEEN, WALKING, ENDS, ENDLESS };
    ARRAY(struct node *) walk = {0};
    for (size_t i = 0; i < l->nodes.n; i++) {
        walk.n = 0;
        struct node *n = l->nodes.v[i];
        while (n && n->mark == UNSEEN) {
            n->mark = WALKING;
            array_push(&walk, n);
            n = original(n->parent_node);
        }
        int mark = !n || n->mark == ENDS ? ENDS : ENDLESS;
        for (size_t k = 0; k < walk.n; k++)
            walk.v[k]->mark = mark;
    }
    for (size_t i = 0; i < l->nodes.n; i++)
        l->nodes.v[i]->cycle = l->nodes.v[i]->mark == ENDLESS;
    array_release(&walk);
}

/* ---- records ---- */

/* The evaluator's name of the language that a run calls HINT. */
static const char *language_of(struct span hint)
{
    static const char *const names[][2] = {
        {"", "torch"},       {"unknown", "torch"}, {"python", "torch"},
        {"py", "torch"},     {"torch", "torch"},   {"pytorch", "torch"},
        {"triton", "torch"}, {"c", "c"},           {"cuda", "cuda"},
        {"cu", "cuda"},      {"maca", "maca"},
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (span_is(hint, names[i][0]))
            return names[i][1];
    return NULL;
}

static const char *const replay_names[] = {"absent", "exact", "differs",
                                           "absent"};

struct writer {
    struct lineage *l;
    const struct lineage_options *o;
    struct emit *out;
    struct arena arena;
};

static void add_flag(struct arena *a, struct val *flags, const char *name)
{
    val_push(a, flags, val_strz(a, name));
}

/* Copy what is present of NAMES (NULL-ended). */
static void copy_fields(struct arena *a, struct val *to, const struct val *from,
                        const char *const *names)
{
    for (; *names; names++) {
        struct val *v = val_get(from, *names);
        if (v && v->type != VAL_NIL)
            val_set(a, to, *names, v);
    }
}

/* Set replay and reply_kind of REC from node N. */
static int set_replay(struct writer *w, struct node *n, const struct val *from,
                      struct val *rec, struct val *flags, struct err *e)
{
    struct arena *a = &w->arena;
    struct span reply = val_gets(from, "reply");
    struct span parent = {NULL, 0};
    bool diff = false;
    struct lineage_stats *st = &w->l->stats;
    if (n->same) {
        if (n->prompted)
            val_set(a, rec, "replay", val_strz(a, "noop"));
        return 0;
    }
    struct node *p = n->parent_node;
    if (p && p->code[0] && reply.n > 0) {
        struct val *prec;
        if (spill_get(&w->l->spill, p->rec, a, &prec, e) != 0)
            return -2;
        parent = val_gets(prec, "code");
    }
    struct span tag = val_gets(from, "language");
    enum replay r =
        replay_check(parent, reply, tag.n ? tag : SPAN_LIT("python"),
                     val_gets(from, "code"), &diff);
    if (reply.n > 0)
        val_set(a, rec, "reply_kind", val_strz(a, diff ? "diff" : "full"));
    val_set(a, rec, "replay", val_strz(a, replay_names[r]));
    if (r == REPLAY_TOO_LARGE)
        add_flag(a, flags, "replay_too_large");
    st->exact += r == REPLAY_EXACT;
    st->differs += r == REPLAY_DIFFERS;
    st->absent += r == REPLAY_ABSENT || r == REPLAY_TOO_LARGE;
    return 0;
}

/* Why N is no candidate: ERR_NONE when it is one. */
static enum err_code judge(const struct writer *w, const struct node *n,
                           const struct val *from, const char *language,
                           struct span *task, struct err *why)
{
    struct span hint = val_gets(from, "task");
    if (hint.n == 0)
        hint = span_str(w->o->task);
    *task = taskset_find(w->o->tasks, hint, why);
    bool known = task->p != NULL;
    if (!known) /* still tells which task it was for */
        *task = hint;
    if (n->fail != ERR_NONE) {
        err_set(why, n->fail, "%s", n->note);
        return n->fail;
    }
    if (!n->code[0]) {
        err_set(why, ERR_NO_CODE, "no program text");
        return ERR_NO_CODE;
    }
    if (n->same) {
        enum err_code c = n->prompted && !n->migrant ? ERR_NOOP : ERR_MIGRANT;
        err_set(why, c, "same code as '%.*s'", (int)n->same->program.n,
                n->same->program.p);
        return c;
    }
    if (!known)
        return ERR_NO_TASK;
    if (!language) {
        struct span tag = val_gets(from, "language");
        err_set(why, ERR_BROKEN_INPUT,
                "language '%.*s' is not known, use "
                "--language",
                (int)MIN(tag.n, 40u), tag.p);
        return ERR_BROKEN_INPUT;
    }
    return ERR_NONE;
}

static void count(struct lineage_stats *st, enum err_code code,
                  const struct node *n)
{
    st->programs++;
    st->ok += code == ERR_NONE;
    st->noop += code == ERR_NOOP;
    st->migrants += code == ERR_MIGRANT;
    st->conflicts += code == ERR_CONFLICT;
    st->broken += code == ERR_BROKEN_INPUT || code == ERR_TOO_LARGE;
    st->no_task += code == ERR_NO_TASK;
    st->duplicates += n->duplicate;
}

/* Parent, as it holds for the selection: a copy's children are children of
 * the program copied, whose code is the same. */
static void set_parent(struct writer *w, struct node *n, struct val *rec,
                       struct val *flags)
{
    struct arena *a = &w->arena;
    if (!n->parent.p)
        return;
    struct node *p = original(n->parent_node);
    bool follow = p && p != n && !n->same;
    struct span name = follow ? p->program : n->parent;
    val_set(a, rec, "parent", val_str(a, name));
    if (!span_eq(name, n->parent)) {
        val_set(a, rec, "parent_recorded", val_str(a, n->parent));
        add_flag(a, flags, "parent_was_copy");
    }
    if (!n->parent_node) {
        add_flag(a, flags, "dangling_parent");
        w->l->stats.dangling++;
    }
    if (n->cycle)
        add_flag(a, flags, "parent_cycle");
}

static int write_node(struct writer *w, struct node *n, struct err *e)
{
    static const char *const places[] = {"iteration", "generation", "island",
                                         "sample",    "model",      NULL};
    static const char *const bulk[] = {"code", "prompt", "reply", NULL};
    struct arena *a = &w->arena;
    struct val *from = NULL;
    struct err why = {0};
    struct span task = {NULL, 0};
    arena_reset(a);
    if (n->rec.n && spill_get(&w->l->spill, n->rec, a, &from, e) != 0)
        return -2;
    const char *language = w->o->language;
    if (!language && from)
        language = language_of(val_gets(from, "language"));
    enum err_code code = judge(w, n, from, language, &task, &why);
    struct val *flags = val_list(a);
    struct val *seen = val_get(from, "flags");
    for (size_t i = 0; i < val_len(seen); i++)
        val_push(a, flags, val_at(seen, i));

    struct val *rec = rec_new(a, "revision");
    val_set(a, rec, "task", val_str(a, task.p ? task : SPAN_LIT("")));
    val_set(a, rec, "run", val_str(a, n->run));
    val_set(a, rec, "program", val_str(a, n->program));
    set_parent(w, n, rec, flags);
    copy_fields(a, rec, from, places);
    if (language)
        val_set(a, rec, "language", val_strz(a, language));
    copy_fields(a, rec, from, bulk);
    if (from && n->fail == ERR_NONE && n->code[0] &&
        set_replay(w, n, from, rec, flags, e) != 0)
        return -2;
    struct val *recorded = val_get(from, "recorded");
    if (recorded)
        val_set(a, rec, "recorded", recorded);
    if (n->duplicate)
        add_flag(a, flags, "duplicate_code");
    if (n->migrant && !n->same)
        add_flag(a, flags, "migrant");
    if (val_len(flags) > 0)
        val_set(a, rec, "flags", flags);
    count(&w->l->stats, code, n);
    rec_seal(a, rec);
    if (code != ERR_NONE)
        rec_fail(a, rec, "trajectories", code, why.msg);
    return emit_rec(w->out, a, rec, e);
}

int lineage_emit(struct lineage *l, const struct lineage_options *o,
                 struct emit *out, struct err *e)
{
    struct writer w = {l, o, out, ARENA_INIT};
    int status = 0;
    if (l->dead.code != ERR_NONE) {
        *e = l->dead;
        return -2;
    }
    if (l->warned > MAX_WARNINGS)
        log_warning("%" PRIu64 " more programs are broken",
                    l->warned - MAX_WARNINGS);
    if (l->nodes.n)
        qsort(l->nodes.v, l->nodes.n, sizeof(*l->nodes.v), node_cmp);
    find_copies(l);
    resolve_copies(l);
    find_cycles(l);
    for (size_t i = 0; i < l->nodes.n && status == 0; i++)
        status = write_node(&w, l->nodes.v[i], e);
    arena_release(&w.arena);
    return status;
}
