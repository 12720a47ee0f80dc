/* SPDX-License-Identifier: MIT */
/*
 * The files of one repository as km-clean sees them, and what a name in one
 * of them stands for. Unlike pyrepo_resolve, which follows the last binding to
 * its end, this stops where a binding has to be emitted: at a name bound twice
 * or under a condition.
 */
#ifndef KM_CLEAN_REPO_H
#define KM_CLEAN_REPO_H

#include "clean/scan.h"
#include "py/pyrepo.h"

struct cfile;

enum target_kind {
    TARGET_UNSET,
    TARGET_NONE,    /* nothing binds it */
    TARGET_LOCAL,   /* a local name: nothing to do */
    TARGET_BUILTIN, /* `dotted`: the whole chain */
    TARGET_SYM,     /* module-level name `name` of `file` */
    TARGET_MODULE,  /* a file of the repository as a value */
    TARGET_EXTERNAL /* `dotted`: the whole chain, resolved */
};

struct target {
    enum target_kind kind;
    int id;           /* SYM, EXTERNAL: number of the entity it stands for, the
                         same for all that stand for it; 0 = none */
    int stand;        /* the same for what stands in its place: EXTERNAL that is
                         not on the list, MODULE; 0 = none */
    bool has;         /* EXTERNAL: the policy has it */
    bool unsafe;      /* reading it is refused */
    bool unsafe_call; /* calling it is refused */
    uint32_t end;     /* SYM: end of the part of the chain that is replaced;
                         EXTERNAL: of the head */
    struct cfile *file; /* SYM, MODULE */
    struct span name;   /* SYM; EXTERNAL: the local name of the import */
    struct span dotted; /* EXTERNAL, BUILTIN */
    /* EXTERNAL: the import that has to be emitted: `import module [as name]`
     * or, with a member, `from module import member [as name]`. */
    struct span module, member;
    bool aliased;
};

/* Module-level statement STMT changes the object that symbol NAME of FILE
 * stands for. */
struct mutator {
    const struct cfile *file;
    struct span name;
    int stmt;
    bool registers; /* a definition, by a decorator: `@X.register` */
};

struct cfile {
    int index;
    struct pymod *m;
    struct scan scan;
    const struct val *licence; /* of its record */
    struct cfile *origin;      /* a part of that file: its names are those of
                                  it (crepo_add_part), or NULL */
    bool prepared;             /* live flags, decorators, mutators are set */
    struct target *targets;    /* one for each of m->reads, lazily */
    unsigned char *cut;        /* per read: left out of every module */
    struct target *imports;    /* one for each of m->syms, lazily */
    int *ids;                  /* of m->syms of the module, lazily */
    int *included;             /* per statement: index + 1 in the closure */
    int *order;                /* per statement: when it would be executed */
    bool visited;              /* by the walk that sets `order` */
    unsigned star_question;    /* last one that looked for `star_name` ... */
    struct span star_name;     /* ... through the star imports */
    struct ranges decorators;  /* of torch.jit.script and its kin */
    ARRAY(struct mutator) mutators;
};

struct calls;

struct crepo {
    struct pyrepo *names;
    const struct policy *policy;
    struct arena arena; /* texts of targets */
    ARRAY(struct cfile *) files;
    struct map by_path;
    struct map unreadable; /* path -> struct err: not parsed */
    struct map ids;        /* "FILE:NAME" or import -> id */
    int budget;            /* steps left for one question */
    unsigned question;     /* its number */
    struct calls *calls;   /* of its modules, or NULL; borrowed */
    struct cfile *ordered; /* the entry for which `order` holds */
};

void crepo_init(struct crepo *r, const struct policy *policy);
void crepo_release(struct crepo *r);
/* Parse and add. -1: the file counts as there but unreadable. LICENCE is
 * borrowed. */
int crepo_add(struct crepo *r, struct pyparser *p, struct span path,
              struct span source, const struct val *licence, struct err *e);
/* Add statements that were local to functions of ORIGIN as a file PATH of the
 * same folder, which is not to end in .py: nobody imports it. What it does not
 * bind itself it has from ORIGIN. NULL as crepo_add. */
struct cfile *crepo_add_part(struct crepo *r, struct pyparser *p,
                             struct cfile *origin, struct span path,
                             struct span source, struct err *e);
/* F, or the file that it is a part of when that binds NAME. */
const struct cfile *crepo_binder(const struct cfile *f, struct span name);
struct cfile *crepo_file(const struct crepo *r, struct span path);
struct cfile *crepo_of(const struct crepo *r, const struct pymod *m);

/* Target of read I of F; computed once. */
const struct target *crepo_target(struct crepo *r, struct cfile *f, size_t i);
/* Target of the chain DOTTED that starts at offset AT of F. */
struct target crepo_resolve(struct crepo *r, struct cfile *f, uint32_t at,
                            struct span dotted);
/* Target of one import binding, LOCAL when it is none; computed once. */
const struct target *crepo_import(struct crepo *r, struct cfile *f,
                                  const struct pysym *s);
/* Ids of the symbol NAME of F, of a key of another kind, and of the symbol that
 * S binds in it. */
int crepo_symbol_id(struct crepo *r, const struct cfile *f, struct span name);
int crepo_key_id(struct crepo *r, struct span key);
int crepo_sym_id(struct crepo *r, struct cfile *f, const struct pysym *s);
/* Does the import bind the package itself: `import torch.utils`? */
bool target_is_package(const struct target *t);
/* Is S the only binding of a local name? An import of the repository's own then
 * needs no statement: its reads are replaced. */
bool sym_is_single(const struct pymod *m, const struct pysym *s);
/* `import package` of one that has another name here: needs `as package`. */
bool crepo_is_renamed(const struct pysym *s);
/* Is the import S from a file of the repository, there or missing? */
bool crepo_is_own(struct crepo *r, const struct cfile *f,
                  const struct pysym *s);
/* Bindings of NAME in the module that count at run time, last one first, up
 * to CREPO_BINDINGS. Those under `if TYPE_CHECKING` count only when there is no
 * other; those under `if __name__ == "__main__"` never. */
#define CREPO_BINDINGS 64
size_t crepo_bindings(const struct cfile *f, struct span name,
                      const struct pysym *out[CREPO_BINDINGS]);
/* Decide once for F which calls are only printed or logged, which decorators
 * are dropped and which statements change which names. */
void crepo_prepare(struct crepo *r, struct cfile *f);
/* Set `order` of all files as Python would execute their statements when it
 * imports ENTRY. */
void crepo_order(struct crepo *r, struct cfile *entry);
/* Is offset AT of F in what is left out of every module? */
bool crepo_is_cut(const struct cfile *f, uint32_t at);

/* Binding S inside a function that only declares it global. */
bool sym_is_remote(const struct pymod *m, const struct pysym *s);
/* Is S an import of whatever form? */
bool sym_is_import(const struct pysym *s);

/* End of the first N parts of the chain of attributes that starts at AT: white
 * space, line joins and comments may stand between the parts. */
uint32_t chain_end(const struct pymod *m, uint32_t at, unsigned n);
/* First read at or behind AT. */
size_t reads_from(const struct pymod *m, uint32_t at);

#endif
