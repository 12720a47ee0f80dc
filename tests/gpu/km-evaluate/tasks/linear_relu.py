# SPDX-License-Identifier: MIT
# input: x float32 [1024, 512] uniform -0.25 0.25
# output: float32 [1024, 512]
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(512, 512)

    def forward(self, x):
        return torch.relu(self.lin(x))
