import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, dim: int = 128):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        parts = []
        for y in (x + self.bias).split(64, dim=-1):
            cube = torch.pow(y, 3)
            inner = 0.7978845608028654 * (y + 0.044715 * cube)
            parts.append(y * torch.sigmoid(2.0 * inner))
        return torch.cat(parts, dim=-1)
