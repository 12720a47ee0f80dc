/* SPDX-License-Identifier: MIT */
/* From messages of PyTorch 2.11, einops and CPython to the first change of the
 * state that is tried. */
#include "base.h"

#include <check.h>

#include "testgen/refine.h"

Suite *testgen_refine_suite(void);

static struct arena a = ARENA_INIT;
static struct pyparser *parser;
static struct facts f;

static const char source[] =
    "class M(nn.Module):\n"
    "    def __init__(self, dim, heads, mode='a', size=None):\n"
    "        assert mode in ('a', 'b')\n"
    "    def forward(self, x, mask=None, **rest):\n"
    "        return x\n";

static void setup(void)
{
    struct err e;
    parser = pyparser_new(&e);
    ck_assert_ptr_nonnull(parser);
    ck_assert_int_eq(
        facts_read(&f, parser, span_str(source), SPAN_LIT("M"), &e), 0);
}

static void teardown(void)
{
    facts_release(&f);
    pyparser_free(parser);
    arena_release(&a);
}

static struct val *parse(const char *json)
{
    struct val *v = NULL;
    struct err e;
    ck_assert_msg(!val_parse_json(&a, span_str(json), VAL_JSON_STRICT, &v, &e),
                  "%s: %s", json, e.msg);
    return v;
}

/* init of 64 and 5, input x of shape 2, 16, 32 (or SHAPE). */
static struct val *start(const char *shape)
{
    struct val *s = state_new(&a);
    state_set_init(&a, s, SPAN_LIT("dim"), val_int(&a, 64), "");
    state_set_init(&a, s, SPAN_LIT("heads"), val_int(&a, 5), "");
    int64_t dims[] = {2, 16, 32};
    struct val *x = input_tensor(&a, SPAN_LIT("x"), dims, 3);
    if (shape)
        val_set(&a, x, "shape", parse(shape));
    state_set_input(&a, s, SPAN_LIT("x"), x);
    return s;
}

/* What the best move changed, as "x [2,16,64]" or "dim 32". */
static const char *changed(const struct val *from, const struct val *to)
{
    struct buf b = BUF_INIT(4096);
    const struct val *init = val_get(to, "init"), *in = val_get(to, "in");
    for (size_t i = 0; i < val_len(init); i++) {
        struct span k = init->map.keys[i];
        const struct val *old = state_init(from, k);
        const struct val *now = val_get(init->map.v[i], "v");
        if (old && val_equal(old, now))
            continue;
        buf_printf(&b, "%.*s ", (int)k.n, k.p);
        ck_assert_int_eq(val_json(&b, now), 0);
    }
    for (size_t i = 0; i < val_len(in); i++) {
        struct span k = in->map.keys[i];
        const struct val *old = state_input(from, k), *now = in->map.v[i];
        if (old && val_equal(old, now))
            continue;
        buf_printf(&b, "%.*s ", (int)k.n, k.p);
        const struct val *shape = val_get(now, "shape");
        const struct val *items = val_get(now, "items");
        if (shape)
            ck_assert_int_eq(val_json(&b, shape), 0);
        else if (items)
            buf_printf(&b, "list of %zu", val_len(items));
        else
            ck_assert_int_eq(val_json(&b, val_get(now, "value")), 0);
        struct span t = val_gets(now, "dtype"), d = val_gets(now, "dist");
        if (shape && !span_is(t, "float32"))
            buf_printf(&b, " %.*s", (int)t.n, t.p);
        if (shape && span_is(d, "uniform"))
            buf_adds(&b, " uniform");
        if (shape && span_is(d, "int"))
            buf_printf(&b, " to %d", (int)val_geti(now, "hi", -1));
    }
    for (size_t i = 0; i < f.init.n; i++)
        if (state_init(from, f.init.v[i].name) &&
            !state_init(to, f.init.v[i].name))
            buf_printf(&b, "without %.*s", (int)f.init.v[i].name.n,
                       f.init.v[i].name.p);
    const char *s = arena_strdup(&a, buf_span(&b));
    buf_release(&b);
    return s;
}

struct refine_case {
    const char *shape;   /* of x, or NULL */
    const char *message; /* of the exception */
    const char *more;    /* further fields of the reply, or "" */
    const char *change;  /* the first that is tried */
};

#define DIRECT(shape)                                                          \
    ",\"op\":{\"name\":\"f\",\"tensors\":[{\"shape\":" shape                   \
    ",\"dtype\":\"float32\",\"input\":0}]}"
#define BUILD       ",\"where\":\"construct\""
#define NAMES(list) ",\"frames\":[{\"names\":[" list "]}]"

static const struct refine_case refine_cases[] = {
    {NULL, "mat1 and mat2 shapes cannot be multiplied (32x32 and 64x8)", "",
     "x [2,16,64]"},
    {"[2,3,32,32]",
     "Given groups=1, weight of size [4, 8, 3, 3], expected input[2, 3, 32, "
     "32] to have 8 channels, but got 3 channels instead",
     DIRECT("[2,3,32,32]"), "x [2,8,32,32]"},
    {NULL,
     "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input "
     "of size: [2, 16, 32]",
     DIRECT("[2,16,32]"), "x [2,64,32,32]"},
    {NULL, "expected 4D input (got 3D input)", "", "x [2,64,32,32]"},
    {"[2,64,32,32]", "expected 2D or 3D input (got 4D input)", "",
     "x [2,16,64]"},
    {NULL, "Tensor must have a last dimension of size 2", "", "x [2,16,2]"},
    {NULL, "we support only boxes with shape [N,4] or [N,6], got boxes", "",
     "x [16,4]"},
    {NULL, "AssertionError: Input must be 2D or 3D, got 3D. Flatten first", "",
     "x [2,64]"},
    {NULL, "self must be a matrix", "", "x [2,64]"},
    {NULL, "a Tensor with 2048 elements cannot be converted to Scalar", "",
     "x []"},
    {NULL, "running_mean should contain 16 elements not 24", "", "x [2,24,32]"},
    {NULL,
     "Given normalized_shape=[64], expected input with shape [*, 64], but got "
     "input of size[2, 16, 32]",
     "", "x [2,16,64]"},
    {NULL,
     "Expected tensor for argument #1 'indices' to have one of the following "
     "scalar types: Long, Int; but got torch.FloatTensor instead (while "
     "checking arguments for embedding)",
     "", "x [2,16] int64 to 15"},
    {NULL, "input.size(-1) must be equal to input_size. Expected 8, got 32", "",
     "x [2,16,8]"},
    {"[2,64,32,32]", "LSTM: Expected input to be 2D or 3D, got 4D instead", "",
     "x [2,16,64]"},
    {NULL,
     "Expected weight to be a vector of size equal to the number of channels "
     "in input, but got weight of shape [8] and input of shape [2, 16, 32]",
     "", "x [2,8,32]"},
    {NULL,
     "The size of tensor a (32) must match the size of tensor b (24) at "
     "non-singleton dimension 2",
     "", "x [2,16,24]"},
    {NULL,
     "Sizes of tensors must match except in dimension 1. Expected size 24 but "
     "got size 32 for tensor number 1 in the list.",
     "", "x [2,16,24]"},
    {NULL,
     "einsum(): subscript d has size 32 for operand 1 which does not broadcast "
     "with previously seen size 64",
     "", "x [2,16,64]"},
    {"[2,32]",
     "einsum(): the number of subscripts in the equation (3) does not match "
     "the number of dimensions (2) for operand 1 and no ellipsis was given",
     "", "x [2,16,64]"},
    {"[2,64]",
     "permute(sparse_coo): number of dimensions in the tensor input does not "
     "match the length of the desired ordering of dimensions i.e. input.dim() "
     "= 2 is not equal to len(dims) = 3",
     "", "x [2,16,64]"},
    {"[2,64]",
     "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
     "", "x [2,16,64]"},
    {"[2,64]", "too many indices for tensor of dimension 2", "", "x [2,16,64]"},
    {NULL, "not enough values to unpack (expected 4, got 3)", "",
     "x [2,64,32,32]"},
    {"[2,64,32,32]", "too many values to unpack (expected 3)", "",
     "x [2,16,64]"},
    {NULL, "tensors used as indices must be long, int, byte or bool tensors",
     "", "x [2,16] int64 to 15"},
    {NULL,
     "masked_fill_ only supports boolean masks, but got mask with dtype "
     "float",
     "", "x [2,16,32] bool"},
    {NULL, "arange(): argument 'end' (position 1) must be Number, not Tensor",
     "", "x 4"},
    {NULL, "all elements of target should be between 0 and 1", "",
     "x [2,16,32] uniform"},
    {"[2,3,2,2]",
     "Calculated padded input size per channel: (2 x 2). Kernel size: (7 x 7). "
     "Kernel size can't be greater than actual input size",
     "", "x [2,3,32,32]"},
    {"[2,3,30,30]",
     "Error while processing rearrange-reduction pattern \\\"b c (h p1) (w p2) "
     "-> b (h w) (p1 p2 c)\\\".\\n Input tensor shape: torch.Size([2, 3, 30, "
     "30]). Additional info: {'p1': 16, 'p2': 16}.\\n Shape mismatch, can't "
     "divide axis of length 30 in chunks of 16",
     "", "x [2,3,32,32]"},
    {NULL,
     "Error while processing rearrange-reduction pattern \\\"b c h w -> b (c "
     "h) w\\\".\\n Input tensor shape: torch.Size([2, 16, 32]). Additional "
     "info: {}.\\n Wrong shape: expected 4 dims. Received 3-dim tensor.",
     "", "x [2,64,32,32]"},
    {NULL, "M.forward() missing 1 required positional argument: 'mask'", "",
     "mask [2,16] bool"},
    {NULL, "unsupported operand type(s) for *: 'NoneType' and 'Tensor'",
     NAMES("\"mask\""), "mask [2,16] bool"},
    {NULL, "'Tensor' object is not callable", "", "x [2,64,32,32]"},
    {NULL, "not divisible",
     BUILD ",\"frames\":[{\"names\":[],\"cmp\":[{\"op\":\"Eq\",\"l\":4,"
           "\"r\":0,\"mod\":[64,5],\"names\":[\"dim\",\"heads\"]}]}]",
     "dim 65"},
    {NULL, "bad mode",
     BUILD ",\"frames\":[{\"names\":[],\"cmp\":[{\"op\":\"In\",\"l\":\"a\","
           "\"r\":[\"up\",\"down\"],\"names\":[\"mode\"]}]}]",
     "mode \"up\""},
    /* in a dict, whose keys are not told by place */
    {NULL, "M.__init__() missing 1 required positional argument: 'size'",
     BUILD ",\"frames\":[{\"names\":[],\"cmp\":[{\"op\":\"In\",\"l\":3,"
           "\"r\":{\"k\":1},\"names\":[\"mode\"]}]}]",
     "size 64"},
    {NULL, "cannot unpack non-iterable int object",
     BUILD ",\"class\":\"TypeError\"" NAMES("\"dim\""), "dim [64,64]"},
    {NULL, "M.__init__() missing 1 required positional argument: 'size'", BUILD,
     "size 64"},
    {NULL, "M.__init__() got an unexpected keyword argument 'heads'", BUILD,
     "without heads"},
    {NULL, "nope",
     BUILD ",\"class\":\"KeyError\",\"frames\":[{\"names\":"
           "[\"mode\"],\"vars\":[[\"{}\",{\"type\":\"dict\","
           "\"keys\":[\"k1\",\"k2\"]}]]}]",
     "mode \"k1\""},
    {NULL, "Must provide one of size or shape",
     BUILD ",\"class\":\"ValueError\"", "size 64"},
    {NULL, "in_channels must be divisible by groups", BUILD, "heads 64"},
    /* nothing is a multiple of 0: other ranks as the last resort */
    {NULL, "Expected size 32 but got size 0", "", "x [2,64,32,32]"},
};

START_TEST(test_first_change)
{
    const struct refine_case *c = &refine_cases[_i];
    bool build = strstr(c->more, "construct") != NULL;
    struct val *state = start(c->shape);
    struct moves m = {
        .a = &a,
        .f = &f,
        .state = state,
        .construct = build,
        .reply = parse(arena_printf(&a, "{\"ok\":false,\"message\":\"%s\"%s}",
                                    c->message, c->more))};
    refine(&m);
    ck_assert_uint_gt(m.list.n, 0);
    ck_assert_str_eq(changed(state, m.list.v[0].state), c->change);
    for (size_t i = 1; i < m.list.n; i++)
        ck_assert_int_le(m.list.v[i].weight, m.list.v[i - 1].weight);
    moves_release(&m);
}
END_TEST

START_TEST(test_flattened_size_gives_sides)
{
    struct val *state = start("[2,3,28,28]");
    struct moves m = {.a = &a,
                      .f = &f,
                      .state = state,
                      .reply =
                          parse("{\"message\":\"mat1 and mat2 shapes cannot be "
                                "multiplied (2x784 and 1024x10)\"}")};
    bool found = false;
    refine(&m);
    for (size_t i = 0; i < m.list.n; i++)
        found = found ||
                strcmp(changed(state, m.list.v[i].state), "x [2,3,32,32]") == 0;
    ck_assert(found);
    moves_release(&m);
}
END_TEST

START_TEST(test_index_is_bounded_by_the_table)
{
    struct val *state = start(NULL);
    int64_t shape[] = {2, 16};
    state_set_input(&a, state, SPAN_LIT("x"),
                    input_ids(&a, SPAN_LIT("x"), shape, 2, 99));
    struct moves m = {
        .a = &a,
        .f = &f,
        .state = state,
        .reply = parse("{\"message\":\"index out of range in self\",\"op\":{"
                       "\"tensors\":[{\"shape\":[2,16],\"dtype\":\"int64\","
                       "\"input\":0},{\"shape\":[10,4],\"dtype\":\"float32\","
                       "\"input\":-1}]}}")};
    refine(&m);
    ck_assert_str_eq(changed(state, m.list.v[0].state), "x [2,16] int64 to 9");
    moves_release(&m);
}
END_TEST

/* What the first move makes of constructor argument `dim`. */
static const char *first_dim(struct moves *m)
{
    moves_sort(m);
    if (!m->list.n)
        return "nothing";
    const char *s = changed(m->state, m->list.v[0].state);
    moves_release(m);
    memset(&m->list, 0, sizeof(m->list));
    return s;
}

START_TEST(test_expressions)
{
    struct val *s = start(NULL);
    struct moves m = {.a = &a, .f = &f, .state = s, .construct = true};
    state_set_init(
        &a, s, SPAN_LIT("dim"),
        expr_val(&a, "C(w=512, n=12, t='512', r=0.512, w512=[4096])"), "");
    m.reply = parse("{}");
    moves_number(&m, 512, 64, 1);
    ck_assert_str_eq(
        first_dim(&m),
        "dim {\"$\":\"C(w=64, n=12, t='512', r=0.512, w512=[4096])\"}");
    moves_shrink(&m, 1);
    ck_assert_str_eq(
        first_dim(&m),
        "dim {\"$\":\"C(w=64, n=12, t='512', r=0.512, w512=[512])\"}");
    moves_number(&m, 13, 64, 1);
    ck_assert_str_eq(first_dim(&m), "nothing");
    state_set_init(&a, s, SPAN_LIT("dim"),
                   expr_val(&a, "__import__('types').SimpleNamespace(a=1)"),
                   "");
    moves_attribute(&m, SPAN_LIT("SimpleNamespace"), SPAN_LIT("heads"), 1);
    ck_assert_str_eq(first_dim(&m),
                     "dim {\"$\":\"__import__('types').SimpleNamespace("
                     "heads=4, a=1)\"}");
    state_set_init(&a, s, SPAN_LIT("dim"),
                   expr_val(&a, "torch.nn.Linear(64, 64)"), "");
    moves_attribute(&m, SPAN_LIT("Linear"), SPAN_LIT("embedding_dim"), 1);
    ck_assert_str_eq(
        first_dim(&m),
        "dim {\"$\":\"torch.nn.Embedding(128, 64, padding_idx=1)\"}");
    moves_layers(&m, 1);
    ck_assert_str_eq(first_dim(&m),
                     "dim {\"$\":\"torch.nn.TransformerEncoderLayer(64, 4, "
                     "128, batch_first=True)\"}");
}
END_TEST

Suite *testgen_refine_suite(void)
{
    Suite *s = suite_create("testgen_refine");
    TCase *t = tcase_create("messages");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_expressions);
    tcase_add_loop_test(t, test_first_change, 0, ARRAY_LEN(refine_cases));
    tcase_add_test(t, test_flattened_size_gives_sides);
    tcase_add_test(t, test_index_is_bounded_by_the_table);
    suite_add_tcase(s, t);
    return s;
}
