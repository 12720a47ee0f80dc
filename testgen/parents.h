/* SPDX-License-Identifier: MIT */
/*
 * Modules that found nothing to run with learn from those that hold them: a
 * parent that runs builds its children with real arguments and gives them real
 * inputs. Results are held back until a repository is through, then the failed
 * ones are handed out again with the tasks of their parents.
 */
#ifndef TESTGEN_PARENTS_H
#define TESTGEN_PARENTS_H

#include "buf.h"
#include "err.h"
#include "val.h"

/* Records after which the end of a repository is one of the batch; and after
 * which the batch ends anywhere. */
#define PARENTS_BATCH 512
#define PARENTS_MAX   16384
/* Parents that one module learns from. */
#define PARENTS_EACH 3

struct parents;
struct parents *parents_new(struct err *e);
void parents_free(struct parents *p);

/* The next record in order: ITEM as it came in (packed), OUT what became of it
 * ({rec, task}, task a text that ran or came near; empty for a record that
 * only keeps its place). 0 or -1. */
int parents_hold(struct parents *p, struct span item, struct span out,
                 struct err *e) MUST_USE;
/* What a second try gave instead, packed as OUT above. */
int parents_replace(struct parents *p, size_t index, struct span out,
                    struct err *e) MUST_USE;
size_t parents_count(const struct parents *p);
/* {rec, index, parents: [{rec, task}]} for the record INDEX, packed; OUT stays
 * empty when it needs no second try or nothing that runs holds it. */
int parents_lesson(struct parents *p, size_t index, struct buf *out,
                   struct err *e) MUST_USE;
/* The record INDEX as it is to be written, packed. */
int parents_final(struct parents *p, size_t index, struct buf *out,
                  struct err *e) MUST_USE;
/* Start over with nothing held. */
int parents_clear(struct parents *p, struct err *e) MUST_USE;

#endif
