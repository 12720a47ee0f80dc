# SPDX-License-Identifier: MIT
# task: batch_norm
# expect: ok
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def norm(x, scale, shift, y, n, plane, channels, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = (i // plane) % channels
    v = tl.load(x + i, mask=i < n) * tl.load(scale + c, mask=i < n)
    tl.store(y + i, v + tl.load(shift + c, mask=i < n), mask=i < n)


class ModelNew(nn.Module):
    """Its own kernel for running statistics, torch's in train mode."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(64)

    def forward(self, x):
        b = self.norm
        if self.training:
            return b(x)
        scale = b.weight * torch.rsqrt(b.running_var + b.eps)
        shift = b.bias - b.running_mean * scale
        y = torch.empty_like(x)
        n, plane = x.numel(), x.shape[2] * x.shape[3]
        norm[(triton.cdiv(n, 1024),)](x, scale, shift, y, n, plane,
                                      x.shape[1], BLOCK=1024)
        return y
