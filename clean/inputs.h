/* SPDX-License-Identifier: MIT */
/* What an expression that makes tensors gives: torch.randn(2, 3).cuda(). */
#ifndef KM_CLEAN_INPUTS_H
#define KM_CLEAN_INPUTS_H

#include "clean/statics.h"

/*
 * The input that expression N of F is, in the arena of S, or NULL:
 *   {kind: "tensor", shape, dtype, dist, lo, hi}   as in task.inputs; a size
 *                                                  that is not known is nil
 *   {kind: "list", items}
 *   {kind: "value", value}                         (statics.h)
 */
struct val *inputs_value(struct statics *s, struct sfile *f, TSNode n);

#endif
