/* SPDX-License-Identifier: MIT */
/*
 * Which files must be parsed. Parsing costs a hundred times what reading does,
 * and in many repositories few files lead to a module. So the words of the
 * import statements are taken from the text, and a file is held to import
 * whatever file one of them could name: too much rather than too little.
 *
 * A file can lead to a module if it, or a file that it imports, however
 * indirectly, imports a package that has a root of nn.Module. Of those the
 * ones with a class (or a function, where these count) are parsed, and the ones
 * that they import. Once the modules
 * are known, what their files import is parsed too, whatever it is.
 *
 * The graph has a node for each file and one for each name that files have in
 * common: a file leads to the names that it says, a name to its files. So the
 * edges are no more than the words, however many files are called alike.
 */
#include "base.h"

#include "harvest/harvest.h"

struct nodes {
    size_t *v;
    size_t n, cap;
};

struct needs {
    struct harvest *h;
    size_t n;           /* nodes: files, then names */
    struct map names;   /* of a module or package -> its node + 1 */
    bool *leads;        /* by node: it can lead to a module */
    bool *mark;         /* by node, for one question */
    size_t *said;       /* by node: file + 1 that said the name last */
    struct nodes *to;   /* by node: what it imports */
    struct nodes *from; /* by node: what imports it */
};

/* Last part of the module's name: "b" for a/b.py and for a/b/__init__.py. */
static struct span stem_of(struct span path)
{
    static const struct span init = {"/__init__.py", 12};
    if (span_ends(path, init.p))
        path.n -= init.n;
    else if (span_ends(path, ".py"))
        path.n -= 3;
    const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
    if (slash)
        path = (struct span){slash + 1, path.n - (size_t)(slash + 1 - path.p)};
    return path;
}

static bool is_importable(const struct source *s)
{
    return s->text.n > 0 && !s->is_notebook;
}

static void add_edge(struct needs *x, size_t from, size_t to)
{
    array_push(&x->to[from], to);
    array_push(&x->from[to], from);
}

/* Nodes for the names; x->n becomes their number and that of the files. */
static void name_files(struct needs *x)
{
    for (size_t i = 0; i < x->h->sources.n; i++) {
        const struct source *s = &x->h->sources.v[i];
        void **at = is_importable(s)
                        ? map_ref(&x->names, stem_of(span_str(s->path)))
                        : NULL;
        if (at && !*at)
            *at = (void *)(uintptr_t)++x->n;
    }
}

static void link_names(struct needs *x)
{
    for (size_t i = 0; i < x->h->sources.n; i++) {
        const struct source *s = &x->h->sources.v[i];
        if (is_importable(s))
            add_edge(x,
                     (uintptr_t)map_get(&x->names, stem_of(span_str(s->path))) -
                         1,
                     i);
    }
}

/* Packages that hold a root of nn.Module: see py_is_module_root. */
static bool has_root(struct span word)
{
    static const char *const packages[] = {
        "torch", "torchvision", "torchaudio",        "torch_geometric",
        "timm",  "lightning",   "pytorch_lightning", "transformers"};
    return span_in(word, packages, ARRAY_LEN(packages));
}

static void add_word(struct needs *x, size_t from, struct span word)
{
    x->leads[from] |= has_root(word);
    size_t node = (uintptr_t)map_get(&x->names, word);
    if (node == 0 || x->said[node - 1] == from + 1)
        return;
    x->said[node - 1] = from + 1;
    add_edge(x, from, node - 1);
}

/* `from ... import`: the package LEVEL folders up may bind what is asked. */
static void add_package(struct needs *x, size_t from, size_t level)
{
    char path[GIT_MAX_PATH + 16];
    struct span d = span_str(x->h->sources.v[from].path);
    for (size_t i = 0; i < level; i++) {
        const char *slash = d.n ? memrchr(d.p, '/', d.n) : NULL;
        d.n = slash ? (size_t)(slash - d.p) : 0;
    }
    if (d.n >= GIT_MAX_PATH)
        return;
    snprintf(path, sizeof(path), "%.*s%s__init__.py", (int)d.n, d.p,
             d.n ? "/" : "");
    void *at = map_get(&x->h->by_path, span_str(path));
    if (at)
        add_edge(x, from, (size_t)(uintptr_t)at - 1);
}

/* The words of an import statement at P; its end. */
static const char *read_import(struct needs *x, size_t from, const char *p,
                               const char *end)
{
    bool bracket = false;
    size_t dots = 0;
    while (p < end && (bracket || *p != '\n')) {
        const char *start = p;
        if (*p == '#') {
            p = memchr(p, '\n', (size_t)(end - p));
            p = p ? p : end;
        } else if (is_word_char(*p)) {
            while (p < end && is_word_char(*p))
                p++;
            if (dots > 0)
                add_package(x, from, dots);
            dots = 0;
            add_word(x, from, (struct span){start, (size_t)(p - start)});
        } else {
            dots += *p == '.';
            bracket = *p == '(' || (bracket && *p != ')');
            p += *p == '\\' && p + 1 < end ? 2 : 1;
        }
    }
    return p;
}

static void read_imports(struct needs *x, size_t from)
{
    struct span t = x->h->sources.v[from].text;
    if (t.n == 0)
        return; /* not read: no text at all */
    const char *p = t.p, *end = t.p + t.n;
    /* A statement begins a line, or follows ':' or ';' in one: rare, and then
     * the word stands between blanks. */
    while (p < end && (p = memmem(p, (size_t)(end - p), "import", 6)) != NULL) {
        const char *line = memrchr(t.p, '\n', (size_t)(p - t.p));
        line = line ? line + 1 : t.p;
        const char *word = memmem(line, (size_t)(p - line), "from", 4);
        p = read_import(x, from, word ? word + 4 : p + 6, end);
    }
}

/* Mark all that is reached from the marked ones, by way of those that LIMIT
 * (NULL = all) allows. */
static void spread(const struct nodes *edges, bool *mark, const bool *limit,
                   size_t n)
{
    struct nodes queue = {0};
    for (size_t i = 0; i < n; i++)
        if (mark[i])
            array_push(&queue, i);
    for (size_t q = 0; q < queue.n; q++) {
        const struct nodes *f = &edges[queue.v[q]];
        for (size_t k = 0; k < f->n; k++) {
            size_t to = f->v[k];
            if (mark[to] || (limit && !limit[to]))
                continue;
            mark[to] = true;
            array_push(&queue, to);
        }
    }
    array_release(&queue);
}

struct needs *needs_new(struct harvest *h)
{
    struct needs *x = xcalloc(1, sizeof(*x));
    x->h = h;
    x->n = h->sources.n;
    name_files(x);
    x->leads = xcalloc(x->n + 1, sizeof(*x->leads));
    x->mark = xcalloc(x->n + 1, sizeof(*x->mark));
    x->said = xcalloc(x->n + 1, sizeof(*x->said));
    x->to = xcalloc(x->n + 1, sizeof(*x->to));
    x->from = xcalloc(x->n + 1, sizeof(*x->from));
    link_names(x);
    for (size_t i = 0; i < h->sources.n; i++)
        read_imports(x, i);
    spread(x->from, x->leads, NULL, x->n);
    return x;
}

void needs_free(struct needs *x)
{
    if (!x)
        return;
    for (size_t i = 0; i < x->n; i++) {
        array_release(&x->to[i]);
        array_release(&x->from[i]);
    }
    map_release(&x->names);
    free(x->leads);
    free(x->mark);
    free(x->said);
    free(x->to);
    free(x->from);
    free(x);
}

static void want_marked(struct needs *x)
{
    for (size_t i = 0; i < x->h->sources.n; i++)
        x->h->sources.v[i].wanted |= x->mark[i];
}

void needs_modules(struct needs *x)
{
    memset(x->mark, 0, x->n);
    for (size_t i = 0; i < x->h->sources.n; i++) {
        struct span t = x->h->sources.v[i].text;
        x->mark[i] = x->leads[i] && x->h->sources.v[i].counts && t.n > 0 &&
                     (memmem(t.p, t.n, "class ", 6) ||
                      (x->h->rules->functions && memmem(t.p, t.n, "def ", 4)));
    }
    spread(x->to, x->mark, x->leads, x->n);
    want_marked(x);
}

void needs_imports(struct needs *x)
{
    memset(x->mark, 0, x->n);
    for (size_t i = 0; i < x->h->sources.n; i++)
        x->mark[i] = x->h->sources.v[i].needed;
    spread(x->to, x->mark, NULL, x->n);
    want_marked(x);
}
