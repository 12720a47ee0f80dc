# SPDX-License-Identifier: MIT
# hack: 33
# task: relu
# expect: memory
# stopped by: ring: memory is limited or watched, and ends with the process
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = []

    def forward(self, x):
        while True:
            self.kept.append(torch.ones(64, 1024, 1024, device="cpu"))
