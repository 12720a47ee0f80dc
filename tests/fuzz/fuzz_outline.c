/* SPDX-License-Identifier: MIT */
/* The outline by the short text is that of the whole text, for any bytes that
 * the parser takes without an error. */
#include "base.h"

#include "log.h"
#include "tests/outline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pyparser *parser;
    struct err e;
    struct buf text = BUF_INIT(PY_MAX_SOURCE);
    struct buf both = BUF_INIT((size_t)256 << 20);
    size_t shorter;
    if (!parser && !(parser = pyparser_new(&e)))
        die_err(&e);
    if (py_decode(&text, (struct span){(const char *)data, size}, &e) == 0 &&
        outline_differs(parser, buf_span(&text), &shorter, &both))
        bug("the outlines differ:\n%s", both.p);
    buf_release(&text);
    buf_release(&both);
    return 0;
}
