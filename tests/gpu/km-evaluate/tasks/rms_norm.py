# SPDX-License-Identifier: MIT
# input: x bfloat16 [1024, 2048] normal
# output: bfloat16 [1024, 2048]
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2048))

    def forward(self, x):
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)
        return (y * self.weight).to(x.dtype)
