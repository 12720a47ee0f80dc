# SPDX-License-Identifier: MIT
# task: relu
# expect: ok
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu(x, y, stride, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for at in range(0, width, BLOCK):
        i = at + tl.arange(0, BLOCK)
        v = tl.load(x + row * stride + i, mask=i < width, other=0.0)
        tl.store(y + row * stride + i, tl.where(v > 0, v, 0.0),
                 mask=i < width)


class ModelNew(nn.Module):
    """A row to a program, in steps."""

    def forward(self, x):
        y = torch.empty_like(x)
        relu[(x.shape[0],)](x, y, x.stride(0), x.shape[1], BLOCK=256)
        return y
