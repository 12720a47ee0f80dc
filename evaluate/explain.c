/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/explain.h"

#include "schema.h"

#define KERNELS 4
#define FAILING 6

/* "  label     " and the rest of the line. */
static void line(FILE *out, const char *label, const char *fmt, ...)
    PRINTF(3, 4);
static void line(FILE *out, const char *label, const char *fmt, ...)
{
    va_list ap;

    fprintf(out, "  %-9s ", label);
    va_start(ap, fmt);
    vfprintf(out, fmt, ap);
    va_end(ap);
    fputc('\n', out);
}

static const char *masked(char *buf, size_t cap, const struct val *m,
                          const char *key)
{
    return mask_text(buf, cap, val_gets(m, key));
}

static void head(FILE *out, const struct val *rev, const struct val *v)
{
    char program[80], task[80], outcome[40];
    struct span id = rec_id(rev);

    fprintf(out, "%.*s%s%s of %s: %s\n", (int)MIN(id.n, (size_t)8),
            id.n ? id.p : "", id.n ? " " : "",
            masked(program, sizeof(program), rev, "program"),
            masked(task, sizeof(task), v, "task"),
            masked(outcome, sizeof(outcome), v, "outcome"));
}

static const char *answer(const struct val *pass, const char *name)
{
    const struct val *b = val_get(pass, name);
    return !b || b->type != VAL_BOOL ? "not judged" : b->b ? "yes" : "no";
}

static bool fails(const struct val *cell)
{
    return val_getb(cell, "tested", false) &&
           !val_getb(val_get(cell, "pass"), "strict", true);
}

static void correctness(FILE *out, const struct val *v)
{
    const struct val *pass = val_get(v, "pass"), *cells = val_get(v, "correct");
    size_t told = 0, tested = 0, failing = 0;
    char name[16];

    line(out, "passes", "kernelbench %s, kbv %s, strict %s",
         answer(pass, "kernelbench"), answer(pass, "kbv"),
         answer(pass, "strict"));
    for (size_t i = 0; i < val_len(cells); i++) {
        const struct val *c = val_at(cells, i);
        tested += val_getb(c, "tested", false);
        failing += fails(c);
        if (!fails(c) || ++told > FAILING)
            continue;
        line(out, told == 1 ? "fails in" : "",
             "%s%s: %.3g %% outside, largest difference %.3g (relative %.3g), "
             "%" PRId64 " NaN, %" PRId64 " infinite",
             masked(name, sizeof(name), c, "config"),
             span_is(val_gets(c, "mode"), "train") ? " in train mode" : "",
             100 * val_getf(c, "outside", 0), val_getf(c, "max_abs", 0),
             val_getf(c, "max_rel", 0), val_geti(c, "nan", 0),
             val_geti(c, "inf", 0));
    }
    if (tested)
        line(out, "", "%zu of %zu configurations tested, %zu fail", tested,
             val_len(cells), failing);
    for (size_t i = 0; i < val_len(cells); i++) {
        const struct val *c = val_at(cells, i);
        char why[100];
        if (!val_getb(c, "tested", false) &&
            memmem(val_gets(c, "why_not").p ? val_gets(c, "why_not").p : "",
                   val_gets(c, "why_not").n, "the reference", 13))
            line(out, "", "%s left out: %s",
                 masked(name, sizeof(name), c, "config"),
                 masked(why, sizeof(why), c, "why_not"));
    }
}

static void times(FILE *out, const struct val *v)
{
    const struct val *t = val_get(v, "time");
    char method[16], why[80], stop[16];

    if (!t || t->type != VAL_MAP)
        return;
    line(out, "time",
         "%.3f us against the reference's %.3f: %.3f times as "
         "fast (%.3f to %.3f)",
         val_getf(t, "candidate_ns", 0) / 1e3,
         val_getf(t, "reference_ns", 0) / 1e3, val_getf(t, "ratio", 0),
         val_getf(t, "ratio_low", 0), val_getf(t, "ratio_high", 0));
    masked(why, sizeof(why), t, "eager");
    line(out, "",
         "%s of %" PRId64 " slots%s, %" PRId64 " pairs at %" PRId64
         " places, %" PRId64 " dropped, spread %.2f %% and %.2f %%, "
         "stopped as %s",
         masked(method, sizeof(method), t, "method"), val_geti(t, "slots", 0),
         val_getb(t, "chained", false) ? " chained" : "",
         val_geti(t, "pairs", 0), val_geti(t, "placements", 0),
         val_geti(t, "dropped", 0), 100 * val_getf(t, "candidate_spread", 0),
         100 * val_getf(t, "reference_spread", 0),
         masked(stop, sizeof(stop), t, "stop"));
    if (val_gets(t, "eager").n)
        line(out, "", "called, not captured: %s", why);
}

static void memory(FILE *out, const struct val *v)
{
    const struct val *m = val_get(v, "memory");

    if (!m || m->type != VAL_MAP)
        return;
    line(out, "memory", "peak %.2f MiB against the reference's %.2f",
         (double)val_geti(val_get(m, "candidate"), "peak", 0) / (1 << 20),
         (double)val_geti(val_get(m, "reference"), "peak", 0) / (1 << 20));
}

static void findings(FILE *out, const struct val *v)
{
    const struct val *l = val_get(v, "findings");
    char code[40], grade[16], text[200];

    for (size_t i = 0; i < val_len(l); i++) {
        const struct val *f = val_at(l, i);
        int64_t at = val_geti(f, "line", 0);
        masked(text, sizeof(text), f, "text");
        if (at > 0)
            line(out, i ? "" : "findings", "%s %s, line %" PRId64 ": %s",
                 masked(grade, sizeof(grade), f, "grade"),
                 masked(code, sizeof(code), f, "code"), at, text);
        else
            line(out, i ? "" : "findings", "%s %s: %s",
                 masked(grade, sizeof(grade), f, "grade"),
                 masked(code, sizeof(code), f, "code"), text);
    }
}

static void contract(FILE *out, const struct val *v)
{
    const struct val *c = val_get(v, "contract"), *codes, *l, *share;
    char text[60];

    if (!c || c->type != VAL_MAP)
        return;
    codes = val_get(c, "codes");
    fprintf(out, "  %-9s %s", "contract",
            val_getb(c, "ok", true) ? "kept" : "broken");
    for (size_t i = 0; i < val_len(codes); i++)
        fprintf(out, "%s%s", i ? ", " : ": ",
                mask_text(text, sizeof(text), val_as_str(val_at(codes, i))));
    share = val_get(c, "library_share");
    if (share && share->type == VAL_FLOAT)
        fprintf(out, "; %.0f %% of kernel time in libraries", 100 * share->f);
    fputc('\n', out);
    l = val_get(c, "kernels");
    for (size_t i = 0; i < val_len(l) && i < KERNELS; i++) {
        const struct val *k = val_at(l, i);
        line(out, "", "%3.0f %% %s %s", 100 * val_getf(k, "share", 0),
             val_getb(k, "own", false) ? "own    " : "library",
             masked(text, sizeof(text), k, "name"));
    }
}

static void device(FILE *out, const struct val *v)
{
    const struct val *d = val_get(v, "device");
    char name[60], torch[40], level[16];

    if (!d || d->type != VAL_MAP)
        return;
    line(out, "device", "%s, torch %s, sandbox %s",
         masked(name, sizeof(name), d,
                val_gets(d, "name").n ? "name" : "device"),
         masked(torch, sizeof(torch), d, "torch"),
         masked(level, sizeof(level), d, "sandbox"));
}

void explain(FILE *out, const struct val *rev, const struct val *v)
{
    struct span text = val_gets(v, "feedback");
    char said[600];

    head(out, rev, v);
    line(out, "why", "%s",
         mask_text(said, sizeof(said), text.n ? text : val_gets(v, "note")));
    correctness(out, v);
    times(out, v);
    memory(out, v);
    findings(out, v);
    contract(out, v);
    device(out, v);
}
