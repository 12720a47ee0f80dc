/* SPDX-License-Identifier: MIT */
/* Which repositories, under which names. */
#include "base.h"

#include "harvest/targets.h"
#include "utf8.h"

int targets_open(struct targets *t, int n_operands, char *const *operands,
                 const char *list, struct err *e)
{
    *t = (struct targets){
        .operands = operands, .n_operands = n_operands, .list_name = list};
    if (!list)
        return 0;
    t->list = strcmp(list, "-") == 0 ? stdin : fopen(list, "re");
    return t->list ? 0 : err_sys(e, "cannot open '%s'", list);
}

void targets_release(struct targets *t)
{
    if (t->list && t->list != stdin)
        fclose(t->list);
    map_release(&t->names);
    arena_release(&t->arena);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct span trim(struct span s)
{
    while (s.n > 0 && is_blank(s.p[0]))
        s = (struct span){s.p + 1, s.n - 1};
    while (s.n > 0 && is_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}

#define MAX_LINE (TARGET_MAX_PATH + 512)

/* One line without its end into TEXT; what is longer is cut, and LONG set.
 * -1 at the end of the file. */
static ssize_t read_line(FILE *f, char text[MAX_LINE], bool *is_long)
{
    size_t n = 0;
    int c;
    *is_long = false;
    while ((c = getc_unlocked(f)) != EOF && c != '\n') {
        if (n < MAX_LINE)
            text[n++] = (char)c;
        else
            *is_long = true;
    }
    return c == EOF && n == 0 ? -1 : (ssize_t)n;
}

/* Fill X from a line `SOURCE [NAME]`. */
static int parse_line(struct target *x, struct span s)
{
    size_t k = 0;
    while (k < s.n && !is_blank(s.p[k]))
        k++;
    struct span name = trim((struct span){s.p + k, s.n - k});
    for (size_t i = 0; i < name.n; i++)
        if (is_blank(name.p[i]))
            return -1;
    if (utf8_valid(name) < name.n || name.n >= sizeof(x->name) ||
        k >= sizeof(x->source) || memchr(s.p, '\0', s.n))
        return -1;
    memcpy(x->source, s.p, k);
    mask_text(x->name, sizeof(x->name), name);
    return 0;
}

static int next_line(struct targets *t, struct target *x, struct err *e)
{
    char text[MAX_LINE];
    bool is_long;
    ssize_t n;
    while ((n = read_line(t->list, text, &is_long)) >= 0) {
        struct span s = trim((struct span){text, (size_t)n});
        t->line++;
        if (!is_long && (s.n == 0 || s.p[0] == '#'))
            continue;
        x->line = t->line;
        if (is_long || parse_line(x, s) != 0) {
            memset(x->source, 0, sizeof(x->source));
            snprintf(x->name, sizeof(x->name), "line %u", t->line);
            err_set(&x->err, ERR_BROKEN_INPUT,
                    "line %u of the list: want SOURCE [NAME]", t->line);
        }
        return 1;
    }
    return ferror(t->list) ? err_sys(e, "cannot read '%s'", t->list_name) : 0;
}

int targets_next(struct targets *t, struct target *x, struct err *e)
{
    memset(x, 0, sizeof(*x));
    x->number = t->given + 1;
    if (t->at < t->n_operands) {
        const char *s = t->operands[t->at++];
        if (strlen(s) < sizeof(x->source)) {
            memcpy(x->source, s, strlen(s));
        } else {
            snprintf(x->name, sizeof(x->name), "operand %d", t->at);
            err_set(&x->err, ERR_BROKEN_INPUT, "operand %d is too long", t->at);
        }
    } else if (!t->list) {
        return 0;
    } else {
        int rc = next_line(t, x, e);
        if (rc <= 0)
            return rc;
    }
    t->given++;
    return 1;
}

void target_probe(struct target *x, const char *rev)
{
    struct gitrepo *git = NULL;
    int rc = gitrepo_open(&git, x->path, &x->err);
    if (rc == 0)
        rc = gitrepo_commit(git, rev, x->commit, &x->err);
    if (rc == 0 && !x->name[0] && strcmp(x->path, x->source) == 0)
        gitrepo_origin(git, x->name, sizeof(x->name));
    gitrepo_close(git);
}

struct past {
    const char *newest;
    struct buf *out;
};

static int add_past(void *payload, const char *commit, struct span oids,
                    struct err *e)
{
    struct past *p = payload;
    if (strcmp(commit, p->newest) == 0)
        return 0; /* that one is read as a whole */
    if (buf_add(p->out, commit, OID_HEX) == 0 &&
        buf_add(p->out, &oids.n, sizeof(oids.n)) == 0 &&
        buf_addspan(p->out, oids) == 0)
        return 0;
    return err_set(e, ERR_TOO_LARGE, "history of more than %zu bytes of ids",
                   p->out->max);
}

int target_history(const struct target *x, struct buf *out, struct err *e)
{
    struct gitrepo *git = NULL;
    struct past p = {x->commit, out};
    int rc = gitrepo_open(&git, x->path, e);
    if (rc == 0)
        rc = gitrepo_history(git, x->commit, harvest_wants, add_past, &p, e);
    gitrepo_close(git);
    return rc;
}

void targets_settle(struct targets *t, struct target *x)
{
    if (!x->name[0])
        git_url_name(span_str(x->source), x->name, sizeof(x->name));
    if (!x->name[0]) {
        char source[TARGET_MAX_PATH];
        git_public_source(x->source, source, sizeof(source));
        git_folder_name(source, x->name, sizeof(x->name));
    }
    const char *first = map_get(&t->names, span_str(x->name));
    char *commit = arena_strdup(&t->arena, span_str(x->commit));
    if (!first) {
        map_put(&t->names, span_str(x->name), commit);
        return;
    }
    /* Two of one name: the later ones get part of their commit. */
    char plain[sizeof(x->name)];
    memcpy(plain, x->name, sizeof(plain));
    size_t n = MIN(strlen(plain), sizeof(x->name) - 32);
    snprintf(x->name + n, sizeof(x->name) - n, "~%.8s",
             x->commit[0] ? x->commit : "00000000");
    if (strcmp(first, x->commit) != 0 &&
        !map_has(&t->names, span_str(x->name))) {
        map_put(&t->names, span_str(x->name), commit);
        return;
    }
    /* Still taken: a number keeps the ids of the records apart. */
    n = strlen(x->name);
    snprintf(x->name + n, sizeof(x->name) - n, "~%" PRIu64, x->number);
    if (x->commit[0])
        err_set(&x->err, ERR_DUPLICATE, "this commit of '%s' comes twice",
                plain);
    x->commit[0] = '\0';
}
