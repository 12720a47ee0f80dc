/* SPDX-License-Identifier: MIT */
/*
 * The Python files of one repository and what their names mean: imports,
 * aliases, re-exports, star imports, and which classes are nn.Modules. All
 * cycles are cut: a name that only leads back to itself is PYREF_NONE.
 */
#ifndef KM_PY_PYREPO_H
#define KM_PY_PYREPO_H

#include "py/pymod.h"

struct pyrepo;

struct pyrepo *pyrepo_new(void);
/* The same, of files that stay the caller's and outlive it. */
struct pyrepo *pyrepo_new_borrowing(void);
void pyrepo_free(struct pyrepo *r); /* and its files */
/* Add a file: takes M (its path is the key: relative, '/', "a/b.py"). All files
 * are added before the first question. An equal path is replaced. */
void pyrepo_add(struct pyrepo *r, struct pymod *m);
/* A path that exists but was not parsed: it resolves as PYREF_NONE, not as
 * external. */
void pyrepo_add_absent(struct pyrepo *r, const char *path);
struct pymod *pyrepo_find(const struct pyrepo *r, struct span path);
size_t pyrepo_count(const struct pyrepo *r);
struct pymod *pyrepo_at(const struct pyrepo *r, size_t i); /* by order added */

enum pyref_kind {
    PYREF_NONE,     /* unbound, or bound by something unreadable */
    PYREF_SYM,      /* symbol `sym` of file `mod`, then attributes `rest` */
    PYREF_MODULE,   /* the file `mod` itself (NULL: a folder without
                       __init__.py), then `rest` that it does not define */
    PYREF_EXTERNAL, /* `dotted`, such as "torch.nn.Module" */
    PYREF_BUILTIN   /* `dotted`, such as "super" */
};

struct pyref {
    enum pyref_kind kind;
    const struct pymod *mod;
    const struct pysym *sym; /* last binding; more by sym->earlier. Never an
                                import: these are followed */
    struct span rest;        /* "b.c" of "Sym.b.c", or empty */
    struct span dotted;      /* lives as long as the repository */
};

/* Name used at module level of a file. */
#define PY_AT_MODULE UINT32_MAX

/*
 * Resolve DOTTED as written at offset AT of file M (PY_AT_MODULE: its module
 * scope). Follows imports, aliases of imports, relative imports, re-exports
 * through any file, star imports (honouring __all__), submodules; stops at the
 * first symbol that is not an import. A class attribute that names a nested
 * class is not entered: see rest.
 */
struct pyref pyrepo_resolve(struct pyrepo *r, const struct pymod *m,
                            uint32_t at, struct span dotted);
/* One binding, when the caller walks ->earlier itself. */
struct pyref pyrepo_resolve_sym(struct pyrepo *r, const struct pymod *m,
                                const struct pysym *s, struct span rest);
/* Follow assignments of plain dotted names (`Conv = nn.Conv2d`) and nested
 * classes as well, as far as they go. */
struct pyref pyrepo_deref(struct pyrepo *r, struct pyref ref);
/* Dotted name of a reference for people and records: "torch.nn.Module", or
 * module path and symbol for the repository's own ("pkg.layers.Block"); empty
 * for PYREF_NONE. */
struct span pyrepo_ref_name(struct pyrepo *r, struct pyref ref);

/*
 * File that `import MODULE` in file M means (LEVEL > 0: relative), or NULL.
 * Absolute: longest suffix match: package roots are the repository's root,
 * src/, then any folder, the one nearest to M first. A name of the standard
 * library or of a well-known package (torch, numpy, ...) is taken for the
 * repository's own only where it is a package at a package root, never a lone
 * file: torch.py or types.py among scripts.
 */
const struct pymod *pyrepo_module(struct pyrepo *r, const struct pymod *m,
                                  int level, struct span module);
/* Dotted module path of a file from its package root: "pkg.layers". */
struct span pyrepo_module_name(struct pyrepo *r, const struct pymod *m);

/* Files of the repository that M imports directly, anywhere in it; in order
 * of first appearance. Caller releases the array. */
struct pymods {
    const struct pymod **v;
    size_t n, cap;
};
void pyrepo_imports(struct pyrepo *r, const struct pymod *m,
                    struct pymods *out);

/* Class that base (or decorated name) REF stands for: definition and its
 * file, or NULL when it is not a class of the repository. */
const struct pydef *pyrepo_class(struct pyrepo *r, struct pyref ref,
                                 const struct pymod **mod);

/*
 * Is definition D (a class) of file M a subclass of torch.nn.Module by its
 * resolved bases, transitively? Roots: torch.nn.Module and every layer under
 * torch.nn, torch.jit.ScriptModule, LightningModule of lightning and
 * pytorch_lightning, and such well-known classes of other packages. Not: other
 * classes of torch (Tensor, autograd.Function, Dataset, Optimizer), flax,
 * haiku, mxnet, paddle, tensorflow, and classes whose base cannot be found.
 */
bool pyrepo_is_module_class(struct pyrepo *r, const struct pymod *m,
                            const struct pydef *d);
/* The same for an external dotted name. */
bool py_is_module_root(struct span dotted);

#endif
