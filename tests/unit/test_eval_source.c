/* SPDX-License-Identifier: MIT */
/* Task records, normal forms, static findings. */
#include "base.h"

#include <check.h>

#include "evaluate/kernel_name.h"
#include "evaluate/normal.h"
#include "evaluate/static.h"
#include "evaluate/task.h"
#include "mem.h"
#include "py/pytree.h"

Suite *eval_source_suite(void);

/* ---- tasks ---- */

static int parse(struct task *t, struct arena *a, const char *json,
                 struct err *e)
{
    struct val *v;
    ck_assert_int_eq(val_parse_json(a, span_str(json), VAL_JSON_STRICT, &v, e),
                     0);
    return task_parse(t, a, v, e);
}

START_TEST(test_task_flat_order_and_skeleton)
{
    struct arena a = ARENA_INIT;
    struct buf b = BUF_INIT(1000);
    struct err e = {0};
    struct task t;
    ck_assert_int_eq(
        parse(&t, &a,
              "{\"source\": \"s\", \"mutates\": [1], \"inputs\": ["
              "{\"kind\": \"int\", \"value\": 3},"
              "{\"kind\": \"list\", \"items\": ["
              " {\"kind\": \"tensor\", \"shape\": [2, 3], \"dtype\": "
              "\"float32\"},"
              " {\"kind\": \"tensor\", \"shape\": [], \"dtype\": \"int64\", "
              "\"lo\": 0, \"hi\": 9}]},"
              "{\"kind\": \"none\"}], \"outputs\": ["
              "{\"shape\": [2], \"dtype\": \"int64\"}]}",
              &e),
        0);
    ck_assert_uint_eq(t.n_in, 2);
    ck_assert_int_eq(val_json(&b, t.skeleton), 0);
    ck_assert_str_eq(b.p, "[{\"v\":3},{\"l\":[{\"t\":0},{\"t\":1}]},"
                          "{\"v\":null}]");
    ck_assert(t.in[0].mutates && t.in[1].mutates);
    ck_assert(t.any_float && t.any_int);
    ck_assert_uint_eq(t.in_bytes, 24 + 8);
    /* An integer output is exact; written inputs are results too. */
    ck_assert_uint_eq(t.n_res, 3);
    ck_assert_int_eq(t.res[0].compare, COMPARE_EXACT);
    ck_assert(t.res[1].is_input && t.res[1].compare == COMPARE_CLOSE);
    ck_assert_str_eq(tensor_text(&a, &t.in[0].t), "float32[2, 3]");
    buf_release(&b);
    arena_release(&a);
}
END_TEST

static const struct {
    const char *json, *says;
} bad_tasks[] = {
    {"{}", "no source"},
    {"{\"source\": \"s\"}", "no inputs"},
    {"{\"source\": \"s\", \"inputs\": []}", "nothing to compare"},
    {"{\"source\": \"s\", \"inputs\": [], \"outputs\": [{\"shape\": [0, 4], "
     "\"dtype\": \"float32\"}]}",
     "no output has an element"},
    {"{\"source\": \"s\", \"inputs\": [{\"kind\": \"file\"}]}", "unknown kind"},
    {"{\"source\": \"s\", \"inputs\": [{\"kind\": \"int\"}]}", "no value"},
    {"{\"source\": \"s\", \"inputs\": [{\"kind\": \"tensor\", \"shape\": "
     "[-1], \"dtype\": \"float32\"}]}",
     "out of range"},
    {"{\"source\": \"s\", \"inputs\": [{\"kind\": \"tensor\", \"shape\": "
     "[4294967296, 4294967296, 4294967296], \"dtype\": \"float32\"}]}",
     "out of range"},
    {"{\"source\": \"s\", \"inputs\": [{\"kind\": \"tensor\", \"shape\": "
     "[1], \"dtype\": \"complex64\"}]}",
     "'complex64' is not supported"},
    {"{\"source\": \"s\", \"inputs\": [{\"kind\": \"tensor\", \"shape\": "
     "[1], \"dtype\": \"int64\", \"dist\": \"normal\"}]}",
     "is no float"},
    {"{\"source\": \"s\", \"inputs\": [{\"kind\": \"tensor\", \"shape\": "
     "[1], \"dtype\": \"int64\", \"lo\": 3, \"hi\": 2}]}",
     "range of an input"},
    {"{\"source\": \"s\", \"inputs\": [], \"outputs\": [{\"shape\": "
     "[2147483649], \"dtype\": \"float64\"}]}",
     "above 16 GiB"},
};

START_TEST(test_bad_tasks_say_why)
{
    struct arena a = ARENA_INIT;
    struct err e = {0};
    struct task t;
    ck_assert_int_eq(parse(&t, &a, bad_tasks[_i].json, &e), -1);
    ck_assert_int_eq(e.code, ERR_BAD_TASK);
    ck_assert_msg(strstr(e.msg, bad_tasks[_i].says) != NULL, "%s", e.msg);
    arena_release(&a);
}
END_TEST

/* ---- normal forms ---- */

static char *python(const char *text)
{
    struct buf b = BUF_INIT(100000);
    struct pyparser *p = pyparser_new(NULL);
    struct pytree t;
    ck_assert_ptr_nonnull(p);
    ck_assert_int_eq(pytree_parse(&t, p, span_str(text), 0, NULL), 0);
    ck_assert_int_eq(normal_python(&b, span_str(text),
                                   ts_tree_root_node(t.tree),
                                   (struct span){"", 0}),
                     0);
    pytree_release(&t);
    pyparser_free(p);
    return buf_detach(&b, NULL);
}

static char *c(const char *text)
{
    struct buf b = BUF_INIT(100000);
    ck_assert_int_eq(normal_c(&b, span_str(text)), 0);
    return buf_detach(&b, NULL);
}

static const struct {
    bool is_c;
    const char *a, *b;
    bool same;
} layouts[] = {
    {false, "def f(x):\n    return x + 1\n",
     "# note\ndef f( x ):\n  \"\"\"Doc.\"\"\"\n\n  return x+1  # one\n", true},
    {false, "a = 1\nb = 2\n", "a = 1; b = 2\n", true},
    {false, "def f():\n  a()\n  b()\n", "def f():\n  a()\nb()\n", false},
    {false, "x = 'a b'\n", "x = 'a  b'\n", false},
    {false, "x = a + b\n", "x = a - b\n", false},
    {false, "x = f(\n  1,\n  2)\n", "x = f(1, 2)\n", true},
    {false, "if a:\n  b\nelse:\n  c\n", "if a:\n  b\n  c\n", false},
    {true, "int a;/* x */int b;", "int a;\n\nint b; // y\n", true},
    {true, "#define A 1\nint a;", "#define A 1 int a;", false},
    {true, "a = \"x y\";", "a = \"x  y\";", false},
    {true, "a + +b;", "a ++b;", false},
    {true, "int ab;", "int a b;", false},
    {true, "a = '\"'; /* \" */ b", "a = '\"';b", true},
    {true, "#define A(x) \\\n  x\n", "#define A(x) x\n", true},
};

START_TEST(test_layout_does_not_count)
{
    char *a = layouts[_i].is_c ? c(layouts[_i].a) : python(layouts[_i].a);
    char *b = layouts[_i].is_c ? c(layouts[_i].b) : python(layouts[_i].b);
    ck_assert_msg((strcmp(a, b) == 0) == layouts[_i].same, "'%s' and '%s'", a,
                  b);
    free(a);
    free(b);
}
END_TEST

/* ---- findings ---- */

#define HEAD "import torch\nimport torch.nn as nn\n"

/* A reference with a helper, packed. */
static struct span a_task(struct arena *a, struct buf *b)
{
    struct val *v = val_map(a);
    val_set(a, v, "source",
            val_strz(a, HEAD "def act(x):\n    return torch.relu(x)\n"
                             "class Model(nn.Module):\n"
                             "    def forward(self, x):\n"
                             "        return act(x) + 1\n"));
    ck_assert_int_eq(val_pack(b, v), 0);
    return buf_span(b);
}

static const struct {
    bool native;
    const char *code;
    const char *finding; /* "grade:code", or "" for none */
    const char *contract;
} sources[] = {
    {false, HEAD "class ModelNew(nn.Module):\n    pass\n", "", "library_only"},
    {false, "import os\nos._exit(0)\n", "forbid:process_exit", NULL},
    {false, "s = '/proc/self/mem'\n", "forbid:process_attack", NULL},
    {false, "# os._exit(0), /proc/self/mem\n", "", NULL},
    {false, "import threading\n", "suspect:threading", NULL},
    {false, "from threading import Thread\n", "suspect:threading", NULL},
    {false, "import torch\ntorch.relu = None\n", "suspect:monkey_patch", NULL},
    {false, "import torch\nsetattr(torch, 'relu', None)\n",
     "suspect:monkey_patch", NULL},
    {false, "import torch\ntorch.backends.mkldnn.enabled = True\n", "", NULL},
    {false, "import gc\ngc.get_objects()\n", "suspect:introspection", NULL},
    {false, "f = e.__traceback__.tb_frame\n", "suspect:introspection", NULL},
    {false, "f = frames()[0].f_back\n", "suspect:introspection", NULL},
    {false, "tb_frames = 1\n", "", NULL},
    {false, "class T:\n    def __torch_function__(self):\n        pass\n",
     "suspect:overrides", NULL},
    {false, "try:\n    import triton\nexcept ImportError:\n    pass\n", "", ""},
    {true, "int f(void) { return 0; }", "", ""},
    {true, "int f(void) { kill(1, 9); }", "forbid:process_kill", ""},
    {true, "int f(void) { int skill = 1; return skill; }", "", ""},
    {true, "/* kill */ int f(void) { return 0; }", "", ""},
    {true, "#include <pthread.h>\nvoid f(void) { pthread_create(0,0,0,0); }",
     "suspect:threading", ""},
    /* copies of the reference */
    {false,
     HEAD "def act(y):\n    return torch.relu(y)\nclass ModelNew(nn.Module):\n"
          "    def forward(self, x):\n        return act(x) + 1\n",
     "", "library_only"}, /* another helper: another program */
    {false,
     HEAD "def act(x):\n    # same\n    return torch.relu(x)\n"
          "class ModelNew(nn.Module):\n    '''Mine.'''\n"
          "    def forward(self, x):\n        return (act(x)\n  + 1)\n",
     "", "library_only"}, /* parentheses are tokens */
    {false,
     HEAD "def act(x):\n    # same\n    return torch.relu(x)\n"
          "class ModelNew(nn.Module):\n    '''Mine.'''\n"
          "    def forward(self, x):\n        return act(x)   + 1\n",
     "", "reference_copy"},
    {false,
     HEAD "def act(x):\n    return torch.relu(x)\n"
          "class Model(nn.Module):\n"
          "    def forward(self, x):\n        return act(x) + 1\n"
          "ModelNew = Model\n",
     "", "reference_copy"},
    {false,
     HEAD "def act(x):\n    return torch.relu(x)\n"
          "class Base(nn.Module):\n"
          "    def forward(self, x):\n        return act(x) + 1\n"
          "class ModelNew(Base):\n    pass\n",
     "", "reference_copy"},
};

static const struct {
    const char *name, *base;
    bool own;
} kernels[] = {
    {"relu_kernel", "relu_kernel", true},
    {"void my::soft<float, 4>(float const*, int)", "soft", true},
    {"relu", "relu", false}, /* only as part of a longer word */
    {"void at::native::vectorized_elementwise_kernel<4, soft>(int, soft)",
     "vectorized_elementwise_kernel", false},
    {"void at::native::soft<float>(float*)", "soft", false},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32",
     "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32", false},
    {"", "", false},
    {"void <>", "", false},
};

START_TEST(test_whose_kernel)
{
    const struct span source =
        SPAN_LIT("@triton.jit\ndef relu_kernel(x): ...\n'void soft(float *)'");
    struct span name = span_str(kernels[_i].name);
    ck_assert(span_is(kernel_base(name), kernels[_i].base));
    ck_assert(kernel_is_own(name, source) == kernels[_i].own);
}
END_TEST

/* What only the plan's reader sees, as in a comment, is part of what a
 * candidate is; its blanks are not. */
START_TEST(test_the_plan_is_part_of_the_normal_form)
{
    static const char *const codes[] = {
        "/*\n#pragma km launch f<<<1, 2>>>(in0)\n*/ void f();",
        "/*\n#pragma km launch f<<<1,  2>>>( in0 )\n*/ void f();",
        "/*\n#pragma km launch f<<<2, 2>>>(in0)\n*/ void f();",
        "/*\n#pragma km launch g<<<1, 2>>>(in0)\n*/ void f();"};
    struct buf normal[ARRAY_LEN(codes)];
    struct arena a = ARENA_INIT;
    struct statics *s = statics_new(NULL);
    struct static_result r;
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        normal[i] = (struct buf)BUF_INIT(10000);
        ck_assert_int_eq(statics_look(s, &a, span_str(codes[i]),
                                      SPAN_LIT("cuda"), SPAN_LIT(""),
                                      &normal[i], &r, NULL),
                         0);
        ck_assert(span_eq(buf_span(&normal[i]), buf_span(&normal[0])) ==
                  (i < 2));
    }
    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        buf_release(&normal[i]);
    statics_free(s);
    arena_release(&a);
}
END_TEST

START_TEST(test_findings_and_contract)
{
    struct arena a = ARENA_INIT;
    struct buf b = BUF_INIT(10000), normal = BUF_INIT(10000);
    struct statics *s = statics_new(NULL);
    struct static_result r;
    const struct val *f;
    char got[80] = "";
    ck_assert_ptr_nonnull(s);
    ck_assert_int_eq(
        statics_look(s, &a, span_str(sources[_i].code),
                     sources[_i].native ? SPAN_LIT("c") : SPAN_LIT("torch"),
                     a_task(&a, &b), &normal, &r, NULL),
        0);
    f = val_at(r.findings, 0);
    if (f)
        snprintf(got, sizeof(got), "%.*s:%.*s", (int)val_gets(f, "grade").n,
                 val_gets(f, "grade").p, (int)val_gets(f, "code").n,
                 val_gets(f, "code").p);
    ck_assert_str_eq(got, sources[_i].finding);
    ck_assert((r.forbidden != NULL) ==
              (strncmp(sources[_i].finding, "forbid", 6) == 0));
    if (sources[_i].contract) {
        struct span code = val_as_str(val_at(val_get(r.contract, "codes"), 0));
        ck_assert(span_is(code.p ? code : SPAN_LIT(""), sources[_i].contract));
    }
    statics_free(s);
    buf_release(&b);
    buf_release(&normal);
    arena_release(&a);
}
END_TEST

Suite *eval_source_suite(void)
{
    Suite *s = suite_create("eval_source");
    TCase *t = tcase_create("task");
    tcase_add_test(t, test_task_flat_order_and_skeleton);
    tcase_add_loop_test(t, test_bad_tasks_say_why, 0, ARRAY_LEN(bad_tasks));
    suite_add_tcase(s, t);
    t = tcase_create("source");
    tcase_add_loop_test(t, test_layout_does_not_count, 0, ARRAY_LEN(layouts));
    tcase_add_test(t, test_the_plan_is_part_of_the_normal_form);
    tcase_add_loop_test(t, test_whose_kernel, 0, ARRAY_LEN(kernels));
    tcase_add_loop_test(t, test_findings_and_contract, 0, ARRAY_LEN(sources));
    suite_add_tcase(s, t);
    return s;
}
