/* SPDX-License-Identifier: MIT */
/* Credentials, mail addresses, addresses of internal hosts and home folders of
 * people in text. */
#ifndef KM_CLEAN_SECRET_H
#define KM_CLEAN_SECRET_H

#include "base.h"

/* What the first finding in TEXT is ("AWS access key", "e-mail address", ...),
 * a literal, or NULL. CODE: TEXT is source, where `a@b.weight` is a product
 * and no address. */
const char *secret_find(struct span text, bool code);

#endif
