import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        raise ValueError("no \x1b[31m colour")
