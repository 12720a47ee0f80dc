/* SPDX-License-Identifier: MIT */
/* Any bytes as a Python file of a repository: decoding, model, resolution of
 * all that it reads. Indices and offsets of the model must hold. */
#include "base.h"

#include "log.h"
#include "py/pyrepo.h"
#include "utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_range(const struct pymod *m, uint32_t start, uint32_t end)
{
    if (start > end || end > m->text.n)
        bug("range %u-%u of %zu bytes", start, end, m->text.n);
}

static void check_index(int i, size_t n)
{
    if (i < -1 || (i >= 0 && (size_t)i >= n))
        bug("index %d of %zu", i, n);
}

static void check_model(const struct pymod *m)
{
    for (size_t i = 0; i < m->stmts.n; i++) {
        const struct pystmt *s = &m->stmts.v[i];
        check_range(m, s->start, s->end);
        check_index(s->parent, i);
        check_index(s->first_def + s->n_defs - 1, m->globals.n);
    }
    for (size_t i = 0; i < m->syms.n; i++) {
        const struct pysym *s = &m->syms.v[i];
        check_range(m, s->start, s->end);
        check_range(m, s->value_start, s->value_end);
        check_index(s->earlier, i);
        check_index(s->def, m->defs.n);
        check_index(s->stmt, m->stmts.n);
        check_index(s->scope, m->scopes.n);
    }
    for (size_t i = 0; i < m->defs.n; i++) {
        const struct pydef *d = &m->defs.v[i];
        check_range(m, d->start, d->end);
        check_range(m, d->def_start, d->body_start);
        check_index(d->outer, i);
        check_index(d->sym, m->syms.n);
        for (size_t k = 0; k < d->bases.n; k++)
            check_range(m, d->bases.v[k].start, d->bases.v[k].end);
    }
    for (size_t i = 0; i < m->reads.n; i++) {
        const struct pyread *r = &m->reads.v[i];
        check_range(m, r->at, r->end);
        if (i > 0 && r->at < m->reads.v[i - 1].at)
            bug("reads out of order");
        if (utf8_valid(r->dotted) < r->dotted.n)
            bug("name is not UTF-8");
    }
}

static void resolve_all(struct pyrepo *repo, const struct pymod *m)
{
    for (size_t i = 0; i < MIN(m->reads.n, (size_t)200); i++) {
        struct pyref ref =
            pyrepo_resolve(repo, m, m->reads.v[i].at, m->reads.v[i].dotted);
        pyrepo_ref_name(repo, pyrepo_deref(repo, ref));
    }
    for (size_t i = 0; i < MIN(m->defs.n, (size_t)50); i++) {
        const struct pydef *d = &m->defs.v[i];
        struct pyreads r = {0};
        pyrepo_is_module_class(repo, m, d);
        pymod_reads(m, d->start, d->end, &r);
        pyreads_release(&r);
        pymod_method(m, d, "forward");
        pymod_stmt_at(m, d->start);
    }
    struct pymods files = {0};
    pyrepo_imports(repo, m, &files);
    array_release(&files);
}

static struct pyparser *parser;

static void add(struct pyrepo *repo, const char *path, struct span text)
{
    struct err e;
    struct pymod *m = pymod_new(parser, path, text, &e);

    if (m)
        pyrepo_add(repo, m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e;
    struct buf text = BUF_INIT(PY_MAX_SOURCE);

    if (!parser && !(parser = pyparser_new(&e)))
        die_err(&e);
    if (py_decode(&text, (struct span){(const char *)data, size}, &e) == 0) {
        struct pyrepo *repo = pyrepo_new();
        if (utf8_valid(buf_span(&text)) < text.n)
            bug("decoded text is not UTF-8");
        add(repo, "pkg/m.py", buf_span(&text));
        add(repo, "pkg/__init__.py",
            SPAN_LIT("from .m import *\n"
                     "from .n import B\n"));
        add(repo, "pkg/n.py",
            SPAN_LIT("import torch.nn as nn\nfrom pkg import *\n"
                     "from .m import A, B\nclass C(A, nn.Module): x = B.y\n"));
        struct pymod *m = pyrepo_find(repo, SPAN_LIT("pkg/m.py"));
        if (m)
            check_model(m);
        for (size_t i = 0; i < pyrepo_count(repo); i++)
            resolve_all(repo, pyrepo_at(repo, i));
        pyrepo_free(repo);
    }
    buf_release(&text);
    return 0;
}
