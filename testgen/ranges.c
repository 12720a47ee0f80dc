/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "testgen/ranges.h"

struct val *ranges_found(struct arena *a, const struct facts *f,
                         const struct val *state, const struct val *reply)
{
    const struct val *limits = val_get(reply, "limits");
    struct val *s = NULL;
    struct span keys[64];
    size_t n = val_len(limits) ? state_order(f, state, keys, 64) : 0;
    for (size_t i = 0; i < n; i++) {
        const struct val *input = state_input(state, keys[i]);
        char at[24];
        snprintf(at, sizeof(at), "%zu", i);
        int64_t hi = val_geti(limits, at, 0) - 1;
        if (!span_is(val_gets(input, "dist"), "int") || hi < 0 ||
            val_geti(input, "hi", 0) == hi)
            continue;
        struct val *next = val_copy(a, input);
        val_set(a, next, "hi", val_int(a, hi));
        if (val_geti(input, "lo", 0) > hi)
            val_set(a, next, "lo", val_int(a, 0));
        if (!s)
            s = state_copy(a, state);
        state_set_input(a, s, keys[i], next);
    }
    return s;
}
