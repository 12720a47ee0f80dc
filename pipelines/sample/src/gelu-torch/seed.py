import math

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, dim: int = 128):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        parts = []
        for y in (x + self.bias).split(8, dim=-1):
            cube = torch.pow(y, 3)
            inner = math.sqrt(2.0 / math.pi) * (y + 0.044715 * cube)
            parts.append(0.5 * (y + y * torch.tanh(inner)))
        return torch.cat(parts, dim=-1)
