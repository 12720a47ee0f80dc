import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        total = torch.cumsum(x, dim=-1)
         return total
