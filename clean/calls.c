/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/calls.h"
#include "clean/config.h"
#include "clean/inputs.h"
#include "clean/secret.h"

#define MAX_CALLS   8   /* in a record */
#define MAX_SITES   24  /* of one class that are read, of each kind of file */
#define MAX_USES    4   /* calls of one instance that are looked at */
#define MAX_NODES   160 /* values inside of one argument */
#define MAX_NESTING 8
#define MAX_BYTES   600 /* of one argument, packed */
#define MAX_NAME    200
/* Bytes of one configuration as Python. */
#define MAX_CONFIG (2u << 20)
/* Bytes of added files whose trees stay until they are read: ten times that. */
#define MAX_KEPT (4u << 20)

/* Kinds of files. */
enum { NEEDED, OTHERS, CONFIGS, KINDS };

struct site {
    const struct sfile *f;
    uint32_t line;
    struct val *args, *kw;       /* of the constructor */
    struct val *in_args, *in_kw; /* of forward, NULL: not seen */
};

struct wanted {
    ARRAY(struct site) sites;
    int left[KINDS]; /* sites that may still be read */
};

/* A file that no module needs. */
struct own {
    struct pymod *m;
    struct config_lines lines; /* of a configuration */
};

struct calls {
    struct statics statics;
    struct arena arena;
    struct map classes; /* "PATH\0QUAL" -> struct wanted */
    struct map names;   /* last parts of QUAL, and their aliases */
    ARRAY(struct own) own;
    size_t kept; /* bytes of text of these */
};

struct calls *calls_new(struct pyparser *p)
{
    struct calls *x = xcalloc(1, sizeof(*x));

    statics_init(&x->statics, p, &x->arena);
    return x;
}

void calls_free(struct calls *x)
{
    if (!x)
        return;
    statics_release(&x->statics);
    for (size_t i = 0; i < x->classes.n; i++) {
        struct wanted *w = x->classes.entries[i].value;

        array_release(&w->sites);
        free(w);
    }
    for (size_t i = 0; i < x->own.n; i++) {
        pymod_free(x->own.v[i].m);
        array_release(&x->own.v[i].lines.of);
    }
    array_release(&x->own);
    map_release(&x->classes);
    map_release(&x->names);
    arena_release(&x->arena);
    free(x);
}

static int own_python(struct calls *x, struct own *o, const char *path,
                      struct span source)
{
    struct err e;

    o->m = pymod_new(x->statics.parser, path, source, &e);
    x->kept += o->m ? source.n : 0;
    return o->m ? 0 : -1;
}

void calls_add(struct calls *x, struct span path, struct span source)
{
    struct own o = {0};
    struct buf python = BUF_INIT(MAX_CONFIG);
    const char *name = arena_strdup(&x->arena, path);
    int rc;

    if (config_is(path))
        rc = config_python(&python, &o.lines, source) ||
             own_python(x, &o, name, buf_span(&python));
    else
        rc = own_python(x, &o, name, source);
    buf_release(&python);
    if (rc) {
        array_release(&o.lines.of);
        return;
    }
    if (x->kept > MAX_KEPT)
        pymod_drop_tree(o.m);
    array_push(&x->own, o);
}

static struct span class_key(struct arena *a, struct span path,
                             struct span qual)
{
    char *p = arena_alloc(a, path.n + qual.n + 1);

    memcpy(p, path.p, path.n);
    p[path.n] = '\0';
    memcpy(p + path.n + 1, qual.p, qual.n);
    return (struct span){p, path.n + qual.n + 1};
}

void calls_want(struct calls *x, struct span path, struct span qual)
{
    struct span name = span_last_part(qual);
    void **at;

    if (path.n == 0 || qual.n == 0 || name.n == 0)
        return;
    at = map_ref(&x->classes, class_key(&x->arena, path, qual));
    if (!*at) {
        struct wanted *w = xcalloc(1, sizeof(*w));

        for (int i = 0; i < KINDS; i++)
            w->left[i] = MAX_SITES;
        *at = w;
    }
    map_put(&x->names, name, x);
}

/* ---- one place ---- */

static bool is_unknown(const struct val *v)
{
    return v && v->type == VAL_MAP && val_get(v, "unknown") != NULL;
}

static size_t count_known(const struct val *args, const struct val *kw)
{
    size_t n = 0;

    for (size_t i = 0; i < val_len(args); i++)
        n += !is_unknown(val_at(args, i));
    for (size_t i = 0; i < val_len(kw); i++)
        n += !is_unknown(kw->map.v[i]);
    return n;
}

/* What CALL hands to a module, into X. */
static void read_inputs(struct calls *c, struct sfile *f, TSNode call,
                        struct site *x)
{
    TSNode list = pynode_field(call, "arguments");
    struct val *args = val_list(&c->arena), *kw = val_map(&c->arena);
    struct val *unknown = val_map(&c->arena);

    val_set(&c->arena, unknown, "unknown", val_bool(&c->arena, true));
    if (!pynode_is(list, "argument_list") || pynode_count(list) > 16)
        return;
    for (uint32_t i = 0; i < pynode_count(list); i++) {
        TSNode n = pynode_child(list, i);
        bool keyword = pynode_is(n, "keyword_argument");
        struct val *v;

        if (pynode_is(n, "comment"))
            continue;
        if (pynode_is(n, "list_splat") || pynode_is(n, "dictionary_splat"))
            return;
        v = inputs_value(&c->statics, f,
                         keyword ? pynode_field(n, "value") : n);
        v = v ? v : unknown;
        if (keyword)
            val_set(
                &c->arena, kw,
                arena_strdup(&c->arena,
                             pynode_text(f->m->text, pynode_field(n, "name"))),
                v);
        else
            val_push(&c->arena, args, v);
    }
    if (count_known(args, kw) == 0)
        return;
    x->in_args = args;
    x->in_kw = kw;
}

/* The expression that the instance made by call N goes on as: N.cuda(),
 * DataParallel(N). */
static TSNode instance(const struct sfile *f, TSNode n)
{
    static const char *const methods[] = {"cuda",   "to",    "cpu",
                                          "eval",   "train", "float",
                                          "double", "half",  "requires_grad_"};

    for (int i = 0; i < 6; i++) {
        TSNode up = pynode_parent(n), over = pynode_parent(up);

        if (pynode_is(up, "attribute") && pynode_is(over, "call") &&
            span_in(pynode_text(f->m->text, pynode_field(up, "attribute")),
                    methods, ARRAY_LEN(methods)))
            n = over;
        else if (pynode_is(up, "argument_list") && pynode_is(over, "call") &&
                 span_ends(
                     pynode_text(f->m->text, pynode_field(over, "function")),
                     "DataParallel"))
            n = over;
        else
            break;
    }
    return n;
}

/* Does the name NAME, read at AT, have the value that stands at SITE? */
static bool is_same_binding(const struct pymod *m, uint32_t at,
                            struct span name, uint32_t site)
{
    const struct pysym *s = pymod_lookup_at(m, at, name);

    return s && s->value_start <= site && site < s->value_end;
}

static const struct pydef *class_around(const struct pymod *m, uint32_t at)
{
    const struct pydef *d = NULL;

    for (size_t i = 0; i < m->defs.n && m->defs.v[i].start <= at; i++)
        if (m->defs.v[i].is_class && m->defs.v[i].end > at)
            d = &m->defs.v[i];
    return d;
}

/* Calls of what is bound to VAR (a name or self.name) at SITE. */
static void read_uses(struct calls *c, struct sfile *f, struct span var,
                      uint32_t site, struct site *x)
{
    const struct pymod *m = f->m;
    const struct pydef *around = class_around(m, site);
    bool member = memchr(var.p, '.', var.n) != NULL;
    uint32_t end = around && member ? around->end : (uint32_t)m->text.n;
    size_t i = reads_from(m, site);

    if (member && around)
        i = reads_from(m, around->start);
    for (int tries = 0;
         i < m->reads.n && m->reads.v[i].at < end && tries < MAX_USES; i++) {
        const struct pyread *r = &m->reads.v[i];
        struct span what = r->dotted;

        if (!(r->flags & PYREAD_CALL))
            continue;
        if (span_ends(what, ".forward"))
            what.n -= 8;
        if (!span_eq(what, var) ||
            (!member && !is_same_binding(m, r->at, var, site)))
            continue;
        tries++;
        read_inputs(c, f,
                    statics_around(statics_node(&c->statics, f, r->at, r->end),
                                   "call", 3),
                    x);
        if (x->in_args)
            return;
    }
}

/* Call N makes a module: what it is given then. */
static void follow(struct calls *c, struct sfile *f, TSNode n, struct site *x)
{
    TSNode value = instance(f, n), up = pynode_parent(value), left;
    struct span var;

    if (pynode_is(up, "call") &&
        ts_node_eq(pynode_field(up, "function"), value)) {
        read_inputs(c, f, up, x);
        return;
    }
    left = pynode_field(up, "left");
    if (!pynode_is(up, "assignment"))
        return;
    var = pynode_dotted(f->m->text, left);
    if (var.n > 0 &&
        (pynode_is(left, "identifier") || span_starts(var, "self.")))
        read_uses(c, f, var, ts_node_start_byte(n), x);
}

static void read_site(struct calls *c, struct sfile *f, const struct pyread *r,
                      struct wanted *w)
{
    struct site x = {.f = f, .line = pymod_line(f->m, r->at)};
    TSNode n;

    if (f->lines)
        x.line = f->lines[x.line - 1];
    statics_begin(&c->statics);
    n = statics_around(statics_node(&c->statics, f, r->at, r->end), "call", 3);
    if (ts_node_is_null(n) || pynode_end(pynode_field(n, "function")) != r->end)
        return;
    x.args = val_list(&c->arena);
    x.kw = val_map(&c->arena);
    if (statics_arguments(&c->statics, f, pynode_field(n, "arguments"), x.args,
                          x.kw))
        return;
    statics_begin(&c->statics);
    follow(c, f, n, &x);
    if (count_known(x.args, x.kw) > 0 || x.in_args)
        array_push(&w->sites, x);
}

/* ---- all places ---- */

/* Other names that M has for one of the classes: `import A as B`. */
static void name_aliases(struct calls *c, const struct pymod *m)
{
    for (size_t i = 0; i < m->syms.n; i++) {
        const struct pysym *s = &m->syms.v[i];

        if (s->kind == PYSYM_FROM && s->aliased &&
            map_has(&c->names, s->member))
            map_put(&c->names, s->name, c);
    }
}

/* The only one of the wanted classes that is called NAME. */
static struct wanted *only_class(const struct calls *c, struct span name)
{
    struct wanted *w = NULL;

    for (size_t i = 0; i < c->classes.n; i++) {
        struct span key = c->classes.entries[i].key;
        const char *qual = memchr(key.p, '\0', key.n);

        if (qual &&
            span_eq((struct span){qual + 1, key.n - (size_t)(qual + 1 - key.p)},
                    name)) {
            if (w)
                return NULL;
            w = c->classes.entries[i].value;
        }
    }
    return w;
}

/* The class that read R of F calls, when it is one of those wanted. */
static struct wanted *wanted_class(struct calls *c, const struct sfile *f,
                                   const struct pyread *r)
{
    const struct pymod *m = NULL;
    const struct pydef *d;
    struct arena a = ARENA_INIT;
    struct wanted *w = NULL;

    if (f->lines && !memchr(r->dotted.p, '.', r->dotted.n))
        return only_class(c, r->dotted); /* nothing is imported there */
    d = pyrepo_class(c->statics.names,
                     pyrepo_resolve(c->statics.names, f->m, r->at, r->dotted),
                     &m);
    if (d)
        w = map_get(&c->classes, class_key(&a, span_str(m->path), d->qual));
    arena_release(&a);
    return w;
}

static void read_file(struct calls *c, struct sfile *f, int kind)
{
    for (size_t i = 0; i < f->m->reads.n; i++) {
        const struct pyread *r = &f->m->reads.v[i];
        struct wanted *w;

        if (!(r->flags & PYREAD_CALL) ||
            !map_has(&c->names, span_last_part(r->dotted)))
            continue;
        w = wanted_class(c, f, r);
        if (!w || w->left[kind] == 0)
            continue;
        w->left[kind]--;
        read_site(c, f, r, w);
    }
    statics_close(&c->statics);
}

void calls_read(struct calls *x, const struct crepo *r)
{
    size_t n = r->files.n;

    for (size_t i = 0; i < n; i++)
        if (!r->files.v[i]->origin)
            statics_add(&x->statics, r->files.v[i]->m);
    n = x->statics.files.n;
    for (size_t i = 0; i < x->own.n; i++)
        if (!crepo_file(r, span_str(x->own.v[i].m->path)))
            statics_add(&x->statics, x->own.v[i].m)->lines =
                x->own.v[i].lines.of.v;
    for (size_t i = 0; i < x->statics.files.n && x->classes.n > 0; i++)
        name_aliases(x, x->statics.files.v[i]->m);
    for (size_t i = 0; i < x->statics.files.n && x->classes.n > 0; i++) {
        struct sfile *f = x->statics.files.v[i];
        int other = f->lines ? CONFIGS : OTHERS;

        read_file(x, f, i < n ? NEEDED : other);
        if (i >= n)
            pymod_drop_tree(f->m);
    }
}

/* ---- the record ---- */

struct render {
    const struct closure *c;
    int left; /* values that may still be written */
};

/* The name under which the source of the module has {own: [PATH, NAME]}. */
static struct val *own_name(const struct render *r, const struct val *own)
{
    const struct cfile *f = crepo_file(r->c->r, val_as_str(val_at(own, 0)));
    const struct entity *e =
        f ? closure_symbol(r->c, f, val_as_str(val_at(own, 1))) : NULL;

    return e && e->out && e->units.n > 0 && !e->stand
               ? val_strz(r->c->arena, e->out)
               : NULL;
}

/* V as it stands in a record; NULL when the source lacks what it names, or it
 * is too large. */
static struct val *settle(struct render *r, const struct val *v, int depth)
{
    struct arena *a = r->c->arena;
    struct val *out;

    if (r->left-- <= 0 || depth > MAX_NESTING)
        return NULL;
    if (v->type == VAL_MAP && val_get(v, "own"))
        out = own_name(r, val_get(v, "own"));
    else
        out = NULL;
    if (out) {
        struct val *m = val_map(a);

        val_set(a, m, "name", out);
        return m;
    }
    if (v->type == VAL_MAP) {
        if (val_get(v, "own"))
            return NULL;
        out = val_map(a);
        for (size_t i = 0; i < v->map.n; i++) {
            struct val *x = settle(r, v->map.v[i], depth + 1);

            if (x && span_is(v->map.keys[i], "call") && x->type == VAL_MAP)
                x = val_get(x, "name");
            if (!x)
                return NULL;
            val_set(a, out, arena_strdup(a, v->map.keys[i]), x);
        }
        return out;
    }
    if (v->type == VAL_STR && secret_find(v->s, true))
        return NULL;
    if (v->type == VAL_LIST) {
        out = val_list(a);
        for (size_t i = 0; i < v->list.n; i++) {
            struct val *x = settle(r, v->list.v[i], depth + 1);

            if (!x)
                return NULL;
            val_push(a, out, x);
        }
        return out;
    }
    return val_copy(a, v);
}

static struct val *settled(const struct closure *c, const struct val *v)
{
    struct render r = {c, MAX_NODES};
    struct val *out = settle(&r, v, 0), *unknown;
    struct buf b = BUF_INIT(MAX_BYTES);
    bool fits = out && val_pack(&b, out) == 0;

    buf_release(&b);
    if (fits)
        return out;
    unknown = val_map(c->arena);
    val_set(c->arena, unknown, "unknown", val_bool(c->arena, true));
    return unknown;
}

static struct val *settled_list(const struct closure *c, const struct val *l)
{
    struct val *out = val_list(c->arena);

    for (size_t i = 0; i < val_len(l); i++)
        val_push(c->arena, out, settled(c, val_at(l, i)));
    return out;
}

static struct val *settled_map(const struct closure *c, const struct val *m)
{
    struct val *out = val_map(c->arena);

    for (size_t i = 0; i < val_len(m); i++)
        if (m->map.keys[i].n <= MAX_NAME)
            val_set(c->arena, out, arena_strdup(c->arena, m->map.keys[i]),
                    settled(c, m->map.v[i]));
    return out;
}

struct ranked {
    struct val *call; /* without path and line */
    const struct site *site;
    size_t unknown, order;
    int without; /* inputs: 0 all known, 1 some, 2 none */
    int weight;
};

static int weight_of(const struct val *v)
{
    int sum = 0;

    if (v->type == VAL_INT && v->i > 0)
        return 64 - __builtin_clzll((unsigned long long)v->i);
    for (size_t i = 0; v->type == VAL_LIST && i < v->list.n; i++)
        sum += weight_of(v->list.v[i]);
    for (size_t i = 0; v->type == VAL_MAP && i < v->map.n; i++)
        sum += weight_of(v->map.v[i]);
    return sum;
}

static struct ranked rank(const struct closure *c, const struct site *s,
                          size_t order)
{
    struct arena *a = c->arena;
    struct ranked r = {
        .call = val_map(a), .site = s, .order = order, .without = 2};
    struct val *args = settled_list(c, s->args), *kw = settled_map(c, s->kw);
    size_t known = count_known(args, kw);

    val_set(a, r.call, "args", args);
    val_set(a, r.call, "kw", kw);
    r.unknown = val_len(args) + val_len(kw) - known;
    if (s->in_args) {
        struct val *in = val_map(a), *list = settled_list(c, s->in_args);
        struct val *map = settled_map(c, s->in_kw);
        size_t n = count_known(list, map);

        val_set(a, in, "args", list);
        val_set(a, in, "kw", map);
        if (n > 0) {
            val_set(a, r.call, "inputs", in);
            r.without = n < val_len(list) + val_len(map);
        }
        known += n;
    }
    r.weight = weight_of(r.call);
    if (known == 0)
        r.call = NULL;
    return r;
}

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->unknown != y->unknown)
        return x->unknown < y->unknown ? -1 : 1;
    if (x->without != y->without)
        return x->without - y->without;
    if (x->weight != y->weight)
        return x->weight - y->weight;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Leave of the N places of LIST the first of those that are alike; how many
 * are then of Python ([0]) and of configurations ([1]). */
static size_t distinct(struct ranked *list, size_t n, size_t of[2])
{
    struct map seen = MAP_INIT;
    struct buf b = BUF_INIT(64u << 10);
    size_t left = 0;

    of[0] = of[1] = 0;
    for (size_t i = 0; i < n; i++) {
        buf_clear(&b);
        if (val_pack(&b, list[i].call) || map_put(&seen, buf_span(&b), list))
            continue;
        of[list[i].site->f->lines != NULL]++;
        list[left++] = list[i];
    }
    buf_release(&b);
    map_release(&seen);
    return left;
}

static struct val *one_call(struct arena *a, const struct ranked *x)
{
    struct val *one = val_map(a), *call = x->call;

    val_set(a, one, "path", val_strz(a, x->site->f->m->path));
    val_set(a, one, "line", val_int(a, x->site->line));
    for (size_t k = 0; k < call->map.n; k++)
        if (val_len(call->map.v[k]) > 0)
            val_set(a, one, arena_strdup(a, call->map.keys[k]), call->map.v[k]);
    return one;
}

struct val *calls_of(struct calls *x, const struct closure *c, struct span path,
                     struct span qual)
{
    struct wanted *w = map_get(&x->classes, class_key(c->arena, path, qual));
    struct val *list = val_list(c->arena);
    ARRAY(struct ranked) ranked = {0};
    size_t n = 0, of[2];

    for (size_t i = 0; w && i < w->sites.n; i++) {
        struct ranked r = rank(c, &w->sites.v[i], i);

        if (r.call)
            array_push(&ranked, r);
    }
    if (ranked.n > 1)
        qsort(ranked.v, ranked.n, sizeof(*ranked.v), by_rank);
    n = distinct(ranked.v, ranked.n, of);
    /* the best, but of neither Python nor configurations more than half while
     * the others have more to say */
    of[0] = MIN(of[0], MAX_CALLS - MIN(of[1], MAX_CALLS / 2));
    of[1] = MIN(of[1], MAX_CALLS - of[0]);
    for (size_t i = 0; i < n; i++)
        if (of[ranked.v[i].site->f->lines != NULL]) {
            of[ranked.v[i].site->f->lines != NULL]--;
            val_push(c->arena, list, one_call(c->arena, &ranked.v[i]));
        }
    array_release(&ranked);
    return val_len(list) > 0 ? list : NULL;
}
