/* SPDX-License-Identifier: MIT */
/*
 * The classes of benchmarks, by fingerprints only, and the rules by which a
 * source counts as a copy of one. The class that a source is about is held
 * against every class of a benchmark, its helpers only against whole problems
 * of some size: an activation that is a problem of its own, or a helper that
 * both took from the same library, says nothing about the rest of a source.
 */
#ifndef KM_CLEAN_BENCHMARK_H
#define KM_CLEAN_BENCHMARK_H

#include "clean/finger.h"
#include "val.h"

/* Share of a benchmark class's long grams that are in the source's class, and
 * Jaccard index of the short ones, from which it is a copy. */
#define BENCHMARK_CONTAINMENT 0.5
#define BENCHMARK_JACCARD     0.5
/* Long grams that a class must have for the first, and tokens for SHAPE. */
#define BENCHMARK_MIN_GRAMS  5
#define BENCHMARK_MIN_TOKENS 25
/* Tokens from which a problem is also looked for in the parts of a source. */
#define BENCHMARK_PART_TOKENS 200
/* Operators count on these levels and below. */
#define BENCHMARK_OPERATORS_LEVEL 2

enum overlap_rule {
    OVERLAP_NONE,
    OVERLAP_OPERATORS, /* only a mark */
    OVERLAP_JACCARD,
    OVERLAP_CONTAINMENT,
    OVERLAP_SHAPE,
    OVERLAP_AST
};

struct overlap {
    enum overlap_rule rule;
    double figure;          /* 1 for equal hashes */
    struct span benchmark;  /* "kernelbench" */
    struct span problem;    /* path of its file */
    struct span their_name; /* class there */
    struct span our_name;   /* class here */
    int64_t level, number;  /* -1 = not known */
};

struct benchmark;
struct benchmark *benchmark_new(void);
void benchmark_free(struct benchmark *b);

/* Add the `fingerprint` records of the stream on FD (stays the caller's); NAME
 * is for messages. -1 with CORRUPT, SCHEMA, TRUNCATED, VERSION, and for a
 * stream without any. */
int benchmark_load(struct benchmark *b, int fd, const char *name,
                   struct err *e) MUST_USE;
/* The fingerprints of KernelBench that the program carries. */
int benchmark_load_own(struct benchmark *b, struct err *e) MUST_USE;
/* After the last one was loaded, before the first question. */
void benchmark_seal(struct benchmark *b);
size_t benchmark_count(const struct benchmark *b);

/* The strongest overlap of a class with the benchmarks, the first one loaded
 * among equal ones. ENTRY: it is the module that its source is about. Texts
 * belong to B and F. */
struct overlap benchmark_find(const struct benchmark *b, const struct finger *f,
                              bool entry);
/* The same of a source: of all its classes, of which ENTRY is qualified name
 * of the module. */
struct overlap benchmark_find_source(const struct benchmark *b,
                                     const struct pymod *m,
                                     const struct tokens *t, struct span entry);

/* "ast", "shape", ... */
const char *overlap_rule_name(enum overlap_rule rule);
/* The overlap as a map for the record, and as a note for people. */
struct val *overlap_val(struct arena *a, const struct overlap *o);
const char *overlap_note(struct arena *a, const struct overlap *o);

#endif
