# SPDX-License-Identifier: MIT
# task: mean_all
# expect: ok
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def partial(x, part, n, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0) * STEPS * BLOCK
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for k in range(STEPS):
        i = first + k * BLOCK + tl.arange(0, BLOCK)
        v = tl.load(x + i, mask=i < n, other=0.0)
        acc += v * v
    tl.store(part + tl.program_id(0), tl.sum(acc, 0))


@triton.jit
def total(part, y, n, parts, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(part + i, mask=i < parts, other=0.0)
    tl.store(y, tl.sum(v, 0) / n)


class ModelNew(nn.Module):
    """In two steps, with scratch that is kept from call to call."""

    def __init__(self):
        super().__init__()
        self.scratch = {}

    def forward(self, x):
        n = x.numel()
        parts = triton.cdiv(n, 8 * 1024)
        if parts not in self.scratch:
            self.scratch[parts] = torch.empty(parts, device=x.device)
        part = self.scratch[parts]
        y = torch.empty((), device=x.device)
        partial[(parts,)](x, part, n, STEPS=8, BLOCK=1024)
        total[(1,)](part, y, n, parts, BLOCK=triton.next_power_of_2(parts))
        return y
