/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "schema.h"
#include "testgen/examine.h"
#include "testgen/gate.h"
#include "testgen/reply.h"
#include "testgen/task.h"

#define EXAMINE_VERSION "1"
#define TEXT_MAX        (8u << 20)
/* What goes through the gate, which takes some 40 forwards. */
#define GATE_FLOPS ((int64_t)2 << 30)
#define GATE_BYTES ((int64_t)512 << 20)

struct exam {
    struct val *core; /* the task's fields but for name and origin */
    /* Why it is not verified though it is a task; NULL when it is. MARK is
     * ERR_QUALITY or ERR_UNVERIFIED. */
    const char *note;
    enum err_code mark;
    struct host *h;
    struct arena *a;
    struct span source, entry, tail;
    struct val *init;  /* reply of `init` */
    struct span text;  /* of the task */
    struct val *found; /* reply of `examine`, NULL when there is none */
    struct val *inputs;
    struct val *evidence;
};

static struct val *request(struct exam *x, const char *op)
{
    struct val *m = val_map(x->a);
    val_set(x->a, m, "op", val_strz(x->a, op));
    return m;
}

static bool ask(struct exam *x, const char *op, double share,
                struct val **reply)
{
    probe_call(&x->h->probe, x->a, request(x, op), share * host_conf.cpu_s,
               reply);
    return val_getb(*reply, "ok", false);
}

/* The list KEY of a reply, which a module may have forged. */
static struct val *list_of(struct exam *x, const struct val *reply,
                           const char *key)
{
    const struct val *v = val_get(reply, key);
    return v && v->type == VAL_LIST ? val_copy(x->a, v) : val_list(x->a);
}

/* A reply that is a failure, as an error that begins with WHAT. */
static int failed(const struct val *reply, const char *what, enum err_code code,
                  struct err *e)
{
    struct span class = val_gets(reply, "class");
    struct span text = val_gets(reply, "message");
    if (span_is(class, "ModuleNotFoundError") || span_is(class, "ImportError"))
        code = ERR_IMPORT_DENIED;
    else if (span_is(class, "SyntaxError") ||
             span_is(class, "IndentationError"))
        code = ERR_PARSE;
    err_set(e, code, "%s: %.*s: %.*s", what, (int)MIN(class.n, 60),
            class.p ? class.p : "", (int)MIN(text.n, 200),
            text.p ? text.p : "");
    host_scrub(e->msg);
    return -1;
}

/* Was it memory or time that ran out, rather than the source that is wrong? */
static bool ran_out(const struct val *reply)
{
    struct span class = val_gets(reply, "class");
    struct span text = val_gets(reply, "message");
    return span_is(class, "timeout") || span_is(class, "memory") ||
           span_is(class, "Deadline") || span_is(class, "MemoryError") ||
           (text.p && memmem(text.p, text.n, "allocate memory", 15)) ||
           (text.p && memmem(text.p, text.n, "Cannot allocate", 15));
}

static int load(struct exam *x, struct span text, struct span entry,
                struct err *e)
{
    struct val *reply;
    if (probe_load(&x->h->probe, x->a, text, entry, &reply, e) < 0)
        return -1;
    if (val_getb(reply, "ok", false))
        return 0;
    return failed(reply, "the source cannot be loaded", ERR_CONSTRUCT, e);
}

/* ---- the task's text ---- */

static int add_bound(struct buf *b, const struct val *bound)
{
    buf_adds(b, "\n\nimport functools\n\nModel.__init__ = "
                "functools.partialmethod(Model.__init__, **");
    py_literal(b, bound);
    return buf_adds(b, ")\n");
}

/* SOURCE, and behind it what KernelBench form lacks. */
static int compose(struct exam *x, struct err *e)
{
    struct buf b = BUF_INIT(TEXT_MAX);
    const struct val *bound = val_get(x->init, "bound");
    bool listed =
        val_getb(x->init, "given", false) && !val_getb(x->init, "pair", false);
    bool full;
    buf_addspan(&b, x->source);
    if (x->tail.n) {
        buf_adds(&b, "\n\n");
        buf_addspan(&b, x->tail);
    }
    if (!span_is(x->entry, "Model"))
        buf_printf(&b, "\n\nModel = %.*s\n", (int)x->entry.n, x->entry.p);
    if (bound && bound->type == VAL_MAP && val_len(bound))
        add_bound(&b, bound);
    if (!listed) {
        buf_adds(&b, "\n\ndef get_init_inputs():\n    return ");
        py_literal(&b, val_get(x->init, "init"));
        buf_adds(&b, "\n");
    }
    full = b.full;
    if (!full)
        x->text = arena_span(x->a, buf_span(&b));
    buf_release(&b);
    return full ? err_set(e, ERR_TOO_LARGE, "the task's source is too large")
                : 0;
}

static int read_init(struct exam *x, struct err *e)
{
    struct buf b = BUF_INIT(TEXT_MAX);
    struct val *reply;
    int rc = -1;
    buf_addspan(&b, x->source);
    buf_adds(&b, "\n\n");
    if (buf_addspan(&b, x->tail))
        err_set(e, ERR_TOO_LARGE, "the source is too large");
    else
        rc = load(x, buf_span(&b), x->entry, e);
    buf_release(&b);
    if (rc < 0)
        return -1;
    if (!ask(x, "init", 0.5, &reply))
        return failed(reply, "get_init_inputs", ERR_CONSTRUCT, e);
    x->init = val_copy(x->a, reply);
    val_set(x->a, x->init, "init", list_of(x, reply, "init"));
    return compose(x, e);
}

/* ---- one forward ---- */

static bool forward(struct exam *x, bool meta, struct val **reply)
{
    struct val *m = request(x, "examine"), *entries;
    val_set(x->a, m, "init", val_copy(x->a, val_get(x->init, "init")));
    val_set(x->a, m, "meta", val_bool(x->a, meta));
    probe_call(&x->h->probe, x->a, m, (meta ? 0.5 : 0.9) * host_conf.cpu_s,
               reply);
    if (val_getb(*reply, "ok", false)) {
        x->found = *reply;
        x->inputs = list_of(x, *reply, "inputs");
        return true;
    }
    if (span_is(val_gets(*reply, "where"), "forward") && x->h->probe.alive &&
        ask(x, "entries", 0.1, &entries) && val_len(val_get(entries, "inputs")))
        x->inputs = list_of(x, entries, "inputs");
    return false;
}

/* Shapes, dtypes and counts: on the meta device, else for real. */
static int measure(struct exam *x, struct err *e)
{
    struct val *meta, *real;
    if (load(x, x->text, SPAN_LIT("Model"), e) < 0)
        return -1;
    if (forward(x, true, &meta))
        return 0;
    if (load(x, x->text, SPAN_LIT("Model"), e) < 0)
        return -1;
    if (forward(x, false, &real))
        return 0;
    struct span where = val_gets(real, "where");
    char *what =
        arena_printf(x->a, "%.*s", (int)where.n, where.p ? where.p : "forward");
    failed(real, what, ERR_FORWARD, e);
    if (span_is(where, "construct"))
        e->code = ERR_CONSTRUCT;
    if (!ran_out(real))
        return -1;
    x->note = arena_strdup(x->a, span_str(e->msg));
    x->mark = ERR_UNVERIFIED;
    e->code = ERR_NONE;
    return 0;
}

static int check_sound(const struct exam *x, struct err *e)
{
    if ((!x->inputs || reply_inputs_sound(x->inputs)) &&
        reply_mutates_sound(val_get(x->found, "mutates"), val_len(x->inputs)))
        return 0;
    return err_set(e, ERR_FORWARD, "the answer is none of the probe's");
}

/* ---- ranges ---- */

static bool is_float(struct span dtype)
{
    return span_starts(dtype, "float") || span_starts(dtype, "bfloat");
}

/* Is the way that V is drawn certain, and one that its dtype allows? */
static bool certain(const struct val *v)
{
    struct span dtype = val_gets(v, "dtype"), dist = val_gets(v, "dist");
    if (!val_getb(v, "known", false))
        return false;
    if (is_float(dtype))
        return true;
    if (span_is(dtype, "bool"))
        return val_geti(v, "lo", -1) == 0 && val_geti(v, "hi", -1) == 1;
    return span_is(dist, "int");
}

static bool all_certain(const struct val *list)
{
    for (size_t i = 0; i < val_len(list); i++) {
        const struct val *v = val_at(list, i);
        const struct val *items = val_get(v, "items");
        if (items ? !all_certain(items)
                  : span_is(val_gets(v, "kind"), "tensor") && !certain(v))
            return false;
    }
    return true;
}

static void set_range(struct arena *a, struct val *v, const char *dist,
                      double lo, double hi)
{
    val_set(a, v, "dist", val_strz(a, dist));
    val_del(v, "lo");
    val_del(v, "hi");
    if (strcmp(dist, "int") == 0) {
        val_set(a, v, "lo", val_int(a, (int64_t)lo));
        val_set(a, v, "hi", val_int(a, (int64_t)hi));
    } else if (strcmp(dist, "uniform") == 0) {
        val_set(a, v, "lo", val_float(a, lo));
        val_set(a, v, "hi", val_float(a, hi));
    }
}

/* Distribution of one tensor: as it was made, as it was SEEN, or what its
 * dtype suggests. Says which. */
static const char *settle(struct arena *a, struct val *v,
                          const struct val *seen)
{
    struct span dtype = val_gets(v, "dtype");
    double lo = val_getf(seen, "lo", 0), hi = val_getf(seen, "hi", 0);
    double mean = val_getf(seen, "mean", 0), std = val_getf(seen, "std", 0);
    if (certain(v)) {
        if (span_is(dtype, "bool"))
            set_range(a, v, "bool", 0, 0);
        return "drawn";
    }
    if (!seen || !val_get(seen, "lo")) {
        set_range(a, v,
                  span_is(dtype, "bool") ? "bool"
                  : is_float(dtype)      ? "uniform"
                                         : "int",
                  0, 1);
        return "assumed";
    }
    if (span_is(dtype, "bool")) {
        set_range(a, v, "bool", 0, 0);
        val_set(a, v, "p", val_float(a, (int64_t)(mean * 1000 + 0.5) / 1e3));
    } else if (!is_float(dtype)) {
        set_range(a, v, "int", lo, hi);
    } else if (mean > -0.1 && mean < 0.1 && std > 0.8 && std < 1.2 && lo < -2) {
        set_range(a, v, "normal", 0, 0);
    } else {
        set_range(a, v, "uniform", lo, hi);
    }
    return "observed";
}

static struct val *made_by(struct arena *a, const struct val *names)
{
    struct val *text = val_strz(a, "");
    for (size_t i = 0; i < val_len(names); i++) {
        struct span n = val_as_str(val_at(names, i));
        text = val_strf(a, "%.*s%s%.*s", (int)text->s.n, text->s.p,
                        i ? ", " : "", (int)MIN(n.n, 40), n.p ? n.p : "?");
    }
    return text;
}

static void settle_all(struct exam *x, struct val *list, const struct val *seen)
{
    for (size_t i = 0; i < val_len(list); i++) {
        struct val *v = val_at(list, i), *items = val_get(v, "items");
        const struct val *s = val_at(seen, i);
        struct span name = val_gets(v, "name");
        if (items) {
            settle_all(x, items, s);
        } else if (span_is(val_gets(v, "kind"), "tensor")) {
            const char *how = settle(x->a, v, s);
            struct span made = val_as_str(made_by(x->a, val_get(v, "made")));
            val_push(x->a, x->evidence,
                     val_strf(x->a, "input %.*s: %s, from %.*s", (int)name.n,
                              name.p ? name.p : "", how, (int)made.n, made.p));
        }
        val_del(v, "made");
        val_del(v, "known");
    }
}

static int ranges(struct exam *x, struct err *e)
{
    struct val *reply = NULL;
    if (!all_certain(x->inputs)) {
        if (load(x, x->text, SPAN_LIT("Model"), e) < 0)
            return -1;
        if (!ask(x, "observe", 0.5, &reply))
            reply = NULL;
    }
    settle_all(x, x->inputs, val_get(reply, "inputs"));
    return 0;
}

/* ---- the gate ---- */

static void mark(struct exam *x, enum err_code code, const char *note)
{
    if (!x->note) {
        x->mark = code;
        x->note = arena_strdup(x->a, span_str(note));
    }
}

static bool small(const struct val *found)
{
    int64_t bytes = 0;
    return val_geti(found, "flops", INT64_MAX) <= GATE_FLOPS &&
           !__builtin_add_overflow(val_geti(found, "moved", 0),
                                   val_geti(found, "held", 0), &bytes) &&
           bytes <= GATE_BYTES;
}

/* -1: it does not run, though its shapes do. */
static int gate(struct exam *x, struct err *e)
{
    struct val *t = x->core, *reply, *figures;
    if (!small(x->found)) {
        mark(x, ERR_UNVERIFIED, "too large for the quality gate here");
        return 0;
    }
    if (load(x, x->text, SPAN_LIT("Model"), e) < 0)
        return -1;
    if (!ask(x, "try", 0.5, &reply)) {
        failed(reply, "forward", ERR_FORWARD, e);
        if (!ran_out(reply))
            return -1;
        mark(x, ERR_UNVERIFIED, e->msg);
        return 0;
    }
    if (!ask(x, "gate", 0.9, &figures)) {
        failed(figures, "gate", ERR_UNVERIFIED, e);
        mark(x, ERR_UNVERIFIED, e->msg);
        return 0;
    }
    if (!reply_mutates_sound(val_get(figures, "mutates"), val_len(x->inputs)))
        return err_set(e, ERR_FORWARD, "the answer is none of the probe's");
    val_set(x->a, t, "stochastic",
            val_bool(x->a, val_getb(figures, "seeded", false)));
    if (val_get(figures, "mutates"))
        val_set(x->a, t, "mutates", list_of(x, figures, "mutates"));
    if (gate_check(figures, x->inputs, e) < 0)
        mark(x, ERR_QUALITY, e->msg);
    return 0;
}

/* ---- the record ---- */

static const char *dtype_of(const struct val *list)
{
    for (size_t i = 0; i < val_len(list); i++) {
        struct span d = val_gets(val_at(list, i), "dtype");
        if (span_is(d, "float16"))
            return "fp16";
        if (span_is(d, "bfloat16"))
            return "bf16";
    }
    return "fp32";
}

static void put_core(struct exam *x)
{
    struct arena *a = x->a;
    struct val *t = val_map(a);
    val_set(a, t, "entry_kind", val_strz(a, "module"));
    val_set(a, t, "source", val_str(a, x->text));
    val_set(a, t, "inputs", x->inputs ? x->inputs : val_list(a));
    val_set(a, t, "init", x->init ? val_get(x->init, "init") : val_list(a));
    val_set(a, t, "outputs", val_list(a));
    val_set(a, t, "evidence", x->evidence);
    val_set(a, t, "dtype", val_strz(a, dtype_of(x->inputs)));
    if (x->found) {
        task_figures(a, t, val_get(x->found, "outs"), x->found, x->found);
        val_set(a, t, "mutates", list_of(x, x->found, "mutates"));
    } else {
        val_set(a, t, "unmeasured", val_strz(a, x->note));
    }
    x->core = t;
}

/* Fills x->core, or -1. */
static int run(struct exam *x, struct err *e)
{
    int rc = -1;
    x->h->probe.wall = false;
    if (!x->h->torch[0]) {
        x->init = val_map(x->a);
        val_set(x->a, x->init, "init", val_list(x->a));
        val_set(x->a, x->init, "given", val_bool(x->a, true));
        mark(x, ERR_UNVERIFIED, "there is no interpreter with torch");
        rc = compose(x, e);
        if (rc == 0)
            put_core(x);
    } else if (read_init(x, e) == 0 && measure(x, e) == 0 &&
               check_sound(x, e) == 0 && ranges(x, e) == 0) {
        put_core(x);
        rc = x->found ? gate(x, e) : 0;
    }
    probe_end(&x->h->probe);
    if (rc < 0)
        host_blame(e, x->h->probe.wall);
    else
        val_set(x->a, x->core, "verified", val_bool(x->a, !x->note));
    return rc;
}

int examine(struct host *h, struct arena *a, struct span source,
            struct span entry, struct span tail, struct val **found,
            struct err *e)
{
    const struct span parts[] = {
        SPAN_LIT("examine " EXAMINE_VERSION), entry, source, tail, {NULL, 0}};
    struct exam x = {.h = h,
                     .a = a,
                     .source = source,
                     .entry = entry,
                     .tail = tail,
                     .evidence = val_list(a)};
    char key[HASH_HEX + 1];
    host_key(h, parts, key);
    *found = host_recall(h, a, key);
    if (*found)
        return 0;
    *found = val_map(a);
    if (run(&x, e) == 0) {
        val_set(a, *found, "core", x.core);
    } else if (host_is_verdict(e) || e->code == ERR_IMPORT_DENIED) {
        x.mark = e->code;
        x.note = e->msg;
    } else {
        return -1;
    }
    if (x.note) {
        val_set(a, *found, "note", val_text(a, span_str(x.note)));
        val_set(a, *found, "code", val_strz(a, err_code_name(x.mark)));
    }
    host_remember(h, key, *found);
    return 0;
}

void examine_fill(struct arena *a, struct val *rec, const struct val *found)
{
    const struct val *core = val_get(found, "core");
    struct span note = val_gets(found, "note"), code = val_gets(found, "code");
    int c = code.p ? err_code_find(arena_strdup(a, code)) : -1;
    if (!core) { /* its source and whatever else is in REC give it its id */
        rec_fail(a, rec, "testgen", c < 0 ? ERR_INTERNAL : (enum err_code)c,
                 note.p ? arena_strdup(a, note) : NULL);
        return;
    }
    for (size_t i = 0; i < val_len(core); i++)
        val_set(a, rec, arena_strdup(a, core->map.keys[i]), core->map.v[i]);
    if (note.p)
        val_set(a, rec, "note", val_text(a, note));
    if (c >= 0)
        rec_why(a, rec, "testgen", (enum err_code)c);
}

int examine_pack(struct arena *a, struct val *rec, struct buf *out,
                 struct err *e)
{
    rec_seal(a, rec);
    if (!val_bounded(rec, 0) || val_pack(out, rec))
        return err_set(e, ERR_TOO_LARGE, "the record is too large");
    return 0;
}
