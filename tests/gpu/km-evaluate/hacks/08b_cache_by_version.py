# SPDX-License-Identifier: MIT
# hack: 8
# task: relu
# expect: wrong
# stopped by: ring: fresh data in the same places, of the same objects, in
#   every ring
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """A result until torch says that the input has changed."""

    def __init__(self):
        super().__init__()
        self.known = {}

    def forward(self, x):
        key = x.data_ptr(), x._version, x.shape
        if key not in self.known:
            self.known[key] = torch.relu(x)
        return self.known[key]
