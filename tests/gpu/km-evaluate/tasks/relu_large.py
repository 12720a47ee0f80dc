# SPDX-License-Identifier: MIT
# input: x float32 [4096, 3072] normal
# output: float32 [4096, 3072]
# small: s/4096/64/g
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)
