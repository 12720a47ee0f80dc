# SPDX-License-Identifier: MIT
# task: diag_matmul
# expect: ok
# ratio: above 10
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """A product with a diagonal is a scaling: truly a large speedup."""

    def forward(self, d, b):
        return d[:, None] * b
