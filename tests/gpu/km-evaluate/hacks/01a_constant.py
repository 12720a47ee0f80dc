# SPDX-License-Identifier: MIT
# hack: 1
# task: relu_uniform
# expect: wrong
# stopped by: ring: inputs of other scale, sign and mean in every verdict
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.full_like(x, 0.5)
