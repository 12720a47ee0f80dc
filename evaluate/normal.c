/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "evaluate/normal.h"

#include "array.h"
#include "py/pytree.h"

struct python {
    struct buf *out;
    struct span text, rename;
    ARRAY(uint32_t) blocks; /* depths of the blocks around */
};

static bool enter(void *payload, TSNode n, const char *field UNUSED,
                  uint32_t depth)
{
    struct python *p = payload;
    struct span s = pynode_text(p->text, n);
    bool statement = p->blocks.n && depth == p->blocks.v[p->blocks.n - 1] + 1;

    if (pynode_is(n, "comment") || pynode_is(n, ";"))
        return false;
    if (pynode_is(n, "expression_statement") && ts_node_child_count(n) == 1 &&
        pynode_is(ts_node_child(n, 0), "string"))
        return false;
    if (statement)
        buf_addc(p->out, '\n');
    if (pynode_is(n, "module") || pynode_is(n, "block")) {
        array_push(&p->blocks, depth);
        buf_addc(p->out, '{');
        return true;
    }
    if (pynode_is(n, "string") || ts_node_child_count(n) == 0) {
        if (p->rename.n && span_eq(s, p->rename))
            buf_addc(p->out, 1);
        else
            buf_addspan(p->out, s);
        buf_addc(p->out, ' ');
        return false;
    }
    return true;
}

static void leave(void *payload, TSNode n, uint32_t depth UNUSED)
{
    struct python *p = payload;
    if (pynode_is(n, "module") || pynode_is(n, "block")) {
        p->blocks.n--;
        buf_addc(p->out, '}');
    }
}

int normal_python(struct buf *out, struct span text, TSNode root,
                  struct span rename)
{
    struct python p = {.out = out, .text = text, .rename = rename};
    struct pyvisit v = {enter, leave, &p};
    pytree_walk(root, &v);
    array_release(&p.blocks);
    return out->full ? -1 : 0;
}

/* ---- C ---- */

/* End of what starts at I and is no token: white space, a comment, a joined
 * line; I itself when a token starts. A newline is a token of its own. */
static size_t skip(struct span s, size_t i)
{
    for (;;) {
        size_t was = i;
        while (i < s.n && strchr(" \t\r\v\f", s.p[i]) && s.p[i])
            i++;
        if (i + 1 < s.n && s.p[i] == '\\' && s.p[i + 1] == '\n') {
            i += 2;
        } else if (i + 1 < s.n && s.p[i] == '/' && s.p[i + 1] == '/') {
            while (i < s.n && s.p[i] != '\n')
                i++;
        } else if (i + 1 < s.n && s.p[i] == '/' && s.p[i + 1] == '*') {
            for (i += 2; i + 1 < s.n && !(s.p[i] == '*' && s.p[i + 1] == '/');)
                i++;
            i = MIN(i + 2, s.n);
        }
        if (i == was)
            return i;
    }
}

static size_t literal(struct span s, size_t i)
{
    char quote = s.p[i++];
    while (i < s.n && s.p[i] != quote && s.p[i] != '\n')
        i += s.p[i] == '\\' && i + 1 < s.n ? 2 : 1;
    return MIN(i + 1, s.n);
}

bool normal_c_token(struct span s, size_t *at, struct span *token)
{
    size_t i = skip(s, *at), start = i;
    if (i >= s.n)
        return false;
    if (s.p[i] == '"' || s.p[i] == '\'')
        i = literal(s, i);
    else if (is_word_char(s.p[i]))
        while (i < s.n && is_word_char(s.p[i]))
            i++;
    else
        i++;
    *token = (struct span){s.p + start, i - start};
    *at = i;
    return true;
}

int normal_c(struct buf *out, struct span s)
{
    bool directive = false, fresh = true;
    struct span t;
    size_t at = 0;
    while (normal_c_token(s, &at, &t)) {
        if (t.p[0] == '\n') {
            if (directive)
                buf_addc(out, '\n');
            directive = false;
            fresh = true;
            continue;
        }
        if (fresh && t.p[0] == '#') {
            directive = true;
            buf_addc(out, '\n');
        }
        fresh = false;
        buf_addspan(out, t);
        /* "+ +" is not "++": operators that touch are told apart. */
        buf_addc(out, at < s.n && !is_word_char(t.p[0]) &&
                              !is_word_char(s.p[at]) && s.p[at] != '\n' &&
                              skip(s, at) == at
                          ? '\2'
                          : ' ');
    }
    return out->full ? -1 : 0;
}
