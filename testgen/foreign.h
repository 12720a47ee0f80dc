/* SPDX-License-Identifier: MIT */
/*
 * Tasks in other people's forms, told apart by content. Each function makes a
 * draft of one: the record's name, place and origin, and the text that will
 * say the rest when it runs (examine.h).
 */
#ifndef TESTGEN_FOREIGN_H
#define TESTGEN_FOREIGN_H

#include "py/pytree.h"
#include "val.h"

#define FOREIGN_AXIS 64 /* a variable axis of which nothing else is known */

struct draft {
    struct val *task;          /* kind task, not sealed */
    struct span source, entry; /* the class; may be defined by the tail */
    struct span tail;          /* stands behind the source, may be empty */
};

/* All return 0; 1 = none of this form; -1 with ERR_BROKEN_INPUT,
 * ERR_NO_PROPOSAL (its inputs can't be drawn), ERR_TOO_LARGE and, for Python,
 * those of the parser. PATH is told in the
 * record (origin.path), and the numbers in it say level and problem. Results
 * are in A or borrow from the arguments. */

/* A file with a class, get_inputs and mostly get_init_inputs. */
int foreign_python(struct draft *d, struct arena *a, struct pyparser *p,
                   const char *path, struct span text, struct err *e) MUST_USE;
/* A folder of robust-kbench: func_forward.py, and the parsed
 * config_forward.json. */
int foreign_folder(struct draft *d, struct arena *a, const char *path,
                   struct span text, const struct val *config,
                   struct err *e) MUST_USE;
/* A definition of FlashInfer-Bench; WORKLOAD is one of its workloads, or
 * NULL. */
int foreign_definition(struct draft *d, struct arena *a, const char *path,
                       const struct val *v, const struct val *workload,
                       struct err *e) MUST_USE;
/* A row of a data set that holds such a file as text. */
int foreign_row(struct draft *d, struct arena *a, const char *path,
                const struct val *v, struct err *e) MUST_USE;

#endif
