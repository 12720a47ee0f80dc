/* SPDX-License-Identifier: MIT */
/*
 * Any objects and references as a repository, read by libgit2 and harvested
 * with its history; every record must be whole. The input is a list of parts,
 * each a line's beginning "%" and a kind, up to the next such beginning:
 *
 *   %b %t %c %g  a raw blob, tree, commit, tag; inside, byte 1 and a letter
 *                stand for the id of an earlier part (raw in trees, else hex)
 *   %0 to %9     a file of the repository, see `files`; ids are hex
 *
 * A commit becomes refs/heads/main. Objects are written by libgit2 and the
 * files as they are, so that packs and indices are as broken as they come.
 */
#include "base.h"

#include <ftw.h>
#include <git2.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harvest/blobs.h"
#include "harvest/harvest.h"
#include "harvest/targets.h"
#include "io.h"
#include "log.h"
#include "schema.h"
#include "utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* libgit2 1.5 loses a few KB for each line of a configuration. km-harvest reads
 * each repository in a process of its own. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libpcre2";
}

#define MAX_PARTS 60

static const char *const files[10] = {
    "HEAD",
    "config",
    "packed-refs",
    "shallow",
    "objects/info/alternates",
    "refs/heads/main",
    "refs/heads/side",
    "refs/tags/v1",
    "objects/pack/pack-1111111111111111111111111111111111111111.idx",
    "objects/pack/pack-1111111111111111111111111111111111111111.pack",
};
static const char *const folders[] = {
    "", "objects", "objects/info", "refs/heads", "refs/tags", "objects/pack"};

struct forge {
    char *root;
    git_repository *git;
    git_odb *odb;
    git_oid ids[MAX_PARTS];
    size_t n;
};

static char *temporary; /* folder of this process */
static struct harvest_kit kit;

static int unlink_one(const char *path, const struct stat *st, int kind,
                      struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static void remove_all(void)
{
    nftw(temporary, unlink_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void put_file(const char *root, const char *name, struct span text)
{
    char *path = xasprintf("%s/%s", root, name);
    FILE *f = fopen(path, "we");
    if (f) {
        fwrite(text.p, 1, text.n, f);
        fclose(f);
    }
    free(path);
}

static void put_frame(const char *root)
{
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        char *path = xasprintf("%s/%s", root, folders[i]);
        for (char *p = path + strlen(root) + 1; *p; p++)
            if (*p == '/') {
                *p = '\0';
                mkdir(path, 0700);
                *p = '/';
            }
        mkdir(path, 0700);
        free(path);
    }
    put_file(root, "HEAD", SPAN_LIT("ref: refs/heads/main\n"));
    put_file(root, "config",
             SPAN_LIT("[core]\nrepositoryformatversion = 0\nbare = true\n"));
}

/* TEXT with the ids that it asks for. */
static void fill_ids(const struct forge *f, struct span text, bool raw,
                     struct buf *out)
{
    char hex[OID_HEX + 1];
    for (size_t i = 0; i < text.n; i++) {
        size_t k = i + 1 < text.n ? (size_t)(text.p[i + 1] - 'A') : 0;
        if (text.p[i] != 1 || i + 1 >= text.n || k >= f->n) {
            (void)!buf_addc(out, text.p[i]);
            continue;
        }
        i++;
        git_oid_tostr(hex, sizeof(hex), &f->ids[k]);
        (void)!buf_addspan(
            out, raw ? (struct span){(const char *)f->ids[k].id, OID_HEX / 2}
                     : span_str(hex));
    }
}

static void put_part(struct forge *f, char kind, struct span text)
{
    static const char kinds[] = "btcg";
    static const git_object_t types[] = {GIT_OBJECT_BLOB, GIT_OBJECT_TREE,
                                         GIT_OBJECT_COMMIT, GIT_OBJECT_TAG};
    struct buf filled = BUF_INIT(1 << 20);
    char hex[OID_HEX + 1];
    const char *at = kind ? strchr(kinds, kind) : NULL;
    fill_ids(f, text, kind == 't', &filled);
    if (kind >= '0' && kind <= '9') {
        put_file(f->root, files[kind - '0'], buf_span(&filled));
    } else if (at && f->n < MAX_PARTS &&
               git_odb_write(&f->ids[f->n], f->odb, filled.p ? filled.p : "",
                             filled.n, types[at - kinds]) == 0) {
        git_oid_tostr(hex, sizeof(hex), &f->ids[f->n++]);
        if (kind == 'c')
            put_file(f->root, "refs/heads/main", span_str(hex));
    }
    buf_release(&filled);
}

static void put_parts(struct forge *f, struct span in)
{
    while (in.n >= 2) {
        const char *next = memmem(in.p, in.n, "\n%", 2);
        size_t n = next ? (size_t)(next - in.p) : in.n;
        if (in.p[0] == '%' && n >= 2) {
            /* "%b " or "%b\n", then the text */
            size_t skip = MIN(n, (size_t)3);
            put_part(f, in.p[1], (struct span){in.p + skip, n - skip});
        }
        in = next ? (struct span){next + 1, in.n - n - 1} : (struct span){0};
    }
}

/* Whole records, as km-harvest writes them: nothing else is in OUT. */
static size_t check_records(struct span out)
{
    size_t n = 0, used;
    for (; out.n > 0; n++) {
        struct arena a = ARENA_INIT;
        struct val *v;
        struct err e;
        if (val_unpack(&a, out, &used, &v, &e) != 0 || used == 0)
            bug("record %zu: %s", n, e.msg);
        if (rec_kind(v).n == 0 || rec_id(v).n == 0)
            bug("record %zu has no kind or id", n);
        out = (struct span){out.p + used, out.n - used};
        arena_release(&a);
    }
    return n;
}

static int one_commit(void *payload, const char *commit, struct span oids,
                      struct err *e)
{
    struct target t = *(struct target *)payload;
    struct harvest_rules rules = {.any_licence = true};
    struct harvest_done done;
    struct buf out = BUF_INIT(HARVEST_MAX_OUT);
    memcpy(t.commit, commit, sizeof(t.commit));
    if (oids.n % (OID_HEX / 2) != 0)
        bug("%zu bytes of ids", oids.n);
    if (harvest_repo(&rules, &kit, &t, oids, &out, &done, e) == 0)
        check_records(buf_span(&out));
    buf_release(&out);
    return 0;
}

static void harvest_all(const char *root)
{
    struct target t = {.number = 1, .name = "x"};
    struct harvest_rules rules = {.any_licence = true, .functions = true};
    struct harvest_done done;
    struct buf out = BUF_INIT(HARVEST_MAX_OUT);
    struct gitrepo *r = NULL;
    char origin[256];
    snprintf(t.path, sizeof(t.path), "%s", root);
    if (gitrepo_open(&r, root, &t.err) == 0) {
        gitrepo_origin(r, origin, sizeof(origin));
        if (gitrepo_commit(r, NULL, t.commit, &t.err) == 0 &&
            gitrepo_history(r, t.commit, harvest_wants, one_commit, &t,
                            &t.err) != 0 &&
            !t.err.msg[0])
            bug("no reason");
        if (gitrepo_commit(r, "v1~1^{}", t.commit, &t.err) != 0)
            (void)!gitrepo_commit(r, NULL, t.commit, &t.err);
    }
    gitrepo_close(r);
    if (harvest_repo(&rules, &kit, &t, (struct span){NULL, 0}, &out, &done,
                     &t.err) != 0 ||
        check_records(buf_span(&out)) == 0)
        bug("a repository without a record");
    buf_release(&out);
}

static void start(void)
{
    static const char *const places[] = {"/dev/shm", "/tmp"};
    struct err e;
    if (git_start(&e) != 0 || !(kit.parser = pyparser_new(&e)))
        die_err(&e);
    git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 0);
    for (size_t i = 0; i < ARRAY_LEN(places) && !temporary; i++) {
        char *name = xasprintf("%s/km-fuzz-XXXXXX", places[i]);
        if (mkdtemp(name))
            temporary = name;
        else
            free(name);
    }
    if (!temporary)
        die("no place for a repository");
    atexit(remove_all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct forge f = {0};
    if (!temporary)
        start();
    if (size > 20000)
        return 0;
    f.root = xasprintf("%s/r", temporary);
    put_frame(f.root);
    if (git_repository_open_bare(&f.git, f.root) == 0 &&
        git_repository_odb(&f.odb, f.git) == 0)
        put_parts(&f, (struct span){(const char *)data, size});
    git_odb_free(f.odb);
    git_repository_free(f.git);
    kit.blobs = blobs_new();
    harvest_all(f.root);
    blobs_free(kit.blobs);
    nftw(f.root, unlink_one, 8, FTW_DEPTH | FTW_PHYS);
    free(f.root);
    return 0;
}
