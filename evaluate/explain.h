/* SPDX-License-Identifier: MIT */
/* A verdict for a person, on one screen. */
#ifndef KM_EVALUATE_EXPLAIN_H
#define KM_EVALUATE_EXPLAIN_H

#include "val.h"

/* VERDICT on REVISION to OUT: what it is, where it fails, with the numbers.
 * Foreign text is masked. */
void explain(FILE *out, const struct val *revision, const struct val *verdict);

#endif
