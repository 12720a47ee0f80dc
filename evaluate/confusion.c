/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "array.h"
#include "evaluate/confusion.h"
#include "evaluate/kernelbench_results.h"
#include "evaluate/outcome.h"
#include "schema.h"

#define LINES_MAX  (64u << 20)
#define REASON_MAX 160

/* The first three overlap; `strict` and the others add up to all. */
enum column {
    COLUMN_KERNELBENCH,
    COLUMN_KBV,
    COLUMN_STRICT,
    COLUMN_WRONG,
    COLUMN_NOT_BUILT,
    COLUMN_BROKE,
    COLUMN_REJECTED,
    COLUMN_NO_VERDICT,
    COLUMN_COUNT
};

static const char *const column_names[COLUMN_COUNT] = {
    [COLUMN_KERNELBENCH] = "kernelbench", [COLUMN_KBV] = "kbv",
    [COLUMN_STRICT] = "strict",           [COLUMN_WRONG] = "wrong",
    [COLUMN_NOT_BUILT] = "not built",     [COLUMN_BROKE] = "broke",
    [COLUMN_REJECTED] = "rejected",       [COLUMN_NO_VERDICT] = "no verdict",
};

static const char *const row_names[KB_SAID_COUNT] = {
    [KB_CORRECT] = "correct",
    [KB_WRONG] = "wrong",
    [KB_NOT_COMPILED] = "did not compile",
    [KB_RUNTIME_ERROR] = "runtime error",
    [KB_ABSENT] = "absent",
};

static const enum column judgements[] = {COLUMN_KERNELBENCH, COLUMN_KBV,
                                         COLUMN_STRICT};

struct reason {
    char code[48]; /* first of `why` */
    uint64_t n;
};

struct confusion {
    const char *judgement;
    uint64_t rows[KB_SAID_COUNT];
    uint64_t cells[KB_SAID_COUNT][COLUMN_COUNT];
    uint64_t disagree;
    struct buf lines;
    ARRAY(struct reason) none; /* why there is no verdict */
};

struct confusion *confusion_new(const char *judgement)
{
    struct confusion *c = xcalloc(1, sizeof(*c));
    c->judgement = judgement;
    buf_init(&c->lines, LINES_MAX);
    return c;
}

void confusion_free(struct confusion *c)
{
    if (!c)
        return;
    buf_release(&c->lines);
    array_release(&c->none);
    free(c);
}

/* COLUMN_COUNT: `strict` tells it. */
static enum column column_of(const struct val *verdict)
{
    if (!verdict || !rec_ok(verdict))
        return COLUMN_NO_VERDICT;
    switch (outcome_find(val_gets(verdict, "outcome"))) {
    case OUTCOME_OK:
        return COLUMN_COUNT;
    case OUTCOME_WRONG:
        return COLUMN_WRONG;
    case OUTCOME_BUILD_FAILED:
    case OUTCOME_LOAD_FAILED:
        return COLUMN_NOT_BUILT;
    case OUTCOME_CHEAT:
    case OUTCOME_REJECTED:
        return COLUMN_REJECTED;
    case OUTCOME_RUNTIME_ERROR:
    case OUTCOME_TIMEOUT:
    case OUTCOME_CRASH:
    case OUTCOME_MEMORY:
    case OUTCOME_PROTOCOL:
        return COLUMN_BROKE;
    default:
        return COLUMN_NO_VERDICT;
    }
}

static bool passes(const struct val *verdict, const char *judgement)
{
    return val_getb(val_get(verdict, "pass"), judgement, false);
}

/* First line of S, without its full stop, cut where it is long. */
static void add_words(struct buf *b, const char *who, struct span s)
{
    char line[REASON_MAX];
    size_t n = 0;

    while (n < s.n && s.p[n] != '\n' && s.p[n] != '\r')
        n++;
    while (n && (s.p[n - 1] == '.' || s.p[n - 1] == ' '))
        n--;
    if (n)
        buf_printf(b, "; %s: %s%s", who,
                   mask_text(line, sizeof(line), (struct span){s.p, n}),
                   n >= sizeof(line) ? "..." : "");
}

static void add_reasons(struct buf *b, const struct val *said,
                        const struct val *verdict)
{
    add_words(b, "recorded", val_gets(said, "reason"));
    if (!span_is(val_gets(verdict, "outcome"), "ok"))
        add_words(b, "here", val_gets(verdict, "feedback"));
}

static void add_speeds(struct buf *b, const struct val *said,
                       const struct val *verdict)
{
    double theirs = val_getf(said, "ms", 0);
    double ours =
        val_getf(val_get(verdict, "time"), "candidate_ns", 0) / 1000000;

    if (theirs > 0 && ours > 0)
        buf_printf(b, "; %.4g ms recorded, %.4g ms here", theirs, ours);
}

static void add_line(struct confusion *c, enum kb_said said,
                     const struct val *revision, const struct val *verdict)
{
    const struct val *recorded = val_get(revision, "recorded");
    char program[80], outcome[40];
    const char *sep = "";

    buf_printf(
        &c->lines, "%s: %s, here %s (passes ",
        mask_text(program, sizeof(program), val_gets(revision, "program")),
        row_names[said],
        mask_text(outcome, sizeof(outcome), val_gets(verdict, "outcome")));
    for (size_t i = 0; i < ARRAY_LEN(judgements); i++) {
        if (!passes(verdict, column_names[judgements[i]]))
            continue;
        buf_printf(&c->lines, "%s%s", sep, column_names[judgements[i]]);
        sep = ", ";
    }
    buf_adds(&c->lines, *sep ? ")" : "none)");
    add_reasons(&c->lines, recorded, verdict);
    add_speeds(&c->lines, recorded, verdict);
    buf_addc(&c->lines, '\n');
}

/* REC is of a state that is not ok. */
static void add_none(struct confusion *c, const struct val *rec)
{
    struct reason one = {.n = 1};

    mask_text(one.code, sizeof(one.code),
              val_as_str(val_at(val_get(rec, "why"), 0)));
    for (size_t i = 0; i < c->none.n; i++) {
        if (strcmp(c->none.v[i].code, one.code) == 0) {
            c->none.v[i].n++;
            return;
        }
    }
    array_push(&c->none, one);
}

void confusion_add(struct confusion *c, const struct val *revision,
                   const struct val *verdict)
{
    int found =
        kb_said_find(val_gets(val_get(revision, "recorded"), "outcome"));
    enum kb_said said = found < 0 ? KB_ABSENT : (enum kb_said)found;
    enum column column = column_of(verdict);
    uint64_t *row = c->cells[said];

    c->rows[said]++;
    if (column < COLUMN_COUNT)
        row[column]++;
    if (column == COLUMN_NO_VERDICT) {
        add_none(c, verdict ? verdict : revision);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(judgements); i++)
        row[judgements[i]] += passes(verdict, column_names[judgements[i]]);
    if (said == KB_ABSENT ||
        (said == KB_CORRECT) == passes(verdict, c->judgement))
        return;
    c->disagree++;
    add_line(c, said, revision, verdict);
}

static void print_row(struct buf *out, const char *name, uint64_t n,
                      const uint64_t *cells)
{
    buf_printf(out, "%-15s %8" PRIu64, name, n);
    for (int i = 0; i < COLUMN_COUNT; i++)
        buf_printf(out, " %*" PRIu64, (int)MAX(strlen(column_names[i]), 6),
                   cells[i]);
    buf_addc(out, '\n');
}

void confusion_print(const struct confusion *c, struct buf *out)
{
    uint64_t all[COLUMN_COUNT] = {0}, n = 0;

    buf_printf(out, "%-15s %8s", "recorded", "kernels");
    for (int i = 0; i < COLUMN_COUNT; i++)
        buf_printf(out, " %6s", column_names[i]);
    buf_addc(out, '\n');
    for (int r = 0; r < KB_SAID_COUNT; r++) {
        print_row(out, row_names[r], c->rows[r], c->cells[r]);
        n += c->rows[r];
        for (int i = 0; i < COLUMN_COUNT; i++)
            all[i] += c->cells[r][i];
    }
    print_row(out, "all", n, all);
    for (size_t i = 0; i < c->none.n; i++)
        buf_printf(out, "no verdict: %" PRIu64 " %s\n", c->none.v[i].n,
                   c->none.v[i].code);
    buf_printf(out, "disagree under %s: %" PRIu64 "\n", c->judgement,
               c->disagree);
    buf_addspan(out, buf_span(&c->lines));
}
