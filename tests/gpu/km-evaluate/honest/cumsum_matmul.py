# SPDX-License-Identifier: MIT
# task: cumsum
# expect: ok
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """By a product with a triangle, in full precision."""

    def __init__(self):
        super().__init__()
        self.ones = None

    def forward(self, x):
        rows, width = x.shape
        if self.ones is None:
            self.ones = torch.ones(32, 32, dtype=torch.float64,
                                   device=x.device).triu()
        y = x.double().view(rows, width // 32, 32) @ self.ones
        before = y[:, :, -1].cumsum(1) - y[:, :, -1]
        return (y + before[:, :, None]).view(rows, width).to(x.dtype)
