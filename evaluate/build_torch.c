/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/build_torch.h"

#include "embed.h"
#include "hash.h"
#include "io.h"
#include "log.h"
#include "mem.h"
#include "proc.h"
#include "run/frames.h"
#include "run/runner.h"
#include "store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* As long as the judge lets a constructor on a GPU run. */
#define BUILD_S      300.0
#define BUILD_CPU_S  1800
#define BUILD_NICE   10
#define BUILD_MEMORY ((int64_t)16 << 30) /* addresses of each process */

EMBED_DECLARE(builder_py);

bool build_torch_wanted(struct span source)
{
    static const char *const names[] = {"cpp_extension", "load_inline"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (source.n && memmem(source.p, source.n, names[i], strlen(names[i])))
            return true;
    return false;
}

/* ---- what an artefact depends on ---- */

static void add_words(struct sha256 *h, const char *const *argv)
{
    const struct proc_limits lim = {.wall_s = 20};
    struct buf said = BUF_INIT(64 << 10), log = BUF_INIT(64 << 10);
    struct proc_result r;
    struct err e;

    /* One that is missing says nothing. */
    (void)!proc_run(argv, (struct span){"", 0}, &said, &log, &lim, &r, &e);
    sha256_add_field(h, buf_span(&said));
    sha256_add_field(h, buf_span(&log));
    buf_release(&said);
    buf_release(&log);
}

static void look_at_tools(struct torch_builder *b)
{
    const char *home = getenv("CUDA_HOME");
    struct sha256 *h = sha256_new();
    char *nvcc =
        xasprintf("%s/bin/nvcc", home && *home ? home : "/usr/local/cuda");

    add_words(h, (const char *const[]){nvcc, "--version", NULL});
    add_words(h, (const char *const[]){"c++", "--version", NULL});
    /* What it means on this machine. */
    add_words(h, (const char *const[]){"c++", "-march=native", "-###", "-E",
                                       "-x", "c++", "/dev/null", NULL});
    sha256_add_field(h, EMBED_SPAN(builder_py));
    sha256_hex(h, b->tools);
    sha256_free(h);
    free(nvcc);
}

/* The bytes of the source and not its normal form: they are what is run. */
static void artefact_key(const struct torch_builder *b, struct span source,
                         const struct val *init, char key[HASH_HEX + 1])
{
    const struct val *about = zygote_about(b->zygote);
    struct sha256 *h = sha256_new();
    struct buf packed = BUF_INIT(1 << 20);

    sha256_add_field(h, SPAN_LIT("torch extension"));
    sha256_add_field(h, source);
    if (init && val_pack(&packed, init) == 0)
        sha256_add_field(h, buf_span(&packed));
    sha256_add_field(h, val_gets(about, "python"));
    sha256_add_field(h, val_gets(about, "torch"));
    sha256_add_field(h, span_str(b->tools));
    sha256_add_field(h, span_str(b->device_class));
    sha256_hex(h, key);
    sha256_free(h);
    buf_release(&packed);
}

/* Compute capability of a class "cuda:sm_90" as torch writes it, "9.0"; "" for
 * a device without. */
static const char *arch_of(const char *device_class, char text[16])
{
    static const char head[] = "cuda:sm_";
    long cc = strncmp(device_class, head, strlen(head)) == 0
                  ? strtol(device_class + strlen(head), NULL, 10)
                  : 0;

    text[0] = 0;
    if (cc >= 10 && cc < 10000)
        snprintf(text, 16, "%ld.%ld", cc / 10, cc % 10);
    return text;
}

/* ---- one build ---- */

/* Memory of just BUILT_MAX bytes, whatever is written to it. */
static int empty_artefact(struct err *e)
{
    int fd = memfd_create("built", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return err_sys(e, "cannot create memory for a build");
    if (ftruncate(fd, (off_t)BUILT_MAX) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW)) {
        err_sys(e, "cannot prepare memory for a build");
        close(fd);
        return -1;
    }
    return fd;
}

static int read_artefact(int fd, int64_t size, struct buf *out, struct err *e)
{
    if (size <= 0 || size > (int64_t)BUILT_MAX)
        return 0;
    if (lseek(fd, 0, SEEK_SET) || !buf_reserve(out, (size_t)size))
        return err_set(e, ERR_TOO_LARGE, "a build is too large");
    if (io_read_full(fd, out->p + out->n, (size_t)size, e) != size)
        return -1;
    buf_setlen(out, out->n + (size_t)size);
    return 0;
}

static struct val *request(const struct torch_builder *b, struct arena *a,
                           const struct val *init)
{
    struct val *m = val_map(a);
    char arch[16];

    val_set(a, m, "op", val_strz(a, "build"));
    val_set(a, m, "class", val_strz(a, "ModelNew"));
    val_set(a, m, "init", init ? val_copy(a, init) : val_list(a));
    val_set(a, m, "arch", val_strz(a, arch_of(b->device_class, arch)));
    return m;
}

/* As build_torch; -1: there is no builder, or it ended. */
static int run_builder(struct torch_builder *b, struct span source,
                       const struct val *init, struct buf *out,
                       struct buf *message, struct err *e)
{
    struct runner_conf c = {.role = "probe", /* builder.py */
                            .cpu = -1,
                            .memory = BUILD_MEMORY,
                            .cpu_s = BUILD_CPU_S,
                            .start_s = 30,
                            .tools = true};
    struct arena a = ARENA_INIT;
    struct runner r = RUNNER_NONE;
    struct val *reply;
    double limit_s = b->limit_s > 0 ? b->limit_s : BUILD_S;
    int fds[2] = {-1, -1}, rc = -1;

    fds[0] = io_memfd("candidate", source, true, e);
    fds[1] = empty_artefact(e);
    if (fds[0] < 0 || fds[1] < 0 || zygote_fork(b->zygote, &c, &r, e))
        goto out;
    rc = frame_call(r.sock, &a, request(b, &a, init), fds, 2, now_s() + limit_s,
                    &reply, e);
    /* No one must write there while it is read. */
    runner_kill(&r);
    if (rc)
        goto out;
    if (val_getb(reply, "ok", false)) {
        rc = read_artefact(fds[1], val_geti(reply, "size", 0), out, e);
    } else if (span_is(val_gets(reply, "where"), "build")) {
        rc = buf_addspan(message, val_gets(reply, "message")) ? -1 : 1;
    }
out:
    runner_kill(&r);
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    arena_release(&a);
    return rc;
}

int build_torch(struct torch_builder *b, struct span source,
                const struct val *init, struct buf *out, struct buf *message,
                struct err *e)
{
    struct zygote_conf z = {.python = b->python,
                            .require = b->require,
                            .probe = EMBED_SPAN(builder_py)};
    struct err why = {0};
    char key[HASH_HEX + 1];
    int rc;

    if (!b->zygote && !b->unavailable) {
        /* All cores may compile: who is judged meanwhile comes first. */
        (void)setpriority(PRIO_PROCESS, 0, BUILD_NICE);
        b->unavailable = zygote_start(&b->zygote, &z, &why) != 0;
        look_at_tools(b);
    }
    if (b->unavailable)
        return 0; /* the judge tells, if it matters to it */
    artefact_key(b, source, init, key);
    if (b->store) {
        rc = store_get(b->store, "build", key, out, e);
        if (rc)
            return rc > 0 ? 0 : -1;
    }
    rc = run_builder(b, source, init, out, message, &why);
    if (rc < 0) {
        log_info("a candidate was not built ahead: %s", why.msg);
        buf_clear(out);
        return 0;
    }
    return rc == 0 && out->n && b->store
               ? store_put(b->store, "build", key, buf_span(out), e)
               : rc;
}

void torch_builder_release(struct torch_builder *b)
{
    zygote_stop(b->zygote);
    b->zygote = NULL;
}
