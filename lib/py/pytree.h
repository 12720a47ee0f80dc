/* SPDX-License-Identifier: MIT */
/*
 * Python source as text and as a tree. Decoding follows PEP 263; parsing is
 * tree-sitter's, which repairs what it cannot read: a tree is no proof that
 * the source is valid. Nothing here recurses on the input's nesting.
 */
#ifndef KM_PY_PYTREE_H
#define KM_PY_PYTREE_H

#include "buf.h"
#include "err.h"

#include <tree_sitter/api.h>

/* Larger sources are refused (ERR_TOO_LARGE): error recovery of the parser
 * grows faster than the input. */
#define PY_MAX_SOURCE (1u << 20)
/* Default time for one file, in microseconds of the wall clock (the smallest
 * files take 0.1 ms, the slowest of 11,577 real ones took 80 ms). */
#define PY_PARSE_US 10000000u

/* The grammar, linked in. */
extern const TSLanguage *tree_sitter_python(void);

/*
 * Append RAW to OUT as UTF-8 with LF line ends: byte order mark removed, coding
 * line of PEP 263 honoured (through iconv), CRLF and lone CR turned into LF.
 * Without a coding line RAW must be UTF-8. The coding line itself stays.
 * ERR_ENCODING (offset of the first bad byte, or the unknown name; also a NUL
 * byte, which no Python file may contain), ERR_TOO_LARGE.
 */
int py_decode(struct buf *out, struct span raw, struct err *e) MUST_USE;

struct pyparser; /* not shared by threads; reused for many files */
/* NULL with ERR_VERSION when library and grammar do not fit each other. */
struct pyparser *pyparser_new(struct err *e);
/* For the grammar LANG instead of the one linked in. */
struct pyparser *pyparser_for(const TSLanguage *lang, struct err *e);
void pyparser_free(struct pyparser *p);

/* TEXT is borrowed and must outlive the tree. */
struct pytree {
    struct span text;
    TSTree *tree;
    uint32_t error_line; /* of the first ERROR or missing node, 0 = none */
};

/* ERR_TOO_LARGE, ERR_TIMEOUT. A syntax error is no failure: see error_line.
 * TIMEOUT_US 0 = PY_PARSE_US. */
int pytree_parse(struct pytree *t, struct pyparser *p, struct span text,
                 uint64_t timeout_us, struct err *e) MUST_USE;
void pytree_release(struct pytree *t);

/* Helpers on nodes. A null node, at which the library's own functions crash,
 * gives an empty span, false, 0 or a null node. */
struct span pynode_text(struct span text, TSNode n); /* borrows from TEXT */
bool pynode_is(TSNode n, const char *type);
TSNode pynode_field(TSNode n, const char *field); /* FIELD: a literal */
TSNode pynode_child(TSNode n, uint32_t i);        /* the I-th named one */
uint32_t pynode_count(TSNode n);                  /* of named children */
TSNode pynode_parent(TSNode n);
uint32_t pynode_end(TSNode n);      /* byte offset */
uint32_t pynode_line(TSNode n);     /* 1-based */
uint32_t pynode_end_line(TSNode n); /* last line that holds a byte of it */
/* Dotted text of an identifier or a chain of attributes of identifiers
 * ("a.b.c", no white space or comment inside), else an empty span. */
struct span pynode_dotted(struct span text, TSNode n);

/*
 * Visit the nodes under ROOT in source order, named and anonymous. ENTER
 * returns whether to go into the children; LEAVE (may be NULL) is called after
 * them for every node that was entered. DEPTH is 0 at ROOT. FIELD is the
 * node's field name in its parent, or NULL.
 */
struct pyvisit {
    bool (*enter)(void *payload, TSNode n, const char *field, uint32_t depth);
    void (*leave)(void *payload, TSNode n, uint32_t depth);
    void *payload;
};
void pytree_walk(TSNode root, const struct pyvisit *v);

#endif
