/* SPDX-License-Identifier: MIT */
/* km-testgen: the filter, or one of its commands. */
#include "base.h"

#include "testgen/commands.h"

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "import") == 0)
        return import_main(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "variant") == 0)
        return variant_main(argc - 1, argv + 1);
    return testgen_main(argc, argv);
}
