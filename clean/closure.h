/* SPDX-License-Identifier: MIT */
/*
 * Everything of a repository that one class needs, as module-level statements
 * ("units"), and the names that the output binds ("entities"). What cannot be
 * had (a denied import, an unsafe call, a missing name) is worked around
 * where the program does without it: a method nobody calls, an annotation, a
 * registering decorator. Otherwise it ends the closure with a reason.
 */
#ifndef KM_CLEAN_CLOSURE_H
#define KM_CLEAN_CLOSURE_H

#include "clean/repo.h"

struct unit {
    struct cfile *f;
    int stmt;         /* of f->m->stmts, without parent */
    int from;         /* unit that needs it, -1 = the entry */
    uint32_t from_at; /* offset there of the read that needs it */
    bool mutator;     /* it is here because it changes something needed */
};

/* A name of the output: a symbol of a file, or an import. */
struct entity {
    int id; /* as in struct target */
    bool external;
    bool required;    /* read by someone; else only bound beside others */
    struct cfile *f;  /* symbol */
    struct span name; /* symbol: its name; import: its local name */
    struct span module, member; /* import, as in struct target */
    bool aliased;
    int stand; /* STAND_*: what stands for it; `module`: its resolved name */
    const char *shim; /* STAND_SHIM: its code */
    int unit;         /* STAND_MODULE: the read that made it */
    uint32_t at;
    ARRAY(struct span) modules; /* of `import a.b` and `import a.c` */
    ARRAY(int) units;           /* symbol: those that bind it */
    const char *out;            /* name in the output (names.c) */
};

/* A range left out of the output for this module only. */
enum dcut_kind {
    DCUT_DECORATOR,
    DCUT_METHOD,    /* nobody may name it */
    DCUT_STATEMENT, /* a call that only reports */
    DCUT_BLOCK,     /* an optional block, or one way of several that a function
                       can go: raises instead */
    DCUT_RAISE,     /* body of a function: raises instead */
    DCUT_UNCALLED,  /* a whole definition of the module that is only handed
                   around: raises when it is called */
    DCUT_BODY,      /* a whole function that asks for a package */
    DCUT_REFERENCE  /* a whole function, which calls another one instead */
};

struct dcut {
    enum dcut_kind kind;
    struct cfile *f;
    uint32_t start, end;
    struct span name;      /* METHOD, BODY, RAISE, UNCALLED */
    struct span reference; /* REFERENCE: the other function */
    const char *text;      /* BLOCK, RAISE, REFERENCE: what takes its place */
    enum err_code code;    /* what was wrong with it */
    const char *note;
    const struct pydef *registrar; /* DECORATOR: the function of this file that
                                      it calls, when it only registers */
    struct cfile *registrar_file;
};

struct dropped {
    struct cfile *f;
    uint32_t at; /* of an annotation's read; a statement of a mutator */
    bool mutator;
};

/* A read that stands for an entity. */
struct occurrence {
    int ent;
    struct cfile *f;
    size_t read;
};

struct closure {
    struct crepo *r;
    struct arena *arena;
    ARRAY(struct unit) units; /* [0] holds the entry */
    ARRAY(struct entity) ents;
    ARRAY(int) by_id;    /* id of a target -> index + 1 into ents */
    struct map builtins; /* names that are read as builtins */
    ARRAY(struct dcut) cuts;
    ARRAY(struct dropped) dropped;
    ARRAY(const struct pydef *) registrars; /* that must stay (registrar.c) */
    bool future; /* annotations must stay unevaluated */
    int *seq;    /* units in the order of the output (closure_order) */
    ARRAY(struct occurrence) occ; /* by unit and offset (closure_names) */
    /* Failure. */
    enum err_code code;
    const char *note;
};

void closure_init(struct closure *c, struct crepo *r, struct arena *a);
void closure_release(struct closure *c);
/* Close over statement STMT of F. 0, or -1 with `code` and `note` set. */
int closure_run(struct closure *c, struct cfile *f, int stmt) MUST_USE;
/* Put the units into an order in which they can run. 0 or -1. */
int closure_order(struct closure *c) MUST_USE;
/* Choose `out` of every entity; the symbol ENTRY of F comes first and gets the
 * name WANTED (empty: its own) if it can. 0 or -1. */
int closure_names(struct closure *c, const struct cfile *f, struct span entry,
                  struct span wanted) MUST_USE;
/* `import a.b` without a name: it binds "a" and cannot be renamed. */
bool entity_is_package(const struct entity *e);

/* Is read I of F more than a value that is handed around: is it called, gone
 * into, a decorator, a base? */
bool closure_uses(const struct closure *c, struct cfile *f, size_t i);
/* The DCUT_BODY, DCUT_UNCALLED or DCUT_REFERENCE that replaces unit U, or
 * NULL. */
const struct dcut *closure_body(const struct closure *c, const struct unit *u);
/* Is offset AT of F left out? */
bool closure_is_cut(const struct closure *c, const struct cfile *f,
                    uint32_t at);
/* Entity that read I of F stands for, or NULL (local, builtin, left out, an
 * import that stays in a function). */
struct entity *closure_entity(const struct closure *c, struct cfile *f,
                              size_t i);
struct entity *closure_by_id(const struct closure *c, int id);
struct entity *closure_symbol(const struct closure *c, const struct cfile *f,
                              struct span name);
/* The entity ID, added as E when it is not there. */
struct entity *closure_add(struct closure *c, int id, struct entity e);
struct fault;
/* Symbol NAME of F goes into the closure for the read at AT of unit UNIT. */
int closure_require(struct closure *c, struct cfile *f, struct span name,
                    int unit, uint32_t at, struct fault *x);
/* Was the definition NAME of F dropped as a member of a file? */
bool closure_is_dropped(const struct closure *c, const struct cfile *f,
                        struct span name);
/* Read I of F looks into the environment of the process, and an empty one can
 * answer it: what to write in its place, up to *END. A variable that is only
 * compared is the empty text, so that it is none of what is asked for. Else
 * NULL. */
const char *closure_env(const struct closure *c, struct cfile *f, size_t i,
                        uint32_t *end);

#endif
