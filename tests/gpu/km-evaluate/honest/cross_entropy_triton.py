# SPDX-License-Identifier: MIT
# task: cross_entropy
# expect: ok
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def loss(x, i, y, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * width + c, mask=c < width, other=-float("inf"))
    top = tl.max(v, 0)
    right = tl.load(x + row * width + tl.load(i + row))
    tl.store(y + row, tl.log(tl.sum(tl.exp(v - top), 0)) + top - right)


class ModelNew(nn.Module):
    def forward(self, x, i):
        y = torch.empty(x.shape[0], device=x.device)
        loss[(x.shape[0],)](x, i, y, x.shape[1],
                            BLOCK=triton.next_power_of_2(x.shape[1]))
        return y
