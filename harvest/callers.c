/* SPDX-License-Identifier: MIT */
/*
 * Files that no module needs but that make modules: tests, examples, scripts,
 * configurations. What they pass tells which arguments are meant (km-clean
 * reads it). They are told by their text alone: the name of a class and a
 * bracket behind it; in a configuration the name behind one of a few keys.
 */
#include "base.h"

#include "harvest/harvest.h"

/* Files taken for one name of a class, and bytes of all: of Python and, beside
 * these, of configurations. */
#define CALLER_EACH 16
#define CALLERS_MAX (24u << 20)
#define CONFIGS_MAX (8u << 20)

/* Names of the classes that can be made -> number of files taken. */
static void name_modules(const struct harvest *h, struct map *names)
{
    for (size_t i = 0; i < h->sources.n; i++) {
        const struct source *s = &h->sources.v[i];
        if (!s->has_module || !s->needed || !s->mod)
            continue;
        for (size_t k = 0; k < s->mod->defs.n; k++)
            if (s->mod->defs.v[k].is_class &&
                pyrepo_is_module_class(h->py, s->mod, &s->mod->defs.v[k]))
                (void)map_ref(names, s->mod->defs.v[k].name);
    }
}

/* The name before the bracket at AT of TEXT, empty where it is defined. */
static struct span called_name(struct span text, size_t at)
{
    size_t start = at;
    while (start > 0 && is_word_char(text.p[start - 1]))
        start--;
    struct span before = {text.p, start}, none = {NULL, 0};
    if (start == at || span_ends(before, "class ") || span_ends(before, "def "))
        return none;
    return (struct span){text.p + start, at - start};
}

/* The last part of the name behind the colon at AT of configuration TEXT, empty
 * where the key before it is not one that names a class (clean/config.h). */
static struct span configured_name(struct span text, size_t at)
{
    static const char *const keys[] = {"_target_", "class_path", "target"};
    struct span key = {text.p, at}, name = {NULL, 0};
    size_t n = 0, i = at + 1;
    while (key.n > 0 && key.p[key.n - 1] == ' ')
        key.n--;
    if (key.n > 0 && (key.p[key.n - 1] == '"' || key.p[key.n - 1] == '\''))
        key.n--;
    while (n < key.n && is_word_char(key.p[key.n - n - 1]))
        n++;
    bool tag = n < key.n && key.p[key.n - n - 1] == '!';
    key = (struct span){key.p + key.n - n, n};
    if (!(tag && span_is(key, "new")) && !span_in(key, keys, ARRAY_LEN(keys)))
        return name;
    while (i < text.n && !tag && strchr(" '\"", text.p[i]))
        i++;
    name.p = text.p + i;
    while (i + name.n < text.n &&
           (is_word_char(name.p[name.n]) || name.p[name.n] == '.'))
        name.n++;
    return span_last_part(name);
}

/* Is one of NAMES called in TEXT that not enough files have yet? Counts it for
 * all that are. */
static bool takes_part(struct map *names, struct span text, bool config)
{
    struct map seen = MAP_INIT;
    bool found = false;
    const char *p = text.p, *end = text.p + text.n;
    char mark = config ? ':' : '(';
    for (; p < end && (p = memchr(p, mark, (size_t)(end - p))) != NULL; p++) {
        size_t at = (size_t)(p - text.p);
        struct span name =
            config ? configured_name(text, at) : called_name(text, at);
        if (name.n == 0 || !map_has(names, name) || map_put(&seen, name, names))
            continue;
        found |= (uintptr_t)map_get(names, name) < CALLER_EACH;
    }
    for (size_t i = 0; i < seen.n && found; i++) {
        void **count = map_ref(names, seen.entries[i].key);
        *count = (void *)((uintptr_t)*count + 1);
    }
    map_release(&seen);
    return found;
}

static int by_size(const void *a, const void *b)
{
    const struct source *const *x = a, *const *y = b;
    if ((*x)->text.n != (*y)->text.n)
        return (*x)->text.n < (*y)->text.n ? -1 : 1;
    return strcmp((*x)->path, (*y)->path);
}

static void mark(struct harvest *h, struct map *names, bool config)
{
    ARRAY(struct source *) list = {0};
    size_t total = 0, most = config ? CONFIGS_MAX : CALLERS_MAX;
    for (size_t i = 0; i < h->sources.n; i++) {
        struct source *s = &h->sources.v[i];
        if (s->code == ERR_NONE && !s->needed && s->is_config == config &&
            s->text.n > 0 && s->text.n <= CALLER_MAX)
            array_push(&list, s);
    }
    /* the short ones say it most plainly */
    if (list.n > 0)
        qsort(list.v, list.n, sizeof(*list.v), by_size);
    for (size_t i = 0; i < list.n; i++) {
        struct source *s = list.v[i];
        if (total + s->text.n > most)
            break;
        s->caller = takes_part(names, s->text, config);
        total += s->caller ? s->text.n : 0;
    }
    array_release(&list);
}

void callers_mark(struct harvest *h)
{
    for (int config = 0; config < 2; config++) {
        struct map names = MAP_INIT;
        name_modules(h, &names);
        if (names.n > 0)
            mark(h, &names, config);
        map_release(&names);
    }
}
