/* SPDX-License-Identifier: MIT */
/*
 * Option tables: one table gives parsing, --help, and the list against which
 * a test holds the man page. Long options with '-', short letters optional.
 */
#ifndef KM_OPT_H
#define KM_OPT_H

#include "err.h"

enum opt_type {
    OPT_FLAG,   /* bool *   : set to true; --no-NAME sets false */
    OPT_COUNT,  /* int *    : incremented */
    OPT_INT,    /* int64_t *: [min, max] */
    OPT_SIZE,   /* int64_t *: with K, M, G (powers of 1024) */
    OPT_FLOAT,  /* double * : [min, max] */
    OPT_STR,    /* const char ** */
    OPT_CHOICE, /* const char ** out of "a|b|c" given in arg */
    OPT_LIST,   /* struct opt_list *: may be given more than once */
    OPT_GROUP   /* a heading in --help */
};

struct opt_list {
    const char **v;
    size_t n;
};

struct opt {
    enum opt_type type;
    char letter; /* 0 = none */
    const char *name;
    void *value;
    const char *arg;   /* metavariable, or the choices */
    const char *about; /* one line; default value is told in it */
    double min, max;   /* OPT_INT, OPT_FLOAT, OPT_SIZE; both 0 = any */
    bool output;       /* changes the output: goes into the header */
};

struct opt_spec {
    const char *program;         /* "km-clean" or "km-trajectories import" */
    const char *synopsis;        /* after the program's name */
    const char *about;           /* one or more lines */
    const struct opt *tables[4]; /* each ends with name == NULL; NULL-ended */
    const char *epilogue;        /* examples, may be NULL */
};

/* Parse; --help prints to stdout and exits 0, --version likewise; wrong use
 * dies with 2. Returns the index of the first operand in argv (options and
 * operands may be mixed: argv is permuted). Sets log_program. */
int opt_parse(const struct opt_spec *spec, int argc, char **argv);
void opt_help(const struct opt_spec *spec, FILE *out);

struct arena;
struct val;
/* Map of the options marked `output` with their values, for the header. */
struct val *opt_record(struct arena *a, const struct opt_spec *spec);

#endif
