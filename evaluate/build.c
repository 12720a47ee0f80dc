/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/build.h"

#include "embed.h"
#include "hash.h"
#include "mem.h"
#include "proc.h"
#include "run/runner.h"
#include "store.h"

#define BUILD_S  60.0
#define COMPILER "cc"

EMBED_DECLARE(km_candidate_h);

/* -pipe: without it, names of temporary files come into messages. */
static const char *const flags[] = {
    "-std=gnu11", "-O3", "-march=native", "-fno-math-errno", "-shared",
    "-fPIC",      "-w",  "-pipe"};

/* What the result depends on besides the source: the compiler's version and
 * what -march=native means on this machine. */
static int identify(struct builder *b, struct err *e)
{
    static const char *const version[] = {COMPILER, "--version", NULL};
    static const char *const native[] = {
        COMPILER, "-march=native", "-###", "-E", "-x", "c", "/dev/null", NULL};
    const struct proc_limits lim = {.wall_s = 20};
    struct buf out = BUF_INIT(64 << 10);
    struct proc_result r;
    struct sha256 *h;
    char *nl;
    int rc = -1;

    if (proc_run(version, (struct span){"", 0}, &out, NULL, &lim, &r, e) ||
        r.end != PROC_EXIT || r.code) {
        err_set(e, ERR_UNAVAILABLE, "no C compiler: cannot run '%s'", COMPILER);
        err_hint(e, "install gcc or clang (pipelines/setup.sh)");
        goto out;
    }
    nl = strchr(out.p, '\n');
    mask_text(b->compiler, sizeof(b->compiler),
              (struct span){out.p, nl ? (size_t)(nl - out.p) : out.n});
    if (proc_run(native, (struct span){"", 0}, NULL, &out, &lim, &r, e))
        goto out;
    h = sha256_new();
    sha256_add_field(h, buf_span(&out));
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        sha256_add_field(h, span_str(flags[i]));
    sha256_add_field(h, EMBED_SPAN(km_candidate_h));
    sha256_hex(h, b->key);
    sha256_free(h);
    rc = 0;
out:
    if (rc)
        b->compiler[0] = 0;
    buf_release(&out);
    return rc;
}

int build_c(struct builder *b, struct span source, struct buf *out,
            struct buf *log, struct err *e)
{
    const char *argv[ARRAY_LEN(flags) + 6];
    const struct build_file files[] = {
        {"candidate.c", source},
        {"km_candidate.h", EMBED_SPAN(km_candidate_h)}};
    char key[HASH_HEX + 1];
    struct sha256 *h;
    size_t n = 0;
    int rc;

    if (!b->compiler[0] && identify(b, e))
        return -1;
    h = sha256_new();
    sha256_add_field(h, span_str(b->key));
    sha256_add_field(h, source);
    sha256_hex(h, key);
    sha256_free(h);
    if (b->store) {
        rc = store_get(b->store, "build", key, out, e);
        if (rc)
            return rc > 0 ? 0 : -1;
    }
    argv[n++] = COMPILER;
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        argv[n++] = flags[i];
    argv[n++] = "candidate.c";
    argv[n++] = "-o";
    argv[n++] = "candidate.so";
    argv[n++] = "-lm";
    argv[n] = NULL;
    rc = build_run(argv, files, ARRAY_LEN(files), "candidate.so", BUILD_S,
                   b->require, out, log, e);
    if (rc)
        return e->code == ERR_PARSE || e->code == ERR_CRASH ? 1 : -1;
    return b->store ? store_put(b->store, "build", key, buf_span(out), e) : 0;
}
