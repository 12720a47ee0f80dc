# SPDX-License-Identifier: MIT
# hack: 30
# task: relu
# expect: wrong
# stopped by: ring: another process's memory is not mapped, and new memory is
#   cleared by the driver
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Looks for results in memory that somebody has left."""

    def __init__(self):
        super().__init__()
        self.found = torch.empty(1 << 28, device="cuda").nan_to_num_()

    def forward(self, x):
        n = x.numel()
        rows = self.found[: self.found.numel() // n * n].view(-1, n)
        best = (rows != 0).sum(1).argmax()
        return rows[best].view(x.shape).clone()
