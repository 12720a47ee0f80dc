# SPDX-License-Identifier: MIT
# hack: 10
# task: mean_linear
# expect: wrong
# stopped by: ring: the runner's own stream reads the result, and the clock
#   ends when the whole GPU is done
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Its work is on another stream, which nobody waits for."""

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(1024, 4096)
        self.side = torch.cuda.Stream()

    def forward(self, x):
        with torch.cuda.stream(self.side):
            return self.lin(x).mean(1)
