/* SPDX-License-Identifier: MIT */
/* Any bytes as a configuration of a small repository, up to its calls. */
#include "base.h"

#include "clean/calls.h"
#include "clean/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char source[] =
    "from torch import nn\n"
    "class Net(nn.Module):\n"
    "    def __init__(self, dim, act=nn.ReLU, block=None):\n"
    "        super().__init__()\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pyparser *parser;
    struct span text = {(const char *)data, size};
    struct buf python = BUF_INIT(4u << 20);
    struct config_lines lines = {0};
    struct policy policy = {0};
    struct crepo repo;
    struct calls *calls;
    struct err e;
    size_t n = 0;

    if (!parser && !(parser = pyparser_new(&e)))
        abort();
    if (config_python(&python, &lines, text) == 0) {
        for (size_t i = 0; i < python.n; i++)
            n += python.p[i] == '\n';
        if (n != lines.of.n)
            abort(); /* a line that nobody knows */
    }
    crepo_init(&repo, &policy);
    calls = calls_new(parser);
    if (crepo_add(&repo, parser, SPAN_LIT("a/net.py"), span_str(source), NULL,
                  &e))
        abort();
    calls_add(calls, SPAN_LIT("conf/x.yaml"), text);
    calls_want(calls, SPAN_LIT("a/net.py"), SPAN_LIT("Net"));
    calls_read(calls, &repo);
    calls_free(calls);
    crepo_release(&repo);
    array_release(&lines.of);
    buf_release(&python);
    return 0;
}
