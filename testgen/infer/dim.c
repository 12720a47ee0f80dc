/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "testgen/infer/dim.h"

#define MAX_TERMS 24
#define MAX_VARS  4096
#define MAX_NEEDS 4096
#define MAX_EXACT 48      /* needs of a system in which many values are tried */
#define MAX_WORK  2000000 /* variables that the solver looks up */
#define MAX_DEPTH 64
#define MAX_SIZE  ((int64_t)1 << 40)

void dims_init(struct dims *s, struct arena *a)
{
    memset(s, 0, sizeof(*s));
    s->a = a;
}

void dims_release(struct dims *s)
{
    array_release(&s->vars);
    array_release(&s->needs);
}

/* ---- sums of products ---- */

/* A sum in the making; `bad`: too large to be kept. */
struct sum {
    struct dim_term t[MAX_TERMS];
    size_t n;
    bool bad;
};

static int term_order(const struct dim_term *x, const struct dim_term *y)
{
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    for (int i = 0; i < x->n; i++)
        if (x->v[i] != y->v[i])
            return x->v[i] < y->v[i] ? -1 : 1;
    return 0;
}

static void sum_add(struct sum *s, const struct dim_term *t)
{
    size_t at = 0;
    while (at < s->n && term_order(&s->t[at], t) < 0)
        at++;
    if (at < s->n && term_order(&s->t[at], t) == 0) {
        s->bad |= __builtin_add_overflow(s->t[at].k, t->k, &s->t[at].k);
        if (s->t[at].k == 0)
            memmove(&s->t[at], &s->t[at + 1], (--s->n - at) * sizeof(s->t[0]));
        return;
    }
    if (t->k == 0)
        return;
    if (s->n == MAX_TERMS) {
        s->bad = true;
        return;
    }
    memmove(&s->t[at + 1], &s->t[at], (s->n++ - at) * sizeof(s->t[0]));
    s->t[at] = *t;
}

/* X times FACTOR. */
static void sum_add_product(struct sum *s, const struct dim *x,
                            const struct dim_term *factor)
{
    for (size_t i = 0; i < x->n; i++) {
        struct dim_term t = x->t[i];
        if (t.n + factor->n > DIM_FACTORS ||
            __builtin_mul_overflow(t.k, factor->k, &t.k)) {
            s->bad = true;
            return;
        }
        for (int k = 0; k < factor->n; k++) {
            int at = t.n++;
            for (; at > 0 && t.v[at - 1] > factor->v[k]; at--)
                t.v[at] = t.v[at - 1];
            t.v[at] = factor->v[k];
        }
        sum_add(s, &t);
    }
}

static const struct dim *sum_done(struct dims *s, const struct sum *x)
{
    if (x->bad)
        return NULL;
    struct dim *d = arena_alloc(s->a, sizeof(*d) + x->n * sizeof(d->t[0]));
    d->n = x->n;
    memcpy(d->t, x->t, x->n * sizeof(d->t[0]));
    return d;
}

/* X with bound variables replaced, again and again. */
static const struct dim *resolved(struct dims *s, const struct dim *x)
{
    for (int depth = 0; x && depth < MAX_DEPTH; depth++) {
        bool any = false;
        struct sum out = {.n = 0};
        for (size_t i = 0; i < x->n; i++) {
            struct dim_term rest = x->t[i];
            const struct dim *in = NULL;
            for (int k = 0; k < rest.n && !in; k++) {
                in = s->vars.v[rest.v[k]].bound;
                if (in) {
                    rest.n--;
                    memmove(&rest.v[k], &rest.v[k + 1],
                            (size_t)(rest.n - k) * sizeof(rest.v[0]));
                }
            }
            any = any || in;
            if (in)
                sum_add_product(&out, in, &rest);
            else
                sum_add(&out, &rest);
        }
        if (!any)
            return x;
        x = sum_done(s, &out);
    }
    return NULL;
}

const struct dim *dim_int(struct dims *s, int64_t k)
{
    struct sum x = {.n = 0};
    sum_add(&x, &(struct dim_term){.k = k});
    return sum_done(s, &x);
}

const struct dim *dim_var(struct dims *s, int64_t value, enum dim_rank rank)
{
    struct sum x = {.n = 0};
    if (s->vars.n >= MAX_VARS)
        return NULL;
    array_push(&s->vars, ((struct dim_var){.rank = rank, .value = value}));
    sum_add(&x, &(struct dim_term){1, 1, {(uint16_t)(s->vars.n - 1)}});
    return sum_done(s, &x);
}

static const struct dim *sum_of(struct dims *s, const struct dim *x,
                                const struct dim *y, int64_t sign)
{
    struct sum out = {.n = 0};
    x = resolved(s, x);
    y = resolved(s, y);
    if (!x || !y)
        return NULL;
    sum_add_product(&out, x, &(struct dim_term){.k = 1});
    sum_add_product(&out, y, &(struct dim_term){.k = sign});
    return sum_done(s, &out);
}

const struct dim *dim_add(struct dims *s, const struct dim *x,
                          const struct dim *y)
{
    return sum_of(s, x, y, 1);
}

const struct dim *dim_sub(struct dims *s, const struct dim *x,
                          const struct dim *y)
{
    return sum_of(s, x, y, -1);
}

const struct dim *dim_mul(struct dims *s, const struct dim *x,
                          const struct dim *y)
{
    struct sum out = {.n = 0};
    x = resolved(s, x);
    y = resolved(s, y);
    if (!x || !y)
        return NULL;
    for (size_t i = 0; i < y->n; i++)
        sum_add_product(&out, x, &y->t[i]);
    return sum_done(s, &out);
}

static int64_t floor_div(int64_t x, int64_t y)
{
    int64_t q = x / y;
    return q - (x % y != 0 && (x < 0) != (y < 0));
}

/* Y, one term, divides every term of X: the quotient, else NULL. */
static const struct dim *quotient(struct dims *s, const struct dim *x,
                                  const struct dim *y)
{
    struct sum out = {.n = 0};
    if (y->n != 1)
        return NULL;
    for (size_t i = 0; i < x->n; i++) {
        struct dim_term t = x->t[i];
        if (t.k % y->t[0].k)
            return NULL;
        t.k /= y->t[0].k;
        for (int f = 0; f < y->t[0].n; f++) {
            int k = 0;
            while (k < t.n && t.v[k] != y->t[0].v[f])
                k++;
            if (k == t.n)
                return NULL;
            t.n--;
            memmove(&t.v[k], &t.v[k + 1], (size_t)(t.n - k) * sizeof(t.v[0]));
        }
        sum_add(&out, &t);
    }
    return sum_done(s, &out);
}

/* Written alike; sizes that are equal for other reasons may differ. */
static bool alike(const struct dim *x, const struct dim *y)
{
    if (!x || !y || x->n != y->n)
        return x == y;
    for (size_t i = 0; i < x->n; i++)
        if (x->t[i].k != y->t[i].k || term_order(&x->t[i], &y->t[i]) != 0)
            return false;
    return true;
}

/* A variable for the number that DEF makes of A and B: the same for the same.
 */
static const struct dim *defined(struct dims *s, enum dim_def def,
                                 const struct dim *a, const struct dim *b)
{
    const struct dim *d;
    for (size_t i = 0; i < s->vars.n; i++) {
        const struct dim_var *v = &s->vars.v[i];
        if (v->def == def && alike(v->a, a) && alike(v->b, b))
            return resolved(
                s, sum_done(
                       s, &(struct sum){.t = {{1, 1, {(uint16_t)i}}}, .n = 1}));
    }
    d = dim_var(s, 0, DIM_FREE);
    if (d) {
        struct dim_var *v = &s->vars.v[s->vars.n - 1];
        v->def = def;
        v->a = a;
        v->b = b;
    }
    return d;
}

const struct dim *dim_floor(struct dims *s, const struct dim *x,
                            const struct dim *y)
{
    int64_t p, q;
    x = resolved(s, x);
    y = resolved(s, y);
    if (!x || !y || y->n == 0)
        return NULL;
    if (dim_known(s, x, &p) && dim_known(s, y, &q))
        return dim_int(s, floor_div(p, q));
    const struct dim *exact = quotient(s, x, y);
    return exact ? exact : defined(s, DEF_FLOOR, x, y);
}

static int64_t whole_root(int64_t x)
{
    int64_t r = 0;
    while (r < (1 << 20) && (r + 1) * (r + 1) <= x)
        r++;
    return r;
}

const struct dim *dim_root(struct dims *s, const struct dim *x)
{
    int64_t k;
    x = resolved(s, x);
    if (!x)
        return NULL;
    if (dim_known(s, x, &k))
        return dim_int(s, whole_root(k));
    size_t known = s->vars.n;
    const struct dim *r = defined(s, DEF_ROOT, x, NULL);
    if (s->vars.n > known) { /* what is rooted for a size is a square */
        s->vars.v[known].value = whole_root(dim_value(s, x));
        dim_equal(s, x, dim_mul(s, r, r));
    }
    return r;
}

/* ---- values ---- */

bool dim_known(struct dims *s, const struct dim *x, int64_t *out)
{
    x = resolved(s, x);
    if (!x || x->n > 1 || (x->n == 1 && x->t[0].n > 0))
        return false;
    *out = x->n ? x->t[0].k : 0;
    return true;
}

bool dim_same(struct dims *s, const struct dim *x, const struct dim *y)
{
    const struct dim *d = dim_sub(s, x, y);
    return d && d->n == 0;
}

static int64_t value_of(struct dims *s, const struct dim *x, int depth);

/* Each variable once in a turn, however often it is mentioned. */
static int64_t value_of_var(struct dims *s, size_t i, int depth)
{
    struct dim_var *v = &s->vars.v[i];
    int64_t k = v->value;
    if (v->turn == s->turn)
        return v->now;
    v->turn = s->turn;
    v->now = k;
    s->work++;
    if (depth > MAX_DEPTH)
        return k;
    if (v->bound) {
        k = value_of(s, v->bound, depth + 1);
    } else if (v->def == DEF_FLOOR) {
        int64_t y = value_of(s, v->b, depth + 1);
        k = y ? floor_div(value_of(s, v->a, depth + 1), y) : 0;
    }
    s->vars.v[i].now = k;
    return k;
}

static int64_t value_of(struct dims *s, const struct dim *x, int depth)
{
    int64_t out = 0;
    for (size_t i = 0; x && i < x->n; i++) {
        int64_t k = x->t[i].k;
        for (int f = 0; f < x->t[i].n; f++)
            if (__builtin_mul_overflow(k, value_of_var(s, x->t[i].v[f], depth),
                                       &k))
                return MAX_SIZE;
        if (__builtin_add_overflow(out, k, &out))
            return MAX_SIZE;
    }
    return out;
}

int64_t dim_value(struct dims *s, const struct dim *x)
{
    s->turn++;
    return value_of(s, x, 0);
}

int64_t dim_settle(struct dims *s, const struct dim *x)
{
    int64_t value = dim_value(s, x);
    x = resolved(s, x);
    for (size_t i = 0; x && i < x->n; i++)
        for (int f = 0; f < x->t[i].n; f++) {
            struct dim_var *v = &s->vars.v[x->t[i].v[f]];
            if (!v->bound && v->def != DEF_FLOOR)
                v->bound = dim_int(s, v->value);
        }
    return value;
}

void dim_prefer(struct dims *s, const struct dim *x, int64_t value)
{
    x = resolved(s, x);
    if (x && x->n == 1 && x->t[0].k == 1 && x->t[0].n == 1)
        s->vars.v[x->t[0].v[0]].value = value;
}

/* ---- what must hold ---- */

static void need(struct dims *s, enum dim_rule rule, const struct dim *a,
                 const struct dim *b)
{
    if (a && s->needs.n < MAX_NEEDS)
        array_push(&s->needs, ((struct dim_need){rule, a, b}));
}

static bool mentions(const struct dim *x, uint16_t var)
{
    for (size_t i = 0; i < x->n; i++)
        for (int k = 0; k < x->t[i].n; k++)
            if (x->t[i].v[k] == var)
                return true;
    return false;
}

static bool made_of(struct dims *s, const struct dim *x, uint16_t var,
                    int depth);

/* The variable I, not seen in this turn, is VAR or is made of it. */
static bool var_made_of(struct dims *s, uint16_t i, uint16_t var, int depth)
{
    struct dim_var *v = &s->vars.v[i];
    if (i == var)
        return true;
    if (v->turn == s->turn)
        return false;
    v->turn = s->turn;
    if (v->bound)
        return made_of(s, v->bound, var, depth + 1);
    return v->def == DEF_FLOOR && (made_of(s, v->a, var, depth + 1) ||
                                   made_of(s, v->b, var, depth + 1));
}

static bool made_of(struct dims *s, const struct dim *x, uint16_t var,
                    int depth)
{
    if (depth > MAX_DEPTH)
        return true;
    for (size_t i = 0; i < x->n; i++)
        for (int k = 0; k < x->t[i].n; k++)
            if (var_made_of(s, x->t[i].v[k], var, depth))
                return true;
    return false;
}

/* What X is made of mentions VAR. */
static bool depends(struct dims *s, const struct dim *x, uint16_t var)
{
    s->turn++;
    return made_of(s, x, var, 0);
}

/* D = 0 read as VAR = the rest, for the term AT of D: NULL when it cannot. */
static const struct dim *solved_for(struct dims *s, const struct dim *d,
                                    size_t at)
{
    struct sum rest = {.n = 0};
    const struct dim_term *t = &d->t[at];
    if (t->n != 1)
        return NULL;
    for (size_t i = 0; i < d->n; i++) {
        struct dim_term other = d->t[i];
        if (i == at)
            continue;
        if (other.k % t->k)
            return NULL;
        other.k = -(other.k / t->k);
        sum_add(&rest, &other);
    }
    const struct dim *x = sum_done(s, &rest);
    return x && !mentions(x, t->v[0]) ? x : NULL;
}

/* The term of D = 0 whose variable is best given up, -1: none. */
static int choose_term(struct dims *s, const struct dim *d)
{
    int best = -1, best_cost = INT_MAX;
    for (size_t i = 0; i < d->n; i++) {
        const struct dim *x = solved_for(s, d, i);
        if (!x)
            continue;
        uint16_t var = d->t[i].v[0];
        const struct dim_var *v = &s->vars.v[var];
        int cost = v->def == DEF_FLOOR ? 100 : (int)v->rank * 10;
        /* The newer of two goes. */
        if (cost < best_cost || (cost == best_cost && var > d->t[best].v[0])) {
            if (v->def != DEF_FLOOR && depends(s, x, var))
                continue;
            best = (int)i;
            best_cost = cost;
        }
    }
    return best;
}

static void make_zero(struct dims *s, const struct dim *d, int depth)
{
    d = resolved(s, d);
    if (!d || d->n == 0)
        return;
    if (d->n == 1 && d->t[0].n == 0) {
        s->conflicts++;
        return;
    }
    int at = depth < MAX_DEPTH ? choose_term(s, d) : -1;
    if (at < 0) {
        need(s, DIM_ZERO, d, NULL);
        return;
    }
    uint16_t var = d->t[at].v[0];
    struct dim_var *v = &s->vars.v[var];
    const struct dim *x = solved_for(s, d, (size_t)at);
    const struct dim *a = v->a, *b = v->b;
    enum dim_def def = v->def;
    if (def != DEF_FLOOR || !depends(s, x, var))
        v->bound = x;
    if (def == DEF_FLOOR)
        make_zero(s, dim_sub(s, a, dim_mul(s, x, b)), depth + 1);
}

void dim_equal(struct dims *s, const struct dim *x, const struct dim *y)
{
    const struct dim *d = dim_sub(s, x, y);
    if (d)
        make_zero(s, d, 0);
}

void dim_divides(struct dims *s, const struct dim *whole,
                 const struct dim *part)
{
    int64_t p, q;
    if (!whole || !part)
        return;
    if (dim_known(s, whole, &p) && dim_known(s, part, &q)) {
        s->conflicts += q <= 0 || p % q;
        return;
    }
    need(s, DIM_DIVIDES, whole, part);
}

void dim_positive(struct dims *s, const struct dim *x)
{
    int64_t k;
    if (x && !dim_known(s, x, &k))
        need(s, DIM_POSITIVE, x, NULL);
}

/* ---- the solver ---- */

static bool holds(struct dims *s, const struct dim_need *n)
{
    int64_t a = dim_value(s, n->a), b;
    switch (n->rule) {
    case DIM_ZERO:
        return a == 0;
    case DIM_DIVIDES:
        b = dim_value(s, n->b);
        return b > 0 && a % b == 0 && a >= b;
    case DIM_POSITIVE:
        return a >= 1;
    }
    return true;
}

/* Equalities that have become simple meanwhile. */
static void reduce_equalities(struct dims *s)
{
    for (int round = 0; round < 4; round++) {
        size_t n = s->needs.n, kept = 0;
        struct dim_need *old = arena_array(s->a, n ? n : 1, sizeof(*old));
        if (n)
            memcpy(old, s->needs.v, n * sizeof(*old));
        s->needs.n = 0;
        for (size_t i = 0; i < n; i++)
            if (old[i].rule == DIM_ZERO)
                make_zero(s, old[i].a, 0);
            else
                need(s, old[i].rule, old[i].a, old[i].b);
        for (size_t i = 0; i < s->needs.n; i++)
            kept += s->needs.v[i].rule == DIM_ZERO;
        if (kept == 0 || s->needs.n == n)
            break;
    }
}

static int violated(struct dims *s, const struct dim_need **first)
{
    int n = 0;
    for (size_t i = 0; i < s->needs.n; i++)
        if (!holds(s, &s->needs.v[i]) && n++ == 0 && first)
            *first = &s->needs.v[i];
    return n;
}

/* Variables that X is made of and that may be chosen, those not yet seen in
 * this turn. */
static size_t choices(struct dims *s, const struct dim *x, uint16_t *out,
                      size_t n, size_t cap, int depth)
{
    for (size_t i = 0; x && depth < MAX_DEPTH && i < x->n; i++)
        for (int f = 0; f < x->t[i].n; f++) {
            struct dim_var *v = &s->vars.v[x->t[i].v[f]];
            if (v->turn == s->turn)
                continue;
            v->turn = s->turn;
            if (v->bound) {
                n = choices(s, v->bound, out, n, cap, depth + 1);
            } else if (v->def == DEF_FLOOR) {
                n = choices(s, v->a, out, n, cap, depth + 1);
                n = choices(s, v->b, out, n, cap, depth + 1);
            } else if (n < cap) {
                out[n++] = x->t[i].v[f];
            }
        }
    return n;
}

/* A choice for one variable or for two alike, and what it leaves open. */
struct choice {
    uint16_t v[2];
    int64_t value;
    int open;
};

static void consider(struct dims *s, uint16_t p, uint16_t q, int64_t value,
                     struct choice *best)
{
    int64_t p_was = s->vars.v[p].value, q_was = s->vars.v[q].value;
    if (s->work > MAX_WORK)
        return;
    s->vars.v[p].value = s->vars.v[q].value = value;
    int open = violated(s, NULL);
    if (open < best->open)
        *best = (struct choice){{p, q}, value, open};
    s->vars.v[p].value = p_was;
    s->vars.v[q].value = q_was;
}

/* Another value for a variable of N, or for two (the sides of an image), that
 * leaves fewer needs open. */
static bool improve(struct dims *s, const struct dim_need *n, int open)
{
    static const int64_t sizes[] = {
        2,   4, 8,  16, 32, 64, 128, 3,   6,   12,  24, 48, 96, 7,  14, 28, 56,
        112, 5, 10, 20, 40, 80, 160, 224, 256, 512, 1,  9,  25, 36, 49, 196};
    uint16_t v[12];
    s->turn++;
    size_t count = choices(s, n->a, v, 0, ARRAY_LEN(v), 0);
    struct choice best = {.open = open};
    count = choices(s, n->b, v, count, ARRAY_LEN(v), 0);
    int64_t part = n->rule == DIM_DIVIDES ? dim_value(s, n->b) : 0;
    for (size_t i = 0; i < count && part > 0 && part <= 1 << 16; i++) {
        /* A multiple near what is planned, of eight too if that does it. */
        int64_t was = s->vars.v[v[i]].value, step = part;
        while (step % 8)
            step *= 2;
        consider(s, v[i], v[i], (was + step - 1) / step * step, &best);
        consider(s, v[i], v[i], (was + part - 1) / part * part, &best);
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < ARRAY_LEN(sizes); k++)
            consider(s, v[i], v[i], sizes[k], &best);
    for (size_t i = 0; i < count && s->needs.n < MAX_EXACT; i++) {
        for (int64_t k = 1; k <= 256 && best.open == open; k++)
            consider(s, v[i], v[i], k, &best);
        for (size_t j = i + 1; j < count; j++)
            if (s->vars.v[v[i]].value == s->vars.v[v[j]].value)
                for (int64_t k = 1; k <= 256 && best.open == open; k++)
                    consider(s, v[i], v[j], k, &best);
    }
    if (best.open == open)
        return false;
    s->vars.v[best.v[0]].value = s->vars.v[best.v[1]].value = best.value;
    return true;
}

int dims_solve(struct dims *s)
{
    const struct dim_need *first = NULL;
    int open;
    s->work = 0;
    reduce_equalities(s);
    /* Large systems are not worth it: a run will say what is wrong. */
    for (int i = 0; i < 32 && s->needs.n < 256; i++) {
        open = violated(s, &first);
        if (open == 0 || !improve(s, first, open))
            break;
    }
    return violated(s, NULL);
}
