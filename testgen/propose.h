/* SPDX-License-Identifier: MIT */
/*
 * Proposals from what the source says: the first state, and a value or an
 * input spec for one more argument when a run asks for it.
 */
#ifndef TESTGEN_PROPOSE_H
#define TESTGEN_PROPOSE_H

#include "testgen/state.h"

/* Changes whenever proposals, refinement or gate change: part of the memo's
 * key. */
#define TESTGEN_VERSION "21"

#define PLAN_BATCH  2
#define PLAN_TOKENS 16
#define PLAN_DIM    64
#define PLAN_NODES  64

/* Value for constructor argument P. EVIDENCE gets a text in A. Never NULL. */
struct val *propose_init(struct arena *a, const struct facts *f,
                         const struct val *state, const struct param *p,
                         const char **evidence);
/* Value that the table has for NAME (NULL: none). */
struct val *propose_by_name(struct arena *a, const struct facts *f,
                            struct span name);
/* One of PATTERNS (names.def) is that of NAME. */
bool propose_name_fits(const char *patterns, struct span name);
/* Input spec for argument P of forward. */
struct val *propose_input(struct arena *a, const struct facts *f,
                          const struct val *state, const struct param *p,
                          const char **evidence);
/* The same for what is read as ARG.FIELD. */
struct val *propose_field(struct arena *a, const struct facts *f,
                          const struct val *state, struct span arg,
                          struct span field, const char **evidence);
/* STATE gets argument P of forward: an input, or, where it is an object, one
 * for each of its fields and EXTRA (may be empty). */
void propose_object(struct arena *a, const struct facts *f, struct val *state,
                    const struct param *p, struct span extra);
void propose_argument(struct arena *a, const struct facts *f, struct val *state,
                      const struct param *p);
/* STATE without objects: each is a tensor. NULL when it has none. */
struct val *propose_tensors(struct arena *a, const struct facts *f,
                            const struct val *state);
/* STATE with sequences for images and images for sequences, where nothing but
 * names and the source as a whole said which; NULL: there are none. */
struct val *propose_other_ranks(struct arena *a, const struct facts *f,
                                const struct val *state);
/* WORD is one of the annotation's identifiers. */
bool annotation_has(struct span annotation, const char *word);
/* Shape of a tensor of RANK as the state's sizes suggest; CHANNELS first when
 * rank > 3 or FIRST. */
void propose_shape(const struct facts *f, const struct val *state, int rank,
                   bool first, int64_t *shape);
/* All required arguments. */
struct val *propose_state(struct arena *a, const struct facts *f);
/* Those that STATE lacks. */
void propose_rest(struct arena *a, const struct facts *f, struct val *state);
/* Integer that constructor argument NAME has in STATE or by default, or
 * DFLT. */
int64_t propose_int(const struct facts *f, const struct val *state,
                    const char *name, int64_t dflt);

#endif
