/* SPDX-License-Identifier: MIT */
/* Inside lib/py: the places of a repository that imports can name. */
#ifndef KM_PY_REPO_H
#define KM_PY_REPO_H

#include "py/pyrepo.h"

/* A path without ".py": a module, a package, a folder, or several of them. */
struct place {
    struct span base;          /* "a/b", "" for the top */
    struct pymod *init, *file; /* a/b/__init__.py, a/b.py */
    bool has_init, has_file;   /* also when it was not parsed */
    bool folder;               /* Python files lie below it */
    unsigned mark;             /* star search that was here last */
};

struct pyfile {
    struct pymod *mod;
    struct place *place;
    struct place *dir;  /* of the folder it lies in */
    struct place *root; /* package root: first folder upwards that is no
                           package */
    int first_class;    /* number of its first definition among all */
};

struct pyrepo {
    struct arena arena;
    ARRAY(struct pyfile *) files;
    struct map by_path; /* path -> struct pyfile */
    struct map places;  /* base -> struct place */
    struct map by_name; /* last part of base -> struct places */
    bool indexed;
    bool borrows; /* the files are the caller's */
    unsigned mark;
    int steps;          /* left for the present question */
    uint8_t *is_module; /* by number of definition, NULL until asked */
    size_t n_defs;
};

struct places {
    struct place **v;
    size_t n, cap;
};

/* Outcome of looking for a module. */
enum located {
    LOC_EXTERNAL, /* not of this repository */
    LOC_MISSING,  /* of it, but not there */
    LOC_FOUND
};

void repo_index(struct pyrepo *r);
const struct pyfile *repo_file(const struct pyrepo *r, const struct pymod *m);
struct place *repo_place(const struct pyrepo *r, struct span dir,
                         struct span rest);
enum located repo_locate(struct pyrepo *r, const struct pymod *m, int level,
                         struct span module, struct place **out);
struct pymod *place_mod(const struct place *p);

#endif
