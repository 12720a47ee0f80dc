/* SPDX-License-Identifier: MIT */
/*
 * Which functions of a file compute on tensors. Names are resolved through the
 * repository, parameters by scope; what a parameter is used for says whether it
 * is a tensor: it is annotated as one, given to a function of torch as the
 * first argument, or asked for what only tensors have.
 */
#include "base.h"

#include "harvest/functions.h"

struct look {
    struct pyrepo *repo;
    const struct pymod *outline; /* what REPO knows the file by */
    const struct pymod *m;       /* the same, read in full */
    const struct pydef *d;
    bool tensor;   /* a parameter is one */
    bool computes; /* something of torch is called, or reckoned with one */
    bool refused;
};

/* Attributes that tensors have and neither arrays, texts, lists nor modules. */
static const char *const of_tensors[] = {"abs_",
                                         "add_",
                                         "bmm",
                                         "chunk",
                                         "clamp",
                                         "clamp_",
                                         "clamp_max",
                                         "clamp_min",
                                         "contiguous",
                                         "copy_",
                                         "cumsum",
                                         "div_",
                                         "erf",
                                         "exp",
                                         "expand",
                                         "expand_as",
                                         "fill_",
                                         "gather",
                                         "index_add_",
                                         "index_copy_",
                                         "index_select",
                                         "is_floating_point",
                                         "log_softmax",
                                         "logsumexp",
                                         "masked_fill",
                                         "masked_fill_",
                                         "masked_select",
                                         "matmul",
                                         "mm",
                                         "mul",
                                         "mul_",
                                         "narrow",
                                         "neg",
                                         "new_empty",
                                         "new_full",
                                         "new_ones",
                                         "new_tensor",
                                         "new_zeros",
                                         "permute",
                                         "pow",
                                         "relu",
                                         "repeat_interleave",
                                         "rsqrt",
                                         "scatter",
                                         "scatter_",
                                         "scatter_add",
                                         "scatter_add_",
                                         "sigmoid",
                                         "softmax",
                                         "sqrt",
                                         "sub_",
                                         "tanh",
                                         "topk",
                                         "tril",
                                         "triu",
                                         "type_as",
                                         "unbind",
                                         "unflatten",
                                         "unsqueeze",
                                         "unsqueeze_",
                                         "view",
                                         "view_as",
                                         "where",
                                         "zero_"};

/* Attributes of models, optimizers and files: such an argument can't be an
 * input. */
static const char *const of_others[] = {"backward",
                                        "children",
                                        "eval",
                                        "load_state_dict",
                                        "modules",
                                        "named_modules",
                                        "named_parameters",
                                        "parameters",
                                        "register_forward_hook",
                                        "state_dict",
                                        "step",
                                        "train",
                                        "write",
                                        "zero_grad",
                                        "add_argument",
                                        "register_buffer"};

/* Functions of torch that take no tensor, or run nothing. */
static const char *const no_tensor[] = {
    "arange",   "as_tensor",  "compile",  "device",        "empty",
    "eye",      "from_numpy", "full",     "get_rng_state", "is_tensor",
    "linspace", "load",       "logspace", "manual_seed",   "ones",
    "rand",     "randint",    "randn",    "randperm",      "save",
    "tensor",   "typename",   "zeros",    "set_rng_state"};

/* Decorators of what is no plain function. */
static const char *const refused_decorators[] = {
    "abc",      "click",       "contextlib", "fire",          "flask",
    "fixture",  "hydra",       "jit",        "numba",         "overload",
    "pytest",   "triton",      "typer",      "typing",        "command",
    "property", "parametrize", "fastapi",    "cuda",          "njit",
    "autotune", "heuristics",  "custom_op",  "register_fake", "contextmanager",
    "pallas",   "jax"};

static struct span first_of(struct span dotted)
{
    const char *dot = dotted.n ? memchr(dotted.p, '.', dotted.n) : NULL;
    return dot ? (struct span){dotted.p, (size_t)(dot - dotted.p)} : dotted;
}

/* What read X names outside of the repository ("torch.relu"); empty: nothing
 * there. */
static struct span external(const struct look *l, const struct pyread *x)
{
    uint32_t at = PY_AT_MODULE;
    if (x->bound > 0) {
        const struct pysym *s = pymod_lookup(l->m, x->bound, x->name);
        if (!s || (s->kind != PYSYM_IMPORT && s->kind != PYSYM_FROM))
            return (struct span){NULL, 0};
        at = x->at; /* an import of the function's own */
    }
    struct pyref ref = pyrepo_deref(
        l->repo, pyrepo_resolve(l->repo, l->outline, at, x->dotted));
    return ref.kind == PYREF_EXTERNAL ? ref.dotted : (struct span){NULL, 0};
}

/* A function of torch that computes on its first argument. */
static bool is_operator(struct span dotted)
{
    struct span name = span_last_part(dotted);
    if (!span_starts(dotted, "torch.") || name.n == 0 ||
        (name.p[0] >= 'A' && name.p[0] <= 'Z'))
        return false;
    if (memchr(dotted.p + 6, '.', dotted.n - 6) &&
        !span_starts(dotted, "torch.nn.functional.") &&
        !span_starts(dotted, "torch.linalg.") &&
        !span_starts(dotted, "torch.fft.") &&
        !span_starts(dotted, "torch.special.") &&
        !span_starts(dotted, "torch.Tensor."))
        return false;
    return !span_in(name, no_tensor, ARRAY_LEN(no_tensor)) &&
           !span_starts(name, "is_") && !span_starts(name, "set_") &&
           !span_starts(name, "get_");
}

/* Is parameter NAME annotated as a number, a text or the like, or has it one as
 * its default? */
static bool is_plain(const struct look *l, struct span name)
{
    static const char *const plain[] = {"int", "float", "bool",
                                        "str", "dtype", "device"};
    TSNode list = pynode_field(l->d->node, "parameters");
    for (uint32_t i = 0; i < ts_node_named_child_count(list); i++) {
        TSNode p = ts_node_named_child(list, i), value, type, at;
        at = pynode_is(p, "typed_parameter") ? ts_node_named_child(p, 0)
                                             : pynode_field(p, "name");
        if (!span_eq(pynode_text(l->m->text, at), name))
            continue;
        value = pynode_field(p, "value");
        type = pynode_field(p, "type");
        struct span t = pynode_text(l->m->text, type);
        if (pynode_is(value, "integer") || pynode_is(value, "float") ||
            pynode_is(value, "string") || pynode_is(value, "true") ||
            pynode_is(value, "false"))
            return true;
        for (size_t k = 0; k < ARRAY_LEN(plain); k++)
            if (span_has_word(t, span_str(plain[k])))
                return !span_has_word(t, SPAN_LIT("Tensor"));
        return false;
    }
    return false;
}

static bool is_parameter(const struct look *l, struct span name)
{
    const struct pysym *s = pymod_lookup(l->m, l->d->scope, name);
    for (; s; s = s->earlier < 0 ? NULL : &l->m->syms.v[s->earlier])
        if (s->kind == PYSYM_PARAM)
            return !is_plain(l, name);
    return false;
}

/* The operator at the read that starts at AT, if it is one. */
static struct span operator_at(const struct look *l, uint32_t at)
{
    for (size_t lo = 0, hi = l->m->reads.n; lo < hi;) {
        size_t mid = (lo + hi) / 2;
        const struct pyread *x = &l->m->reads.v[mid];
        if (x->at == at)
            return external(l, x);
        if (x->at < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return (struct span){NULL, 0};
}

static void see_call(struct look *l, TSNode n)
{
    TSNode callee = pynode_field(n, "function");
    TSNode args = pynode_field(n, "arguments");
    struct span dotted = operator_at(l, ts_node_start_byte(callee));
    if (!is_operator(dotted) || ts_node_is_null(args))
        return;
    l->computes = true;
    TSNode first = ts_node_named_child(args, 0);
    if (pynode_is(first, "keyword_argument"))
        first = pynode_field(first, "value");
    if (pynode_is(first, "list") || pynode_is(first, "tuple"))
        first = ts_node_named_child(first, 0);
    l->tensor |= pynode_is(first, "identifier") &&
                 is_parameter(l, pynode_text(l->m->text, first));
}

static bool enter(void *payload, TSNode n, const char *field, uint32_t depth)
{
    struct look *l = payload;
    (void)field;
    (void)depth;
    if (pynode_is(n, "call")) {
        see_call(l, n);
    } else if (pynode_is(n, "yield") || pynode_is(n, "await")) {
        l->refused = true;
    } else if (pynode_is(n, "binary_operator")) {
        TSNode side[] = {pynode_field(n, "left"), pynode_field(n, "right")};
        for (int i = 0; i < 2; i++)
            l->computes |= pynode_is(side[i], "identifier") &&
                           is_parameter(l, pynode_text(l->m->text, side[i]));
    }
    return true;
}

/* "b" of the read "a.b.c". */
static struct span second_of(const struct pyread *x)
{
    size_t skip = x->name.n + 1;
    if (x->dotted.n <= skip)
        return (struct span){NULL, 0};
    return first_of((struct span){x->dotted.p + skip, x->dotted.n - skip});
}

static void see_reads(struct look *l)
{
    for (size_t i = 0; i < l->m->reads.n && l->m->reads.v[i].at < l->d->end;
         i++) {
        const struct pyread *x = &l->m->reads.v[i];
        struct span attr = second_of(x);
        if (x->at < l->d->def_start)
            continue;
        if (x->flags & PYREAD_ANNOTATION) {
            struct span to = span_last_part(external(l, x));
            TSNode list = pynode_field(l->d->node, "parameters");
            l->tensor |= x->at < ts_node_end_byte(list) &&
                         (span_is(to, "Tensor") || span_is(to, "FloatTensor") ||
                          span_is(to, "LongTensor"));
            continue;
        }
        if (x->bound != l->d->scope || attr.n == 0 || !is_parameter(l, x->name))
            continue;
        if (span_in(attr, of_tensors, ARRAY_LEN(of_tensors)))
            l->tensor = l->computes = true;
        l->refused |= span_in(attr, of_others, ARRAY_LEN(of_others));
    }
}

static bool is_refused(const struct pydef *d)
{
    for (size_t i = 0; i < d->decorators.n; i++) {
        struct span s = d->decorators.v[i].dotted;
        struct span first = first_of(s), last = span_last_part(s);
        if (span_is(s, "torch.jit.script") || span_is(s, "jit.script"))
            continue;
        if (span_in(first, refused_decorators, ARRAY_LEN(refused_decorators)) ||
            span_in(last, refused_decorators, ARRAY_LEN(refused_decorators)))
            return true;
    }
    return d->is_async || span_is(d->name, "main") ||
           span_starts(d->name, "test_") || span_starts(d->name, "__");
}

bool functions_wants(struct span path)
{
    static const char *const folders[] = {"test",  "tests",     "testing",
                                          "_test", "unittests", "unit_tests"};
    struct span name = path;
    const char *slash;
    while (name.n > 0 && (slash = memchr(name.p, '/', name.n)) != NULL) {
        struct span part = {name.p, (size_t)(slash - name.p)};
        if (span_in(part, folders, ARRAY_LEN(folders)))
            return false;
        name = (struct span){slash + 1, name.n - part.n - 1};
    }
    return !span_starts(name, "test_") && !span_ends(name, "_test.py") &&
           !span_is(name, "tests.py") && !span_is(name, "conftest.py") &&
           !span_is(name, "setup.py");
}

bool function_computes(struct pyrepo *repo, const struct pymod *outline,
                       const struct pymod *full, const struct pydef *d)
{
    struct look l = {.repo = repo, .outline = outline, .m = full, .d = d};
    struct pyvisit v = {enter, NULL, &l};
    if (d->is_class || d->outer >= 0 || is_refused(d) ||
        full->stmts.v[d->stmt].is_main)
        return false;
    see_reads(&l);
    if (l.refused)
        return false;
    pytree_walk(pynode_field(d->node, "body"), &v);
    return l.tensor && l.computes && !l.refused;
}
