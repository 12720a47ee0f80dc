# SPDX-License-Identifier: MIT
# task: two_matmuls
# expect: ok
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a, b, c):
        return a @ (b + c)
