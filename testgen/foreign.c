/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <ctype.h>

#include "py/pymod.h"
#include "schema.h"
#include "testgen/foreign.h"
#include "testgen/state.h"

#define NAME_MAX_ 200 /* bytes of a name that is taken over */
#define TAIL_MAX  (1u << 20)
#define DIMS_MAX  8

/* ---- place and origin ---- */

/* Number behind WORD in a folder of PATH: "level3/", "level_3/"; -1 = none. */
static int64_t number_after(const char *path, const char *word)
{
    int64_t found = -1;
    for (const char *p = path; (p = strstr(p, word)); p++) {
        const char *q = p + strlen(word);
        q += *q == '_';
        if ((p == path || p[-1] == '/') && isdigit((unsigned char)*q) &&
            strspn(q, "0123456789") < 7)
            found = strtoll(q, NULL, 10);
    }
    return found;
}

static void set_place(struct arena *a, struct val *task, int64_t level,
                      int64_t problem)
{
    if (level >= 0)
        val_set(a, task, "level", val_int(a, level));
    if (problem >= 0)
        val_set(a, task, "problem", val_int(a, problem));
}

static void start(struct draft *d, struct arena *a, const char *path,
                  const char *form)
{
    struct val *origin = val_map(a);
    memset(d, 0, sizeof(*d));
    d->tail = SPAN_LIT("");
    d->task = rec_new(a, "task");
    val_set(a, origin, "path", val_text(a, span_str(path)));
    val_set(a, origin, "form", val_strz(a, form));
    val_set(a, d->task, "origin", origin);
}

static void set_name(struct arena *a, struct draft *d, struct span name)
{
    val_set(a, d->task, "name",
            val_text(a, (struct span){name.p, MIN(name.n, NAME_MAX_)}));
}

/* Last part of PATH without its suffix. */
static struct span base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct span s = span_str(slash ? slash + 1 : path);
    const char *dot = memrchr(s.p, '.', s.n);
    if (dot && dot > s.p)
        s.n = (size_t)(dot - s.p);
    return s;
}

static bool is_identifier(struct span s)
{
    return s.n <= NAME_MAX_ && py_is_identifier(s);
}

/* ---- Python files ---- */

/* The class that the file is about: Model, else the last one. */
static struct span entry_class(const struct pymod *m)
{
    const struct pydef *d = pymod_def(m, SPAN_LIT("Model"));
    if (d && d->is_class)
        return SPAN_LIT("Model");
    for (size_t i = m->defs.n; i-- > 0;)
        if (m->defs.v[i].is_class && m->defs.v[i].outer < 0)
            return m->defs.v[i].name;
    return (struct span){NULL, 0};
}

int foreign_python(struct draft *d, struct arena *a, struct pyparser *p,
                   const char *path, struct span text, struct err *e)
{
    struct pymod *m;
    const struct pydef *get;
    struct span entry = {NULL, 0}, base = base_of(path);
    int64_t level = number_after(path, "level");
    if (!memmem(text.p, text.n, "get_inputs", 10))
        return 1;
    m = pymod_new_outline(p, path, text, e);
    if (!m)
        return -1;
    get = pymod_def(m, SPAN_LIT("get_inputs"));
    if (get && !get->is_class)
        entry = arena_span(a, entry_class(m));
    pymod_free(m);
    if (!entry.n)
        return 1;
    start(d, a, path, "kernelbench");
    d->source = text;
    d->entry = entry;
    set_name(a, d, base);
    if (level >= 0 && base.n && isdigit((unsigned char)*base.p)) {
        set_place(a, d->task, level, strtol(base.p, NULL, 10));
        val_set(a, d->task, "benchmark", val_strz(a, "kernelbench"));
    }
    return 0;
}

/* ---- robust-kbench ---- */

/* FIRST[0] of the configuration with SHARED[0] over it. */
static struct val *merged(struct arena *a, const struct val *config,
                          const char *first)
{
    const struct val *shared =
        val_at(val_get(config, "single_shared_configs"), 0);
    const struct val *v = val_at(val_get(config, first), 0);
    struct val *out = v && v->type == VAL_MAP ? val_copy(a, v) : val_map(a);
    for (size_t i = 0; shared && shared->type == VAL_MAP && i < val_len(shared);
         i++)
        val_set(a, out, arena_strdup(a, shared->map.keys[i]),
                val_copy(a, shared->map.v[i]));
    return out;
}

int foreign_folder(struct draft *d, struct arena *a, const char *path,
                   struct span text, const struct val *config, struct err *e)
{
    struct buf b = BUF_INIT(TAIL_MAX);
    struct val *empty = val_list(a);
    if (!config || config->type != VAL_MAP ||
        !val_get(config, "single_input_configs"))
        return err_set(e, ERR_BROKEN_INPUT,
                       "config_forward.json has no single_input_configs");
    start(d, a, path, "robust-kbench");
    d->source = text;
    d->entry = SPAN_LIT("Model");
    const char *end = strrchr(path, '/');
    struct span folder = {path, end ? (size_t)(end - path) : 0};
    set_name(a, d, folder.n ? base_of(arena_strdup(a, folder)) : base_of(path));
    val_set(a, d->task, "benchmark", val_strz(a, "robust-kbench"));
    set_place(a, d->task, number_after(path, "level"),
              number_after(path, "task"));
    buf_adds(&b, "import functools\n\nget_inputs = functools.partial("
                 "get_inputs, **");
    py_literal(&b, merged(a, config, "single_input_configs"));
    buf_adds(&b, ")\n\n\ndef get_init_inputs():\n    return [");
    py_literal(&b, empty);
    buf_adds(&b, ", ");
    py_literal(&b, merged(a, config, "single_init_configs"));
    if (buf_adds(&b, "]\n")) {
        buf_release(&b);
        return err_set(e, ERR_TOO_LARGE, "config_forward.json is too large");
    }
    d->tail = arena_span(a, buf_span(&b));
    buf_release(&b);
    return 0;
}

/* ---- FlashInfer-Bench ---- */

/* Length of axis NAME, -1 when the definition has no such axis. */
static int64_t axis_of(const struct val *v, const struct val *workload,
                       const char *name)
{
    const struct val *axis = val_get(val_get(v, "axes"), name);
    if (!axis)
        return -1;
    if (span_is(val_gets(axis, "type"), "const"))
        return val_geti(axis, "value", -1);
    return val_geti(val_get(workload, "axes"), name, FOREIGN_AXIS);
}

static int add_shape(struct buf *b, struct arena *a, const struct val *v,
                     const struct val *workload, const struct val *shape,
                     struct err *e)
{
    buf_addc(b, '[');
    for (size_t i = 0; i < val_len(shape); i++) {
        struct span s = val_as_str(val_at(shape, i));
        int64_t n = s.p ? axis_of(v, workload, arena_strdup(a, s)) : -1;
        if (n < 0 || i >= DIMS_MAX)
            return err_set(e, ERR_BROKEN_INPUT, "no length for the axis '%.*s'",
                           (int)MIN(s.n, 80), s.p ? s.p : "");
        buf_printf(b, "%s%" PRId64, i ? ", " : "", n);
    }
    return buf_addc(b, ']');
}

/* The expression that draws input NAME. */
static int add_draw(struct buf *b, struct arena *a, const struct val *v,
                    const struct val *workload, const char *name,
                    const struct val *in, struct err *e)
{
    static const char *const floats[] = {"float32", "float16", "bfloat16",
                                         "float64"};
    static const char *const ints[] = {"int64", "int32", "int16", "int8"};
    const struct val *shape = val_get(in, "shape");
    const struct val *given = val_get(val_get(workload, "inputs"), name);
    struct span dtype = val_gets(in, "dtype"), type = val_gets(given, "type");
    if (!shape || shape->type == VAL_NIL) {
        const struct val *value = val_get(given, "value");
        struct val one = {.type = VAL_FLOAT, .f = 1.0};
        return py_literal(b, value ? value : &one);
    }
    if (type.p && !span_is(type, "random"))
        return err_set(e, ERR_NO_PROPOSAL,
                       "input '%s' is kept in a file of its own", name);
    if (span_in(dtype, floats, ARRAY_LEN(floats)))
        buf_adds(b, "torch.randn(");
    else if (!type.p && span_in(dtype, ints, ARRAY_LEN(ints)))
        return err_set(e, ERR_NO_PROPOSAL,
                       "no workload says which integers input '%s' takes",
                       name);
    else if (span_in(dtype, ints, ARRAY_LEN(ints)) || span_is(dtype, "bool"))
        buf_adds(b, "torch.randint(0, 2, ");
    else
        return err_set(e, ERR_NO_PROPOSAL, "input '%s' has dtype '%.*s'", name,
                       (int)MIN(dtype.n, 40), dtype.p ? dtype.p : "");
    if (add_shape(b, a, v, workload, shape, e) < 0)
        return -1;
    return buf_printf(b, ", dtype=torch.%.*s)", (int)dtype.n, dtype.p);
}

static int definition_tail(struct buf *b, struct arena *a, const struct val *v,
                           const struct val *workload, struct err *e)
{
    const struct val *in = val_get(v, "inputs");
    buf_adds(b, "import torch\n\n\nclass Model(torch.nn.Module):\n"
                "    def forward(self");
    for (size_t i = 0; i < in->map.n; i++) {
        if (!is_identifier(in->map.keys[i]))
            return err_set(e, ERR_BROKEN_INPUT, "an input has no usable name");
        buf_adds(b, ", ");
        buf_addspan(b, in->map.keys[i]);
    }
    buf_adds(b, "):\n        return run(");
    for (size_t i = 0; i < in->map.n; i++) {
        buf_adds(b, i ? ", " : "");
        buf_addspan(b, in->map.keys[i]);
    }
    buf_adds(b, ")\n\n\ndef get_inputs():\n    return [");
    for (size_t i = 0; i < in->map.n; i++) {
        buf_adds(b, i ? ",\n            " : "");
        if (add_draw(b, a, v, workload, arena_strdup(a, in->map.keys[i]),
                     in->map.v[i], e) < 0)
            return -1;
    }
    return buf_adds(b, "]\n\n\ndef get_init_inputs():\n    return []\n");
}

int foreign_definition(struct draft *d, struct arena *a, const char *path,
                       const struct val *v, const struct val *workload,
                       struct err *e)
{
    const struct val *in = val_get(v, "inputs"), *axes = val_get(v, "axes");
    struct span text = val_gets(v, "reference");
    struct buf b = BUF_INIT(TAIL_MAX);
    int rc;
    if (!text.n || !in || in->type != VAL_MAP || !axes ||
        axes->type != VAL_MAP || !val_get(v, "outputs"))
        return 1;
    start(d, a, path, "flashinfer-bench");
    d->source = text;
    d->entry = SPAN_LIT("Model");
    set_name(a, d, val_gets(v, "name").n ? val_gets(v, "name") : base_of(path));
    val_set(a, d->task, "benchmark", val_strz(a, "flashinfer-bench"));
    rc = definition_tail(&b, a, v, workload, e);
    if (rc < 0 && b.full)
        err_set(e, ERR_TOO_LARGE, "the definition is too large");
    d->tail = arena_span(a, buf_span(&b));
    buf_release(&b);
    return rc < 0 ? -1 : 0;
}

/* ---- rows of data sets ---- */

/* First of the dotted NAMES that V has as a text that is not empty. */
static struct span text_at(const struct val *v, const char *const *names)
{
    for (; *names; names++) {
        struct span s = val_as_str(val_path(v, *names));
        if (s.n)
            return s;
    }
    return (struct span){NULL, 0};
}

static int64_t number_in(const struct val *v, const char *const *names)
{
    for (; *names; names++) {
        const struct val *n = val_path(v, *names);
        if (n && (n->type == VAL_INT || n->type == VAL_FLOAT))
            return val_as_int(n, -1);
    }
    return -1;
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* One licence, or all of a list, which hold together. */
static void set_licence(struct arena *a, struct val *origin,
                        const struct val *v)
{
    struct val *map = val_map(a), *spdx = v ? val_text(a, val_as_str(v)) : NULL;
    if (!v)
        return;
    if (v->type == VAL_LIST) {
        spdx = val_strz(a, "");
        for (size_t i = 0; i < MIN(val_len(v), 8); i++) {
            struct span s = val_as_str(val_at(v, i));
            spdx = val_strf(a, "%.*s%s%.*s", (int)spdx->s.n, spdx->s.p,
                            spdx->s.n ? " AND " : "", (int)MIN(s.n, 80),
                            s.p ? s.p : "");
        }
    }
    val_set(a, map, "spdx", spdx);
    val_set(a, map, "evidence", val_strz(a, "row"));
    val_set(a, origin, "licence", map);
}

static void copy_text(struct arena *a, struct val *to, const char *key,
                      struct span s)
{
    if (s.n && s.n <= NAME_MAX_)
        val_set(a, to, key, val_text(a, s));
}

int foreign_row(struct draft *d, struct arena *a, const char *path,
                const struct val *v, struct err *e)
{
    struct span source = text_at(
        v, NAMES("python_code", "reward_model.ground_truth", "reference_code",
                 "ref_code", "code", "pytorch_code", "PyTorch_Code_Module"));
    struct span entry =
        text_at(v, NAMES("entry_point", "extra_info.entry_point"));
    struct span name = text_at(v, NAMES("module_name", "extra_info.module_name",
                                        "name", "Op_Name", "entry_point"));
    int64_t level =
        number_in(v, NAMES("level", "extra_info.level", "Level_ID"));
    int64_t problem = number_in(v, NAMES("problem_id"));
    const struct val *licence = val_get(v, "licenses");
    if (!source.n)
        return 1;
    start(d, a, path, "row");
    d->source = source;
    d->entry = entry.n ? entry : SPAN_LIT("Model");
    set_name(a, d, name.n ? name : d->entry);
    if (!is_identifier(d->entry))
        return err_set(e, ERR_BROKEN_INPUT, "the entry point is no name");
    if (!memmem(source.p, source.n, "get_inputs", 10))
        return err_set(e, ERR_NO_PROPOSAL, "the source has no get_inputs");
    set_place(a, d->task, level, problem);
    if (level >= 0 && problem >= 0)
        val_set(a, d->task, "benchmark", val_strz(a, "kernelbench"));
    struct val *origin = val_get(d->task, "origin");
    copy_text(a, origin, "repo",
              text_at(v, NAMES("repo_name", "extra_info.repo_name", "repo")));
    copy_text(a, origin, "commit", text_at(v, NAMES("sha", "commit")));
    copy_text(a, origin, "name", name);
    copy_text(a, origin, "source",
              text_at(v, NAMES("data_source", "extra_info.data_source")));
    copy_text(a, origin, "uuid", text_at(v, NAMES("uuid", "extra_info.uuid")));
    set_licence(a, origin, licence ? licence : val_get(v, "license"));
    return 0;
}
