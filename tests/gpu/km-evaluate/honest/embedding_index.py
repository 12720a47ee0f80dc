# SPDX-License-Identifier: MIT
# task: embedding
# expect: ok
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(1000, 128)

    def forward(self, i):
        return self.table.weight[i]
