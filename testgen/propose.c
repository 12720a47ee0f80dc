/* SPDX-License-Identifier: MIT */
/*
 * Values by evidence, strongest first: how the source uses an argument, its
 * annotation, its name (names.def), a plain default.
 */
#include "base.h"

#include "log.h"
#include "testgen/objects.h"
#include "testgen/propose.h"

enum name_kind { NK_INT, NK_FLOAT, NK_BOOL, NK_STR, NK_EXPR, NK_LIST };

struct name_row {
    const char *patterns;
    enum name_kind kind;
    const char *value;
};

static const struct name_row names[] = {
#define NAME(pattern, kind, value) {pattern, NK_##kind, value},
#define INPUT(pattern, form)
#include "testgen/names.def"
#undef NAME
#undef INPUT
};

struct input_row {
    const char *patterns, *form;
};

static const struct input_row input_forms[] = {
#define NAME(pattern, kind, value)
#define INPUT(pattern, form) {pattern, form},
#include "testgen/names.def"
#undef NAME
#undef INPUT
};

/* One alternative: '*' at the start or the end stands for any text. */
static bool alternative_fits(struct span pat, struct span name)
{
    bool head = pat.n && pat.p[0] == '*';
    bool tail = pat.n > 1 && pat.p[pat.n - 1] == '*';
    struct span core = {pat.p + head, pat.n - head - tail};
    if (head && tail)
        return memmem(name.p, name.n, core.p, core.n) != NULL;
    if (name.n < core.n)
        return false;
    if (head)
        return memcmp(name.p + name.n - core.n, core.p, core.n) == 0;
    if (tail)
        return memcmp(name.p, core.p, core.n) == 0;
    return span_eq(name, core);
}

static bool name_fits(const char *patterns, struct span name)
{
    const char *p = patterns;
    while (*p) {
        size_t n = strcspn(p, "|");
        if (alternative_fits((struct span){p, n}, name))
            return true;
        p += n + (p[n] == '|');
    }
    return false;
}

bool propose_name_fits(const char *patterns, struct span name)
{
    return name_fits(patterns, name);
}

static const struct name_row *find_name(struct span name)
{
    while (name.n > 1 && name.p[0] == '_') {
        name.p++;
        name.n--;
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (name_fits(names[i].patterns, name))
            return &names[i];
    return NULL;
}

static bool has_param(const struct params *ps, const char *name)
{
    return params_find(ps, span_str(name)) != NULL;
}

static bool source_has(const struct facts *f, const char *text)
{
    return memmem(f->mod->text.p, f->mod->text.n, text, strlen(text)) != NULL;
}

static bool takes_images(const struct facts *f)
{
    return has_param(&f->init, "image_size") ||
           has_param(&f->init, "img_size") ||
           has_param(&f->init, "num_classes");
}

static struct val *row_value(struct arena *a, const struct facts *f,
                             const struct name_row *row)
{
    struct val *v = NULL;
    struct err e;
    switch (row->kind) {
    case NK_STR:
        return val_strz(a, row->value);
    case NK_EXPR:
        return expr_val(a, row->value);
    case NK_INT:
        if (strcmp(row->value, "@channels") == 0)
            return val_int(a, takes_images(f) ? 3 : 32);
        break;
    case NK_FLOAT:
    case NK_BOOL:
    case NK_LIST:
        break;
    }
    if (val_parse_json(a, span_str(row->value), VAL_JSON_STRICT, &v, &e))
        bug("names.def: value '%s' is no JSON", row->value);
    return v;
}

struct val *propose_by_name(struct arena *a, const struct facts *f,
                            struct span name)
{
    const struct name_row *row = find_name(name);
    return row ? row_value(a, f, row) : NULL;
}

static int64_t parse_int(struct span s, int64_t dflt)
{
    int64_t v = 0;
    size_t i = 0;
    for (; i < s.n && i < 9 && s.p[i] >= '0' && s.p[i] <= '9'; i++)
        v = v * 10 + (s.p[i] - '0');
    return i > 0 && i == s.n ? v : dflt;
}

int64_t propose_int(const struct facts *f, const struct val *state,
                    const char *name, int64_t dflt)
{
    const struct val *v = state ? state_init(state, span_str(name)) : NULL;
    const struct param *p = params_find(&f->init, span_str(name));
    if (seq_items(v))
        v = val_at(seq_items(v), 0);
    if (v && v->type == VAL_INT)
        return v->i;
    return p && p->has_default ? parse_int(p->dflt, dflt) : dflt;
}

/* ---- constructor ---- */

/* `has` the word as a whole identifier: "int" in "Optional[int]". */
bool annotation_has(struct span s, const char *word)
{
    return span_has_word(s, span_str(word));
}

static bool is_module_like(const struct param *p)
{
    static const char *const attrs[] = {
        "parameters", "modules", "children",   "eval",         "train",
        "weight",     "forward", "state_dict", "named_modules"};
    for (size_t i = 0; i < p->attrs.n; i++)
        for (size_t k = 0; k < ARRAY_LEN(attrs); k++)
            if (span_is(p->attrs.v[i], attrs[k]))
                return true;
    return false;
}

/* A list, or a tuple where the source looks for tuples. */
static struct val *sequence(struct arena *a, const struct facts *f,
                            struct val *list)
{
    return source_has(f, "tuple)") ? tuple_val(a, list) : list;
}

static struct val *repeated(struct arena *a, const struct facts *f,
                            const struct val *one, int n)
{
    struct val *l = val_list(a);
    for (int i = 0; i < n; i++)
        val_push(a, l, val_copy(a, one));
    return sequence(a, f, l);
}

/* A module where one is called: widths as the state's dim. */
static struct val *module_value(struct arena *a, const struct facts *f,
                                const struct val *state, bool list)
{
    int64_t d = propose_int(f, state, "dim", PLAN_DIM);
    char text[160];
    snprintf(text, sizeof(text),
             list ? "[torch.nn.Linear(%d, %d), torch.nn.Linear(%d, %d)]"
                  : "torch.nn.Linear(%d, %d)",
             (int)d, (int)d, (int)d, (int)d);
    return expr_val(a, text);
}

static struct val *by_use(struct arena *a, const struct facts *f,
                          const struct val *state, const struct param *p,
                          const char **evidence)
{
    struct val *v = object_value(a, f, p, evidence);
    if (v)
        return v;
    if ((p->uses & USE_ATTRS) && is_module_like(p)) {
        *evidence = "used as a module";
        return module_value(a, f, state, false);
    }
    v = object_options(a, f, p, evidence);
    if (v)
        return v;
    if (p->uses & USE_CALLED) {
        const struct name_row *row = find_name(p->name);
        *evidence = "called in source";
        if (row && row->kind == NK_EXPR)
            return expr_val(a, p->uses & USE_BUILT
                                   ? row->value
                                   : arena_printf(a, "%s()", row->value));
        if (p->uses & USE_BUILT)
            return expr_val(a, "torch.nn.Linear");
        return module_value(a, f, state, false);
    }
    if (p->uses & USE_MODULES) {
        *evidence = "list of modules in source";
        return module_value(a, f, state, true);
    }
    return NULL;
}

static struct val *by_annotation(struct arena *a, const struct facts *f,
                                 const struct val *state, const struct param *p,
                                 const char **evidence)
{
    struct span s = p->annotation;
    bool list = annotation_has(s, "List") || annotation_has(s, "list") ||
                annotation_has(s, "Sequence") || annotation_has(s, "Iterable");
    *evidence = "annotation";
    if (annotation_has(s, "Literal")) {
        const char *q = memchr(s.p, '\'', s.n);
        if (!q)
            q = memchr(s.p, '"', s.n);
        const char *end = q ? memchr(q + 1, *q, s.p + s.n - q - 1) : NULL;
        if (end)
            return val_str(a, (struct span){q + 1, end - q - 1});
    }
    if (annotation_has(s, "Module"))
        return module_value(a, f, state, list);
    if (annotation_has(s, "Callable"))
        return expr_val(a, "torch.nn.functional.gelu");
    if (annotation_has(s, "dict") || annotation_has(s, "Dict"))
        return expr_val(a, "{}");
    struct val *named = propose_by_name(a, f, p->name);
    if (span_starts(s, "tuple[int") || span_starts(s, "Tuple[int") ||
        span_is(s, "tuple")) {
        int n = 1;
        for (size_t i = 0; i < s.n; i++)
            n += s.p[i] == ',';
        struct val *l = val_list(a);
        for (int i = 0; i < (n > 1 ? MIN(n, 8) : 2); i++)
            val_push(a, l,
                     named && named->type == VAL_INT ? named : val_int(a, 16));
        return tuple_val(a, l);
    }
    if (list && (!named || named->type == VAL_INT))
        return repeated(a, f, named ? named : val_int(a, 16),
                        p->unpacked ? p->unpacked : 2);
    if (annotation_has(s, "str") &&
        (!named || (named->type != VAL_STR && !annotation_has(s, "int"))))
        return p->choices.n ? val_str(a, p->choices.v[0])
               : memmem(p->name.p, p->name.n, "norm", 4) ? val_strz(a, "batch")
                                                         : val_strz(a, "relu");
    if (annotation_has(s, "bool") && (!named || named->type != VAL_BOOL))
        return val_bool(a, false);
    if (annotation_has(s, "int") && (!named || named->type == VAL_FLOAT))
        return val_int(a, named ? 1 : 16);
    if (annotation_has(s, "float") && (!named || named->type == VAL_BOOL))
        return val_float(a, 0.5);
    return NULL;
}

struct val *propose_init(struct arena *a, const struct facts *f,
                         const struct val *state, const struct param *p,
                         const char **evidence)
{
    struct val *v = NULL;
    *evidence = "name of an axis";
    if (f->is_function && name_fits("dim|axis|dims|axes", p->name))
        return val_int(a, -1);
    v = by_use(a, f, state, p, evidence);
    if (!v && p->annotation.n)
        v = by_annotation(a, f, state, p, evidence);
    if (v)
        return v;
    const struct name_row *row = find_name(p->name);
    bool sized = p->uses & (USE_ARITH | USE_LAYER | USE_RANGE);
    if (p->choices.n && !sized && (!row || row->kind != NK_INT)) {
        *evidence = "compared with in source";
        return val_str(a, p->choices.v[0]);
    }
    bool many = p->unpacked || (p->uses & (USE_ITERATED | USE_INDEXED));
    if (row) {
        v = row_value(a, f, row);
        *evidence = "name";
        if (v->type == VAL_LIST && sized && !many)
            return val_copy(a, val_at(v, 0));
        if (v->type == VAL_LIST && p->unpacked)
            return repeated(a, f, val_at(v, 0), p->unpacked);
        if (v->type == VAL_INT && many && !sized) {
            *evidence = "name, used as a sequence";
            return repeated(a, f, v, p->unpacked ? p->unpacked : 2);
        }
        return v->type == VAL_LIST ? sequence(a, f, v) : v;
    }
    *evidence = "use in source";
    if (many)
        return repeated(a, f, val_int(a, 16), p->unpacked ? p->unpacked : 2);
    if (sized)
        return val_int(a, 16);
    *evidence = "guess";
    return val_int(a, 4);
}

/* ---- forward ---- */

/* Width that the constructor's arguments suggest for the last dimension. */
static int64_t feature_size(const struct facts *f, const struct val *state)
{
    static const char *const keys[] = {
        "dim_in",      "in_features", "input_dim",    "in_dim",
        "input_size",  "d_model",     "dim",          "embed_dim",
        "hidden_size", "n_embd",      "emb_size",     "embedding_dim",
        "model_dim",   "in_channels", "hidden_dim",   "channels",
        "size",        "features",    "num_features", "normalized_shape"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (has_param(&f->init, keys[i])) {
            int64_t v = propose_int(f, state, keys[i], 0);
            if (v > 0)
                return v;
        }
    return PLAN_DIM;
}

static int64_t channel_size(const struct facts *f, const struct val *state)
{
    static const char *const keys[] = {
        "in_channels",  "in_chans",       "channels",     "in_planes",
        "inplanes",     "input_channels", "num_channels", "in_ch",
        "inp",          "in_channel",     "channel",      "n_channels",
        "num_features", "dim_in",         "dim",          "nf",
        "planes",       "input_nc",       "c1",           "ch_in",
        "cin",          "embed_dim",      "d_model",      "hidden_dim",
        "in_dim",       "in_c",           "num_feat",     "n_feats"};
    bool image =
        has_param(&f->init, "image_size") || has_param(&f->init, "img_size");
    for (size_t i = 0; i < ARRAY_LEN(keys) && (!image || i < 4); i++)
        if (has_param(&f->init, keys[i])) {
            int64_t v = propose_int(f, state, keys[i], 0);
            if (v > 0)
                return v;
        }
    return 3;
}

static const char *input_form(struct span name)
{
    for (size_t i = 0; i < ARRAY_LEN(input_forms); i++)
        if (name_fits(input_forms[i].patterns, name))
            return input_forms[i].form;
    return "";
}

/* Nodes and edges between them. */
static bool is_graph(const struct facts *f)
{
    for (size_t i = 0; i < f->forward.n; i++)
        if (strcmp(input_form(f->forward.v[i].name), "edges") == 0)
            return true;
    for (size_t i = 0; i < f->fields.n; i++)
        if (strcmp(input_form(key_field(f->fields.v[i].name)), "edges") == 0)
            return true;
    return false;
}

void propose_shape(const struct facts *f, const struct val *state, int rank,
                   bool first, int64_t *shape)
{
    int64_t side = propose_int(f, state, "image_size",
                               propose_int(f, state, "img_size", 32));
    int64_t frames =
        propose_int(f, state, "frames", propose_int(f, state, "num_frames", 4));
    int64_t tokens = propose_int(f, state, "seq_len", PLAN_TOKENS);
    shape[0] = is_graph(f) && rank == 2 ? PLAN_NODES : PLAN_BATCH;
    if (rank <= 3) {
        int64_t d = first ? channel_size(f, state) : feature_size(f, state);
        if (rank == 2)
            shape[1] = d;
        else if (rank == 3) {
            shape[1] = first ? d : tokens;
            shape[2] = first ? tokens : d;
        }
        return;
    }
    if (!first) { /* (B, ..., D) */
        for (int i = 1; i < rank - 1; i++)
            shape[i] = rank == 4 ? 8 : 4;
        shape[rank - 1] = feature_size(f, state);
        return;
    }
    shape[1] = channel_size(f, state);
    if (rank == 5)
        shape[2] = frames;
    for (int i = rank == 5 ? 3 : 2; i < rank; i++)
        shape[i] = side;
}

/* Names in an einops pattern say which dimension is what. */
static void shape_from_pattern(const struct facts *f, const struct val *state,
                               struct span pattern, int rank, int64_t *shape)
{
    int at = 0, nested = 0;
    bool first = memmem(pattern.p, pattern.n, " c ", 3) != NULL &&
                 memmem(pattern.p, pattern.n, "... c", 5) == NULL;
    propose_shape(f, state, rank, first, shape);
    if (memchr(pattern.p, '.', pattern.n))
        return;
    for (size_t i = 0; i < pattern.n && at < rank; i++) {
        char c = pattern.p[i];
        if (c == '(')
            nested++;
        else if (c == ')')
            at += --nested == 0;
        else if (c != ' ' && nested == 0) {
            size_t k = i;
            while (k < pattern.n && !strchr(" ()", pattern.p[k]))
                k++;
            struct span w = {pattern.p + i, k - i};
            if (span_is(w, "b"))
                shape[at] = PLAN_BATCH;
            else if (span_is(w, "d"))
                shape[at] = feature_size(f, state);
            else if (span_is(w, "n"))
                shape[at] = propose_int(f, state, "seq_len", PLAN_TOKENS);
            else if (span_is(w, "1"))
                shape[at] = 1;
            i = k - 1;
            at++;
        }
    }
}

/* The class itself speaks of sequences, whatever else the source holds. */
static bool is_sequence_class(const struct facts *f)
{
    const struct pydef *d = f->entry;
    if (!d)
        return false;
    struct span s = pymod_text(f->mod, d->start, d->end);
    static const char *const images[] = {"2d(",    "3d(",      "1d(",   "h, w",
                                         "height", "resnet",   "conv",  "Conv",
                                         "image",  "(2, 3)",   "pixel", "[2:]",
                                         "patch",  "interpol", "sample"};
    static const char *const words[] = {"Linear(", "LayerNorm", "Attention",
                                        "hidden_states"};
    bool sequence = false;
    for (size_t i = 0; i < ARRAY_LEN(images); i++)
        if (memmem(s.p, s.n, images[i], strlen(images[i])))
            return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        sequence = sequence || memmem(s.p, s.n, words[i], strlen(words[i]));
    return sequence;
}

/* Rank and order that the class, then the whole source suggests. */
static int default_rank(const struct facts *f, const struct val *state,
                        bool *first)
{
    int64_t space = propose_int(f, state, "spatial_dims", 0);
    *first = space >= 1 && space <= 3;
    if (*first)
        return (int)space + 2;
    if (is_graph(f))
        return 2;
    if (is_sequence_class(f))
        return 3;
    *first = true;
    if (has_param(&f->init, "frames") || has_param(&f->init, "num_frames") ||
        source_has(f, "Conv3d(") || source_has(f, "BatchNorm3d("))
        return 5;
    if (has_param(&f->init, "image_size") || has_param(&f->init, "img_size") ||
        source_has(f, "2d("))
        return 4;
    if (source_has(f, "1d(") && !source_has(f, "AdaptiveAvgPool1d("))
        return 3;
    *first = false;
    return 3;
}

/* Width of one head of attention. */
static int64_t head_size(const struct facts *f, const struct val *state)
{
    static const char *const sizes[] = {"attention_head_dim", "dim_head",
                                        "head_dim", "d_head"};
    static const char *const counts[] = {"num_attention_heads", "num_heads",
                                         "heads", "n_heads"};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        if (propose_int(f, state, sizes[i], 0) > 0)
            return propose_int(f, state, sizes[i], 0);
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        int64_t n = propose_int(f, state, counts[i], 0);
        if (n > 0 && feature_size(f, state) % n == 0)
            return feature_size(f, state) / n;
    }
    return 16;
}

static struct val *like_first(struct arena *a, const struct facts *f,
                              const struct val *state, const struct param *p)
{
    struct span keys[64];
    size_t n = state_order(f, state, keys, 64);
    for (size_t i = 0; i < n; i++) {
        struct val *v = state_input(state, keys[i]);
        int64_t shape[8];
        if (span_eq(key_field(keys[i]), p->name) || !input_is_tensor(v))
            continue;
        return input_tensor(a, p->name, shape, input_shape(v, shape, 8));
    }
    return NULL;
}

/* Nodes, edges between them, points and boxes. */
static struct val *of_graph(struct arena *a, const struct facts *f,
                            const struct val *state, const struct param *p,
                            const char *form)
{
    int64_t s[8] = {0};
    if (strcmp(form, "edges") == 0) {
        s[0] = 2;
        s[1] = 2 * PLAN_NODES;
        return input_ids(a, p->name, s, 2, PLAN_NODES - 1);
    }
    if (strcmp(form, "groups") == 0) {
        s[0] = PLAN_NODES;
        return is_graph(f) ? input_ids(a, p->name, s, 1, PLAN_BATCH - 1) : NULL;
    }
    if (strcmp(form, "edge") == 0) {
        s[0] = 2 * PLAN_NODES;
        return !is_graph(f) ? NULL
               : span_ends(p->name, "weight") || span_ends(p->name, "weights")
                   ? input_tensor(a, p->name, s, 1)
                   : input_ids(a, p->name, s, 1, 1);
    }
    if (strcmp(form, "edgefeat") == 0) {
        s[0] = 2 * PLAN_NODES;
        s[1] = propose_int(f, state, "edge_dim", feature_size(f, state));
        return is_graph(f) ? input_tensor(a, p->name, s, 2) : NULL;
    }
    if (strcmp(form, "points") == 0) {
        s[0] = PLAN_NODES;
        s[1] = 3;
        return is_graph(f) ? input_tensor(a, p->name, s, 2) : NULL;
    }
    s[0] = PLAN_NODES; /* boxes */
    s[1] = 4;
    return input_tensor(a, p->name, s, 2);
}

static struct val *by_form(struct arena *a, const struct facts *f,
                           const struct val *state, const struct param *p,
                           const char *form)
{
    int64_t s[8] = {PLAN_BATCH};
    int64_t tokens = propose_int(f, state, "seq_len", PLAN_TOKENS);
    struct val *like = like_first(a, f, state, p);

    if (strcmp(form, "index") == 0 && f->is_function) {
        int64_t of[8] = {PLAN_NODES};
        if (like)
            input_shape(like, of, 8);
        s[0] = of[0];
        return input_ids(a, p->name, s, 1, MIN(s[0], 16) - 1);
    }
    if (strcmp(form, "ids") == 0 || strcmp(form, "index") == 0) {
        if ((!source_has(f, "Embedding(") &&
             !annotation_has(p->annotation, "LongTensor")) ||
            (is_graph(f) && span_is(p->name, "x")))
            return NULL;
        s[1] = tokens;
        return input_ids(a, p->name, s, 2, 15);
    }
    if (strcmp(form, "none") == 0)
        return input_value(a, p->name, val_nil(a));
    if (strcmp(form, "count") == 0)
        return input_value(a, p->name, val_int(a, PLAN_BATCH));
    if (strcmp(form, "edges") == 0 || strcmp(form, "groups") == 0 ||
        strcmp(form, "edge") == 0 || strcmp(form, "edgefeat") == 0 ||
        strcmp(form, "points") == 0 || strcmp(form, "boxes") == 0)
        return of_graph(a, f, state, p, form);
    if (strcmp(form, "nodes") == 0)
        return input_value(
            a, p->name,
            val_int(a, span_ends(p->name, "nodes") ? PLAN_NODES : PLAN_BATCH));
    if (strcmp(form, "cats") == 0) {
        s[1] = tokens;
        s[2] = 2;
        return input_ids(a, p->name, s, 3, 3);
    }
    if (strcmp(form, "lengths") == 0) {
        struct val *v = input_ids(a, p->name, s, 1, tokens);
        val_set(a, v, "lo", val_int(a, tokens));
        return v;
    }
    if (strcmp(form, "mask") == 0) {
        int64_t of[8] = {0, tokens};
        size_t rank = like ? input_shape(like, of, 8) : 0;
        s[1] = rank == 4 ? of[2] : of[1];
        s[2] = of[3];
        return input_mask(a, p->name, s, rank == 4 ? 3 : 2);
    }
    if (strcmp(form, "like") == 0)
        return like;
    if (strcmp(form, "rotary") == 0) {
        struct val *items = val_list(a);
        s[0] = tokens;
        s[1] = head_size(f, state);
        for (int i = 0; i < 2; i++)
            val_push(a, items, input_tensor(a, p->name, s, 2));
        return input_value(a, p->name, items);
    }
    if (strcmp(form, "seq") == 0) {
        propose_shape(f, state, 3, false, s);
        s[2] = propose_int(f, state, "cross_attention_dim", s[2]);
        return input_tensor(a, p->name, s, 3);
    }
    if (strcmp(form, "step") == 0)
        return input_tensor(a, p->name, s, 1);
    if (strcmp(form, "side") == 0)
        return like ? input_value(a, p->name, val_int(a, 4)) : NULL;
    if (strcmp(form, "square") == 0) {
        s[0] = s[1] = tokens;
        return like ? input_tensor(a, p->name, s, 2) : NULL;
    }
    if (strcmp(form, "list") == 0) {
        propose_shape(f, state, 3, false, s);
        struct val *items = val_list(a);
        for (int i = 0; i < 2; i++)
            val_push(a, items, input_tensor(a, p->name, s, 3));
        return input_value(a, p->name, items);
    }
    int rank = strcmp(form, "image") == 0   ? 4
               : strcmp(form, "video") == 0 ? 5
                                            : 2;
    if (rank == 2 && !like)
        return NULL;
    propose_shape(f, state, rank, rank > 2, s);
    return input_tensor(a, p->name, s, (size_t)rank);
}

static struct val *by_annotation_input(struct arena *a, const struct facts *f,
                                       const struct val *state,
                                       const struct param *p)
{
    struct span s = p->annotation;
    if (annotation_has(s, "Tensor")) {
        if (annotation_has(s, "List") || annotation_has(s, "list") ||
            annotation_has(s, "Tuple") || annotation_has(s, "Sequence"))
            return by_form(a, f, state, p, "list");
        if (annotation_has(s, "LongTensor"))
            return by_form(a, f, state, p, "ids");
        return NULL;
    }
    if (annotation_has(s, "bool"))
        return input_value(a, p->name, val_bool(a, false));
    if (annotation_has(s, "int"))
        return input_value(a, p->name, val_int(a, 4));
    if (annotation_has(s, "float"))
        return input_value(a, p->name, val_float(a, 0.5));
    return NULL;
}

struct val *propose_input(struct arena *a, const struct facts *f,
                          const struct val *state, const struct param *p,
                          const char **evidence)
{
    int64_t s[8] = {0};
    struct val *v;
    bool first = false;

    *evidence = "annotation";
    v = p->annotation.n ? by_annotation_input(a, f, state, p) : NULL;
    if (v)
        return v;
    *evidence = "first use in forward";
    if (p->first.ids) {
        s[0] = PLAN_BATCH;
        s[1] = propose_int(f, state, "seq_len", PLAN_TOKENS);
        char name[80];
        snprintf(name, sizeof(name), "%.*s", (int)MIN(p->first.size.n, 79),
                 p->first.size.p ? p->first.size.p : "");
        int64_t hi = parse_int(p->first.size, 0);
        hi = hi ? hi : propose_int(f, state, name, 16);
        return input_ids(a, p->name, s, 2, MAX(hi, 1) - 1);
    }
    if (p->first.pattern.n) {
        int rank = abs(p->first.rank);
        rank = p->first.rank < 0 ? MAX(rank, default_rank(f, state, &first))
                                 : rank;
        rank = MIN(rank, 6);
        shape_from_pattern(f, state, p->first.pattern, rank, s);
        return input_tensor(a, p->name, s, (size_t)rank);
    }
    int rank = abs(p->first.rank);
    first = rank >= 4 || (rank == 3 && span_ends(p->first.layer, "1d"));
    if (rank && rank <= 6 && p->first.rank > 0) {
        propose_shape(f, state, rank, first, s);
        return input_tensor(a, p->name, s, (size_t)rank);
    }
    *evidence = "argument name";
    const char *form = p->first.layer.n ? "" : input_form(p->name);
    v = *form ? by_form(a, f, state, p, form) : NULL;
    if (v)
        return v;
    *evidence = p->first.layer.n ? "first layer" : "layers of the source";
    if (p->first.layer.n) {
        rank = is_graph(f) ? 2 : 3;
        first = false;
    } else {
        rank = default_rank(f, state, &first);
    }
    propose_shape(f, state, rank, first, s);
    return input_tensor(a, p->name, s, (size_t)rank);
}

void propose_rest(struct arena *a, const struct facts *f, struct val *state)
{
    const char *ev = "";
    for (size_t i = 0; i < f->init.n; i++) {
        const struct param *p = &f->init.v[i];
        if (p->has_default || p->kind == PARAM_VAR_KW ||
            state_init(state, p->name))
            continue;
        bool wanted = p->uses & (USE_MODULES | USE_CALLED | USE_ITERATED);
        if (p->kind == PARAM_VAR && (f->has_var_kw || !wanted))
            continue;
        struct val *v = propose_init(a, f, state, p, &ev);
        state_set_init(a, state, p->name, v, ev);
    }
    for (size_t i = 0; i < f->forward.n; i++) {
        const struct param *p = &f->forward.v[i];
        bool var = p->kind == PARAM_VAR;
        if (!p->has_default && p->kind != PARAM_VAR_KW && (!var || i == 0) &&
            !state_passes(state, p->name))
            propose_argument(a, f, state, p);
    }
}

struct val *propose_state(struct arena *a, const struct facts *f)
{
    struct val *state = state_new(a);
    propose_rest(a, f, state);
    return state;
}

struct val *propose_other_ranks(struct arena *a, const struct facts *f,
                                const struct val *state)
{
    struct val *s = state_copy(a, state);
    const struct val *in = val_get(state, "in");
    bool changed = false;
    for (size_t i = 0; i < val_len(in); i++) {
        const struct val *input = in->map.v[i];
        int64_t shape[8];
        size_t rank = input_shape(input, shape, 8);
        bool guessed = span_is(val_gets(input, "ev"), "layers of the source") ||
                       span_is(val_gets(input, "ev"), "argument name");
        if (!input_is_tensor(input) || !guessed || rank < 3 || rank > 4 ||
            !span_is(val_gets(input, "dtype"), "float32"))
            continue;
        rank = 7 - rank;
        propose_shape(f, state, (int)rank, rank == 4, shape);
        state_set_input(a, s, in->map.keys[i],
                        input_reshaped(a, input, shape, rank));
        changed = true;
    }
    return changed ? s : NULL;
}
