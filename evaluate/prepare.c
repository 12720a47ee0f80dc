/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/prepare.h"

#include "evaluate/build.h"
#include "evaluate/build_torch.h"
#include "evaluate/static.h"
#include "evaluate/verdict.h"
#include "mem.h"
#include "rec.h"
#include "store.h"

struct worker {
    const struct prepare_conf *conf;
    struct statics *statics;
    struct store *store;
    struct builder builder;
    struct torch_builder torch;
    struct err err; /* of the start, told with the first item */
};

void *prepare_start(const struct prepare_conf *c)
{
    struct worker *w = xcalloc(1, sizeof(*w));
    w->conf = c;
    w->statics = statics_new(&w->err);
    if (w->statics && !w->conf->no_store &&
        store_open(&w->store, w->conf->store, "evaluate", &w->err)) {
        statics_free(w->statics);
        w->statics = NULL;
    }
    w->builder.store = w->store;
    w->builder.require = w->conf->require;
    w->torch = (struct torch_builder){.store = w->store,
                                      .require = w->conf->require,
                                      .python = w->conf->python,
                                      .device_class = w->conf->device_class};
    return w;
}

/* What decides a verdict: another layout of the same tokens gets no second
 * throw of the dice. */
static void verdict_key(const struct worker *w, const struct val *rev,
                        struct span normal, char key[HASH_HEX + 1])
{
    struct sha256 *h = sha256_new();
    struct buf b = BUF_INIT(4096);
    sha256_add_field(h, val_gets(rev, "task"));
    sha256_add_field(h, normal);
    sha256_add_field(h, val_gets(rev, "language"));
    sha256_add_field(h, span_str(PROTOCOL_VERSION));
    sha256_add_field(h, span_str(w->conf->device_class));
    if (val_pack(&b, w->conf->options) == 0)
        sha256_add_field(h, buf_span(&b));
    sha256_hex(h, key);
    sha256_free(h);
    buf_release(&b);
}

static int is_stored(struct worker *w, struct arena *a, const char *key,
                     struct err *e)
{
    struct buf b = BUF_INIT(REC_MAX);
    int rc = w->store ? store_get(w->store, "verdict", key, &b, e) : 0;
    if (rc == 1)
        rc = verdict_read_body(a, buf_span(&b)) != NULL;
    buf_release(&b);
    return rc;
}

static void compile(struct worker *w, struct arena *a, struct span source,
                    struct val *m, struct buf *object)
{
    struct buf log = BUF_INIT(4000);
    struct err e = {0};
    int rc = build_c(&w->builder, source, object, &log, &e);
    const char *message = e.msg;
    enum build_state state = rc == 0 ? BUILD_DONE : BUILD_FAILED;
    if (rc == 1) {
        state = BUILD_REFUSED;
        message = log.p;
    } else if (rc && (e.code == ERR_TIMEOUT || e.code == ERR_MEMORY)) {
        state = BUILD_REFUSED;
        message = "the compiler needs too much time or memory";
    }
    val_set(a, m, "build", val_int(a, state));
    val_set(a, m, "code", val_strz(a, err_code_name(e.code)));
    val_set(a, m, "message", val_text(a, span_str(message)));
    val_set(a, m, "compiler", val_strz(a, w->builder.compiler));
    buf_release(&log);
}

/* What a PyTorch candidate compiles, ahead of the judge; with nothing made it
 * goes there as it is. */
static int compile_torch(struct worker *w, struct arena *a, struct span source,
                         struct buf *task, struct val *m, struct buf *object,
                         struct err *e)
{
    struct buf log = BUF_INIT(4000);
    struct val *t;
    size_t used;
    int rc = val_unpack(a, buf_span(task), &used, &t, e);

    if (rc == 0)
        rc =
            build_torch(&w->torch, source, val_get(t, "init"), object, &log, e);
    if (rc == 1)
        val_set(a, m, "message", val_text(a, buf_span(&log)));
    if (rc == 1 || (rc == 0 && object->n))
        val_set(a, m, "build",
                val_int(a, rc == 1 ? BUILD_REFUSED : BUILD_DONE));
    buf_release(&log);
    return rc < 0 ? -1 : 0;
}

/* OUT: a map, then the shared object or what else was built. */
int prepare_work(void *state, struct span item, struct buf *out, struct err *e)
{
    struct worker *w = state;
    struct arena a = ARENA_INIT;
    struct buf normal = BUF_INIT(2 * REC_MAX), object = BUF_INIT(64u << 20);
    struct static_result st;
    struct val *rev, *m = val_map(&a);
    struct buf *task;
    char key[HASH_HEX + 1], digest[HASH_HEX + 1];
    size_t used;
    struct span code;
    bool native, needed;
    int rc = -1, stored;

    if (!w->statics) {
        *e = w->err;
        goto out;
    }
    if (val_unpack(&a, item, &used, &rev, e))
        goto out;
    code = val_gets(rev, "code");
    native = span_is(val_gets(rev, "language"), "c");
    task = map_get(w->conf->tasks, val_gets(rev, "task"));
    if (statics_look(w->statics, &a, code, val_gets(rev, "language"),
                     task ? buf_span(task) : (struct span){"", 0}, &normal, &st,
                     e))
        goto out;
    verdict_key(w, rev, buf_span(&normal), key);
    stored = is_stored(w, &a, key, e);
    if (stored < 0)
        goto out;
    hash_sha256_hex(digest, buf_span(&normal));
    val_set(&a, m, "key", val_strz(&a, key));
    val_set(&a, m, "normal", val_strz(&a, digest));
    val_set(&a, m, "stored", val_bool(&a, stored == 1));
    val_set(&a, m, "findings", st.findings);
    val_set(&a, m, "contract", st.contract);
    val_set(&a, m, "forbidden", val_strz(&a, st.forbidden));
    needed = !stored && !st.forbidden && task;
    if (native && needed)
        compile(w, &a, code, m, &object);
    if (needed && span_is(val_gets(rev, "language"), "torch") &&
        build_torch_wanted(code) &&
        compile_torch(w, &a, code, task, m, &object, e))
        goto out;
    rc = val_pack(out, m) || buf_addspan(out, buf_span(&object))
             ? err_set(e, ERR_TOO_LARGE, "the candidate is too large")
             : 0;
out:
    buf_release(&normal);
    buf_release(&object);
    arena_release(&a);
    return rc;
}

int prepare_read(struct arena *a, struct span bytes, struct prepared *p,
                 struct err *e)
{
    struct val *m;
    size_t used;
    char code[40];
    int found;
    *p = (struct prepared){0};
    if (val_unpack(a, bytes, &used, &m, e))
        return -1;
    m = val_copy(a, m);
    snprintf(p->key, sizeof(p->key), "%s", arena_strdup(a, val_gets(m, "key")));
    snprintf(p->normal, sizeof(p->normal), "%s",
             arena_strdup(a, val_gets(m, "normal")));
    p->stored = val_getb(m, "stored", false);
    p->findings = val_get(m, "findings");
    p->contract = val_get(m, "contract");
    p->forbidden = val_gets(m, "forbidden");
    p->build = (enum build_state)val_geti(m, "build", BUILD_NONE);
    found = err_code_find(mask_text(code, sizeof(code), val_gets(m, "code")));
    p->code = found > 0 ? (enum err_code)found : ERR_INTERNAL;
    p->message = val_gets(m, "message");
    p->compiler = val_gets(m, "compiler");
    p->object = (struct span){bytes.p + used, bytes.n - used};
    return 0;
}
