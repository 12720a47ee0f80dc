/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/dup.h"

struct digest {
    const struct pymod *m;
    struct sha256 *hash;
    struct map numbers;        /* "SCOPE:NAME" -> order of first occurrence */
    ARRAY(const char *) types; /* of the ancestors */
    uint32_t import_depth;     /* of the import around, 0 = none */
};

static void add_name(struct digest *d, TSNode n, struct span name)
{
    const struct pysym *s = pymod_lookup_at(d->m, ts_node_start_byte(n), name);
    char key[160];
    void **number;

    if (!s) {
        sha256_add_field(d->hash, name);
        return;
    }
    snprintf(key, sizeof(key), "%d:%.*s", s->scope, (int)MIN(name.n, 128u),
             name.p);
    number = map_ref(&d->numbers, span_str(key));
    if (!*number)
        *number = (void *)(uintptr_t)d->numbers.n;
    snprintf(key, sizeof(key), "\1%zu", (size_t)(uintptr_t)*number);
    sha256_add_field(d->hash, span_str(key));
}

static bool enter(void *payload, TSNode n, const char *field, uint32_t depth)
{
    struct digest *d = payload;
    const char *type = ts_node_type(n);
    const char *up;

    if (strcmp(type, "comment") == 0)
        return false;
    if (d->import_depth > 0 && depth <= d->import_depth)
        d->import_depth = 0;
    if (strncmp(type, "import_", 7) == 0)
        d->import_depth = depth;
    array_reserve(&d->types, (size_t)depth + 1);
    d->types.v[depth] = type;
    up = depth > 0 ? d->types.v[depth - 1] : "";
    sha256_add_field(d->hash, span_str(type));
    /* The text of a string is a leaf, whatever escapes are marked in it. */
    if (ts_node_child_count(n) == 0 || strcmp(type, "string_content") == 0) {
        struct span text = pynode_text(d->m->text, n);
        bool attribute = field && ((strcmp(field, "attribute") == 0 &&
                                    strcmp(up, "attribute") == 0) ||
                                   (strcmp(field, "name") == 0 &&
                                    strcmp(up, "keyword_argument") == 0));

        if (strcmp(type, "identifier") == 0 && !attribute &&
            d->import_depth == 0)
            add_name(d, n, text);
        else
            sha256_add_field(d->hash, text);
        return false;
    }
    return true;
}

static void leave(void *payload, TSNode n, uint32_t depth)
{
    struct digest *d = payload;

    (void)n;
    (void)depth;
    sha256_add_field(d->hash, SPAN_LIT(")"));
}

void dup_digest(const struct pymod *m, char out[HASH_HEX + 1])
{
    struct digest d = {.m = m, .hash = sha256_new()};
    struct pyvisit v = {enter, leave, &d};

    pytree_walk(ts_tree_root_node(m->tree.tree), &v);
    sha256_hex(d.hash, out);
    sha256_free(d.hash);
    map_release(&d.numbers);
    array_release(&d.types);
}
