/* SPDX-License-Identifier: MIT */
/* The class Model of KernelBench's form around a function. */
#include "base.h"

#include "clean/write.h"

/* What stands for parameter N in a call. KEYWORD: behind a lone `*`. */
static int put_argument(struct buf *out, struct span text, TSNode n,
                        bool *keyword, const char *sep)
{
    const char *star = "";
    struct span name;

    if (pynode_is(n, "keyword_separator"))
        *keyword = true;
    if (pynode_is(n, "default_parameter") ||
        pynode_is(n, "typed_default_parameter"))
        n = pynode_field(n, "name");
    else if (pynode_is(n, "typed_parameter"))
        n = ts_node_named_child(n, 0);
    if (pynode_is(n, "list_splat_pattern")) {
        star = "*";
        *keyword = true;
        n = ts_node_named_child(n, 0);
    } else if (pynode_is(n, "dictionary_splat_pattern")) {
        star = "**";
        n = ts_node_named_child(n, 0);
    }
    if (!pynode_is(n, "identifier"))
        return 0;
    name = pynode_text(text, n);
    if (*keyword && !star[0])
        return buf_printf(out, "%s%.*s=%.*s", sep, (int)name.n, name.p,
                          (int)name.n, name.p);
    return buf_printf(out, "%s%s%.*s", sep, star, (int)name.n, name.p);
}

int wrap_function(struct pyparser *p, struct span entry, struct buf *source,
                  struct err *e)
{
    struct pymod *m = pymod_new(p, "source", buf_span(source), e);
    const struct pydef *d = m ? pymod_def(m, entry) : NULL;
    struct span text, params;
    bool keyword = false;
    TSNode list;
    int rc = -1;

    if (!d) {
        rc = m ? err_set(e, ERR_UNRESOLVED, "the function is not there") : -1;
        goto out;
    }
    if (pymod_lookup(m, 0, SPAN_LIT("Model"))) {
        err_set(e, ERR_UNRESOLVED, "the source has a Model of its own");
        goto out;
    }
    text = m->text;
    list = pynode_field(d->node, "parameters");
    params = pynode_text(text, list);
    rc = buf_printf(source,
                    "\n\nimport torch\n\n\nclass Model(torch.nn.Module):\n"
                    "    def forward(self, %.*s:\n        return %.*s(",
                    (int)params.n - 1, params.p + 1, (int)entry.n, entry.p);
    for (uint32_t i = 0, n = 0; i < ts_node_named_child_count(list); i++) {
        size_t before = source->n;

        rc |= put_argument(source, text, ts_node_named_child(list, i), &keyword,
                           n ? ", " : "");
        n += source->n > before;
    }
    rc |= buf_adds(source, ")\n");
    if (rc)
        err_set(e, ERR_TOO_LARGE, "the standalone source would be too large");
out:
    pymod_free(m);
    return rc ? -1 : 0;
}
