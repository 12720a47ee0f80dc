/* SPDX-License-Identifier: MIT */
#include "base.h"

#include <yaml.h>

#include "clean/yaml.h"
#include "map.h"

#define MAX_NODES 20000
#define MAX_DEPTH 64
#define MAX_ALIAS 1000 /* aliases of a document */

struct reader {
    struct ytree *t;
    struct map anchors; /* name -> number of its node, from 1 */
    int open[MAX_DEPTH], last[MAX_DEPTH]; /* nodes; their last child */
    int depth, n_aliases;
    bool ended;
};

int ytree_at(const struct ytree *t, int n)
{
    return n >= 0 && t->nodes.v[n].kind == YNODE_ALIAS ? t->nodes.v[n].to : n;
}

void ytree_release(struct ytree *t)
{
    array_release(&t->nodes);
    arena_release(&t->arena);
}

static struct span kept(struct reader *r, const yaml_char_t *p, size_t n)
{
    struct span s = {(const char *)p, p ? n : 0};

    return s.n ? arena_span(&r->t->arena, s) : (struct span){"", 0};
}

static struct span kept_name(struct reader *r, const yaml_char_t *p)
{
    return kept(r, p, p ? strlen((const char *)p) : 0);
}

/* Put a node of KIND below the one that is open; its number, or -1. */
static int add(struct reader *r, enum ynode_kind kind, const yaml_event_t *ev)
{
    struct ynode node = {.kind = kind,
                         .line = (uint32_t)ev->start_mark.line + 1,
                         .up = YAML_NONE,
                         .first = YAML_NONE,
                         .next = YAML_NONE,
                         .to = YAML_NONE};
    int n = (int)r->t->nodes.n;

    if (n == MAX_NODES)
        return -1;
    if (r->depth > 0) {
        int last = r->last[r->depth - 1];

        node.up = r->open[r->depth - 1];
        if (last == YAML_NONE)
            r->t->nodes.v[node.up].first = n;
        else
            r->t->nodes.v[last].next = n;
        r->last[r->depth - 1] = n;
    }
    array_push(&r->t->nodes, node);
    r->ended = r->depth == 0;
    return n;
}

static void name(struct reader *r, int n, const yaml_char_t *anchor)
{
    if (anchor)
        map_put(&r->anchors, span_str((const char *)anchor),
                (void *)(uintptr_t)(n + 1));
}

static int add_scalar(struct reader *r, const yaml_event_t *ev)
{
    int n = add(r, YNODE_SCALAR, ev);
    struct ynode *x;

    if (n < 0)
        return -1;
    x = &r->t->nodes.v[n];
    x->plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    x->tag = kept_name(r, ev->data.scalar.tag);
    x->text = kept(r, ev->data.scalar.value, ev->data.scalar.length);
    name(r, n, ev->data.scalar.anchor);
    return 0;
}

static int add_alias(struct reader *r, const yaml_event_t *ev)
{
    uintptr_t to = (uintptr_t)map_get(
        &r->anchors, span_str((const char *)ev->data.alias.anchor));
    int n;

    if (to == 0 || ++r->n_aliases > MAX_ALIAS)
        return -1;
    n = add(r, YNODE_ALIAS, ev);
    if (n < 0)
        return -1;
    r->t->nodes.v[n].to = (int)to - 1;
    return 0;
}

static int enter(struct reader *r, enum ynode_kind kind, const yaml_event_t *ev)
{
    bool map = kind == YNODE_MAP;
    int n = r->depth == MAX_DEPTH ? -1 : add(r, kind, ev);

    if (n < 0)
        return -1;
    r->t->nodes.v[n].tag = kept_name(r, map ? ev->data.mapping_start.tag
                                            : ev->data.sequence_start.tag);
    name(r, n,
         map ? ev->data.mapping_start.anchor : ev->data.sequence_start.anchor);
    r->open[r->depth] = n;
    r->last[r->depth++] = YAML_NONE;
    r->ended = false;
    return 0;
}

static int take(struct reader *r, const yaml_event_t *ev)
{
    switch (ev->type) {
    case YAML_SCALAR_EVENT:
        return add_scalar(r, ev);
    case YAML_ALIAS_EVENT:
        return add_alias(r, ev);
    case YAML_SEQUENCE_START_EVENT:
        return enter(r, YNODE_LIST, ev);
    case YAML_MAPPING_START_EVENT:
        return enter(r, YNODE_MAP, ev);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        r->ended = --r->depth == 0;
        return 0;
    case YAML_STREAM_END_EVENT:
        return -1; /* before the first node */
    default:
        return 0;
    }
}

int ytree_read(struct ytree *t, struct span text)
{
    struct reader r = {.t = t, .anchors = MAP_INIT};
    yaml_parser_t p;
    yaml_event_t ev;
    int rc = 0;

    if (!yaml_parser_initialize(&p))
        return -1;
    yaml_parser_set_input_string(&p, (const unsigned char *)text.p, text.n);
    while (rc == 0 && !r.ended) {
        if (!yaml_parser_parse(&p, &ev)) {
            rc = -1;
            break;
        }
        rc = take(&r, &ev);
        yaml_event_delete(&ev);
    }
    yaml_parser_delete(&p);
    map_release(&r.anchors);
    return rc;
}
