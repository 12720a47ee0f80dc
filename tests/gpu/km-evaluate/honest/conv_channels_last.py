# SPDX-License-Identifier: MIT
# task: conv
# expect: ok
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Its result is channels last."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(32, 64, 3, padding=1)

    def forward(self, x):
        return self.conv(x.contiguous(memory_format=torch.channels_last))
