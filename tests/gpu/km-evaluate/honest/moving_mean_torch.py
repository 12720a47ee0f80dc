# SPDX-License-Identifier: MIT
# task: moving_mean
# expect: ok
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Keeps its state as the reference does."""

    def __init__(self):
        super().__init__()
        self.register_buffer("ema", torch.zeros(1024))

    def forward(self, x):
        self.ema.lerp_(x.mean(0), 0.1)
        return x - self.ema
