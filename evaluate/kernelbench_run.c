/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "array.h"
#include "evaluate/kernelbench_results.h"
#include "evaluate/kernelbench_run.h"
#include "io.h"
#include "schema.h"
#include "utf8.h"

#define RESULTS "eval_results.json"
#define WANTED                                                                 \
    "--compare takes KernelBench's " RESULTS " or the folder that holds it"
#define BENCHMARK "kernelbench"
#define CODE_MAX  (1u << 20)
#define NAME_MAX_ 200 /* bytes of the run's name */
#define NAMED     20  /* of a kind in the report */

/* ---- tasks ---- */

struct kb_place {
    const char *id;
    bool own; /* of KernelBench by name */
};

static struct span place_key(char *key, size_t cap, int64_t level,
                             int64_t problem)
{
    snprintf(key, cap, "%" PRId64 "/%" PRId64, level, problem);
    return span_str(key);
}

void kb_places_add(struct kb_places *p, const struct val *task)
{
    int64_t level = val_geti(task, "level", -1),
            problem = val_geti(task, "problem", -1);
    bool own = span_is(val_gets(task, "benchmark"), BENCHMARK);
    struct kb_place *at;
    char key[48];
    void **ref;

    if (level < 0 || problem < 0 || val_gets(task, "variant_of").n)
        return;
    ref = map_ref(&p->ids, place_key(key, sizeof(key), level, problem));
    at = *ref;
    if (at && (at->own || !own)) {
        p->repeated++;
        return;
    }
    if (at)
        p->repeated++;
    else
        at = *ref = arena_zalloc(&p->mem, sizeof(*at));
    at->id = arena_strdup(&p->mem, val_gets(task, "id"));
    at->own = own;
}

void kb_places_release(struct kb_places *p)
{
    map_release(&p->ids);
    arena_release(&p->mem);
}

/* ---- the folder ---- */

struct file {
    int32_t level, problem, sample;
};

struct kb_run {
    const struct kb_places *places;
    struct kb_results results;
    ARRAY(struct file) files;
    size_t at; /* next of the files */
    size_t unread, no_task;
    size_t strange; /* kernels whose names are of no known form */
    ARRAY(struct file) no_result;
    char *name;
    int dir;
};

/* Takes WORD and a number off the front of S; -1. */
static int32_t take_number(struct span *s, const char *word)
{
    size_t n = strlen(word), digits = 0;
    int32_t out;

    if (!span_starts(*s, word))
        return -1;
    while (n + digits < s->n && s->p[n + digits] >= '0' &&
           s->p[n + digits] <= '9')
        digits++;
    out = kb_number((struct span){s->p + n, digits});
    *s = (struct span){s->p + n + digits, s->n - n - digits};
    return out;
}

static bool file_named(const char *name, struct file *out)
{
    struct span s = span_str(name);

    out->level = take_number(&s, "level_");
    out->problem = take_number(&s, "_problem_");
    out->sample = take_number(&s, "_sample_");
    return out->level >= 0 && out->problem >= 0 && out->sample >= 0 &&
           span_is(s, "_kernel.py");
}

static char *program_name(struct arena *a, const struct file *f)
{
    return arena_printf(a, "level_%d_problem_%d_sample_%d", (int)f->level,
                        (int)f->problem, (int)f->sample);
}

static int by_number(const void *pa, const void *pb)
{
    const struct file *a = pa, *b = pb;
    int c = (a->level > b->level) - (a->level < b->level);
    if (!c)
        c = (a->problem > b->problem) - (a->problem < b->problem);
    return c ? c : (a->sample > b->sample) - (a->sample < b->sample);
}

static int list_files(struct kb_run *r, struct err *e)
{
    int fd = openat(r->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (!d) {
        err_sys(e, "cannot list folder '%s'", r->name);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    while (r->files.n <= KB_RESULTS_MAX && (entry = readdir(d)) != NULL) {
        struct file f;
        if (file_named(entry->d_name, &f))
            array_push(&r->files, f);
        else
            r->strange += span_ends(span_str(entry->d_name), "_kernel.py");
    }
    closedir(d);
    if (r->files.n > KB_RESULTS_MAX)
        return err_set(e, ERR_TOO_LARGE, "'%s' has more than %u kernels",
                       r->name, KB_RESULTS_MAX);
    if (r->files.n)
        qsort(r->files.v, r->files.n, sizeof(*r->files.v), by_number);
    if (r->files.n && r->files.v[0].level != r->files.v[r->files.n - 1].level) {
        err_set(e, ERR_BROKEN_INPUT, "'%s' has kernels of levels %d and %d",
                r->name, (int)r->files.v[0].level,
                (int)r->files.v[r->files.n - 1].level);
        return err_hint(e, "its results name no level: give each level a "
                           "folder of its own");
    }
    return 0;
}

/* Append the regular file NAME of the folder to B. */
static int read_file(const struct kb_run *r, const char *name, struct buf *b,
                     struct err *e)
{
    struct stat st;
    int rc;
    /* O_NONBLOCK: a pipe under this name must not hold us up. */
    int fd =
        openat(r->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0 && errno == ELOOP)
        return err_set(e, ERR_BROKEN_INPUT, "'%s' is a symbolic link", name);
    if (fd < 0)
        return err_sys(e, "cannot open '%s'", name);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        rc = err_set(e, ERR_BROKEN_INPUT, "'%s' is no file", name);
    else if ((rc = io_read_fd(b, fd, e)) < 0)
        err_wrap(e, "'%s'", name);
    close(fd);
    return rc;
}

/* Last part of FOLDER, as it is written unless that says nothing. */
static char *run_name(const char *folder)
{
    char name[NAME_MAX_ + 1], *real = NULL;
    struct span s = span_str(folder);
    const char *slash;

    while (s.n > 1 && s.p[s.n - 1] == '/')
        s.n--;
    if (span_is(s, ".") || span_is(s, "..") || span_ends(s, "/.") ||
        span_ends(s, "/..")) {
        real = realpath(folder, NULL);
        s = span_str(real ? real : "run");
    }
    slash = memrchr(s.p, '/', s.n);
    if (slash)
        s = (struct span){slash + 1, s.n - (size_t)(slash + 1 - s.p)};
    mask_text(name, sizeof(name), s);
    free(real);
    return xstrdup(*name ? name : "run");
}

/* Opens the folder of PATH and tells its FILE. */
static int find_folder(struct kb_run *r, const char *path, char **file,
                       struct err *e)
{
    const char *slash = strrchr(path, '/');
    char *folder;
    struct stat st;

    if (stat(path, &st) < 0) {
        err_sys(e, "cannot read '%s'", path);
        return err_hint(e, WANTED);
    }
    if (S_ISDIR(st.st_mode)) {
        folder = xstrdup(path);
        *file = xstrdup(RESULTS);
    } else {
        size_t n = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
        folder = n ? xmemdup0((struct span){path, n}) : xstrdup(".");
        *file = xstrdup(slash ? slash + 1 : path);
    }
    r->name = run_name(folder);
    r->dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->dir < 0)
        err_sys(e, "cannot open folder '%s'", folder);
    free(folder);
    return r->dir < 0 ? -1 : 0;
}

struct kb_run *kb_run_open(const char *path, const struct kb_places *places,
                           struct err *e)
{
    struct kb_run *r = xcalloc(1, sizeof(*r));
    struct buf b = BUF_INIT(KB_RESULTS_BYTES);
    char *file = NULL;
    int rc = -1;

    r->dir = -1;
    r->places = places;
    r->results.mem = (struct arena)ARENA_INIT;
    if (find_folder(r, path, &file, e))
        goto out;
    if (read_file(r, file, &b, e)) {
        err_wrap(e, "run '%s'", r->name);
        err_hint(e, WANTED);
        goto out;
    }
    if (kb_results_read(&r->results, buf_span(&b), e)) {
        err_wrap(e, "'%s' of run '%s'", file, r->name);
        goto out;
    }
    rc = list_files(r, e);
out:
    buf_release(&b);
    free(file);
    if (rc == 0)
        return r;
    kb_run_free(r);
    return NULL;
}

void kb_run_free(struct kb_run *r)
{
    if (!r)
        return;
    if (r->dir >= 0)
        close(r->dir);
    kb_results_release(&r->results);
    array_release(&r->files);
    array_release(&r->no_result);
    free(r->name);
    free(r);
}

/* ---- candidates ---- */

static struct val *recorded(struct arena *a, const struct kb_result *x)
{
    struct val *m = val_map(a);

    val_set(a, m, "form", val_strz(a, BENCHMARK));
    val_set(a, m, "outcome",
            val_strz(a, kb_said_name(x ? x->said : KB_ABSENT)));
    if (!x)
        return m;
    val_set(a, m, "correct", val_bool(a, x->said == KB_CORRECT));
    val_set(a, m, "compiled", val_bool(a, x->compiled));
    if (x->ms > 0)
        val_set(a, m, "ms", val_float(a, x->ms));
    if (x->reason.n)
        val_set(a, m, "reason", val_text(a, x->reason));
    if (x->hardware.n)
        val_set(a, m, "hardware", val_text(a, x->hardware));
    return m;
}

/* A problem without a task gets a name that says which; no task has it. */
static struct val *task_of(struct kb_run *r, struct arena *a,
                           const struct file *f)
{
    char key[48];
    const struct kb_place *p = map_get(
        &r->places->ids, place_key(key, sizeof(key), f->level, f->problem));

    if (p)
        return val_strz(a, p->id);
    r->no_task++;
    return val_strf(a, BENCHMARK " level %d problem %d", (int)f->level,
                    (int)f->problem);
}

static int set_code(struct kb_run *r, struct arena *a, const char *program,
                    struct val *rec, struct err *e)
{
    struct buf b = BUF_INIT(CODE_MAX);
    char *name = arena_printf(a, "%s_kernel.py", program);
    int rc = read_file(r, name, &b, e);

    if (rc == 0 && utf8_valid(buf_span(&b)) < b.n)
        rc = err_set(e, ERR_ENCODING, "'%s' is not UTF-8", name);
    if (rc == 0)
        val_set(a, rec, "code", val_str(a, buf_span(&b)));
    buf_release(&b);
    return rc;
}

int kb_run_next(struct kb_run *r, struct arena *a, struct val **out)
{
    struct err e = {0};
    struct val *rec;
    const struct file *f;
    struct kb_result *said;
    char *program;

    if (r->at >= r->files.n)
        return KM_END;
    f = &r->files.v[r->at++];
    said = kb_results_find(&r->results, f->problem, f->sample);
    if (said)
        said->used = true;
    else
        array_push(&r->no_result, *f);
    program = program_name(a, f);
    rec = rec_new(a, "revision");
    val_set(a, rec, "task", task_of(r, a, f));
    val_set(a, rec, "run", val_text(a, span_str(r->name)));
    val_set(a, rec, "program", val_strz(a, program));
    val_set(a, rec, "sample", val_int(a, f->sample));
    val_set(a, rec, "language", val_strz(a, "torch"));
    val_set(a, rec, "recorded", recorded(a, said));
    if (set_code(r, a, program, rec, &e)) {
        r->unread++;
        rec_fail(a, rec, "evaluate",
                 e.code == ERR_SYS ? ERR_BROKEN_INPUT : e.code, e.msg);
    }
    *out = rec;
    return KM_OK;
}

/* ---- report ---- */

static void report_files(const struct kb_run *r, struct buf *out)
{
    struct arena a = ARENA_INIT;

    if (!r->no_result.n)
        return;
    buf_printf(out, "kernels without a result: %zu:", r->no_result.n);
    for (size_t i = 0; i < MIN(r->no_result.n, (size_t)NAMED); i++)
        buf_printf(out, " %s", program_name(&a, &r->no_result.v[i]));
    buf_adds(out, r->no_result.n > NAMED ? " ...\n" : "\n");
    arena_release(&a);
}

static void report_results(const struct kb_run *r, struct buf *out)
{
    size_t n = 0, named = 0;

    for (size_t i = 0; i < r->results.n; i++)
        n += !r->results.v[i].used;
    if (!n)
        return;
    buf_printf(out, "results without a kernel: %zu:", n);
    for (size_t i = 0; i < r->results.n && named < NAMED; i++) {
        const struct kb_result *x = &r->results.v[i];
        if (x->used)
            continue;
        named++;
        buf_printf(out, " problem_%d_sample_%d", (int)x->problem,
                   (int)x->sample);
    }
    buf_adds(out, n > NAMED ? " ...\n" : "\n");
}

static void report_count(struct buf *out, const char *what, size_t n)
{
    if (n)
        buf_printf(out, "%s: %zu\n", what, n);
}

void kb_run_report(const struct kb_run *r, struct buf *out)
{
    buf_printf(out, "run %s: %zu kernels, %zu results\n", r->name, r->files.n,
               r->results.n);
    report_files(r, out);
    report_results(r, out);
    report_count(out, "entries that are no results", r->results.broken);
    report_count(out, "results that a later one of the same sample replaces",
                 r->results.repeated);
    report_count(out, "kernels under other names, not read", r->strange);
    report_count(out, "kernels that can't be read", r->unread);
    report_count(out, "tasks of a problem that has one already, not used",
                 r->places->repeated);
    report_count(out, "kernels without a task", r->no_task);
    if (r->no_task)
        buf_adds(out, "hint: km-testgen import CHECKOUT/KernelBench makes the "
                      "tasks of KernelBench's problems\n");
}
