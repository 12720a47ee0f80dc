# SPDX-License-Identifier: MIT
# task: transposed
# expect: ok
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return x.tanh().transpose(1, 2).contiguous()
