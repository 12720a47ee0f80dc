/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <dlfcn.h>
#include <glob.h>

#include "evaluate/cuda/cuda.h"
#include "mem.h"

static struct cuda_driver driver;

/* Address of SYMBOL, or NULL with *MISSING set when that is not yet. */
static void *find(void *lib, const char *symbol, const char **missing)
{
    void *at = dlsym(lib, symbol);
    if (!at && !*missing)
        *missing = symbol;
    return at;
}

const struct cuda_driver *cuda_driver(struct err *e)
{
    struct cuda_driver d = {0};
    const char *missing = NULL;
    int rc;

    if (driver.lib)
        return &driver;
    d.lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!d.lib) {
        err_set(e, ERR_UNAVAILABLE, "no CUDA driver: libcuda.so.1 is not here");
        err_hint(e, "run it on a machine with an NVIDIA GPU");
        return NULL;
    }
    /* POSIX's way to a function from an address of data. */
#define CU(name, symbol, arguments)                                            \
    *(void **)&d.name = find(d.lib, symbol, &missing);
#include "evaluate/cuda/cuda.def"
    if (missing) {
        err_set(e, ERR_UNAVAILABLE, "the CUDA driver is too old: no %s",
                missing);
        goto fail;
    }
    rc = d.init(0);
    if (rc) {
        err_set(e, ERR_UNAVAILABLE, "the CUDA driver does not start: error %d",
                rc);
        goto fail;
    }
    driver = d;
    return &driver;
fail:
    dlclose(d.lib);
    return NULL;
}

static void *try_folder(const char *folder, const char *const *names, size_t n)
{
    void *lib = NULL;
    for (size_t i = 0; !lib && i < n; i++) {
        char *path = xasprintf("%s/%s", folder, names[i]);
        lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        free(path);
    }
    return lib;
}

/* The folder above the one that PYTHON lies in, as it is called: that of a
 * virtual environment is a link. */
static void *try_packages(const char *python, const char *const *packages,
                          size_t n_packages)
{
    const char *end = strrchr(python, '/');
    size_t n = end ? (size_t)(end - python) : 0;
    void *lib = NULL;
    while (n > 0 && python[n - 1] != '/')
        n--;
    for (size_t i = 0; n > 0 && !lib && i < n_packages; i++) {
        char *pattern = xasprintf("%.*s%s", (int)n, python, packages[i]);
        glob_t g;
        if (glob(pattern, 0, NULL, &g) == 0) {
            for (size_t k = 0; k < g.gl_pathc && !lib; k++)
                lib = dlopen(g.gl_pathv[k], RTLD_NOW | RTLD_LOCAL);
            globfree(&g);
        }
        free(pattern);
    }
    return lib;
}

void *cuda_library(const char *const *names, size_t n_names,
                   const char *const *packages, size_t n_packages,
                   const char *python)
{
    const char *home = getenv("CUDA_HOME");
    void *lib = NULL;
    if (home && *home) {
        char *folder = xasprintf("%s/lib64", home);
        lib = try_folder(folder, names, n_names);
        free(folder);
    }
    for (size_t i = 0; !lib && i < n_names; i++)
        lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!lib && python) {
        char *real = realpath(python, NULL);
        lib = try_packages(python, packages, n_packages);
        if (!lib && real)
            lib = try_packages(real, packages, n_packages);
        free(real);
    }
    return lib ? lib : try_folder("/usr/local/cuda/lib64", names, n_names);
}

int cuda_check(int result, enum err_code code, const char *what, struct err *e)
{
    const char *name = NULL;

    if (result == 0)
        return 0;
    if (!driver.lib || driver.error_name(result, &name) || !name)
        name = "unknown error";
    return err_set(e, code, "%s: %s (%d)", what, name, result);
}
