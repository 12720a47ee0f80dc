# SPDX-License-Identifier: MIT
# hack: extra
# task: relu
# expect: wrong finding:out_of_bounds
# stopped by: ring: guards of secret bytes around all tensors
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Writes just before its input."""

    def forward(self, x):
        n = x.numel()
        y = torch.relu(x)
        x.as_strided((4,), (1,), x.storage_offset() - 4).fill_(1)
        return y
