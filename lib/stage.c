/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "io.h"
#include "log.h"
#include "proc.h"
#include "progress.h"
#include "stage.h"

#define ZSTD_LEVEL 9

static struct {
    const char *input, *output, *progress;
    bool json, zstd, strict, bare, quiet;
    int verbose;
    int64_t jobs;
} common = {.progress = "auto"};

const struct opt stage_common_opts[] = {
    {OPT_GROUP, 0, "Input and output", NULL, NULL, NULL, 0, 0, false},
    {OPT_STR, 'i', "input", &common.input, "FILE",
     "read this stream (default: stdin)", 0, 0, false},
    {OPT_STR, 'o', "output", &common.output, "FILE",
     "write to this file, complete or not at all (default: stdout)", 0, 0,
     false},
    {OPT_FLAG, 0, "json", &common.json, NULL,
     "write JSON lines instead of msgpack", 0, 0, false},
    {OPT_FLAG, 'z', "zstd", &common.zstd, NULL,
     "compress (implied by an output name in .zst)", 0, 0, false},
    {OPT_FLAG, 0, "bare", &common.bare, NULL,
     "accept JSON lines without header and end", 0, 0, false},
    {OPT_FLAG, 0, "strict", &common.strict, NULL, "exit 3 when a record failed",
     0, 0, false},
    {OPT_INT, 'j', "jobs", &common.jobs, "N",
     "worker processes (default: one for each CPU)", 1, 256, false},
    {OPT_FLAG, 'q', "quiet", &common.quiet, NULL, "only errors on stderr", 0, 0,
     false},
    {OPT_COUNT, 'v', "verbose", &common.verbose, NULL,
     "more on stderr, and the summary also off a terminal", 0, 0, false},
    {OPT_CHOICE, 0, "progress", &common.progress, "auto|always|never",
     "progress line on stderr (default: auto)", 0, 0, false},
    {0},
};

struct emit {
    struct rec_writer *w;
    const char *stage;
    uint64_t read;
    uint64_t lost; /* input lines that could not become a record */
};

int emit_rec(struct emit *out, struct arena *a, struct val *rec, struct err *e)
{
    rec_seal(a, rec);
    if (rec_write(out->w, rec, e) == 0)
        return 0;
    if (e->code != ERR_TOO_LARGE)
        return KM_DEAD;
    /* it travels on without its bulk, as all that is rejected */
    log_warning("%.*s: %s", (int)MIN(rec_id(rec).n, (size_t)ID_HEX),
                rec_id(rec).p ? rec_id(rec).p : "?", e->msg);
    rec_fail(a, rec, out->stage, ERR_TOO_LARGE, e->msg);
    return rec_write(out->w, rec, e) < 0 ? KM_DEAD : 0;
}

int emit_packed(struct emit *out, struct span packed, struct err *e)
{
    return rec_write_packed(out->w, packed, e) < 0 ? KM_DEAD : 0;
}

void emit_note(struct emit *out, const char *fmt, ...)
{
    char text[120];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    progress_update(out->read, "%s", text);
}

static bool stdin_closed, stdout_closed;

/* A missing standard descriptor would be taken by the next open(): a stream
 * could then go into a database. Also, a reader that left must be an error
 * and not a silent death. */
static void check_descriptors(void)
{
    stdin_closed = fcntl(STDIN_FILENO, F_GETFD) < 0;
    stdout_closed = fcntl(STDOUT_FILENO, F_GETFD) < 0;
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            _exit(EXIT_FATAL);
    }
    signal(SIGPIPE, SIG_IGN);
}

struct output {
    int fd;
    bool is_file;
    struct outfile file;
    const char *name;
};

static void open_output(struct output *o)
{
    struct err e;

    memset(o, 0, sizeof(*o));
    o->fd = STDOUT_FILENO;
    o->name = "stdout";
    if (common.output && strcmp(common.output, "-") != 0) {
        o->name = common.output;
        if (outfile_open(&o->file, common.output, &e) < 0)
            die_err(&e);
        o->is_file = true;
        o->fd = o->file.fd;
        if (span_ends(span_str(common.output), ".zst"))
            common.zstd = true;
    } else if (stdout_closed) {
        die("stdout is closed");
    } else if (isatty(STDOUT_FILENO) && !common.json) {
        die_usage("will not write a binary stream to a terminal: use -o FILE, "
                  "a pipe, or --json");
    }
}

static int open_input(const char **name)
{
    int fd = STDIN_FILENO;

    *name = "stdin";
    if (common.input && strcmp(common.input, "-") != 0) {
        *name = common.input;
        fd = open(common.input, O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            struct err e;
            err_sys(&e, "cannot open '%s'", common.input);
            die_err(&e);
        }
    } else if (stdin_closed) {
        die("stdin is closed");
    } else if (isatty(STDIN_FILENO)) {
        die_usage("stdin is a terminal: give a stream with -i FILE or a pipe");
    }
    return fd;
}

static bool accepted(const struct stage *s, const struct val *rec)
{
    for (size_t i = 0; s->accepts[i]; i++) {
        if (span_is(rec_kind(rec), s->accepts[i]))
            return true;
    }
    return false;
}

static int one_record(const struct stage *s, void *state, struct arena *a,
                      struct val *rec, struct emit *out, struct err *e)
{
    bool mine = accepted(s, rec) && rec_ok(rec);
    int rc;

    /* others pass through; a stage that holds records must see all of them */
    if (!mine && !s->holds)
        return emit_rec(out, a, rec, e);
    rc = schema_check(a, rec, e);
    if (rc < 0 && s->holds) {
        /* it must keep its place among what the stage holds */
        rec_fail(a, rec, s->name, e->code, e->msg);
        rc = 0;
    }
    if (rc == 0)
        rc = s->process(state, a, rec, out, e);
    if (rc != KM_RECORD)
        return rc;
    log_info("%.*s: %s", (int)MIN(rec_id(rec).n, (size_t)ID_HEX),
             rec_id(rec).p ? rec_id(rec).p : "?", e->msg);
    rec_fail(a, rec, s->name, e->code, e->msg);
    return emit_rec(out, a, rec, e);
}

/* Of the stream IN, or without one of what the stage itself makes. */
static int run_filter(const struct stage *s, void *state, struct rec_reader *in,
                      struct emit *out, struct err *e)
{
    struct arena a = ARENA_INIT;
    struct val *rec;
    int rc;

    for (;;) {
        arena_reset(&a);
        rc = in ? rec_read(in, &a, &rec, e) : s->next(state, &a, &rec, e);
        if (rc == KM_END) {
            rc = 0;
            break;
        }
        if (rc == KM_RECORD) {
            out->lost++;
            log_err(e);
            continue;
        }
        if (rc < 0)
            break;
        out->read++;
        rc = one_record(s, state, &a, rec, out, e);
        if (rc < 0)
            break;
        progress_update(out->read, "records");
    }
    arena_release(&a);
    return rc;
}

static void summary(const struct emit *out, double start)
{
    struct rec_tally t = rec_written(out->w);

    progress_clear();
    if (common.quiet || (!isatty(STDERR_FILENO) && !common.verbose))
        return;
    fprintf(stderr,
            "%s: in %" PRIu64 ", out %" PRIu64 ": ok %" PRIu64
            ", rejected %" PRIu64 ", failed %" PRIu64 ", %.1f s\n",
            log_program, out->read, t.total, t.ok, t.rejected,
            t.failed + out->lost, now_s() - start);
}

static bool makes_input(const struct stage *s)
{
    return s->makes_input && s->makes_input();
}

/* Everything between the opened streams; 0 or -1 with E. */
static int run(const struct stage *s, struct stage_env *env,
               struct rec_reader *in, struct emit *out, struct err *e)
{
    struct arena a = ARENA_INIT;
    void *state = NULL;
    int rc = 0;

    if (in)
        rc = rec_header(in, &env->upstream, e);
    if (rc == 0 && s->open)
        rc = s->open(&state, env, e);
    if (rc == 0)
        rc = rec_write_header(out->w, s->spec.program, opt_record(&a, &s->spec),
                              env->upstream, e);
    if (rc == 0 && (in || makes_input(s)))
        rc = run_filter(s, state, in, out, e);
    if (rc == 0 && s->finish)
        rc = s->finish(state, out, e);
    if (rc == 0)
        rc = rec_write_end(out->w, e);
    if (s->close && state)
        s->close(state);
    arena_release(&a);
    return rc < 0 ? -1 : 0;
}

static enum progress_mode progress_mode(void)
{
    return common.quiet || common.progress[0] == 'n' ? PROGRESS_NEVER
           : common.progress[1] == 'l'               ? PROGRESS_ALWAYS
                                                     : PROGRESS_AUTO;
}

int stage_main(int argc, char **argv, const struct stage *s)
{
    struct stage_env env = {0};
    struct emit out = {.stage = s->name};
    struct rec_reader *in = NULL;
    struct output o;
    struct rec_tally t;
    double start = now_s();
    struct err e = {0};
    int at, rc;

    check_descriptors();
    at = opt_parse(&s->spec, argc, argv);
    if (at < argc && !s->operands)
        die_usage("unexpected operand '%s'", argv[at]);
    log_level = common.quiet ? 0 : 1 + common.verbose;
    env.argc = argc - at;
    env.argv = argv + at;
    env.jobs = (int)(common.jobs ? common.jobs
                                 : MAX(1, sysconf(_SC_NPROCESSORS_ONLN)));
    env.strict = common.strict;
    env.bare = common.bare;
    env.quiet = common.quiet;
    if (makes_input(s)) {
        if (common.input)
            die_usage("no stream is read here: leave out --input");
    } else if (s->accepts) {
        const char *name;
        int fd = open_input(&name);
        in = rec_reader_new(fd, name, common.bare);
    }
    open_output(&o);
    progress_start(progress_mode(), s->spec.program);
    out.w = rec_writer_new(o.fd, o.name, common.json ? REC_JSON : REC_MSGPACK,
                           common.zstd ? ZSTD_LEVEL : 0);
    rc = run(s, &env, in, &out, &e);
    if (rc == 0 && o.is_file)
        rc = outfile_commit(&o.file, &e);
    if (rc == 0 && !o.is_file && close(STDOUT_FILENO) < 0)
        rc = err_sys(&e, "cannot write 'stdout'");
    if (rc < 0) {
        progress_clear();
        log_err(&e);
        if (o.is_file)
            outfile_abort(&o.file);
    } else {
        summary(&out, start);
    }
    t = rec_written(out.w);
    rec_writer_free(out.w);
    rec_reader_free(in);
    if (rc < 0)
        return e.code == ERR_USAGE ? EXIT_USAGE : EXIT_FATAL;
    return common.strict && t.failed + out.lost ? EXIT_RECORDS : EXIT_DONE;
}
