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
        "os",      "sys",    "builtins", "importlib", "subprocess",
        "socket",  "ctypes", "pickle",   "shutil",    "threading",
        "pathlib", "io",     "tempfile", "_os",       "_sys",
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (span_is(part, names[i]))
            return true;
    return false;
}

const struct py_unsafe *py_unsafe_find(struct span dotted)
{
    const struct py_unsafe *u = judge(dotted);

    if (dotted.n == 0 || u)
        return u;
    for (size_t i = 0; i < dotted.n; i++) {
        struct span part = {dotted.p + i + 1, 0};

        if (dotted.p[i] != '.')
            continue;
        while (i + 1 + part.n < dotted.n && part.p[part.n] != '.')
            part.n++;
        if (!carried_module(part))
            continue;
        part.n = dotted.n - i - 1;
        if (part.p[0] == '_') {
            part.p++;
            part.n--;
        }
        u = judge(part);
        if (u)
            return u;
    }
    return NULL;
}

const struct py_unsafe *py_unsafe_attr(struct span name)
{
    return find(unsafe_attrs, ARRAY_LEN(unsafe_attrs), name);
}
