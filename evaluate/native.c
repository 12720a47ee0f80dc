/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/native.h"

#include "mem.h"
#include "run/frames.h"

#define SOCK 3

/* ---- helpers ---- */

static int describe(struct km_tensor *k, const struct val *v, struct err *e)
{
    struct tensor t;
    int64_t stride = 1;
    if (tensor_parse(&t, v, e))
        return -1;
    *k = (struct km_tensor){.dtype = t.dtype, .ndim = t.ndim};
    for (int i = t.ndim - 1; i >= 0; i--) {
        k->shape[i] = t.shape[i];
        k->stride[i] = stride;
        stride *= t.shape[i];
    }
    return 0;
}

size_t native_bytes(const struct km_tensor *k)
{
    return (size_t)km_numel(k) * dtype_size(k->dtype);
}

/* K at AT, SHIFT bytes further on. */
static int place(struct native *s, int64_t arena, const struct val *at,
                 int64_t shift, struct km_tensor *k, struct err *e)
{
    int64_t offset = val_as_int(at, -1);
    size_t n = native_bytes(k);
    if (offset >= 0 && __builtin_add_overflow(offset, shift, &offset))
        offset = -1;
    if (arena < 0 || arena >= NATIVE_ARENAS || !s->arenas[arena].at ||
        offset < 0 || (size_t)offset > s->arenas[arena].size ||
        n > s->arenas[arena].size - (size_t)offset)
        return err_set(e, ERR_PROTOCOL, "a tensor lies outside its arena");
    k->data = s->arenas[arena].at + offset;
    return 0;
}

/* ---- operations ---- */

static int op_arena(struct native *s, const struct val *m, int *fds, size_t n,
                    struct err *e)
{
    int64_t i = val_geti(m, "arena", -1), size = val_geti(m, "size", -1);
    if (i < 0 || i >= NATIVE_ARENAS || size <= 0 || n < 1)
        return err_set(e, ERR_PROTOCOL, "arena: bad number or size");
    if (s->arenas[i].at && s->ops->unmap(s, (size_t)i, e))
        return -1;
    s->arenas[i].at = NULL;
    return s->ops->map(s, (size_t)i, fds[0], (size_t)size, e);
}

static struct km_tensor *find_param(struct native *s, struct span name)
{
    for (size_t i = 0; i < s->params.n; i++)
        if (span_is(name, s->params.v[i].name))
            return &s->params.v[i];
    return NULL;
}

static int op_state_set(struct native *s, const struct val *m,
                        const char **where, struct err *e)
{
    const struct val *items = val_get(m, "items");
    *where = "construct";
    for (size_t i = 0; i < val_len(items); i++) {
        const struct val *v = val_at(items, i);
        struct span name = val_gets(v, "name");
        struct km_tensor src, *k;
        if (describe(&src, v, e) || place(s, val_geti(m, "arena", -1),
                                          val_get(v, "offset"), 0, &src, e))
            return -1;
        k = find_param(s, name);
        if (!k) {
            struct km_tensor fresh = src;
            fresh.data = NULL;
            if (s->ops->take(s, native_bytes(&src), &fresh.data, e))
                return -1;
            fresh.name = xmemdup0(name);
            array_push(&s->params, fresh);
            k = &s->params.v[s->params.n - 1];
        }
        if (native_bytes(k) != native_bytes(&src))
            return err_set(e, ERR_PROTOCOL, "a parameter changed its shape");
        if (s->ops->copy(s, k->data, src.data, native_bytes(&src), e))
            return -1;
    }
    if (val_getb(m, "more", false))
        return 0;
    return s->ops->init(s, e) || s->ops->wait(s, e) ? -1 : 0;
}

/* Scalars of the skeleton live as long as the bind. */
static int scalar(struct native *s, const struct val *v, struct km_tensor *k)
{
    *k = (struct km_tensor){0};
    if (!v)
        return 0;
    switch (v->type) {
    case VAL_INT:
        k->dtype = KM_INT64;
        k->data = arena_alloc(&s->bound, 8);
        memcpy(k->data, &v->i, 8);
        return 1;
    case VAL_FLOAT:
        k->dtype = KM_FLOAT64;
        k->data = arena_alloc(&s->bound, 8);
        memcpy(k->data, &v->f, 8);
        return 1;
    case VAL_BOOL:
        k->dtype = KM_BOOL;
        k->data = arena_zalloc(&s->bound, 8);
        *(uint8_t *)k->data = v->b;
        return 1;
    default: /* str and None are left out */
        return 0;
    }
}

/* Where each tensor index of the skeleton comes in the flat order. */
struct flat {
    ARRAY(struct km_tensor) args; /* scalars have their data, tensors not */
    ARRAY(int64_t) index;         /* of the tensor, -1 for a scalar */
};

static int flatten(struct native *s, const struct val *node, struct flat *f,
                   struct err *e)
{
    const struct val *l = val_get(node, "l"), *t = val_get(node, "t");
    struct km_tensor k = {0};
    if (l) {
        for (size_t i = 0; i < val_len(l); i++)
            if (flatten(s, val_at(l, i), f, e)) /* depth is a frame's */
                return -1;
        return 0;
    }
    if (t) {
        array_push(&f->args, k);
        array_push(&f->index, val_as_int(t, -1));
        return 0;
    }
    if (scalar(s, val_get(node, "v"), &k)) {
        array_push(&f->args, k);
        array_push(&f->index, (int64_t)-1);
    }
    return 0;
}

static const char *numbered(struct native *s, const char *what, size_t i)
{
    return arena_printf(&s->bound, "%s%zu", what, i);
}

/* The PyTorch runner copies each result from its heap into the arena, on the
 * reference's time. This one's lie there already: it makes a copy of the same
 * size, so that equal work takes equal time. */
static int copy_outputs(struct native *s, const struct km_tensor *out,
                        struct err *e)
{
    for (size_t i = 0; i < s->n_out; i++)
        if (s->ops->copy(s, s->copy, out[i].data, native_bytes(&out[i]), e))
            return -1;
    return 0;
}

static int make_room(struct native *s, struct err *e)
{
    void *room = NULL;
    size_t most = 1;
    for (size_t i = 0; s->slots && i < s->n_out; i++)
        most = MAX(most, native_bytes(&s->out[i]));
    if (most <= s->copy_size)
        return 0;
    if (s->ops->take(s, most, &room, e))
        return -1;
    s->ops->give(s, s->copy);
    s->copy = room;
    s->copy_size = most;
    return 0;
}

static int bind_slots(struct native *s, const struct val *m,
                      const struct flat *f, struct err *e)
{
    const struct val *ins = val_get(m, "ins"), *outs = val_get(m, "outs");
    const struct val *in_off = val_get(m, "in_off");
    const struct val *out_off = val_get(m, "out_off");
    int64_t arena = val_geti(m, "arena", -1);
    int64_t slots = val_geti(m, "slots", 0), stride = val_geti(m, "stride", 0);

    s->n_in = f->args.n;
    s->n_out = val_len(outs);
    s->slots = (size_t)slots;
    if (slots < 0 || slots > NATIVE_SLOTS || stride < 0 ||
        stride > INT64_MAX / (NATIVE_SLOTS + 1))
        return err_set(e, ERR_PROTOCOL, "bind: bad number of slots");
    s->index = arena_array(&s->bound, s->n_in + 1, sizeof(*s->index));
    for (size_t i = 0; i < s->n_in; i++)
        s->index[i] = f->index.v[i];
    s->in = arena_array(&s->bound, s->slots * s->n_in + 1, sizeof(*s->in));
    s->out = arena_array(&s->bound, s->slots * s->n_out + 1, sizeof(*s->out));
    for (size_t k = 0; k < s->slots; k++) {
        for (size_t i = 0; i < s->n_in; i++) {
            struct km_tensor *t = &s->in[k * s->n_in + i];
            int64_t at = f->index.v[i];
            *t = f->args.v[i];
            if (at >= 0 && (describe(t, val_at(ins, (size_t)at), e) ||
                            place(s, arena, val_at(in_off, (size_t)at),
                                  (int64_t)k * stride, t, e)))
                return -1;
            t->name = numbered(s, "in", i);
        }
        for (size_t i = 0; i < s->n_out; i++) {
            struct km_tensor *t = &s->out[k * s->n_out + i];
            if (describe(t, val_at(outs, i), e) ||
                place(s, arena, val_at(out_off, i), (int64_t)k * stride, t, e))
                return -1;
            t->name = numbered(s, "out", i);
        }
    }
    s->outs = val_copy(&s->bound, outs);
    return make_room(s, e);
}

static int op_bind(struct native *s, const struct val *m, const char **where,
                   struct err *e)
{
    const struct val *args = val_get(m, "args");
    struct flat f = {0};
    int rc = 0;
    arena_reset(&s->bound);
    s->slots = 0;
    for (size_t i = 0; !rc && i < val_len(args); i++)
        rc = flatten(s, val_at(args, i), &f, e);
    if (!rc)
        rc = bind_slots(s, m, &f, e);
    if (!rc) {
        *where = "build"; /* what it says must go with these tensors */
        rc = s->ops->bound(s, e);
    }
    if (rc)
        s->slots = 0;
    array_release(&f.args);
    array_release(&f.index);
    return rc;
}

static char *element(const struct km_tensor *t, int64_t at)
{
    return (char *)t->data + (size_t)at * dtype_size(t->dtype);
}

static int read_chain(const struct native *s, const struct val *m,
                      struct native_chain *c, struct err *e)
{
    const struct val *chain = val_get(m, "chain");
    int64_t in, out, arg = 0;

    *c = (struct native_chain){.on = chain && chain->type == VAL_LIST};
    if (!c->on)
        return 0;
    in = val_as_int(val_at(chain, 0), -1);
    out = val_as_int(val_at(chain, 2), -1);
    c->in_element = val_as_int(val_at(chain, 1), 0);
    c->out_element = val_as_int(val_at(chain, 3), 0);
    while (arg < (int64_t)s->n_in && s->index[arg] != in)
        arg++;
    if (arg == (int64_t)s->n_in || out < 0 || out >= (int64_t)s->n_out)
        return err_set(e, ERR_PROTOCOL, "run: no such chain");
    c->in = (size_t)arg;
    c->out = (size_t)out;
    return 0;
}

/* Forwards of N slots from FIRST on, as `run` of frames.h says. */
static int forwards(struct native *s, size_t first, size_t n,
                    const struct native_chain *c, bool copies, struct err *e)
{
    for (size_t i = first; i < first + n; i++) {
        struct km_tensor *in = s->in + i * s->n_in;
        struct km_tensor *out = s->out + i * s->n_out;
        if (s->ops->forward(s, i, e) || (copies && copy_outputs(s, out, e)))
            return -1;
        if (c->on && i + 1 < first + n &&
            s->ops->copy(s, element(in + s->n_in + c->in, c->in_element),
                         element(out + c->out, c->out_element),
                         dtype_size(out[c->out].dtype), e))
            return -1;
    }
    return 0;
}

static int read_range(const struct native *s, const struct val *m,
                      size_t *first, size_t *n, struct err *e)
{
    int64_t from = val_geti(m, "first", -1), count = val_geti(m, "n", -1);

    if (from < 0 || count < 0 || from > (int64_t)s->slots ||
        count > (int64_t)s->slots - from)
        return err_set(e, ERR_PROTOCOL, "run: no such slots");
    *first = (size_t)from;
    *n = (size_t)count;
    return 0;
}

static int op_run(struct native *s, struct arena *a, const struct val *m,
                  struct val *reply, const char **where, struct err *e)
{
    struct native_chain c;
    size_t first, n;
    bool replay = val_getb(m, "graph", false);
    int rc;

    if (read_range(s, m, &first, &n, e) || read_chain(s, m, &c, e))
        return -1;
    *where = "forward";
    rc = replay && s->ops->replay ? s->ops->replay(s, e)
                                  : forwards(s, first, n, &c, true, e);
    if (rc || s->ops->wait(s, e))
        return -1;
    val_set(a, reply, "nonce", val_get(m, "nonce"));
    val_set(a, reply, "outs", s->outs ? s->outs : val_list(a));
    return 0;
}

static int op_capture(struct native *s, const struct val *m, const char **where,
                      struct err *e)
{
    struct native_chain c;
    size_t first, n;
    int rc;

    if (!s->ops->capture_begin)
        return err_set(e, ERR_PROTOCOL, "nothing is captured here");
    if (read_range(s, m, &first, &n, e) || read_chain(s, m, &c, e))
        return -1;
    *where = "capture";
    if (s->ops->capture_begin(s, e))
        return -1;
    /* Where results are to be kept in place, they are. */
    rc = forwards(s, first, n, &c, !val_getb(m, "keep", false), e);
    return s->ops->capture_end(s, rc != 0, e) || rc ? -1 : 0;
}

static int op_load(struct native *s, int *fds, size_t n, const char **where,
                   struct err *e)
{
    *where = "load";
    if (n < 1)
        return err_set(e, ERR_PROTOCOL, "load: no candidate");
    return s->ops->load(s, fds[0], where, e);
}

/* ---- main ---- */

static int answer(struct native *s, struct arena *a, const struct val *m,
                  int *fds, size_t n, struct val *reply, const char **where,
                  struct err *e)
{
    struct span op = val_gets(m, "op");
    if (span_is(op, "load")) {
        val_set(a, reply, "state", val_list(a));
        return op_load(s, fds, n, where, e);
    }
    if (span_is(op, "arena"))
        return op_arena(s, m, fds, n, e);
    if (span_is(op, "state_set"))
        return op_state_set(s, m, where, e);
    if (span_is(op, "bind"))
        return op_bind(s, m, where, e);
    if (span_is(op, "mode"))
        return s->ops->empty ? s->ops->empty(s, e) : 0;
    if (span_is(op, "capture"))
        return op_capture(s, m, where, e);
    if (span_is(op, "run"))
        return op_run(s, a, m, reply, where, e);
    return err_set(e, ERR_PROTOCOL, "unknown operation");
}

int native_serve(struct native *s)
{
    struct arena a = ARENA_INIT;
    struct val *m = val_map(&a), *reply;
    struct err e = {0};
    const char *where;

    s->bound = (struct arena)ARENA_INIT;
    val_set(&a, m, "op", val_strz(&a, "hello"));
    val_set(&a, m, "kind", val_strz(&a, s->ops->kind));
    val_set(&a, m, "versions", val_map(&a));
    if (frame_send(SOCK, m, NULL, 0, 0, &e))
        return 1;
    for (;;) {
        int fds[FRAME_FDS], rc;
        size_t n = FRAME_FDS;
        arena_reset(&a);
        if (frame_recv(SOCK, &a, &m, fds, &n, NULL, NULL, 0, &e))
            return 0; /* the judge is gone */
        if (span_is(val_gets(m, "op"), "bye"))
            return 0;
        reply = val_map(&a);
        where = "protocol";
        val_set(&a, reply, "ok", val_bool(&a, true));
        rc = answer(s, &a, m, fds, n, reply, &where, &e);
        for (size_t i = 0; i < n; i++)
            close(fds[i]);
        if (rc) {
            reply = val_map(&a);
            val_set(&a, reply, "ok", val_bool(&a, false));
            val_set(&a, reply, "where", val_strz(&a, where));
            val_set(
                &a, reply, "class",
                val_strz(&a, e.code == ERR_MEMORY ? "MemoryError" : "Error"));
            val_set(&a, reply, "message", val_text(&a, span_str(e.msg)));
            val_set(&a, reply, "line", val_int(&a, 0));
        }
        if (frame_send(SOCK, reply, NULL, 0, 0, &e))
            return 0;
    }
}
