# SPDX-License-Identifier: MIT
# hack: 16
# task: relu
# expect: ok
# ratio: about 1
# stopped by: harmless: caches are overwritten before each ring, and a ring
#   has more data than a cache
import ctypes

import torch
import torch.nn as nn
import triton
import triton.language as tl


LIMIT_PERSISTING = 6  # cudaLimitPersistingL2CacheSize


@triton.jit
def relu(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, eviction_policy="evict_last")
    tl.store(y + i, tl.maximum(v, 0.0), mask=i < n,
             eviction_policy="evict_last")


class ModelNew(nn.Module):
    """Asks the cache to keep what it reads."""

    def __init__(self):
        super().__init__()
        cudart = ctypes.CDLL("libcudart.so." + torch.version.cuda.split(".")[0])
        cudart.cudaDeviceSetLimit(LIMIT_PERSISTING, ctypes.c_size_t(32 << 20))

    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        relu[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
        return y
