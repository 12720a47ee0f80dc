/* SPDX-License-Identifier: MIT */
/* One repository: from its commit to packed records. */
#ifndef KM_HARVEST_H
#define KM_HARVEST_H

#include "array.h"
#include "harvest/blobs.h"
#include "harvest/gitrepo.h"
#include "harvest/notebook.h"
#include "harvest/terms.h"
#include "py/pyrepo.h"
#include "val.h"

/* Text of all Python files of one repository together: the largest real ones
 * have a third of it. */
#define HARVEST_MAX_TEXT (256u << 20)
#define HARVEST_MAX_OUT                                                        \
    ((size_t)1 << 30) /* packed records of one repository                      \
                       */

/* Seconds without CPU time after which a repository is given up: a pipe among
 * its files is never written to. */
#define HARVEST_IDLE 30.0

struct harvest_rules {
    const char *rev; /* NULL = HEAD */
    bool any_licence, all_history;
    bool functions; /* those that compute on tensors count as modules do */
    struct licence_rules licences;
};

#define TARGET_MAX_PATH 4096

/* One repository to read. It travels between processes: nothing but bytes. */
struct target {
    uint64_t number;              /* as given, from 1 */
    uint32_t line;                /* of the list, 0 = operand */
    char source[TARGET_MAX_PATH]; /* as given */
    char path[TARGET_MAX_PATH];   /* where it lies: SOURCE or its clone */
    char name[256];               /* as in the records */
    char commit[OID_HEX + 1];     /* "" = could not be opened, see err */
    struct err err;
};

/* For the progress line. */
struct harvest_done {
    int64_t files, bytes;
};

/* A Python file, notebook or configuration of the tree. */
struct source {
    char *path; /* raw bytes */
    char oid[OID_HEX + 1];
    enum err_code code; /* ERR_NONE, or why it has no text */
    char *note;
    struct span text; /* decoded, of `blob` */
    bool is_notebook;
    bool is_config; /* YAML or JSON: only ever a `caller` */
    bool counts;    /* its modules are wanted: not so most of an older commit */
    struct nbcells cells; /* of a notebook, of `blob` */
    struct blob *blob;
    struct pymod *mod; /* of `blob` */
    bool *functions;   /* per definition of `mod`: it is one that counts; NULL:
                          there is none */
    bool wanted;       /* to be parsed */
    bool has_module, needed;
    bool caller; /* not needed, but it makes modules */
};

struct harvest {
    const struct harvest_rules *rules;
    const struct target *target;
    struct gitrepo *git; /* of the kit */
    struct terms *terms;
    struct arena arena;
    ARRAY(struct source) sources;
    struct map by_path;  /* path -> index + 1 into sources */
    struct map licences; /* path -> struct licence, of those asked for */
    struct pyrepo *py;
    size_t total_text, parsed_text, parser_text; /* bytes */
    int64_t n_files, n_python, n_notebooks, n_parsed, n_modules, n_failed,
        n_shadowed, n_functions;
};

/* What a worker needs again and again. */
struct harvest_kit {
    struct pyparser *parser;
    struct blobs *blobs;
};

/*
 * Append the records of T, packed, to OUT: `file`s by path, `module`s by path
 * and line, then `repo`. A broken file or repository gives its record in state
 * failed or rejected; -1 only when OUT is full. ONLY, if not empty: raw ids of
 * the blobs that count, one of a history; without a module or failure among
 * them nothing is appended.
 */
int harvest_repo(const struct harvest_rules *rules,
                 const struct harvest_kit *kit, const struct target *t,
                 struct span only, struct buf *out, struct harvest_done *done,
                 struct err *e) MUST_USE;

/*
 * needs.c: which sources must be parsed. Their texts and places in `by_path`
 * are there. Both calls set `wanted`: of those that could hold a module or lead
 * to the bases of one; and of those that the `needed` ones import.
 */
struct needs;
struct needs *needs_new(struct harvest *h);
void needs_free(struct needs *x);
void needs_modules(struct needs *x);
void needs_imports(struct needs *x);

/* Bytes of a file that is taken because it makes modules, at most. */
#define CALLER_MAX (256u << 10)

/* callers.c: set `caller`; `needed` is complete. */
void callers_mark(struct harvest *h);

/* records.c: set `has_module` of the parsed sources, `needed` of those with a
 * module that passes. */
void records_mark(struct harvest *h);
/* gitwant of what harvest_repo reads. */
bool harvest_wants(struct span name, bool folder);

/* records.c: the same for a read harvest (ALWAYS: also when there is
 * nothing to tell), and for a repository that could not
 * be read at all (its only record). */
int records_write(struct harvest *h, bool always, struct buf *out,
                  struct err *e) MUST_USE;
int records_broken(const struct target *t, const struct err *why,
                   struct buf *out, struct err *e) MUST_USE;

#endif
