/* SPDX-License-Identifier: MIT */
/* The licence files of one repository, and which holds for a source file. */
#ifndef KM_TERMS_H
#define KM_TERMS_H

#include "harvest/gitrepo.h"
#include "harvest/licence.h"

struct licence {
    char spdx[SPDX_MAX];  /* expression; "" = none found or not understood */
    const char *evidence; /* paths of the files, "header", "tag" or "" */
};

struct terms;
struct terms *terms_new(void);
void terms_free(struct terms *t);
/* Note the blob OID at PATH if its name is that of a licence file or, in the
 * root folder, of package metadata or a README, or if it lies in REUSE's folder
 * LICENSES or beside a source as FILE.license. */
void terms_add(struct terms *t, struct span path, const char *oid);
/* Licence of the repository as a whole; valid until terms_free. */
const struct licence *terms_root(struct terms *t, struct gitrepo *git);
/* Licence of a source file: that of its FILE.license, its own tag or notice,
 * else the nearest licence file going up, else package metadata, else what the
 * README claims. */
void terms_of(struct terms *t, struct gitrepo *git, struct span path,
              struct span source, struct licence *out);

#endif
