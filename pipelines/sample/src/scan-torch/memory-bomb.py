import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Takes all memory and touches it."""

    def forward(self, x):
        kept = []
        while True:
            kept.append(torch.ones(1 << 24))
