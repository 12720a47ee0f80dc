/* SPDX-License-Identifier: MIT */
/* Which repositories, under which names. They are opened in workers, as
 * anything that reads what others wrote. */
#include "base.h"

#include "harvest/targets.h"
#include "io.h"
#include "pool.h"
#include "utf8.h"

#define MAX_LIST  (64u << 20)
#define PROBE_CPU 60.0

void targets_add(struct targets *t, struct span path, struct span name)
{
    struct target x = {.path = arena_strdup(&t->arena, path)};
    mask_text(x.name, sizeof(x.name), name);
    array_push(&t->v, x);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct span trim(struct span s)
{
    while (s.n > 0 && is_blank(s.p[0]))
        s = (struct span){s.p + 1, s.n - 1};
    while (s.n > 0 && is_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}

int targets_read(struct targets *t, const char *file, struct err *e)
{
    struct buf b = BUF_INIT(MAX_LIST);
    size_t line = 0;
    if (io_read_file(&b, file, e) != 0) {
        buf_release(&b);
        return -1;
    }
    int rc = 0;
    for (struct span rest = buf_span(&b); rc == 0 && rest.n > 0;) {
        const char *nl = memchr(rest.p, '\n', rest.n);
        size_t n = nl ? (size_t)(nl - rest.p) : rest.n;
        struct span s = trim((struct span){rest.p, n});
        n += nl != NULL;
        rest = (struct span){rest.p + n, rest.n - n};
        line++;
        if (s.n == 0 || s.p[0] == '#')
            continue;
        size_t k = 0;
        while (k < s.n && !is_blank(s.p[k]))
            k++;
        struct span path = {s.p, k},
                    name = trim((struct span){s.p + k, s.n - k});
        for (size_t i = 0; i < name.n; i++)
            if (is_blank(name.p[i]))
                rc = -1;
        if (rc != 0 || utf8_valid(name) < name.n ||
            memchr(path.p, '\0', path.n))
            rc = err_set(e, ERR_USAGE, "'%s' line %zu: want PATH [NAME]", file,
                         line);
        else
            targets_add(t, path, name);
    }
    buf_release(&b);
    return rc;
}

struct probe {
    struct targets *t;
    const char *rev;
};

/* What a worker says of one repository. */
struct answer {
    char name[256];
    char commit[OID_HEX + 1];
};

static void *probe_start(void *payload)
{
    return payload;
}

static int probe_work(void *state, struct span item, struct buf *out,
                      struct err *e)
{
    struct probe *p = state;
    struct gitrepo *git = NULL;
    struct answer a = {"", ""};
    size_t i;
    memcpy(&i, item.p, sizeof(i));
    const struct target *t = &p->t->v.v[i];
    int rc = gitrepo_open(&git, t->path, e);
    if (rc == 0)
        rc = gitrepo_commit(git, p->rev, a.commit, e);
    if (rc == 0) {
        memcpy(a.name, t->name, sizeof(a.name));
        if (!a.name[0])
            gitrepo_origin(git, a.name, sizeof(a.name));
        if (!a.name[0])
            git_folder_name(t->path, a.name, sizeof(a.name));
        rc = buf_add(out, &a, sizeof(a));
    }
    gitrepo_close(git);
    return rc;
}

static int probe_result(void *payload, struct span item, int status,
                        struct span out, struct err *e)
{
    struct probe *p = payload;
    struct answer a;
    size_t i;
    memcpy(&i, item.p, sizeof(i));
    struct target *t = &p->t->v.v[i];
    if (status == 0 && out.n == sizeof(a)) {
        memcpy(&a, out.p, sizeof(a));
        memcpy(t->name, a.name, sizeof(t->name));
        memcpy(t->commit, a.commit, sizeof(t->commit));
    } else {
        t->err = *e;
        if (!t->name[0])
            git_folder_name(t->path, t->name, sizeof(t->name));
    }
    return 0;
}

/* Two of one name: the later ones get part of their commit. The same
 * commit twice is the same repository. */
static void settle_names(struct targets *t)
{
    struct map seen = MAP_INIT;
    for (size_t i = 0; i < t->v.n; i++) {
        struct target *x = &t->v.v[i];
        struct target *first = map_get(&seen, span_str(x->name));
        if (!first) {
            map_put(&seen, span_str(x->name), x);
            continue;
        }
        char plain[sizeof(x->name)];
        memcpy(plain, x->name, sizeof(plain));
        size_t n = MIN(strlen(plain), sizeof(x->name) - 32);
        snprintf(x->name + n, sizeof(x->name) - n, "~%.8s",
                 x->commit[0] ? x->commit : "00000000");
        bool same = strcmp(first->commit, x->commit) == 0 ||
                    map_has(&seen, span_str(x->name));
        if (!same) {
            map_put(&seen, span_str(x->name), x);
            continue;
        }
        /* Still taken: a number keeps the ids of the records apart. */
        n = strlen(x->name);
        snprintf(x->name + n, sizeof(x->name) - n, "~%zu", i + 1);
        if (x->commit[0])
            err_set(&x->err, ERR_DUPLICATE, "this commit of '%s' comes twice",
                    first->name);
        x->commit[0] = '\0';
    }
    map_release(&seen);
}

int targets_probe(struct targets *t, const char *rev, int jobs, struct err *e)
{
    struct probe p = {t, rev};
    struct pool_ops ops = {
        .work = probe_work,
        .start = probe_start,
        .result = probe_result,
        .payload = &p,
        .jobs = jobs,
        .cpu_s = PROBE_CPU,
        .idle_s = HARVEST_IDLE,
        .max_item = 4096,
    };
    struct pool *pool = pool_new(&ops);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < t->v.n; i++)
        rc = pool_put(pool, (struct span){(const char *)&i, sizeof(i)}, e);
    if (rc == 0)
        rc = pool_drain(pool, e);
    pool_free(pool);
    if (rc == 0)
        settle_names(t);
    return rc;
}

void targets_release(struct targets *t)
{
    array_release(&t->v);
    arena_release(&t->arena);
}
