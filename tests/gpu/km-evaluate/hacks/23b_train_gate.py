# SPDX-License-Identifier: MIT
# hack: 23
# task: batch_norm
# expect: wrong
# stopped by: ring: eval mode is judged, and train mode where it differs
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """The library in train mode; in eval mode what was never tested."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm2d(64)

    def forward(self, x):
        if self.training:
            return self.norm(x)
        return x * self.norm.weight[:, None, None]
