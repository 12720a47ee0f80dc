/* SPDX-License-Identifier: MIT */
/* km-harvest: git repositories in, `file`, `module` and `repo` records out. */
#include "base.h"

#include "harvest/targets.h"
#include "log.h"
#include "pool.h"
#include "stage.h"

/* CPU seconds for one repository: a million lines take about ten. */
#define REPO_CPU 600.0

static struct {
    const char *list, *rev, *licences, *deny;
    bool any_licence;
} options;

static const struct opt harvest_opts[] = {
    {OPT_GROUP, 0, "Repositories", NULL, NULL, NULL, 0, 0, false},
    {OPT_STR, 'l', "list", &options.list, "FILE",
     "more repositories: lines of PATH [NAME]", 0, 0, false},
    {OPT_STR, 0, "rev", &options.rev, "REV", "revision to read (default: HEAD)",
     0, 0, true},
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
    struct names allow, deny;
    int jobs;
    struct emit *out;
    int dead; /* writing failed: KM_DEAD */
};

/* Split "A,B C" into A, B, C. */
static void split_list(struct run *r, struct names *list, const char *text)
{
    while (text && *text) {
        size_t n = strcspn(text, ", ");
        if (n > 0)
            array_push(list,
                       arena_strdup(&r->targets.arena, (struct span){text, n}));
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
    for (int i = 0; i < env->argc; i++)
        targets_add(&r->targets, span_str(env->argv[i]), SPAN_LIT(""));
    if (options.list && targets_read(&r->targets, options.list, e) != 0)
        return -1;
    if (r->targets.v.n == 0)
        return err_set(e, ERR_USAGE,
                       "no repository given: want REPO... or --list FILE");
    struct pyparser *p = pyparser_new(e); /* say at once that it cannot work */
    if (!p)
        return -1;
    pyparser_free(p);
    return git_start(e);
}

static int work(void *state, struct span item, struct buf *out, struct err *e)
{
    struct run *r = state;
    size_t i;
    memcpy(&i, item.p, sizeof(i));
    return harvest_repo(&r->rules, &r->targets.v.v[i], out, e);
}

static void *start(void *payload)
{
    return payload;
}

static int result(void *payload, struct span item, int status, struct span out,
                  struct err *e)
{
    struct run *r = payload;
    struct buf broken = BUF_INIT(REC_MAX);
    size_t i;
    memcpy(&i, item.p, sizeof(i));
    const struct target *t = &r->targets.v.v[i];
    if (status != 0) { /* the worker died: so says the repository's record */
        log_warning("'%s': %s", t->path, e->msg);
        struct err why = *e;
        if (records_broken(t, &why, &broken, e) != 0)
            goto fail;
        out = buf_span(&broken);
    } else if (!t->commit[0]) {
        log_warning("'%s': %s", t->path, t->err.msg);
    }
    r->dead = emit_packed(r->out, out, e);
    if (r->dead != 0)
        goto fail;
    emit_note(r->out, "%zu of %zu repositories", i + 1, r->targets.v.n);
    buf_release(&broken);
    return 0;
fail:
    buf_release(&broken);
    return -1;
}

static int harvest_finish(void *state, struct emit *out, struct err *e)
{
    struct run *r = state;
    struct pool_ops ops = {
        .work = work,
        .start = start,
        .result = result,
        .payload = r,
        .jobs = r->jobs,
        .cpu_s = REPO_CPU,
        .idle_s = HARVEST_IDLE,
        .max_item = HARVEST_MAX_OUT,
    };
    r->out = out;
    if (targets_probe(&r->targets, r->rules.rev, r->jobs, e) != 0)
        return KM_DEAD;
    struct pool *pool = pool_new(&ops);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < r->targets.v.n; i++)
        rc = pool_put(pool, (struct span){(const char *)&i, sizeof(i)}, e);
    if (rc == 0)
        rc = pool_drain(pool, e);
    pool_free(pool);
    return rc == 0 ? 0 : KM_DEAD;
}

static void harvest_close(void *state)
{
    struct run *r = state;
    if (!r)
        return;
    array_release(&r->allow);
    array_release(&r->deny);
    targets_release(&r->targets);
    free(r);
}

int main(int argc, char **argv)
{
    static const struct stage stage = {
        .spec = {.program = "km-harvest",
                 .synopsis = "[options] REPO...",
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
