import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, dim, *, bias=True):
        super().__init__()
        self.net = nn.Linear(dim, dim, bias=bias)

    def forward(self, x):
        return self.net(x)


def get_inputs():
    return [torch.rand(4, 8)]


def get_init_inputs():
    return [[8], {"bias": False}]
