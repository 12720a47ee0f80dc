# SPDX-License-Identifier: MIT
# hack: 3
# task: relu
# expect: wrong
# stopped by: ring: outputs hold poison that nothing in the runner's memory
#   equals
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.empty_like(x)
