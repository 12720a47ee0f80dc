/* SPDX-License-Identifier: MIT */
/* Clones in the cache: keys, locks, what is whole and what is new. */
#include "base.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "harvest/fetch_git.h"
#include "hash.h"
#include "io.h"
#include "mem.h"
#include "proc.h"

#define MAX_OFFER    (64u << 20) /* bytes of a source's list of references */
#define LOCK_POLL_NS 50000000

static const char *const protocols[] = {"https://", "ssh://", "git://",
                                        "file://"};

enum fetch_kind fetch_kind(const char *source)
{
    struct span s = span_str(source);
    struct stat st;
    for (size_t i = 0; i < ARRAY_LEN(protocols); i++)
        if (span_starts(s, protocols[i]))
            return FETCH_URL;
    if (stat(source, &st) == 0)
        return S_ISREG(st.st_mode) && span_ends(s, ".bundle") ? FETCH_BUNDLE
                                                              : FETCH_LOCAL;
    if (strstr(source, "://") || strstr(source, "::"))
        return FETCH_REFUSED;
    size_t name = strcspn(source, ":/");
    if (source[name] == ':' && memchr(source, '@', name) && source[0] != '-')
        return FETCH_URL;
    return FETCH_LOCAL;
}

static int remove_one(const char *path, const struct stat *st, int kind,
                      struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static void remove_tree(const char *path)
{
    (void)nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS);
}

struct clone {
    const struct fetch_rules *rules;
    struct fetch_child child;
    char *clones, *home, *lock, *part; /* folders and the lock file */
    int lock_fd;
    bool whole; /* all branches and their history are cloned */
};

static void clone_release(struct clone *c)
{
    if (c->lock_fd >= 0)
        close(c->lock_fd);
    free(c->clones);
    free(c->home);
    free(c->lock);
    free(c->part);
    buf_release(&c->child.out);
}

/* The system lets no one wait for a lock with a deadline: so ask again. */
static int wait_for_lock(const struct clone *c, struct err *e)
{
    double end = now_s() + c->rules->seconds;
    while (flock(c->lock_fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno != EINTR && errno != EWOULDBLOCK)
            return err_set(e, ERR_UNAVAILABLE, "cannot lock the clone: %s",
                           strerror(errno));
        if (now_s() >= end) {
            err_set(e, ERR_TIMEOUT,
                    "another run has held the lock 'clones%s' for more than "
                    "%.0f seconds",
                    strrchr(c->lock, '/'), c->rules->seconds);
            err_hint(e, "end what holds that file of the cache folder (fuser "
                        "tells it), or give more --fetch-seconds");
            return -1;
        }
        nanosleep(&(struct timespec){.tv_nsec = LOCK_POLL_NS}, NULL);
    }
    return 0;
}

/* Names, and the lock: one run at a time works on a clone. */
static int clone_begin(struct clone *c, const char *source, struct err *e)
{
    char key[HASH_HEX + 1];
    struct sha256 *h = sha256_new();
    c->clones = io_cache_dir("clones", e);
    if (!c->clones) {
        sha256_free(h);
        return -1;
    }
    sha256_add_field(h, SPAN_LIT("km-clone 1"));
    sha256_add_field(h, span_str(source));
    sha256_add_field(h, c->rules->whole ? SPAN_LIT("whole") : SPAN_LIT("tip"));
    sha256_hex(h, key);
    sha256_free(h);
    c->home = xasprintf("%s/%.32s.git", c->clones, key);
    c->lock = xasprintf("%s/%.32s.lock", c->clones, key);
    c->part = xasprintf("%s/%.32s.part", c->clones, key);
    c->lock_fd = open(c->lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (c->lock_fd < 0)
        return err_set(e, ERR_UNAVAILABLE, "cannot lock the clone: %s",
                       strerror(errno));
    return wait_for_lock(c, e);
}

/* What the source has now, as a hash: the references of a URL, the state of a
 * bundle's file. */
static int offer(struct clone *c, char hash[HASH_HEX + 1], struct err *e)
{
    struct stat st;
    if (!c->child.bundle) {
        if (fetch_git_list(&c->child, c->whole, e) != 0)
            return -1;
        /* A HEAD that names no branch, as one left behind by a renaming: the
         * others must be there to choose from. */
        if (c->child.out.n == 0 && !c->whole) {
            c->whole = true;
            if (fetch_git_list(&c->child, true, e) != 0)
                return -1;
        }
        hash_sha256_hex(hash, buf_span(&c->child.out));
        return 0;
    }
    if (stat(c->child.source, &st) != 0)
        return err_set(e, ERR_UNAVAILABLE, "cannot read the bundle: %s",
                       strerror(errno));
    char *text = xasprintf("%lld %lld.%09ld %llu", (long long)st.st_size,
                           (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
                           (unsigned long long)st.st_ino);
    hash_sha256_hex(hash, span_str(text));
    free(text);
    return 0;
}

/* Does the clone stand for what HASH says the source has? */
static bool is_current(const struct clone *c, const char *hash)
{
    struct buf b = BUF_INIT(HASH_HEX + 2);
    struct err e;
    char *file = xasprintf("%s/km-source", c->home);
    bool same = io_read_file(&b, file, &e) == 0 && span_is(buf_span(&b), hash);
    buf_release(&b);
    free(file);
    return same;
}

/* Put the finished clone in its place. The old one leaves by the same act. */
static int settle(const struct clone *c, const char *made, const char *hash,
                  struct err *e)
{
    char *file = xasprintf("%s/km-source", made);
    int rc = outfile_write(file, span_str(hash), e);
    free(file);
    if (rc != 0)
        return err_set(e, ERR_UNAVAILABLE, "cannot write into the clone");
    if (rename(made, c->home) == 0 ||
        renameat2(AT_FDCWD, made, AT_FDCWD, c->home, RENAME_EXCHANGE) == 0)
        return 0;
    return err_set(e, ERR_UNAVAILABLE, "cannot put the clone in its place: %s",
                   strerror(errno));
}

static int clone_make(struct clone *c, struct err *e)
{
    char hash[HASH_HEX + 1];
    struct stat st;
    bool there = stat(c->home, &st) == 0;
    if (there && !c->rules->refresh)
        return 0;
    remove_tree(c->part); /* what a killed run left */
    if (mkdir(c->part, 0700) != 0)
        return err_set(e, ERR_UNAVAILABLE, "cannot make a folder: %s",
                       strerror(errno));
    c->child.dir = c->part;
    int rc = fetch_git_prepare(&c->child, e);
    if (rc == 0)
        rc = offer(c, hash, e);
    if (rc == 0 && !(there && is_current(c, hash))) {
        char *made = xasprintf("%s/clone.git", c->part);
        rc = fetch_git_clone(&c->child, c->whole, made, e);
        if (rc == 0)
            rc = settle(c, made, hash, e);
        free(made);
    }
    remove_tree(c->part);
    return rc;
}

int fetch_source(const struct fetch_rules *rules, const char *source,
                 char path[FETCH_MAX_PATH], struct err *e)
{
    enum fetch_kind kind = fetch_kind(source);
    struct clone c = {.rules = rules, .lock_fd = -1, .whole = rules->whole};
    char *real = NULL;
    int rc = -1;
    buf_init(&c.child.out, MAX_OFFER);
    c.child.source = source;
    c.child.seconds = rules->seconds;
    c.child.bundle = kind == FETCH_BUNDLE;
    if (kind == FETCH_REFUSED) {
        err_set(e, ERR_USAGE, "not a protocol that is cloned");
        err_hint(e, "https, ssh, git and file are");
        return -1;
    }
    if (c.child.bundle) {
        real = realpath(source, NULL);
        if (!real) {
            rc = err_set(e, ERR_UNAVAILABLE, "cannot read the bundle: %s",
                         strerror(errno));
            goto out;
        }
        c.child.source = real;
    }
    if (clone_begin(&c, c.child.source, e) != 0 || clone_make(&c, e) != 0)
        goto out;
    if (strlen(c.home) >= FETCH_MAX_PATH) {
        rc = err_set(e, ERR_TOO_LARGE, "the cache folder's name is too long");
        goto out;
    }
    memcpy(path, c.home, strlen(c.home) + 1);
    rc = 0;
out:
    clone_release(&c);
    free(real);
    return rc;
}
