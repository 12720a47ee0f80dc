/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "testgen/infer/infer.h"

#include "log.h"
#include "testgen/infer/interp.h"
#include "testgen/propose.h"

#define MAX_STEPS    60000
#define MAX_SIZE     16384
#define MAX_ELEMENTS (16 << 20)

/* One input of the state. */
struct given {
    struct span key;
    const struct val *spec;
    struct tensor *t;    /* of a tensor */
    const struct dim *d; /* of a number */
    struct shape_plan plan;
};

struct inference {
    struct interp in;
    struct arena a;
    struct given v[INFER_INPUTS];
    size_t n;
    /* Constructor's numbers, by their name. */
    struct anames numbers;
    struct anames kept; /* a function's arguments that are no inputs */
};

/* ---- values of the state ---- */

static struct aval *of_val(struct inference *x, const struct val *v, bool free)
{
    struct arena *a = &x->a;
    const struct val *items = seq_items(v);
    struct aval *out;
    if (items) {
        out = av_seq(a, v->type != VAL_LIST);
        for (size_t i = 0; i < val_len(items); i++)
            aseq_push(a, out->seq, of_val(x, val_at(items, i), false));
        return out;
    }
    switch (v->type) {
    case VAL_INT:
        return av_dim(a, free && v->i > 1 ? dim_var(&x->in.dims, v->i, DIM_INIT)
                                          : dim_int(&x->in.dims, v->i));
    case VAL_BOOL:
        return av_bool(a, v->b);
    case VAL_FLOAT:
        return av_float(a, v->f);
    case VAL_STR:
        return av_str(a, val_as_str(v));
    case VAL_NIL:
        return av_new(a, AV_NONE);
    default:
        break;
    }
    if (is_expr(v)) { /* a name: "torch.nn.GELU", a class of the source */
        struct span s = val_gets(v, "$");
        const struct pydef *d = pymod_def(x->in.f->mod, s);
        if (span_is(s, "{}")) {
            out = av_new(a, AV_DICT);
            out->dict = arena_zalloc(a, sizeof(*out->dict));
            return out;
        }
        if (d) {
            out = av_new(a, d->is_class ? AV_CLASS : AV_FUNC);
            out->def = d;
            return out;
        }
        bool plain = s.n > 0;
        for (size_t i = 0; i < s.n; i++)
            plain = plain && (s.p[i] == '.' || s.p[i] == '_' ||
                              (s.p[i] >= 'a' && s.p[i] <= 'z') ||
                              (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
                              (s.p[i] >= '0' && s.p[i] <= '9'));
        if (plain)
            return av_name(a, s);
    }
    return av_new(a, AV_UNKNOWN);
}

/* A number that nothing but a guess stands behind. */
static bool is_free(const struct val *entry)
{
    struct span ev = val_gets(entry, "ev");
    return !memmem(ev.p, ev.n, " at ", 4) && !span_starts(ev, "parent");
}

static struct aval *module_of(struct inference *x, const struct val *state)
{
    const struct val *init = val_get(state, "init");
    struct actuals c = {0};
    for (size_t i = 0; i < val_len(init); i++) {
        const struct val *entry = init->map.v[i];
        const struct param *p = params_find(&x->in.f->init, init->map.keys[i]);
        if (!val_get(entry, "v") || (p && p->kind == PARAM_VAR))
            continue;
        struct aval *v = of_val(x, val_get(entry, "v"), is_free(entry));
        anames_set(&x->a, &c.kw, init->map.keys[i], v);
        if (v->kind == AV_INT)
            anames_set(&x->a, &x->numbers, init->map.keys[i], v);
    }
    if (x->in.f->is_function) {
        struct aval *v = av_new(&x->a, AV_FUNC);
        v->def = x->in.f->entry;
        x->kept = c.kw;
        return v;
    }
    return interp_instance(&x->in, x->in.f->entry, &c);
}

static void plan(struct inference *x, struct shape_plan *p,
                 const struct val *spec, const struct val *state)
{
    int64_t shape[SHAPE_MAX];
    p->rank = (int)input_shape(spec, shape, SHAPE_MAX);
    for (int r = 1; r <= 5; r++)
        propose_shape(x->in.f, state, r, r > 3, p->size[r]);
    for (int r = 6; r <= SHAPE_MAX; r++)
        for (int i = 0; i < r; i++)
            p->size[r][i] = 2 + 2 * (i > 0);
    for (int i = 0; i < p->rank; i++)
        p->size[p->rank][i] = shape[i];
}

static struct aval *input_of(struct inference *x, struct span key,
                             const struct val *spec, const struct val *state)
{
    struct span dtype = val_gets(spec, "dtype");
    struct aval *v = av_new(&x->a, AV_UNKNOWN);
    const struct val *items = val_get(spec, "items");
    if (val_len(items)) {
        v = av_seq(&x->a, false);
        for (size_t i = 0; i < val_len(items); i++)
            aseq_push(&x->a, v->seq,
                      av_tensor(&x->a, shape_open(&x->a), AD_FLOAT, -1));
        return v;
    }
    if (x->n == INFER_INPUTS)
        return v;
    struct given *g = &x->v[x->n];
    g->key = key;
    g->spec = spec;
    if (input_is_tensor(spec)) {
        struct shape *s = shape_open(&x->a);
        plan(x, &g->plan, spec, state);
        s->plan = &g->plan;
        v = av_tensor(&x->a, s,
                      span_is(dtype, "bool")        ? AD_BOOL
                      : span_starts(dtype, "float") ? AD_FLOAT
                                                    : AD_INT,
                      (int)x->n);
        g->t = v->t;
    } else if (val_get(spec, "value")) {
        const struct val *value = val_get(spec, "value");
        v = of_val(x, value, false);
        if (value->type == VAL_INT)
            v->d = g->d = dim_var(&x->in.dims, value->i, DIM_INPUT);
    }
    x->n++;
    return v;
}

/* Parts "ARG.FIELD" of an argument that is an object or a dict. */
static struct aval *object_of(struct inference *x, struct span name,
                              struct span form, const struct val *state)
{
    const struct val *in = val_get(state, "in");
    struct aval *v = av_new(&x->a, span_is(form, "dict") ? AV_DICT : AV_MODULE);
    struct anames *fields;
    v->m = arena_zalloc(&x->a, sizeof(*v->m));
    v->dict = arena_zalloc(&x->a, sizeof(*v->dict));
    fields = v->kind == AV_DICT ? v->dict : &v->m->attrs;
    for (size_t i = 0; i < val_len(in); i++) {
        struct span key = in->map.keys[i];
        if (span_eq(key_argument(key), name))
            anames_set(&x->a, fields, key_field(key),
                       input_of(x, key, in->map.v[i], state));
    }
    return v;
}

static void run_forward(struct inference *x, struct aval *m,
                        const struct val *state)
{
    const struct facts *f = x->in.f;
    struct actuals c = {.kw = x->kept};
    for (size_t i = 0; i < f->forward.n; i++) {
        const struct param *p = &f->forward.v[i];
        const struct val *spec = state_input(state, p->name);
        struct span form = state_form(state, p->name);
        struct aval *v;
        if (form.n && !span_is(form, "tuple"))
            v = object_of(x, p->name, form, state);
        else if (spec)
            v = input_of(x, p->name, spec, state);
        else
            continue;
        if (p->kind != PARAM_VAR && p->kind != PARAM_VAR_KW)
            anames_set(&x->a, &c.kw, p->name, v);
        else if (p->kind == PARAM_VAR && c.kw.n == 0) {
            c.v = arena_array(&x->a, 1, sizeof(*c.v));
            c.v[0] = v;
            c.n = 1;
        }
    }
    interp_call(&x->in, interp_frame(&x->in, NULL), m, &c);
}

/* ---- what was learnt ---- */

/* A shape of which something is known gets a rank. */
static bool is_known(struct inference *x, struct given *g)
{
    struct shape *s = g->t->s;
    const struct input_use *u = &x->in.inputs[g - x->v];
    bool any = u->ids || u->mask;
    if (shape_rank(&x->in.dims, s) >= 0)
        return true;
    for (int i = 0; i < SHAPE_MAX; i++)
        any = any || s->front[i] || s->back[i];
    return any && shape_fix(&x->in.dims, s, g->plan.rank);
}

static bool sizes_of(struct inference *x, const struct given *g, int64_t *shape)
{
    const struct shape *s = g->t->s;
    int64_t all = 1;
    for (int i = 0; i < s->rank; i++) {
        shape[i] = s->d[i] ? dim_value(&x->in.dims, s->d[i]) : PLAN_TOKENS;
        if (shape[i] < 1 || shape[i] > MAX_SIZE)
            return false;
        all *= shape[i];
        if (all > MAX_ELEMENTS)
            return false;
    }
    return true;
}

static struct val *new_spec(struct inference *x, struct arena *a,
                            const struct given *g, size_t at,
                            const int64_t *shape)
{
    const struct input_use *u = &x->in.inputs[at];
    struct span name = val_gets(g->spec, "name");
    size_t rank = (size_t)g->t->s->rank;
    struct val *v;
    if (u->ids) {
        int64_t below = u->below ? dim_value(&x->in.dims, u->below) : 0;
        v = input_ids(a, name, shape, rank, below > 0 ? below - 1 : 15);
    } else if (u->mask && g->t->dtype == AD_FLOAT) {
        v = input_mask(a, name, shape, rank);
    } else {
        return input_reshaped(a, g->spec, shape, rank);
    }
    val_set(a, v, "ev", val_strz(a, "shapes in the source"));
    return v;
}

static bool set_inputs(struct inference *x, struct arena *a, struct val *state)
{
    int64_t shape[SHAPE_MAX];
    for (size_t i = 0; i < x->n; i++) {
        struct given *g = &x->v[i];
        if (g->d) {
            int64_t k = dim_value(&x->in.dims, g->d);
            if (k < 1 || k > MAX_SIZE)
                continue;
            struct val *v =
                input_value(a, val_gets(g->spec, "name"), val_int(a, k));
            val_set(a, v, "ev", val_str(a, val_gets(g->spec, "ev")));
            state_set_input(a, state, g->key, v);
        } else if (g->t && is_known(x, g)) {
            if (!sizes_of(x, g, shape))
                return false;
            state_set_input(a, state, g->key, new_spec(x, a, g, i, shape));
        }
    }
    return true;
}

static bool set_numbers(struct inference *x, struct arena *a, struct val *state)
{
    for (size_t i = 0; i < x->numbers.n; i++) {
        struct span name = x->numbers.names[i];
        int64_t k = dim_value(&x->in.dims, x->numbers.v[i]->d);
        const struct val *was = state_init(state, name);
        if (was && was->type == VAL_INT && was->i == k)
            continue;
        if (k < 1 || k > MAX_SIZE)
            return false;
        state_set_init(a, state, name, val_int(a, k), "shapes in the source");
    }
    return true;
}

struct val *infer_state(struct arena *a, const struct facts *f,
                        const struct val *state)
{
    struct inference *x = xcalloc(1, sizeof(*x));
    struct val *out = state_copy(a, state);
    int open = 0;
    bool ok = f->entry != NULL;
    x->in.a = &x->a;
    x->in.f = f;
    x->in.steps = MAX_STEPS;
    dims_init(&x->in.dims, &x->a);
    if (ok) {
        run_forward(x, module_of(x, state), state);
        open = dims_solve(&x->in.dims);
        ok = set_numbers(x, a, out) && set_inputs(x, a, out);
    }
    if (log_level > 2)
        log_info("shapes of %.*s: %zu needs, %d open, %d conflicts, %d steps",
                 f->entry ? (int)f->entry->name.n : 0,
                 f->entry ? f->entry->name.p : "", x->in.dims.needs.n, open,
                 x->in.dims.conflicts, MAX_STEPS - x->in.steps);
    dims_release(&x->in.dims);
    arena_release(&x->a);
    free(x);
    return ok && !val_equal(out, state) ? out : NULL;
}
