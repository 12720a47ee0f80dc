/* SPDX-License-Identifier: MIT */
/* Any bytes as the texts that tell a licence: what they give is an SPDX
 * expression or nothing. */
#include "base.h"

#include "harvest/licence.h"
#include "log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *what, const char *spdx, int rc)
{
    if (*spdx && (rc != 1 || !licence_is_expression(spdx)))
        bug("%s gives '%s' (%d)", what, spdx, rc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span text = {(const char *)data, size};
    char spdx[SPDX_MAX] = "";
    bool tag;
    int rc = licence_text(spdx, text);
    check("a licence file", spdx, rc);
    rc = licence_header(spdx, &tag, text);
    check("a header", spdx, rc);
    licence_readme(spdx, text);
    check("a README", spdx, 1);
    licence_metadata(spdx, text);
    check("metadata", spdx, 1);
    licence_file_rank(text);
    return 0;
}
