# SPDX-License-Identifier: MIT
# task: transposed
# expect: ok
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, 2 / (1 + tl.exp(-2 * v)) - 1, mask=i < n)


class ModelNew(nn.Module):
    """Its result is a view, as the reference's."""

    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        kernel[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
        return y.transpose(1, 2)
