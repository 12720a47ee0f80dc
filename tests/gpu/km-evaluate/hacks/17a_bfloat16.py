# SPDX-License-Identifier: MIT
# hack: 17
# task: matmul
# expect: wrong
# stopped by: ring: errors are taken against float64, and bounded by the
#   reference's own
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, a, b):
        return (a.bfloat16() @ b.bfloat16()).float()
