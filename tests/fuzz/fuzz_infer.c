/* SPDX-License-Identifier: MIT */
/* Facts, proposals and sizes of a source: of each of its classes. */
#include "base.h"

#include "testgen/infer/infer.h"
#include "testgen/propose.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pyparser *parser;
    struct span text = {(const char *)data, size};
    struct err e;
    struct pymod *m;

    if (!parser && !(parser = pyparser_new(&e)))
        abort();
    if (size > 1 << 18 || !(m = pymod_new(parser, "source.py", text, &e)))
        return 0;
    for (size_t i = 0; i < m->defs.n && i < 64; i++) {
        const struct pydef *d = &m->defs.v[i];
        struct facts f = {0};
        struct arena a = ARENA_INIT;
        if (d->is_class && d->outer < 0 &&
            facts_read(&f, parser, text, d->qual, &e) == 0)
            infer_state(&a, &f, propose_state(&a, &f));
        facts_release(&f);
        arena_release(&a);
    }
    pymod_free(m);
    return 0;
}
