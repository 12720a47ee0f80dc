/* SPDX-License-Identifier: MIT */
/*
 * A source as the sequence of its tokens, for comparison with others. What
 * says nothing about the program is gone: white space, comments, docstrings,
 * annotations, imports (a use of an imported name is its whole dotted name,
 * attributes included),
 * kind of quotes, spelling of floats, trailing commas, parentheses of
 * expressions, `pass`, and the arguments of super(). Marks tell statements,
 * blocks and operands apart, so that the sequence stands for the syntax tree.
 */
#ifndef KM_CLEAN_TOKENS_H
#define KM_CLEAN_TOKENS_H

#include "hash.h"
#include "py/pymod.h"

enum token_kind {
    TOKEN_MARK,  /* begin of a statement, limits of blocks and operators */
    TOKEN_PLAIN, /* keyword, operator, bracket */
    TOKEN_NAME,  /* scope tells who binds it */
    TOKEN_IMPORTED,
    TOKEN_ATTRIBUTE,
    TOKEN_KEYWORD, /* name of an argument in a call */
    TOKEN_NUMBER,
    TOKEN_STRING
};

struct token {
    enum token_kind kind;
    int scope;        /* NAME: scope that binds it, -1 = none (a builtin);
                         KEYWORD: -1 unless a function of the source takes it */
    uint32_t at;      /* offset in the source */
    struct span text; /* lives as long as the model and the tokens */
};

/* Texts of marks. A group is an operator with its operands, or a tuple. */
#define TOKEN_STATEMENT ";"
#define TOKEN_BLOCK     "{"
#define TOKEN_BLOCK_END "}"
#define TOKEN_GROUP     "("
#define TOKEN_GROUP_END ")"

struct tokens {
    ARRAY(struct token) seq;
    struct arena arena;
};

/* Of M, which must still have its tree. Release with tokens_release. */
void tokens_read(struct tokens *t, const struct pymod *m);
void tokens_release(struct tokens *t);
/* Index of the first token at or behind offset AT. */
size_t tokens_from(const struct tokens *t, uint32_t at);

/* Number of the name K among those of NUMBERS, 1 for the first; 0 when it is
 * no name of the source's own. */
size_t token_number(struct map *numbers, const struct token *k);

/* Append token K to OUT so that no two sequences are the same text: as NUMBER,
 * or as it stands where that is 0. */
void token_put(struct buf *out, const struct token *k, size_t number);

/* What the symbol S stands for through its import ("torch.nn"), or an empty
 * span. Arena A holds what has to be put together. */
struct span tokens_imported(const struct pysym *s, struct arena *a);

/*
 * Digest of a whole source under which exact duplicates are equal: names of
 * classes, functions, variables and parameters are replaced by the order in
 * which they first occur; attributes and keywords count, and which class it is
 * about: the one that begins at token ENTRY.
 */
void tokens_digest(const struct tokens *t, size_t entry,
                   char out[HASH_HEX + 1]);

/*
 * Hashes of all runs of N successive tokens (marks left out) of [FROM, TO),
 * appended to OUT, sorted, each once, 32 bits. TEXTS gives the hash of each
 * token's text as it counts (0 = leave it out), as tokens_plain makes it.
 */
struct grams {
    uint32_t *v;
    size_t n, cap;
};
void tokens_grams(const uint64_t *texts, size_t from, size_t to, unsigned n,
                  struct grams *out);
/* Hash of each token's text as it stands; caller frees. */
uint64_t *tokens_plain(const struct tokens *t);

#endif
