# SPDX-License-Identifier: MIT
# input: x float32 [1024, 1000] normal
# input: i int64 [1024] int 0 999
# output: float32 [1024]
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, i):
        return F.cross_entropy(x, i, reduction="none")
