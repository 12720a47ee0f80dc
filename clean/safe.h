/* SPDX-License-Identifier: MIT */
/*
 * Rules about what a source may read, by what names stand for: names of
 * lib/py/unsafe.def, modules as values (which open all that they carry to names
 * made at run time), builtins behind names that may not be bound. Each check
 * returns 0, or -1 with BAD set: read I of file F, in UNIT of the closure.
 */
#ifndef KM_CLEAN_SAFE_H
#define KM_CLEAN_SAFE_H

#include "clean/recover.h"

/* Set X: WHAT at offset AT of F, which UNIT holds, and WHY ("" = the code says
 * it). Returns -1. */
int fault_set(struct fault *x, enum err_code code, int unit, uint32_t at,
              const struct cfile *f, struct span what, const char *why);

/* Is what X reads, T, refused by its name? */
bool safe_is_unsafe(const struct cfile *f, const struct pyread *x,
                    const struct target *t);
/* Is T, read by X of F, a module as a value? It may be asked for an attribute
 * by its name. */
bool safe_opens(const struct cfile *f, const struct pyread *x,
                const struct target *t);
/* The part of the chain of read R of F that its target leaves. */
struct span safe_rest(const struct closure *c, struct cfile *f,
                      const struct pyread *r);
/* A name of a function or class: the imports that may bind it. */
int safe_local(struct closure *c, struct cfile *f, size_t i, int unit,
               struct fault *bad);
/* vars() and locals(). */
int safe_builtin(struct closure *c, struct cfile *f, size_t i, int unit,
                 struct fault *bad);
/* A name of the module that hides an unsafe builtin. */
int safe_shadow(struct closure *c, struct cfile *f, size_t i, int unit,
                struct fault *bad);
/* Import S in the body of a class. */
int safe_class_import(struct closure *c, struct cfile *f, const struct pysym *s,
                      int unit, struct fault *bad);
/* Attributes, strings and other findings of UNIT that are refused whatever they
 * resolve to. */
int safe_findings(struct closure *c, int unit, struct fault *bad);

#endif
