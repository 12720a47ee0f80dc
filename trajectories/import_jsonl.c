/* SPDX-License-Identifier: MIT */
/*
 * The plain form: JSON lines, one program a line (km-trajectories(1)). A bad
 * line costs one program; reading goes on at the next line feed.
 */
#include "base.h"

#include <fcntl.h>

#include "trajectories/lineage.h"
#include "zio.h"

struct jsonl {
    struct lineage *l;
    struct span run; /* of lines that name none */
    struct arena arena;
    uint64_t line, offset; /* of the present line */
    uint64_t good, bad;    /* lines so far */
};

/* So many lines without one program among them: the file is none of ours. */
#define MAX_BAD 20

static void broken(struct jsonl *j, const struct err *e)
{
    char *program = xasprintf("line %" PRIu64, j->line);
    char *note = xasprintf("%.*s: line %" PRIu64 ", offset %" PRIu64 ": %s",
                           (int)j->run.n, j->run.p, j->line, j->offset, e->msg);
    lineage_broken(j->l, j->run, span_str(program),
                   e->code == ERR_TOO_LARGE ? ERR_TOO_LARGE : ERR_BROKEN_INPUT,
                   note);
    free(note);
    free(program);
}

/* Text of a field; a number as its digits. p == NULL when there is none. */
static struct span text_of(struct arena *a, const struct val *rec,
                           const char *name)
{
    const struct val *v = val_get(rec, name);
    if (v && v->type == VAL_INT)
        return span_str(arena_printf(a, "%" PRId64, v->i));
    return val_as_str(v);
}

/* A prompt is one text, or a list of {role, content}. */
static int set_prompt(struct arena *a, struct val *rec, const struct val *p,
                      struct err *e)
{
    if (!p || p->type == VAL_NIL)
        return 0;
    struct val *list = val_list(a);
    if (p->type == VAL_STR) {
        val_push(a, list, import_message(a, "user", p->s));
    } else if (p->type == VAL_LIST) {
        for (size_t i = 0; i < val_len(p); i++) {
            struct span role = val_gets(val_at(p, i), "role");
            struct span content = val_gets(val_at(p, i), "content");
            if (role.n == 0 || role.n > 32 || !content.p)
                return err_set(e, ERR_BROKEN_INPUT,
                               "message %zu of 'prompt' lacks role or "
                               "content",
                               i);
            val_push(a, list,
                     import_message(a, arena_strdup(a, role), content));
        }
    } else {
        return err_set(e, ERR_BROKEN_INPUT,
                       "'prompt' is neither text nor a list");
    }
    val_set(a, rec, "prompt", list);
    return 0;
}

static int set_names(struct arena *a, struct jsonl *j, const struct val *in,
                     struct val *rec, struct err *e)
{
    struct span run = text_of(a, in, "run");
    struct span program = text_of(a, in, "program");
    struct span parent = text_of(a, in, "parent");
    struct span task = text_of(a, in, "task");
    if (program.n == 0)
        return err_set(e, ERR_BROKEN_INPUT, "no 'program'");
    if (run.n == 0)
        run = j->run;
    if (run.n > IMPORT_MAX_ID || program.n > IMPORT_MAX_ID ||
        parent.n > IMPORT_MAX_ID)
        return err_set(e, ERR_BROKEN_INPUT, "a name of more than %u bytes",
                       IMPORT_MAX_ID);
    val_set(a, rec, "task", val_str(a, task.p ? task : SPAN_LIT("")));
    val_set(a, rec, "run", val_str(a, run));
    val_set(a, rec, "program", val_str(a, program));
    if (parent.n > 0)
        val_set(a, rec, "parent", val_str(a, parent));
    return 0;
}

static int read_line(struct jsonl *j, struct span line, struct err *e)
{
    static const char *const ints[] = {"iteration", "generation", "island",
                                       "sample"};
    static const char *const texts[] = {"model", "language", "code", "reply"};
    struct arena *a = &j->arena;
    struct val *in, *rec = rec_new(a, "revision");
    if (val_parse_json(a, line, VAL_JSON_LENIENT, &in, e) != 0)
        return -1;
    if (in->type != VAL_MAP)
        return err_set(e, ERR_BROKEN_INPUT, "no JSON object");
    if (set_names(a, j, in, rec, e) != 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(ints); i++) {
        const struct val *v = val_get(in, ints[i]);
        if (v && (v->type == VAL_INT || v->type == VAL_FLOAT))
            val_set(a, rec, ints[i], val_int(a, val_as_int(v, 0)));
    }
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct span s = val_gets(in, texts[i]);
        if (s.n > 0)
            val_set(a, rec, texts[i], val_str(a, s));
    }
    if (set_prompt(a, rec, val_get(in, "prompt"), e) != 0)
        return -1;
    struct val *flags = val_list(a);
    struct val *recorded =
        import_metrics(a, val_get(in, "metrics"), "combined_score", flags);
    const struct val *score = val_get(in, "score");
    if (score && (score->type == VAL_INT || score->type == VAL_FLOAT)) {
        val_set(a, recorded, "score", val_float(a, val_as_float(score, 0)));
        val_set(a, recorded, "score_key", val_strz(a, "score"));
    }
    const struct val *correct = val_get(in, "correct");
    if (correct && correct->type == VAL_BOOL)
        val_set(a, recorded, "correct", val_bool(a, correct->b));
    val_set(a, rec, "recorded", recorded);
    val_set(a, rec, "flags", flags);
    char where[64];
    snprintf(where, sizeof(where), "line %" PRIu64, j->line);
    return lineage_put(j->l, rec, false, where, e);
}

static void end_line(struct jsonl *j, struct buf *line, bool too_long)
{
    struct err e = {0};
    struct span s = buf_span(line);
    j->line++;
    arena_reset(&j->arena);
    if (j->line == 1 && span_starts(s, "\xef\xbb\xbf"))
        s = (struct span){s.p + 3, s.n - 3};
    while (s.n && (s.p[s.n - 1] == '\r' || s.p[s.n - 1] == ' '))
        s.n--;
    if (too_long) {
        err_set(&e, ERR_TOO_LARGE, "a line of more than %u MiB",
                IMPORT_MAX_PROGRAM >> 20);
        broken(j, &e);
        j->bad++;
    } else if (s.n > 0 && read_line(j, s, &e) != 0) {
        broken(j, &e);
        j->bad++;
    } else if (s.n > 0) {
        j->good++;
    }
}

int import_jsonl(struct lineage *l, const char *path, struct span run,
                 struct err *e)
{
    struct jsonl j = {.l = l, .run = run, .arena = ARENA_INIT};
    struct buf line = BUF_INIT(IMPORT_MAX_PROGRAM);
    bool too_long = false, any = false;
    char *chunk = xmalloc(1 << 16);
    ssize_t n;
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? 0 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        free(chunk);
        return err_sys(e, "cannot open the file");
    }
    /* The name goes into records: no path. */
    char *name = xmemdup0(run);
    struct zsource *src = zsource_new(fd, name);
    free(name);
    while ((n = zsource_read(src, chunk, 1 << 16, e)) > 0) {
        for (const char *p = chunk, *end = chunk + n; p < end;) {
            const char *nl = memchr(p, '\n', (size_t)(end - p));
            size_t part = (size_t)((nl ? nl : end) - p);
            if (!too_long && buf_add(&line, p, part) != 0)
                too_long = true;
            any = true;
            p += part;
            if (!nl)
                break;
            p++;
            end_line(&j, &line, too_long);
            j.offset = zsource_offset(src) - (uint64_t)(end - p);
            buf_clear(&line);
            too_long = any = false;
            if (j.good == 0 && j.bad == MAX_BAD)
                break;
        }
        if (j.good == 0 && j.bad == MAX_BAD) {
            n = err_set(e, ERR_BROKEN_INPUT,
                        "no program in the first %d lines, the rest is not "
                        "read",
                        MAX_BAD);
            break;
        }
    }
    if (n == 0 && any)
        end_line(&j, &line, too_long);
    zsource_free(src);
    if (!is_stdin)
        close(fd);
    buf_release(&line);
    arena_release(&j.arena);
    free(chunk);
    return n < 0 ? -1 : 0;
}
