/* SPDX-License-Identifier: MIT */
/*
 * eval_results.json of a run of KernelBench: whatever the bytes are, an error
 * with a message, or results in order, each of which is found again.
 */
#include "base.h"

#include "evaluate/kernelbench_results.h"
#include "utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct kb_results *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct kb_result *x = &r->v[i];
        if (kb_results_find(r, x->problem, x->sample) != x || x->problem < 0 ||
            x->sample < 0 || x->ms < 0 || x->said >= KB_ABSENT ||
            utf8_valid(x->reason) != x->reason.n ||
            utf8_valid(x->hardware) != x->hardware.n ||
            memchr(x->reason.p, '\n', x->reason.n))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kb_results r;
    struct err e = {0};

    if (kb_results_read(&r, (struct span){(const char *)data, size}, &e) == 0)
        check(&r);
    else if (!e.msg[0] || r.n)
        abort();
    kb_results_release(&r);
    return 0;
}
