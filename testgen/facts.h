/* SPDX-License-Identifier: MIT */
/*
 * What the source of a module says about its arguments, without running it:
 * signatures of __init__ and forward (inherited ones included) and how each
 * parameter is used. It proposes nothing: propose.h does.
 */
#ifndef TESTGEN_FACTS_H
#define TESTGEN_FACTS_H

#include "array.h"
#include "py/pymod.h"
#include "val.h"

enum param_kind {
    PARAM_POS_ONLY,
    PARAM_POS,
    PARAM_KW,
    PARAM_VAR,
    PARAM_VAR_KW
};

enum param_use {
    USE_ITERATED = 1, /* for, len, zip, *p */
    USE_INDEXED = 2,  /* p[...] */
    USE_CALLED = 4,   /* p(...), or self.p(...) after self.p = p */
    USE_ATTRS = 8,    /* p.name: see attrs */
    USE_ARITH = 16,   /* p * 2, p // 2 */
    USE_LAYER = 32,   /* a size of a torch layer */
    USE_MODULES = 64, /* ModuleList(p), Sequential(*p) */
    USE_KEYED = 128,  /* p["name"], p.get("name"): see attrs */
    USE_RANGE = 256,  /* range(p) */
    USE_BUILT = 512   /* called in __init__: a class or a function */
};

/* Where the values of a tensor argument go first. */
struct first_use {
    int rank;            /* 0 = unknown; negative: at least -rank */
    struct span layer;   /* "Conv2d", "Linear", ... of torch, or empty */
    struct span size;    /* text of the layer's size of this argument */
    struct span pattern; /* left side of an einops pattern, or empty */
    bool ids;            /* integers of an embedding */
};

struct spans {
    struct span *v;
    size_t n, cap;
};

struct param {
    struct span name, annotation, dflt; /* text, empty = none */
    enum param_kind kind;
    bool has_default;
    bool inherited;         /* of a base's constructor, behind **kwargs */
    bool plain;             /* of a function: the constructor takes it too */
    int place;              /* of a function: in its signature */
    unsigned uses;          /* enum param_use */
    int unpacked;           /* a, b, c = p: 3 */
    struct spans choices;   /* strings (without quotes) it is compared to */
    struct spans attrs;     /* also "a.b" of p.a.b, and keys */
    struct spans keys;      /* of p["name"] and p.get("name") */
    struct spans called;    /* those of attrs that are called */
    struct first_use first; /* parameters of forward */
};

struct params {
    struct param *v;
    size_t n, cap;
};

struct facts {
    struct pymod *mod; /* owned */
    const struct pydef *entry;
    bool is_function; /* `entry` is one: see function_signature */
    struct params init, forward;
    struct params fields; /* "data.x": what forward reads of an object `data` */
    int depth;            /* of instances inside instances that are built */
    bool has_var_kw;      /* the constructor takes **kwargs */
    struct spans classes; /* dataclasses and other holders of options */
    struct arena arena;
};

/* SOURCE is copied. ERR_NO_PROPOSAL when ENTRY is no class or function of it.
 */
int facts_read(struct facts *f, struct pyparser *p, struct span source,
               struct span entry, struct err *e) MUST_USE;
void facts_release(struct facts *f);

/* Fill init and forward of F, whose mod and entry are set. */
void facts_signature(struct facts *f);
/* function.c: the same for a function. `forward` has all of its parameters, the
 * `plain` ones as if they had a default; `init` has these. */
void function_signature(struct facts *f);

/* Parameter P is no tensor: attributes or keys are read that tensors lack. */
bool param_is_object(const struct param *p);
/* Attributes (or keys) of P that hold values: no methods, nothing that every
 * tensor has. The array is the caller's. */
void param_fields(const struct param *p, struct spans *out);
/* NAME is an attribute that every tensor has. */
bool is_tensor_attribute(struct span name);
/* S once, at most 64 of them. */
void spans_add(struct spans *list, struct span s);

void params_release(struct params *ps);
struct param *params_find(const struct params *ps, struct span name);

/* Replace the signatures by those that the interpreter reported (lists of
 * {name, kind, has_default, default, annotation}); uses found in the source
 * are kept by name. A NIL list changes nothing. */
void facts_merge(struct facts *f, struct params *ps, const struct val *list);

/* The source defines a class NAME. */
bool facts_has_class(const struct facts *f, struct span name);

#endif
