/* SPDX-License-Identifier: MIT */
/* Which classes are nn.Modules: marked from the roots down along the edges
 * base -> subclass, so that cycles and long chains need no recursion. */
#include "base.h"

#include "py/repo.h"

struct edge {
    uint32_t base, sub;
};

struct graph {
    struct pyrepo *r;
    ARRAY(struct edge) edges;
    ARRAY(uint32_t) queue;
};

static struct span last_name(struct span dotted)
{
    const char *dot = dotted.n ? memrchr(dotted.p, '.', dotted.n) : NULL;
    if (!dot)
        return dotted;
    return (struct span){dot + 1, (size_t)(dotted.p + dotted.n - dot - 1)};
}

/* Classes under torch.nn that are no modules. */
static const char *const not_modules[] = {
    "Parameter",
    "Buffer",
    "UninitializedParameter",
    "UninitializedBuffer",
    "UninitializedTensorMixin",
    "PackedSequence",
    "_Reduction",
    "_IncompatibleKeys",
};

/* Packages all of whose capitalised names are layers or models, and single
 * classes by their last name. */
static const char *const layer_packages[] = {
    "torch.nn.",          "torchvision.models.", "torchvision.ops.",
    "torchaudio.models.", "torch_geometric.nn.", "timm.models.",
    "timm.layers.",
};
static const struct {
    const char *package, *name;
} single_roots[] = {
    {"torch.jit.", "ScriptModule"},
    {"torch.fx.", "GraphModule"},
    {"torch.distributed.fsdp.", "FullyShardedDataParallel"},
    {"lightning.", "LightningModule"},
    {"pytorch_lightning.", "LightningModule"},
    {"transformers.", "PreTrainedModel"},
};

bool py_is_module_root(struct span dotted)
{
    struct span name = last_name(dotted);
    size_t first = 0; /* _Loss, _BatchNorm: private by name, bases of many */
    while (first < name.n && name.p[first] == '_')
        first++;
    if (first == name.n || name.p[first] < 'A' || name.p[first] > 'Z')
        return false;
    for (size_t i = 0; i < ARRAY_LEN(single_roots); i++)
        if (span_starts(dotted, single_roots[i].package) &&
            span_is(name, single_roots[i].name))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(not_modules); i++)
        if (span_is(name, not_modules[i]))
            return false;
    if (span_starts(dotted, "torch.nn.functional.") ||
        span_starts(dotted, "torch.nn.init.") ||
        span_starts(dotted, "torch.nn.attention.") ||
        span_ends(name, "_Weights") || span_ends(name, "Mixin"))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(layer_packages); i++)
        if (span_starts(dotted, layer_packages[i]))
            return true;
    return false;
}

static uint32_t number(const struct pyrepo *r, const struct pymod *m, int def)
{
    return (uint32_t)(repo_file(r, m)->first_class + def);
}

static void found(struct graph *g, uint32_t class)
{
    if (g->r->is_module[class])
        return;
    g->r->is_module[class] = 1;
    array_push(&g->queue, class);
}

/* One thing that a base of class SUB may stand for. */
static void add_base(struct graph *g, struct pyref ref, uint32_t sub)
{
    ref = pyrepo_deref(g->r, ref);
    if (ref.kind == PYREF_EXTERNAL && py_is_module_root(ref.dotted))
        found(g, sub);
    if (ref.kind != PYREF_SYM || ref.sym->kind != PYSYM_CLASS || ref.rest.n)
        return;
    /* The class may be defined in several branches, or imported in one. */
    int left = 8;
    for (const struct pysym *s = ref.sym; s && left-- > 0;
         s = s->earlier < 0 ? NULL : &ref.mod->syms.v[s->earlier]) {
        if (s->kind == PYSYM_CLASS) {
            struct edge e = {number(g->r, ref.mod, s->def), sub};
            array_push(&g->edges, e);
        } else if (s->kind == PYSYM_FROM) {
            struct pyref to = pyrepo_deref(
                g->r, pyrepo_resolve_sym(g->r, ref.mod, s, ref.rest));
            if (to.kind == PYREF_EXTERNAL && py_is_module_root(to.dotted))
                found(g, sub);
            if (to.kind == PYREF_SYM && to.sym->kind == PYSYM_CLASS &&
                to.rest.n == 0) {
                struct edge e = {number(g->r, to.mod, to.sym->def), sub};
                array_push(&g->edges, e);
            }
        }
    }
}

static void add_class(struct graph *g, const struct pymod *m,
                      const struct pydef *d, uint32_t sub)
{
    for (size_t i = 0; i < d->bases.n; i++) {
        const struct pybase *b = &d->bases.v[i];
        if (b->keyword.n > 0 || b->dotted.n == 0)
            continue;
        const char *dot = memchr(b->dotted.p, '.', b->dotted.n);
        size_t n = dot ? (size_t)(dot - b->dotted.p) : b->dotted.n;
        struct span head = {b->dotted.p, n}, rest = {NULL, 0};
        if (dot)
            rest = (struct span){dot + 1, b->dotted.n - n - 1};
        const struct pysym *s = pymod_lookup_at(m, b->start, head);
        if (!s)
            add_base(g, pyrepo_resolve(g->r, m, b->start, b->dotted), sub);
        int left = 8; /* branches that bind the name */
        for (; s && left-- > 0;
             s = s->earlier < 0 ? NULL : &m->syms.v[s->earlier])
            add_base(g, pyrepo_resolve_sym(g->r, m, s, rest), sub);
    }
}

static int by_base(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    return (x->sub > y->sub) - (x->sub < y->sub);
}

static void mark_subclasses(struct graph *g)
{
    if (g->edges.n > 0)
        qsort(g->edges.v, g->edges.n, sizeof(*g->edges.v), by_base);
    for (size_t q = 0; q < g->queue.n; q++) {
        uint32_t base = g->queue.v[q];
        size_t lo = 0, hi = g->edges.n;
        while (lo < hi) {
            size_t mid = (lo + hi) / 2;
            if (g->edges.v[mid].base < base)
                lo = mid + 1;
            else
                hi = mid;
        }
        for (; lo < g->edges.n && g->edges.v[lo].base == base; lo++)
            found(g, g->edges.v[lo].sub);
    }
}

static void mark_all(struct pyrepo *r)
{
    struct graph g = {.r = r};
    r->is_module = xcalloc(r->n_defs, 1);
    for (size_t i = 0; i < r->files.n; i++) {
        const struct pymod *m = r->files.v[i]->mod;
        for (size_t k = 0; k < m->defs.n; k++)
            if (m->defs.v[k].is_class)
                add_class(&g, m, &m->defs.v[k], number(r, m, (int)k));
    }
    mark_subclasses(&g);
    array_release(&g.edges);
    array_release(&g.queue);
}

bool pyrepo_is_module_class(struct pyrepo *r, const struct pymod *m,
                            const struct pydef *d)
{
    repo_index(r);
    const struct pyfile *f = repo_file(r, m);
    if (!f || !d->is_class)
        return false;
    if (!r->is_module)
        mark_all(r);
    return r->is_module[f->first_class + (int)(d - m->defs.v)] != 0;
}
