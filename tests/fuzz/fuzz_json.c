/* SPDX-License-Identifier: MIT */
/* Any bytes as JSON, strict and lenient: what is accepted must come back
 * the same through JSON and msgpack. */
#include "base.h"

#include "val.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct arena *a, const struct val *v)
{
    struct buf b = BUF_INIT(64u << 20);
    struct val *back;
    struct err e;
    size_t used;

    if (val_json(&b, v) < 0 ||
        val_parse_json(a, buf_span(&b), VAL_JSON_STRICT, &back, &e) < 0 ||
        !val_equal(v, back))
        abort();
    buf_clear(&b);
    if (val_pack(&b, v) < 0)
        abort();
    /* the limits of msgpack are narrower: it may refuse, never differ */
    if (val_unpack(a, buf_span(&b), &used, &back, &e) == 0 &&
        (used != b.n || !val_equal(v, back)))
        abort();
    buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = ARENA_INIT;
    struct span in = {(const char *)data, size};
    struct val *v;
    struct err e;

    if (val_parse_json(&a, in, VAL_JSON_STRICT, &v, &e) == 0)
        check(&a, v);
    if (val_parse_json(&a, in, VAL_JSON_LENIENT, &v, &e) == 0)
        check(&a, v);
    arena_release(&a);
    return 0;
}
