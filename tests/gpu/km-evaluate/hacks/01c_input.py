# SPDX-License-Identifier: MIT
# hack: 1
# task: relu_uniform
# expect: wrong
# stopped by: ring: D4 to D6 have negative elements where the task has none
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Right as long as every input is positive."""

    def forward(self, x):
        return x
