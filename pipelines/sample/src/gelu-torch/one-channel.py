import math

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, dim: int = 128):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        parts = []
        for channel, bias in zip(x.unbind(-1), self.bias):
            y = channel + bias
            cube = torch.pow(y, 3)
            inner = math.sqrt(2.0 / math.pi) * (y + 0.044715 * cube)
            parts.append(0.5 * y * (1.0 + torch.tanh(inner)))
        return torch.stack(parts, dim=-1)
