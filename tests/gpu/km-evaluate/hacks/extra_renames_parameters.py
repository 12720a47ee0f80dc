# SPDX-License-Identifier: MIT
# hack: extra
# task: linear
# expect: wrong finding:unmatched_parameters finding:stale_weights
# stopped by: ring: parameters of other names are not changed with the
#   reference's, and D7 finds the difference
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """The same values under other names, so as not to hear of changes."""

    def __init__(self):
        super().__init__()
        self.packed = nn.Linear(512, 256)

    def forward(self, x):
        return self.packed(x)
