/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/benchmark.h"

#include "embed.h"
#include "io.h"
#include "rec.h"
#include "schema.h"

EMBED_DECLARE(kernelbench_fingerprints);

/* Grams of one class, and classes of all benchmarks. */
#define MAX_GRAMS   1000000
#define MAX_CLASSES 1000000

struct theirs {
    struct span benchmark, problem, name;
    int64_t level, number;
    bool entry;
    unsigned tokens;
    uint64_t ast, shape, operators;
    uint32_t n_long, n_short;
};

struct posting {
    uint32_t gram, class;
};

struct postings {
    ARRAY(struct posting) all; /* sorted by gram */
    uint32_t *first; /* by the upper 16 bits of a gram, and one more */
};

struct benchmark {
    struct arena arena;
    ARRAY(struct theirs) classes;
    struct postings grams_long, grams_short;
};

struct benchmark *benchmark_new(void)
{
    return xcalloc(1, sizeof(struct benchmark));
}

void benchmark_free(struct benchmark *b)
{
    if (!b)
        return;
    array_release(&b->classes);
    array_release(&b->grams_long.all);
    array_release(&b->grams_short.all);
    free(b->grams_long.first);
    free(b->grams_short.first);
    arena_release(&b->arena);
    free(b);
}

size_t benchmark_count(const struct benchmark *b)
{
    return b->classes.n;
}

/* ---- reading ---- */

static int take_hash(const struct val *rec, const char *key, uint64_t *out,
                     struct err *e)
{
    struct span s = val_gets(rec, key);

    *out = 0;
    if (s.n == 0 && strcmp(key, "operators") == 0)
        return 0;
    for (size_t i = 0; i < s.n; i++) {
        const char *digits = "0123456789abcdef";
        const char *d = s.p[i] ? strchr(digits, s.p[i]) : NULL;

        if (!d || s.n != 16)
            return err_set(e, ERR_SCHEMA, "'%s' is no hash of 16 digits", key);
        *out = *out << 4 | (uint64_t)(d - digits);
    }
    return s.n ? 0 : err_set(e, ERR_SCHEMA, "no '%s'", key);
}

static int take_grams(struct postings *p, const struct val *list,
                      const char *key, size_t class, uint32_t *n, struct err *e)
{
    int64_t last = -1;

    if (val_len(list) > MAX_GRAMS)
        return err_set(e, ERR_TOO_LARGE, "more than %d in '%s'", MAX_GRAMS,
                       key);
    *n = (uint32_t)val_len(list);
    for (size_t i = 0; i < *n; i++) {
        int64_t g = val_as_int(val_at(list, i), -1);
        struct posting x = {(uint32_t)g, (uint32_t) class};

        if (g <= last || g > UINT32_MAX)
            return err_set(e, ERR_SCHEMA,
                           "'%s' is no ascending list of 32-bit hashes", key);
        array_push(&p->all, x);
        last = g;
    }
    return 0;
}

static int take(struct benchmark *b, const struct val *rec, struct err *e)
{
    struct theirs c = {.benchmark =
                           arena_span(&b->arena, val_gets(rec, "benchmark")),
                       .problem = arena_span(&b->arena, val_gets(rec, "path")),
                       .name = arena_span(&b->arena, val_gets(rec, "name")),
                       .level = val_geti(rec, "level", -1),
                       .number = val_geti(rec, "problem", -1),
                       .entry = val_getb(rec, "entry", false),
                       .tokens = (unsigned)val_geti(rec, "tokens", 0)};
    const struct val *grams_long = val_get(rec, "grams_long");
    const struct val *grams_short = val_get(rec, "grams_short");

    if (b->classes.n >= MAX_CLASSES)
        return err_set(e, ERR_TOO_LARGE, "more than %d classes", MAX_CLASSES);
    if (take_hash(rec, "ast", &c.ast, e) ||
        take_hash(rec, "shape", &c.shape, e) ||
        take_hash(rec, "operators", &c.operators, e) ||
        take_grams(&b->grams_long, grams_long, "grams_long", b->classes.n,
                   &c.n_long, e) ||
        take_grams(&b->grams_short, grams_short, "grams_short", b->classes.n,
                   &c.n_short, e))
        return -1;
    array_push(&b->classes, c);
    return 0;
}

int benchmark_load(struct benchmark *b, int fd, const char *name, struct err *e)
{
    struct rec_reader *r = rec_reader_new(fd, name, false);
    struct arena a = ARENA_INIT;
    size_t before = b->classes.n;
    struct val *rec;
    int rc;

    while ((rc = rec_read(r, &a, &rec, e)) == KM_OK) {
        if (span_is(rec_kind(rec), "fingerprint") && rec_ok(rec)) {
            rc = schema_check(&a, rec, e) ? -1 : take(b, rec, e);
            if (rc != 0) {
                err_wrap(e, "fingerprints '%s', record %" PRIu64, name,
                         rec_number(r));
                break;
            }
        }
        arena_reset(&a);
    }
    rec_reader_free(r);
    arena_release(&a);
    if (rc != KM_END)
        return -1;
    if (b->classes.n == before)
        return err_set(e, ERR_SCHEMA, "'%s' holds no fingerprints", name);
    return 0;
}

int benchmark_load_own(struct benchmark *b, struct err *e)
{
    int fd = io_memfd("fingerprints", EMBED_SPAN(kernelbench_fingerprints),
                      false, e);
    int rc;

    if (fd < 0)
        return -1;
    rc = benchmark_load(b, fd, "kernelbench.fingerprints", e);
    close(fd);
    return rc;
}

/* ---- index ---- */

static int by_gram(const void *a, const void *b)
{
    const struct posting *x = a, *y = b;

    if (x->gram != y->gram)
        return x->gram > y->gram ? 1 : -1;
    return (x->class > y->class) - (x->class < y->class);
}

static void seal(struct postings *p)
{
    size_t at = 0;

    if (p->all.n > 1)
        qsort(p->all.v, p->all.n, sizeof(*p->all.v), by_gram);
    free(p->first);
    p->first = xcalloc(65537, sizeof(*p->first));
    for (size_t high = 0; high <= 65536; high++) {
        while (at < p->all.n && p->all.v[at].gram >> 16 < high)
            at++;
        p->first[high] = (uint32_t)at;
    }
}

void benchmark_seal(struct benchmark *b)
{
    seal(&b->grams_long);
    seal(&b->grams_short);
}

/* Count for each class how many of GRAMS it has. */
static void count(const struct postings *p, const struct grams *grams,
                  uint32_t *hits)
{
    for (size_t i = 0; i < grams->n; i++) {
        uint32_t g = grams->v[i], high = g >> 16;

        for (uint32_t k = p->first[high]; k < p->first[high + 1]; k++) {
            if (p->all.v[k].gram > g)
                break;
            if (p->all.v[k].gram == g)
                hits[p->all.v[k].class]++;
        }
    }
}

/* ---- questions ---- */

static struct overlap judge(const struct theirs *c, const struct finger *f,
                            bool entry, uint32_t hits_long, uint32_t hits_short)
{
    struct overlap o = {.benchmark = c->benchmark,
                        .problem = c->problem,
                        .their_name = c->name,
                        .our_name = f->name,
                        .level = c->level,
                        .number = c->number,
                        .figure = 1};
    double unite = (double)c->n_short + (double)f->grams_short.n - hits_short;

    if (c->ast == f->ast) {
        o.rule = OVERLAP_AST;
    } else if (c->shape == f->shape && c->tokens >= BENCHMARK_MIN_TOKENS) {
        o.rule = OVERLAP_SHAPE;
    } else if (c->n_long >= BENCHMARK_MIN_GRAMS &&
               hits_long >= BENCHMARK_CONTAINMENT * c->n_long) {
        o.rule = OVERLAP_CONTAINMENT;
        o.figure = (double)hits_long / c->n_long;
    } else if (unite > 0 && hits_short >= BENCHMARK_JACCARD * unite) {
        o.rule = OVERLAP_JACCARD;
        o.figure = hits_short / unite;
    } else if (entry && c->entry && c->operators != 0 &&
               c->operators == f->operators &&
               c->level <= BENCHMARK_OPERATORS_LEVEL) {
        o.rule = OVERLAP_OPERATORS;
    }
    return o;
}

struct overlap benchmark_find(const struct benchmark *b, const struct finger *f,
                              bool entry)
{
    struct overlap best = {.rule = OVERLAP_NONE};
    size_t n = b->classes.n;
    uint32_t *hits = xcalloc(2 * n + 1, sizeof(*hits));

    if (b->grams_long.first)
        count(&b->grams_long, &f->grams_long, hits);
    if (b->grams_short.first)
        count(&b->grams_short, &f->grams_short, hits + n);
    for (size_t i = 0; i < n; i++) {
        const struct theirs *c = &b->classes.v[i];
        struct overlap o;

        if (!entry && (!c->entry || c->tokens < BENCHMARK_PART_TOKENS))
            continue;
        o = judge(c, f, entry, hits[i], hits[n + i]);
        if (o.rule > best.rule ||
            (o.rule == best.rule && o.figure > best.figure))
            best = o;
    }
    free(hits);
    return best;
}

struct overlap benchmark_find_source(const struct benchmark *b,
                                     const struct pymod *m,
                                     const struct tokens *t, struct span entry)
{
    struct overlap best = {.rule = OVERLAP_NONE};

    for (size_t i = 0; i < m->defs.n; i++) {
        const struct pydef *d = &m->defs.v[i];
        bool is_entry = span_eq(d->qual, entry);
        struct finger f;
        struct overlap o;

        /* A part this small cannot hold half of a whole problem. */
        if (!is_entry &&
            (!d->is_class || tokens_from(t, d->end) - tokens_from(t, d->start) <
                                 BENCHMARK_PART_TOKENS / 2))
            continue;
        finger_of(&f, m, t, d, is_entry);
        o = benchmark_find(b, &f, is_entry);
        if (o.rule > best.rule ||
            (o.rule == best.rule && o.figure > best.figure))
            best = o;
        finger_release(&f);
    }
    return best;
}

const char *overlap_rule_name(enum overlap_rule rule)
{
    static const char *const names[] = {"none",        "operators", "jaccard",
                                        "containment", "shape",     "ast"};

    return names[rule];
}

struct val *overlap_val(struct arena *a, const struct overlap *o)
{
    struct val *v = val_map(a);

    val_set(a, v, "benchmark", val_str(a, o->benchmark));
    if (o->level >= 0)
        val_set(a, v, "level", val_int(a, o->level));
    if (o->number >= 0)
        val_set(a, v, "problem", val_int(a, o->number));
    val_set(a, v, "path", val_str(a, o->problem));
    val_set(a, v, "name", val_str(a, o->their_name));
    val_set(a, v, "class", val_str(a, o->our_name));
    val_set(a, v, "rule", val_strz(a, overlap_rule_name(o->rule)));
    val_set(a, v, "figure", val_float(a, o->figure));
    return v;
}

const char *overlap_note(struct arena *a, const struct overlap *o)
{
    char ours[96], theirs[96], path[160], bench[64];

    mask_text(ours, sizeof(ours), o->our_name);
    mask_text(theirs, sizeof(theirs), o->their_name);
    mask_text(path, sizeof(path), o->problem);
    mask_text(bench, sizeof(bench), o->benchmark);
    return arena_printf(a, "'%s' is like '%s' of %s %s: %s %.2f", ours, theirs,
                        bench, path, overlap_rule_name(o->rule), o->figure);
}
