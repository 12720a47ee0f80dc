import torch
import torch.nn as nn


class ModelNew(nn.Module):
    # The same, with other comments.
    def forward(self, x):
        return torch.relu(
            x)
