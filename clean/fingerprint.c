/* SPDX-License-Identifier: MIT */
/*
 * km-clean fingerprint: the classes of a benchmark's files as hashes, so that
 * copies of its problems can be kept out of a data set without shipping them.
 */
#include "base.h"

#include <dirent.h>
#include <sys/stat.h>

#include "clean/commands.h"
#include "clean/finger.h"
#include "io.h"
#include "log.h"
#include "stage.h"

#define MAX_FILES     100000
#define MAX_DIR_DEPTH 16

static const char *benchmark_name = "kernelbench";
static const char *entry_name = "Model";

static const struct opt fingerprint_opts[] = {
    {OPT_GROUP, 0, "Fingerprints", NULL, NULL, NULL, 0, 0, false},
    {OPT_STR, 0, "benchmark", &benchmark_name, "NAME",
     "name of the benchmark (kernelbench)", 0, 0, true},
    {OPT_STR, 0, "entry", &entry_name, "NAME",
     "class that a file is about (Model); all where none is so named", 0, 0,
     true},
    {0},
};

struct paths {
    char **v;
    size_t n, cap;
};

struct state {
    int argc;
    char **argv;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The .py files under ROOT/SUB, as paths below ROOT. */
static int list_files(struct paths *out, const char *root, const char *sub,
                      int depth, struct err *e)
{
    char *dir = xasprintf("%s%s%s", root, *sub ? "/" : "", sub);
    DIR *d = opendir(dir);
    int rc = d ? 0 : err_sys(e, "cannot read the folder '%s'", dir);
    struct dirent *entry;

    while (rc == 0 && (entry = readdir(d)) != NULL) {
        const char *name = entry->d_name;
        char *path, *full;
        struct stat st;

        if (name[0] == '.')
            continue;
        path = xasprintf("%s%s%s", sub, *sub ? "/" : "", name);
        full = xasprintf("%s/%s", root, path);
        if (lstat(full, &st) != 0) {
            rc = err_sys(e, "cannot look at '%s'", full);
        } else if (S_ISDIR(st.st_mode) && depth < MAX_DIR_DEPTH) {
            rc = list_files(out, root, path, depth + 1, e);
        } else if (S_ISREG(st.st_mode) && span_ends(span_str(name), ".py")) {
            if (out->n >= MAX_FILES)
                rc = err_set(e, ERR_TOO_LARGE, "more than %d files in '%s'",
                             MAX_FILES, root);
            array_push(out, xstrdup(path));
        }
        free(path);
        free(full);
    }
    if (d)
        closedir(d);
    free(dir);
    return rc;
}

static void release_files(struct paths *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->v[i]);
    array_release(p);
}

/* Number behind "level" in a folder of PATH, and at the start of its file
 * name, as KernelBench numbers its problems; -1 = none. */
static int64_t number_at(const char *p)
{
    int64_t n = 0;
    const char *start = p;

    for (; *p >= '0' && *p <= '9' && n < 1000000; p++)
        n = n * 10 + (*p - '0');
    return p > start ? n : -1;
}

static void set_place(struct arena *a, struct val *rec, const char *path)
{
    const char *slash = strrchr(path, '/');
    int64_t number = number_at(slash ? slash + 1 : path);

    for (const char *p = strstr(path, "level"); p; p = strstr(p + 1, "level")) {
        int64_t level = number_at(p + 5);

        if (level >= 0 && (p == path || p[-1] == '/'))
            val_set(a, rec, "level", val_int(a, level));
    }
    if (number >= 0)
        val_set(a, rec, "problem", val_int(a, number));
}

static struct val *hash_val(struct arena *a, uint64_t h)
{
    return val_strf(a, "%016" PRIx64, h);
}

static struct val *grams_val(struct arena *a, const struct grams *g)
{
    struct val *list = val_list(a);

    for (size_t i = 0; i < g->n; i++)
        val_push(a, list, val_int(a, g->v[i]));
    return list;
}

static int put_class(struct emit *out, const char *path, const struct finger *f,
                     bool entry, struct err *e)
{
    struct arena a = ARENA_INIT;
    struct val *rec = rec_new(&a, "fingerprint");
    int rc;

    val_set(&a, rec, "benchmark", val_text(&a, span_str(benchmark_name)));
    val_set(&a, rec, "path", val_text(&a, span_str(path)));
    val_set(&a, rec, "name", val_text(&a, f->name));
    set_place(&a, rec, path);
    val_set(&a, rec, "entry", val_bool(&a, entry));
    val_set(&a, rec, "tokens", val_int(&a, f->tokens));
    val_set(&a, rec, "ast", hash_val(&a, f->ast));
    val_set(&a, rec, "shape", hash_val(&a, f->shape));
    if (f->operators)
        val_set(&a, rec, "operators", hash_val(&a, f->operators));
    val_set(&a, rec, "grams_long", grams_val(&a, &f->grams_long));
    val_set(&a, rec, "grams_short", grams_val(&a, &f->grams_short));
    rc = emit_rec(out, &a, rec, e);
    arena_release(&a);
    return rc;
}

static int put_source(struct emit *out, struct pyparser *p, const char *path,
                      struct span source, struct err *e)
{
    struct pymod *m = pymod_new(p, path, source, e);
    const struct pydef *entry;
    struct tokens t;
    int rc = 0;

    if (!m)
        return -1;
    if (m->error_line > 0) {
        rc = err_set(e, ERR_PARSE, "syntax error in line %u", m->error_line);
        pymod_free(m);
        return rc;
    }
    tokens_read(&t, m);
    entry = pymod_def(m, span_str(entry_name));
    for (size_t i = 0; i < m->defs.n && rc == 0; i++) {
        const struct pydef *d = &m->defs.v[i];
        struct finger f;

        if (!d->is_class)
            continue;
        finger_of(&f, m, &t, d, !entry || d == entry);
        rc = put_class(out, path, &f, !entry || d == entry, e);
        finger_release(&f);
    }
    tokens_release(&t);
    pymod_free(m);
    return rc;
}

static int put_folder(struct emit *out, struct pyparser *p, const char *root,
                      struct err *e)
{
    struct paths files = {0};
    struct buf raw = BUF_INIT(PY_MAX_SOURCE), text = BUF_INIT(PY_MAX_SOURCE);
    int rc = list_files(&files, root, "", 0, e);

    if (files.n > 1)
        qsort(files.v, files.n, sizeof(*files.v), by_text);
    for (size_t i = 0; i < files.n && rc == 0; i++) {
        char *full = xasprintf("%s/%s", root, files.v[i]);

        buf_clear(&raw);
        buf_clear(&text);
        rc = io_read_file(&raw, full, e) ||
             py_decode(&text, buf_span(&raw), e) ||
             put_source(out, p, files.v[i], buf_span(&text), e);
        if (rc) {
            /* A benchmark of which a problem is missing protects nothing. */
            err_wrap(e, "'%s'", full);
            rc = KM_DEAD;
        }
        free(full);
    }
    release_files(&files);
    buf_release(&raw);
    buf_release(&text);
    return rc ? KM_DEAD : 0;
}

static int fingerprint_open(void **out, const struct stage_env *env,
                            struct err *e)
{
    struct state *s;

    if (env->argc == 0)
        return err_set(e, ERR_USAGE, "no folder given");
    s = xcalloc(1, sizeof(*s));
    s->argc = env->argc;
    s->argv = env->argv;
    *out = s;
    return 0;
}

static int fingerprint_finish(void *state, struct emit *out, struct err *e)
{
    struct state *s = state;
    struct pyparser *p = pyparser_new(e);
    int rc = p ? 0 : KM_DEAD;

    for (int i = 0; i < s->argc && rc == 0; i++)
        rc = put_folder(out, p, s->argv[i], e);
    pyparser_free(p);
    return rc;
}

static void fingerprint_close(void *state)
{
    free(state);
}

int fingerprint_main(int argc, char **argv)
{
    static const struct stage stage = {
        .spec = {.program = "km-clean fingerprint",
                 .synopsis = "[OPTION]... DIR... > fingerprints",
                 .about =
                     "Write the fingerprints of the classes in the Python "
                     "files of a benchmark, for\nkm-clean --decontaminate. "
                     "They hold hashes, no text.",
                 .tables = {fingerprint_opts, stage_common_opts, NULL},
                 .epilogue = "km-clean fingerprint KernelBench/KernelBench -o "
                             "kernelbench.fingerprints"},
        .name = "clean",
        .operands = true,
        .open = fingerprint_open,
        .finish = fingerprint_finish,
        .close = fingerprint_close,
    };

    return stage_main(argc, argv, &stage);
}
