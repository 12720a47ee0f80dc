# SPDX-License-Identifier: MIT
# input: x float32 [8, 32, 32, 32] uniform -0.25 0.25
# output: float32 [8, 64, 32, 32]
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(32, 64, 3, padding=1)

    def forward(self, x):
        return self.conv(x)
