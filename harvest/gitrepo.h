/* SPDX-License-Identifier: MIT */
/*
 * A git repository to read from, by libgit2: no checkout, no hooks, no
 * configuration but the repository's own. Everything in it is untrusted.
 */
#ifndef KM_GITREPO_H
#define KM_GITREPO_H

#include "buf.h"
#include "err.h"

#define OID_HEX 40

/* Once a process, before anything else. */
int git_start(struct err *e) MUST_USE;
void git_stop(void);

struct gitrepo;
/* PATH: work tree, its .git, bare repository or linked work tree; not
 * searched upwards. ERR_NOT_A_REPO. */
int gitrepo_open(struct gitrepo **out, const char *path,
                 struct err *e) MUST_USE;
void gitrepo_close(struct gitrepo *r);

/* Commit of REV, or without REV: HEAD; when that names no commit, main,
 * master, the newest branch, the newest tag. REV is the name of a reference or
 * a (shortened) object id, with any of ~, ~N, ^, ^N, ^{} and ^{commit} behind.
 * ERR_EMPTY_REPO, ERR_MISSING_OBJECT, ERR_CORRUPT (references that cannot be
 * read). */
int gitrepo_commit(struct gitrepo *r, const char *rev, char commit[OID_HEX + 1],
                   struct err *e) MUST_USE;

/* "host/owner/name" of the URL of remote origin, or "". */
void gitrepo_origin(struct gitrepo *r, char *out, size_t cap);
/* The same of one URL; no user, password, port, query or ".git"; "" for a local
 * path. */
void git_url_name(struct span url, char *out, size_t cap);
/* SOURCE as a message may name it: a URL without user, password and query. */
void git_public_source(const char *source, char *out, size_t cap);
/* Name of the folder at PATH: "x" for "a/x/", "a/x.git", "a/x/.git". */
void git_folder_name(const char *path, char *out, size_t cap);

enum entry_kind {
    ENTRY_BLOB,
    ENTRY_LINK,
    ENTRY_GITLINK,
    ENTRY_MISSING,  /* a folder whose tree is not there */
    ENTRY_BAD_FILE, /* its name cannot be one: "..", "a/b" */
    ENTRY_BAD_FOLDER
};

/*
 * Append to PATH, "" or a folder with its '/', a name that is none, in a form
 * that no sound path has and that no two names share: "/" and the name with
 * '%', '/' and bytes outside of printable ASCII as %XX. -1 when it is too long.
 */
int git_odd_path(struct buf *path, struct span name) MUST_USE;

struct gitentry {
    struct span path; /* raw bytes, '/' between the parts; of a bad name as
                         git_odd_path makes it */
    enum entry_kind kind;
    char oid[OID_HEX + 1];
};

/* Limits of one walk: a few objects can describe more entries than memory. */
#define GIT_MAX_ENTRIES 1000000
#define GIT_MAX_DEPTH   128
#define GIT_MAX_PATH    4096
#define GIT_MAX_OBJECT  (64u << 20) /* commit, tag or tree, unpacked */
#define GIT_MAX_TAGS    16          /* tags of tags */

/*
 * Walk the tree of COMMIT depth first, in git's order, and call VISIT for all
 * that is no folder, and for folders that are missing. VISIT returns 0, or -1
 * with E to end the walk. ERR_MISSING_OBJECT when commit or root tree are not
 * there, ERR_TOO_LARGE beyond the limits.
 */
typedef int gitvisit(void *payload, const struct gitentry *entry,
                     struct err *e);
int gitrepo_walk(struct gitrepo *r, const char *commit, gitvisit *visit,
                 void *payload, struct err *e) MUST_USE;

/*
 * Every commit that COMMIT reaches, newest first (equal times: by id). NEWS
 * gets those with something that no newer one has: the raw ids (20 bytes each)
 * of files that WANT asks for by name, and of folders that are missing. WANT
 * also says which folders are entered. A missing commit ends its line, as in a
 * shallow clone. ERR_TOO_LARGE beyond GIT_MAX_HISTORY commits or objects.
 */
#define GIT_MAX_HISTORY 5000000
typedef bool gitwant(struct span name, bool folder);
typedef int gitnews(void *payload, const char *commit, struct span oids,
                    struct err *e);
int gitrepo_history(struct gitrepo *r, const char *commit, gitwant *want,
                    gitnews *news, void *payload, struct err *e) MUST_USE;

/* Append a blob to OUT. Its size is asked first: ERR_TOO_LARGE beyond MAX
 * bytes. ERR_MISSING_OBJECT. */
int gitrepo_blob(struct gitrepo *r, const char *oid, size_t max,
                 struct buf *out, struct err *e) MUST_USE;

#endif
