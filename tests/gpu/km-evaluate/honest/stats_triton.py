# SPDX-License-Identifier: MIT
# task: stats
# expect: ok
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def stats(x, mean, std, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * width + i, mask=i < width, other=0.0)
    m = tl.sum(v, 0) / width
    d = tl.where(i < width, v - m, 0.0)
    tl.store(mean + row, m)
    tl.store(std + row, tl.sqrt(tl.sum(d * d, 0) / (width - 1)))


class ModelNew(nn.Module):
    """Two results in one buffer."""

    def forward(self, x):
        rows, width = x.shape
        y = torch.empty(2, rows, device=x.device)
        stats[(rows,)](x, y[0], y[1], width,
                       BLOCK=triton.next_power_of_2(width))
        return y[0], y[1]
