# SPDX-License-Identifier: MIT
# task: softmax_wide
# expect: ok
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def softmax(x, y, width, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    top = -float("inf")
    total = 0.0
    for at in range(0, width, BLOCK):
        i = at + tl.arange(0, BLOCK)
        v = tl.load(x + row * width + i, mask=i < width, other=-float("inf"))
        new = tl.maximum(top, tl.max(v, 0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(v - new), 0)
        top = new
    for at in range(0, width, BLOCK):
        i = at + tl.arange(0, BLOCK)
        v = tl.load(x + row * width + i, mask=i < width, other=0.0)
        tl.store(y + row * width + i, tl.exp(v - top) / total, mask=i < width)


class ModelNew(nn.Module):
    """Maximum and sum in one pass."""

    def forward(self, x):
        y = torch.empty_like(x)
        softmax[(x.shape[0],)](x, y, x.shape[1], BLOCK=4096, num_warps=8)
        return y
