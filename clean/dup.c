/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/dup.h"

struct level {
    const char *type;
    int scope; /* inside of parameters: that of the function, else 0 */
};

struct digest {
    const struct pymod *m;
    struct sha256 *hash;
    struct map numbers;         /* "SCOPE:NAME" -> order of first occurrence */
    ARRAY(struct level) levels; /* the ancestors */
    uint32_t import_depth;      /* of the import around, 0 = none */
};

/* Is the identifier in FIELD of UP the name of a parameter? */
static bool is_parameter(const struct level *up, const char *field)
{
    static const char *const direct[] = {
        "parameters", "lambda_parameters", "typed_parameter",
        "list_splat_pattern", "dictionary_splat_pattern"};

    if (up->scope <= 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(direct); i++)
        if (strcmp(up->type, direct[i]) == 0)
            return true;
    return field && strcmp(field, "name") == 0 &&
           (strcmp(up->type, "default_parameter") == 0 ||
            strcmp(up->type, "typed_default_parameter") == 0);
}

static void add_name(struct digest *d, TSNode n, struct span name,
                     const struct level *up, const char *field)
{
    const struct pysym *s =
        is_parameter(up, field)
            ? pymod_lookup(d->m, up->scope, name)
            : pymod_lookup_at(d->m, ts_node_start_byte(n), name);
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
    struct level here = {type, 0}, none = {"", 0};
    const struct level *up;

    if (strcmp(type, "comment") == 0)
        return false;
    if (d->import_depth > 0 && depth <= d->import_depth)
        d->import_depth = 0;
    if (strncmp(type, "import_", 7) == 0)
        d->import_depth = depth;
    array_reserve(&d->levels, (size_t)depth + 1);
    up = depth > 0 ? &d->levels.v[depth - 1] : &none;
    here.scope = up->scope;
    if (strcmp(type, "parameters") == 0 ||
        strcmp(type, "lambda_parameters") == 0)
        here.scope = pymod_scope_at(
            d->m, ts_node_start_byte(pynode_field(ts_node_parent(n), "body")));
    d->levels.v[depth] = here;
    sha256_add_field(d->hash, span_str(type));
    /* The text of a string is a leaf, whatever escapes are marked in it. */
    if (ts_node_child_count(n) == 0 || strcmp(type, "string_content") == 0) {
        struct span text = pynode_text(d->m->text, n);
        bool attribute = field && ((strcmp(field, "attribute") == 0 &&
                                    strcmp(up->type, "attribute") == 0) ||
                                   (strcmp(field, "name") == 0 &&
                                    strcmp(up->type, "keyword_argument") == 0));

        if (strcmp(type, "identifier") == 0 && !attribute &&
            d->import_depth == 0)
            add_name(d, n, text, up, field);
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
    array_release(&d.levels);
}
