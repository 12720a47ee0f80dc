# SPDX-License-Identifier: MIT
# input: a float32 [256, 512] normal
# input: b float32 [512, 256] normal
# input: c float32 [512, 256] normal
# output: float32 [256, 256]
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a, b, c):
        return a @ b + a @ c
