# SPDX-License-Identifier: MIT
# hack: 3
# task: relu
# expect: wrong
# stopped by: ring: a kernel that was not launched leaves no right output
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.maximum(tl.load(x + i, mask=i < n), 0.0), mask=i < n)


class ModelNew(nn.Module):
    """A grid of no blocks raises nothing."""

    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        relu[(n // (1 << 30),)](x, y, n, BLOCK=1024)
        return y
