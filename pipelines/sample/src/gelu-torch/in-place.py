import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, dim: int = 128):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        y = x + self.bias
        gate = y * y
        gate.mul_(0.07135481628261).add_(1.5957691216057308).mul_(y)
        return gate.sigmoid_().mul_(y)
