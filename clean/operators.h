/* SPDX-License-Identifier: MIT */
/* What a module computes, as a sequence of operators. */
#ifndef KM_CLEAN_OPERATORS_H
#define KM_CLEAN_OPERATORS_H

#include "clean/tokens.h"

/*
 * Text of the operators that forward of class D (or function D) applies, in the
 * order of
 * evaluation, appended to OUT: "conv2d(?,?,3);relu();+;". Layers made in
 * __init__ stand with their arguments, literals as they are, all else as '?'.
 * torch.relu, F.relu, nn.ReLU and x.relu are one. Nothing is appended when
 * forward is not in D, or calls anything else than torch and tensors.
 */
void operators_text(const struct pymod *m, const struct pydef *d,
                    struct buf *out);
/* Hash of that text, 0 when it is empty. */
uint64_t operators_hash(const struct pymod *m, const struct pydef *d);

#endif
