/* SPDX-License-Identifier: MIT */
/* How git is started: its environment, its cage, what it says. */
#include "base.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "array.h"
#include "harvest/fetch_git.h"
#include "harvest/gitrepo.h"
#include "io.h"
#include "log.h"
#include "proc.h"
#include "run/jail.h"

#define MAX_SAID (1u << 20)

/*
 * Packs are kept as they come, and each object is checked. Three faults are
 * let pass: old tools wrote them into many honest histories and no file's
 * content depends on them. Blobs over the threshold are streamed, not held.
 */
static const char config[] = "[safe]\n\tdirectory = *\n"
                             "[protocol]\n\tallow = never\n"
                             "[protocol \"https\"]\n\tallow = always\n"
                             "[protocol \"ssh\"]\n\tallow = always\n"
                             "[protocol \"git\"]\n\tallow = always\n"
                             "[protocol \"file\"]\n\tallow = always\n"
                             "[core]\n\thooksPath = /dev/null\n"
                             "\taskPass =\n\tbigFileThreshold = 16m\n"
                             "[credential]\n\thelper =\n"
                             "[transfer]\n\tfsckObjects = true\n"
                             "\tunpackLimit = 1\n"
                             "[fetch \"fsck\"]\n\tzeroPaddedFilemode = ignore\n"
                             "\tbadTimezone = ignore\n"
                             "\tmissingSpaceBeforeDate = ignore\n"
                             "[fetch]\n\trecurseSubmodules = false\n"
                             "[http]\n\tlowSpeedLimit = 1000\n"
                             "\tlowSpeedTime = 60\n"
                             "[gc]\n\tauto = 0\n"
                             "[maintenance]\n\tauto = false\n"
                             "[pack]\n\tthreads = 1\n"
                             "[advice]\n\tdetachedHead = false\n";

int fetch_git_prepare(struct fetch_child *c, struct err *e)
{
    char *file = xasprintf("%s/config", c->dir);
    int rc = outfile_write(file, span_str(config), e);
    free(file);
    return rc == 0 ? 0 : err_set(e, ERR_UNAVAILABLE, "cannot write the clone");
}

struct cage {
    struct jail_conf conf;
    const char *dir;
    int log;
};

static int confine(void *payload)
{
    const struct cage *c = payload;
    const char *step;
    int r = jail_confine(&c->conf, c->dir, &step);
    if (r != 0)
        dprintf(STDERR_FILENO, "fatal: cannot confine: %s: %s\n", step,
                strerror(-r));
    return r;
}

/* The user's own authorities. SSL_CERT_FILE is what other tools go by; git
 * knows its own name only. */
static const char *authorities(void)
{
    const char *own = getenv("GIT_SSL_CAINFO");
    return own ? own : getenv("SSL_CERT_FILE");
}

static bool is_local(const struct fetch_child *c)
{
    return c->bundle || span_starts(span_str(c->source), "file://");
}

/* What git reads besides the system: names and certificates for a network, its
 * keys for ssh; the source itself when it is local. */
static void set_cage(struct cage *g, const struct fetch_child *c,
                     const char *ssh)
{
    const char *certs = authorities();
    size_t n = 0;
    *g = (struct cage){.dir = c->dir};
    g->conf.profile = JAIL_BUILDER;
    if (is_local(c)) {
        g->conf.read_paths[n++] = c->source + (c->bundle ? 0 : 7);
        return;
    }
    g->conf.profile = JAIL_FETCH;
    g->conf.read_paths[n++] = "/etc/ssl";
    g->conf.read_paths[n++] = "/etc/resolv.conf";
    g->conf.read_paths[n++] = "/etc/hosts";
    g->conf.read_paths[n++] = "/etc/nsswitch.conf";
    g->conf.read_paths[n++] = "/etc/passwd";
    if (certs)
        g->conf.read_paths[n++] = certs;
    if (!span_starts(span_str(c->source), "https://") &&
        !span_starts(span_str(c->source), "git://")) {
        g->conf.read_paths[n++] = "/etc/ssh";
        g->conf.read_paths[n++] = ssh;
    }
}

/* Everything that git learns from outside. */
static char **make_env(struct arena *a, const char *dir)
{
    static const char *const keep[] = {
        "PATH",      "http_proxy", "https_proxy", "HTTPS_PROXY",
        "all_proxy", "ALL_PROXY",  "no_proxy",    "NO_PROXY"};
    static const char *const fixed[] = {"LANG=C.UTF-8",
                                        "LC_ALL=C.UTF-8",
                                        "TZ=UTC",
                                        "GIT_CONFIG_NOSYSTEM=1",
                                        "GIT_TERMINAL_PROMPT=0",
                                        "GIT_ASKPASS=",
                                        "SSH_ASKPASS=/bin/false",
                                        "GIT_ATTR_NOSYSTEM=1",
                                        "GIT_SSH_COMMAND=ssh -o BatchMode=yes",
                                        "GIT_ALLOW_PROTOCOL="
                                        "https:ssh:git:file"};
    ARRAY(char *) env = {0};
    for (size_t i = 0; i < ARRAY_LEN(keep); i++) {
        const char *value = getenv(keep[i]);
        if (value)
            array_push(&env, arena_printf(a, "%s=%s", keep[i], value));
    }
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        array_push(&env, arena_strdup(a, span_str(fixed[i])));
    if (authorities())
        array_push(&env, arena_printf(a, "GIT_SSL_CAINFO=%s", authorities()));
    array_push(&env, arena_printf(a, "HOME=%s", dir));
    array_push(&env, arena_printf(a, "TMPDIR=%s", dir));
    array_push(&env, arena_printf(a, "GIT_CONFIG_GLOBAL=%s/config", dir));
    array_push(&env, NULL);
    return env.v;
}

/* Could the source's text be none for others? What stands before the '@' of a
 * URL or behind its '?' often is a password or a token. */
static bool is_private(const struct fetch_child *c)
{
    return is_local(c) || strpbrk(c->source, "@?#");
}

static bool is_wordy(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9');
}

/* Does LINE hold PART, not within a longer word? */
static bool holds(struct span line, struct span part)
{
    const char *p = line.p, *end = line.p + line.n;
    while (part.n > 0 && p < end &&
           (p = memmem(p, (size_t)(end - p), part.p, part.n)) != NULL) {
        if ((p == line.p || !is_wordy(p[-1])) &&
            (p + part.n == end || !is_wordy(p[part.n])))
            return true;
        p++;
    }
    return false;
}

/* Does LINE hold a user, password, query or fragment of the URL? The user of
 * ssh is no secret, nor is it that of "user@host:path". */
static bool tells_secret(const char *url, struct span line)
{
    const char *scheme = strstr(url, "://");
    const char *rest = scheme ? scheme + 3 : url;
    struct span query = span_str(rest + strcspn(rest, "?#"));
    if (query.n > 1 && holds(line, (struct span){query.p + 1, query.n - 1}))
        return true;
    const char *at = scheme ? memrchr(rest, '@', strcspn(rest, "/")) : NULL;
    if (!at)
        return false;
    struct span user = {rest, (size_t)(at - rest)}, word = {at, 0};
    const char *colon = memchr(user.p, ':', user.n);
    if (colon) {
        word = (struct span){colon + 1, (size_t)(at - colon - 1)};
        user.n = (size_t)(colon - user.p);
    }
    return holds(line, word) ||
           (!span_starts(span_str(url), "ssh://") && holds(line, user));
}

/*
 * LINE into OUT, as it may be in a record: what stands in quotes and has a '/'
 * is the source, and is named as others may see it. False: it may not be told,
 * as it names a file of this machine or more of the URL.
 */
static bool public_line(const struct fetch_child *c, struct span line,
                        struct buf *out)
{
    char source[FETCH_MAX_PATH];
    buf_clear(out);
    if (memmem(line.p, line.n, c->dir, strlen(c->dir)))
        return false;
    if (!is_private(c))
        return buf_addspan(out, line) == 0;
    git_public_source(c->source, source, sizeof(source));
    struct buf other = BUF_INIT(MAX_SAID); /* all but the source */
    for (size_t i = 0; i < line.n; i++) {
        const char *p = line.p + i;
        const char *end =
            *p == '\'' ? memchr(p + 1, '\'', line.n - i - 1) : NULL;
        if (end && !is_local(c) && memchr(p, '/', (size_t)(end - p))) {
            buf_printf(out, "'%s'", source);
            i = (size_t)(end - line.p);
            continue;
        }
        buf_addc(out, *p);
        buf_addc(&other, *p);
    }
    struct span rest = buf_span(&other);
    bool ok = !out->full && !memchr(rest.p ? rest.p : "", '/', rest.n) &&
              (is_local(c) || !tells_secret(c->source, rest));
    buf_release(&other);
    return ok;
}

/* Length of what stands before the reason in a line that tells a failure, -1
 * in other lines: git's own, and those of ssh that come before them. */
static int reason_at(struct span line)
{
    static const char *const git[] = {"fatal: ", "error: "};
    static const char *const ssh[] = {"ssh: ", "Host key verification failed",
                                      "Permission denied"};
    for (size_t i = 0; i < ARRAY_LEN(git); i++)
        if (span_starts(line, git[i]))
            return (int)strlen(git[i]);
    for (size_t i = 0; i < ARRAY_LEN(ssh); i++) {
        const char *at = memmem(line.p, line.n, ssh[i], strlen(ssh[i]));
        if (at)
            return (int)(at - line.p); /* behind the user's name */
    }
    return -1;
}

/* The lines of LOG that may be told. */
static void public_lines(const struct fetch_child *c, struct span log,
                         struct buf *out)
{
    struct buf said = BUF_INIT(MAX_SAID);
    while (log.n > 0) {
        const char *nl = memchr(log.p, '\n', log.n);
        size_t n = nl ? (size_t)(nl - log.p) : log.n;
        struct span line = {log.p, n > 0 && log.p[n - 1] == '\r' ? n - 1 : n};
        n += nl != NULL;
        log = (struct span){log.p + n, log.n - n};
        if (line.n > 0 && public_line(c, line, &said)) {
            buf_addspan(out, buf_span(&said));
            buf_addc(out, '\n');
        }
    }
    buf_release(&said);
}

/* The first line of LOG that tells a failure. */
static void tell(struct err *e, struct span log)
{
    while (log.n > 0) {
        const char *nl = memchr(log.p, '\n', log.n);
        size_t n = nl ? (size_t)(nl - log.p) : log.n;
        struct span line = {log.p, n};
        n += nl != NULL;
        log = (struct span){log.p + n, log.n - n};
        int skip = reason_at(line);
        if (skip < 0)
            continue;
        err_set(e, ERR_UNAVAILABLE, "cannot be cloned: %.*s",
                (int)MIN(line.n - (size_t)skip, (size_t)300), line.p + skip);
        return;
    }
    err_set(e, ERR_UNAVAILABLE, "cannot be cloned");
}

static int judge(struct err *e, const struct fetch_child *c,
                 const struct proc_result *r, struct span log)
{
    if (r->end == PROC_TIMEOUT)
        return err_set(e, ERR_TIMEOUT, "git took more than %.0f seconds",
                       c->seconds);
    if (r->end == PROC_EXIT && r->code == 0)
        return 0;
    if (r->end == PROC_EXIT && r->code == 125) {
        err_set(e, ERR_SANDBOX, "git cannot be confined here");
        err_hint(e, "clones need Landlock (Linux 5.13) and seccomp; a clone "
                    "made by hand can be given instead");
        return -1;
    }
    if (r->end == PROC_EXIT && r->code == 127)
        return err_set(e, ERR_UNAVAILABLE, "there is no git");
    tell(e, log);
    return -1;
}

static int run(struct fetch_child *c, const char *const *argv, struct err *e)
{
    struct arena a = ARENA_INIT;
    struct buf log = BUF_INIT(MAX_SAID), shown = BUF_INIT(MAX_SAID);
    const struct passwd *me = getpwuid(getuid());
    struct cage cage;
    struct proc_limits lim = {.wall_s = c->seconds,
                              .file_size = FETCH_MAX_FILE,
                              .confine = confine,
                              .payload = &cage,
                              .leash = true};
    struct proc_result r;
    struct proc p;
    char **env = make_env(&a, c->dir);
    int out = memfd_create("out", MFD_CLOEXEC);
    int err = memfd_create("log", MFD_CLOEXEC), rc = -1;
    struct proc_fd fds[2] = {{out, STDOUT_FILENO}, {err, STDERR_FILENO}};
    set_cage(&cage, c,
             arena_printf(&a, "%s/.ssh", me ? me->pw_dir : "/nonexistent"));
    buf_clear(&c->out);
    if (out < 0 || err < 0) {
        err_sys(e, "cannot make a memory file");
        goto end;
    }
    if (proc_spawn(&p, argv, (const char *const *)env, fds, 2, &lim, e) != 0 ||
        proc_wait(&p, c->seconds, &r, e) != 0)
        goto end;
    if (lseek(err, 0, SEEK_SET) == 0) {
        struct err full;
        (void)!io_read_fd(&log, err, &full); /* the first part is enough */
    }
    public_lines(c, buf_span(&log), &shown);
    struct buf *own = is_local(c) ? &log : &shown; /* for the user's eyes */
    if (own->n > 0)
        log_info("git: %.*s", (int)MIN(own->n, (size_t)2000), own->p);
    rc = judge(e, c, &r, buf_span(&shown));
    if (rc == 0 &&
        (lseek(out, 0, SEEK_SET) != 0 || io_read_fd(&c->out, out, e) != 0))
        rc = err_set(e, ERR_TOO_LARGE, "too many references");
end:
    if (out >= 0)
        close(out);
    if (err >= 0)
        close(err);
    free(env);
    buf_release(&log);
    buf_release(&shown);
    arena_release(&a);
    return rc;
}

int fetch_git_list(struct fetch_child *c, bool all, struct err *e)
{
    const char *argv[] = {"git",     "ls-remote",         "--quiet", "--",
                          c->source, all ? NULL : "HEAD", NULL};
    return run(c, argv, e);
}

int fetch_git_clone(struct fetch_child *c, bool all, const char *to,
                    struct err *e)
{
    const char *argv[16] = {"git",    "clone",       "--quiet",
                            "--bare", "--template=", "--no-local"};
    size_t n = 6;
    if (!all && !c->bundle) {
        argv[n++] = "--depth=1";
        argv[n++] = "--single-branch";
        argv[n++] = "--no-tags";
    }
    argv[n++] = "--";
    argv[n++] = c->source;
    argv[n++] = to;
    return run(c, argv, e);
}
