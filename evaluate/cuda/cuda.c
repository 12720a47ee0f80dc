/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <dlfcn.h>

#include "evaluate/cuda/cuda.h"

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

int cuda_check(int result, enum err_code code, const char *what, struct err *e)
{
    const char *name = NULL;

    if (result == 0)
        return 0;
    if (!driver.lib || driver.error_name(result, &name) || !name)
        name = "unknown error";
    return err_set(e, code, "%s: %s (%d)", what, name, result);
}
