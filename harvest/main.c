/* SPDX-License-Identifier: MIT */
/* km-harvest: git repositories in, `file`, `module` and `repo` records out. */
#include "base.h"

#include "harvest/fetch.h"
#include "harvest/targets.h"
#include "log.h"
#include "pool.h"
#include "proc.h"
#include "stage.h"

/* CPU seconds for one repository: a million lines take about ten. */
#define REPO_CPU  600.0
#define PROBE_CPU 60.0

static struct {
    const char *list, *rev, *licences, *deny;
    bool any_licence, no_fetch, all_history, functions;
    int64_t seconds;
} options = {.seconds = FETCH_SECONDS};

static const struct opt harvest_opts[] = {
    {OPT_GROUP, 0, "Repositories", NULL, NULL, NULL, 0, 0, false},
    {OPT_STR, 'l', "list", &options.list, "FILE",
     "more repositories: lines of SOURCE [NAME]; - = stdin", 0, 0, false},
    {OPT_STR, 0, "rev", &options.rev, "REV", "revision to read (default: HEAD)",
     0, 0, true},
    {OPT_FLAG, 0, "all-history", &options.all_history, NULL,
     "also older commits: every version of a file once", 0, 0, true},
    {OPT_FLAG, 0, "functions", &options.functions, NULL,
     "also functions that compute on tensors, as modules", 0, 0, true},
    {OPT_FLAG, 0, "no-fetch", &options.no_fetch, NULL,
     "take clones as they are, fetch only those that are not there", 0, 0,
     false},
    {OPT_INT, 0, "fetch-seconds", &options.seconds, "N",
     "deadline of a git command, and of waiting for another run's clone "
     "(default: 1800)",
     1, 1000000, false},
    {OPT_GROUP, 0, "Licences", NULL, NULL, NULL, 0, 0, false},
    {OPT_STR, 0, "licences", &options.licences, "LIST",
     "pass only modules under these SPDX ids, as MIT,BSD-*", 0, 0, true},
    {OPT_STR, 0, "deny-licences", &options.deny, "LIST",
     "reject modules under these SPDX ids, as GPL-*,AGPL-*", 0, 0, true},
    {OPT_FLAG, 0, "any-licence", &options.any_licence, NULL,
     "pass modules whatever their licence, also without one", 0, 0, true},
    {0},
};

struct names {
    const char **v;
    size_t n, cap;
};

struct run {
    struct targets targets;
    struct harvest_rules rules;
    struct harvest_kit kit; /* each worker has its own copy */
    struct fetch_rules fetch;
    struct names allow, deny;
    struct arena arena; /* of the names */
    int jobs;
    struct pool *clone, *probe, *read;
    struct emit *out;
    int64_t repos, files, bytes; /* so far */
    double started;
};

/* Split "A,B C" into A, B, C. */
static void split_list(struct run *r, struct names *list, const char *text)
{
    while (text && *text) {
        size_t n = strcspn(text, ", ");
        if (n > 0)
            array_push(list, arena_strdup(&r->arena, (struct span){text, n}));
        text += n + (text[n] != '\0');
    }
}

static int harvest_open(void **state, const struct stage_env *env,
                        struct err *e)
{
    struct run *r = xcalloc(1, sizeof(*r));
    *state = r;
    r->jobs = env->jobs;
    r->rules.rev = options.rev;
    r->rules.any_licence = options.any_licence;
    split_list(r, &r->allow, options.licences);
    split_list(r, &r->deny, options.deny);
    r->rules.licences.allow = r->allow.v;
    r->rules.licences.n_allow = r->allow.n;
    r->rules.licences.deny = r->deny.v;
    r->rules.licences.n_deny = r->deny.n;
    r->rules.all_history = options.all_history;
    r->rules.functions = options.functions;
    r->fetch.whole = options.rev != NULL || options.all_history;
    r->fetch.refresh = !options.no_fetch;
    r->fetch.seconds = (double)options.seconds;
    if (env->argc == 0 && !options.list)
        return err_set(e, ERR_USAGE,
                       "no repository given: want SOURCE... or --list FILE");
    if (targets_open(&r->targets, env->argc, env->argv, options.list, e) != 0)
        return -1;
    r->kit.blobs = blobs_new();
    if (!(r->kit.parser = pyparser_new(e)))
        return -1;
    return git_start(e);
}

/*
 * Three pools in a row, each in the order of the input: sources are cloned,
 * then opened and named, then read. A target that failed passes through the
 * rest to keep its place.
 */
static int clone_work(void *state, struct span item, struct buf *out,
                      struct err *e)
{
    const struct run *r = state;
    struct target t;
    memcpy(&t, item.p, sizeof(t));
    if (fetch_source(&r->fetch, t.source, t.path, e) != 0)
        return -1;
    return buf_add(out, &t, sizeof(t));
}

static int probe_work(void *state, struct span item, struct buf *out,
                      struct err *e)
{
    const struct run *r = state;
    struct target t;
    memcpy(&t, item.p, sizeof(t));
    target_probe(&t, r->rules.rev);
    if (buf_add(out, &t, sizeof(t)) != 0)
        return -1;
    if (!t.commit[0] || !r->rules.all_history)
        return 0;
    return target_history(&t, out, e);
}

static int read_work(void *state, struct span item, struct buf *out,
                     struct err *e)
{
    const struct run *r = state;
    struct harvest_done done = {0, 0};
    struct span only = {item.p + sizeof(struct target),
                        item.n - sizeof(struct target)};
    struct target t;
    memcpy(&t, item.p, sizeof(t));
    if (buf_add(out, &done, sizeof(done)) != 0 ||
        harvest_repo(&r->rules, &r->kit, &t, only, out, &done, e) != 0)
        return -1;
    memcpy(out->p, &done, sizeof(done));
    return 0;
}

static void *start(void *payload)
{
    return payload;
}

/* The target as a pool gives it back. */
static struct target took(struct span item, int status, struct span out,
                          const struct err *e)
{
    struct target t;
    memcpy(&t, status == 0 ? out.p : item.p, sizeof(t));
    if (status == -1) {
        t.err = *e;
        t.commit[0] = '\0';
    }
    return t;
}

static int put(struct pool *p, const struct target *t, bool pass, struct err *e)
{
    struct span item = {(const char *)t, sizeof(*t)};
    return pass ? pool_pass(p, item, e) : pool_put(p, item, e);
}

static int cloned(void *payload, struct span item, int status, struct span out,
                  struct err *e)
{
    struct run *r = payload;
    struct target t = took(item, status, out, e);
    return put(r->probe, &t, t.err.code != ERR_NONE, e);
}

/* The older commits of T, as target_history wrote them. */
static int put_past(struct run *r, const struct target *t, struct span past,
                    struct err *e)
{
    struct buf item = BUF_INIT(HARVEST_MAX_OUT);
    int rc = 0;
    while (rc == 0 && past.n >= OID_HEX + sizeof(size_t)) {
        struct target old = *t;
        size_t n;
        memcpy(old.commit, past.p, OID_HEX);
        memcpy(&n, past.p + OID_HEX, sizeof(n));
        past = (struct span){past.p + OID_HEX + sizeof(n),
                             past.n - OID_HEX - sizeof(n)};
        n = MIN(n, past.n);
        buf_clear(&item);
        rc = buf_add(&item, &old, sizeof(old)) || buf_add(&item, past.p, n)
                 ? err_set(e, ERR_TOO_LARGE, "too many versions of files")
                 : pool_put(r->read, buf_span(&item), e);
        past = (struct span){past.p + n, past.n - n};
    }
    buf_release(&item);
    return rc;
}

static int probed(void *payload, struct span item, int status, struct span out,
                  struct err *e)
{
    struct run *r = payload;
    struct target t = took(item, status, out, e);
    targets_settle(&r->targets, &t);
    if (put(r->read, &t, !t.commit[0], e) != 0)
        return -1;
    if (status != 0 || !t.commit[0])
        return 0;
    out = (struct span){out.p + sizeof(t), out.n - sizeof(t)};
    return put_past(r, &t, out, e);
}

static int done(void *payload, struct span item, int status, struct span out,
                struct err *e)
{
    struct run *r = payload;
    struct buf broken = BUF_INIT(REC_MAX);
    struct harvest_done n;
    struct target t;
    int rc = 0;
    memcpy(&t, item.p, sizeof(t));
    if (status == 0) {
        memcpy(&n, out.p, sizeof(n));
        r->files += n.files;
        r->bytes += n.bytes;
        out = (struct span){out.p + sizeof(n), out.n - sizeof(n)};
    } else { /* so says the repository's record */
        struct err why = status == -1 ? *e : t.err;
        char name[TARGET_MAX_PATH];
        git_public_source(t.source, name, sizeof(name));
        log_warning("'%s': %s%s%s", name[0] ? name : t.name, why.msg,
                    why.hint[0] ? "; " : "", why.hint);
        rc = records_broken(&t, &why, &broken, e);
        out = buf_span(&broken);
    }
    if (rc == 0)
        rc = emit_packed(r->out, out, e);
    r->repos++;
    emit_note(r->out, "%" PRId64 " repositories, %" PRId64 " files, %.1f MB/s",
              r->repos, r->files,
              (double)r->bytes / 1e6 / MAX(now_s() - r->started, 0.001));
    buf_release(&broken);
    return rc == 0 ? 0 : -1;
}

static int feed(struct run *r, struct err *e)
{
    struct target t;
    int rc;
    while ((rc = targets_next(&r->targets, &t, e)) > 0) {
        bool pass = t.err.code != ERR_NONE;
        if (!pass && fetch_kind(t.source) == FETCH_LOCAL) {
            memcpy(t.path, t.source, sizeof(t.path));
            pass = true;
        }
        if (put(r->clone, &t, pass, e) != 0)
            return -1;
    }
    if (rc == 0 && r->targets.given == 0)
        return err_set(e, ERR_USAGE, "the list names no repository");
    if (rc != 0 || pool_drain(r->clone, e) != 0 || pool_drain(r->probe, e) != 0)
        return -1;
    return pool_drain(r->read, e);
}

static int harvest_finish(void *state, struct emit *out, struct err *e)
{
    struct run *r = state;
    struct pool_ops ops = {
        .work = clone_work,
        .start = start,
        .result = cloned,
        .payload = r,
        .jobs = r->jobs,
        .max_item = sizeof(struct target) + 1,
    };
    r->out = out;
    r->started = now_s();
    r->clone = pool_new(&ops);
    ops.idle_s = HARVEST_IDLE;
    ops.cpu_s = r->rules.all_history ? REPO_CPU : PROBE_CPU;
    ops.max_item = HARVEST_MAX_OUT;
    ops.work = probe_work;
    ops.result = probed;
    r->probe = pool_new(&ops);
    ops.cpu_s = REPO_CPU;
    ops.work = read_work;
    ops.result = done;
    r->read = pool_new(&ops);
    int rc = feed(r, e);
    pool_free(r->clone);
    pool_free(r->probe);
    pool_free(r->read);
    return rc == 0 ? 0 : KM_DEAD;
}

static void harvest_close(void *state)
{
    struct run *r = state;
    if (!r)
        return;
    array_release(&r->allow);
    array_release(&r->deny);
    pyparser_free(r->kit.parser);
    blobs_free(r->kit.blobs);
    targets_release(&r->targets);
    arena_release(&r->arena);
    free(r);
}

int main(int argc, char **argv)
{
    static const struct stage stage = {
        .spec = {.program = "km-harvest",
                 .synopsis = "[options] SOURCE...",
                 .about = "Find the nn.Module classes of git repositories.",
                 .tables = {harvest_opts, stage_common_opts},
                 .epilogue = "  km-harvest ~/src/vit-pytorch | km-clean\n"
                             "  km-harvest --list repos.txt -o modules.km.zst"},
        .name = "harvest",
        .operands = true,
        .open = harvest_open,
        .finish = harvest_finish,
        .close = harvest_close,
    };
    return stage_main(argc, argv, &stage);
}
