# SPDX-License-Identifier: MIT
# input: x float16 [1024, 2048] normal
# output: float16 [1024, 1024]
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        a, b = x.chunk(2, -1)
        return F.silu(a) * b
