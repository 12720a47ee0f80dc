/* SPDX-License-Identifier: MIT */
/* Inside lib/py: what the walk over a file shares with its helpers. */
#ifndef KM_PY_SCOPE_H
#define KM_PY_SCOPE_H

#include "py/kinds.h"
#include "py/pymod.h"

enum name_mode {
    M_READ,     /* a name is read */
    M_BIND,     /* a name is bound as sym_kind */
    M_PARAM,    /* a name is a parameter */
    M_PATTERN,  /* of a case clause: single names are bound */
    M_TYPEPARAM /* names of PEP 695 */
};

/* One level of the walk: what its children inherit. */
struct frame {
    enum pykind kind;
    TSNode node;
    int scope, def, stmt;
    int own_scope, own_def, own_stmt; /* opened by this node, -1 */
    int outer_scope; /* comprehension: where its first iterable is read */
    int depth;       /* of scopes */
    enum name_mode mode;
    unsigned flags; /* PYREAD_* */
    enum pysym_kind sym_kind;
    int bind_scope;
    bool unpacked, first_clause, is_main, type_checking;
    uint32_t start, end;   /* innermost statement */
    uint32_t vstart, vend; /* value of the assignment */
};

struct build {
    struct pymod *m;
    const struct pyparser *p;
    struct span text;
    ARRAY(struct frame) frames; /* by depth in the tree */
    struct map declared;        /* "SCOPE:NAME" of global and nonlocal */
    bool outline;               /* do not go into expressions */
    bool too_deep;
    bool all_unclear;
};

/* Fill M from its tree, which is of TEXT; OUTLINE as in pymod_new_outline. */
int pymod_build(struct pymod *m, const struct pyparser *p, struct span text,
                bool outline, struct err *e);

/* pymod_new_outline; without SKIM nothing is taken out of the text. */
struct pymod *pymod_outline(struct pyparser *p, const char *path,
                            struct span text, bool skim, struct err *e);

/* Index of the binding in WHICH (first or last), or -1. */
int pymod_binding(const struct map *which, int scope, struct span name);

/* bind.c */
struct span build_dotted(struct build *b, TSNode n);
/* Bind NAME in SCOPE; returns the new symbol's index, -1 when it is declared
 * nonlocal. Statement and value ranges are those of F. */
int build_bind(struct build *b, const struct frame *f, enum pysym_kind kind,
               int scope, struct span name);
void build_declare(struct build *b, const struct frame *f, TSNode n,
                   bool global);
void build_import(struct build *b, const struct frame *f, TSNode n,
                  enum pykind kind);
void build_decorators(struct build *b, struct pydef *d, TSNode decorated);
void build_bases(struct build *b, struct pydef *d, TSNode superclasses);
void build_all(struct build *b, TSNode value, bool reset);
void build_all_call(struct build *b, TSNode call);
/* Set `bound` of every read. */
void build_resolve(struct build *b);

#endif
