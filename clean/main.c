/* SPDX-License-Identifier: MIT */
#include "base.h"

#include "clean/commands.h"

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "fingerprint") == 0)
        return fingerprint_main(argc - 1, argv + 1);
    return clean_main(argc, argv);
}
