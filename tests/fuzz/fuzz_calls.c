/* SPDX-License-Identifier: MIT */
/* Any JSON as the calls of a module's record: states, and texts made of them.
 */
#include "base.h"

#include "testgen/calls.h"
#include "testgen/infer/infer.h"
#include "testgen/propose.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char source[] =
    "import torch\nfrom torch import nn\n"
    "class Block(nn.Module):\n    pass\n"
    "class M(nn.Module):\n"
    "    def __init__(self, dim, *layers, act=nn.ReLU, config=None, **rest):\n"
    "        super().__init__()\n        self.l = nn.Linear(dim, dim)\n"
    "    def forward(self, x, mask=None, *others, scale=1):\n"
    "        return self.l(x)\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct facts f;
    static struct pyparser *parser;
    struct arena a = ARENA_INIT;
    struct err e;
    struct val *calls;

    if (!parser &&
        (!(parser = pyparser_new(&e)) ||
         facts_read(&f, parser, span_str(source), SPAN_LIT("M"), &e)))
        abort();
    if (size < 20000 &&
        val_parse_json(&a, (struct span){(const char *)data, size}, 0, &calls,
                       &e) == 0) {
        struct val *states = val_list(&a);
        calls_states(&a, &f, calls, true, states);
        calls_states(&a, &f, calls, false, states);
        for (size_t i = 0; i < val_len(states); i++) {
            struct buf text = BUF_INIT(1 << 20);
            struct val *state = val_at(states, i);
            propose_rest(&a, &f, state);
            infer_state(&a, &f, state);
            if (state_model_text(&text, &f, state, SPAN_LIT("M")) ||
                state_inputs_text(&text, &f, state))
                buf_clear(&text);
            buf_release(&text);
        }
    }
    arena_release(&a);
    return 0;
}
