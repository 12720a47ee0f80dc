/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "testgen/lessons.h"

#define WATCH_S 4.0 /* CPU seconds for one parent */

static bool names_known(const struct facts *f, const struct val *uses)
{
    for (size_t i = 0; i < val_len(uses); i++)
        if (!pymod_lookup(f->mod, 0, val_as_str(val_at(uses, i))))
            return false;
    return true;
}

/* One entry of the reply `seen` as a state. */
static struct val *state_of(struct arena *a, const struct val *seen,
                            const char *evidence)
{
    const struct val *init = val_get(seen, "init"), *in = val_get(seen, "in");
    struct val *state = state_new(a);
    for (size_t i = 0; i < val_len(init); i++)
        state_set_init(a, state, init->map.keys[i], val_copy(a, init->map.v[i]),
                       evidence);
    for (size_t i = 0; i < val_len(in); i++) {
        struct val *input = val_copy(a, in->map.v[i]);
        val_set(a, input, "name", val_str(a, in->map.keys[i]));
        val_set(a, input, "ev", val_strz(a, evidence));
        state_set_input(a, state, in->map.keys[i], input);
    }
    return state;
}

int lesson_ask(struct arena *a, struct probe *p, const struct val *parent,
               struct span class, const struct facts *f, struct val *own,
               struct val *foreign, struct err *e)
{
    const struct val *rec = val_get(parent, "rec");
    struct span name = val_gets(rec, "name");
    struct val *reply, *msg = val_map(a);
    const char *evidence =
        arena_printf(a, "as %.*s does", (int)MIN(name.n, 100), name.p);

    if (probe_load(p, a, val_gets(parent, "task"), SPAN_LIT("Model"), &reply,
                   e) < 0)
        return -1;
    if (!val_getb(reply, "ok", false))
        return 0;
    val_set(a, msg, "op", val_strz(a, "watch"));
    val_set(a, msg, "class", val_str(a, class));
    probe_call(p, a, msg, WATCH_S, &reply);
    probe_end(p);
    const struct val *seen = val_get(reply, "seen");
    for (size_t i = 0; i < val_len(seen); i++) {
        const struct val *one = val_at(seen, i);
        val_push(a, names_known(f, val_get(one, "uses")) ? own : foreign,
                 state_of(a, one, evidence));
    }
    return 0;
}
