import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, dim: int = 128):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        y = x + self.bias
        return y * torch.sigmoid(1.702 * y)
