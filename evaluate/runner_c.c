/* SPDX-License-Identifier: MIT */
/*
 * km-runner-c: the runner of C candidates (km_candidate.h), in the jail, frames
 * on descriptor 3 (run/frames.h). Once the candidate is loaded nothing that
 * this process says can be trusted, and the judge does not.
 */
#include "base.h"

#include "array.h"
#include "evaluate/task.h"
#include "io.h"
#include "mem.h"
#include "run/frames.h"
#include "run/jail.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>

#define SOCK      3
#define N_ARENAS  4
#define MAX_SLOTS 4096

typedef int forward_fn(const struct km_tensor *, int, const struct km_tensor *,
                       int, struct km_tensor *, int);
typedef int init_fn(const struct km_tensor *, int);

struct runner_state {
    forward_fn *forward;
    init_fn *init;
    struct {
        char *p;
        size_t size;
    } arenas[N_ARENAS];
    ARRAY(struct km_tensor) params;
    struct km_tensor *in, *out; /* slots * n_in, slots * n_out */
    size_t slots, n_in, n_out;
    int64_t *index;   /* of each argument's tensor, -1 for a scalar */
    char *copy;       /* room for the largest output, see copy_outputs */
    struct val *outs; /* of the bind, for replies */
    struct arena bound;
};

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

static size_t bytes_of(const struct km_tensor *k)
{
    return (size_t)km_numel(k) * dtype_size(k->dtype);
}

/* K at AT, SHIFT bytes further on. */
static int place(struct runner_state *s, int64_t arena, const struct val *at,
                 int64_t shift, struct km_tensor *k, struct err *e)
{
    int64_t offset = val_as_int(at, -1);
    size_t n = bytes_of(k);
    if (offset >= 0 && __builtin_add_overflow(offset, shift, &offset))
        offset = -1;
    if (arena < 0 || arena >= N_ARENAS || !s->arenas[arena].p || offset < 0 ||
        (size_t)offset > s->arenas[arena].size ||
        n > s->arenas[arena].size - (size_t)offset)
        return err_set(e, ERR_PROTOCOL, "a tensor lies outside its arena");
    k->data = s->arenas[arena].p + offset;
    return 0;
}

/* ---- operations ---- */

static int op_load(struct runner_state *s, int *fds, size_t n,
                   const char **where, struct err *e)
{
    struct buf so = BUF_INIT(256u << 20);
    char dir[256], path[280];
    void *lib;
    int rc = -1;

    *where = "load";
    if (n < 1 || s->forward) {
        err_set(e, ERR_PROTOCOL, "load: no candidate, or a second one");
        goto out;
    }
    if (!getcwd(dir, sizeof(dir))) {
        err_sys(e, "cannot read the working directory");
        goto out;
    }
    /* There is no /proc here: the library is loaded from the private folder. */
    snprintf(path, sizeof(path), "%s/candidate.so", dir);
    if (lseek(fds[0], 0, SEEK_SET) || io_read_fd(&so, fds[0], e) ||
        outfile_write(path, buf_span(&so), e))
        goto out;
    if (jail_seal()) {
        err_sys(e, "cannot seal the sandbox");
        goto out;
    }
    lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!lib) {
        err_set(e, ERR_PARSE, "%s", dlerror());
        goto out;
    }
    s->forward = (forward_fn *)dlsym(lib, "km_forward");
    s->init = (init_fn *)dlsym(lib, "km_init");
    if (!s->forward) {
        err_set(e, ERR_PARSE, "the source defines no km_forward");
        goto out;
    }
    rc = 0;
out:
    buf_release(&so);
    return rc;
}

static int op_arena(struct runner_state *s, const struct val *m, int *fds,
                    size_t n, struct err *e)
{
    int64_t i = val_geti(m, "arena", -1), size = val_geti(m, "size", -1);
    void *p;
    if (i < 0 || i >= N_ARENAS || size <= 0 || n < 1)
        return err_set(e, ERR_PROTOCOL, "arena: bad number or size");
    p = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
    if (p == MAP_FAILED)
        return err_sys(e, "cannot map an arena");
    if (s->arenas[i].p)
        munmap(s->arenas[i].p, s->arenas[i].size);
    s->arenas[i].p = p;
    s->arenas[i].size = (size_t)size;
    return 0;
}

static struct km_tensor *find_param(struct runner_state *s, struct span name)
{
    for (size_t i = 0; i < s->params.n; i++)
        if (span_is(name, s->params.v[i].name))
            return &s->params.v[i];
    return NULL;
}

static int op_state_set(struct runner_state *s, const struct val *m,
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
            if (posix_memalign(&fresh.data, 64, bytes_of(&src) + 64))
                return err_set(e, ERR_MEMORY, "cannot allocate memory");
            fresh.name = xmemdup0(name);
            array_push(&s->params, fresh);
            k = &s->params.v[s->params.n - 1];
        }
        if (bytes_of(k) != bytes_of(&src))
            return err_set(e, ERR_PROTOCOL, "a parameter changed its shape");
        memcpy(k->data, src.data, bytes_of(&src));
    }
    if (!val_getb(m, "more", false) && s->init) {
        int rc = s->init(s->params.v, (int)s->params.n);
        if (rc)
            return err_set(e, ERR_FORWARD, "km_init returned %d", rc);
    }
    return 0;
}

/* Scalars of the skeleton live as long as the bind. */
static int scalar(struct runner_state *s, const struct val *v,
                  struct km_tensor *k)
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

static int flatten(struct runner_state *s, const struct val *node,
                   struct flat *f, struct err *e)
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

static const char *numbered(struct runner_state *s, const char *what, size_t i)
{
    return arena_printf(&s->bound, "%s%zu", what, i);
}

/* The PyTorch runner copies each result from its heap into the arena, on the
 * reference's time. This one's lie there already: it makes a copy of the same
 * size, so that equal work takes equal time. */
static void copy_outputs(struct runner_state *s, const struct km_tensor *out)
{
    for (size_t i = 0; i < s->n_out; i++) {
        memcpy(s->copy, out[i].data, bytes_of(&out[i]));
        __asm__ volatile("" : : "r"(s->copy) : "memory"); /* it is read */
    }
}

static void make_room(struct runner_state *s)
{
    size_t most = 1;
    for (size_t i = 0; s->slots && i < s->n_out; i++)
        most = MAX(most, bytes_of(&s->out[i]));
    free(s->copy);
    s->copy = xmalloc(most);
}

static int bind_slots(struct runner_state *s, const struct val *m,
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
    if (slots < 0 || slots > MAX_SLOTS || stride < 0 ||
        stride > INT64_MAX / (MAX_SLOTS + 1))
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
    make_room(s);
    return 0;
}

static int op_bind(struct runner_state *s, const struct val *m, struct err *e)
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

static int op_run(struct runner_state *s, struct arena *a, const struct val *m,
                  struct val *reply, const char **where, struct err *e)
{
    int64_t first = val_geti(m, "first", -1), n = val_geti(m, "n", -1);
    const struct val *chain = val_get(m, "chain");
    bool chained = chain && chain->type == VAL_LIST;
    int64_t c[4] = {0}, arg = 0;

    if (first < 0 || n < 0 || first > (int64_t)s->slots ||
        n > (int64_t)s->slots - first)
        return err_set(e, ERR_PROTOCOL, "run: no such slots");
    for (int i = 0; chained && i < 4; i++)
        c[i] = val_as_int(val_at(chain, (size_t)i), 0);
    while (chained && arg < (int64_t)s->n_in && s->index[arg] != c[0])
        arg++;
    if (chained &&
        (arg == (int64_t)s->n_in || c[2] < 0 || c[2] >= (int64_t)s->n_out))
        return err_set(e, ERR_PROTOCOL, "run: no such chain");
    *where = "forward";
    for (int64_t i = first; i < first + n; i++) {
        struct km_tensor *in = s->in + (size_t)i * s->n_in;
        struct km_tensor *out = s->out + (size_t)i * s->n_out;
        int rc = s->forward(in, (int)s->n_in, s->params.v, (int)s->params.n,
                            out, (int)s->n_out);
        if (rc)
            return err_set(e, ERR_FORWARD, "km_forward returned %d", rc);
        copy_outputs(s, out);
        if (chained && i + 1 < first + n)
            memcpy(element(in + s->n_in + arg, c[1]), element(out + c[2], c[3]),
                   dtype_size(out[c[2]].dtype));
    }
    val_set(a, reply, "nonce", val_get(m, "nonce"));
    val_set(a, reply, "outs", s->outs ? s->outs : val_list(a));
    return 0;
}

/* ---- main ---- */

static int answer(struct runner_state *s, struct arena *a, const struct val *m,
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
        return op_bind(s, m, e);
    if (span_is(op, "mode"))
        return 0;
    if (span_is(op, "run"))
        return op_run(s, a, m, reply, where, e);
    return err_set(e, ERR_PROTOCOL, "unknown operation");
}

int main(void)
{
    struct runner_state s = {0};
    struct arena a = ARENA_INIT;
    struct val *m = val_map(&a), *reply;
    struct err e = {0};
    const char *where;

    s.bound = (struct arena)ARENA_INIT;
    val_set(&a, m, "op", val_strz(&a, "hello"));
    val_set(&a, m, "kind", val_strz(&a, "c"));
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
        rc = answer(&s, &a, m, fds, n, reply, &where, &e);
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
