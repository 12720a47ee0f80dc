/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/side.h"

#include "mem.h"

#define GUARD       128u /* least bytes between two tensors */
#define GUARD_STEPS 16u  /* plus up to this many times the alignment */
#define STATE_ITEMS 200u /* of one frame */
#define STATE_MAX   (2ull << 30)
/* Of torch's allocator: pages of segments, for what is so large. */
#define TORCH_PAGE   ((size_t)2 << 20)
#define TORCH_LARGE  ((size_t)1 << 20)
#define RESULTS_MORE ((size_t)512 << 20)

void side_init(struct side *d, const struct device_ops *ops, void *dev,
               const struct task *task, int as)
{
    *d = (struct side){.ops = ops, .dev = dev, .task = task, .as = as};
    d->state_region.fd = d->data_region.fd = d->image.fd = -1;
    d->results_region.fd = d->places_region.fd = -1;
    d->mem = d->tmp = (struct arena)ARENA_INIT;
}

void side_close(struct side *d)
{
    session_close(&d->s);
    if (d->ops) {
        d->ops->region_free(d->dev, &d->state_region);
        d->ops->region_free(d->dev, &d->data_region);
        d->ops->region_free(d->dev, &d->image);
        d->ops->region_free(d->dev, &d->results_region);
        d->ops->region_free(d->dev, &d->places_region);
    }
    free(d->places);
    d->places = NULL;
    array_release(&d->salts);
    arena_release(&d->mem);
    arena_release(&d->tmp);
}

static size_t tensor_bytes(const struct side *d, const struct tensor *t)
{
    int dtype = d->as >= 0 && dtype_is_float(t->dtype) ? d->as : t->dtype;
    return t->numel * dtype_size(dtype);
}

static size_t align_up(const struct side *d, size_t n)
{
    return (n + d->ops->align - 1) / d->ops->align * d->ops->align;
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
    if (d->ops->region_new(d->dev, size, true, r, e))
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
        at += align_up(d, it->t.bytes);
        if (at > STATE_MAX)
            return err_set(e, ERR_PROTOCOL, "state above 2 GiB");
        d->state.n++;
    }
    d->state.bytes = at;
    return 0;
}

int side_load(struct side *d, const char *role, const char *class_name,
              uint64_t seed, const int *fds, size_t n_fds, struct err *e)
{
    struct val *m = request(d, "load");
    int rc;
    val_set(&d->tmp, m, "role", val_strz(&d->tmp, role));
    val_set(&d->tmp, m, "class", val_strz(&d->tmp, class_name));
    val_set(&d->tmp, m, "init", val_copy(&d->tmp, d->task->init));
    val_set(&d->tmp, m, "seed", val_int(&d->tmp, (int64_t)(seed >> 16)));
    val_set(&d->tmp, m, "threads", val_int(&d->tmp, 1));
    rc = call(d, m, fds, n_fds, d->ops->construct_s, NULL, e);
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
    d->ops->read(d->dev, out, d->state_region.at, d->state.bytes);
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
    d->ops->write(d->dev, d->state_region.at, st->data, st->bytes);
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

/* Bytes that the results of SLOTS slots and what a forward needs besides them
 * may take, as torch hands memory out. */
static size_t results_need(const struct side *d, size_t slots)
{
    size_t n = 0;

    for (size_t i = 0; i < d->task->n_out; i++) {
        size_t bytes = d->task->out[i].t.bytes, unit = 512;
        if (bytes >= TORCH_LARGE)
            unit = TORCH_PAGE;
        n += (bytes + unit - 1) / unit * unit;
    }
    return n * slots + n * slots / 4 + RESULTS_MORE;
}

static int by_place(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* No two of N results of BYTES each may share a byte, whatever it says. */
static bool apart(const uint64_t *at, size_t n, size_t bytes, size_t size)
{
    uint64_t *v = xmalloc((n + 1) * sizeof(*v));
    bool ok = true;

    memcpy(v, at, n * sizeof(*v));
    qsort(v, n, sizeof(*v), by_place);
    for (size_t i = 0; i < n && bytes; i++)
        ok = ok && v[i] <= size && bytes <= size - v[i] &&
             (i == 0 || bytes <= v[i] - v[i - 1]);
    free(v);
    return ok;
}

/* The table of places that it wrote at TABLE of the results region. */
static int read_places(struct side *d, int64_t table, size_t n, struct err *e)
{
    const struct task *t = d->task;
    size_t count = n * t->n_out, bytes = count * sizeof(uint64_t);
    size_t size = d->results_region.size;
    uint64_t *told;

    if (table < 0 || bytes > size || (size_t)table > size - bytes)
        return err_set(e, ERR_PROTOCOL, "its table of results is nowhere");
    if (d->places_region.size < bytes) {
        d->ops->region_free(d->dev, &d->places_region);
        if (d->ops->region_new(d->dev, bytes, false, &d->places_region, e))
            return -1;
    }
    told = xmalloc(bytes + 1);
    d->places = xreallocarray(d->places, count + 1, sizeof(uint64_t));
    d->ops->read(d->dev, told, d->results_region.at + (size_t)table, bytes);
    for (size_t s = 0; s < n; s++)
        for (size_t i = 0; i < t->n_out; i++)
            d->places[i * n + s] = told[s * t->n_out + i];
    free(told);
    /* Two outputs may be one another's view, as the reference's may. */
    for (size_t i = 0; i < t->n_out; i++)
        if (!apart(d->places + i * n, n, t->out[i].t.bytes, size))
            return err_set(e, ERR_PROTOCOL, "its results overlap");
    d->ops->write(d->dev, d->places_region.at, d->places, bytes);
    return 0;
}

int side_capture(struct side *d, size_t n, const struct chain *chain, bool keep,
                 double limit_s, struct err *e)
{
    struct arena *a = &d->tmp;
    size_t need = results_need(d, n);
    struct val *m;
    int rc = 0;

    d->captured = 0;
    d->replayed = false;
    free(d->places);
    d->places = NULL;
    if (keep && d->results_region.size < need) {
        d->ops->region_free(d->dev, &d->results_region);
        rc = map_region(d, REGION_RESULTS, need, &d->results_region, e);
        if (rc)
            return rc;
    }
    m = request(d, "capture");
    val_set(a, m, "first", val_int(a, 0));
    val_set(a, m, "n", val_int(a, (int64_t)n));
    val_set(a, m, "chain", chain_val(a, chain));
    val_set(a, m, "keep", val_bool(a, keep));
    rc = call(d, m, NULL, 0, limit_s, NULL, e);
    if (!rc && keep && val_get(d->reply, "table") &&
        val_get(d->reply, "table")->type == VAL_INT)
        rc = read_places(d, val_geti(d->reply, "table", -1), n, e);
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
    d->replayed = replay && d->places;
    rc = call(d, m, NULL, 0, limit_s, t, e);
    if (rc == 0 && val_geti(d->reply, "nonce", -1) != nonce)
        return err_set(e, ERR_PROTOCOL, "an answer to another request");
    return rc;
}

int side_products(struct side *d, double limit_s, struct err *e)
{
    return call(d, request(d, "products"), NULL, 0, limit_s, NULL, e);
}

int side_profile(struct side *d, size_t n, double limit_s, struct err *e)
{
    struct val *m = request(d, "profile");

    val_set(&d->tmp, m, "n", val_int(&d->tmp, (int64_t)n));
    return call(d, m, NULL, 0, limit_s, NULL, e);
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
    size_t n = 0, gap = align_up(d, GUARD) + GUARD_STEPS * d->ops->align;
    for (size_t i = 0; i < t->n_in; i++)
        n += align_up(d, tensor_bytes(d, &t->in[i].t)) + gap;
    for (size_t i = 0; i < t->n_out; i++)
        n += align_up(d, tensor_bytes(d, &t->out[i].t)) + gap;
    return n * slots + gap;
}

/* A gap of guard bytes from AT on, ending where a tensor may start. */
static size_t gap(const struct side *d, struct gen *g, size_t at)
{
    return align_up(d, at) + align_up(d, GUARD) +
           d->ops->align * (size_t)gen_below(g, GUARD_STEPS + 1);
}

/* Guard bytes of every slot between AT and END of the first. */
static void guard(struct side *d, struct gen *g, size_t at, size_t end)
{
    uint64_t r;
    gen_bytes(g, &r, sizeof(r));
    d->ops->set(d->dev, rows_at(d->image.at + at, d->stride), end - at,
                d->slots, r, 1 + (at % 8 || (end - at) % 8 ? 0 : 7));
}

static void lay_out(struct side *d, struct gen *g)
{
    const struct task *t = d->task;
    size_t n_all = t->n_in + t->n_out, at, start[2 * TASK_TENSORS + 1];
    size_t end[2 * TASK_TENSORS + 1];
    int order[2 * TASK_TENSORS];

    for (size_t i = 0; i < n_all; i++)
        order[i] = (int)i;
    gen_shuffle(g, order, n_all);
    at = 0;
    for (size_t i = 0; i < n_all; i++) {
        size_t k = (size_t)order[i];
        start[i] = at;
        at = gap(d, g, at);
        end[i] = at;
        if (k < t->n_in) {
            d->in_at[k] = at;
            at += tensor_bytes(d, &t->in[k].t);
        } else {
            d->out_at[k - t->n_in] = at;
            at += tensor_bytes(d, &t->out[k - t->n_in].t);
        }
    }
    /* Behind the last tensor of a slot comes the first gap of the next. */
    d->stride = align_up(d, at);
    start[n_all] = at;
    end[n_all] = d->stride;
    for (size_t i = 0; i <= n_all; i++)
        guard(d, g, start[i], end[i]);
    d->used = gap(d, g, d->stride * d->slots);
    at = d->stride * d->slots;
    d->ops->set(d->dev, rows_at(d->image.at + at, 0), d->used - at, 1,
                gen_below(g, 256), 1);
}

static struct val *offsets(struct arena *a, const size_t *at, size_t n)
{
    struct val *one = val_list(a);
    for (size_t i = 0; i < n; i++)
        val_push(a, one, val_int(a, (int64_t)at[i]));
    return one;
}

/* Regions for SLOTS slots: the runner's, and the image of it. */
static int make_room(struct side *d, size_t slots, struct err *e)
{
    size_t need = side_need(d, slots);
    int rc = 0;

    /* Where slots are large, what is not needed is another's. */
    bool spare = d->data_region.fd >= 0 && d->data_region.size > need &&
                 d->data_region.size - need > d->ops->ring_bytes(d->dev);

    if (d->data_region.fd < 0 || d->data_region.size < need || spare) {
        d->ops->region_free(d->dev, &d->data_region);
        rc = map_region(d, REGION_DATA, need, &d->data_region, e);
    }
    if (rc == 0 && (d->image.size < d->data_region.size || spare)) {
        d->ops->region_free(d->dev, &d->image);
        rc = d->ops->region_new(d->dev, d->data_region.size, false, &d->image,
                                e);
    }
    return rc;
}

int side_place(struct side *d, struct gen *g, size_t slots, struct err *e)
{
    const struct task *t = d->task;
    struct arena *a = &d->tmp;
    struct val *m, *ins, *outs;
    int rc = make_room(d, slots, e);

    if (rc)
        return rc;
    d->slots = slots;
    d->captured = 0;
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
    val_set(a, m, "slots", val_int(a, (int64_t)slots));
    val_set(a, m, "stride", val_int(a, (int64_t)d->stride));
    val_set(a, m, "ins", ins);
    val_set(a, m, "in_off", offsets(a, d->in_at, t->n_in));
    val_set(a, m, "outs", outs);
    val_set(a, m, "out_off", offsets(a, d->out_at, t->n_out));
    return call(d, m, NULL, 0, d->ops->construct_s, NULL, e);
}

/* ---- contents ---- */

void side_input(struct side *d, size_t slot, size_t n, size_t in,
                struct rows from)
{
    const struct tensor *x = &d->task->in[in].t;
    struct rows to =
        rows_at(d->image.at + d->in_at[in] + slot * d->stride, d->stride);
    if (d->as != KM_FLOAT64 || !dtype_is_float(x->dtype)) {
        d->ops->copy(d->dev, to, from, x->bytes, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        d->ops->widen(d->dev, to.at + i * to.pitch, from.at + i * from.pitch,
                      x->dtype, x->numel);
}

/* Places of output I, on the device. */
static place_t places_of(const struct side *d, size_t i)
{
    return d->places_region.at + i * d->captured * sizeof(uint64_t);
}

/* Outputs start as NaN with a secret payload, integers as a secret byte. */
static void poison(struct side *d, struct gen *g)
{
    const struct task *t = d->task;
    for (size_t i = 0; i < t->n_out; i++) {
        const struct tensor *x = &t->out[i].t;
        int dtype = d->as >= 0 && dtype_is_float(x->dtype) ? d->as : x->dtype;
        uint64_t r, value;
        size_t size = dtype_size(dtype);
        gen_bytes(g, &r, sizeof(r));
        if (!dtype_is_float(dtype)) {
            value = 0x80 | (r & 0x7f);
            size = 1;
        } else if (dtype == KM_FLOAT64) {
            value = UINT64_C(0x7ff8000000000000) | (r >> 16);
        } else if (dtype == KM_FLOAT32) {
            value = 0x7fc00000u | (r & 0x3fffff);
        } else {
            value = dtype == KM_FLOAT16 ? 0x7e00u | (r & 0x1ff)
                                        : 0x7fc0u | (r & 0x3f);
        }
        d->ops->set(d->dev, rows_at(d->image.at + d->out_at[i], d->stride),
                    tensor_bytes(d, x), d->slots, value, size);
        if (d->captured && d->places)
            d->ops->set_places(d->dev, d->results_region.at, places_of(d, i),
                               x->bytes, d->captured, value, size);
    }
}

/* Drawn elements of every input, to be written last. Until then each holds
 * what another element of the same tensor does, a legal decoy also for
 * indices. */
static void draw_salts(struct side *d, struct gen *g, struct spot *decoy)
{
    const struct task *t = d->task;
    size_t each = SALTS_ALL / MAX(d->slots * t->n_in, (size_t)1);

    each = MIN(MAX(each, (size_t)1), (size_t)SALTS);
    for (size_t s = 0; s < d->slots; s++)
        for (size_t i = 0; i < t->n_in; i++) {
            const struct tensor *x = &t->in[i].t;
            size_t at = d->in_at[i] + s * d->stride;
            size_t size = x->numel ? tensor_bytes(d, x) / x->numel : 0;
            for (size_t j = 0; j < each && x->numel > 1; j++) {
                decoy[d->salts.n] = (struct spot){
                    .at = at + gen_below(g, x->numel) * size, .size = size};
                array_push(
                    &d->salts,
                    ((struct spot){.at = at + gen_below(g, x->numel) * size,
                                   .size = size}));
            }
        }
}

void side_fill(struct side *d, struct gen *g)
{
    size_t most = MAX(d->slots * d->task->n_in * SALTS, (size_t)1);
    struct spot *decoy = xcalloc(most, sizeof(*decoy));

    poison(d, g);
    d->salts.n = 0;
    draw_salts(d, g, decoy);
    d->ops->gather(d->dev, d->image.at, d->salts.v, d->salts.n);
    d->ops->gather(d->dev, d->image.at, decoy, d->salts.n);
    for (size_t i = 0; i < d->salts.n; i++)
        decoy[i].at = d->salts.v[i].at;
    d->ops->copy(d->dev, rows_at(d->data_region.at, 0), rows_at(d->image.at, 0),
                 d->used, 1);
    d->ops->scatter(d->dev, d->data_region.at, decoy, d->salts.n);
    free(decoy);
}

void side_salt(struct side *d)
{
    d->ops->scatter(d->dev, d->data_region.at, d->salts.v, d->salts.n);
}

struct rows side_result(const struct side *d, const struct result *x)
{
    return rows_at(d->image.at + (x->is_input ? d->in_at : d->out_at)[x->index],
                   d->stride);
}

/* Output OUT of SLOT, relative to the data region; REPLAY: of a replay that
 * left it elsewhere. */
static size_t output_at(const struct side *d, size_t slot, size_t out,
                        bool replay)
{
    if (replay)
        return (size_t)(d->results_region.at +
                        d->places[out * d->captured + slot] -
                        d->data_region.at);
    return d->out_at[out] + slot * d->stride;
}

size_t side_samples(const struct side *d, struct gen *g, size_t n,
                    struct spot *out, size_t cap)
{
    const struct task *t = d->task;
    size_t each = t->n_out ? cap / (n * t->n_out) : 0, k = 0;
    /* Where there are more slots than places, evenly among them. */
    size_t step = MAX((n * t->n_out + cap - 1) / cap, (size_t)1);
    size_t first = (size_t)gen_below(g, step);
    bool replay = d->places && n == d->captured;

    each = MIN(MAX(each, (size_t)1), (size_t)8);
    for (size_t s = first; s < n; s += step)
        for (size_t o = 0; o < t->n_out; o++)
            for (size_t i = 0; i < each && k < cap; i++) {
                const struct tensor *x = &t->out[o].t;
                size_t size = dtype_size(x->dtype);
                if (!x->numel)
                    continue;
                out[k++] = (struct spot){
                    .at = output_at(d, s, o, replay) +
                          gen_below(g, x->numel) * size,
                    .size = size,
                };
            }
    return k;
}

void side_chained(const struct side *d, size_t n, const struct chain *chain,
                  struct spot *out)
{
    size_t size = dtype_size(d->task->in[chain->in].t.dtype);

    for (size_t s = 0; s + 1 < n; s++)
        out[s] = (struct spot){
            .at = output_at(d, s, (size_t)chain->out, d->replayed) +
                  (size_t)chain->out_element * size,
            .size = size,
        };
    d->ops->gather(d->dev, d->data_region.at, out, n ? n - 1 : 0);
}

/* ---- after a ring ---- */

/* What of it differs at most so often is looked at: any of it is wrong. */
#define DIFFERENCES 64

/* Is AT of the data region in an input, and where does that end? */
static bool in_input(const struct side *d, size_t at, size_t *end)
{
    const struct task *t = d->task;
    size_t slot = at / d->stride, in = at % d->stride;

    for (size_t i = 0; slot < d->slots && i < t->n_in; i++) {
        size_t bytes = tensor_bytes(d, &t->in[i].t);
        if (in >= d->in_at[i] && in < d->in_at[i] + bytes) {
            *end = slot * d->stride + d->in_at[i] + bytes;
            return true;
        }
    }
    return false;
}

/* Take over the inputs that CHAIN wrote; are they the outputs? */
static bool keep_chained(struct side *d, size_t n, const struct chain *chain)
{
    struct spot *out = xcalloc(n + 1, sizeof(*out));
    struct spot *in = xcalloc(n + 1, sizeof(*in));
    size_t links = n ? n - 1 : 0;
    bool right = true;

    side_chained(d, n, chain, out);
    for (size_t s = 0; s < links; s++)
        in[s] = (struct spot){.at = d->in_at[chain->in] + (s + 1) * d->stride +
                                    (size_t)chain->in_element * out[s].size,
                              .size = out[s].size};
    d->ops->gather(d->dev, d->data_region.at, in, links);
    d->ops->scatter(d->dev, d->image.at, in, links);
    for (size_t s = 0; s < links; s++)
        right &= memcmp(in[s].value, out[s].value, in[s].size) == 0;
    free(in);
    free(out);
    return right;
}

bool side_keep(struct side *d, size_t n, const struct chain *chain)
{
    const struct task *t = d->task;
    bool right = !chain || keep_chained(d, n, chain);

    for (size_t i = 0; i < t->n_out; i++) {
        struct rows to = rows_at(d->image.at + d->out_at[i], d->stride);
        struct rows from = rows_at(d->data_region.at + d->out_at[i], d->stride);
        size_t bytes = tensor_bytes(d, &t->out[i].t);
        if (d->replayed)
            d->ops->copy_places(d->dev, to, d->results_region.at,
                                places_of(d, i), bytes, n);
        /* Where they were left elsewhere their place in the data region is
         * nobody's, and not to be looked at: made equal. */
        if (d->replayed)
            d->ops->copy(d->dev, from, to, bytes, d->slots);
        else
            d->ops->copy(d->dev, to, from, bytes, d->slots);
    }
    for (size_t i = 0; i < t->n_in; i++)
        if (t->in[i].mutates)
            d->ops->copy(d->dev, rows_at(d->image.at + d->in_at[i], d->stride),
                         rows_at(d->data_region.at + d->in_at[i], d->stride),
                         tensor_bytes(d, &t->in[i].t), d->slots);
    return right;
}

struct intact side_intact(const struct side *d)
{
    struct intact r = {true, true};
    size_t at = 0, end;

    for (int i = 0; i < DIFFERENCES && (r.inputs || r.guards); i++) {
        at += d->ops->differ(d->dev, d->data_region.at + at, d->image.at + at,
                             d->used - at);
        if (at >= d->used)
            break;
        if (in_input(d, at, &end)) {
            r.inputs = false;
            at = end;
        } else {
            r.guards = false;
            at++;
        }
    }
    return r;
}
