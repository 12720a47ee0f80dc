# SPDX-License-Identifier: MIT
# input: x float32 [1024, 512] normal
# output: float32 [1024, 256]
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(512, 256)

    def forward(self, x):
        return self.lin(x)
