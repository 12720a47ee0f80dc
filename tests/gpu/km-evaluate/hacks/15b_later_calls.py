# SPDX-License-Identifier: MIT
# hack: 15
# task: relu
# expect: wrong
# stopped by: ring: every slot of a timed ring is held against the reference's
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Computes until it is surely being timed, then only every other time."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        if self.calls < 200 or self.calls % 2:
            self.y = torch.relu(x)
        return self.y
