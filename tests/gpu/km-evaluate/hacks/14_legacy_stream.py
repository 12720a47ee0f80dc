# SPDX-License-Identifier: MIT
# hack: 14
# task: relu
# expect: ok
# ratio: at most 1
# stopped by: harmless: what a graph does not hold is missing from its
#   results; both sides are called instead
import ctypes

import torch
import torch.nn as nn

LEGACY = 1  # the handle CU_STREAM_LEGACY


class ModelNew(nn.Module):
    """Copies on the legacy default stream, which no capture holds."""

    def __init__(self):
        super().__init__()
        self.copy = ctypes.CDLL("libcuda.so.1").cuMemcpyDtoDAsync_v2
        self.copy.argtypes = [ctypes.c_uint64, ctypes.c_uint64,
                              ctypes.c_size_t, ctypes.c_void_p]

    def forward(self, x):
        y = torch.empty_like(x)
        self.copy(y.data_ptr(), x.data_ptr(), x.numel() * 4, LEGACY)
        return y.relu_()
