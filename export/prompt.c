/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "embed.h"
#include "export/prompt.h"
#include "hash.h"
#include "io.h"
#include "map.h"
#include "rec.h"
#include "utf8.h"

EMBED_DECLARE(first_torch_txt);
EMBED_DECLARE(step_torch_txt);
EMBED_DECLARE(first_c_txt);
EMBED_DECLARE(step_c_txt);

struct template
{
    struct span system, user;
    const char *id;
};

static struct map templates; /* path or name -> struct template */
static struct arena templates_arena;

void prompt_release(void)
{
    map_release(&templates);
    arena_release(&templates_arena);
    memset(&templates, 0, sizeof(templates));
    memset(&templates_arena, 0, sizeof(templates_arena));
}

static int builtin(const char *name, struct span *out)
{
    const struct {
        const char *name;
        struct span text;
    } list[] = {
        {"first_torch", EMBED_SPAN(first_torch_txt)},
        {"step_torch", EMBED_SPAN(step_torch_txt)},
        {"first_c", EMBED_SPAN(first_c_txt)},
        {"step_c", EMBED_SPAN(step_c_txt)},
    };
    for (size_t i = 0; i < ARRAY_LEN(list); i++)
        if (strcmp(name, list[i].name) == 0) {
            *out = list[i].text;
            return 0;
        }
    return -1;
}

static int from_dir(const char *dir, const char *name, struct span *out,
                    struct err *e)
{
    struct buf text = BUF_INIT(1u << 20);
    char *path = xasprintf("%s/%s.txt", dir, name);
    int status = io_read_file(&text, path, e);
    if (status != 0 && access(path, F_OK) != 0)
        e->code = ERR_UNAVAILABLE;
    free(path);
    if (status == 0 && utf8_valid(buf_span(&text)) != text.n)
        status = err_set(e, ERR_ENCODING, "template '%s' is not UTF-8", name);
    if (status == 0)
        *out = arena_span(&templates_arena, buf_span(&text));
    buf_release(&text);
    return status;
}

/* Split TEXT at its line "---". */
static int parse(struct span text, const char *name, struct template *t,
                 struct err *e)
{
    char hex[HASH_HEX + 1];
    const char *mark = memmem(text.p, text.n, "\n---\n", 5);
    if (!mark)
        return err_set(e, ERR_PARSE, "template '%s' has no line '---'", name);
    t->system = (struct span){text.p, (size_t)(mark - text.p)};
    t->user = (struct span){mark + 5, (size_t)(text.p + text.n - mark - 5)};
    if (t->user.n && t->user.p[t->user.n - 1] == '\n')
        t->user.n--;
    hash_sha256_hex(hex, text);
    t->id = arena_printf(&templates_arena, "%s-%.12s", name, hex);
    return 0;
}

static struct template *template_get(const char *dir, const char *name,
                                     struct err *e)
{
    struct template *t = map_get(&templates, span_str(name));
    struct span text;
    if (t)
        return t;
    if (dir && from_dir(dir, name, &text, e) != 0)
        return NULL;
    if (!dir && builtin(name, &text) != 0) {
        err_set(e, ERR_UNAVAILABLE, "no template '%s'", name);
        return NULL;
    }
    t = arena_zalloc(&templates_arena, sizeof(*t));
    if (parse(text, name, t, e) != 0)
        return NULL;
    map_put(&templates, span_str(name), t);
    return t;
}

/* Source without line feeds at its end: the fence brings its own. */
static struct span trimmed(struct span s)
{
    while (s.n && (s.p[s.n - 1] == '\n' || s.p[s.n - 1] == '\r'))
        s.n--;
    return s;
}

/* Replace in one pass, so that nothing in a source is taken for a mark. */
static int fill(struct buf *out, struct span text, struct span reference,
                struct span parent, const char *name, struct err *e)
{
    while (text.n > 0) {
        const char *open = memmem(text.p, text.n, "{{", 2);
        size_t before = open ? (size_t)(open - text.p) : text.n;
        buf_add(out, text.p, before);
        text = (struct span){text.p + before, text.n - before};
        if (!open)
            break;
        struct span value;
        size_t mark;
        if (span_starts(text, "{{reference}}")) {
            value = reference;
            mark = strlen("{{reference}}");
        } else if (span_starts(text, "{{parent}}")) {
            value = parent;
            mark = strlen("{{parent}}");
        } else {
            return err_set(e, ERR_PARSE,
                           "template '%s' has a mark other than {{reference}} "
                           "and {{parent}}",
                           name);
        }
        buf_addspan(out, trimmed(value));
        text = (struct span){text.p + mark, text.n - mark};
    }
    if (out->full)
        return err_set(e, ERR_TOO_LARGE, "prompt of more than %u MiB",
                       (unsigned)(out->max >> 20));
    return 0;
}

static struct val *message(struct arena *a, const char *role,
                           const struct val *content)
{
    struct val *m = val_map(a);
    val_set(a, m, "role", val_strz(a, role));
    val_set(a, m, "content", val_str(a, val_as_str(content)));
    return m;
}

int prompt_render(struct arena *a, const char *dir, struct span language,
                  struct span reference, struct span parent, struct prompt *out,
                  struct err *e)
{
    char name[64];
    snprintf(name, sizeof(name), "%s_%.*s", parent.n ? "step" : "first",
             (int)MIN(language.n, 16u), language.p ? language.p : "");
    if (strchr(name, '/'))
        return err_set(e, ERR_UNAVAILABLE, "no template '%s'", name);
    struct template *t = template_get(dir, name, e);
    if (!t)
        return -1;
    struct buf text = BUF_INIT(REC_MAX);
    int status = fill(&text, t->user, reference, parent, name, e);
    if (status == 0) {
        out->messages = val_list(a);
        if (t->system.n)
            val_push(a, out->messages,
                     message(a, "system", val_str(a, t->system)));
        val_push(a, out->messages,
                 message(a, "user", val_str(a, buf_span(&text))));
        out->id = t->id;
    }
    buf_release(&text);
    return status;
}

struct val *prompt_answer(struct arena *a, struct span language,
                          struct span code)
{
    const char *tag = span_is(language, "torch") ? "python"
                      : span_is(language, "c")   ? "c"
                                                 : "cpp";
    code = trimmed(code);
    size_t n = strlen("```") * 2 + strlen(tag) + code.n + 2;
    char *p = arena_alloc(a, n + 1);
    int head = snprintf(p, n + 1, "```%s\n", tag);
    if (code.n)
        memcpy(p + head, code.p, code.n);
    memcpy(p + head + code.n, "\n```", 4);
    return val_str(a, (struct span){p, (size_t)head + code.n + 4});
}

struct val *prompt_completion(struct arena *a, const struct val *text)
{
    struct val *list = val_list(a);
    val_push(a, list, message(a, "assistant", text));
    return list;
}
