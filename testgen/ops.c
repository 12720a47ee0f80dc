/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "testgen/ops.h"

static const struct op_row rows[] = {
#define FAMILY(name, text)
#define OP(name, kind, shape, flops, bytes, family)                            \
    {name,                                                                     \
     kind,                                                                     \
     OP_SHAPE_##shape,                                                         \
     OP_FLOPS_##flops,                                                         \
     OP_BYTES_##bytes,                                                         \
     OP_FAMILY_##family},
#include "testgen/ops.def"
#undef FAMILY
#undef OP
};

static const char *const families[] = {
#define FAMILY(name, text) [OP_FAMILY_##name] = text,
#define OP(name, kind, shape, flops, bytes, family)
#include "testgen/ops.def"
#undef FAMILY
#undef OP
};

const struct op_row *op_find(struct span name)
{
    if (name.n > 1 && name.p[name.n - 1] == '_' && name.p[name.n - 2] != '_')
        name.n--;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (span_is(name, rows[i].name))
            return &rows[i];
    return NULL;
}

const char *ops_family(const struct val *ops)
{
    int64_t count[OP_FAMILY_NONE + 1] = {0}, products = 0;
    for (size_t i = 0; i < val_len(ops); i++) {
        const struct op_row *row = op_find(ops->map.keys[i]);
        int64_t n = val_as_int(ops->map.v[i], 0);
        if (!row)
            continue;
        count[row->family] += n;
        if (strcmp(row->kind, "batched_matmul") == 0)
            products += n;
    }
    /* attention that is written out */
    if (products >= 2 && count[OP_FAMILY_SOFTMAX])
        count[OP_FAMILY_ATTENTION]++;
    for (size_t i = 0; i < OP_FAMILY_NONE; i++)
        if (count[i])
            return families[i];
    return families[OP_FAMILY_ELEMENTWISE];
}

static int by_count(const void *l, const void *r)
{
    const struct val *x = *(struct val *const *)l, *y = *(struct val *const *)r;
    int64_t m = val_geti(x, "count", 0), n = val_geti(y, "count", 0);
    struct span a = val_gets(x, "kind"), b = val_gets(y, "kind");
    int d = memcmp(a.p, b.p, MIN(a.n, b.n));
    return m != n ? (m < n) - (m > n) : d ? d : (a.n > b.n) - (a.n < b.n);
}

struct val *ops_tags(struct arena *a, const struct val *ops)
{
    struct val *list = val_list(a);
    for (size_t i = 0; i < val_len(ops); i++) {
        const struct op_row *row = op_find(ops->map.keys[i]);
        const char *kind = row ? row->kind : "other";
        struct val *tag = NULL;
        if (strcmp(kind, "none") == 0)
            continue;
        for (size_t k = 0; k < val_len(list) && !tag; k++)
            if (span_is(val_gets(val_at(list, k), "kind"), kind))
                tag = val_at(list, k);
        if (!tag) {
            tag = val_map(a);
            val_set(a, tag, "kind", val_strz(a, kind));
            val_push(a, list, tag);
        }
        val_set(a, tag, "count",
                val_int(a, val_geti(tag, "count", 0) +
                               val_as_int(ops->map.v[i], 0)));
    }
    if (val_len(list) > 1)
        qsort(list->list.v, list->list.n, sizeof(list->list.v[0]), by_count);
    return list;
}
