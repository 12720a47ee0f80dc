/* SPDX-License-Identifier: MIT */
/* Any bytes as a task that others made: a Python file, a row or a definition
 * as JSON, and a folder's two files with a line "===" between them. A draft
 * has a record and a class; a refusal has a reason. */
#include "base.h"

#include "log.h"
#include "testgen/foreign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *what, int rc, const struct draft *d,
                  const struct err *e)
{
    if (rc == 0 && (!d->task || !d->entry.n || !d->source.p))
        bug("%s: a draft without record, class or source", what);
    if (rc < 0 && !e->msg[0])
        bug("%s: refused without a reason", what);
}

static void json(struct arena *a, struct span text)
{
    struct draft d = {0};
    struct err e = {0};
    struct val *v;
    if (val_parse_json(a, text, 0, &v, &e))
        return;
    check("row", foreign_row(&d, a, "f.jsonl", v, &e), &d, &e);
    d = (struct draft){0};
    e = (struct err){0};
    check("definition", foreign_definition(&d, a, "f.json", v, v, &e), &d, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pyparser *p; /* costs more than most inputs */
    struct span text = {(const char *)data, size};
    const char *cut = size ? memmem(data, size, "\n===\n", 5) : NULL;
    struct arena a = ARENA_INIT;
    struct draft d = {0};
    struct err e = {0};
    struct val *config;

    if (size > 20000)
        return 0;
    if (!p)
        p = pyparser_new(&e);
    check("file", foreign_python(&d, &a, p, "level1/3_f.py", text, &e), &d, &e);
    json(&a, text);
    if (cut) {
        struct span first = {text.p, (size_t)(cut - text.p)};
        struct span second = {cut + 5, size - first.n - 5};
        d = (struct draft){0};
        e = (struct err){0};
        if (!val_parse_json(&a, second, 0, &config, &e))
            check("folder", foreign_folder(&d, &a, "f", first, config, &e), &d,
                  &e);
    }
    arena_release(&a);
    return 0;
}
