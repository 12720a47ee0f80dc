/* SPDX-License-Identifier: MIT */
/*
 * Python names that reach out of the program: processes, network, files, code
 * made at run time, frames, native libraries. The table is unsafe.def. Static
 * rules are no sandbox: they keep such code out of a data set and name the
 * reason; what runs untrusted code still isolates it.
 */
#ifndef KM_PY_UNSAFE_H
#define KM_PY_UNSAFE_H

#include "base.h"

struct py_unsafe {
    const char *name;
    const char *what; /* process, network, file, code, system, thread, frame,
                         native; NULL: an exception, safe */
    bool call;        /* only where it is called or gone into: the bare name
                         stands in isinstance() and the like */
};

/*
 * Entry that makes the resolved name DOTTED ("torch.load", "builtins.open")
 * unsafe, or NULL. A module reached through another one ("torch.os.system")
 * is looked at as itself.
 */
const struct py_unsafe *py_unsafe_find(struct span dotted);

/* Is DOTTED a module inside of a package that an allowed source imports? *PURE:
 * none of its attributes is dangerous. */
bool py_is_inner_module(struct span dotted, bool *pure);

/* Is DOTTED a module of which all classes may be taken, whatever their names?
 */
bool py_is_class_module(struct span dotted);

/* Is NAME a module that as an attribute of an unknown object is that module and
 * nothing else: x.os? */
bool py_unsafe_module(struct span name);

/* Entry for an attribute NAME of any object, or NULL. */
const struct py_unsafe *py_unsafe_attr(struct span name);

/* Entry for a method NAME of an object that a call gave, of a class that nobody
 * knows, or NULL. */
const struct py_unsafe *py_unsafe_result(struct span name);

#endif
