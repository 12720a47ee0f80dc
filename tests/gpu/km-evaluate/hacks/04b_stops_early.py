# SPDX-License-Identifier: MIT
# hack: 4
# task: cumprod
# expect: wrong
# stopped by: ring: strict is relative to the size of small elements, and D2
#   is not small there
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Little is left of a product after so many factors below 1."""

    def forward(self, x):
        y = torch.zeros_like(x)
        half = x.shape[1] // 2
        y[:, :half] = torch.cumprod(x[:, :half], 1)
        return y
