/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "testgen/infer/value.h"

#define PLAIN_BATCH 2
#define PLAIN_SIZE  16

struct aval *av_new(struct arena *a, enum aval_kind kind)
{
    struct aval *v = arena_zalloc(a, sizeof(*v));
    v->kind = kind;
    return v;
}

struct aval *av_bool(struct arena *a, bool b)
{
    struct aval *v = av_new(a, AV_BOOL);
    v->b = b;
    return v;
}

struct aval *av_dim(struct arena *a, const struct dim *d)
{
    struct aval *v = av_new(a, AV_INT);
    v->d = d;
    return v;
}

struct aval *av_float(struct arena *a, double x)
{
    struct aval *v = av_new(a, AV_FLOAT);
    v->x = x;
    return v;
}

struct aval *av_str(struct arena *a, struct span s)
{
    struct aval *v = av_new(a, AV_STR);
    v->s = s;
    return v;
}

struct aval *av_name(struct arena *a, struct span dotted)
{
    struct aval *v = av_new(a, AV_NAME);
    v->s = dotted;
    return v;
}

struct aval *av_seq(struct arena *a, bool tuple)
{
    struct aval *v = av_new(a, AV_SEQ);
    v->seq = arena_zalloc(a, sizeof(*v->seq));
    v->seq->tuple = tuple;
    return v;
}

/* Twice the room for a list of pointers in the arena. */
static void *grown(struct arena *a, const void *old, size_t n, size_t *cap,
                   size_t size)
{
    *cap = *cap ? *cap * 2 : 8;
    void *v = arena_array(a, *cap, size);
    if (n)
        memcpy(v, old, n * size);
    return v;
}

void aseq_push(struct arena *a, struct aseq *q, struct aval *v)
{
    if (q->n == q->cap)
        q->v = grown(a, q->v, q->n, &q->cap, sizeof(*q->v));
    q->v[q->n++] = v;
}

struct aval *anames_get(const struct anames *n, struct span name)
{
    for (size_t i = n->n; i > 0; i--)
        if (span_eq(n->names[i - 1], name))
            return n->v[i - 1];
    return NULL;
}

void anames_set(struct arena *a, struct anames *n, struct span name,
                struct aval *v)
{
    for (size_t i = 0; i < n->n; i++)
        if (span_eq(n->names[i], name)) {
            n->v[i] = v;
            return;
        }
    if (n->n == n->cap) {
        size_t cap = n->cap;
        n->names = grown(a, n->names, n->n, &cap, sizeof(*n->names));
        n->v = grown(a, n->v, n->n, &n->cap, sizeof(*n->v));
    }
    n->names[n->n] = name;
    n->v[n->n++] = v;
}

void anames_copy(struct arena *a, struct anames *to, const struct anames *from)
{
    for (size_t i = 0; i < from->n; i++)
        anames_set(a, to, from->names[i], from->v[i]);
}

/* ---- shapes ---- */

struct shape *shape_open(struct arena *a)
{
    struct shape *s = arena_zalloc(a, sizeof(*s));
    return s;
}

struct shape *shape_fixed(struct arena *a, int rank)
{
    struct shape *s = shape_open(a);
    s->fixed = true;
    s->rank = rank;
    return s;
}

struct shape *shape_last(struct dims *s, struct shape *like,
                         const struct dim *last)
{
    int rank = shape_rank(s, like);
    struct shape *x = rank > 0 ? shape_fixed(s->a, rank) : shape_open(s->a);
    if (rank > 0) {
        memcpy(x->d, like->d, sizeof(x->d));
        x->d[rank - 1] = last;
        return x;
    }
    x->link = like;
    x->back[0] = last;
    return x;
}

/* An open shape that follows another takes its rank from it. */
static void follow(struct dims *s, struct shape *x)
{
    struct shape *like = x->link;
    if (x->fixed || !like || !like->fixed)
        return;
    x->fixed = true;
    x->rank = like->rank;
    memcpy(x->d, like->d, sizeof(x->d));
    if (x->rank > 0 && x->back[0])
        x->d[x->rank - 1] = x->back[0];
    for (int i = 0; i < x->rank; i++) {
        if (x->front[i] && x->front[i] != x->d[i])
            dim_equal(s, x->d[i], x->front[i]);
        if (i > 0 && x->back[i])
            dim_equal(s, x->d[x->rank - 1 - i], x->back[i]);
    }
}

static struct shape *chain_end(struct shape *x)
{
    for (int i = 0; i < 256 && x->link && !x->link->fixed; i++)
        x = x->link;
    return x;
}

/* Those that follow are brought up to date from the end of the chain. */
static void follow_all(struct dims *s, struct shape *x)
{
    struct shape *chain[256];
    size_t n = 0;
    for (; x && !x->fixed && n < ARRAY_LEN(chain); x = x->link)
        chain[n++] = x;
    while (n > 0)
        follow(s, chain[--n]);
}

int shape_planned(const struct shape *x)
{
    for (int i = 0; i < 256 && x->link; i++)
        x = x->link;
    return x->plan ? x->plan->rank : 0;
}

int shape_rank(struct dims *s, struct shape *x)
{
    follow_all(s, x);
    return x->fixed ? x->rank : -1;
}

bool shape_fix(struct dims *s, struct shape *x, int rank)
{
    if (rank < 0 || rank > SHAPE_MAX)
        return false;
    if (shape_rank(s, x) >= 0)
        return x->rank == rank;
    struct shape *end = chain_end(x);
    end->link = NULL; /* of a chain that is too long */
    end->fixed = true;
    end->rank = rank;
    for (int i = 0; i < rank; i++) {
        const struct dim *f = end->front[i], *b = end->back[rank - 1 - i];
        end->d[i] = f ? f : b;
        if (f && b)
            dim_equal(s, f, b);
        int64_t planned = end->plan ? end->plan->size[rank][i] : PLAIN_SIZE;
        if (!end->d[i])
            end->d[i] = dim_var(s, planned, end->plan ? DIM_INPUT : DIM_FREE);
        else if (end->plan)
            dim_prefer(s, end->d[i], planned);
    }
    follow_all(s, x);
    return x->fixed;
}

const struct dim *shape_at(struct dims *s, struct shape *x, int at)
{
    int rank = shape_rank(s, x);
    if (rank >= 0) {
        at += at < 0 ? rank : 0;
        return at >= 0 && at < rank ? x->d[at] : NULL;
    }
    int i = at >= 0 ? at : -1 - at;
    if (i >= SHAPE_MAX)
        return NULL;
    const struct dim **slot = at >= 0 ? &x->front[i] : &x->back[i];
    if (!*slot && x->link && at != -1)
        *slot = shape_at(s, x->link, at);
    if (!*slot)
        *slot = dim_var(s, at == 0 ? PLAIN_BATCH : PLAIN_SIZE,
                        shape_planned(x) ? DIM_INPUT : DIM_FREE);
    return *slot;
}

struct aval *av_tensor(struct arena *a, struct shape *s, enum adtype dtype,
                       int input)
{
    struct aval *v = av_new(a, AV_TENSOR);
    v->t = arena_zalloc(a, sizeof(*v->t));
    v->t->s = s;
    v->t->dtype = dtype;
    v->t->input = input;
    return v;
}
