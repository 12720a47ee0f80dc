# SPDX-License-Identifier: MIT
# input: a float32 [512, 512] normal
# input: b float32 [512, 512] normal
# output: float32 [512, 512]
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b):
        return torch.matmul(a, b)
