import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """More tensors than a reply has room for."""

    def forward(self, x):
        return [torch.relu(x)] * 5000
