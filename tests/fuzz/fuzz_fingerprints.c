/* SPDX-License-Identifier: MIT */
/* The reader of fingerprint files, and questions to what it took. */
#include "base.h"

#include "clean/benchmark.h"
#include "io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char source[] = "class Model(nn.Module):\n"
                                 "    def forward(self, x):\n"
                                 "        return torch.relu(x) + self.bias\n";
    static struct pyparser *parser; /* costs more than most inputs */
    struct benchmark *b = benchmark_new();
    struct err e;
    int fd =
        io_memfd("input", (struct span){(const char *)data, size}, false, &e);

    if (!parser)
        parser = pyparser_new(&e);
    if (fd >= 0 && parser) {
        struct pymod *m = pymod_new(parser, "source", span_str(source), &e);
        struct tokens t;

        (void)!benchmark_load(b, fd, "input", &e);
        benchmark_seal(b);
        if (m) {
            tokens_read(&t, m);
            (void)benchmark_find_source(b, m, &t, SPAN_LIT("Model"));
            tokens_release(&t);
        }
        pymod_free(m);
    }
    if (fd >= 0)
        close(fd);
    benchmark_free(b);
    return 0;
}
