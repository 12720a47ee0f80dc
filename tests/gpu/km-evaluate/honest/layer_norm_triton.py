# SPDX-License-Identifier: MIT
# task: layer_norm
# expect: ok
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def norm(x, w, b, y, width, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * width + i, mask=i < width, other=0.0)
    mean = tl.sum(v, 0) / width
    d = tl.where(i < width, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(d * d, 0) / width + eps)
    d = d * scale * tl.load(w + i, mask=i < width, other=0.0)
    tl.store(y + row * width + i,
             d + tl.load(b + i, mask=i < width, other=0.0), mask=i < width)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(1024)

    def forward(self, x):
        y = torch.empty_like(x)
        n = self.norm
        norm[(x.shape[0],)](x, n.weight, n.bias, y, x.shape[1], n.eps,
                            BLOCK=1024)
        return y
