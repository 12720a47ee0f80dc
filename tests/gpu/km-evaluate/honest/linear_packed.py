# SPDX-License-Identifier: MIT
# task: linear
# expect: ok
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Its packed weights are made when they are first used, and again when the
    weights have changed."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(512, 256)
        self.known = None

    def forward(self, x):
        w = self.lin.weight
        if self.known != (w._version, w.data_ptr()):
            self.packed = w.detach().t().contiguous()
            self.known = w._version, w.data_ptr()
        return torch.addmm(self.lin.bias, x, self.packed)
