/* SPDX-License-Identifier: MIT */
/*
 * Files embedded in the programs (EMBED in module.mk). The name is the file's
 * base name with every other character than letters and digits as '_':
 *
 *     EMBED_DECLARE(runner_py);
 *     struct span text = EMBED_SPAN(runner_py);
 *
 * The bytes live as long as the program; a NUL follows them.
 */
#ifndef KM_EMBED_H
#define KM_EMBED_H

#include "base.h"

#define EMBED_DECLARE(name)                                                    \
    extern const char km_embed_##name[];                                       \
    extern const uint64_t km_embed_##name##_size

#define EMBED_SPAN(name)                                                       \
    ((struct span){km_embed_##name, (size_t)km_embed_##name##_size})

#endif
