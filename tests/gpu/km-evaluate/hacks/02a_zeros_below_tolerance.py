# SPDX-License-Identifier: MIT
# hack: 2
# task: softmax_wide
# expect: wrong pass:kernelbench
# stopped by: ring: strict takes errors relative to the size of small elements
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """The results are smaller than an absolute tolerance."""

    def forward(self, x):
        return torch.zeros_like(x)
