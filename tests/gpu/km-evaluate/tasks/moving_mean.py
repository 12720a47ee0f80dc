# SPDX-License-Identifier: MIT
# input: x float32 [512, 1024] normal
# output: float32 [512, 1024]
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("ema", torch.zeros(1024))

    def forward(self, x):
        self.ema.mul_(0.9).add_(x.mean(0), alpha=0.1)
        return x - self.ema
