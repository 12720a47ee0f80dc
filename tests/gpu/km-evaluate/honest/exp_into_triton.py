# SPDX-License-Identifier: MIT
# task: exp_into
# expect: ok
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, tl.exp(-tl.abs(v)), mask=i < n)


def ModelNew(x, out):
    n = x.numel()
    kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
