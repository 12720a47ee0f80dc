# SPDX-License-Identifier: MIT
# hack: 3
# task: relu
# expect: wrong
# stopped by: ring: expected results are never in the runner's process, and
#   data are fresh in every slot
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Hopes for the block that its first result has left."""

    def forward(self, x):
        y = torch.relu(x) if not hasattr(self, "n") else None
        self.n = 1
        del y
        return torch.empty_like(x)
