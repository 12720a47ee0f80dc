# SPDX-License-Identifier: MIT
# hack: 4
# task: row_mean
# expect: wrong
# stopped by: ring: the tolerance is relative to the float64 result, and D6
#   has ramps and spikes
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Leaves out one column in a hundred."""

    def forward(self, x):
        return x[:, : x.shape[1] * 99 // 100].mean(1)
