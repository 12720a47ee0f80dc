/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "testgen/gate.h"
#include "testgen/propose.h"

static int names_in(struct err *e, const char *what, const struct val *list)
{
    struct span s = val_as_str(val_at(list, 0));
    return err_set(e, ERR_QUALITY, "%s '%.*s'%s", what, (int)MIN(s.n, 80),
                   s.p ? s.p : "", val_len(list) > 1 ? " and others" : "");
}

int gate_check(const struct val *g, struct err *e)
{
    const struct val *spread = val_get(g, "spread");
    struct span train = val_gets(g, "train");

    if (val_len(val_get(g, "uninitialised")))
        return names_in(e, "uninitialised or unseeded parameter",
                        val_get(g, "uninitialised"));
    if (!val_getb(g, "deterministic", false))
        return err_set(e, ERR_QUALITY,
                       "two runs under one seed give different outputs");
    if (!val_getb(g, "finite", false))
        return err_set(e, ERR_QUALITY, "the output is not finite");
    if (val_getb(g, "identity", false))
        return err_set(e, ERR_QUALITY, "the output is an input");
    if (val_len(val_get(g, "unused_inputs")))
        return names_in(e, "the output does not depend on input",
                        val_get(g, "unused_inputs"));
    /* the unscaled distribution is the task's own */
    if (val_as_int(val_at(val_get(g, "constant"), 0), 0) == 1)
        return err_set(e, ERR_QUALITY, "the output is constant");
    if (spread && !val_getb(g, "scalar", false) &&
        (val_getf(g, "spread", 0) < GATE_SPREAD ||
         val_getf(g, "deviation", 0) < GATE_SPREAD))
        return err_set(e, ERR_QUALITY,
                       "the output hardly varies: range %.3g, deviation %.3g",
                       val_getf(g, "spread", 0), val_getf(g, "deviation", 0));
    if (val_len(val_get(g, "unused_parameters")))
        return names_in(e, "the output does not depend on parameter",
                        val_get(g, "unused_parameters"));
    if (train.n)
        return err_set(e, ERR_QUALITY, "fails in train mode: %.*s",
                       (int)train.n, train.p);
    return 0;
}

/* Every normal input becomes uniform in [0, 1). */
static struct val *positive(struct arena *a, const struct facts *f,
                            const struct val *state)
{
    struct val *s = state_copy(a, state);
    struct val *in = val_get(s, "in");
    bool changed = false;
    (void)f;
    for (size_t i = 0; i < val_len(in); i++) {
        struct val *v = in->map.v[i];
        if (!span_is(val_gets(v, "dist"), "normal"))
            continue;
        val_set(a, v, "dist", val_strz(a, "uniform"));
        val_set(a, v, "lo", val_float(a, 0.0));
        val_set(a, v, "hi", val_float(a, 1.0));
        changed = true;
    }
    return changed ? s : NULL;
}

/* Inputs that the output does not depend on are left out where they can be. */
static struct val *without_unused(struct arena *a, const struct facts *f,
                                  const struct val *state,
                                  const struct val *unused)
{
    struct val *s = state_copy(a, state);
    bool changed = false;
    int64_t at = 0;
    for (size_t i = 0; i < f->forward.n; i++) {
        const struct param *p = &f->forward.v[i];
        if (!state_input(state, p->name))
            continue;
        for (size_t k = 0; k < val_len(unused) && p->has_default; k++)
            if (val_as_int(val_at(unused, k), -1) == at) {
                state_set_input(a, s, p->name, NULL);
                changed = true;
            }
        at++;
    }
    return changed ? s : NULL;
}

struct val *gate_mend(struct arena *a, const struct facts *f,
                      const struct val *state, const struct val *figures, int i)
{
    const struct val *unused = val_get(figures, "unused_inputs");
    if (i < 2 && val_len(unused)) {
        struct val *s = without_unused(a, f, state, unused);
        if (s)
            return s;
    }
    if (!val_getb(figures, "finite", true))
        return positive(a, f, state);
    return NULL;
}
