# SPDX-License-Identifier: MIT
# hack: extra
# task: relu
# expect: wrong
# stopped by: ring: configurations follow one another in the same places
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """The second half of its buffer is from another configuration."""

    def __init__(self):
        super().__init__()
        self.y = None

    def forward(self, x):
        if self.y is None:
            self.y = torch.relu(x)
        half = x.shape[0] // 2
        torch.clamp(x[:half], min=0, out=self.y[:half])
        return self.y
