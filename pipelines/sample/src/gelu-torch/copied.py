import math

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Bias and tanh GELU, four channels at a time."""

    def __init__(self, dim: int = 128):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        parts = []
        for y in (x + self.bias).split(4, dim=-1):
            inner = math.sqrt(2.0 / math.pi) * (y + 0.044715 * y * y * y)
            parts.append(0.5 * y * (1.0 + torch.tanh(inner)))
        return torch.cat(parts, dim=-1)
