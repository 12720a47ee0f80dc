/* SPDX-License-Identifier: MIT */
/*
 * Main loop of a filter: common options, input, output, pass-through of
 * kinds that are not consumed, counts, summary, exit status. A program gives
 * a struct stage and calls stage_main.
 *
 * Common options of every program: -i/--input FILE (default stdin),
 * -o/--output FILE (default stdout; .zst = zstd), --json, --zstd, --jobs N,
 * --strict, --bare, -q, -v, --progress auto|always|never, --help, --version.
 */
#ifndef KM_STAGE_H
#define KM_STAGE_H

#include "opt.h"
#include "rec.h"
#include "schema.h"

struct emit; /* where results go */

struct stage_env {
    int argc; /* operands */
    char **argv;
    int jobs; /* --jobs, default number of online CPUs */
    bool strict, bare, quiet;
    const struct val *upstream; /* header of the input, NULL for a source */
};

struct stage {
    struct opt_spec spec; /* tables[0] = the program's own options */
    const char *name;     /* "clean": first half of `why` codes */
    /* Kinds it consumes, NULL-ended; others pass through at once when
     * `holds` is false. NULL list = a source: no input is read. */
    const char *const *accepts;
    bool operands; /* file operands allowed */
    /* Passes other kinds to process() too, which emits them itself where it
     * must keep their order with what it holds. */
    bool holds;
    /* Of a stage that reads streams, optional: true (asked when the options are
     * known) if this run makes its input itself. No stream is read then; `next`
     * gives the records, which go the way of those read. */
    bool (*makes_input)(void);
    /* KM_OK with the next record in A, KM_END, -2: the run ends. One that can't
     * be had is a record that says so (rec_fail). */
    int (*next)(void *state, struct arena *a, struct val **rec, struct err *e);
    int (*open)(void **state, const struct stage_env *env, struct err *e);
    /* One record of an accepted kind, valid during the call only. -1: the
     * record is written with rec_fail(e->code); -2 ends the run. A source
     * does all its work in finish. */
    int (*process)(void *state, struct arena *a, struct val *rec,
                   struct emit *out, struct err *e);
    int (*finish)(void *state, struct emit *out, struct err *e); /* optional */
    void (*close)(void *state);                                  /* optional */
};

/* Write a record (sealed here). 0 or -2. */
int emit_rec(struct emit *out, struct arena *a, struct val *rec,
             struct err *e) MUST_USE;
/* Concatenated packed records, as a pool worker returned them. */
int emit_packed(struct emit *out, struct span packed, struct err *e) MUST_USE;
/* For the progress line and summary. */
void emit_note(struct emit *out, const char *fmt, ...) PRINTF(2, 3);

int stage_main(int argc, char **argv, const struct stage *s);

/* For programs that are no filters: open an output as stage_main does. */
extern const struct opt stage_common_opts[];

#endif
