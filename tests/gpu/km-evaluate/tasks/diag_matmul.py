# SPDX-License-Identifier: MIT
# input: d float32 [4096] normal
# input: b float32 [4096, 1024] normal
# output: float32 [4096, 1024]
# small: s/4096/256/g
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, d, b):
        return torch.diag(d) @ b
