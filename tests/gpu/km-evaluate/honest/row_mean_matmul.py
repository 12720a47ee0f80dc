# SPDX-License-Identifier: MIT
# task: row_mean
# expect: ok
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """By the matrix product with a constant made at the first call."""

    def __init__(self):
        super().__init__()
        self.ones = None

    def forward(self, x):
        if self.ones is None or self.ones.numel() != x.shape[1]:
            self.ones = torch.full((x.shape[1],), 1 / x.shape[1],
                                   device=x.device)
        return torch.mv(x, self.ones)
