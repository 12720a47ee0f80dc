# SPDX-License-Identifier: MIT
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        torch.cuda._sleep(1 << 45)
        return torch.relu(x)
