# SPDX-License-Identifier: MIT
# input: d float32 [8192] normal
# input: b float32 [8192, 1024] normal
# output: float32 [8192, 1024]
# small: s/8192/256/g
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, d, b):
        return torch.diag(d) @ b
