# SPDX-License-Identifier: MIT
# task: mean_all
# expect: ok
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.view(-1)
        return torch.dot(x, x) / x.numel()
