/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <math.h>

#include "array.h"
#include "evaluate/kernelbench_results.h"
#include "val.h"

#define REASON_MAX 200

static const char *const said_names[KB_SAID_COUNT] = {
    [KB_CORRECT] = "correct",
    [KB_WRONG] = "wrong",
    [KB_NOT_COMPILED] = "not_compiled",
    [KB_RUNTIME_ERROR] = "runtime_error",
    [KB_ABSENT] = "absent",
};

const char *kb_said_name(enum kb_said said)
{
    return said_names[said];
}

int kb_said_find(struct span name)
{
    for (int i = 0; i < KB_SAID_COUNT; i++)
        if (span_is(name, said_names[i]))
            return i;
    return -1;
}

int32_t kb_number(struct span s)
{
    int32_t n = 0;

    if (!s.n || s.n > KB_NUMBER_DIGITS || (s.n > 1 && s.p[0] == '0'))
        return -1;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return -1;
        n = 10 * n + (s.p[i] - '0');
    }
    return n;
}

/* ---- one result ---- */

/* KEY of the metadata; a run that could not write it as it was has it one
 * level deeper. */
static struct span noted(const struct val *metadata, const char *key)
{
    struct span s = val_gets(metadata, key);
    return s.p ? s : val_gets(val_get(metadata, "eval_0"), key);
}

/* The line of TEXT that says most: a compiler's first error, else the first
 * one that is not empty. Masked, in A. */
static struct span one_line(struct arena *a, struct span text)
{
    static const char mark[] = ": error: ";
    char line[REASON_MAX];
    const char *p = text.p, *end, *nl;

    if (!p)
        return SPAN_LIT("");
    end = p + text.n;
    nl = memmem(p, text.n, mark, sizeof(mark) - 1);
    if (nl)
        p = nl + 2;
    while (p < end && (*p == '\n' || *p == '\r' || *p == ' '))
        p++;
    nl = memchr(p, '\n', (size_t)(end - p));
    mask_text(line, sizeof(line),
              (struct span){p, (size_t)((nl ? nl : end) - p)});
    return span_str(arena_strdup(a, span_str(line)));
}

/* An error of CUDA is recorded as "not compiled", since it can't be run. */
static enum kb_said said_of(bool compiled, bool correct,
                            const struct val *metadata)
{
    bool raised =
        noted(metadata, "runtime_error").p || noted(metadata, "cuda_error").p;

    if (correct)
        return KB_CORRECT;
    if (raised)
        return KB_RUNTIME_ERROR;
    return compiled ? KB_WRONG : KB_NOT_COMPILED;
}

static struct span reason_of(struct arena *a, const struct val *metadata)
{
    static const char *const keys[] = {
        "compilation_error",       "cuda_error",  "runtime_error",
        "correctness_issue",       "other_error", "error",
        "error_during_performance"};

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct span s = noted(metadata, keys[i]);
        if (s.n)
            return one_line(a, s);
    }
    return SPAN_LIT("");
}

static bool is_bool(const struct val *v)
{
    return v && v->type == VAL_BOOL;
}

static bool read_one(struct arena *a, const struct val *v,
                     struct kb_result *out)
{
    const struct val *compiled = val_get(v, "compiled"),
                     *correct = val_get(v, "correctness"),
                     *metadata = val_get(v, "metadata");
    double ms = val_getf(v, "runtime", 0);

    if (!is_bool(compiled) || !is_bool(correct))
        return false;
    out->compiled = compiled->b;
    out->said = said_of(compiled->b, correct->b, metadata);
    out->ms = isfinite(ms) && ms > 0 ? ms : 0;
    out->reason = correct->b ? SPAN_LIT("") : reason_of(a, metadata);
    out->hardware = one_line(a, noted(metadata, "hardware"));
    return true;
}

/* ---- all of them ---- */

struct reading {
    struct kb_results *out;
    ARRAY(struct kb_result) found;
    bool full;
};

/* SAMPLE < 0: it has to say its own, or is the first. */
static void add(struct reading *r, int32_t problem, int32_t sample,
                const struct val *v)
{
    struct kb_result one = {.problem = problem, .place = r->found.n};
    const struct val *id = val_get(v, "sample_id");
    int64_t n = sample >= 0 ? sample : id ? val_as_int(id, -1) : 0;

    if (n < 0 || n > 999999 || !read_one(&r->out->mem, v, &one)) {
        r->out->broken++;
        return;
    }
    one.sample = (int32_t)n;
    r->full |= r->found.n >= KB_RESULTS_MAX;
    if (!r->full)
        array_push(&r->found, one);
}

static void add_problem(struct reading *r, int32_t problem, const struct val *v)
{
    if (v->type == VAL_LIST) {
        for (size_t i = 0; i < val_len(v) && !r->full; i++)
            add(r, problem, -1, val_at(v, i));
    } else if (v->type == VAL_MAP && v->map.n && !val_get(v, "compiled") &&
               kb_number(v->map.keys[0]) >= 0) {
        for (uint32_t i = 0; i < v->map.n && !r->full; i++) {
            int32_t sample = kb_number(v->map.keys[i]);
            if (sample >= 0)
                add(r, problem, sample, v->map.v[i]);
            else
                r->out->broken++;
        }
    } else {
        add(r, problem, -1, v);
    }
}

static int order(const struct kb_result *a, const struct kb_result *b)
{
    int c = (a->problem > b->problem) - (a->problem < b->problem);
    return c ? c : (a->sample > b->sample) - (a->sample < b->sample);
}

static int by_number(const void *a, const void *b)
{
    const struct kb_result *x = a, *y = b;
    int c = order(x, y);
    return c ? c : (x->place > y->place) - (x->place < y->place);
}

static void keep_last(struct kb_results *out)
{
    size_t n = 0;

    for (size_t i = 0; i < out->n; i++) {
        if (i + 1 < out->n && order(&out->v[i], &out->v[i + 1]) == 0)
            out->repeated++;
        else
            out->v[n++] = out->v[i];
    }
    out->n = n;
}

int kb_results_read(struct kb_results *out, struct span json, struct err *e)
{
    struct arena a = ARENA_INIT;
    struct reading r = {.out = out};
    struct val *all;
    int rc = -1;

    *out = (struct kb_results){.mem = ARENA_INIT};
    if (json.n > KB_RESULTS_BYTES) {
        err_set(e, ERR_TOO_LARGE, "more than %u MiB", KB_RESULTS_BYTES >> 20);
        goto out;
    }
    if (val_parse_json(&a, json, VAL_JSON_LENIENT, &all, e))
        goto out;
    if (all->type != VAL_MAP) {
        err_set(e, ERR_BROKEN_INPUT, "no results by problem");
        goto out;
    }
    for (uint32_t i = 0; i < all->map.n && !r.full; i++) {
        int32_t problem = kb_number(all->map.keys[i]);
        if (problem >= 0)
            add_problem(&r, problem, all->map.v[i]);
        else
            out->broken++;
    }
    if (r.full) {
        err_set(e, ERR_TOO_LARGE, "more than %u results", KB_RESULTS_MAX);
        goto out;
    }
    if (r.found.n)
        qsort(r.found.v, r.found.n, sizeof(*r.found.v), by_number);
    out->v = r.found.v;
    out->n = r.found.n;
    r.found.v = NULL;
    keep_last(out);
    rc = 0;
out:
    array_release(&r.found);
    arena_release(&a);
    return rc;
}

struct kb_result *kb_results_find(const struct kb_results *r, int32_t problem,
                                  int32_t sample)
{
    struct kb_result key = {.problem = problem, .sample = sample};
    size_t low = 0, high = r->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int c = order(&r->v[mid], &key);
        if (c == 0)
            return &r->v[mid];
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

void kb_results_release(struct kb_results *r)
{
    free(r->v);
    arena_release(&r->mem);
    *r = (struct kb_results){.mem = ARENA_INIT};
}
