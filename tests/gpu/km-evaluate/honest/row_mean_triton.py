# SPDX-License-Identifier: MIT
# task: row_mean
# expect: ok
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def mean(x, y, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for at in range(0, width, BLOCK):
        i = at + tl.arange(0, BLOCK)
        acc += tl.load(x + row * width + i, mask=i < width, other=0.0)
    tl.store(y + row, tl.sum(acc, 0) / width)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty(x.shape[0], device=x.device)
        mean[(x.shape[0],)](x, y, x.shape[1], BLOCK=1024)
        return y
