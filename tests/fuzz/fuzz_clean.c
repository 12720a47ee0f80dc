/* SPDX-License-Identifier: MIT */
/* Standalone sources from whatever a repository holds: the input is one file,
 * or two with a line "===" between them. */
#include "base.h"

#include "clean/calls.h"
#include "clean/module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All classes of F, each as its module record. */
static void clean_classes(struct crepo *r, struct pyparser *p,
                          const struct cfile *f)
{
    for (size_t i = 0; i < f->m->defs.n && i < 20; i++) {
        const struct pydef *d = &f->m->defs.v[i];
        struct arena a = ARENA_INIT;
        struct val *rec = rec_new(&a, "module");
        struct likeness like;

        if (d->is_class) {
            val_set(&a, rec, "path", val_strz(&a, f->m->path));
            val_set(&a, rec, "name", val_text(&a, d->qual));
            module_clean(r, p, &a, rec, &like);
        }
        arena_release(&a);
    }
}

static void want_classes(struct calls *x, const struct cfile *f)
{
    for (size_t i = 0; i < f->m->defs.n && i < 20; i++)
        if (f->m->defs.v[i].is_class)
            calls_want(x, span_str(f->m->path), f->m->defs.v[i].qual);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct policy policy = {.keep_docstrings = size % 2 == 0};
    struct span text = {(const char *)data, size}, second = {NULL, 0};
    static struct pyparser *p; /* costs more than most inputs */
    struct crepo r;
    struct err e;
    const char *cut = size ? memmem(data, size, "\n===\n", 5) : NULL;

    if (size > 20000)
        return 0;
    if (!p)
        p = pyparser_new(&e);
    if (!p)
        return 0;
    crepo_init(&r, &policy);
    if (cut) {
        text.n = (size_t)(cut + 1 - text.p);
        second = (struct span){cut + 5, size - text.n - 4};
        (void)crepo_add(&r, p, SPAN_LIT("pkg/b.py"), second, NULL, &e);
    }
    (void)crepo_add(&r, p, SPAN_LIT("pkg/a.py"), text, NULL, &e);
    r.calls = calls_new(p);
    calls_add(r.calls, SPAN_LIT("tests/c.py"), text);
    for (size_t i = 0; i < r.files.n; i++)
        want_classes(r.calls, r.files.v[i]);
    calls_read(r.calls, &r);
    for (size_t i = 0; i < r.files.n; i++)
        clean_classes(&r, p, r.files.v[i]);
    calls_free(r.calls);
    crepo_release(&r);
    return 0;
}
