/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/config_priv.h"
#include "py/pymod.h"

#define MAX_NAME  200
#define MAX_LOOKS 1000000
#define MAX_BODY  ((size_t)1 << 20)

bool config_is(struct span path)
{
    return span_ends(path, ".yaml") || span_ends(path, ".yml") ||
           span_ends(path, ".json");
}

static const struct ynode *node(const struct config *c, int n)
{
    return &c->t->nodes.v[n];
}

int config_child(struct config *c, int n, struct span key)
{
    int found = YAML_NONE;

    for (int k = node(c, n)->first; k != YAML_NONE && c->left-- > 0;) {
        int v = node(c, k)->next;

        if (node(c, k)->kind == YNODE_SCALAR && span_eq(node(c, k)->text, key))
            found = v;
        k = v == YAML_NONE ? v : node(c, v)->next;
    }
    return found;
}

/* ---- what makes something ---- */

static bool is_identifier(struct span s)
{
    return s.n <= MAX_NAME && py_is_identifier(s);
}

static bool is_dotted(struct span s)
{
    if (s.n > MAX_NAME)
        return false;
    for (;;) {
        const char *dot = s.n ? memchr(s.p, '.', s.n) : NULL;

        if (!is_identifier((struct span){s.p, dot ? (size_t)(dot - s.p) : s.n}))
            return false;
        if (!dot)
            return true;
        s = (struct span){dot + 1, (size_t)(s.p + s.n - dot - 1)};
    }
}

/* `_target_` and its like: what is no argument. */
static bool is_special(struct span key)
{
    return key.n > 2 && key.p[0] == '_' && key.p[key.n - 1] == '_';
}

/* Are the keys of map N names of arguments? */
static bool has_names(const struct config *c, int n, bool beside)
{
    for (int k = node(c, n)->first; k != YAML_NONE;) {
        const struct ynode *x = node(c, k);

        if (x->kind != YNODE_SCALAR ||
            (!is_identifier(x->text) && !span_is(x->text, "<<") &&
             !(beside && is_special(x->text))))
            return false;
        k = node(c, x->next)->next;
    }
    return true;
}

/* The arguments of M are node N, of a map, a list, or nothing. */
static void give(struct config *c, struct maker *m, int n)
{
    n = ytree_at(c->t, n);
    m->args = n;
    if (n == YAML_NONE)
        return;
    if (node(c, n)->kind == YNODE_SCALAR) {
        m->args = YAML_NONE;
        m->broken |= node(c, n)->text.n > 0 && !span_is(node(c, n)->text, "{}");
    } else if (node(c, n)->kind == YNODE_MAP) {
        m->broken |= !has_names(c, n, m->beside);
    }
}

static void find_hyper(struct config *c, int n, struct maker *m)
{
    struct span tag = node(c, n)->tag;
    size_t skip = span_starts(tag, "!new:")    ? 5
                  : span_starts(tag, "!name:") ? 6
                                               : 0;

    if (skip == 0)
        return;
    m->name = (struct span){tag.p + skip, tag.n - skip};
    m->partial = skip == 6;
    give(c, m, n);
}

static bool is_true(const struct config *c, int n)
{
    return n != YAML_NONE && (span_is(node(c, n)->text, "true") ||
                              span_is(node(c, n)->text, "True"));
}

static void find_target(struct config *c, int n, struct maker *m)
{
    static const char *const keys[][2] = {
        {"_target_", NULL}, {"class_path", "init_args"}, {"target", "params"}};

    for (size_t i = 0; i < ARRAY_LEN(keys) && m->name.n == 0; i++) {
        int v = config_child(c, n, span_str(keys[i][0]));
        struct span name = {"", 0};

        if (v != YAML_NONE && node(c, v)->kind == YNODE_SCALAR)
            name = node(c, v)->text;
        /* "target" alone may be anything */
        if (keys[i][1] && !(name.n && memchr(name.p, '.', name.n)))
            continue;
        m->name = name;
        m->beside = !keys[i][1];
        if (m->name.n > 0)
            give(c, m,
                 m->beside ? n : config_child(c, n, span_str(keys[i][1])));
    }
    if (!m->beside || m->name.n == 0)
        return;
    m->positional = ytree_at(c->t, config_child(c, n, SPAN_LIT("_args_")));
    m->partial = is_true(c, config_child(c, n, SPAN_LIT("_partial_")));
    if (m->positional != YAML_NONE)
        m->broken |= node(c, m->positional)->kind != YNODE_LIST;
}

static void find_makers(struct config *c)
{
    for (size_t i = 0; i < c->t->nodes.n && !c->hyper; i++)
        c->hyper = span_starts(c->t->nodes.v[i].tag, "!new:");
    for (size_t i = 0; i < c->t->nodes.n; i++) {
        struct maker *m = &c->makers[i];

        m->args = m->positional = YAML_NONE;
        if (c->hyper)
            find_hyper(c, (int)i, m);
        else if (node(c, (int)i)->kind == YNODE_MAP)
            find_target(c, (int)i, m);
        m->broken |= m->name.n > 0 && !is_dotted(m->name);
    }
}

/* ---- Python ---- */

static void queue(struct config *c, int n)
{
    if (c->queued[n])
        return;
    c->queued[n] = true;
    array_push(&c->queue, n);
}

void config_refer(struct config *c, int n)
{
    n = ytree_at(c->t, n);
    queue(c, n);
    (void)!buf_printf(&c->body, "n%d_", n);
}

static bool is_object(const struct config *c, int n)
{
    const struct maker *m = &c->makers[n];

    return m->name.n > 0 && !m->broken && !m->partial;
}

static void put_node(struct config *c, int n);

/* A value where it stands: one that has a statement by its name. */
static void put_value(struct config *c, int n)
{
    if (node(c, n)->kind == YNODE_ALIAS || is_object(c, n))
        config_refer(c, n);
    else
        put_node(c, n);
}

static void put_items(struct config *c, int list)
{
    for (int i = node(c, list)->first; i != YAML_NONE; i = node(c, i)->next) {
        put_value(c, i);
        (void)!buf_adds(&c->body, ", ");
    }
}

static void put_keywords(struct config *c, int map, bool beside)
{
    for (int k = node(c, map)->first, v; k != YAML_NONE; k = node(c, v)->next) {
        struct span key = node(c, k)->text;

        v = node(c, k)->next;
        /* Hydra's own, at the top of a file */
        if (beside &&
            (is_special(key) || (map == 0 && span_is(key, "defaults"))))
            continue;
        if (span_is(key, "<<"))
            (void)!buf_adds(&c->body, "**");
        else
            (void)!(buf_addspan(&c->body, key) || buf_addc(&c->body, '='));
        put_value(c, v);
        (void)!buf_adds(&c->body, ", ");
    }
}

static void need_module(struct config *c, struct span name)
{
    struct span last = span_last_part(name);

    if (last.n < name.n)
        map_put(&c->imports, (struct span){name.p, name.n - last.n - 1}, c);
}

static bool has_arguments(const struct config *c, const struct maker *m)
{
    if (m->positional != YAML_NONE)
        return true;
    if (m->args == YAML_NONE)
        return false;
    for (int k = node(c, m->args)->first; k != YAML_NONE;) {
        if (!m->beside || !is_special(node(c, k)->text))
            return true;
        k = node(c, node(c, k)->next)->next;
    }
    return false;
}

static void put_made(struct config *c, const struct maker *m)
{
    bool bare = m->partial && !has_arguments(c, m);

    need_module(c, m->name);
    if (m->partial && !bare) {
        need_module(c, SPAN_LIT("functools.partial"));
        (void)!buf_adds(&c->body, "functools.partial(");
    }
    (void)!buf_addspan(&c->body, m->name);
    if (bare)
        return;
    (void)!buf_adds(&c->body, m->partial ? ", " : "(");
    if (m->positional != YAML_NONE)
        put_items(c, m->positional);
    if (m->args != YAML_NONE && node(c, m->args)->kind == YNODE_LIST)
        put_items(c, m->args);
    else if (m->args != YAML_NONE)
        put_keywords(c, m->args, m->beside);
    (void)!buf_addc(&c->body, ')');
}

static void put_map(struct config *c, int n)
{
    (void)!buf_addc(&c->body, '{');
    for (int k = node(c, n)->first, v; k != YAML_NONE; k = node(c, v)->next) {
        bool merge = node(c, k)->kind == YNODE_SCALAR && node(c, k)->plain &&
                     span_is(node(c, k)->text, "<<");

        v = node(c, k)->next;
        if (merge) {
            (void)!buf_adds(&c->body, "**");
        } else {
            put_value(c, k);
            (void)!buf_adds(&c->body, ": ");
        }
        put_value(c, v);
        (void)!buf_adds(&c->body, ", ");
    }
    (void)!buf_addc(&c->body, '}');
}

/* Nesting is bounded by the tree's. */
static void put_node(struct config *c, int n)
{
    const struct ynode *x = node(c, n);
    bool tuple = span_ends(x->tag, "tuple");

    if (c->makers[n].broken) {
        (void)!buf_adds(&c->body, "...");
    } else if (c->makers[n].name.n > 0) {
        put_made(c, &c->makers[n]);
    } else if (x->kind == YNODE_SCALAR) {
        config_scalar(c, n);
    } else if (x->tag.n > 0 && !tuple &&
               !span_starts(x->tag, "tag:yaml.org,2002:")) {
        (void)!buf_adds(&c->body, "...");
    } else if (x->kind == YNODE_LIST) {
        (void)!buf_addc(&c->body, tuple ? '(' : '[');
        put_items(c, n);
        (void)!buf_addc(&c->body, tuple ? ')' : ']');
    } else {
        put_map(c, n);
    }
}

static int put_all(struct config *c, struct buf *out,
                   struct config_lines *lines)
{
    ARRAY(uint32_t) of = {0};
    int rc = 0;

    for (size_t i = 0; i < c->t->nodes.n; i++)
        if (is_object(c, (int)i))
            queue(c, (int)i);
    for (size_t i = 0; i < c->queue.n && !c->body.full; i++) {
        (void)!buf_printf(&c->body, "n%d_ = ", c->queue.v[i]);
        put_node(c, c->queue.v[i]);
        (void)!buf_addc(&c->body, '\n');
        array_push(&of, node(c, c->queue.v[i])->line);
    }
    if (c->body.full || c->queue.n == 0)
        rc = -1;
    for (size_t i = 0; i < c->imports.n && rc == 0; i++) {
        struct span s = c->imports.entries[i].key;

        rc = buf_printf(out, "import %.*s\n", (int)s.n, s.p);
        array_push(&lines->of, 0);
    }
    for (size_t i = 0; i < of.n && rc == 0; i++)
        array_push(&lines->of, of.v[i]);
    array_release(&of);
    return rc ? -1 : buf_addspan(out, buf_span(&c->body));
}

int config_python(struct buf *out, struct config_lines *lines, struct span text)
{
    struct ytree t = {0};
    struct config c = {.t = &t, .body = BUF_INIT(MAX_BODY), .left = MAX_LOOKS};
    int rc = ytree_read(&t, text);

    if (rc == 0) {
        c.makers = xcalloc(t.nodes.n, sizeof(*c.makers));
        c.queued = xcalloc(t.nodes.n, sizeof(*c.queued));
        find_makers(&c);
        rc = put_all(&c, out, lines);
    }
    free(c.makers);
    free(c.queued);
    array_release(&c.queue);
    buf_release(&c.body);
    map_release(&c.imports);
    ytree_release(&t);
    return rc;
}
