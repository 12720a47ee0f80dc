/* SPDX-License-Identifier: MIT */
/*
 * What km-clean needs to know of one file beyond lib/py's model, found in one
 * walk over its tree: what is to be cut, what is dangerous whatever it
 * resolves to, where imports are nested, where module-level names are bound.
 * All lists are sorted by offset; the tree is not needed afterwards.
 */
#ifndef KM_CLEAN_SCAN_H
#define KM_CLEAN_SCAN_H

#include "clean/policy.h"
#include "py/pymod.h"

/* A range that does not go into the output. */
enum cut_kind {
    CUT_COMMENT,
    CUT_DOC,   /* a string on its own */
    CUT_PRINT, /* print(...) or a call on a logger: decided by `dotted` */
};

struct cut {
    enum cut_kind kind;
    uint32_t start, end;
    int block;          /* index into blocks, -1 = module level or none */
    uint32_t at;        /* CUT_PRINT: offset of the called name */
    struct span dotted; /* CUT_PRINT: as written */
    bool live;          /* CUT_PRINT: set once it resolves to such a call */
};

/* An indented (or one-line) block of statements. */
struct block {
    uint32_t start, end;
    uint32_t n;     /* statements */
    bool optional;  /* runs only on a wish that is off, or with something that
                       is not there: `if pretrained:`, `if has_apex:` */
    bool branch;    /* in a function, and a way past it: if, elif, else, except,
                       case, or the body of a try that catches ImportError */
    bool tried;     /* body of a try that catches ImportError */
    bool caught;    /* body of a try that goes on after any error */
    bool closed;    /* branch of an if statement that has an else */
    bool raises;    /* its last statement raises */
    uint32_t chain; /* branch: start of its if statement; else its own */
    int parent;     /* block around it, -1 = none */
};

struct finding {
    uint32_t at;
    enum err_code code;
    struct span text; /* the name, borrowed; or what it is */
};

/* An import statement. */
struct nimport {
    uint32_t start, end;
    bool guarded;  /* in a try that catches ImportError */
    bool optional; /* in an optional block */
    ARRAY(int) syms;
};

/* getattr(a.b, "name"): resolves like a.b.name; `attr` is empty where it is no
 * plain text. `asks`: hasattr or dir, which give no attribute away. `classes`:
 * `c for c in vars(a.b).values() if isinstance(c, type)`, its classes only.
 * `called`: an annotation that is a text calls a.b in it. */
struct literal_attr {
    bool asks, classes, called;
    uint32_t at;
    struct span dotted, attr;
};

/* An identifier that binds a module-level name. */
struct binder {
    uint32_t at;
    struct span name;
};

/* Half-open byte ranges, sorted, disjoint. */
struct ranges {
    struct range {
        uint32_t start, end;
    } * v;
    size_t n, cap;
};

/* The range that holds AT, or NULL. */
const struct range *ranges_find(const struct ranges *r, uint32_t at);

struct scan {
    ARRAY(struct cut) cuts;
    ARRAY(struct block) blocks;
    ARRAY(struct finding) findings;
    ARRAY(struct nimport) imports;
    ARRAY(struct literal_attr) literals;
    ARRAY(struct binder) binders;
    struct ranges strings;     /* text of string literals */
    struct ranges returns;     /* values of return statements */
    unsigned char *registrars; /* per definition (registrar.c) */
    ARRAY(uint32_t) tries;     /* starts of module-level try statements */
    ARRAY(uint32_t) settings;  /* eval(X) where X may be a text of values */
};

/* M must still have its tree; S borrows from M's text. */
void scan_file(struct scan *s, const struct pymod *m, const struct policy *p);
void scan_release(struct scan *s);
/* Fill in S->registrars. */
void registrar_scan(struct scan *s, const struct pymod *m);

/* Innermost block that holds OFFSET, -1 = none. */
int scan_block_at(const struct scan *s, uint32_t offset);
/* First import at or behind AT. */
size_t scan_imports_from(const struct scan *s, uint32_t at);
/* Index of the import that starts at START, -1 = none. */
int scan_import_at(const struct scan *s, uint32_t start);
/* Is the module-level statement that starts at START a try? */
bool scan_is_try(const struct scan *s, uint32_t start);
/* Is the name at AT that of an eval(X) where X may be a text of values? */
bool scan_is_settings(const struct scan *s, uint32_t at);
/* Is N, vars(x), only asked for classes: `c for c in N.values() if
 * isinstance(c, type)`? */
bool scan_takes_classes(const struct pymod *m, TSNode n);
/* Note what string N, in an annotation, calls: there are those who evaluate it.
 * false = that can not be seen. */
bool scan_annotation(struct scan *s, const struct pymod *m, TSNode n);
/* Is CONDITION false unless somebody asks for weights, reports or a package
 * that is not there? */
bool scan_is_wish(struct span condition);
/* Is C a letter, digit or underscore of ASCII? */
bool scan_is_name_char(char c);
/* Is NAME another one for Python than what stands there: has its normal form
 * NFKC ASCII letters in the place of others? */
bool scan_folds_to_ascii(struct span name);

#endif
