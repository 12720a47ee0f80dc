# SPDX-License-Identifier: MIT
# task: diag_matmul
# expect: ok
# ratio: above 10
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def scale(d, b, y, n, width, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(b + i, mask=i < n)
    tl.store(y + i, v * tl.load(d + i // width, mask=i < n), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, d, b):
        y = torch.empty_like(b)
        n = b.numel()
        scale[(triton.cdiv(n, 2048),)](d, b, y, n, b.shape[1], BLOCK=2048)
        return y
