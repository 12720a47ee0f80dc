/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/static.h"

#include "array.h"
#include "evaluate/cuda/plan.h"
#include "evaluate/normal.h"
#include "mem.h"
#include "py/pytree.h"

struct statics {
    struct pyparser *py;
};

/* ---- rules ---- */

struct rule {
    const char *name; /* dotted name, or a word of a string or of C */
    const char *code;
    enum grade grade;
    const char *text;
};

/* Dotted names in Python, as written. "x.*" stands for all below x. */
static const struct rule python_names[] = {
    {"os._exit", "process_exit", GRADE_FORBID, "it ends its process"},
    {"os.abort", "process_exit", GRADE_FORBID, "it ends its process"},
    {"os.kill", "process_kill", GRADE_FORBID, "it signals processes"},
    {"os.killpg", "process_kill", GRADE_FORBID, "it signals processes"},
    {"sys._getframe", "introspection", GRADE_SUSPECT, "it reads frames"},
    {"inspect.*", "introspection", GRADE_SUSPECT, "it inspects its callers"},
    {"gc.*", "introspection", GRADE_SUSPECT, "it walks the heap"},
    {"threading.*", "threading", GRADE_SUSPECT, "it may start threads"},
    {"multiprocessing.*", "processes", GRADE_SUSPECT, "it may start processes"},
    {"subprocess.*", "processes", GRADE_SUSPECT, "it may start processes"},
    {"os.fork", "processes", GRADE_SUSPECT, "it may start processes"},
    {"os.system", "processes", GRADE_SUSPECT, "it may start processes"},
    {"os.popen", "processes", GRADE_SUSPECT, "it may start processes"},
    {"socket.*", "network", GRADE_SUSPECT, "it uses sockets"},
    {"os.write", "descriptors", GRADE_SUSPECT, "it writes to descriptors"},
    {"mmap.*", "descriptors", GRADE_SUSPECT, "it maps memory"},
    {"ctypes.*", "ctypes", GRADE_NOTE, "it calls C by ctypes"},
    {"torch.manual_seed", "seeds", GRADE_NOTE, "it sets the seed"},
    {"torch.set_num_threads", "threads_setting", GRADE_SUSPECT,
     "it changes the number of threads"},
};

/* Attributes of whatever object: frames, and what stands in for torch's own
 * operators. */
static const struct rule attributes[] = {
    {"tb_frame", "introspection", GRADE_SUSPECT, "it reads frames"},
    {"f_back", "introspection", GRADE_SUSPECT, "it reads frames"},
    {"f_locals", "introspection", GRADE_SUSPECT, "it reads frames"},
    {"f_globals", "introspection", GRADE_SUSPECT, "it reads frames"},
    {"__torch_function__", "overrides", GRADE_SUSPECT,
     "it overrides torch's operators"},
    {"__torch_dispatch__", "overrides", GRADE_SUSPECT,
     "it overrides torch's operators"},
};

/* Words that only an attack on a process needs: in strings of Python and
 * anywhere in C. */
static const struct rule words[] = {
    {"ptrace", "process_attack", GRADE_FORBID, "it reaches into processes"},
    {"process_vm_writev", "process_attack", GRADE_FORBID,
     "it reaches into processes"},
    {"process_vm_readv", "process_attack", GRADE_FORBID,
     "it reaches into processes"},
    {"/proc/self/mem", "process_attack", GRADE_FORBID,
     "it reaches into processes"},
    {"km_runner", "harness", GRADE_FORBID, "it reaches into the evaluator"},
};

static const struct rule c_names[] = {
    {"_exit", "process_exit", GRADE_FORBID, "it ends its process"},
    {"_Exit", "process_exit", GRADE_FORBID, "it ends its process"},
    {"kill", "process_kill", GRADE_FORBID, "it signals processes"},
    {"fork", "processes", GRADE_SUSPECT, "it may start processes"},
    {"clone", "processes", GRADE_SUSPECT, "it may start processes"},
    {"pthread_create", "threading", GRADE_SUSPECT, "it may start threads"},
    {"thrd_create", "threading", GRADE_SUSPECT, "it may start threads"},
    {"syscall", "syscalls", GRADE_SUSPECT, "it makes system calls"},
    {"constructor", "constructor", GRADE_SUSPECT, "it runs code when loaded"},
    {"dlsym", "introspection", GRADE_SUSPECT, "it looks symbols up"},
    {"asm", "assembly", GRADE_NOTE, "it has assembly"},
    {"__asm__", "assembly", GRADE_NOTE, "it has assembly"},
};

static bool matches(const char *pattern, struct span s)
{
    size_t n = strlen(pattern);
    if (n > 2 && pattern[n - 1] == '*')
        return s.n >= n - 1 && memcmp(s.p, pattern, n - 1) == 0;
    return span_is(s, pattern);
}

struct look {
    struct arena *a;
    struct static_result *out;
    struct span text;
    bool own_code; /* anything that makes kernels */
};

static void found(struct look *l, const struct rule *r, uint32_t line)
{
    finding_add(l->a, l->out->findings, r->code, r->grade, "static", (int)line,
                r->text);
    if (r->grade == GRADE_FORBID && !l->out->forbidden)
        l->out->forbidden = r->text;
}

/* ---- Python ---- */

static const char *const makers[] = {
    "triton",        "load_inline", "cpp_extension", "torch.library",
    "torch.compile", "numba",       "ctypes",        "cffi"};

static void look_name(struct look *l, struct span dotted, uint32_t line)
{
    struct span last = dotted;
    for (size_t i = dotted.n; i-- > 0;)
        if (dotted.p[i] == '.') {
            last = (struct span){dotted.p + i + 1, dotted.n - i - 1};
            break;
        }
    for (size_t i = 0; i < ARRAY_LEN(python_names); i++)
        if (matches(python_names[i].name, dotted))
            found(l, &python_names[i], line);
    for (size_t i = 0; i < ARRAY_LEN(attributes); i++)
        if (span_is(last, attributes[i].name))
            found(l, &attributes[i], line);
    for (size_t i = 0; i < ARRAY_LEN(makers); i++)
        l->own_code |=
            memmem(dotted.p, dotted.n, makers[i], strlen(makers[i])) != NULL;
}

static bool assigns_library(struct span target)
{
    return (span_starts(target, "torch.") &&
            !span_starts(target, "torch.backends.")) ||
           span_starts(target, "time.") || span_starts(target, "F.");
}

static void look_assignment(struct look *l, TSNode n)
{
    static const struct rule patch = {"", "monkey_patch", GRADE_SUSPECT,
                                      "it replaces functions of a library"};
    struct span left = pynode_dotted(l->text, pynode_field(n, "left"));
    if (left.n && assigns_library(left))
        found(l, &patch, pynode_line(n));
}

static void look_call(struct look *l, TSNode n)
{
    static const struct rule patch = {"", "monkey_patch", GRADE_SUSPECT,
                                      "it replaces functions of a library"};
    struct span f = pynode_dotted(l->text, pynode_field(n, "function"));
    TSNode args = pynode_field(n, "arguments");
    struct span first = {"", 0};
    if (!ts_node_is_null(args) && ts_node_named_child_count(args))
        first = pynode_dotted(l->text, ts_node_named_child(args, 0));
    if (span_is(f, "setattr") &&
        (span_starts(first, "torch") || span_is(first, "F") ||
         span_is(first, "time")))
        found(l, &patch, pynode_line(n));
}

static void look_import(struct look *l, TSNode n)
{
    TSNode module = pynode_field(n, "module_name");
    struct span name = pynode_dotted(l->text, module);
    char full[200];
    /* "import threading" as "threading.": any use counts from there. */
    for (uint32_t i = 0; i < ts_node_named_child_count(n); i++) {
        struct span s = pynode_text(l->text, ts_node_named_child(n, i));
        if (name.n)
            snprintf(full, sizeof(full), "%.*s.%.*s",
                     (int)MIN(name.n, (size_t)90), name.p,
                     (int)MIN(s.n, (size_t)90), s.p);
        else
            snprintf(full, sizeof(full), "%.*s.", (int)MIN(s.n, (size_t)90),
                     s.p);
        look_name(l, span_str(full), pynode_line(n));
    }
}

static bool enter(void *payload, TSNode n, const char *field UNUSED,
                  uint32_t depth UNUSED)
{
    struct look *l = payload;
    if (pynode_is(n, "comment"))
        return false;
    if (pynode_is(n, "string")) {
        struct span s = pynode_text(l->text, n);
        for (size_t i = 0; i < ARRAY_LEN(words); i++)
            if (memmem(s.p, s.n, words[i].name, strlen(words[i].name)))
                found(l, &words[i], pynode_line(n));
        return true; /* f-strings hold code */
    }
    if (pynode_is(n, "import_statement") ||
        pynode_is(n, "import_from_statement")) {
        look_import(l, n);
        return false;
    }
    if (pynode_is(n, "assignment"))
        look_assignment(l, n);
    if (pynode_is(n, "call"))
        look_call(l, n);
    if (pynode_is(n, "attribute") || pynode_is(n, "identifier")) {
        struct span d = pynode_dotted(l->text, n);
        if (d.n) {
            look_name(l, d, pynode_line(n));
            return false;
        }
    }
    return true;
}

/* ---- is it the reference? ---- */

struct definition {
    struct span name, base; /* base: the only one, when it is a plain name */
    bool is_class, empty;   /* empty: nothing in its body */
    char *normal;           /* own name replaced */
};

struct definitions {
    ARRAY(struct definition) v;
    ARRAY(struct definition) aliases; /* name = base */
};

static bool body_is_empty(struct span text, TSNode def)
{
    struct buf b = BUF_INIT(256);
    TSNode body = pynode_field(def, "body");
    bool empty = normal_python(&b, text, body, (struct span){"", 0}) == 0 &&
                 (strcmp(b.p, "{}") == 0 || strcmp(b.p, "{\npass }") == 0);
    buf_release(&b);
    return empty;
}

static void collect(struct definitions *d, struct span text, TSNode root)
{
    for (uint32_t i = 0; i < ts_node_named_child_count(root); i++) {
        TSNode n = ts_node_named_child(root, i), def = n;
        struct definition x = {0};
        struct buf b = BUF_INIT(1u << 21);
        if (pynode_is(n, "decorated_definition"))
            def = pynode_field(n, "definition");
        if (pynode_is(n, "expression_statement") &&
            ts_node_named_child_count(n) == 1) {
            TSNode s = ts_node_named_child(n, 0);
            x.name = pynode_dotted(text, pynode_field(s, "left"));
            x.base = pynode_dotted(text, pynode_field(s, "right"));
            if (pynode_is(s, "assignment") && x.name.n && x.base.n)
                array_push(&d->aliases, x);
            continue;
        }
        x.is_class = pynode_is(def, "class_definition");
        if (!x.is_class && !pynode_is(def, "function_definition"))
            continue;
        x.name = pynode_text(text, pynode_field(def, "name"));
        if (x.is_class) {
            TSNode bases = pynode_field(def, "superclasses");
            if (!ts_node_is_null(bases) &&
                ts_node_named_child_count(bases) == 1)
                x.base = pynode_dotted(text, ts_node_named_child(bases, 0));
            x.empty = body_is_empty(text, def);
        }
        if (normal_python(&b, text, n, x.name)) {
            buf_release(&b);
            continue;
        }
        x.normal = buf_detach(&b, NULL);
        array_push(&d->v, x);
    }
}

static void definitions_release(struct definitions *d)
{
    for (size_t i = 0; i < d->v.n; i++)
        free(d->v.v[i].normal);
    array_release(&d->v);
    array_release(&d->aliases);
}

/* Last definition of a name, as Python sees it. */
static const struct definition *named(const struct definitions *d,
                                      struct span name)
{
    for (size_t i = d->v.n; i-- > 0;)
        if (span_eq(d->v.v[i].name, name))
            return &d->v.v[i];
    return NULL;
}

/* NAME by itself, through aliases and empty subclasses. */
static const struct definition *entry(const struct definitions *d,
                                      struct span name)
{
    for (int hop = 0; hop < 8; hop++) {
        const struct definition *x = named(d, name);
        if (x && !(x->is_class && x->empty && x->base.n))
            return x;
        if (x) {
            name = x->base;
            continue;
        }
        for (size_t i = d->aliases.n; i-- > 0;)
            if (span_eq(d->aliases.v[i].name, name)) {
                name = d->aliases.v[i].base;
                goto next;
            }
        return NULL;
    next:;
    }
    return NULL;
}

static bool is_copy(const struct definitions *cand,
                    const struct definitions *ref)
{
    const struct definition *x = entry(cand, SPAN_LIT("ModelNew"));
    const struct definition *m = entry(ref, SPAN_LIT("Model"));
    if (!x || !m || strcmp(x->normal, m->normal))
        return false;
    /* The same text over another helper is another program. */
    for (size_t i = 0; i < ref->v.n; i++) {
        const struct definition *h = &ref->v.v[i];
        const struct definition *c = named(cand, h->name);
        if (!span_is(h->name, "Model") && c && strcmp(c->normal, h->normal))
            return false;
    }
    return true;
}

static bool reference_copy(struct statics *s, struct span code, TSNode root,
                           struct span source)
{
    struct definitions c = {0}, r = {0};
    struct pytree tree;
    bool copy = false;
    if (!source.n || pytree_parse(&tree, s->py, source, 0, NULL))
        return false;
    collect(&c, code, root);
    collect(&r, source, ts_tree_root_node(tree.tree));
    copy = is_copy(&c, &r);
    definitions_release(&c);
    definitions_release(&r);
    pytree_release(&tree);
    return copy;
}

/* ---- C ---- */

static void look_c(struct look *l)
{
    uint32_t line = 1;
    size_t at = 0, seen = 0;
    struct span t;
    while (normal_c_token(l->text, &at, &t)) {
        for (; l->text.p + seen < t.p; seen++)
            line += l->text.p[seen] == '\n';
        for (size_t k = 0; k < ARRAY_LEN(c_names); k++)
            if (span_is(t, c_names[k].name))
                found(l, &c_names[k], line);
        for (size_t k = 0; k < ARRAY_LEN(words); k++)
            if (memmem(t.p, t.n, words[k].name, strlen(words[k].name)))
                found(l, &words[k], line);
    }
}

/* ---- both ---- */

struct statics *statics_new(struct err *e)
{
    struct statics *s = xcalloc(1, sizeof(*s));
    s->py = pyparser_new(e);
    if (!s->py) {
        free(s);
        return NULL;
    }
    return s;
}

void statics_free(struct statics *s)
{
    if (!s)
        return;
    pyparser_free(s->py);
    free(s);
}

static void contract(struct look *l, bool ok, const char *code)
{
    struct val *m = val_map(l->a), *codes = val_list(l->a);
    if (code)
        val_push(l->a, codes, val_strz(l->a, code));
    val_set(l->a, m, "ok", val_bool(l->a, ok));
    val_set(l->a, m, "grade", val_strz(l->a, "static"));
    val_set(l->a, m, "codes", codes);
    l->out->contract = m;
}

/* Source of a packed task. */
static struct span source_of(struct arena *a, struct span task)
{
    struct val *v;
    size_t used;
    if (val_unpack(a, task, &used, &v, NULL))
        return (struct span){"", 0};
    return val_gets(v, "source");
}

/* The plan as its reader sees it: it does not know comments, in which the rest
 * of the normal form has nothing. */
static int normal_plan(struct buf *out, struct arena *a, struct span code)
{
    struct plan p;
    struct err e;

    if (plan_read(&p, a, code, &e))
        return 0; /* it is refused, whatever it holds */
    for (size_t i = 0; i < p.n; i++)
        if (buf_printf(out, "\n%d %s ", (int)p.v[i].verb,
                       p.v[i].kernel ? p.v[i].kernel : "") ||
            normal_c(out, p.v[i].rest))
            return -1;
    return 0;
}

static int look_native(struct look *l, bool plan, struct buf *normal)
{
    struct buf plain = BUF_INIT(4u << 20);
    int rc = normal_c(&plain, l->text);

    if (!rc && plan)
        rc = normal_plan(&plain, l->a, l->text);
    if (!rc) {
        look_c(l);
        rc = buf_addspan(normal, buf_span(&plain));
    }
    buf_release(&plain);
    contract(l, true, NULL);
    return rc;
}

int statics_look(struct statics *s, struct arena *a, struct span code,
                 struct span language, struct span task, struct buf *normal,
                 struct static_result *out, struct err *e)
{
    struct look l = {.a = a, .out = out, .text = code};
    struct pyvisit v = {enter, NULL, &l};
    struct pytree tree;
    TSNode root;

    *out = (struct static_result){.findings = val_list(a)};
    if (span_is(language, "c") || span_is(language, "cuda"))
        return look_native(&l, span_is(language, "cuda"), normal)
                   ? err_set(e, ERR_TOO_LARGE, "the source is too large")
                   : 0;
    if (pytree_parse(&tree, s->py, code, 0, NULL)) {
        contract(&l, true, NULL);
        return buf_addspan(normal, code)
                   ? err_set(e, ERR_TOO_LARGE, "the source is too large")
                   : 0;
    }
    root = ts_tree_root_node(tree.tree);
    if (normal_python(normal, code, root, (struct span){"", 0})) {
        pytree_release(&tree);
        return err_set(e, ERR_TOO_LARGE, "the source is too large");
    }
    pytree_walk(root, &v);
    if (reference_copy(s, code, root, source_of(a, task)))
        contract(&l, false, "reference_copy");
    else
        contract(&l, true, l.own_code ? NULL : "library_only");
    pytree_release(&tree);
    return 0;
}
