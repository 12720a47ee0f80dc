# SPDX-License-Identifier: MIT
# hack: 8
# task: relu
# expect: wrong
# stopped by: ring: fresh data in every slot
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        if not hasattr(self, "y"):
            self.y = torch.relu(x)
        return self.y
