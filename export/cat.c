/* SPDX-License-Identifier: MIT */
/* km-cat: looks into record streams, joins, cuts and converts them. */
#include "base.h"

#include <fcntl.h>

#include "export/filter.h"
#include "export/start.h"
#include "io.h"
#include "log.h"
#include "map.h"
#include "opt.h"
#include "rec.h"
#include "schema.h"

#define ZSTD_LEVEL 9

static const char *opt_output, *opt_kind, *opt_state;
static struct opt_list opt_where;
static int64_t opt_head = -1;
static bool opt_count, opt_verify, opt_json, opt_zstd, opt_bare, opt_strict;
static bool opt_quiet;

static const struct opt options[] = {
    {OPT_GROUP, 0, "Which records", NULL, NULL, NULL, 0, 0, false},
    {OPT_INT, 'n', "head", &opt_head, "N", "the first N only", 0, 1e15, true},
    {OPT_STR, 'k', "kind", &opt_kind, "KIND,..", "of these kinds", 0, 0, true},
    {OPT_STR, 's', "state", &opt_state, "STATE,..",
     "of these states: ok, rejected, failed", 0, 0, true},
    {OPT_LIST, 'w', "where", &opt_where, "FIELD=VALUE",
     "with this value (a.b for maps, any item of a list)", 0, 0, true},
    {OPT_GROUP, 0, "What to do", NULL, NULL, NULL, 0, 0, false},
    {OPT_FLAG, 'c', "count", &opt_count, NULL,
     "print a table by kind, state and reason", 0, 0, false},
    {OPT_FLAG, 0, "verify", &opt_verify, NULL,
     "check digest, counts, fields and ids, say OK or the first fault", 0, 0,
     false},
    {OPT_FLAG, 0, "json", &opt_json, NULL,
     "write JSON lines (with --count: one JSON object)", 0, 0, false},
    {OPT_FLAG, 'z', "zstd", &opt_zstd, NULL,
     "compress (implied by an output name in .zst)", 0, 0, false},
    {OPT_STR, 'o', "output", &opt_output, "FILE",
     "write to this file, complete or not at all (default: stdout)", 0, 0,
     false},
    {OPT_FLAG, 0, "bare", &opt_bare, NULL,
     "accept JSON lines without header and end", 0, 0, false},
    {OPT_FLAG, 0, "strict", &opt_strict, NULL,
     "exit 3 when a record failed or a line is no record", 0, 0, false},
    {OPT_FLAG, 'q', "quiet", &opt_quiet, NULL, "only errors on stderr", 0, 0,
     false},
    {0, 0, NULL, NULL, NULL, NULL, 0, 0, false},
};

static const struct opt_spec spec = {
    .program = "km-cat",
    .synopsis = "[options] [FILE...]",
    .about = "Show, count, check, filter, convert and join record streams.",
    .tables = {options},
};

struct kind_count {
    int64_t ok, rejected, failed;
    struct map why; /* code -> int64_t */
};

struct cat {
    struct filter filter;
    struct map kinds; /* -> struct kind_count, in order of appearance */
    struct arena arena;
    struct rec_writer *out; /* NULL: nothing is written */
    uint64_t passed, failed, lost;
    bool begun; /* the header is written */
};

static void count(struct cat *c, const struct val *rec)
{
    struct kind_count **k =
        (struct kind_count **)map_ref(&c->kinds, rec_kind(rec));
    const struct val *why = val_get(rec, "why");
    struct span state = val_gets(rec, "state");
    if (!*k)
        *k = arena_zalloc(&c->arena, sizeof(**k));
    (*k)->ok += span_is(state, "ok");
    (*k)->rejected += span_is(state, "rejected");
    (*k)->failed += span_is(state, "failed");
    for (size_t i = 0; i < val_len(why); i++) {
        struct span code = val_as_str(val_at(why, i));
        char text[64];
        if (!code.p)
            continue;
        mask_text(text, sizeof(text), code);
        int64_t **n = (int64_t **)map_ref(&(*k)->why, span_str(text));
        if (!*n)
            *n = arena_zalloc(&c->arena, sizeof(**n));
        ++**n;
    }
}

/* Id, fields and types of one record. */
static int check(struct arena *a, struct val *rec, struct err *e)
{
    char id[ID_HEX + 1];
    if (schema_check(a, rec, e) != 0)
        return -1;
    /* A dropped record has lost bulk that its id was made of. */
    if (!rec_ok(rec) || !schema_find(rec_kind(rec)))
        return 0;
    schema_id(id, rec);
    if (!span_is(rec_id(rec), id))
        return err_set(e, ERR_CORRUPT, "id '%.*s' should be '%s'",
                       (int)MIN(rec_id(rec).n, 64u),
                       rec_id(rec).p ? rec_id(rec).p : "", id);
    return 0;
}

/* One record that was read; KM_END once --head is reached. */
static int take(struct cat *c, struct arena *a, struct val *rec, struct err *e)
{
    if (!filter_passes(&c->filter, rec))
        return KM_OK;
    if (opt_head >= 0 && c->passed >= (uint64_t)opt_head)
        return KM_END;
    if (opt_verify && check(a, rec, e) != 0)
        return KM_DEAD;
    c->passed++;
    c->failed += span_is(val_gets(rec, "state"), "failed");
    count(c, rec);
    if (c->out && rec_write(c->out, rec, e) != 0)
        return KM_DEAD;
    return KM_OK;
}

static int write_header(struct cat *c, const struct val *upstream,
                        struct err *e)
{
    struct arena a = ARENA_INIT;
    int status = 0;
    if (c->out && !c->begun)
        status = rec_write_header(c->out, "km-cat", opt_record(&a, &spec),
                                  upstream, e);
    c->begun = true;
    arena_release(&a);
    return status == 0 ? 0 : KM_DEAD;
}

/* All of one stream. KM_OK, or KM_DEAD with E. */
static int read_stream(struct cat *c, int fd, const char *name, struct err *e)
{
    struct arena a = ARENA_INIT;
    struct rec_reader *r = rec_reader_new(fd, name, opt_bare);
    const struct val *header = NULL;
    struct val *rec;
    uint64_t before = c->passed;
    int got = rec_header(r, &header, e);
    if (got == KM_OK)
        got = write_header(c, header, e);
    while (got == KM_OK) {
        got = rec_read(r, &a, &rec, e);
        if (got == KM_RECORD && !opt_verify) {
            log_err(e);
            c->lost++;
            got = KM_OK;
        } else if (got == KM_OK) {
            got = take(c, &a, rec, e);
            if (got == KM_DEAD && opt_verify)
                err_wrap(e, "'%s', record %" PRIu64, name, rec_number(r));
        }
        arena_reset(&a);
    }
    if (got == KM_END && opt_verify)
        printf("%s: OK, %" PRIu64 " records\n", name, c->passed - before);
    rec_reader_free(r);
    arena_release(&a);
    return got == KM_END ? KM_OK : KM_DEAD;
}

static int read_all(struct cat *c, int n, char **names, struct err *e)
{
    char dash[] = "-", *only[] = {dash};
    if (n == 0) {
        n = 1;
        names = only;
    }
    for (int i = 0; i < n; i++) {
        bool is_stdin = strcmp(names[i], "-") == 0;
        int fd = STDIN_FILENO;
        if (is_stdin && isatty(fd))
            return err_set(e, ERR_USAGE,
                           "stdin is a terminal: name a file or use a pipe");
        if (!is_stdin && (fd = open(names[i], O_RDONLY | O_CLOEXEC)) < 0)
            return err_sys(e, "cannot open '%s'", names[i]);
        int got = read_stream(c, fd, is_stdin ? "stdin" : names[i], e);
        if (!is_stdin)
            close(fd);
        if (got != KM_OK)
            return -1;
    }
    return 0;
}

/* ---- the table ---- */

static int key_cmp(const void *pa, const void *pb)
{
    const struct map_entry *a = pa, *b = pb;
    int c = memcmp(a->key.p, b->key.p, MIN(a->key.n, b->key.n));
    return c ? c : (a->key.n > b->key.n) - (a->key.n < b->key.n);
}

/* Reasons of K, sorted. */
static struct map_entry *reasons(struct arena *a, const struct kind_count *k)
{
    struct map_entry *list = arena_array(a, k->why.n + 1, sizeof(*list));
    if (k->why.n)
        memcpy(list, k->why.entries, k->why.n * sizeof(*list));
    qsort(list, k->why.n, sizeof(*list), key_cmp);
    return list;
}

static void print_row(struct span name, const struct kind_count *k)
{
    char text[64];
    printf("%-12s %9" PRId64 " %9" PRId64 " %9" PRId64 "\n",
           mask_text(text, sizeof(text), name), k->ok, k->rejected, k->failed);
}

static void print_table(struct cat *c)
{
    struct kind_count total = {0, 0, 0, MAP_INIT};
    printf("%-12s %9s %9s %9s\n", "kind", "ok", "rejected", "failed");
    for (size_t i = 0; i < c->kinds.n; i++) {
        const struct kind_count *k = c->kinds.entries[i].value;
        struct map_entry *list = reasons(&c->arena, k);
        print_row(c->kinds.entries[i].key, k);
        for (size_t j = 0; j < k->why.n; j++) {
            printf("  %-30.*s %9" PRId64 "\n", (int)list[j].key.n,
                   list[j].key.p, *(int64_t *)list[j].value);
        }
        total.ok += k->ok;
        total.rejected += k->rejected;
        total.failed += k->failed;
    }
    print_row(SPAN_LIT("total"), &total);
}

static struct val *kind_val(struct arena *a, const struct kind_count *k)
{
    struct val *m = val_map(a), *why = val_map(a);
    struct map_entry *list = reasons(a, k);
    for (size_t i = 0; i < k->why.n; i++)
        val_set(a, why, arena_strdup(a, list[i].key),
                val_int(a, *(int64_t *)list[i].value));
    val_set(a, m, "ok", val_int(a, k->ok));
    val_set(a, m, "rejected", val_int(a, k->rejected));
    val_set(a, m, "failed", val_int(a, k->failed));
    val_set(a, m, "why", why);
    return m;
}

static void print_json(struct cat *c)
{
    struct buf text = BUF_INIT(1u << 20);
    struct val *m = val_map(&c->arena);
    for (size_t i = 0; i < c->kinds.n; i++)
        val_set(&c->arena, m, arena_strdup(&c->arena, c->kinds.entries[i].key),
                kind_val(&c->arena, c->kinds.entries[i].value));
    if (val_json(&text, m) != 0)
        die("the table is too large");
    puts(text.p);
    buf_release(&text);
}

/* ---- main ---- */

static void set_filter(struct filter *f)
{
    if (opt_kind && filter_kinds(f, opt_kind) != 0)
        die_usage("--kind: '%s' is no list of kinds", opt_kind);
    if (opt_state && filter_states(f, opt_state) != 0)
        die_usage("--state: '%s' is no list of ok, rejected, failed",
                  opt_state);
    for (size_t i = 0; i < opt_where.n; i++)
        if (filter_where(f, opt_where.v[i]) != 0)
            die_usage("--where: '%s' is not FIELD=VALUE", opt_where.v[i]);
}

static void open_output(struct cat *c, struct outfile *file, struct err *e)
{
    int fd = STDOUT_FILENO;
    if (opt_output && strcmp(opt_output, "-") != 0) {
        if (outfile_open(file, opt_output, e) != 0)
            die_err(e);
        fd = file->fd;
        opt_zstd |= span_ends(span_str(opt_output), ".zst");
    } else if (isatty(fd) && !opt_json) {
        die_usage("will not write a binary stream to a terminal: use --json, "
                  "-o FILE or a pipe");
    }
    c->out = rec_writer_new(fd, opt_output ? opt_output : "stdout",
                            opt_json ? REC_JSON : REC_MSGPACK,
                            opt_zstd ? ZSTD_LEVEL : 0);
}

static int run(struct cat *c, int n, char **names, struct outfile *file,
               struct err *e)
{
    if (read_all(c, n, names, e) != 0)
        return -1;
    if (c->out) {
        if (rec_write_end(c->out, e) != 0)
            return -1;
        if (file->fd >= 0)
            return outfile_commit(file, e);
    } else if (opt_count) {
        if (opt_json)
            print_json(c);
        else
            print_table(c);
    }
    if (fflush(stdout) != 0 || close(STDOUT_FILENO) != 0)
        return err_sys(e, "cannot write 'stdout'");
    return 0;
}

int main(int argc, char **argv)
{
    struct cat c = {.kinds = MAP_INIT};
    struct outfile file = {-1, NULL, NULL};
    struct err e = {0};
    struct started started = program_start();
    int at = opt_parse(&spec, argc, argv);
    log_level = opt_quiet ? 0 : 1;
    set_filter(&c.filter);
    if (started.stdout_closed && !opt_output)
        die("stdout is closed");
    if (started.stdin_closed && at == argc)
        die("stdin is closed");
    if (!opt_count && !opt_verify)
        open_output(&c, &file, &e);
    int status = run(&c, argc - at, argv + at, &file, &e);
    if (status != 0) {
        log_err(&e);
        outfile_abort(&file);
    }
    rec_writer_free(c.out);
    filter_release(&c.filter);
    for (size_t i = 0; i < c.kinds.n; i++)
        map_release(&((struct kind_count *)c.kinds.entries[i].value)->why);
    map_release(&c.kinds);
    arena_release(&c.arena);
    if (status != 0)
        return e.code == ERR_USAGE ? EXIT_USAGE : EXIT_FATAL;
    return opt_strict && c.failed + c.lost ? EXIT_RECORDS : EXIT_DONE;
}
