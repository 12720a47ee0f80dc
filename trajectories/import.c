/* SPDX-License-Identifier: MIT */
/* km-trajectories import: search runs in, revision records out. */
#include "base.h"

#include <sys/stat.h>

#include "log.h"
#include "trajectories/commands.h"
#include "trajectories/lineage.h"

static const char *opt_tasks, *opt_task, *opt_language;
static const char *opt_format = "auto", *opt_score = "combined_score";
static int64_t opt_run_parts = 1;

static const struct opt options[] = {
    {OPT_STR, 0, "tasks", &opt_tasks, "FILE",
     "stream of tasks, to resolve names and to check ids", 0, 0, false},
    {OPT_STR, 0, "task", &opt_task, "ID|NAME",
     "task of the programs whose run names none", 0, 0, true},
    {OPT_CHOICE, 0, "format", &opt_format, "auto|openevolve|jsonl",
     "form of the runs (auto: a folder is openevolve)", 0, 0, false},
    {OPT_CHOICE, 0, "language", &opt_language, "torch|c|cuda|maca",
     "language of all programs (default: what the run says)", 0, 0, true},
    {OPT_STR, 0, "score", &opt_score, "KEY",
     "metric recorded as the score (combined_score)", 0, 0, true},
    {OPT_INT, 0, "run-parts", &opt_run_parts, "N",
     "last parts of the path that make a run's name (1)", 1, 16, true},
    {0, 0, NULL, NULL, NULL, NULL, 0, 0, false},
};

struct import {
    const struct stage_env *env;
    struct taskset tasks;
    struct arena arena;
    struct span *names; /* of the runs, one for each operand */
    int n;
};

/* Last opt_run_parts parts of PATH, "/" between them; a file loses its
 * suffix. */
static struct span run_name(struct arena *a, const char *path, bool file)
{
    char *real = NULL;
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    struct span s = {path, n};
    if (span_is(s, ".") || span_is(s, "..") || span_ends(s, "/.") ||
        span_ends(s, "/..")) {
        real = realpath(path, NULL);
        if (real)
            s = span_str(real);
    }
    size_t at = s.n;
    for (int64_t parts = 0; at > 0; at--)
        if (s.p[at - 1] == '/' && ++parts == opt_run_parts)
            break;
    s = (struct span){s.p + at, s.n - at};
    while (s.n && *s.p == '/')
        s = (struct span){s.p + 1, s.n - 1};
    static const char *const suffixes[] = {".zst", ".jsonl", ".json"};
    for (size_t i = 0; file && i < ARRAY_LEN(suffixes); i++)
        if (span_ends(s, suffixes[i]) && s.n > strlen(suffixes[i]))
            s.n -= strlen(suffixes[i]);
    s = val_as_str(val_text(a, s)); /* a copy, valid UTF-8 */
    free(real);
    return s;
}

static int open_runs(struct import *im, struct err *e)
{
    im->n = im->env->argc;
    if (im->n == 0)
        return err_set(e, ERR_USAGE, "no run is named");
    im->names = arena_array(&im->arena, (size_t)im->n, sizeof(*im->names));
    for (int i = 0; i < im->n; i++) {
        const char *path = im->env->argv[i];
        struct stat st = {0};
        bool is_stdin = strcmp(path, "-") == 0;
        if (!is_stdin && stat(path, &st) != 0)
            return err_sys(e, "cannot read run '%s'", path);
        im->names[i] = is_stdin
                           ? SPAN_LIT("stdin")
                           : run_name(&im->arena, path, !S_ISDIR(st.st_mode));
        if (im->names[i].n > IMPORT_MAX_ID)
            return err_set(e, ERR_USAGE, "the name of run '%s' is too long",
                           path);
        for (int k = 0; k < i; k++)
            if (span_eq(im->names[i], im->names[k])) {
                err_set(e, ERR_USAGE, "two runs have the name '%.*s'",
                        (int)im->names[i].n, im->names[i].p);
                return err_hint(
                    e, "use --run-parts %" PRId64 " to tell them apart",
                    opt_run_parts + 1);
            }
    }
    return 0;
}

static int import_open(void **state, const struct stage_env *env, struct err *e)
{
    static struct import im;
    im = (struct import){.env = env, .tasks = TASKSET_INIT};
    *state = &im;
    if (open_runs(&im, e) != 0)
        return -1;
    if (opt_tasks && taskset_load(&im.tasks, opt_tasks, e) != 0)
        return -1;
    return 0;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void report(struct span run, const struct lineage_stats *s)
{
    log_info("%.*s: %" PRIu64 " programs, %" PRIu64 " candidates, %" PRIu64
             " no-op replies, %" PRIu64 " migrants, %" PRIu64
             " conflicts, %" PRIu64 " broken, %" PRIu64 " without task",
             (int)run.n, run.p, s->programs, s->ok, s->noop, s->migrants,
             s->conflicts, s->broken, s->no_task);
    log_info("%.*s: replay exact %" PRIu64 ", differs %" PRIu64
             ", absent %" PRIu64 "; dangling parents %" PRIu64
             ", codes seen before %" PRIu64,
             (int)run.n, run.p, s->exact, s->differs, s->absent, s->dangling,
             s->duplicates);
}

static int import_run(struct import *im, int i, struct emit *out, struct err *e)
{
    const char *path = im->env->argv[i];
    struct span run = im->names[i];
    struct lineage l;
    struct err why = {0};
    struct lineage_options o = {&im->tasks, opt_task, opt_language};
    if (lineage_open(&l, e) != 0)
        return -2;
    bool folder = strcmp(opt_format, "auto") == 0
                      ? strcmp(path, "-") != 0 && is_folder(path)
                      : strcmp(opt_format, "openevolve") == 0;
    int got = folder ? import_openevolve(&l, path, run, opt_score, &why)
                     : import_jsonl(&l, path, run, &why);
    if (got != 0) {
        char *note = xasprintf("run '%.*s': %s", (int)run.n, run.p, why.msg);
        lineage_broken(&l, run, SPAN_LIT(""), ERR_BROKEN_INPUT, note);
        free(note);
    }
    int status = lineage_emit(&l, &o, out, e);
    report(run, &l.stats);
    lineage_close(&l);
    return status;
}

static int import_finish(void *state, struct emit *out, struct err *e)
{
    struct import *im = state;
    for (int i = 0; i < im->n; i++)
        if (import_run(im, i, out, e) != 0)
            return -2;
    return 0;
}

static void import_close(void *state)
{
    struct import *im = state;
    if (!im)
        return;
    taskset_release(&im->tasks);
    arena_release(&im->arena);
}

int import_main(int argc, char **argv)
{
    static const struct stage stage = {
        .spec = {.program = "km-trajectories import",
                 .synopsis = "RUN... [--tasks FILE]",
                 .about = "Read the programs of evolutionary search runs and "
                          "write a revision record for each.",
                 .tables = {options, stage_common_opts}},
        .name = "trajectories",
        .operands = true,
        .open = import_open,
        .finish = import_finish,
        .close = import_close,
    };
    return stage_main(argc, argv, &stage);
}
