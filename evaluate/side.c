/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/side.h"

#include "mem.h"

#define ALIGN       64u
#define GUARD       128u /* least bytes between two tensors */
#define GUARD_STEPS 16u  /* plus up to this many times ALIGN */
#define STATE_ITEMS 200u /* of one frame */
#define STATE_MAX   (2ull << 30)

void side_init(struct side *d, const struct device_ops *ops, void *dev,
               const struct task *task, int as)
{
    *d = (struct side){.ops = ops, .dev = dev, .task = task, .as = as};
    d->state_region.fd = d->data_region.fd = -1;
    d->mem = d->tmp = (struct arena)ARENA_INIT;
}

void side_close(struct side *d)
{
    session_close(&d->s);
    if (d->ops) {
        d->ops->region_free(d->dev, &d->state_region);
        d->ops->region_free(d->dev, &d->data_region);
    }
    free(d->in_at);
    free(d->out_at);
    free(d->image);
    d->in_at = d->out_at = NULL;
    d->image = NULL;
    array_release(&d->salts);
    arena_release(&d->mem);
    arena_release(&d->tmp);
}

static size_t tensor_bytes(const struct side *d, const struct tensor *t)
{
    int dtype = d->as >= 0 && dtype_is_float(t->dtype) ? d->as : t->dtype;
    return t->numel * dtype_size(dtype);
}

static size_t align_up(size_t n)
{
    return (n + ALIGN - 1) / ALIGN * ALIGN;
}

/* ---- calls ---- */

/* A new request: what the last one and its reply held is gone. */
static struct val *request(struct side *d, const char *op)
{
    struct val *m;
    arena_reset(&d->tmp);
    m = val_map(&d->tmp);
    val_set(&d->tmp, m, "op", val_strz(&d->tmp, op));
    return m;
}

static int call(struct side *d, const struct val *m, const int *fds, size_t n,
                double limit_s, struct turn *t, struct err *e)
{
    d->reply = NULL;
    return session_call(&d->s, &d->tmp, m, fds, n, limit_s, &d->reply, t, e);
}

static int map_region(struct side *d, int which, size_t size, struct region *r,
                      struct err *e)
{
    struct val *m = request(d, "arena");
    if (d->ops->region_new(d->dev, size, r, e))
        return -1;
    val_set(&d->tmp, m, "arena", val_int(&d->tmp, which));
    val_set(&d->tmp, m, "size", val_int(&d->tmp, (int64_t)r->size));
    return call(d, m, &r->fd, 1, d->ops->construct_s, NULL, e);
}

static int read_state(struct side *d, const struct val *list, struct err *e)
{
    size_t n = val_len(list), at = 0;
    d->state.v = arena_array(&d->mem, n ? n : 1, sizeof(*d->state.v));
    for (size_t i = 0; i < n; i++) {
        const struct val *v = val_at(list, i);
        struct state_item *it = &d->state.v[i];
        if (tensor_parse(&it->t, v, e))
            return err_wrap(e, "state entry %zu", i);
        it->name = arena_span(&d->mem, val_gets(v, "name"));
        if (!it->name.n)
            return err_set(e, ERR_PROTOCOL, "a state entry has no name");
        it->param = val_getb(v, "param", false);
        it->at = at;
        at += align_up(it->t.bytes);
        if (at > STATE_MAX)
            return err_set(e, ERR_PROTOCOL, "state above 2 GiB");
        d->state.n++;
    }
    d->state.bytes = at;
    return 0;
}

int side_load(struct side *d, const char *role, const char *class_name,
              uint64_t seed, int source_fd, struct err *e)
{
    struct val *m = request(d, "load");
    int rc;
    val_set(&d->tmp, m, "role", val_strz(&d->tmp, role));
    val_set(&d->tmp, m, "class", val_strz(&d->tmp, class_name));
    val_set(&d->tmp, m, "init", val_copy(&d->tmp, d->task->init));
    val_set(&d->tmp, m, "seed", val_int(&d->tmp, (int64_t)(seed >> 16)));
    val_set(&d->tmp, m, "threads", val_int(&d->tmp, 1));
    rc = call(d, m, &source_fd, 1, d->ops->construct_s, NULL, e);
    if (rc)
        return rc;
    return read_state(d, val_get(d->reply, "state"), e);
}

int side_cast(struct side *d, int dtype, struct err *e)
{
    struct val *m = request(d, "cast");
    val_set(&d->tmp, m, "dtype", val_strz(&d->tmp, dtype_name(dtype)));
    return call(d, m, NULL, 0, d->ops->construct_s, NULL, e);
}

int side_state_get(struct side *d, uint8_t *out, struct err *e)
{
    struct val *m, *at;
    int rc;
    if (!d->state.bytes)
        return 0;
    if (d->state_region.fd < 0) {
        rc = map_region(d, REGION_STATE, d->state.bytes, &d->state_region, e);
        if (rc)
            return rc;
    }
    m = request(d, "state_get");
    at = val_list(&d->tmp);
    for (size_t i = 0; i < d->state.n; i++)
        val_push(&d->tmp, at, val_int(&d->tmp, (int64_t)d->state.v[i].at));
    val_set(&d->tmp, m, "arena", val_int(&d->tmp, REGION_STATE));
    val_set(&d->tmp, m, "at", at);
    rc = call(d, m, NULL, 0, d->ops->construct_s, NULL, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < d->state.n; i++) {
        const struct state_item *it = &d->state.v[i];
        memmove(out + it->at,
                d->ops->view(d->dev, &d->state_region, it->at, it->t.bytes,
                             out + it->at),
                it->t.bytes);
    }
    return 0;
}

int side_state_set(struct side *d, const struct state *st, struct err *e)
{
    int rc = 0;
    if (!st->bytes)
        return 0;
    if (d->state_region.fd < 0) {
        rc = map_region(d, REGION_STATE, st->bytes, &d->state_region, e);
        if (rc)
            return rc;
    }
    if (d->state_region.size < st->bytes)
        return err_set(e, ERR_INTERNAL, "the state region is too small");
    d->ops->write(d->dev, &d->state_region, 0, st->data, st->bytes);
    for (size_t i = 0; !rc && i < st->n; i += STATE_ITEMS) {
        struct val *m = request(d, "state_set"), *items = val_list(&d->tmp);
        for (size_t k = i; k < MIN(st->n, i + STATE_ITEMS); k++) {
            const struct state_item *it = &st->v[k];
            struct val *v = tensor_val(&d->tmp, &it->t, -1);
            val_set(&d->tmp, v, "name", val_str(&d->tmp, it->name));
            val_set(&d->tmp, v, "offset", val_int(&d->tmp, (int64_t)it->at));
            val_push(&d->tmp, items, v);
        }
        val_set(&d->tmp, m, "arena", val_int(&d->tmp, REGION_STATE));
        val_set(&d->tmp, m, "items", items);
        val_set(&d->tmp, m, "more", val_bool(&d->tmp, i + STATE_ITEMS < st->n));
        rc = call(d, m, NULL, 0, d->ops->construct_s, NULL, e);
    }
    return rc;
}

int side_mode(struct side *d, bool train, struct err *e)
{
    struct val *m = request(d, "mode");
    val_set(&d->tmp, m, "train", val_bool(&d->tmp, train));
    return call(d, m, NULL, 0, d->ops->construct_s, NULL, e);
}

static struct val *chain_val(struct arena *a, const struct chain *chain)
{
    struct val *c;

    if (!chain)
        return val_nil(a);
    c = val_list(a);
    val_push(a, c, val_int(a, chain->in));
    val_push(a, c, val_int(a, chain->in_element));
    val_push(a, c, val_int(a, chain->out));
    val_push(a, c, val_int(a, chain->out_element));
    return c;
}

int side_capture(struct side *d, size_t n, const struct chain *chain,
                 double limit_s, struct err *e)
{
    struct arena *a = &d->tmp;
    struct val *m = request(d, "capture");
    int rc;

    val_set(a, m, "first", val_int(a, 0));
    val_set(a, m, "n", val_int(a, (int64_t)n));
    val_set(a, m, "chain", chain_val(a, chain));
    rc = call(d, m, NULL, 0, limit_s, NULL, e);
    d->captured = rc ? 0 : n;
    d->captured_chain = chain;
    return rc;
}

int side_run(struct side *d, size_t first, size_t n, const struct chain *chain,
             double limit_s, struct turn *t, struct err *e)
{
    struct arena *a = &d->tmp;
    struct val *m = request(d, "run");
    static int64_t nonce = 1;
    bool replay =
        first == 0 && n == d->captured && n > 0 && chain == d->captured_chain;
    int rc;

    val_set(a, m, "first", val_int(a, (int64_t)first));
    val_set(a, m, "n", val_int(a, (int64_t)n));
    val_set(a, m, "nonce", val_int(a, ++nonce));
    val_set(a, m, "chain", chain_val(a, chain));
    if (replay)
        val_set(a, m, "graph", val_bool(a, true));
    rc = call(d, m, NULL, 0, limit_s, t, e);
    if (rc == 0 && val_geti(d->reply, "nonce", -1) != nonce)
        return err_set(e, ERR_PROTOCOL, "an answer to another request");
    return rc;
}

double side_turn_s(const struct side *d, const struct turn *t)
{
    return d->ops->cpu_clock ? t->cpu_s : t->checked_s;
}

double side_overhead_s(const struct side *d)
{
    return d->ops->cpu_clock ? d->s.overhead_cpu_s : d->s.overhead_s;
}

double forward_s(double turn_s, double overhead_s, size_t n)
{
    /* Below a quarter of the overhead its jitter would be the result. */
    return MAX(turn_s - overhead_s, overhead_s / 4) / (double)n;
}

/* ---- layout ---- */

size_t side_need(const struct side *d, size_t slots)
{
    const struct task *t = d->task;
    size_t n = 0, gap = GUARD + GUARD_STEPS * ALIGN;
    for (size_t i = 0; i < t->n_in; i++)
        n += align_up(tensor_bytes(d, &t->in[i].t)) + gap;
    for (size_t i = 0; i < t->n_out; i++)
        n += align_up(tensor_bytes(d, &t->out[i].t)) + gap;
    return n * slots + gap;
}

/* Guard bytes from *AT on; returns where the next tensor may start. */
static size_t guard(struct side *d, struct gen *g, size_t at)
{
    size_t n = GUARD + ALIGN * (size_t)gen_below(g, GUARD_STEPS + 1);
    size_t end = align_up(at) + n;
    gen_bytes(g, d->image + at, end - at);
    return end;
}

static void lay_out(struct side *d, struct gen *g)
{
    const struct task *t = d->task;
    size_t n_all = t->n_in + t->n_out, at = 0;
    int order[2 * TASK_TENSORS];

    for (size_t s = 0; s < d->slots; s++) {
        for (size_t i = 0; i < n_all; i++)
            order[i] = (int)i;
        gen_shuffle(g, order, n_all);
        for (size_t i = 0; i < n_all; i++) {
            size_t k = (size_t)order[i];
            at = guard(d, g, at);
            if (k < t->n_in) {
                d->in_at[s * t->n_in + k] = at;
                at += tensor_bytes(d, &t->in[k].t);
            } else {
                d->out_at[s * t->n_out + (k - t->n_in)] = at;
                at += tensor_bytes(d, &t->out[k - t->n_in].t);
            }
        }
    }
    d->used = guard(d, g, at);
}

static struct val *offsets(struct arena *a, const size_t *at, size_t slots,
                           size_t n)
{
    struct val *all = val_list(a);
    for (size_t s = 0; s < slots; s++) {
        struct val *one = val_list(a);
        for (size_t i = 0; i < n; i++)
            val_push(a, one, val_int(a, (int64_t)at[s * n + i]));
        val_push(a, all, one);
    }
    return all;
}

int side_place(struct side *d, struct gen *g, size_t slots, struct err *e)
{
    const struct task *t = d->task;
    struct arena *a = &d->tmp;
    size_t need = side_need(d, slots);
    struct val *m, *ins, *outs;
    int rc;

    if (d->data_region.fd < 0 || d->data_region.size < need) {
        d->ops->region_free(d->dev, &d->data_region);
        rc = map_region(d, REGION_DATA, need, &d->data_region, e);
        if (rc)
            return rc;
    }
    if (d->image_size < d->data_region.size) {
        free(d->image);
        d->image = xcalloc(1, d->data_region.size);
        d->image_size = d->data_region.size;
    }
    d->slots = slots;
    d->captured = 0;
    d->in_at = xreallocarray(d->in_at, slots * t->n_in + 1, sizeof(size_t));
    d->out_at = xreallocarray(d->out_at, slots * t->n_out + 1, sizeof(size_t));
    lay_out(d, g);

    m = request(d, "bind");
    ins = val_list(a);
    outs = val_list(a);
    for (size_t i = 0; i < t->n_in; i++)
        val_push(a, ins, tensor_val(a, &t->in[i].t, d->as));
    for (size_t i = 0; i < t->n_out; i++)
        val_push(a, outs, tensor_val(a, &t->out[i].t, d->as));
    val_set(a, m, "arena", val_int(a, REGION_DATA));
    val_set(a, m, "args", t->skeleton);
    val_set(a, m, "ins", ins);
    val_set(a, m, "in_off", offsets(a, d->in_at, slots, t->n_in));
    val_set(a, m, "outs", outs);
    val_set(a, m, "out_off", offsets(a, d->out_at, slots, t->n_out));
    return call(d, m, NULL, 0, d->ops->construct_s, NULL, e);
}

/* ---- contents ---- */

void side_input(struct side *d, size_t slot, const uint8_t *const *in)
{
    const struct task *t = d->task;
    for (size_t i = 0; i < t->n_in; i++) {
        const struct tensor *x = &t->in[i].t;
        uint8_t *to = d->image + d->in_at[slot * t->n_in + i];
        if (d->as == KM_FLOAT64 && dtype_is_float(x->dtype))
            dtype_to_double(x->dtype, in[i], (double *)(void *)to, x->numel);
        else
            memcpy(to, in[i], x->bytes);
    }
}

/* Outputs start as NaN with a secret payload, integers as a secret byte. */
static void poison(struct side *d, struct gen *g)
{
    const struct task *t = d->task;
    uint64_t r;
    gen_bytes(g, &r, sizeof(r));
    for (size_t s = 0; s < d->slots; s++)
        for (size_t i = 0; i < t->n_out; i++) {
            const struct tensor *x = &t->out[i].t;
            uint8_t *to = d->image + d->out_at[s * t->n_out + i];
            size_t bytes = tensor_bytes(d, x);
            if (!dtype_is_float(x->dtype)) {
                memset(to, 0x80 | (int)(r & 0x7f), bytes);
            } else if (d->as == KM_FLOAT64 || x->dtype == KM_FLOAT64) {
                uint64_t nan = UINT64_C(0x7ff8000000000000) | (r >> 16);
                for (size_t k = 0; k < bytes / 8; k++)
                    memcpy(to + k * 8, &nan, 8);
            } else if (x->dtype == KM_FLOAT32) {
                uint32_t nan = 0x7fc00000u | (uint32_t)(r & 0x3fffff);
                for (size_t k = 0; k < bytes / 4; k++)
                    memcpy(to + k * 4, &nan, 4);
            } else {
                uint16_t nan = x->dtype == KM_FLOAT16
                                   ? (uint16_t)(0x7e00u | (r & 0x1ff))
                                   : (uint16_t)(0x7fc0u | (r & 0x3f));
                for (size_t k = 0; k < bytes / 2; k++)
                    memcpy(to + k * 2, &nan, 2);
            }
        }
}

static void copy_out(const struct side *d, struct spot *v)
{
    memcpy(v->value, d->image + v->at, v->size);
}

void side_fill(struct side *d, struct gen *g)
{
    const struct task *t = d->task;

    poison(d, g);
    d->salts.n = 0;
    for (size_t s = 0; s < d->slots; s++)
        for (size_t i = 0; i < t->n_in; i++) {
            const struct tensor *x = &t->in[i].t;
            size_t at = d->in_at[s * t->n_in + i];
            size_t size = x->numel ? tensor_bytes(d, x) / x->numel : 0;
            /* Integers may be indices: another element of the same tensor is
             * a legal decoy for any of them. */
            for (int j = 0; j < SALTS && x->numel > 1; j++) {
                size_t p = gen_below(g, x->numel), q = gen_below(g, x->numel);
                struct spot w = {.at = at + p * size, .size = size};
                copy_out(d, &w);
                memcpy(d->image + w.at, d->image + at + q * size, size);
                array_push(&d->salts, w);
            }
        }
    d->ops->write(d->dev, &d->data_region, 0, d->image, d->used);
    /* Backwards: an element drawn twice gets its first value back, */
    for (size_t k = d->salts.n; k-- > 0;)
        memcpy(d->image + d->salts.v[k].at, d->salts.v[k].value,
               d->salts.v[k].size);
    /* and both of its salts hold that. */
    for (size_t k = 0; k < d->salts.n; k++)
        copy_out(d, &d->salts.v[k]);
}

void side_salt(struct side *d)
{
    d->ops->scatter(d->dev, &d->data_region, d->salts.v, d->salts.n);
}

size_t side_samples(const struct side *d, struct gen *g, size_t n,
                    struct spot *out, size_t cap)
{
    const struct task *t = d->task;
    size_t each = t->n_out ? cap / (n * t->n_out) : 0, k = 0;

    each = MIN(MAX(each, (size_t)1), (size_t)8);
    for (size_t s = 0; s < n; s++)
        for (size_t o = 0; o < t->n_out; o++)
            for (size_t i = 0; i < each && k < cap; i++) {
                const struct tensor *x = &t->out[o].t;
                size_t size = dtype_size(x->dtype);
                if (!x->numel)
                    continue;
                out[k++] = (struct spot){
                    .at = d->out_at[s * t->n_out + o] +
                          gen_below(g, x->numel) * size,
                    .size = size,
                };
            }
    return k;
}

void side_chained(const struct side *d, size_t n, const struct chain *chain,
                  struct spot *out)
{
    const struct task *t = d->task;
    size_t size = dtype_size(t->in[chain->in].t.dtype);

    for (size_t s = 0; s + 1 < n; s++)
        out[s] = (struct spot){
            .at = d->out_at[s * t->n_out + (size_t)chain->out] +
                  (size_t)chain->out_element * size,
            .size = size,
        };
    d->ops->gather(d->dev, &d->data_region, out, n ? n - 1 : 0);
}

const void *side_output(const struct side *d, size_t slot, size_t out,
                        void *scratch)
{
    return d->ops->view(d->dev, &d->data_region,
                        d->out_at[slot * d->task->n_out + out],
                        tensor_bytes(d, &d->task->out[out].t), scratch);
}

const void *side_in_now(const struct side *d, size_t slot, size_t in,
                        void *scratch)
{
    return d->ops->view(d->dev, &d->data_region,
                        d->in_at[slot * d->task->n_in + in],
                        tensor_bytes(d, &d->task->in[in].t), scratch);
}

/* ---- after a ring ---- */

struct piece {
    size_t at, end;
    bool input, skip;
};

static int by_place(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

struct intact side_intact(struct side *d, size_t n, const struct chain *chain)
{
    const struct task *t = d->task;
    size_t n_pieces = 0, at = 0;
    struct piece *p = xcalloc(d->slots * (t->n_in + t->n_out) + 1, sizeof(*p));
    struct intact r = {true, true};
    uint8_t *scratch = xmalloc(d->used + 1);
    const uint8_t *now =
        d->ops->view(d->dev, &d->data_region, 0, d->used, scratch);

    if (chain) {
        struct spot *v = xcalloc(n + 1, sizeof(*v));
        side_chained(d, n, chain, v);
        for (size_t s = 0; s + 1 < n; s++)
            memcpy(d->image + d->in_at[(s + 1) * t->n_in + (size_t)chain->in] +
                       (size_t)chain->in_element * v->size,
                   v[s].value, v->size);
        free(v);
    }
    for (size_t s = 0; s < d->slots; s++) {
        for (size_t i = 0; i < t->n_in; i++) {
            size_t a = d->in_at[s * t->n_in + i];
            p[n_pieces++] = (struct piece){a, a + tensor_bytes(d, &t->in[i].t),
                                           true, t->in[i].mutates};
        }
        for (size_t i = 0; i < t->n_out; i++) {
            size_t a = d->out_at[s * t->n_out + i];
            p[n_pieces++] = (struct piece){a, a + tensor_bytes(d, &t->out[i].t),
                                           false, true};
        }
    }
    qsort(p, n_pieces, sizeof(*p), by_place);
    for (size_t i = 0; i < n_pieces; i++) {
        r.guards &= memcmp(now + at, d->image + at, p[i].at - at) == 0;
        if (p[i].input && !p[i].skip)
            r.inputs &= memcmp(now + p[i].at, d->image + p[i].at,
                               p[i].end - p[i].at) == 0;
        at = p[i].end;
    }
    r.guards &= memcmp(now + at, d->image + at, d->used - at) == 0;
    free(p);
    free(scratch);
    return r;
}
