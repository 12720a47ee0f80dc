/* SPDX-License-Identifier: MIT */
/*
 * km-testgen import: finds tasks in files and folders (foreign.h), in order,
 * and lets workers examine them.
 */
#include "base.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "array.h"
#include "io.h"
#include "log.h"
#include "pool.h"
#include "stage.h"
#include "testgen/commands.h"
#include "testgen/examine.h"
#include "testgen/foreign.h"
#include "testgen/graphs.h"
#include "zio.h"

#define ITEM_MAX  (20u << 20) /* a draft with its source, packed */
#define LINE_MAX_ (16u << 20) /* one row, or one JSON file */
#define FILES_MAX 100000
#define DEPTH_MAX 16
#define BAD_MAX   20 /* lines that are no JSON before a file is none of ours */

static const char *opt_benchmark, *opt_licence;

static const struct opt import_opts[] = {
    {OPT_GROUP, 0, "Import", NULL, NULL, NULL, 0, 0, false},
    {OPT_STR, 0, "benchmark", &opt_benchmark, "NAME",
     "benchmark that all of it belongs to (default: what it says)", 0, 0, true},
    {OPT_STR, 0, "licence", &opt_licence, "SPDX",
     "licence of what names none itself", 0, 0, true},
    {0},
};

struct import {
    struct host host;
    struct pyparser *parser;
    struct pool *pool;
    struct emit *out;
    struct graphs graphs;
    int argc;
    char **argv;
    uint64_t files, others; /* files read, and those that hold no task */
    bool found;             /* something in the file that is being read */
};

/* ---- a worker ---- */

static int work(void *state, struct span item, struct buf *out, struct err *e)
{
    struct import *im = state;
    struct arena a = ARENA_INIT;
    struct val *v, *rec, *found;
    size_t used;
    int rc = -1;
    if (val_unpack(&a, item, &used, &v, e) != 0 ||
        examine(&im->host, &a, val_gets(v, "source"), val_gets(v, "entry"),
                val_gets(v, "tail"), &found, e) < 0)
        goto out;
    rec = val_get(v, "task");
    val_set(&a, rec, "source", val_get(v, "source"));
    examine_fill(&a, rec, found);
    rc = examine_pack(&a, rec, out, e);
out:
    arena_release(&a);
    return rc;
}

static void *start_worker(void *payload)
{
    struct import *im = payload;
    host_start(&im->host, true);
    return im;
}

static int result(void *payload, struct span item, int status, struct span out,
                  struct err *e)
{
    struct import *im = payload;
    struct arena a = ARENA_INIT;
    struct val *v, *rec;
    size_t used;
    int rc;
    if (status == 0) {
        struct buf packed = BUF_INIT(out.n + 1024);
        rc = buf_addspan(&packed, out) || graphs_mark(&im->graphs, &packed, e)
                 ? -1
                 : emit_packed(im->out, buf_span(&packed), e);
        buf_release(&packed);
        return rc;
    }
    if (status == POOL_PASSED)
        return emit_packed(im->out, item, e);
    rc = val_unpack(&a, item, &used, &v, NULL);
    if (rc == 0) {
        rec = val_get(v, "task");
        val_set(&a, rec, "source", val_get(v, "source"));
        rec_fail(&a, rec, "testgen", e->code, e->msg);
        rc = emit_rec(im->out, &a, rec, e);
    }
    arena_release(&a);
    return rc;
}

/* ---- drafts to the workers ---- */

static void settle_origin(struct arena *a, struct val *task)
{
    struct val *origin = val_get(task, "origin");
    if (opt_benchmark)
        val_set(a, task, "benchmark", val_text(a, span_str(opt_benchmark)));
    if (opt_licence && !val_get(origin, "licence")) {
        struct val *l = val_map(a);
        val_set(a, l, "spdx", val_text(a, span_str(opt_licence)));
        val_set(a, l, "evidence", val_strz(a, "--licence"));
        val_set(a, origin, "licence", l);
    }
}

/* What is wrong with one task of PATH costs that task. */
static int put_broken(struct import *im, struct arena *a, struct val *task,
                      const char *path, struct err *why, struct err *e)
{
    struct buf b = BUF_INIT(ITEM_MAX);
    int rc;
    im->found = true;
    if (!task) {
        struct val *origin = val_map(a);
        task = rec_new(a, "task");
        val_set(a, task, "name", val_text(a, span_str(path)));
        val_set(a, origin, "path", val_text(a, span_str(path)));
        val_set(a, task, "origin", origin);
    }
    settle_origin(a, task);
    if (!val_get(task, "source")) /* for its id only */
        val_set(a, task, "source", val_strf(a, "%s %s", path, why->msg));
    rec_fail(a, task, "testgen", why->code, why->msg);
    rec_seal(a, task);
    rc = val_pack(&b, task) || pool_pass(im->pool, buf_span(&b), e) < 0
             ? KM_DEAD
             : 0;
    buf_release(&b);
    return rc;
}

static int put_draft(struct import *im, struct arena *a, struct draft *d,
                     const char *path, struct err *e)
{
    struct buf b = BUF_INIT(ITEM_MAX);
    struct val *v = val_map(a);
    struct err why = {0};
    int rc;
    settle_origin(a, d->task);
    val_set(a, v, "task", d->task);
    val_set(a, v, "source", val_str(a, d->source));
    val_set(a, v, "entry", val_str(a, d->entry));
    val_set(a, v, "tail", val_str(a, d->tail));
    if (d->source.n > PY_MAX_SOURCE || val_pack(&b, v)) {
        err_set(&why, ERR_TOO_LARGE, "the source is too large");
        rc = put_broken(im, a, d->task, path, &why, e);
    } else {
        rc = pool_put(im->pool, buf_span(&b), e) < 0 ? KM_DEAD : 0;
    }
    buf_release(&b);
    return rc;
}

/* GOT is what foreign_... said. A file that was not NAMED on the command line
 * may hold something else, if nothing else in it is a task. */
static int put(struct import *im, struct arena *a, int got, struct draft *d,
               const char *path, bool named, struct err *why, struct err *e)
{
    im->found = im->found || got <= 0 || named;
    if (got == 0)
        return put_draft(im, a, d, path, e);
    if (got > 0 && !named && !im->found)
        return 0;
    if (got > 0)
        err_set(why, ERR_BROKEN_INPUT, "'%s' holds no task of a known form",
                path);
    return put_broken(im, a, got < 0 ? d->task : NULL, path, why, e);
}

/* ---- files ---- */

static int read_text(struct buf *text, const char *full, struct err *e)
{
    struct buf raw = BUF_INIT(PY_MAX_SOURCE);
    int rc = io_read_file(&raw, full, e);
    if (rc == 0)
        rc = py_decode(text, buf_span(&raw), e);
    buf_release(&raw);
    return rc < 0 ? -1 : 0;
}

static int python_file(struct import *im, const char *full, const char *path,
                       bool named, struct err *e)
{
    struct buf text = BUF_INIT(PY_MAX_SOURCE);
    struct arena a = ARENA_INIT;
    struct draft d = {0};
    struct err why = {0};
    int got = read_text(&text, full, &why);
    if (got == 0)
        got = foreign_python(&d, &a, im->parser, path, buf_span(&text), &why);
    got = put(im, &a, got, &d, path, named, &why, e);
    arena_release(&a);
    buf_release(&text);
    return got;
}

static int read_json(struct arena *a, struct buf *b, const char *full,
                     struct val **out, struct err *e)
{
    if (io_read_file(b, full, e) < 0)
        return -1;
    return val_parse_json(a, buf_span(b), VAL_JSON_LENIENT, out, e);
}

/* FULL is a folder's func_forward.py. */
static int robust_folder(struct import *im, const char *full, const char *path,
                         struct err *e)
{
    struct buf text = BUF_INIT(PY_MAX_SOURCE), raw = BUF_INIT(1u << 20);
    struct arena a = ARENA_INIT;
    struct draft d = {0};
    struct err why = {0};
    struct val *config;
    char *other =
        xasprintf("%.*sconfig_forward.json",
                  (int)(strlen(full) - strlen("func_forward.py")), full);
    int got = -1;
    if (read_text(&text, full, &why) == 0 &&
        read_json(&a, &raw, other, &config, &why) == 0)
        got = foreign_folder(&d, &a, path, buf_span(&text), config, &why);
    got = put(im, &a, got, &d, path, true, &why, e);
    free(other);
    arena_release(&a);
    buf_release(&raw);
    buf_release(&text);
    return got;
}

/* Row or definition V of file PATH, NUMBER > 0: which of several. */
static int put_value(struct import *im, struct arena *a, const char *path,
                     const struct val *v, const struct val *workload,
                     uint64_t number, bool named, struct err *e)
{
    struct draft d = {0};
    struct err why = {0};
    struct val *origin;
    const struct val *row = val_get(v, "row");
    int got;
    if (row && row->type == VAL_MAP) /* as the data set server wraps them */
        v = row;
    got = foreign_definition(&d, a, path, v, workload, &why);
    if (got > 0)
        got = foreign_row(&d, a, path, v, &why);
    origin = val_get(d.task, "origin");
    if (got <= 0 && origin && number)
        val_set(a, origin, "row", val_int(a, (int64_t)number));
    if (got > 0 && number && (named || im->found)) {
        im->found = true;
        err_set(&why, ERR_BROKEN_INPUT,
                "'%s': row %" PRIu64 " is no task of a known form", path,
                number);
        return put_broken(im, a, NULL, path, &why, e);
    }
    return put(im, a, got, &d, path, named, &why, e);
}

/* The first workload of FULL's definition whose inputs are all drawn: a line
 * of workloads/.../NAME.jsonl beside definitions/.../NAME.json. */
static const struct val *find_workload(struct arena *a, const char *full)
{
    const char *at = strstr(full, "definitions/");
    size_t n = strlen(full);
    struct buf raw = BUF_INIT(LINE_MAX_);
    const struct val *found = NULL;
    struct err e;
    if (!at || n < 5)
        return NULL;
    char *path = xasprintf("%.*sworkloads/%.*s.jsonl", (int)(at - full), full,
                           (int)(full + n - 5 - (at + 12)), at + 12);
    if (access(path, R_OK) == 0 && io_read_file(&raw, path, &e) == 0) {
        struct span rest = arena_span(a, buf_span(&raw));
        while (rest.n && !found) {
            const char *end = memchr(rest.p, '\n', rest.n);
            size_t len = end ? (size_t)(end - rest.p) : rest.n;
            struct val *v;
            bool drawn = val_parse_json(a, (struct span){rest.p, len},
                                        VAL_JSON_LENIENT, &v, &e) == 0;
            const struct val *w = drawn ? val_get(v, "workload") : NULL;
            const struct val *in = val_get(w ? w : v, "inputs");
            for (size_t i = 0; drawn && i < val_len(in); i++)
                drawn = !span_is(val_gets(in->map.v[i], "type"), "safetensors");
            if (drawn && w)
                found = w;
            rest = (struct span){rest.p + len, rest.n - len};
            while (rest.n && *rest.p == '\n')
                rest = (struct span){rest.p + 1, rest.n - 1};
        }
    }
    free(path);
    buf_release(&raw);
    return found;
}

/* One JSON text: a definition, a row, or a list of rows. */
static int json_file(struct import *im, const char *full, const char *path,
                     bool named, struct err *e)
{
    struct buf raw = BUF_INIT(LINE_MAX_);
    struct arena a = ARENA_INIT;
    struct val *v, *list;
    struct err why = {0};
    int rc = 0;
    if (read_json(&a, &raw, full, &v, &why) < 0) {
        rc = named ? put_broken(im, &a, NULL, path, &why, e)
                   : put(im, &a, 1, NULL, path, false, &why, e);
        goto out;
    }
    list = v->type == VAL_LIST ? v : val_get(v, "rows");
    if (!list || list->type != VAL_LIST) {
        rc = put_value(im, &a, path, v, find_workload(&a, full), 0, named, e);
        goto out;
    }
    for (size_t i = 0; i < val_len(list) && rc == 0; i++)
        rc = put_value(im, &a, path, val_at(list, i), NULL, i + 1, named, e);
out:
    arena_release(&a);
    buf_release(&raw);
    return rc;
}

/* ---- JSON lines ---- */

struct lines {
    struct zsource *z;
    struct buf line;
    char block[1u << 16];
    size_t at, n;
};

/* Next line into l->line: 0, 1 = a line that is too long (skipped), KM_END,
 * -2. */
static int next_line(struct lines *l, struct err *e)
{
    bool any = false;
    buf_clear(&l->line);
    l->line.full = false;
    for (;;) {
        if (l->at == l->n) {
            ssize_t n = zsource_read(l->z, l->block, sizeof(l->block), e);
            if (n < 0)
                return KM_DEAD;
            if (n == 0)
                return any ? l->line.full : 2;
            l->at = 0;
            l->n = (size_t)n;
        }
        const char *end = memchr(l->block + l->at, '\n', l->n - l->at);
        size_t len = end ? (size_t)(end - l->block) - l->at : l->n - l->at;
        any = true;
        if (buf_add(&l->line, l->block + l->at, len))
            l->line.full = true;
        l->at += len + (end != NULL);
        if (end)
            return l->line.full;
    }
}

static int put_line(struct import *im, const char *path, struct span line,
                    bool too_long, uint64_t number, bool *good, bool named,
                    struct err *e)
{
    struct arena a = ARENA_INIT;
    struct err why = {0};
    struct val *v;
    int rc;
    *good = false;
    if (too_long) {
        err_set(&why, ERR_TOO_LARGE, "'%s': line %" PRIu64 " is too long", path,
                number);
        rc = put_broken(im, &a, NULL, path, &why, e);
    } else if (val_parse_json(&a, line, VAL_JSON_LENIENT, &v, &why) < 0) {
        err_wrap(&why, "'%s': line %" PRIu64, path, number);
        why.code = ERR_BROKEN_INPUT;
        rc = put_broken(im, &a, NULL, path, &why, e);
    } else {
        *good = true;
        rc = put_value(im, &a, path, v, NULL, number, named, e);
    }
    arena_release(&a);
    return rc;
}

static int lines_file(struct import *im, const char *full, const char *path,
                      bool named, struct err *e)
{
    struct lines *l = xcalloc(1, sizeof(*l));
    struct arena a = ARENA_INIT;
    struct err why = {0};
    uint64_t number = 0, bad = 0;
    bool good, any = false;
    int rc = 0, got, fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    buf_init(&l->line, LINE_MAX_);
    l->z = fd < 0 ? NULL : zsource_new(fd, path);
    while (l->z && rc == 0 && (got = next_line(l, &why)) >= 0 && got < 2) {
        struct span line = buf_span(&l->line);
        number++;
        if (got == 0 && strspn(line.p, " \t\r") == line.n)
            continue;
        rc = put_line(im, path, line, got == 1, number, &good, named, e);
        any = any || good;
        if (!good && !any && ++bad == BAD_MAX)
            break;
    }
    if (fd < 0)
        err_sys(&why, "cannot read '%s'", path);
    if (rc == 0 && why.code != ERR_NONE)
        rc = put_broken(im, &a, NULL, path, &why, e);
    zsource_free(l->z);
    if (fd >= 0)
        close(fd);
    buf_release(&l->line);
    free(l);
    arena_release(&a);
    return rc;
}

/* ---- folders ---- */

struct paths {
    char **v;
    size_t n, cap;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_folder(struct paths *out, const char *dir, struct err *e)
{
    DIR *d = opendir(dir);
    struct dirent *entry;
    if (!d)
        return err_sys(e, "cannot read the folder '%s'", dir);
    while ((entry = readdir(d)) != NULL && out->n < FILES_MAX)
        if (entry->d_name[0] != '.')
            array_push(out, xstrdup(entry->d_name));
    bool full = entry != NULL;
    closedir(d);
    if (full)
        return err_set(e, ERR_TOO_LARGE, "more than %d files in '%s'",
                       FILES_MAX, dir);
    if (out->n > 1)
        qsort(out->v, out->n, sizeof(*out->v), by_text);
    return 0;
}

static int read_file(struct import *im, const char *full, const char *path,
                     bool named, struct err *e)
{
    struct span s = span_str(path);
    if (span_is(s, "func_forward.py") || span_ends(s, "/func_forward.py"))
        return robust_folder(im, full, path, e);
    if (span_ends(s, ".py"))
        return python_file(im, full, path, named, e);
    if (span_ends(s, ".jsonl") || span_ends(s, ".jsonl.zst"))
        return lines_file(im, full, path, named, e);
    if (span_ends(s, ".json") || named)
        return json_file(im, full, path, named, e);
    return 0;
}

static int import_file(struct import *im, const char *full, const char *path,
                       bool named, struct err *e)
{
    im->found = false;
    int rc = read_file(im, full, path, named, e);
    im->files++;
    im->others += !im->found;
    if (!im->found)
        log_info("'%s' holds no task", path);
    return rc;
}

/* FULL is what is opened, PATH what the records call it. */
static int import_folder(struct import *im, const char *full, const char *path,
                         int depth, struct err *e)
{
    struct paths names = {0};
    struct err why = {0};
    bool robust;
    int rc = list_folder(&names, full, &why);
    char *mark = xasprintf("%s/func_forward.py", full);
    robust = rc == 0 && access(mark, F_OK) == 0;
    free(mark);
    if (rc < 0) {
        struct arena a = ARENA_INIT;
        rc = put_broken(im, &a, NULL, path, &why, e);
        arena_release(&a);
    }
    for (size_t i = 0; i < names.n && rc == 0; i++) {
        char *sub = xasprintf("%s%s%s", path, *path ? "/" : "", names.v[i]);
        char *inner = xasprintf("%s/%s", full, names.v[i]);
        struct stat st;
        if (lstat(inner, &st) != 0)
            ;
        else if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
            rc = import_folder(im, inner, sub, depth + 1, e);
        else if (S_ISREG(st.st_mode) &&
                 (!robust || strcmp(names.v[i], "func_forward.py") == 0))
            rc = import_file(im, inner, sub, false, e);
        free(sub);
        free(inner);
    }
    for (size_t i = 0; i < names.n; i++)
        free(names.v[i]);
    array_release(&names);
    return rc;
}

/* ---- the command ---- */

static int import_open(void **state, const struct stage_env *env, struct err *e)
{
    struct import *im = xcalloc(1, sizeof(*im));
    struct stat st;
    *state = im;
    if (env->argc == 0)
        return err_set(e, ERR_USAGE, "no file or folder is named");
    for (int i = 0; i < env->argc; i++)
        if (stat(env->argv[i], &st) != 0)
            return err_sys(e, "cannot read '%s'", env->argv[i]);
    im->argc = env->argc;
    im->argv = env->argv;
    if (host_open(&im->host, e) < 0)
        return -1;
    im->parser = pyparser_new(e);
    if (!im->parser)
        return -1;
    struct pool_ops ops = {.work = work,
                           .start = start_worker,
                           .result = result,
                           .payload = im,
                           .jobs = env->jobs,
                           .max_item = ITEM_MAX};
    im->pool = pool_new(&ops);
    return 0;
}

/* What the records call an operand: its last part, and for a file the folder
 * that tells its level. No path of this machine gets into a record. */
static const char *root_of(const char *full)
{
    const char *slash = strrchr(full, '/'), *base = slash ? slash + 1 : full;
    const char *up = slash;
    while (up && up > full && up[-1] != '/')
        up--;
    return up && up < slash && strncmp(up, "level", 5) == 0 ? up : base;
}

static int import_operand(struct import *im, const char *arg, struct err *e)
{
    struct arena a = ARENA_INIT;
    struct err why = {0};
    struct stat st = {0};
    size_t n = strlen(arg);
    while (n > 1 && arg[n - 1] == '/')
        n--;
    char *full = xasprintf("%.*s", (int)n, arg);
    const char *root = root_of(full);
    int rc;
    if (stat(full, &st) == 0 && S_ISDIR(st.st_mode))
        rc = import_folder(im, full, *root == '.' || *root == '/' ? "" : root,
                           0, e);
    else if (S_ISREG(st.st_mode))
        rc = import_file(im, full, root, true, e);
    else
        rc = put(im, &a, 1, NULL, root, true, &why, e);
    arena_release(&a);
    free(full);
    return rc;
}

static int import_finish(void *state, struct emit *out, struct err *e)
{
    struct import *im = state;
    im->out = out;
    for (int i = 0; i < im->argc; i++)
        if (import_operand(im, im->argv[i], e) != 0)
            return KM_DEAD;
    if (im->others)
        emit_note(out, "%" PRIu64 " of %" PRIu64 " files hold no task",
                  im->others, im->files);
    return pool_drain(im->pool, e);
}

static void import_close(void *state)
{
    struct import *im = state;
    if (!im)
        return;
    if (im->pool)
        pool_free(im->pool);
    pyparser_free(im->parser);
    graphs_release(&im->graphs);
    host_release(&im->host);
    free(im);
}

int import_main(int argc, char **argv)
{
    static const struct stage stage = {
        .spec = {.program = "km-testgen import",
                 .synopsis = "[OPTION...] DIR|FILE... > TASKS",
                 .about = "Write tasks that others made as task records, their "
                          "sources unchanged where\nthese are in KernelBench "
                          "form, with what is measured when they run.",
                 .tables = {import_opts, host_opts, stage_common_opts},
                 .epilogue = "km-testgen import KernelBench/KernelBench "
                             "--licence MIT -o kernelbench.km"},
        .name = "testgen",
        .operands = true,
        .open = import_open,
        .finish = import_finish,
        .close = import_close,
    };
    return stage_main(argc, argv, &stage);
}
