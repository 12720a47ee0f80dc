/* SPDX-License-Identifier: MIT */
/* The table of operators, and what it makes of counts. */
#include "base.h"

#include <check.h>

#include "testgen/graphs.h"
#include "testgen/ops.h"

Suite *testgen_ops_suite(void);

static struct arena a = ARENA_INIT;

static void teardown(void)
{
    arena_release(&a);
}

struct ops_case {
    const char *ops, *family, *tags;
};

static const struct ops_case cases[] = {
    {"{}", "elementwise", "[]"},
    {"{\"add_\":2,\"addmm\":1,\"t\":4}", "matmul",
     "[{\"kind\":\"binary\",\"count\":2},{\"kind\":\"matmul\",\"count\":1}]"},
    {"{\"__and__\":1,\"mul\":1,\"zeros\":1}", "elementwise",
     "[{\"kind\":\"binary\",\"count\":2},{\"kind\":\"fill\",\"count\":1}]"},
    /* attention written out; one product, or no softmax, is none */
    {"{\"bmm\":2,\"_softmax\":1}", "attention",
     "[{\"kind\":\"batched_matmul\",\"count\":2},"
     "{\"kind\":\"softmax\",\"count\":1}]"},
    {"{\"bmm\":1,\"_softmax\":1}", "matmul",
     "[{\"kind\":\"batched_matmul\",\"count\":1},"
     "{\"kind\":\"softmax\",\"count\":1}]"},
    {"{\"mm\":2,\"_softmax\":1}", "matmul",
     "[{\"kind\":\"matmul\",\"count\":2},{\"kind\":\"softmax\",\"count\":1}]"},
    {"{\"gru\":1,\"addmm\":9,\"mkldnn_rnn_layer\":1}", "recurrent",
     "[{\"kind\":\"matmul\",\"count\":9},{\"kind\":\"rnn\",\"count\":1}]"},
    {"{\"no_such_operator\":3,\"view\":1}", "elementwise",
     "[{\"kind\":\"other\",\"count\":3}]"},
    {"{\"cat\":1}", "layout", "[{\"kind\":\"join\",\"count\":1}]"},
};

START_TEST(test_counts)
{
    const struct ops_case *c = &cases[_i];
    struct buf b = BUF_INIT(1 << 16);
    struct val *ops;
    struct err e;
    ck_assert_int_eq(val_parse_json(&a, span_str(c->ops), 0, &ops, &e), 0);
    ck_assert_str_eq(ops_family(ops), c->family);
    ck_assert_int_eq(val_json(&b, ops_tags(&a, ops)), 0);
    ck_assert_str_eq(b.p, c->tags);
    buf_release(&b);
}
END_TEST

START_TEST(test_table)
{
    static const char *const names[] = {
#define FAMILY(name, text)
#define OP(name, kind, shape, flops, bytes, family) name,
#include "testgen/ops.def"
#undef FAMILY
#undef OP
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct op_row *row = op_find(span_str(names[i]));
        ck_assert_ptr_nonnull(row);
        ck_assert_str_eq(row->name, names[i]); /* no name twice */
        if (row->shape == OP_SHAPE_VIEW) {
            ck_assert_str_eq(row->kind, "none");
            ck_assert_int_eq(row->bytes, OP_BYTES_NONE);
            ck_assert_int_eq(row->flops, OP_FLOPS_NONE);
        }
        for (size_t k = 0; k < i; k++)
            ck_assert_str_ne(names[k], names[i]);
    }
    ck_assert_int_eq(OP_FAMILY_NONE, 20);
    ck_assert_ptr_eq(op_find(SPAN_LIT("relu_")), op_find(SPAN_LIT("relu")));
    ck_assert_ptr_null(op_find(SPAN_LIT("relu__")));
    ck_assert_ptr_null(op_find(SPAN_LIT("_")));
    ck_assert_ptr_null(op_find(SPAN_LIT("")));
}
END_TEST

/* What goes out has the cluster of the first with its graph. */
START_TEST(test_clusters_of_graphs)
{
    static const char *const records[][2] = {
        {"{\"kind\": \"task\", \"id\": \"a\", \"graph\": \"g\"}", ""},
        {"{\"kind\": \"task\", \"id\": \"b\", \"graph\": \"h\", "
         "\"cluster\": \"m\"}",
         "m"},
        {"{\"kind\": \"module\", \"id\": \"c\", \"graph\": \"g\"}", ""},
        {"{\"kind\": \"task\", \"id\": \"d\", \"graph\": \"g\"}", "a"},
        {"{\"kind\": \"task\", \"id\": \"e\", \"graph\": \"h\"}", "m"},
        {"{\"kind\": \"task\", \"id\": \"f\", \"graph\": \"g\", "
         "\"cluster\": \"n\"}",
         "n"},
        {"{\"kind\": \"task\", \"id\": \"i\"}", ""},
    };
    struct graphs g = GRAPHS_INIT;
    for (size_t i = 0; i < ARRAY_LEN(records); i++) {
        struct buf b = BUF_INIT(1000);
        struct err e;
        struct val *v;
        size_t used;
        ck_assert_int_eq(val_parse_json(&a, span_str(records[i][0]),
                                        VAL_JSON_STRICT, &v, &e),
                         0);
        ck_assert_int_eq(val_pack(&b, v), 0);
        struct val *was = v;
        ck_assert_int_eq(graphs_mark(&g, &b, &e), 0);
        ck_assert_int_eq(val_unpack(&a, buf_span(&b), &used, &v, &e), 0);
        ck_assert(span_is(val_gets(v, "cluster"), records[i][1]));
        val_del(v, "cluster"); /* all else as it was */
        val_del(was, "cluster");
        ck_assert(val_equal(v, was));
        buf_release(&b);
    }
    graphs_release(&g);
}
END_TEST

Suite *testgen_ops_suite(void)
{
    Suite *s = suite_create("testgen_ops");
    TCase *t = tcase_create("operators");
    tcase_add_checked_fixture(t, NULL, teardown);
    tcase_add_loop_test(t, test_counts, 0, ARRAY_LEN(cases));
    tcase_add_test(t, test_table);
    tcase_add_test(t, test_clusters_of_graphs);
    suite_add_tcase(s, t);
    return s;
}
