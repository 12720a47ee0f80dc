/* SPDX-License-Identifier: MIT */
/* Values that are objects: configurations, instances of the source's classes,
 * plain objects with what the source reads. */
#ifndef TESTGEN_OBJECTS_H
#define TESTGEN_OBJECTS_H

#include "testgen/state.h"

/* An instance of the class of the source that annotation or isinstance name
 * for P, or NULL. EVIDENCE gets a text. */
struct val *object_value(struct arena *a, const struct facts *f,
                         const struct param *p, const char **evidence);
/* An object or dict with the attributes that are read from P, with the values
 * that the source has for them; NULL when none are. */
struct val *object_options(struct arena *a, const struct facts *f,
                           const struct param *p, const char **evidence);
/* Class of the source that has all attributes read from P and EXTRA (may be
 * empty), the NTH best by its name; empty when there is none. */
struct span object_like(const struct facts *f, const struct param *p,
                        struct span extra, size_t nth);
/* CLASS(...) with proposals for what its constructor requires, in A. */
const char *object_instance(struct arena *a, const struct facts *f,
                            struct span cls);
/* Class of the source that annotation or isinstance name for P. */
struct span object_class(const struct facts *f, const struct param *p);
/* A default that the source has for option NAME: of getattr, a dataclass or a
 * command line; a Python literal, empty when there is none. */
struct span object_default(const struct facts *f, struct span name);

#endif
