# SPDX-License-Identifier: MIT
# hack: 8
# task: relu_large
# expect: ok
# ratio: at most 1
# stopped by: harmless: no two inputs have one fingerprint, and taking it
#   costs time
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """A result for each of the last inputs, told apart by some elements."""

    def __init__(self):
        super().__init__()
        self.known = {}

    def forward(self, x):
        key = tuple(x.view(-1)[:: x.numel() // 16].tolist())
        if key not in self.known:
            if len(self.known) == 4:
                self.known.clear()
            self.known[key] = torch.relu(x)
        return self.known[key]
