/* SPDX-License-Identifier: MIT */
/* Facts, proposals, texts of states, the gate's rules and sizes of testgen. */
#include "base.h"

#include <check.h>

#include "testgen/gate.h"
#include "testgen/objects.h"
#include "testgen/propose.h"
#include "testgen/ranges.h"
#include "testgen/scale.h"

Suite *testgen_suite(void);

static struct arena a = ARENA_INIT;
static struct pyparser *parser;
static struct facts f;

static void setup(void)
{
    struct err e;
    parser = pyparser_new(&e);
    ck_assert_ptr_nonnull(parser);
}

static void teardown(void)
{
    facts_release(&f);
    pyparser_free(parser);
    arena_release(&a);
}

/* Facts of class M of SOURCE. */
static void read_facts(const char *source)
{
    struct err e;
    facts_release(&f);
    ck_assert_int_eq(
        facts_read(&f, parser, span_str(source), SPAN_LIT("M"), &e), 0);
}

static const char *as_json(const struct val *v)
{
    struct buf b = BUF_INIT(1 << 16);
    ck_assert_int_eq(v ? val_json(&b, v) : buf_adds(&b, "absent"), 0);
    const char *s = arena_strdup(&a, buf_span(&b));
    buf_release(&b);
    return s;
}

#define INIT(body, signature, rest)                                            \
    "from torch import nn\n" body "class M(nn.Module):\n"                      \
    "    def __init__(self, " signature "):\n"                                 \
    "        super().__init__()\n" rest "    def forward(self, x):\n"          \
    "        return x\n"

struct init_case {
    const char *source, *value; /* of the constructor's first argument */
};

static const struct init_case init_cases[] = {
    {INIT("", "dim", ""), "64"},
    {INIT("", "num_heads", ""), "4"},
    {INIT("", "attn_dropout", ""), "0.0"},
    {INIT("", "image_size", ""), "64"},
    {INIT("", "eps", ""), "1e-05"},
    {INIT("", "zzz", ""), "4"},
    {INIT("", "zzz", "        self.l = nn.Linear(zzz, 2)\n"), "16"},
    {INIT("", "zzz: float", ""), "0.5"},
    {INIT("", "zzz: bool", ""), "false"},
    {INIT("", "zzz: str", "        assert zzz in ('up', 'down')\n"), "\"up\""},
    {INIT("", "zzz", "        self.z = 1 if zzz == 'wide' else 2\n"),
     "\"wide\""},
    {INIT("", "zzz: Literal['b', 'c']", ""), "\"b\""},
    {INIT("", "dim", "        a, b, c = dim\n"), "[64,64,64]"},
    {INIT("", "dim",
          "        for d in dim:\n            self.l = nn.Linear(d, d)\n"),
     "[64,64]"},
    {INIT("", "dim",
          "        assert isinstance(dim, tuple)\n        a, b = dim\n"),
     "{\"()\":[64,64]}"},
    {INIT("", "chans", "        self.l = nn.Linear(chans[3], 1)\n"),
     "[16,16,16,16]"},
    {INIT("", "size: Tuple[int, int]", ""), "{\"()\":[64,64]}"},
    {INIT("", "fn", "        self.fn = fn\n        self.fn(1)\n"),
     "{\"$\":\"torch.nn.Linear(64, 64)\"}"},
    {INIT("", "act_layer", "        self.act = act_layer()\n"),
     "{\"$\":\"torch.nn.ReLU\"}"},
    {INIT("", "cfg", "        self.l = nn.Linear(cfg.hidden_size, cfg.zzz)\n"),
     "{\"$\":\"__import__('types').SimpleNamespace(hidden_size=64, zzz=16)\"}"},
    {INIT("", "opts", "        self.l = nn.Linear(opts['dim'], 2)\n"),
     "{\"$\":\"{'dim': 64}\"}"},
    {INIT("@dataclass\nclass C:\n    dim: int\n    heads: int = 3\n", "c: C",
          ""),
     "{\"$\":\"C(dim=64)\"}"},
    {INIT("class Enc(nn.Module):\n    def __init__(self, dim, deep=2):\n"
          "        pass\n",
          "enc: Enc", ""),
     "{\"$\":\"Enc(dim=64)\"}"},
    {INIT("", "cfg",
          "        cfg = cfg\n        self.l = nn.Linear(cfg.enc.dim, "
          "getattr(cfg, 'zzz', 9))\n        cfg.name.lower()\n"),
     "{\"$\":\"__import__('types').SimpleNamespace(enc="
     "__import__('types').SimpleNamespace(dim=64), name='relu')\"}"},
    {INIT("", "words", "        self.n = len(words) + words.pad()\n"),
     "{\"$\":\"type('Plain', (), {'pad': lambda *a, **k: 1, '__len__': lambda "
     "s: 128, '__getitem__': lambda s, i: 1})()\"}"},
    {INIT("", "embed", "        self.d = embed.embedding_dim\n"),
     "{\"$\":\"torch.nn.Embedding(128, 64, padding_idx=1)\"}"},
    {INIT("class BigEncoder(nn.Module):\n    def __init__(self, dim):\n"
          "        self.depth = dim\n",
          "encoder", "        self.d = encoder.depth\n"),
     "{\"$\":\"BigEncoder(dim=64)\"}"},
    /* what a child does with it */
    {INIT("class Kid(nn.Module):\n    def __init__(self, sizes):\n"
          "        p, q = sizes\n",
          "zzz", "        self.kid = Kid(zzz)\n"),
     "[16,16]"},
};

START_TEST(test_init_by_evidence)
{
    const struct init_case *c = &init_cases[_i];
    const char *ev = NULL;
    read_facts(c->source);
    ck_assert_uint_ge(f.init.n, 1);
    struct val *v = propose_init(&a, &f, state_new(&a), &f.init.v[0], &ev);
    ck_assert_str_eq(as_json(v), c->value);
    ck_assert_ptr_nonnull(ev);
}
END_TEST

struct input_case {
    const char *source, *shape, *dtype;
};

#define FORWARD(init, signature, body)                                         \
    "from torch import nn\nfrom einops.layers.torch import Rearrange\n"        \
    "class M(nn.Module):\n"                                                    \
    "    def __init__(self, dim=48, vocab=99):\n"                              \
    "        super().__init__()\n" init "    def forward(self, " signature     \
    "):\n" body

static const struct input_case input_cases[] = {
    {FORWARD("", "x", "        return x\n"), "[2,16,48]", "float32"},
    {FORWARD("", "x", "        b, c, h, w = x.shape\n"), "[2,48,32,32]",
     "float32"},
    {FORWARD("", "x", "        b, n = x.size()\n"), "[2,48]", "float32"},
    {FORWARD("", "x", "        return x.permute(0, 2, 3, 1)\n"), "[2,48,32,32]",
     "float32"},
    {FORWARD("        self.c = nn.Conv1d(dim, 4, 3)\n", "x",
             "        return self.c(x)\n"),
     "[2,48,16]", "float32"},
    {FORWARD("        self.s = nn.Sequential(nn.Conv3d(dim, 4, 3))\n", "x",
             "        return self.s(x)\n"),
     "[2,48,4,32,32]", "float32"},
    {FORWARD("        self.l = nn.Linear(dim, 4)\n", "zzz",
             "        return self.l(zzz)\n"),
     "[2,16,48]", "float32"},
    {FORWARD("        self.e = nn.Embedding(vocab, 4)\n", "zzz",
             "        return self.e(zzz)\n"),
     "[2,16]", "int64"},
    {FORWARD("        self.r = Rearrange('b (h w) d -> b h w d')\n", "zzz",
             "        return self.r(zzz)\n"),
     "[2,16,48]", "float32"},
    {FORWARD("", "zzz", "        return rearrange(zzz, 'b n -> n b')\n"),
     "[2,16]", "float32"},
    {FORWARD("", "zzz: list[Tensor]", "        return zzz\n"), "absent",
     "absent"},
    {FORWARD("", "key_padding_mask", "        return 1\n"), "[2,16]", "bool"},
    {FORWARD("", "img", "        return img\n"), "[2,48,32,32]", "float32"},
    {FORWARD("", "zzz: int", "        return zzz\n"), "absent", "absent"},
};

START_TEST(test_input_by_evidence)
{
    const struct input_case *c = &input_cases[_i];
    const char *ev = NULL;
    read_facts(c->source);
    ck_assert_uint_eq(f.forward.n, 1);
    struct val *v = propose_input(&a, &f, state_new(&a), &f.forward.v[0], &ev);
    ck_assert_str_eq(as_json(val_get(v, "shape")), c->shape);
    struct span dtype = val_gets(v, "dtype");
    ck_assert_str_eq(dtype.p ? arena_strdup(&a, dtype) : "absent", c->dtype);
}
END_TEST

START_TEST(test_signature_of_bases)
{
    read_facts("class B(nn.Module):\n"
               "    def __init__(self, dim, *, deep, wide=2):\n"
               "        pass\n"
               "    def forward(self, x, /, y=1, *rest, z):\n"
               "        pass\n"
               "class M(B):\n"
               "    def __init__(self, own, *args, **kwargs):\n"
               "        super().__init__(*args, **kwargs)\n");
    ck_assert_uint_eq(f.init.n, 6);
    ck_assert(span_is(f.init.v[3].name, "dim"));
    ck_assert(f.init.v[3].inherited && f.init.v[3].kind == PARAM_KW);
    ck_assert(f.init.v[5].has_default && span_is(f.init.v[5].dflt, "2"));
    ck_assert_uint_eq(f.forward.n, 4);
    ck_assert_int_eq(f.forward.v[0].kind, PARAM_POS_ONLY);
    ck_assert_int_eq(f.forward.v[1].kind, PARAM_POS);
    ck_assert_int_eq(f.forward.v[2].kind, PARAM_VAR);
    ck_assert_int_eq(f.forward.v[3].kind, PARAM_KW);
}
END_TEST

START_TEST(test_text_of_state)
{
    struct buf b = BUF_INIT(1 << 16);
    read_facts("class M(nn.Module):\n"
               "    def __init__(self, dim, deep=1, *, norm, name):\n"
               "        pass\n"
               "    def forward(self, x, y=None, *, mask):\n"
               "        pass\n");
    struct val *s = state_new(&a);
    int64_t shape[] = {2, 3};
    state_set_init(&a, s, SPAN_LIT("dim"), val_int(&a, 7), "");
    state_set_init(&a, s, SPAN_LIT("norm"), expr_val(&a, "torch.nn.ReLU"), "");
    state_set_init(&a, s, SPAN_LIT("name"), val_strz(&a, "it's\\"), "");
    state_set_input(&a, s, SPAN_LIT("x"),
                    input_ids(&a, SPAN_LIT("x"), shape, 2, 9));
    state_set_input(&a, s, SPAN_LIT("mask"),
                    input_mask(&a, SPAN_LIT("mask"), shape, 1));
    val_set(&a, s, "redraw", val_bool(&a, true));
    ck_assert_int_eq(state_model_text(&b, &f, s, SPAN_LIT("M")), 0);
    ck_assert_int_eq(state_inputs_text(&b, &f, s), 0);
    ck_assert_str_eq(b.p,
                     "import torch\n\n\nclass Model(M):\n"
                     "    def __init__(self, dim, name):\n"
                     "        super().__init__(dim=dim, norm=torch.nn.ReLU, "
                     "name=name)\n"
                     "        for p in self.parameters():\n"
                     "            if p.is_floating_point() and bool((p.abs() < "
                     "1e-3).all()):\n"
                     "                torch.nn.init.normal_(p, std=0.2)\n"
                     "\n    def forward(self, x, mask):\n"
                     "        return super().forward(x, mask=mask)\n"
                     "\n\ndef get_init_inputs():\n"
                     "    return [7, 'it\\'s\\\\']\n"
                     "def get_inputs():\n"
                     "    return [torch.randint(0, 10, (2, 3)),\n"
                     "            torch.rand(2,) < 0.75]\n");
    ck_assert_str_eq(as_json(state_task_init(&a, &f, s)), "[7,\"it's\\\\\"]");
    buf_release(&b);
}
END_TEST

START_TEST(test_objects_in_parts)
{
    struct buf b = BUF_INIT(1 << 16);
    read_facts(
        "class M(nn.Module):\n"
        "    def forward(self, data, x, pair):\n"
        "        h, e = data.x, data.edge_index\n"
        "        return pair['a'] + data.x.mean() + x.mean(), data.to(0)\n");
    ck_assert_uint_eq(f.fields.n, 3);
    ck_assert(span_is(f.fields.v[1].name, "data.edge_index"));
    ck_assert(!param_is_object(&f.forward.v[1]));
    struct val *s = propose_state(&a, &f);
    ck_assert_int_eq(state_model_text(&b, &f, s, SPAN_LIT("M")), 0);
    ck_assert_str_eq(
        b.p, "import torch\n\n\nclass Model(M):\n"
             "    def forward(self, data_x, edge_index, x, a):\n"
             "        return super().forward(__import__('types')."
             "SimpleNamespace(x=data_x, edge_index=edge_index), x, {'a': a})\n"
             "\n\ndef get_init_inputs():\n    return []\n");
    s = propose_tensors(&a, &f, s);
    ck_assert_uint_eq(val_len(val_get(s, "in")), 3);
    ck_assert(state_input(s, SPAN_LIT("data")) != NULL);
    buf_release(&b);
}
END_TEST

START_TEST(test_other_ranks)
{
    read_facts("class Other:\n    conv = nn.Conv2d(1, 1, 1)\n"
               "class M(nn.Module):\n"
               "    def __init__(self, dim=48):\n"
               "        self.norm = nn.LayerNorm(dim)\n"
               "    def forward(self, hidden_states, temb):\n"
               "        return 1\n");
    struct val *s = propose_state(&a, &f);
    ck_assert_str_eq(as_json(val_path(s, "in.hidden_states.shape")),
                     "[2,16,48]");
    s = propose_other_ranks(&a, &f, s);
    ck_assert_str_eq(as_json(val_path(s, "in.hidden_states.shape")),
                     "[2,48,32,32]");
    ck_assert_str_eq(as_json(val_path(s, "in.temb.shape")), "[2,48]");
    ck_assert_ptr_null(propose_other_ranks(&a, &f, state_new(&a)));
}
END_TEST

START_TEST(test_gate_mends)
{
    struct err e;
    bool more;
    read_facts("class M(nn.Module):\n"
               "    def forward(self, x, mask, y=None, temb=None):\n"
               "        return 1\n");
    struct val *s = propose_state(&a, &f), *g = NULL;
    ck_assert(!val_parse_json(
        &a,
        SPAN_LIT("{\"deterministic\":true,\"finite\":true,"
                 "\"spread\":1.0,\"deviation\":1.0,"
                 "\"unused_parameters\":[\"a.temb_proj.weight\"]}"),
        VAL_JSON_STRICT, &g, &e));
    struct val *next = gate_mend(&a, &f, s, g, 0, &more);
    ck_assert(state_passes(next, SPAN_LIT("temb")));
    ck_assert(!state_passes(next, SPAN_LIT("y")));
    next = gate_mend(&a, &f, s, g, 1, &more);
    ck_assert(state_passes(next, SPAN_LIT("y")));
    ck_assert(!val_parse_json(&a,
                              SPAN_LIT("{\"deterministic\":true,\"finite\":"
                                       "true,\"unused_inputs\":[1]}"),
                              VAL_JSON_STRICT, &g, &e));
    next = gate_mend(&a, &f, s, g, 0, &more);
    ck_assert_str_eq(as_json(val_path(next, "in.mask.kind")), "\"none\"");
}
END_TEST

struct default_case {
    const char *source, *value; /* of option `wide` */
};

static const struct default_case default_cases[] = {
    {"g = getattr(args, 'wide', 12)\n", "12"},
    {"g = getattr(args, \"wide\", (1, 'a'))\n", "(1, 'a')"},
    {"g = getattr(args, 'wide', other)\n", ""},
    {"g = getattr(args, 'wider', 12)\n", ""},
    {"p.add_argument('--wide', type=int, default=7, help='x')\n", "7"},
    {"p.add_argument('--wide')\np.add_argument('--b', default=7)\n", ""},
    {"@dataclass\nclass C:\n    wide: int = 5  # so\n", "5"},
    {"@dataclass\nclass C:\n    wide: int = field(default=6, metadata={})\n",
     "6"},
};

START_TEST(test_default_of_option)
{
    const struct default_case *c = &default_cases[_i];
    read_facts(
        arena_printf(&a, "%sclass M(nn.Module):\n    pass\n", c->source));
    struct span s = object_default(&f, SPAN_LIT("wide"));
    ck_assert(span_is(s, c->value));
}
END_TEST

/* A state of one input of SHAPE, and figures of a forward. */
static struct val *state_of(const int64_t *shape, size_t rank)
{
    struct val *s = state_new(&a);
    state_set_input(&a, s, SPAN_LIT("x"),
                    input_tensor(&a, SPAN_LIT("x"), shape, rank));
    return s;
}

static struct val *figures(double flops, int64_t bytes)
{
    struct val *v = val_map(&a);
    val_set(&a, v, "ok", val_bool(&a, true));
    val_set(&a, v, "flops", val_float(&a, flops));
    val_set(&a, v, "bytes", val_int(&a, bytes));
    return v;
}

static const char *shape_of(const struct val *state)
{
    return as_json(val_path(state, "in.x.shape"));
}

START_TEST(test_sizes_grow_within_budget)
{
    struct scale sc;
    read_facts(FORWARD("", "x", "        return x\n"));
    int64_t shape[] = {2, 16, 48};
    scale_init(&sc, &a, &f, state_of(shape, 3), figures(2e6, 1000));
    struct val *next = scale_next(&sc);
    ck_assert_str_eq(shape_of(next), "[2,64,48]");
    scale_tell(&sc, next, figures(1e12, 1000)); /* too long: not taken */
    ck_assert_str_eq(shape_of(sc.best), "[2,16,48]");
    next = scale_next(&sc);
    ck_assert_str_eq(shape_of(next), "[64,16,48]");
    scale_tell(&sc, next, figures(6e7, 1000));
    ck_assert_str_eq(shape_of(sc.best), "[64,16,48]");
    ck_assert_ptr_null(scale_next(&sc));
}
END_TEST

START_TEST(test_sizes_shrink_when_too_long)
{
    struct scale sc;
    read_facts("class M(nn.Module):\n"
               "    def __init__(self, dim=768, depths=(2, 2, 18),\n"
               "                 dims=(96, 192, 384), p=(1, 2)):\n"
               "        pass\n"
               "    def forward(self, x):\n"
               "        return x\n");
    int64_t shape[] = {2, 3, 64, 64};
    scale_init(&sc, &a, &f, state_of(shape, 4), figures(1e12, 1000));
    struct val *next = scale_reduce(&sc);
    ck_assert_str_eq(as_json(state_init(next, SPAN_LIT("dim"))), "64");
    ck_assert_str_eq(as_json(state_init(next, SPAN_LIT("depths"))),
                     "{\"()\":[2,2,2]}");
    ck_assert_str_eq(as_json(state_init(next, SPAN_LIT("dims"))),
                     "{\"()\":[24,48,96]}");
    ck_assert_ptr_null(state_init(next, SPAN_LIT("p")));
    scale_tell(&sc, next, figures(5e11, 1000));
    next = scale_reduce(&sc);
    ck_assert_str_eq(shape_of(next), "[2,3,32,32]");
    scale_tell(&sc, next, figures(1e6, 1000));
    ck_assert_ptr_null(scale_reduce(&sc));
}
END_TEST

/* A size that became 64 is not the depth's 64. */
START_TEST(test_defaults_shrink_once)
{
    read_facts("class M(nn.Module):\n"
               "    def __init__(self, hidden_size=8192, depth=64):\n"
               "        pass\n"
               "    def forward(self, x):\n"
               "        return x\n");
    int64_t shape[] = {2, 16, 8192};
    struct val *next = scale_smaller_defaults(&a, &f, state_of(shape, 3));
    ck_assert_str_eq(as_json(state_init(next, SPAN_LIT("depth"))), "2");
    ck_assert_str_eq(shape_of(next), "[2,16,64]");
}
END_TEST

/* Where no image is left to halve: the largest size, then the next one. */
START_TEST(test_lengths_shrink_when_too_long)
{
    struct scale sc;
    read_facts(FORWARD("", "x", "        return x\n"));
    int64_t shape[] = {8192, 2, 512};
    scale_init(&sc, &a, &f, state_of(shape, 3), figures(1e13, 1000));
    struct val *next = scale_reduce(&sc);
    ck_assert_str_eq(shape_of(next), "[1024,2,512]");
    scale_tell(&sc, next, figures(1e11, 1000));
    next = scale_reduce(&sc);
    ck_assert_str_eq(shape_of(next), "[1024,2,64]");
    scale_tell(&sc, next, val_map(&a)); /* does not run */
    ck_assert_str_eq(shape_of(sc.best), "[1024,2,512]");
    ck_assert_ptr_null(scale_reduce(&sc));
}
END_TEST

struct gate_case {
    const char *figures;
    enum gate_rule rule;
};

#define FINE                                                                   \
    "\"deterministic\":true,\"finite\":true,\"spread\":2.0,\"deviation\":0.5," \
    "\"relative\":1.0"

static const struct gate_case gate_cases[] = {
    {"{" FINE "}", GATE_PASSED},
    {"{" FINE ",\"uninitialised\":[\"w\"]}", GATE_UNINITIALISED},
    {"{\"finite\":true}", GATE_NONDETERMINISTIC},
    {"{\"deterministic\":true}", GATE_NOT_FINITE},
    {"{" FINE ",\"identity\":true}", GATE_IDENTITY},
    {"{" FINE ",\"unused_inputs\":[0]}", GATE_UNUSED_INPUT},
    {"{" FINE ",\"constant\":[1,2,3,4]}", GATE_CONSTANT},
    {"{" FINE ",\"constant\":[3]}", GATE_PASSED},
    {"{" FINE ",\"unused_parameters\":[\"w\"]}", GATE_UNUSED_PARAMETER},
    {"{" FINE ",\"train\":\"ValueError: no\"}", GATE_TRAIN_MODE},
    {"{\"deterministic\":true,\"finite\":true,\"spread\":0.009,"
     "\"deviation\":0.5,\"relative\":1.0}",
     GATE_FLAT},
    {"{\"deterministic\":true,\"finite\":true,\"spread\":0.02,"
     "\"deviation\":0.005,\"relative\":0.01}",
     GATE_FLAT},
    {"{\"deterministic\":true,\"finite\":true,\"spread\":0.02,"
     "\"deviation\":0.005,\"relative\":1.0}",
     GATE_PASSED},
    {"{\"deterministic\":true,\"finite\":true,\"spread\":0.0,"
     "\"deviation\":0.0,\"relative\":0.0,\"scalar\":true}",
     GATE_PASSED},
};

START_TEST(test_gate_rules)
{
    struct val *v = NULL;
    struct err e = {0};
    ck_assert_int_eq(val_parse_json(&a, span_str(gate_cases[_i].figures),
                                    VAL_JSON_STRICT, &v, &e),
                     0);
    ck_assert_int_eq(gate_rule(v), gate_cases[_i].rule);
    int rc = gate_check(v, NULL, &e);
    ck_assert_int_eq(rc, gate_cases[_i].rule == GATE_PASSED ? 0 : -1);
    if (rc)
        ck_assert_int_eq(e.code, ERR_QUALITY);
}
END_TEST

START_TEST(test_no_class)
{
    struct err e;
    ck_assert_int_eq(
        facts_read(&f, parser, SPAN_LIT("x = 1\n"), SPAN_LIT("M"), &e), -1);
    ck_assert_int_eq(e.code, ERR_NO_PROPOSAL);
}
END_TEST

/* "init | forward" of function M: names of what goes where. */
static const char *split_of(const char *source)
{
    struct buf b = BUF_INIT(1 << 12);
    read_facts(source);
    ck_assert(f.is_function);
    for (size_t i = 0; i < f.init.n; i++)
        buf_printf(&b, "%.*s ", (int)f.init.v[i].name.n, f.init.v[i].name.p);
    buf_addc(&b, '|');
    for (size_t i = 0; i < f.forward.n; i++)
        if (!f.forward.v[i].plain)
            buf_printf(&b, " %.*s", (int)f.forward.v[i].name.n,
                       f.forward.v[i].name.p);
    const char *s = arena_strdup(&a, buf_span(&b));
    buf_release(&b);
    return s;
}

START_TEST(test_ranges_are_those_that_a_run_found)
{
    struct err e;
    int64_t shape[] = {4, 4};
    struct val *reply = NULL;
    read_facts("def M(x, idx):\n    return x[idx]\n");
    struct val *s = state_new(&a);
    state_set_input(&a, s, SPAN_LIT("x"),
                    input_tensor(&a, SPAN_LIT("x"), shape, 2));
    state_set_input(&a, s, SPAN_LIT("idx"),
                    input_ids(&a, SPAN_LIT("idx"), shape, 2, 15));
    ck_assert(!val_parse_json(&a, SPAN_LIT("{\"limits\":{\"0\":9,\"1\":4}}"),
                              VAL_JSON_STRICT, &reply, &e));
    struct val *next = ranges_found(&a, &f, s, reply);
    ck_assert_str_eq(as_json(val_path(next, "in.idx.hi")), "3");
    ck_assert_str_eq(as_json(val_path(next, "in.x.hi")), "absent");
    ck_assert_ptr_null(ranges_found(&a, &f, next, reply));
}
END_TEST

START_TEST(test_gate_mends_batches_of_one)
{
    struct err e;
    bool more;
    struct val *g = NULL, *next;
    read_facts(FORWARD("", "x", "        return x\n"));
    int64_t shape[] = {1, 64, 16, 16};
    ck_assert(!val_parse_json(
        &a,
        SPAN_LIT("{\"deterministic\":true,\"finite\":true,\"spread\":1.0,"
                 "\"deviation\":1.0,\"train\":\"ValueError: Expected more "
                 "than 1 value per channel when training\"}"),
        VAL_JSON_STRICT, &g, &e));
    next = gate_mend(&a, &f, state_of(shape, 4), g, 0, &more);
    ck_assert(more);
    ck_assert_str_eq(shape_of(next), "[2,64,16,16]");
    next = gate_mend(&a, &f, state_of(shape, 4), g, 1, &more);
    ck_assert(!more);
    ck_assert_str_eq(shape_of(next), "[1,64,64,64]");
}
END_TEST

START_TEST(test_gate_mends_functions)
{
    struct err e;
    bool more;
    struct val *g = NULL, *next;
    read_facts("def M(x, training: bool = False, mask=None):\n"
               "    return F.relu(x)\n");
    struct val *s = propose_state(&a, &f);
    ck_assert(
        !val_parse_json(&a,
                        SPAN_LIT("{\"deterministic\":true,\"finite\":true,"
                                 "\"identity\":true}"),
                        VAL_JSON_STRICT, &g, &e));
    next = gate_mend(&a, &f, s, g, 0, &more);
    ck_assert_str_eq(as_json(state_init(next, SPAN_LIT("training"))), "true");
    next = gate_mend(&a, &f, s, g, 2, &more);
    ck_assert(more && state_passes(next, SPAN_LIT("mask")));
    ck_assert_ptr_null(gate_mend(&a, &f, s, g, 3, &more));
    ck_assert(!more);
}
END_TEST

START_TEST(test_parameters_of_functions)
{
    static const struct {
        const char *source, *split;
    } cases[] = {
        {"def M(x, eps=1e-5):\n    return x + eps\n", "eps | x"},
        {"def M(x, y: float, z: Tensor):\n    return x\n", "y | x z"},
        {"def M(q, k, num_heads):\n    return torch.matmul(q, k)\n",
         "num_heads | q k"},
        {"def M(x, gamma, beta):\n    return gamma.view(-1) * x @ beta\n",
         "| x gamma beta"},
        {"def M(x, mask=None, mode='a', *, out):\n    return F.relu(x)\n",
         "mode | x mask out"},
        {"def M(x, n):\n    for i in range(n):\n        x = x.tanh()\n",
         "n | x"},
        {"def M(x, **rest):\n    return x.tanh()\n", "rest | x"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        ck_assert_str_eq(split_of(cases[i].source), cases[i].split);
}
END_TEST

START_TEST(test_text_of_a_function)
{
    struct buf b = BUF_INIT(1 << 16);
    read_facts("def M(x, n: int, y, *, act: Callable, z=None):\n"
               "    return x\n");
    struct val *state = propose_state(&a, &f);
    ck_assert_int_eq(state_model_text(&b, &f, state, SPAN_LIT("M")), 0);
    ck_assert_str_eq(b.p, "import torch\n\n\nclass Model(torch.nn.Module):\n"
                          "    def __init__(self, n):\n"
                          "        super().__init__()\n"
                          "        self.n = n\n\n"
                          "    def forward(self, x, y):\n"
                          "        return M(x, self.n, y, "
                          "act=torch.nn.functional.gelu)\n\n\n"
                          "def get_init_inputs():\n    return [2]\n");
    buf_release(&b);
}
END_TEST

Suite *testgen_suite(void)
{
    Suite *s = suite_create("testgen");
    TCase *t = tcase_create("proposals");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, test_init_by_evidence, 0, ARRAY_LEN(init_cases));
    tcase_add_loop_test(t, test_input_by_evidence, 0, ARRAY_LEN(input_cases));
    tcase_add_test(t, test_signature_of_bases);
    tcase_add_test(t, test_text_of_state);
    tcase_add_test(t, test_objects_in_parts);
    tcase_add_test(t, test_other_ranks);
    tcase_add_test(t, test_gate_mends);
    tcase_add_loop_test(t, test_default_of_option, 0, ARRAY_LEN(default_cases));
    tcase_add_test(t, test_sizes_grow_within_budget);
    tcase_add_test(t, test_sizes_shrink_when_too_long);
    tcase_add_test(t, test_lengths_shrink_when_too_long);
    tcase_add_test(t, test_defaults_shrink_once);
    tcase_add_loop_test(t, test_gate_rules, 0, ARRAY_LEN(gate_cases));
    tcase_add_test(t, test_no_class);
    tcase_add_test(t, test_ranges_are_those_that_a_run_found);
    tcase_add_test(t, test_gate_mends_functions);
    tcase_add_test(t, test_gate_mends_batches_of_one);
    tcase_add_test(t, test_parameters_of_functions);
    tcase_add_test(t, test_text_of_a_function);
    suite_add_tcase(s, t);
    return s;
}
