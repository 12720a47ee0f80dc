/* SPDX-License-Identifier: MIT */
/* libgit2 behind struct err. */
#include "base.h"

#include <sys/resource.h>

#include "array.h"
#include "harvest/gitrepo_priv.h"

/* libgit2's last message is cleared by its next call: taken at once. One that
 * may name a file of this machine is left out, as it ends up in a record. */
static int git_fail(struct err *e, enum err_code code, const char *what,
                    const char *subject)
{
    const git_error *g = git_error_last();
    char text[200], name[200];
    bool usable = g && g->message && !strchr(g->message, '/');
    mask_text(text, sizeof(text),
              span_str(usable ? g->message : "cannot be read"));
    mask_text(name, sizeof(name), span_str(subject));
    return err_set(e, code, "%s '%s': %s", what, name, text);
}

/*
 * libgit2 loads all certificates of the system when it starts, which takes more
 * time than a small repository does, and no option can come before. Nothing
 * here speaks TLS (the `git` child does): so no descriptor is left to open a
 * file by.
 */
static int start_offline(void)
{
    struct rlimit was, none;
    bool known = getrlimit(RLIMIT_NOFILE, &was) == 0;
    none = (struct rlimit){0, known ? was.rlim_max : 0};
    bool set = known && setrlimit(RLIMIT_NOFILE, &none) == 0;
    int rc = git_libgit2_init();
    if (set)
        setrlimit(RLIMIT_NOFILE, &was);
    return rc;
}

int git_start(struct err *e)
{
    static const int levels[] = {GIT_CONFIG_LEVEL_PROGRAMDATA,
                                 GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG,
                                 GIT_CONFIG_LEVEL_GLOBAL};
    if (start_offline() < 0)
        return git_fail(e, ERR_UNAVAILABLE, "cannot start", "libgit2");
    /* Output must not depend on the user's configuration, and repositories
     * of other users are read like any other input. */
    for (size_t i = 0; i < ARRAY_LEN(levels); i++)
        git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
    git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
    git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 1);
    return 0;
}

void git_stop(void)
{
    git_libgit2_shutdown();
}

/* open_ext refuses extensions that do not matter for reading objects, such as
 * worktreeConfig; open_bare does not look at them. */
static int open_any(git_repository **out, const char *path)
{
    if (git_repository_open_ext(out, path, GIT_REPOSITORY_OPEN_NO_SEARCH,
                                NULL) == 0 ||
        git_repository_open_bare(out, path) == 0)
        return 0;
    char *inner = xasprintf("%s/.git", path);
    int rc = git_repository_open_bare(out, inner);
    free(inner);
    return rc;
}

int gitrepo_open(struct gitrepo **out, const char *path, struct err *e)
{
    struct gitrepo *r = xcalloc(1, sizeof(*r));
    *out = NULL;
    if (open_any(&r->git, path) != 0) {
        err_set(e, ERR_NOT_A_REPO, "not a git repository");
        goto fail;
    }
    if (git_repository_odb(&r->odb, r->git) != 0) {
        err_set(e, ERR_NOT_A_REPO, "cannot read the objects");
        goto fail;
    }
    *out = r;
    return 0;
fail:
    gitrepo_close(r);
    return -1;
}

void gitrepo_close(struct gitrepo *r)
{
    if (!r)
        return;
    git_odb_free(r->odb);
    git_repository_free(r->git);
    free(r);
}

int gitrepo_lookup(struct gitrepo *r, const git_oid *oid, git_object_t want,
                   git_object **out)
{
    size_t size = 0;
    git_object_t type;
    *out = NULL;
    if (git_odb_read_header(&size, &type, r->odb, oid) != 0)
        return -1;
    if (size > GIT_MAX_OBJECT) {
        git_error_set_str(GIT_ERROR_ODB, "object is too large");
        return -1;
    }
    return git_object_lookup(out, r->git, oid, want);
}

/* Commit that OID, or the tag it is, stands for. */
static int peel(struct gitrepo *r, const git_oid *oid, git_commit **out)
{
    git_object *o = NULL;
    git_oid id = *oid;
    *out = NULL;
    for (int i = 0; i < GIT_MAX_TAGS; i++) {
        if (gitrepo_lookup(r, &id, GIT_OBJECT_ANY, &o) != 0)
            return -1;
        if (git_object_type(o) == GIT_OBJECT_COMMIT) {
            *out = (git_commit *)o;
            return 0;
        }
        if (git_object_type(o) != GIT_OBJECT_TAG)
            break;
        id = *git_tag_target_id((git_tag *)o);
        git_object_free(o);
        o = NULL;
    }
    git_object_free(o);
    git_error_set_str(GIT_ERROR_OBJECT, "no commit");
    return -1;
}

/* Newest commit of the references matching GLOB; names break ties, as they
 * come in order. NULL when there is none. */
static git_commit *newest(struct gitrepo *r, const char *glob)
{
    git_reference_iterator *it = NULL;
    git_reference *ref = NULL;
    git_commit *best = NULL;
    char *best_name = NULL;
    if (git_reference_iterator_glob_new(&it, r->git, glob) != 0)
        return NULL;
    while (git_reference_next(&ref, it) == 0) {
        git_commit *c = NULL;
        git_oid oid;
        if (git_reference_name_to_id(&oid, r->git, git_reference_name(ref)) ==
                0 &&
            peel(r, &oid, &c) == 0) {
            const char *name = git_reference_name(ref);
            git_time_t t = git_commit_time(c);
            git_time_t b = best ? git_commit_time(best) : 0;
            if (!best || t > b || (t == b && strcmp(name, best_name) < 0)) {
                git_commit_free(best);
                free(best_name);
                best = c;
                best_name = xstrdup(name);
            } else {
                git_commit_free(c);
            }
        }
        git_reference_free(ref);
    }
    git_reference_iterator_free(it);
    free(best_name);
    return best;
}

/* References that are there but cannot be read are no empty repository. */
static int no_commit(struct err *e, int worst)
{
    if (worst == 0)
        return err_set(e, ERR_EMPTY_REPO, "no branch or tag has a commit");
    return err_set(e, ERR_CORRUPT, "the references cannot be read");
}

static int head_commit(struct gitrepo *r, git_commit **out, struct err *e)
{
    static const char *const names[] = {"HEAD", "refs/heads/main",
                                        "refs/heads/master"};
    git_oid oid;
    int worst = 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        int rc = git_reference_name_to_id(&oid, r->git, names[i]);
        if (rc != 0) {
            worst = rc != GIT_ENOTFOUND ? rc : worst;
            continue;
        }
        if (peel(r, &oid, out) == 0)
            return 0;
        return git_fail(e, ERR_MISSING_OBJECT, "cannot read commit of",
                        names[i]);
    }
    *out = newest(r, "refs/heads/*");
    if (!*out)
        *out = newest(r, "refs/tags/*");
    return *out ? 0 : no_commit(e, worst);
}

/* Object that NAME, a reference or the start of an id, stands for. */
static int named(struct gitrepo *r, const char *name, git_oid *out)
{
    git_reference *ref = NULL, *direct = NULL;
    git_oid part;
    size_t n = strlen(name);
    int rc = *name ? git_reference_dwim(&ref, r->git, name) : GIT_ENOTFOUND;
    if (rc == 0 && git_reference_resolve(&direct, ref) == 0)
        *out = *git_reference_target(direct);
    else if (rc == 0)
        rc = -1;
    git_reference_free(direct);
    git_reference_free(ref);
    if (rc == 0 || n < 4 || n > OID_HEX ||
        strspn(name, "0123456789abcdefABCDEF") != n)
        return rc;
    if (git_oid_fromstrn(&part, name, n) != 0)
        return -1;
    return git_odb_exists_prefix(out, r->odb, &part, n);
}

/* Go from *C to its parent number N (1 = first). */
static int to_parent(struct gitrepo *r, git_commit **c, unsigned n)
{
    git_commit *parent = NULL;
    const git_oid *id = git_commit_parent_id(*c, n - 1);
    if (!id ||
        gitrepo_lookup(r, id, GIT_OBJECT_COMMIT, (git_object **)&parent) != 0)
        return -1;
    git_commit_free(*c);
    *c = parent;
    return 0;
}

/* What stands behind the name: ~N and ^N. libgit2's own reading of revisions
 * loads objects of any size. */
static int follow(struct gitrepo *r, git_commit **c, const char *suffix)
{
    while (*suffix) {
        char op = *suffix++;
        unsigned n = 1;
        if (op == '^' && *suffix == '{') {
            size_t k = strcspn(suffix, "}");
            struct span what = {suffix + 1, k - 1};
            if (suffix[k] != '}' || (what.n > 0 && !span_is(what, "commit")))
                return -1;
            suffix += k + 1;
            continue;
        }
        if (*suffix >= '0' && *suffix <= '9') {
            char *end;
            unsigned long v = strtoul(suffix, &end, 10);
            if (v > GIT_MAX_ENTRIES)
                return -1;
            n = (unsigned)v;
            suffix = end;
        }
        if (op == '^' && n > 0 && to_parent(r, c, n) != 0)
            return -1;
        for (unsigned i = 0; op == '~' && i < n; i++)
            if (to_parent(r, c, 1) != 0)
                return -1;
        if (op != '^' && op != '~')
            return -1;
    }
    return 0;
}

static int rev_commit(struct gitrepo *r, const char *rev, git_commit **out,
                      struct err *e)
{
    size_t n = strcspn(rev, "~^");
    char *name = xmemdup0((struct span){rev, n});
    git_oid oid;
    int rc = -1;
    if (named(r, strcmp(name, "@") == 0 ? "HEAD" : name, &oid) == 0 &&
        peel(r, &oid, out) == 0)
        rc = follow(r, out, rev + n);
    free(name);
    if (rc == 0)
        return 0;
    git_commit_free(*out);
    *out = NULL;
    return err_set(e, ERR_MISSING_OBJECT, "no commit '%s'", rev);
}

int gitrepo_commit(struct gitrepo *r, const char *rev, char commit[OID_HEX + 1],
                   struct err *e)
{
    git_commit *c = NULL;
    int rc = rev ? rev_commit(r, rev, &c, e) : head_commit(r, &c, e);
    if (rc != 0)
        return -1;
    git_oid_tostr(commit, OID_HEX + 1, git_commit_id(c));
    git_commit_free(c);
    return 0;
}

void gitrepo_origin(struct gitrepo *r, char *out, size_t cap)
{
    git_config *all = NULL, *own = NULL;
    git_buf url = {NULL, 0, 0};
    out[0] = '\0';
    if (git_repository_config(&all, r->git) == 0 &&
        git_config_open_level(&own, all, GIT_CONFIG_LEVEL_LOCAL) == 0 &&
        git_config_get_string_buf(&url, own, "remote.origin.url") == 0)
        git_url_name((struct span){url.ptr, url.size}, out, cap);
    git_buf_dispose(&url);
    git_config_free(own);
    git_config_free(all);
}

struct level {
    git_tree *tree;
    size_t next, n;
    size_t path_len; /* of the folder, with its '/' */
};

struct walk {
    struct gitrepo *r;
    gitvisit *visit;
    void *payload;
    ARRAY(struct level) stack;
    struct buf path;
    uint64_t seen;
};

static void push_tree(struct walk *w, git_tree *t)
{
    struct level l = {t, 0, git_tree_entrycount(t), w->path.n};
    array_push(&w->stack, l);
}

/* A name that would lead elsewhere. git writes none, but anybody can. */
static bool is_odd(struct span name)
{
    return name.n == 0 || span_is(name, ".") || span_is(name, "..") ||
           memchr(name.p, '/', name.n);
}

/* Next entry of the innermost folder. */
static int walk_entry(struct walk *w, const git_tree_entry *te, struct err *e)
{
    struct gitentry entry;
    git_filemode_t mode = git_tree_entry_filemode(te);
    if (++w->seen > GIT_MAX_ENTRIES)
        return err_set(e, ERR_TOO_LARGE, "more than %d files and folders",
                       GIT_MAX_ENTRIES);
    struct span name = span_str(git_tree_entry_name(te));
    bool odd = is_odd(name);
    if ((odd ? git_odd_path(&w->path, name) : buf_addspan(&w->path, name)) != 0)
        return err_set(e, ERR_TOO_LARGE, "path of more than %d bytes",
                       GIT_MAX_PATH);
    git_oid_tostr(entry.oid, sizeof(entry.oid), git_tree_entry_id(te));
    if (odd) {
        entry.kind =
            mode == GIT_FILEMODE_TREE ? ENTRY_BAD_FOLDER : ENTRY_BAD_FILE;
    } else if (mode == GIT_FILEMODE_TREE) {
        git_tree *t = NULL;
        if (gitrepo_lookup(w->r, git_tree_entry_id(te), GIT_OBJECT_TREE,
                           (git_object **)&t) == 0) {
            if (w->stack.n >= GIT_MAX_DEPTH || buf_addc(&w->path, '/') != 0) {
                git_tree_free(t);
                return err_set(e, ERR_TOO_LARGE, "folders nested too deep");
            }
            push_tree(w, t);
            return 0;
        }
        entry.kind = ENTRY_MISSING;
    } else {
        entry.kind = mode == GIT_FILEMODE_LINK     ? ENTRY_LINK
                     : mode == GIT_FILEMODE_COMMIT ? ENTRY_GITLINK
                                                   : ENTRY_BLOB;
    }
    entry.path = buf_span(&w->path);
    return w->visit(w->payload, &entry, e);
}

int gitrepo_walk(struct gitrepo *r, const char *commit, gitvisit *visit,
                 void *payload, struct err *e)
{
    struct walk w = {.r = r,
                     .visit = visit,
                     .payload = payload,
                     .path = BUF_INIT(GIT_MAX_PATH)};
    git_oid oid;
    git_commit *c = NULL;
    git_tree *root = NULL;
    int rc = -1;
    if (git_oid_fromstr(&oid, commit) != 0 || peel(r, &oid, &c) != 0 ||
        gitrepo_lookup(r, git_commit_tree_id(c), GIT_OBJECT_TREE,
                       (git_object **)&root) != 0) {
        git_fail(e, ERR_MISSING_OBJECT, "cannot read the tree of", commit);
        goto out;
    }
    push_tree(&w, root);
    rc = 0;
    while (rc == 0 && w.stack.n > 0) {
        struct level *l = &w.stack.v[w.stack.n - 1];
        buf_setlen(&w.path, l->path_len);
        if (l->next == l->n) {
            git_tree_free(l->tree);
            w.stack.n--;
            continue;
        }
        rc = walk_entry(&w, git_tree_entry_byindex(l->tree, l->next++), e);
    }
out:
    for (size_t i = 0; i < w.stack.n; i++)
        git_tree_free(w.stack.v[i].tree);
    array_release(&w.stack);
    buf_release(&w.path);
    git_commit_free(c);
    return rc;
}

int gitrepo_blob(struct gitrepo *r, const char *oid, size_t max,
                 struct buf *out, struct err *e)
{
    git_oid id;
    git_blob *b = NULL;
    size_t size = 0;
    git_object_t type;
    if (git_oid_fromstr(&id, oid) != 0 ||
        git_odb_read_header(&size, &type, r->odb, &id) != 0)
        return git_fail(e, ERR_MISSING_OBJECT, "missing object", oid);
    if (type != GIT_OBJECT_BLOB)
        return err_set(e, ERR_MISSING_OBJECT, "object '%s' is no blob", oid);
    if (size > max)
        return err_set(e, ERR_TOO_LARGE, "%zu bytes, over %zu", size, max);
    if (git_blob_lookup(&b, r->git, &id) != 0)
        return git_fail(e, ERR_MISSING_OBJECT, "cannot read object", oid);
    struct span s = {git_blob_rawcontent(b), (size_t)git_blob_rawsize(b)};
    int rc = buf_addspan(out, s);
    git_blob_free(b);
    return rc == 0 ? 0 : err_set(e, ERR_TOO_LARGE, "%zu bytes", size);
}
