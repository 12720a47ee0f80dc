/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <dlfcn.h>

#include "embed.h"
#include "evaluate/cuda/cuda.h"
#include "mem.h"

#define LOG_MAX (64u << 10)

static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12",
                                    "libnvrtc.so"};
/* Where PyTorch's packages have it, below the interpreter's prefix. */
static const char *const packages[] = {
    "lib/python3*/site-packages/nvidia/cu1*/lib/libnvrtc.so.1[0-9]",
    "lib/python3*/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.1[0-9]"};

EMBED_DECLARE(common_cuh);
EMBED_DECLARE(passed_h);
EMBED_DECLARE(km_candidate_h);

/* The compiler has no headers of the system. */
static const char stdint_h[] = "typedef signed char int8_t;\n"
                               "typedef short int16_t;\n"
                               "typedef int int32_t;\n"
                               "typedef long long int64_t;\n"
                               "typedef unsigned char uint8_t;\n"
                               "typedef unsigned short uint16_t;\n"
                               "typedef unsigned uint32_t;\n"
                               "typedef unsigned long long uint64_t;\n";

/* Of the headers that a kernel written for nvcc includes out of habit, what
 * there is no other way to: functions are built in. */
static const char limits_h[] = "#pragma once\n"
                               "#define INT_MAX 2147483647\n"
                               "#define INT_MIN (-INT_MAX - 1)\n"
                               "#define UINT_MAX 4294967295u\n"
                               "#define LLONG_MAX 9223372036854775807ll\n"
                               "#define LLONG_MIN (-LLONG_MAX - 1)\n"
                               "#define INT64_MAX LLONG_MAX\n"
                               "#define INT64_MIN LLONG_MIN\n"
                               "#define FLT_MAX 3.402823466e+38f\n"
                               "#define FLT_MIN 1.175494351e-38f\n"
                               "#define FLT_EPSILON 1.192092896e-07f\n"
                               "#define DBL_MAX 1.7976931348623157e+308\n"
                               "#define DBL_EPSILON 2.2204460492503131e-16\n";
static const char empty_h[] = "\n";

/* What sources may include; an embedded text ends with a NUL. */
static const char *const header_names[] = {"stdint.h",
                                           "evaluate/cuda/common.cuh",
                                           "evaluate/cuda/passed.h",
                                           "evaluate/km_candidate.h",
                                           "cstdint",
                                           "limits.h",
                                           "climits",
                                           "float.h",
                                           "cfloat",
                                           "math.h",
                                           "cmath",
                                           "stdio.h",
                                           "cstdio",
                                           "stdlib.h",
                                           "cstdlib"};
static const char *const header_texts[] = {stdint_h,
                                           km_embed_common_cuh,
                                           km_embed_passed_h,
                                           km_embed_km_candidate_h,
                                           stdint_h,
                                           limits_h,
                                           limits_h,
                                           limits_h,
                                           limits_h,
                                           empty_h,
                                           empty_h,
                                           empty_h,
                                           empty_h,
                                           empty_h,
                                           empty_h};
_Static_assert(ARRAY_LEN(header_names) == ARRAY_LEN(header_texts), "headers");
/* As macros, also without their header. */
static const char *const constants[] = {
    "-DINFINITY=__int_as_float(0x7f800000)", "-DNAN=__int_as_float(0x7fffffff)",
    "-DM_PI=3.14159265358979323846", "-DM_SQRT1_2=0.70710678118654752440",
    "-DM_SQRT2=1.41421356237309504880"};

const struct nvrtc *nvrtc_open(const char *python, struct err *e)
{
    static struct nvrtc opened;
    struct nvrtc n = {0};
    bool all = true;

    if (opened.lib)
        return &opened;
    n.lib = cuda_library(names, ARRAY_LEN(names), packages, ARRAY_LEN(packages),
                         python);
    if (!n.lib) {
        err_set(e, ERR_UNAVAILABLE, "no CUDA compiler: libnvrtc is not here");
        err_hint(e, "set CUDA_HOME, or use a python with PyTorch for CUDA");
        return NULL;
    }
#define NV(name, symbol, arguments)                                            \
    *(void **)&n.name = dlsym(n.lib, symbol);                                  \
    all = all && n.name;
#include "evaluate/cuda/cuda.def"
    if (!all) {
        err_set(e, ERR_UNAVAILABLE, "libnvrtc is too old");
        dlclose(n.lib);
        return NULL;
    }
    opened = n;
    return &opened;
}

/* The log's first error, else its first line. */
static void tell(const struct nvrtc *n, void *program, const char *name,
                 struct err *e)
{
    size_t size = 0;
    char *log, *line;

    if (n->log_size(program, &size) || size == 0 || size > LOG_MAX) {
        err_set(e, ERR_PARSE, "%s cannot be compiled", name);
        return;
    }
    log = xcalloc(1, size + 1);
    if (n->log(program, log))
        log[0] = '\0';
    line = strstr(log, "error");
    while (line && line > log && line[-1] != '\n')
        line--;
    line = line ? line : log;
    line[strcspn(line, "\n")] = '\0';
    err_set(e, ERR_PARSE, "%s cannot be compiled: %s", name, line);
    free(log);
}

#define OPTIONS 16

static int compile(const struct nvrtc *n, void *program,
                   const struct nvrtc_conf *c)
{
    const char *options[OPTIONS];
    char arch[40], folders[OPTIONS][PATH_MAX];
    size_t k = 0;

    /* What is of just one generation is named with an "a". */
    snprintf(arch, sizeof(arch), "--gpu-architecture=sm_%d%s", c->cc,
             c->candidate && c->cc >= 90 ? "a" : "");
    options[k++] = arch;
    options[k++] = "--std=c++17";
    for (size_t i = 0; c->candidate && i < ARRAY_LEN(constants); i++)
        options[k++] = constants[i];
    if (!c->candidate) {
        options[k++] = "--fmad=false";
        options[k++] = "-default-device"; /* functions of km_candidate.h */
    }
    for (size_t i = 0; i < c->n_folders && k < OPTIONS; i++, k++) {
        snprintf(folders[i], sizeof(folders[i]), "-I%s", c->folders[i]);
        options[k] = folders[i];
    }
    return n->compile(program, (int)k, options);
}

/* The symbols of C's kernels. */
static int name_kernels(const struct nvrtc *n, void *program,
                        const struct nvrtc_conf *c, struct err *e)
{
    for (size_t i = 0; i < c->n_kernels; i++) {
        const char *symbol = NULL;
        if (n->symbol(program, c->kernels[i], &symbol) || !symbol)
            return err_set(e, ERR_PARSE, "the source has no kernel '%s'",
                           c->kernels[i]);
        c->symbols[i] = xstrdup(symbol);
    }
    return 0;
}

static int take_code(const struct nvrtc *n, void *program,
                     const struct nvrtc_conf *c, struct buf *out, struct err *e)
{
    size_t size = 0;
    char *code;
    int rc = 0;

    if (n->cubin_size(program, &size) || size == 0)
        return err_set(e, ERR_INTERNAL, "%s: no code for sm_%d", c->name,
                       c->cc);
    code = xmalloc(size);
    if (n->cubin(program, code) || buf_add(out, code, size))
        rc = err_set(e, ERR_INTERNAL, "%s: its code cannot be read", c->name);
    free(code);
    return rc;
}

int nvrtc_build(const struct nvrtc *n, struct span source,
                const struct nvrtc_conf *c, struct buf *out, struct err *e)
{
    char *text = xmemdup0(source);
    void *program = NULL;
    int rc = -1;

    if (n->create(&program, text, c->name, ARRAY_LEN(header_texts),
                  header_texts, header_names)) {
        err_set(e, ERR_INTERNAL, "%s: the compiler does not start", c->name);
        goto out;
    }
    for (size_t i = 0; i < c->n_kernels; i++)
        if (n->expression(program, c->kernels[i])) {
            err_set(e, ERR_PARSE, "'%s' names no kernel", c->kernels[i]);
            goto out;
        }
    if (compile(n, program, c)) {
        tell(n, program, c->name, e);
        goto out;
    }
    rc = name_kernels(n, program, c, e) || take_code(n, program, c, out, e) ? -1
                                                                            : 0;
out:
    if (program)
        n->destroy(&program);
    free(text);
    return rc;
}
