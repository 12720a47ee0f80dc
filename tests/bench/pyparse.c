/* SPDX-License-Identifier: MIT */
/* Speed of the parser alone: reads the output of `git cat-file --batch` on
 * stdin, parses each blob that can be decoded, prints bytes and CPU seconds. */
#include "base.h"

#include <time.h>

#include "log.h"
#include "py/pytree.h"

#define MAX_BLOB (64u << 20)

int main(void)
{
    struct err e;
    struct pyparser *parser = pyparser_new(&e);
    struct buf raw = BUF_INIT(MAX_BLOB), text = BUF_INIT(PY_MAX_SOURCE * 4);
    double seconds = 0;
    size_t bytes = 0;
    char head[256];
    if (!parser)
        die_err(&e);
    while (fgets(head, sizeof(head), stdin)) {
        const char *blank = strrchr(head, ' ');
        size_t n = blank ? strtoul(blank + 1, NULL, 10) : 0;
        struct pytree tree;
        if (!strstr(head, " blob "))
            continue; /* missing */
        buf_clear(&raw);
        buf_clear(&text);
        char *p = buf_reserve(&raw, n + 1);
        if (!p || fread(p, 1, n + 1, stdin) != n + 1)
            die("input ends early");
        buf_setlen(&raw, n);
        if (n > PY_MAX_SOURCE || py_decode(&text, buf_span(&raw), &e) != 0)
            continue;
        clock_t start = clock();
        if (pytree_parse(&tree, parser, buf_span(&text), 0, &e) == 0)
            pytree_release(&tree);
        seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
        bytes += text.n;
    }
    printf("%zu %.6f\n", bytes, seconds);
    buf_release(&raw);
    buf_release(&text);
    pyparser_free(parser);
    return 0;
}
