/* SPDX-License-Identifier: MIT */
/*
 * Files that no module needs but that make modules: tests, examples, scripts.
 * What they pass tells which arguments are meant (km-clean reads it). They are
 * told by their text alone: the name of a class and a bracket behind it.
 */
#include "base.h"

#include "harvest/harvest.h"

/* Files taken for one name of a class, bytes of one and of all. */
#define CALLER_EACH 16
#define CALLER_MAX  (256u << 10)
#define CALLERS_MAX (24u << 20)

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

/* Is one of NAMES called in TEXT that not enough files have yet? Counts it for
 * all that are. */
static bool takes_part(struct map *names, struct span text)
{
    struct map seen = MAP_INIT;
    bool found = false;
    const char *p = text.p, *end = text.p + text.n;
    for (; p < end && (p = memchr(p, '(', (size_t)(end - p))) != NULL; p++) {
        struct span name = called_name(text, (size_t)(p - text.p));
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

void callers_mark(struct harvest *h)
{
    struct map names = MAP_INIT;
    ARRAY(struct source *) list = {0};
    size_t total = 0;
    name_modules(h, &names);
    for (size_t i = 0; i < h->sources.n && names.n > 0; i++) {
        struct source *s = &h->sources.v[i];
        if (s->code == ERR_NONE && !s->needed && s->text.n > 0 &&
            s->text.n <= CALLER_MAX)
            array_push(&list, s);
    }
    /* the short ones say it most plainly */
    if (list.n > 0)
        qsort(list.v, list.n, sizeof(*list.v), by_size);
    for (size_t i = 0; i < list.n; i++) {
        struct source *s = list.v[i];
        if (total + s->text.n > CALLERS_MAX)
            break;
        s->caller = takes_part(&names, s->text);
        total += s->caller ? s->text.n : 0;
    }
    array_release(&list);
    map_release(&names);
}
