/* SPDX-License-Identifier: MIT */
/* The files of a repository and which of them an import names. */
#include "base.h"

#include "py/repo.h"

#define MAX_PATH_BYTES 4096

struct pyrepo *pyrepo_new(void)
{
    return xcalloc(1, sizeof(struct pyrepo));
}

struct pyrepo *pyrepo_new_borrowing(void)
{
    struct pyrepo *r = pyrepo_new();
    r->borrows = true;
    return r;
}

void pyrepo_free(struct pyrepo *r)
{
    if (!r)
        return;
    for (size_t i = 0; !r->borrows && i < r->files.n; i++)
        pymod_free(r->files.v[i]->mod);
    array_release(&r->files);
    for (size_t i = 0; i < r->by_name.n; i++) {
        struct places *p = r->by_name.entries[i].value;
        array_release(p);
    }
    map_release(&r->by_path);
    map_release(&r->places);
    map_release(&r->by_name);
    free(r->is_module);
    arena_release(&r->arena);
    free(r);
}

static struct span dir_of(struct span path)
{
    const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
    return (struct span){path.p, slash ? (size_t)(slash - path.p) : 0};
}

static struct span last_part(struct span path)
{
    const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
    if (!slash)
        return path;
    return (struct span){slash + 1, (size_t)(path.p + path.n - slash - 1)};
}

static struct place *make_place(struct pyrepo *r, struct span base)
{
    struct place *p = map_get(&r->places, base);
    if (p)
        return p;
    p = arena_zalloc(&r->arena, sizeof(*p));
    p->base = arena_span(&r->arena, base);
    map_put(&r->places, base, p);
    struct span name = last_part(base);
    struct places *same = map_get(&r->by_name, name);
    if (!same) {
        same = arena_zalloc(&r->arena, sizeof(*same));
        map_put(&r->by_name, name, same);
    }
    array_push(same, p);
    return p;
}

/* Register PATH and the folders above it; NULL when it is no Python file. */
static struct place *add_path(struct pyrepo *r, struct span path, bool *init)
{
    if (!span_ends(path, ".py") || path.n > MAX_PATH_BYTES)
        return NULL;
    struct span base = {path.p, path.n - 3};
    *init = span_is(last_part(base), "__init__");
    if (*init)
        base = dir_of(base);
    struct place *p = make_place(r, base);
    p->has_init |= *init;
    p->has_file |= !*init;
    for (struct span d = dir_of(path);; d = dir_of(d)) {
        struct place *folder = make_place(r, d);
        bool known = folder->folder;
        folder->folder = true;
        if (known || d.n == 0)
            break;
    }
    return p;
}

void pyrepo_add(struct pyrepo *r, struct pymod *m)
{
    bool init;
    struct span path = span_str(m->path);
    struct place *p = add_path(r, path, &init);
    struct pyfile *f = map_get(&r->by_path, path);
    r->indexed = false;
    if (f) {
        if (!r->borrows)
            pymod_free(f->mod);
    } else {
        f = arena_zalloc(&r->arena, sizeof(*f));
        map_put(&r->by_path, path, f);
        array_push(&r->files, f);
    }
    f->mod = m;
    f->place = p;
    if (p && init)
        p->init = m;
    else if (p)
        p->file = m;
}

void pyrepo_add_absent(struct pyrepo *r, const char *path)
{
    bool init;
    add_path(r, span_str(path), &init);
    r->indexed = false;
}

struct pymod *pyrepo_find(const struct pyrepo *r, struct span path)
{
    struct pyfile *f = map_get(&r->by_path, path);
    return f ? f->mod : NULL;
}

size_t pyrepo_count(const struct pyrepo *r)
{
    return r->files.n;
}

struct pymod *pyrepo_at(const struct pyrepo *r, size_t i)
{
    return i < r->files.n ? r->files.v[i]->mod : NULL;
}

struct pymod *place_mod(const struct place *p)
{
    return p->has_init ? p->init : p->file;
}

void repo_index(struct pyrepo *r)
{
    if (r->indexed)
        return;
    r->indexed = true;
    free(r->is_module);
    r->is_module = NULL;
    r->n_defs = 0;
    for (size_t i = 0; i < r->files.n; i++) {
        struct pyfile *f = r->files.v[i];
        struct span d = dir_of(span_str(f->mod->path));
        f->dir = map_get(&r->places, d);
        while (f->dir && d.n > 0 &&
               ((struct place *)map_get(&r->places, d))->has_init)
            d = dir_of(d);
        f->root = map_get(&r->places, d);
        f->first_class = (int)r->n_defs;
        r->n_defs += f->mod->defs.n;
    }
}

const struct pyfile *repo_file(const struct pyrepo *r, const struct pymod *m)
{
    struct pyfile *f = map_get(&r->by_path, span_str(m->path));
    return f && f->mod == m ? f : NULL;
}

struct place *repo_place(const struct pyrepo *r, struct span dir,
                         struct span rest)
{
    char path[MAX_PATH_BYTES];
    if (dir.n + rest.n + 1 >= sizeof(path))
        return NULL;
    size_t n = 0;
    if (dir.n)
        memcpy(path, dir.p, dir.n);
    n = dir.n;
    if (n > 0 && rest.n > 0)
        path[n++] = '/';
    for (size_t i = 0; i < rest.n; i++)
        path[n++] = rest.p[i] == '.' ? '/' : rest.p[i];
    return map_get(&r->places, (struct span){path, n});
}

static struct span head_of(struct span dotted)
{
    const char *dot = dotted.n ? memchr(dotted.p, '.', dotted.n) : NULL;
    return (struct span){dotted.p, dot ? (size_t)(dot - dotted.p) : dotted.n};
}

static size_t common_prefix(struct span a, struct span b)
{
    size_t n = MIN(a.n, b.n), i = 0;
    while (i < n && a.p[i] == b.p[i])
        i++;
    return i;
}

/* MODULE below any folder: the place nearest to file F, then the shortest
 * path, then the first by name. */
static struct place *locate_anywhere(const struct pyrepo *r,
                                     const struct pyfile *f, struct span module)
{
    struct place *best = NULL;
    const char *dot = memrchr(module.p, '.', module.n);
    struct span last =
        dot ? (struct span){dot + 1, (size_t)(module.p + module.n - dot - 1)}
            : module;
    struct places *same = map_get(&r->by_name, last);
    struct span path = span_str(f->mod->path);
    for (size_t i = 0; same && i < same->n; i++) {
        struct place *p = same->v[i];
        if ((!p->has_init && !p->has_file) || p->base.n < module.n)
            continue;
        size_t skip = p->base.n - module.n;
        bool match = skip == 0 || p->base.p[skip - 1] == '/';
        for (size_t k = 0; match && k < module.n; k++) {
            char c = p->base.p[skip + k];
            match = module.p[k] == (c == '/' ? '.' : c);
        }
        if (!match)
            continue;
        if (best) {
            size_t x = common_prefix(path, best->base);
            size_t y = common_prefix(path, p->base);
            if (y < x || (y == x && p->base.n > best->base.n))
                continue;
            if (y == x && p->base.n == best->base.n &&
                memcmp(p->base.p, best->base.p, p->base.n) > 0)
                continue;
        }
        best = p;
    }
    return best;
}

static enum located locate_absolute(struct pyrepo *r, const struct pyfile *f,
                                    struct span module, struct place **out)
{
    struct span top = head_of(module), none = {"", 0};
    bool stdlib = py_is_stdlib(top), package = py_is_package(top);
    struct span roots[3] = {f->root ? f->root->base : none, none,
                            SPAN_LIT("src")};
    bool missing = false;
    for (int i = 0; i < (stdlib ? 1 : 3); i++) {
        struct place *t = repo_place(r, roots[i], top);
        /* torch.py or types.py among scripts is no torch and no types */
        if (!t || (!t->has_init && (stdlib || package)))
            continue;
        struct place *p = repo_place(r, roots[i], module);
        if (p && (p->has_init || p->has_file || p->folder)) {
            *out = p;
            return LOC_FOUND;
        }
        missing |= t->has_init || t->has_file;
    }
    if (missing)
        return LOC_MISSING;
    if (stdlib || package)
        return LOC_EXTERNAL;
    for (struct span d = dir_of(span_str(f->mod->path)); d.n > 0;
         d = dir_of(d)) {
        struct place *p = repo_place(r, d, module);
        if (p && (p->has_init || p->has_file || p->folder)) {
            *out = p;
            return LOC_FOUND;
        }
    }
    *out = locate_anywhere(r, f, module);
    return *out ? LOC_FOUND : LOC_EXTERNAL;
}

enum located repo_locate(struct pyrepo *r, const struct pymod *m, int level,
                         struct span module, struct place **out)
{
    repo_index(r);
    *out = NULL;
    const struct pyfile *f = repo_file(r, m);
    if (!f || module.n >= MAX_PATH_BYTES)
        return LOC_MISSING;
    if (level == 0)
        return module.n ? locate_absolute(r, f, module, out) : LOC_MISSING;
    struct span d = dir_of(span_str(m->path));
    for (int i = 1; i < level; i++) {
        if (d.n == 0)
            return LOC_MISSING;
        d = dir_of(d);
    }
    *out = repo_place(r, d, module);
    return *out ? LOC_FOUND : LOC_MISSING;
}

const struct pymod *pyrepo_module(struct pyrepo *r, const struct pymod *m,
                                  int level, struct span module)
{
    struct place *p;
    return repo_locate(r, m, level, module, &p) == LOC_FOUND ? place_mod(p)
                                                             : NULL;
}

struct span pyrepo_module_name(struct pyrepo *r, const struct pymod *m)
{
    repo_index(r);
    const struct pyfile *f = repo_file(r, m);
    if (!f || !f->place)
        return (struct span){NULL, 0};
    struct span base = f->place->base;
    if (f->dir && f->dir->has_init && f->root->base.n > 0)
        base = (struct span){base.p + f->root->base.n + 1,
                             base.n - f->root->base.n - 1};
    else if (span_starts(base, "src/"))
        base = (struct span){base.p + 4, base.n - 4};
    char *p = arena_strdup(&r->arena, base);
    for (size_t i = 0; i < base.n; i++)
        if (p[i] == '/')
            p[i] = '.';
    return (struct span){p, base.n};
}

static void add_import(struct pymods *out, struct map *seen,
                       const struct pymod *self, const struct place *p)
{
    struct pymod *m = p ? place_mod(p) : NULL;
    if (!m || m == self || map_put(seen, span_str(m->path), m))
        return;
    array_push(out, m);
}

void pyrepo_imports(struct pyrepo *r, const struct pymod *m, struct pymods *out)
{
    struct map seen = MAP_INIT;
    for (size_t i = 0; i < m->syms.n; i++) {
        const struct pysym *s = &m->syms.v[i];
        struct place *p;
        if (s->kind != PYSYM_IMPORT && s->kind != PYSYM_FROM &&
            s->kind != PYSYM_STAR)
            continue;
        if (repo_locate(r, m, s->level, s->module, &p) != LOC_FOUND)
            continue;
        add_import(out, &seen, m, p);
        if (s->kind == PYSYM_FROM)
            add_import(out, &seen, m, repo_place(r, p->base, s->member));
    }
    map_release(&seen);
}
