# SPDX-License-Identifier: MIT
# hack: 22
# task: matmul
# expect: ok
# ratio: at most 1
# stopped by: harmless: its kernel costs time beside the library's; that the
#   result is the library's goes unseen
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def matmul(a, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(a + i))


class ModelNew(nn.Module):
    def forward(self, a, b):
        scratch = torch.empty(256, device=a.device)
        matmul[(1,)](a, scratch, 256, BLOCK=256)
        return torch.matmul(a, b)
