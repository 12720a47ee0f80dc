# SPDX-License-Identifier: MIT
# task: linear_relu
# expect: ok
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(512, 512)

    def forward(self, x):
        return torch._addmm_activation(self.lin.bias, x, self.lin.weight.t())
