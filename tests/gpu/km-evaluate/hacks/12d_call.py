# SPDX-License-Identifier: MIT
# hack: 12
# task: relu
# expect: wrong
# stopped by: ring: whatever is called, results are compared in every slot
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """forward is right, and hardly ever called."""

    def __init__(self):
        super().__init__()
        self.y = None

    def __call__(self, x):
        if self.y is None:
            self.y = self.forward(x)
        return self.y

    def forward(self, x):
        return torch.relu(x)
