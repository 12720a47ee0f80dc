# SPDX-License-Identifier: MIT
# task: rms_norm
# expect: ok
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.autotune([triton.Config({}, num_warps=n) for n in (4, 8, 16)],
                 key=["width"])
@triton.jit
def norm(x, w, y, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * width + i, mask=i < width, other=0.0).to(tl.float32)
    v = v / tl.sqrt(tl.sum(v * v, 0) / width + 1e-5)
    v = v * tl.load(w + i, mask=i < width, other=0.0)
    tl.store(y + row * width + i, v.to(y.dtype.element_ty), mask=i < width)


class ModelNew(nn.Module):
    """Tuned when it is first called."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2048))

    def forward(self, x):
        y = torch.empty_like(x)
        width = x.shape[1]
        norm[(x.shape[0],)](x, self.weight, y, width,
                            BLOCK=triton.next_power_of_2(width))
        return y
