# SPDX-License-Identifier: MIT
# task: layer_norm
# expect: ok
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(1024)

    def forward(self, x):
        var, mean = torch.var_mean(x, 1, correction=0, keepdim=True)
        y = (x - mean) * torch.rsqrt(var + self.norm.eps)
        return torch.addcmul(self.norm.bias, y, self.norm.weight)
