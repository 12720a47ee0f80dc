/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <ctype.h>

#include "embed.h"
#include "log.h"
#include "proc.h"
#include "testgen/host.h"
#include "val.h"

EMBED_DECLARE(probe_py);
EMBED_DECLARE(gate_py);
EMBED_DECLARE(watch_py);
EMBED_DECLARE(counts_py);
EMBED_DECLARE(examine_py);
EMBED_DECLARE(sizes_def);
EMBED_DECLARE(tensor_def);
EMBED_DECLARE(ops_def);
EMBED_DECLARE(names_def);
EMBED_DECLARE(refine_def);

#define MEMO_MAX (20u << 20) /* bytes of one result, packed */

struct host_conf host_conf = {
    .memory = (int64_t)2 << 30, .cpu_s = 20, .store = true};

const struct opt host_opts[] = {
    {OPT_GROUP, 0, "Test runs", NULL, NULL, NULL, 0, 0, false},
    {OPT_STR, 0, "python", &host_conf.python, "FILE",
     "interpreter with torch (default: KM_PYTHON, else the cache's)", 0, 0,
     false},
    {OPT_FLOAT, 0, "timeout", &host_conf.cpu_s, "SECONDS",
     "CPU time for one module (default: 20)", 1, 3600, true},
    {OPT_SIZE, 0, "memory", &host_conf.memory, "SIZE",
     "memory of one module beyond torch itself (default: 2G)", 64 << 20, 1e15,
     true},
    {OPT_FLAG, 0, "store", &host_conf.store, NULL,
     "take results of earlier runs from the store (default: yes)", 0, 0, false},
    {OPT_FLAG, 0, "allow-weak-sandbox", &host_conf.weak, NULL,
     "run modules also where a layer of the sandbox is missing", 0, 0, false},
    {0},
};

/* Version of torch without importing it; "" and a warning when there is
 * none. */
static void find_torch(struct host *h)
{
    struct err e = {0};
    struct buf out = BUF_INIT(4096);
    struct proc_result r;
    struct proc_limits lim = {.wall_s = 60};
    h->python = zygote_python(host_conf.python, &e);
    const char *argv[] = {h->python, "-I", "-c",
                          "import importlib.metadata as m\n"
                          "print(m.version('torch'), end='')",
                          NULL};
    if (h->python &&
        proc_run(argv, SPAN_LIT(""), &out, NULL, &lim, &r, &e) == 0 &&
        r.end == PROC_EXIT && r.code == 0 && out.n < sizeof(h->torch)) {
        memcpy(h->torch, out.p, out.n);
        h->torch[out.n] = '\0';
    } else if (h->python && e.code == ERR_NONE) {
        err_set(&e, ERR_UNAVAILABLE, "'%s' has no torch", h->python);
        err_hint(&e, "run pipelines/setup.sh, or set KM_PYTHON");
    }
    if (!h->torch[0])
        log_warning("proposals are not verified: %s (%s)", e.msg, e.hint);
    buf_release(&out);
}

int host_open(struct host *h, struct err *e)
{
    char lacks[200];
    memset(h, 0, sizeof(*h));
    find_torch(h);
    if (!h->torch[0] || host_conf.weak)
        return 0;
    enum jail_level level = jail_probe(lacks, sizeof(lacks));
    if (level == JAIL_FULL)
        return 0;
    err_set(e, ERR_SANDBOX, "sandbox is only %s (%s)", jail_level_name(level),
            lacks);
    return err_hint(e, "--allow-weak-sandbox accepts it");
}

void host_start(struct host *h, bool meta)
{
    struct err e;
    struct probe_conf c = {.python = h->python,
                           .require = host_conf.weak ? JAIL_NONE : JAIL_FULL,
                           .cpu_s = host_conf.cpu_s,
                           .memory = host_conf.memory,
                           .meta = meta};
    probe_init(&h->probe, &c);
    h->parser = pyparser_new(&e);
    if (!h->parser)
        die_err(&e);
    if (host_conf.store && h->torch[0] &&
        store_open(&h->store, NULL, "testgen", &e) < 0)
        die_err(&e);
}

void host_release(struct host *h)
{
    free(h->python);
    h->python = NULL;
}

void host_key(const struct host *h, const struct span *parts,
              char key[HASH_HEX + 1])
{
    struct sha256 *s = sha256_new();
    char limits[120];
    snprintf(limits, sizeof(limits), "%s %" PRId64 " %g", h->torch,
             host_conf.memory, host_conf.cpu_s);
    sha256_add_field(s, span_str(limits));
    sha256_add_field(s, EMBED_SPAN(probe_py));
    sha256_add_field(s, EMBED_SPAN(gate_py));
    sha256_add_field(s, EMBED_SPAN(watch_py));
    sha256_add_field(s, EMBED_SPAN(counts_py));
    sha256_add_field(s, EMBED_SPAN(examine_py));
    sha256_add_field(s, EMBED_SPAN(sizes_def));
    sha256_add_field(s, EMBED_SPAN(tensor_def));
    sha256_add_field(s, EMBED_SPAN(ops_def));
    sha256_add_field(s, EMBED_SPAN(names_def));
    sha256_add_field(s, EMBED_SPAN(refine_def));
    for (; parts->p; parts++)
        sha256_add_field(s, *parts);
    sha256_hex(s, key);
    sha256_free(s);
}

struct val *host_recall(struct host *h, struct arena *a, const char *key)
{
    struct buf b = BUF_INIT(MEMO_MAX);
    struct val *v = NULL;
    struct err e;
    size_t used;
    if (h->store && h->torch[0] &&
        store_get(h->store, "testgen", key, &b, &e) == 1 &&
        val_unpack(a, buf_span(&b), &used, &v, &e) == 0)
        v = val_copy(a, v);
    else
        v = NULL;
    buf_release(&b);
    return v;
}

void host_remember(struct host *h, const char *key, const struct val *v)
{
    struct buf b = BUF_INIT(MEMO_MAX);
    struct err e;
    if (h->store && h->torch[0] && !h->probe.wall && val_pack(&b, v) == 0 &&
        store_put(h->store, "testgen", key, buf_span(&b), &e) < 0)
        log_warning("%s", e.msg);
    buf_release(&b);
}

bool host_is_verdict(const struct err *e)
{
    enum err_code c = e->code;
    return c == ERR_NO_PROPOSAL || c == ERR_CONSTRUCT || c == ERR_FORWARD ||
           c == ERR_QUALITY || c == ERR_TOO_LARGE || c == ERR_PARSE;
}

void host_blame(struct err *e, bool wall)
{
    if (e->code == ERR_CRASH || e->code == ERR_MEMORY ||
        (e->code == ERR_TIMEOUT && !wall)) {
        err_wrap(e, "%s", err_code_name(e->code));
        e->code = ERR_FORWARD;
    }
}

void host_scrub(char *text)
{
    char *to = text;
    for (const char *p = text; *p;) {
        bool starts = p == text || strchr(" '\"(<=", p[-1]);
        if (p[0] == '0' && p[1] == 'x' && isxdigit((unsigned char)p[2])) {
            *to++ = *p++;
            *to++ = *p++;
            while (isxdigit((unsigned char)*p))
                p++;
        } else if (starts && *p == '/') {
            const char *base = p + 1;
            while (*p && !strchr(" '\")>,:;", *p))
                if (*p++ == '/')
                    base = p;
            while (base < p)
                *to++ = *base++;
        } else {
            *to++ = *p++;
        }
    }
    *to = '\0';
}
