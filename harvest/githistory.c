/* SPDX-License-Identifier: MIT */
/* All commits that one reaches, newest first, and what each has that no newer
 * one had. */
#include "base.h"

#include "array.h"
#include "harvest/gitrepo_priv.h"
#include "map.h"

struct past {
    git_oid oid;
    int64_t time;
};

struct history {
    struct gitrepo *r;
    gitwant *want;
    ARRAY(struct past) queue; /* heap, the newest at the top */
    struct map commits, seen; /* by raw id: queued; trees and blobs met */
    ARRAY(git_tree *) stack;
    struct buf found; /* raw ids of the commit at hand */
};

static bool is_newer(const struct past *a, const struct past *b)
{
    if (a->time != b->time)
        return a->time > b->time;
    return git_oid_cmp(&a->oid, &b->oid) < 0;
}

static void swap(struct past *a, struct past *b)
{
    struct past t = *a;
    *a = *b;
    *b = t;
}

static struct past pop(struct history *h)
{
    struct past top = h->queue.v[0], *v = h->queue.v;
    v[0] = v[--h->queue.n];
    for (size_t i = 0, k; (k = 2 * i + 1) < h->queue.n; i = k) {
        if (k + 1 < h->queue.n && is_newer(&v[k + 1], &v[k]))
            k++;
        if (!is_newer(&v[k], &v[i]))
            break;
        swap(&v[k], &v[i]);
    }
    return top;
}

static struct span key(const git_oid *oid)
{
    return (struct span){(const char *)oid->id, sizeof(oid->id)};
}

/* Queue a commit. One that is missing ends its line: a shallow clone. */
static void push(struct history *h, const git_oid *oid)
{
    git_commit *c = NULL;
    if (map_put(&h->commits, key(oid), h) ||
        gitrepo_lookup(h->r, oid, GIT_OBJECT_COMMIT, (git_object **)&c) != 0)
        return;
    struct past p = {*oid, git_commit_time(c)};
    git_commit_free(c);
    array_push(&h->queue, p);
    struct past *v = h->queue.v;
    for (size_t i = h->queue.n - 1; i > 0; i = (i - 1) / 2) {
        if (!is_newer(&v[i], &v[(i - 1) / 2]))
            break;
        swap(&v[i], &v[(i - 1) / 2]);
    }
}

/* Take what is new of one entry; folders go on the stack. */
static int take(struct history *h, const git_tree_entry *te, struct err *e)
{
    const git_oid *oid = git_tree_entry_id(te);
    git_filemode_t mode = git_tree_entry_filemode(te);
    bool folder = mode == GIT_FILEMODE_TREE;
    git_tree *t = NULL;
    if (mode == GIT_FILEMODE_LINK || mode == GIT_FILEMODE_COMMIT ||
        !h->want(span_str(git_tree_entry_name(te)), folder) ||
        map_put(&h->seen, key(oid), h))
        return 0;
    if (h->seen.n > GIT_MAX_HISTORY)
        return err_set(e, ERR_TOO_LARGE, "more than %d objects",
                       GIT_MAX_HISTORY);
    if (folder &&
        gitrepo_lookup(h->r, oid, GIT_OBJECT_TREE, (git_object **)&t) == 0) {
        array_push(&h->stack, t);
        return 0;
    }
    return buf_add(&h->found, oid->id, sizeof(oid->id));
}

static int walk_tree(struct history *h, git_commit *c, struct err *e)
{
    git_tree *t = NULL;
    int rc = 0;
    if (map_put(&h->seen, key(git_commit_tree_id(c)), h) ||
        gitrepo_lookup(h->r, git_commit_tree_id(c), GIT_OBJECT_TREE,
                       (git_object **)&t) != 0)
        return 0;
    array_push(&h->stack, t);
    while (h->stack.n > 0) {
        t = h->stack.v[--h->stack.n];
        for (size_t i = 0; rc == 0 && i < git_tree_entrycount(t); i++)
            rc = take(h, git_tree_entry_byindex(t, i), e);
        git_tree_free(t);
    }
    return rc;
}

int gitrepo_history(struct gitrepo *r, const char *commit, gitwant *want,
                    gitnews *news, void *payload, struct err *e)
{
    struct history h = {
        .r = r, .want = want, .found = BUF_INIT((size_t)GIT_MAX_HISTORY * 20)};
    git_oid first;
    int rc = 0;
    if (git_oid_fromstr(&first, commit) == 0)
        push(&h, &first);
    while (rc == 0 && h.queue.n > 0) {
        struct past p = pop(&h);
        git_commit *c = NULL;
        if (gitrepo_lookup(r, &p.oid, GIT_OBJECT_COMMIT, (git_object **)&c) !=
            0)
            continue;
        for (unsigned i = 0; i < git_commit_parentcount(c); i++)
            push(&h, git_commit_parent_id(c, i));
        buf_clear(&h.found);
        rc = walk_tree(&h, c, e);
        git_commit_free(c);
        char hex[OID_HEX + 1];
        git_oid_tostr(hex, sizeof(hex), &p.oid);
        if (rc == 0 && h.commits.n > GIT_MAX_HISTORY)
            rc = err_set(e, ERR_TOO_LARGE, "more than %d commits",
                         GIT_MAX_HISTORY);
        if (rc == 0 && h.found.n > 0)
            rc = news(payload, hex, buf_span(&h.found), e);
    }
    array_release(&h.queue);
    array_release(&h.stack);
    map_release(&h.commits);
    map_release(&h.seen);
    buf_release(&h.found);
    return rc;
}
