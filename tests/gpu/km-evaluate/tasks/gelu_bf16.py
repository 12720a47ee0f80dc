# SPDX-License-Identifier: MIT
# input: x bfloat16 [1024, 1024] normal
# output: bfloat16 [1024, 1024]
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        return F.gelu(x, approximate="tanh")
