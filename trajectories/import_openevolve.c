/* SPDX-License-Identifier: MIT */
/*
 * Run directories of OpenEvolve and of its descendant SkyDiscover. Every
 * checkpoint is read, since evicted programs vanish from later ones. Nothing
 * in the directory is trusted: no symbolic link is followed, sizes are
 * bounded, and what cannot be read costs one program.
 */
#include "base.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "io.h"
#include "log.h"
#include "trajectories/lineage.h"

#define MAX_METRICS (1u << 20) /* bytes of the metrics as JSON text */
#define MAX_ENTRIES 1000000u   /* files in one folder */

/* ---- one program ---- */

struct val *import_message(struct arena *a, const char *role,
                           struct span content)
{
    struct val *m = val_map(a);
    val_set(a, m, "role", val_strz(a, role));
    val_set(a, m, "content", val_str(a, content));
    return m;
}

/* A number: as such, or as text ("1.5"). A boolean is never a score. */
static struct val *as_number(struct arena *a, struct val *v)
{
    if (!v)
        return NULL;
    if (v->type == VAL_INT || v->type == VAL_FLOAT)
        return val_float(a, val_as_float(v, 0));
    if (v->type != VAL_STR || v->s.n == 0 || v->s.n > 60)
        return NULL;
    char text[64], *end;
    memcpy(text, v->s.p, v->s.n);
    text[v->s.n] = '\0';
    double d = strtod(text, &end);
    return *end || end == text ? NULL : val_float(a, d);
}

static void set_score(struct arena *a, struct val *out,
                      const struct val *metrics, const char *key)
{
    const char *const keys[] = {key, "combined_score", "score"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct val *n = as_number(a, val_get(metrics, keys[i]));
        if (n && n->type != VAL_NIL) {
            val_set(a, out, "score", n);
            val_set(a, out, "score_key", val_strz(a, keys[i]));
            return;
        }
    }
}

static void set_correct(struct arena *a, struct val *out,
                        const struct val *metrics)
{
    static const char *const keys[] = {"correct", "correctness", "success"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const struct val *v = val_get(metrics, keys[i]);
        bool number = v && (v->type == VAL_INT || v->type == VAL_FLOAT);
        double d = number ? val_as_float(v, -1) : -1;
        if ((v && v->type == VAL_BOOL) || d == 0 || d == 1) {
            bool yes = number ? d == 1 : v->b;
            val_set(a, out, "correct", val_bool(a, yes));
            return;
        }
    }
}

struct val *import_metrics(struct arena *a, const struct val *metrics,
                           const char *score_key, struct val *flags)
{
    struct val *out = val_map(a);
    if (!metrics)
        return out;
    if (metrics->type == VAL_MAP) {
        set_score(a, out, metrics, score_key);
        set_correct(a, out, metrics);
    }
    struct buf text = BUF_INIT(MAX_METRICS);
    if (val_json(&text, metrics) == 0)
        val_set(a, out, "metrics", val_str(a, buf_span(&text)));
    else
        val_push(a, flags, val_strz(a, "metrics_dropped"));
    buf_release(&text);
    return out;
}

static bool has_reply(const struct val *entry)
{
    return val_as_str(val_at(val_get(entry, "responses"), 0)).n > 0;
}

/* The entry of `prompts` that made the program: an evaluator that asks a
 * model as well leaves entries of its own beside it. */
static const struct val *prompt_entry(const struct val *prompts)
{
    const struct val *best = NULL;
    int best_rank = 0;
    if (!prompts || prompts->type != VAL_MAP)
        return NULL;
    for (uint32_t i = 0; i < prompts->map.n; i++) {
        const struct val *entry = prompts->map.v[i];
        if (val_gets(entry, "user").n == 0)
            continue;
        struct span key = prompts->map.keys[i];
        bool named = span_ends(key, "_user") || span_ends(key, "_message");
        int rank = 1 + named + 2 * has_reply(entry);
        if (rank > best_rank) {
            best = entry;
            best_rank = rank;
        }
    }
    return best;
}

static void set_prompt(struct arena *a, struct val *rec,
                       const struct val *program)
{
    const struct val *entry = prompt_entry(val_get(program, "prompts"));
    if (!entry)
        return;
    struct val *list = val_list(a);
    struct span system = val_gets(entry, "system");
    if (system.n > 0)
        val_push(a, list, import_message(a, "system", system));
    val_push(a, list, import_message(a, "user", val_gets(entry, "user")));
    val_set(a, rec, "prompt", list);
    if (has_reply(entry))
        val_set(a, rec, "reply", val_at(val_get(entry, "responses"), 0));
}

static bool has_replacement(const struct val *rec)
{
    static const char mark[] = "\xef\xbf\xbd";
    struct span texts[] = {
        val_gets(rec, "code"),
        val_gets(rec, "reply"),
        val_gets(val_at(val_get(rec, "prompt"), 0), "content"),
        val_gets(val_at(val_get(rec, "prompt"), 1), "content"),
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (texts[i].n && memmem(texts[i].p, texts[i].n, mark, 3))
            return true;
    return false;
}

static void set_int(struct arena *a, struct val *rec, const char *name,
                    const struct val *v)
{
    if (v && (v->type == VAL_INT || v->type == VAL_FLOAT))
        val_set(a, rec, name, val_int(a, val_as_int(v, 0)));
}

int import_program(struct arena *a, struct span json, struct span stem,
                   const char *score_key, struct val **out, bool *migrant,
                   struct err *e)
{
    static const char bom[] = "\xef\xbb\xbf";
    struct val *in;
    if (span_starts(json, bom))
        json = (struct span){json.p + 3, json.n - 3};
    if (json.n == 0)
        return err_set(e, ERR_BROKEN_INPUT, "offset 0: empty file");
    if (val_parse_json(a, json, VAL_JSON_LENIENT, &in, e) != 0) {
        e->code = ERR_BROKEN_INPUT;
        return -1;
    }
    if (in->type != VAL_MAP)
        return err_set(e, ERR_BROKEN_INPUT, "offset 0: no JSON object");
    struct span id = val_gets(in, "id");
    struct val *flags = val_list(a), *rec = rec_new(a, "revision");
    if (id.n == 0)
        id = stem;
    else if (!span_eq(id, stem))
        val_push(a, flags, val_strz(a, "id_not_file_name"));
    if (id.n > IMPORT_MAX_ID)
        return err_set(e, ERR_BROKEN_INPUT, "id of %zu bytes", id.n);
    const struct val *meta = val_get(in, "metadata");
    struct span code = val_gets(in, "code");
    if (!val_get(in, "code"))
        code = val_gets(in, "solution"); /* SkyDiscover */
    struct span task = val_gets(in, "task");
    if (task.n == 0)
        task = val_gets(meta, "task");
    val_set(a, rec, "task", val_str(a, task.p ? task : SPAN_LIT("")));
    val_set(a, rec, "program", val_str(a, id));
    struct span parent = val_gets(in, "parent_id");
    if (parent.n > IMPORT_MAX_ID)
        return err_set(e, ERR_BROKEN_INPUT, "parent_id of %zu bytes", parent.n);
    if (parent.n > 0)
        val_set(a, rec, "parent", val_str(a, parent));
    set_int(a, rec, "iteration", val_get(in, "iteration_found"));
    set_int(a, rec, "generation", val_get(in, "generation"));
    set_int(a, rec, "island", val_get(meta, "island"));
    struct span model = val_gets(meta, "model");
    if (model.n > 0)
        val_set(a, rec, "model", val_str(a, model));
    struct span language = val_gets(in, "language");
    val_set(a, rec, "language",
            val_str(a, language.p ? language : SPAN_LIT("")));
    if (code.n > 0)
        val_set(a, rec, "code", val_str(a, code));
    set_prompt(a, rec, in);
    val_set(a, rec, "recorded",
            import_metrics(a, val_get(in, "metrics"), score_key, flags));
    /* The run's initial program: nobody was asked for it. */
    if (parent.n == 0 && !val_get(rec, "prompt") && !val_get(rec, "reply"))
        val_push(a, flags, val_strz(a, "seed"));
    if (has_replacement(rec))
        val_push(a, flags, val_strz(a, "replacement_character"));
    val_set(a, rec, "flags", flags);
    *migrant = val_getb(meta, "migrant", false) ||
               memmem(id.p, id.n, "_migrant_", 9) != NULL;
    *out = rec;
    return 0;
}

/* ---- the directory ---- */

struct names {
    ARRAY(char *) list;
    struct arena arena;
};

struct run {
    struct lineage *l;
    struct span name;
    const char *path, *score_key;
    char *task;      /* from task.json, or NULL */
    struct map seen; /* file name -> fast digest of the bytes last read */
    struct arena arena, keep;
    uint64_t checkpoints;
};

static int name_cmp(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Number of a checkpoint folder, -1 when NAME is none. */
static int64_t checkpoint_number(const char *name)
{
    if (strncmp(name, "checkpoint_", 11) != 0 || !name[11])
        return -1;
    int64_t n = 0;
    for (const char *p = name + 11; *p; p++) {
        if (*p < '0' || *p > '9' || n > INT64_MAX / 10 - 10)
            return -1;
        n = n * 10 + (*p - '0');
    }
    return n;
}

static int checkpoint_cmp(const void *pa, const void *pb)
{
    const char *a = *(char *const *)pa, *b = *(char *const *)pb;
    int64_t na = checkpoint_number(a), nb = checkpoint_number(b);
    return na != nb ? (na > nb) - (na < nb) : strcmp(a, b);
}

static bool is_checkpoint(const char *name)
{
    return checkpoint_number(name) >= 0;
}

static bool is_program(const char *name)
{
    return name[0] != '.' && span_ends(span_str(name), ".json");
}

/* Names in the folder open at FD (closed here) that WANT accepts, sorted. */
static int list_names(int fd, bool (*want)(const char *), struct names *out,
                      struct err *e)
{
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return err_sys(e, "cannot read folder");
    }
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(d);
        if (!entry && errno) {
            err_sys(e, "cannot read folder");
            closedir(d);
            return -1;
        }
        if (!entry)
            break;
        if (!want(entry->d_name))
            continue;
        if (out->list.n >= MAX_ENTRIES) {
            closedir(d);
            return err_set(e, ERR_TOO_LARGE, "more than %u files in a folder",
                           MAX_ENTRIES);
        }
        array_push(&out->list,
                   arena_strdup(&out->arena, span_str(entry->d_name)));
    }
    closedir(d);
    if (out->list.n)
        qsort(out->list.v, out->list.n, sizeof(*out->list.v), name_cmp);
    return 0;
}

static void names_release(struct names *n)
{
    array_release(&n->list);
    arena_release(&n->arena);
}

static int open_folder(int at, const char *name)
{
    return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Whole regular file NAME in folder AT into OUT. */
static int read_file(int at, const char *name, struct buf *out, struct err *e)
{
    struct stat st;
    int status = -1;
    int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ELOOP)
        return err_set(e, ERR_BROKEN_INPUT,
                       "is a symbolic link, which is not followed");
    if (fd < 0)
        return err_sys(e, "cannot open");
    if (fstat(fd, &st) != 0) {
        err_sys(e, "cannot stat");
    } else if (!S_ISREG(st.st_mode)) {
        err_set(e, ERR_BROKEN_INPUT, "is no regular file");
    } else if (st.st_size > IMPORT_MAX_PROGRAM) {
        err_set(e, ERR_TOO_LARGE, "%lld bytes, more than %u MiB",
                (long long)st.st_size, IMPORT_MAX_PROGRAM >> 20);
    } else {
        status = io_read_fd(out, fd, e);
    }
    close(fd);
    return status;
}

/* Report one file that gives no program. WHERE is relative to the run. */
static void broken(struct run *r, struct span program, const char *where,
                   const struct err *e)
{
    enum err_code code =
        e->code == ERR_TOO_LARGE ? ERR_TOO_LARGE : ERR_BROKEN_INPUT;
    char *note =
        xasprintf("%.*s/%s: %s", (int)r->name.n, r->name.p, where, e->msg);
    lineage_broken(r->l, r->name, program, code, note);
    free(note);
}

static void read_program(struct run *r, int at, const char *folder,
                         const char *name)
{
    struct buf text = BUF_INIT(IMPORT_MAX_PROGRAM);
    struct err e = {0};
    struct val *rec = NULL;
    bool migrant = false;
    struct span stem = {name, strlen(name) - strlen(".json")};
    char *where = xasprintf("%s%s%s", folder, *folder ? "/" : "", name);
    arena_reset(&r->arena);
    stem = val_as_str(val_text(&r->arena, stem)); /* valid UTF-8 */
    if (read_file(at, name, &text, &e) != 0) {
        broken(r, stem, where, &e);
        goto out;
    }
    /* The same bytes under the same name as in the checkpoint before. */
    uint64_t digest = hash_fast(buf_span(&text), 0) | 1;
    void **slot = map_ref(&r->seen, span_str(name));
    if (*slot && *(uint64_t *)*slot == digest)
        goto out;
    if (!*slot)
        *slot = arena_alloc(&r->keep, sizeof(digest));
    *(uint64_t *)*slot = digest;
    if (import_program(&r->arena, buf_span(&text), stem, r->score_key, &rec,
                       &migrant, &e) != 0) {
        broken(r, stem, where, &e);
        goto out;
    }
    val_set(&r->arena, rec, "run", val_str(&r->arena, r->name));
    if (r->task && val_gets(rec, "task").n == 0)
        val_set(&r->arena, rec, "task", val_strz(&r->arena, r->task));
    if (lineage_put(r->l, rec, migrant, where, &e) != 0)
        broken(r, stem, where, &e);
out:
    free(where);
    buf_release(&text);
}

/* All programs of the snapshot open at FD (kept open). */
static int read_snapshot(struct run *r, int fd, const char *label,
                         struct err *e)
{
    struct names files = {{0}, ARENA_INIT};
    int status = -1;
    int programs = open_folder(fd, "programs");
    char *folder = xasprintf("%s%sprograms", label, *label ? "/" : "");
    if (programs < 0) {
        err_sys(e, "no folder 'programs'");
        goto out;
    }
    int list = fcntl(programs, F_DUPFD_CLOEXEC, 0);
    if (list < 0) {
        err_sys(e, "cannot read folder");
        goto out;
    }
    if (list_names(list, is_program, &files, e) != 0)
        goto out;
    for (size_t i = 0; i < files.list.n; i++)
        read_program(r, programs, folder, files.list.v[i]);
    r->checkpoints++;
    status = 0;
out:
    if (programs >= 0)
        close(programs);
    free(folder);
    names_release(&files);
    return status;
}

/* The checkpoints in the folder open at FD, oldest first; their number. */
static int64_t read_checkpoints(struct run *r, int fd, struct err *e)
{
    struct names names = {{0}, ARENA_INIT};
    int64_t n = -1;
    int list = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (list < 0)
        return err_sys(e, "cannot read folder");
    if (list_names(list, is_checkpoint, &names, e) != 0)
        goto out;
    n = (int64_t)names.list.n;
    if (n > 0)
        qsort(names.list.v, names.list.n, sizeof(*names.list.v),
              checkpoint_cmp);
    for (size_t i = 0; i < names.list.n; i++) {
        const char *name = names.list.v[i];
        struct err why = {0};
        int snapshot = open_folder(fd, name);
        if (snapshot < 0)
            err_sys(&why, "cannot open as a folder (links are not followed)");
        if (snapshot < 0 || read_snapshot(r, snapshot, name, &why) != 0)
            broken(r, span_str(name), name, &why);
        if (snapshot < 0)
            continue;
        /* It is written last, so without it the run died while saving. */
        if (faccessat(snapshot, "metadata.json", F_OK, AT_SYMLINK_NOFOLLOW) !=
            0)
            log_warning("%.*s/%s: no metadata.json, an incomplete checkpoint",
                        (int)r->name.n, r->name.p, name);
        close(snapshot);
    }
out:
    names_release(&names);
    return n;
}

/* task.json of the run: {"task": id or name} or {"name": name}. */
static void read_task(struct run *r, int fd)
{
    struct buf text = BUF_INIT(1u << 20);
    struct err e = {0};
    struct val *v = NULL;
    if (faccessat(fd, "task.json", F_OK, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if (read_file(fd, "task.json", &text, &e) == 0 &&
        val_parse_json(&r->keep, buf_span(&text), VAL_JSON_LENIENT, &v, &e) ==
            0) {
        struct span task = val_gets(v, "task");
        if (task.n == 0)
            task = val_gets(v, "name");
        if (task.n > 0)
            r->task = arena_strdup(&r->keep, task);
        else
            err_set(&e, ERR_BROKEN_INPUT, "neither 'task' nor 'name'");
    }
    if (!r->task)
        log_warning("%.*s/task.json: %s", (int)r->name.n, r->name.p, e.msg);
    buf_release(&text);
}

int import_openevolve(struct lineage *l, const char *path, struct span run,
                      const char *score_key, struct err *e)
{
    static const char *const inner[] = {"checkpoints",
                                        "openevolve_output/checkpoints", "."};
    struct run r = {.l = l, .name = run, .path = path, .score_key = score_key};
    int64_t found = 0;
    int status = -1;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(e, "cannot open the folder");
    read_task(&r, fd);
    for (size_t i = 0; i < ARRAY_LEN(inner) && found == 0; i++) {
        int at = open_folder(fd, inner[i]);
        if (at < 0)
            continue;
        found = read_checkpoints(&r, at, e);
        close(at);
    }
    if (found == 0) /* one checkpoint, or a database folder, as it is */
        found = read_snapshot(&r, fd, "", e) == 0;
    if (found > 0) {
        status = 0;
        log_info("%s: %" PRIu64 " checkpoints", path, r.checkpoints);
    } else if (found == 0) {
        err_set(e, ERR_BROKEN_INPUT, "neither checkpoints nor programs");
    }
    close(fd);
    map_release(&r.seen);
    arena_release(&r.arena);
    arena_release(&r.keep);
    return status;
}
