/* SPDX-License-Identifier: MIT */
/*
 * Model of one Python file: statements, scopes, bindings, definitions and
 * name reads, with Python's own scoping rules. It knows nothing of other
 * files: pyrepo.h does. Offsets are bytes into `text`; ranges are half open.
 * Indices are into the arrays of struct pymod, -1 = none.
 */
#ifndef KM_PY_PYMOD_H
#define KM_PY_PYMOD_H

#include "array.h"
#include "map.h"
#include "py/pytree.h"

enum pystmt_kind {
    PYSTMT_IMPORT,   /* import, from ... import, from __future__ */
    PYSTMT_FUNCTION, /* decorated or not */
    PYSTMT_CLASS,
    PYSTMT_ASSIGN,   /* plain, annotated, augmented, chained, type alias */
    PYSTMT_EXPR,     /* call and any other expression */
    PYSTMT_DOC,      /* a string on its own */
    PYSTMT_COMPOUND, /* if, try, with, for, while, match */
    PYSTMT_OTHER     /* assert, del, raise, pass, global, ERROR, ... */
};

/* Module-level statements in source order: a compound one is followed by those
 * of its blocks (any depth), whose `parent` is its index. */
struct pystmt {
    enum pystmt_kind kind;
    int parent; /* innermost compound statement around it */
    int top;    /* the statement without parent that holds it (or itself) */
    uint32_t start, end;     /* decorators included, comments not */
    uint32_t line, end_line; /* 1-based */
    int first_def, n_defs;   /* slice of `globals`: what it binds in the module
                                (a compound one: all of its blocks) */
    bool is_main;            /* if __name__ == "__main__", or inside of one */
    bool type_checking;      /* if TYPE_CHECKING, or inside of one */
    bool has_error;
};

enum pyscope_kind { PYSCOPE_MODULE, PYSCOPE_CLASS, PYSCOPE_FUNCTION };

/* Scope 0 is the module. Lambdas and comprehensions are functions. */
struct pyscope {
    enum pyscope_kind kind;
    int parent;
    int def; /* pydef that opened it; -1 for module, lambda, comprehension */
    bool comprehension;  /* := inside binds in the scope around it */
    uint32_t start, end; /* of the body; for a function its parameters' names
                            belong to it though their defaults do not */
};

enum pysym_kind {
    PYSYM_FUNCTION,
    PYSYM_CLASS,
    PYSYM_ASSIGN,    /* x = v; also targets inside tuples and lists */
    PYSYM_ANNOTATED, /* x: T = v, or x: T alone (value_end == 0) */
    PYSYM_AUGMENTED, /* x += v */
    PYSYM_IMPORT,    /* import module [as name] */
    PYSYM_FROM,      /* from module import member [as name] */
    PYSYM_STAR,      /* from module import *: name is "*" */
    PYSYM_PARAM,
    PYSYM_TARGET /* for, with, except, :=, match, del, type parameter */
};

/* One binding of one name. A name bound twice has two of them. */
struct pysym {
    enum pysym_kind kind;
    struct span name;
    int scope;
    int earlier;         /* previous binding of this name in this scope */
    int def;             /* FUNCTION, CLASS: index into defs */
    int stmt;            /* innermost statement of stmts that holds it */
    uint32_t start, end; /* the binding statement, decorators included */
    uint32_t value_start, value_end; /* ASSIGN, ANNOTATED, AUGMENTED: the whole
                                        right side; equal when there is none */
    bool unpacked; /* target inside a tuple or list: value is of all */
    /* Imports. `from ..a.b import c as d`: level 2, module "a.b", member "c",
     * name "d". `import a.b` binds "a": module "a.b", aliased false. */
    int level;
    struct span module, member;
    bool aliased;
};

struct pydeco {
    uint32_t start, end; /* the expression after '@' */
    struct span dotted;  /* its name, or that of the function called */
    bool called;
};

struct pybase {
    uint32_t start, end; /* expression (of a keyword: its value) */
    struct span keyword; /* "metaclass", ...; empty for a base */
    struct span dotted;  /* plain dotted name; for X[...] or X(...) that of X;
                            else empty */
};

/* A function or class anywhere in the file, in source order. */
struct pydef {
    bool is_class, is_async;
    struct span name;
    struct span qual;        /* "Outer.Inner", "f.<locals>.C" */
    int outer;               /* definition whose body holds it */
    int sym;                 /* its binding */
    int scope;               /* scope of its body */
    int stmt;                /* innermost statement of stmts that holds it */
    uint32_t start, end;     /* decorators included */
    uint32_t def_start;      /* at "def", "async" or "class" */
    uint32_t body_start;     /* first statement of the body */
    uint32_t line, end_line; /* 1-based, decorators included */
    ARRAY(struct pydeco) decorators;
    ARRAY(struct pybase) bases; /* classes: bases and keywords, in order */
    TSNode node;    /* function_definition or class_definition; valid until
                       pymod_drop_tree */
    bool has_error; /* an ERROR or missing node inside */
    bool python2;   /* a print or exec statement or backticks inside */
};

enum pyread_flags {
    PYREAD_DEFERRED = 1,   /* in the body of a function or lambda: evaluated
                              only when that is called */
    PYREAD_ANNOTATION = 2, /* in an annotation of a parameter, result or
                              variable */
    PYREAD_CALL = 4,       /* the whole dotted name is called */
    PYREAD_STORE = 8,      /* head of an attribute or item that is written:
                              a.b = 1, a[i] = 1, del a.b */
    PYREAD_DECORATOR = 16  /* in a decorator of a definition */
};

/* One read of a name, with the chain of attributes that follows it. */
struct pyread {
    struct span dotted; /* "a.b.c": as written, white space removed */
    struct span name;   /* "a" */
    uint32_t at;        /* offset of the name */
    uint32_t end;       /* of the chain */
    unsigned flags;
    int scope; /* where it is read */
    int bound; /* scope that binds it; 0 also when nothing does
                  (then it is a builtin, star-imported or unknown) */
};

struct pymod {
    char *path;
    struct span text; /* owned: decoded, LF */
    struct pytree tree;
    ARRAY(struct pystmt) stmts;
    ARRAY(struct pyscope) scopes;
    ARRAY(struct pysym) syms;
    ARRAY(int)
    globals; /* indices of syms with scope 0, by offset (a `global`
                declaration's bindings in functions included) */
    ARRAY(struct pydef) defs;
    ARRAY(struct pyread) reads; /* by offset */
    ARRAY(struct span) all;     /* strings of __all__ (=, +=, append, extend) */
    bool has_all;  /* __all__ is there and was understood entirely */
    bool has_star; /* any `from x import *` at module level */
    bool future_annotations;
    uint32_t error_line;   /* as struct pytree */
    uint32_t python2_line; /* print or exec statement, backticks, 0 = none */
    size_t parsed;         /* outline: bytes that the parser was given */
    /* private */
    struct arena arena;
    struct span short_text; /* of an outline, owned */
    ARRAY(uint32_t) line_starts;
    ARRAY(int) scopes_by_start;
    struct map last, first; /* "SCOPE:NAME" -> index + 1 of a binding */
};

/*
 * Parse TEXT (decoded: see py_decode; copied) as file PATH. ERR_TOO_LARGE,
 * ERR_TIMEOUT, ERR_PARSE (scopes nested beyond PY_MAX_DEPTH).
 * A syntax error is not a failure: what can be read is modelled.
 * Free with pymod_free.
 */
#define PY_MAX_DEPTH 200 /* of scopes nested in each other */
struct pymod *pymod_new(struct pyparser *p, const char *path, struct span text,
                        struct err *e);
/* The same for one who asks only for definitions and imports: `reads` stays
 * empty, names bound inside of expressions (lambda, comprehension, :=) are
 * left out, and the syntax tree is given back at once. Of a function that holds
 * no class, import, global declaration or Python 2 only the definition itself
 * is there, its parameters and body are not looked at: nor are errors in them.
 * Spans of names need not point into `text`. A third of the time. */
struct pymod *pymod_new_outline(struct pyparser *p, const char *path,
                                struct span text, struct err *e);
void pymod_free(struct pymod *m);
/* Give back the syntax tree, which takes ten times the text: nodes become
 * invalid, all else stays. */
void pymod_drop_tree(struct pymod *m);

struct span pymod_text(const struct pymod *m, uint32_t start, uint32_t end);
uint32_t pymod_line(const struct pymod *m, uint32_t offset); /* 1-based */
/* Last binding of NAME in SCOPE, or NULL; earlier ones by ->earlier. */
const struct pysym *pymod_lookup(const struct pymod *m, int scope,
                                 struct span name);
/* Binding of NAME as code at offset AT would find it: innermost scope first,
 * class scopes only directly; in the scope that AT itself is in, the last
 * binding before AT if there is one. NULL when nothing binds it. */
const struct pysym *pymod_lookup_at(const struct pymod *m, uint32_t at,
                                    struct span name);
/* Definition by qualified name, last one wins; NULL. */
const struct pydef *pymod_def(const struct pymod *m, struct span qual);
int pymod_scope_at(const struct pymod *m, uint32_t at); /* innermost */
/* Statement without parent that holds AT, or -1. */
int pymod_stmt_at(const struct pymod *m, uint32_t at);
/* Direct methods and attributes of a class: function definition NAME in its
 * body, or NULL. */
const struct pydef *pymod_method(const struct pymod *m, const struct pydef *cls,
                                 const char *name);

/*
 * Free names of the range [START, END): reads in it whose binding scope does
 * not lie inside it. Each dotted name comes once for each set of flags, in
 * order of first appearance; `bound` tells whether it is a name of the module
 * (0: or a builtin) or a local of an enclosing function or class outside the
 * range. A name that a module-level statement both reads and binds is listed.
 */
struct pyreads {
    struct pyread *v;
    size_t n, cap;
};
void pymod_reads(const struct pymod *m, uint32_t start, uint32_t end,
                 struct pyreads *out);
void pyreads_release(struct pyreads *r);

bool py_is_builtin(struct span name); /* of CPython 3.11; dunder names of a
                                         module (__name__, __file__) too */
bool py_is_keyword(struct span name);
/* A name in ASCII that is no keyword. */
bool py_is_identifier(struct span name);
/* Standard-library top-level module of CPython 3.11. */
bool py_is_stdlib(struct span top);
/* Top-level module of a well-known package: torch, numpy, einops, ... */
bool py_is_package(struct span top);

#endif
