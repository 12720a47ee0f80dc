# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.relu(x)
        x.zero_()
        return y
