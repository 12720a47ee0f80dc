/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "py/unsafe.h"

static const struct py_unsafe unsafe_names[] = {
#define UNSAFE(name, what)      {name, what, false},
#define UNSAFE_CALL(name, what) {name, what, true},
#include "py/unsafe.def"
};

static const struct py_unsafe safe_names[] = {
#define SAFE(name) {name, NULL, false},
#include "py/unsafe.def"
};

static const struct py_unsafe unsafe_attrs[] = {
#define UNSAFE_ATTR(name, what) {name, what, false},
#include "py/unsafe.def"
};

static const struct py_unsafe unsafe_results[] = {
#define UNSAFE_RESULT(name, what) {name, what, false},
#include "py/unsafe.def"
};

static const struct py_unsafe module_names[] = {
#define MODULE(name) {name, "module", false},
#include "py/modules.def"
};

static const struct py_unsafe *find(const struct py_unsafe *t, size_t n,
                                    struct span key)
{
    size_t lo = 0, hi = n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        size_t len = strlen(t[mid].name);
        int c = memcmp(t[mid].name, key.p, MIN(len, key.n));

        if (c == 0)
            c = len < key.n ? -1 : len > key.n;
        if (c == 0)
            return &t[mid];
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

/* Longest whole-component prefix of NAME in T. */
static const struct py_unsafe *find_prefix(const struct py_unsafe *t, size_t n,
                                           struct span name)
{
    while (name.n > 0) {
        const struct py_unsafe *u = find(t, n, name);

        if (u)
            return u;
        do
            name.n--;
        while (name.n > 0 && name.p[name.n] != '.');
    }
    return NULL;
}

static const struct py_unsafe *judge(struct span dotted)
{
    const struct py_unsafe *bad =
        find_prefix(unsafe_names, ARRAY_LEN(unsafe_names), dotted);
    const struct py_unsafe *good =
        find_prefix(safe_names, ARRAY_LEN(safe_names), dotted);

    if (bad && good && strlen(good->name) > strlen(bad->name))
        return NULL;
    return bad;
}

/* Modules that others import and so carry as attributes. */
static bool carried_module(struct span part)
{
    static const char *const names[] = {
        "_io",       "_os",         "_socket",
        "_sys",      "_thread",     "atexit",
        "builtins",  "codecs",      "concurrent",
        "ctypes",    "dataclasses", "dis",
        "glob",      "gzip",        "importlib",
        "inspect",   "io",          "json",
        "linecache", "logging",     "multiprocessing",
        "np",        "numpy",       "os",
        "pathlib",   "pickle",      "pkgutil",
        "platform",  "random",      "shutil",
        "socket",    "subprocess",  "sys",
        "tempfile",  "threading",   "tokenize",
        "torch",     "types",       "typing",
        "unittest",  "zipfile",
    };

    return span_in(part, names, ARRAY_LEN(names));
}

bool py_is_inner_module(struct span dotted, bool *pure)
{
    static const struct {
        const char *name;
        bool pure;
    } modules[] = {
#define MODULE(name)      {name, false},
#define PURE_MODULE(name) {name, true},
#include "py/unsafe.def"
    };

    *pure = false;
    if (find(module_names, ARRAY_LEN(module_names), dotted))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(modules); i++) {
        if (!span_is(dotted, modules[i].name))
            continue;
        *pure = modules[i].pure;
        return true;
    }
    return false;
}

/* The names of a module or the module of a builtin, by text or item. */
static bool opens_module(struct span part)
{
    return span_is(part, "__dict__") || span_is(part, "__self__");
}

/* torch.__getattribute__("load"): of a module; a class has such a method to
 * call. BEFORE: what it is asked of. */
static bool asks_module(struct span before, struct span part)
{
    const char *dot = memrchr(before.p, '.', before.n);
    char first = dot ? dot[1] : before.p[0];

    return (span_is(part, "__getattribute__") ||
            span_is(part, "__getattr__")) &&
           !(first >= 'A' && first <= 'Z') && !span_starts(before, "builtins.");
}

/* REST, from a carried module on, as if it were imported by its own name. */
static const struct py_unsafe *judge_carried(struct span rest)
{
    static const struct py_unsafe whole = {"torch", "code", false};
    const struct py_unsafe *u = judge(rest);
    struct span np = {rest.p + 2, rest.n - 2};

    if (span_is(rest, "torch") || span_is(rest, "np"))
        return &whole; /* as a value it opens all */
    if (!u && span_starts(rest, "np.") && np.n < 100) {
        char name[128];

        snprintf(name, sizeof(name), "numpy%.*s", (int)np.n, np.p);
        u = judge(span_str(name));
    }
    if (!u && rest.p[0] == '_')
        u = judge((struct span){rest.p + 1, rest.n - 1});
    return u;
}

const struct py_unsafe *py_unsafe_find(struct span dotted)
{
    static const struct py_unsafe opened = {"__dict__", "code", false};
    const struct py_unsafe *u = judge(dotted);

    if (dotted.n == 0 || u)
        return u;
    if (find(safe_names, ARRAY_LEN(safe_names), dotted))
        return NULL;
    for (size_t i = 0; i < dotted.n; i++) {
        struct span part = {dotted.p + i + 1, 0};

        if (dotted.p[i] != '.')
            continue;
        while (i + 1 + part.n < dotted.n && part.p[part.n] != '.')
            part.n++;
        if (opens_module(part) || asks_module((struct span){dotted.p, i}, part))
            return &opened;
        if (!carried_module(part))
            continue;
        part.n = dotted.n - i - 1;
        u = judge_carried(part);
        if (u)
            return u;
    }
    return NULL;
}

bool py_is_class_module(struct span dotted)
{
    static const char *const names[] = {
#define CLASS_MODULE(name) name,
#include "py/unsafe.def"
    };

    return span_in(dotted, names, ARRAY_LEN(names));
}

bool py_unsafe_module(struct span name)
{
    static const char *const names[] = {
        "builtins", "importlib", "os", "shutil", "socket", "subprocess", "sys"};

    return span_in(name, names, ARRAY_LEN(names));
}

const struct py_unsafe *py_unsafe_attr(struct span name)
{
    return find(unsafe_attrs, ARRAY_LEN(unsafe_attrs), name);
}

const struct py_unsafe *py_unsafe_result(struct span name)
{
    return find(unsafe_results, ARRAY_LEN(unsafe_results), name);
}
